"""Finds and ends the processes of one race, and tells a process from any other: later, elsewhere, under another clock.

Rally's actors are known by a mark in their environment, the node by its folder. Both hold the whole path of the race's
folder, because race ids alone come back: in another home, or in another container that has its home at the same place.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from paddock import paths

# Every process that descends from our esrally carries it; the node does not, because Rally passes only PATH on.
MARK = "PADDOCK_RACE"


@dataclass(frozen=True)
class Watcher:
    """A process, described so that it can be recognised without any clock.

    :param host: the machine's name and, where it has one, its machine id.
    :param pid_namespace: as /proc names it; process ids of another one mean nothing here.
    :param boot_id: of the kernel; after a reboot no process is the one that it was.
    :param user: its effective user id.
    :param start_ticks: when it was started, in clock ticks since boot (field 22 of /proc/PID/stat, proc(5)).
    """

    host: str
    pid_namespace: str
    boot_id: str
    user: int
    pid: int
    start_ticks: int

    @property
    def host_name(self) -> str:
        """The machine's name alone."""
        return self.host.partition(" ")[0]

    @property
    def shares_process_ids(self) -> bool:
        """Whether its process id means the same process here: same machine, same namespace."""
        return (self.host, self.pid_namespace) == (_host(), _pid_namespace())

    @property
    def can_be_seen(self) -> bool:
        """Whether its processes would be seen from here: same process ids, and permission to look."""
        return self.shares_process_ids and os.geteuid() in (0, self.user)

    @property
    def is_alive(self) -> bool:
        """Whether it is still there; only to be asked of one that can be seen."""
        return self.boot_id == _boot_id() and start_ticks(self.pid) == self.start_ticks


def this_process() -> Watcher:
    """This process as a watcher."""
    pid = os.getpid()
    return Watcher(_host(), _pid_namespace(), _boot_id(), os.geteuid(), pid, start_ticks(pid) or 0)


def start_ticks(pid: int) -> int | None:
    """When the process with that id was started, in clock ticks since boot; None if it is gone or a dead entry."""
    # The name in brackets may hold blanks and brackets itself; what follows it begins with the third field, the state.
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None


class RaceProcesses:
    """The processes of one race, found anew at each call.

    Looking into a process costs more than listing it, so what was once looked into is remembered.

    :param race_id: Rally's race id.
    :param folder: Rally's folder of the race; None: the one below this RALLY_HOME.
    """

    def __init__(self, race_id: str, folder: Path | None = None):
        self.folder = folder or paths.races_folder() / race_id
        self._known: dict[tuple[int, float], bool] = {}
        self._path = re.compile(rf"(?:^|[=:,]){re.escape(str(self.folder))}/")

    def drivers(self) -> list[psutil.Process]:
        """Rally itself: its main process and its actors, load workers among them."""
        return [process for process in psutil.process_iter() if self._remembered(process)]

    def driver_pids(self) -> list[int]:
        """Process ids of :meth:`drivers`."""
        return [process.pid for process in self.drivers()]

    def nodes(self) -> list[psutil.Process]:
        """Elasticsearch processes that run from the race's folder."""
        return [process for process in psutil.process_iter() if self._is_node(process)]

    def all(self) -> list[psutil.Process]:
        """Everything of the race that is alive, except this process."""
        return [*self.drivers(), *self.nodes()]

    def _remembered(self, process: psutil.Process) -> bool:
        try:
            key = (process.pid, process.create_time())
            if key not in self._known:
                marked = process.pid != os.getpid() and process.environ().get(MARK) == str(self.folder)
                self._known[key] = marked and _pid_namespace(process.pid) == _pid_namespace()
            return self._known[key] and process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            return False

    def _is_node(self, process: psutil.Process) -> bool:
        try:
            words = process.cmdline()
            is_java = bool(words) and Path(words[0]).name == "java"
            runs_from = is_java and any(self._path.search(word) for word in words)
            return runs_from and _pid_namespace(process.pid) == _pid_namespace()
        except (psutil.Error, OSError):
            return False


def end(processes: Iterable[psutil.Process], patience: float = 10.0) -> list[psutil.Process]:
    """Ask those processes to end, kill those that have not after ``patience`` seconds; returns those still there."""
    wanted = list(processes)
    for process in wanted:
        _quietly(process.terminate)
    _, alive = psutil.wait_procs(wanted, timeout=patience)
    for process in alive:
        _quietly(process.kill)
    _, alive = psutil.wait_procs(alive, timeout=5)
    return list(alive)


def other_rally_processes() -> list[psutil.Process]:
    """Processes that Rally would take for another Rally and not start beside (as esrally/utils/process.py does)."""
    found = []
    for process in psutil.process_iter():
        try:
            name, words = process.name(), process.cmdline()
            in_python = name.lower().startswith("python") and any("esrally" in word for word in words)
            daemon = any("esrallyd" in word for word in words)
            rally = name in ("esrally", "rally") or (in_python and not daemon)
            if rally and process.pid != os.getpid():
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def _host() -> str:
    return f"{platform.node()} {_text('/etc/machine-id').strip()}".strip()


def _boot_id() -> str:
    return _text("/proc/sys/kernel/random/boot_id").strip()


def _pid_namespace(pid: int | str = "self") -> str:
    return str(Path(f"/proc/{pid}/ns/pid").readlink())


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _quietly(action: Callable[[], None]) -> None:
    with contextlib.suppress(psutil.Error):
        action()
