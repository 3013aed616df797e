"""The processes of one race, found and ended, and what is written down so that those of a killed one can be.

Rally's actors are known by a mark in their environment, the node by its folder. Both hold the whole path of the race's
folder, because race ids alone come back: in another home, or in another container that has its home at the same place.

Whoever clears up holds the lock on races, which the kernel frees when its holder ends: every watcher that is written
down is then gone. A home may be shared by machines, containers and users. Of a race whose processes cannot be seen from
here only the password is removed, which nothing that still runs reads again; the rest may be in use, and is named.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from paddock import paths
from paddock.files import locked, read_record, write_json
from paddock.limits import is_group_of, remove_groups
from paddock.plain_values import built

# Every process that descends from our esrally carries it; the node does not, because Rally passes only PATH on.
MARK = "PADDOCK_RACE"
# ... and this says of one that it is no part of the load driver, but a shipper, say, that it has started.
COMPONENT = "PADDOCK_COMPONENT"
# A process that is younger may still be the copy of its parent that it begins as.
_SETTLED_SECONDS = 5.0
# How often what is left of a race is looked for while something is.
_ROUNDS = 3


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

    :param folder: Rally's folder of the race; None: the one below this RALLY_HOME.
    """

    def __init__(self, race_id: str, folder: Path | None = None):
        self.folder = folder or paths.races_folder() / race_id
        self._known: dict[tuple[int, float], bool] = {}
        self._components: dict[tuple[int, float], str] = {}
        self._path = re.compile(rf"(?:^|[=:,]){re.escape(str(self.folder))}/")

    def drivers(self) -> list[psutil.Process]:
        """Rally itself: its main process and its actors, load workers among them, and what these have started."""
        return list(filter(self._is_driver, psutil.process_iter()))

    def component_pids(self) -> dict[str, list[int]]:
        """Process ids of :meth:`drivers` by the component that each says it belongs to; the load driver's by ""."""
        found: dict[str, list[int]] = {"": []}
        for process in self.drivers():
            found.setdefault(self._component(process), []).append(process.pid)
        return found

    def nodes(self) -> list[psutil.Process]:
        """Elasticsearch processes that run from the race's folder."""
        return list(filter(self._is_node, psutil.process_iter()))

    def all(self) -> list[psutil.Process]:
        """Everything of the race that is alive, except this process."""
        return [*self.drivers(), *self.nodes()]

    def _component(self, process: psutil.Process) -> str:
        try:
            key = (process.pid, process.create_time())
            if key not in self._components:
                name = process.environ().get(COMPONENT, "")
                if time.time() - key[1] < _SETTLED_SECONDS:
                    return name
                self._components[key] = name
            return self._components[key]
        except (psutil.Error, OSError):
            return ""

    def _is_driver(self, process: psutil.Process) -> bool:
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
            return is_java and any(map(self._path.search, words)) and _pid_namespace(process.pid) == _pid_namespace()
        except (psutil.Error, OSError):
            return False


def end(processes: Iterable[psutil.Process], patience: float = 10.0) -> list[psutil.Process]:
    """Ask those processes to end, kill those that have not after ``patience`` seconds; returns those still there."""
    alive = list(processes)
    for ask, seconds in ((psutil.Process.terminate, patience), (psutil.Process.kill, 5.0)):
        for process in alive:
            with contextlib.suppress(psutil.Error):
                ask(process)
        _, alive = psutil.wait_procs(alive, timeout=seconds)
    return list(alive)


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


@dataclass(frozen=True)
class Ledger:
    """One running race, its folder, and the process that watches over it.

    :param started: epoch seconds, for people; nothing is decided by it.
    :param data_paths: folders outside Rally's that its nodes fill.
    :param groups: folders of the control groups that its nodes are in.
    """

    race_id: str
    folder: str
    watcher: Watcher
    started: float
    data_paths: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """Where it is written."""
        return _folder() / f"{self.race_id}.json"

    def __str__(self) -> str:
        since = time.strftime("%H:%M", time.localtime(self.started))
        # An id from elsewhere may be anybody's here.
        known = self.watcher.shares_process_ids
        how = f"where 'kill {self.watcher.pid}' ends it" if known else "whose processes cannot be seen from here"
        return f"the race {self.race_id}, running since {since} (on {self.watcher.host_name}, {how})"


def running() -> list[Ledger]:
    """The races that are written down, watched or not, here or elsewhere; what is no ledger is left out."""
    return [ledger for file in sorted(_folder().glob("*.json")) if (ledger := _read(file))]


def secrets_file(race_id: str) -> Path:
    """Where the race's client options lie while it runs, if they stand in no file of the user's."""
    return paths.state_folder() / "races" / race_id / "client-options.json"


@contextmanager
def racing() -> Iterator[list[str]]:
    """Hold the lock on races, one per home, while the block runs; what killed races have left is cleared up first.

    :returns: a sentence for each race that was cleared up after.
    :raises MachineError: if a race is running.
    """
    holders = [ledger for ledger in running() if ledger.watcher.is_alive or not ledger.watcher.can_be_seen]
    named = " or ".join(map(str, holders)) or "the race or the tournament of another process"
    with locked(paths.state_folder() / "race.lock", named, wait=False):
        yield _clear_abandoned()


@contextmanager
def written_down(race_id: str, data_paths: Sequence[Path] = (), groups: Sequence[Path] = ()) -> Iterator[Ledger]:
    """Keep the race in the ledger while the block runs; at its end, whatever ended it, clear up after it."""
    ledger = Ledger(
        race_id,
        str(paths.races_folder() / race_id),
        this_process(),
        time.time(),
        tuple(map(str, data_paths)),
        tuple(map(str, groups)),
    )
    write_json(ledger.file, asdict(ledger))
    try:
        yield ledger
    finally:
        _clear(ledger)


def _clear(ledger: Ledger) -> int:
    """End what is left of that race and remove what it left on disk; its logs and its race.json stay.

    :returns: how many processes were ended.
    """
    of_the_race, ended = RaceProcesses(ledger.race_id, Path(ledger.folder)), 0
    # A node that is being launched appears while its launcher is ended.
    for _ in range(_ROUNDS):
        if not (processes := of_the_race.all()):
            break
        ended += len(processes)
        end(processes)
    for folder in _on_disk(ledger):
        shutil.rmtree(folder, ignore_errors=True)
    _remove_secrets(ledger.race_id)
    remove_groups(map(Path, ledger.groups))
    if not of_the_race.all():
        ledger.file.unlink(missing_ok=True)
    return ended


def _clear_abandoned() -> list[str]:
    """Clear up after races whose watching process is gone (kill -9, power cut); one sentence for each, for the user."""
    sentences = []
    for file in sorted(_folder().glob("*.json")):
        ledger = _read(file)
        if ledger is None:
            _remove_secrets(file.stem)
            named = [one for one in _told(file).get("data_paths") or () if _is_data_path(str(one), file.stem)]
            data = f", and remove {', '.join(map(str, named))}" if named else ""
            with contextlib.suppress(OSError):
                file.unlink()
                sentences.append(
                    f"{file} did not say enough of a race to end anything for it, and was removed: "
                    f"if something of the race {file.stem} is still running, end that by hand{data}."
                )
        elif not ledger.watcher.can_be_seen:
            _remove_secrets(ledger.race_id)
            left = ", ".join(map(str, [*_on_disk(ledger), *ledger.groups, file]))
            sentences.append(
                f"The race {ledger.race_id} was cut off on {ledger.watcher.host_name}, and its processes cannot be "
                f"seen from here: the next race there clears up. If that container or machine is gone, remove {left}."
            )
        elif not ledger.watcher.is_alive:
            ended = _clear(ledger)
            what = f"{ended} processes of it were ended" if ended else "nothing of it was running any more"
            sentences.append(f"The race {ledger.race_id} was cut off before; {what}, and its installation was removed.")
    return sentences


def _on_disk(ledger: Ledger) -> list[Path]:
    """The folders that the race leaves behind; no installation to which a symbolic link leads: it is another's."""
    folder = paths.races_folder().resolve() / ledger.race_id
    places = (*folder.glob("*/install"), *folder.glob("*/*/install"))
    # Of a shipper's lap what it had not sent yet, and all of one whose configuration has a password in it.
    shipped = (*folder.glob("shippers/*/state"), *folder.glob("shippers/secret-*"))
    installations = [one for one in (*places, *shipped) if one.resolve() == one]
    return [one for one in (*installations, *map(Path, ledger.data_paths)) if one.is_dir()]


def _remove_secrets(race_id: str) -> None:
    """Remove the race's client options, unless they are somebody else's or a symbolic link leads to them."""
    file = secrets_file(race_id)
    if file.parent.resolve() == file.parent.parent.resolve() / race_id:
        with contextlib.suppress(OSError):
            file.unlink()


def _read(file: Path) -> Ledger | None:
    """The ledger in that file; None if it is none, or one of another version."""
    try:
        ledger: Ledger = built(Ledger, _told(file), str(file))
    except ValueError:
        return None
    # Whoever clears up may be root, and the file somebody else's: nothing is deleted that is not named like a race's.
    named = ledger.race_id == Path(ledger.folder).name == file.stem
    paths_are_its = all(_is_data_path(one, file.stem) for one in ledger.data_paths)
    groups_are_its = all(is_group_of(one, file.stem) for one in ledger.groups)
    return ledger if named and paths_are_its and groups_are_its else None


def _told(file: Path) -> dict[str, Any]:
    """What a ledger says; an earlier version wrote down one data path at most."""
    told = read_record(file)
    return {"data_paths": [told["data_path"]] if told.get("data_path") else [], **told}


def _is_data_path(path: str, race_id: str) -> bool:
    return Path(path).name == f"paddock-{race_id}"


def _folder() -> Path:
    return paths.state_folder() / "running"
