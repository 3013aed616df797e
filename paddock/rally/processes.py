"""Finds and ends the processes of one race: Rally's actors by a mark in their environment, the node by its folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable

import psutil

# Every process that descends from our esrally carries it; the node does not, because Rally passes only PATH on.
MARK = "PADDOCK_RACE"


class RaceProcesses:
    """The processes of one race, found anew at each call.

    Looking into a process costs more than listing it, so what was once looked into is remembered.

    :param race_id: Rally's race id.
    """

    def __init__(self, race_id: str):
        self.race_id = race_id
        self._known: dict[tuple[int, float], bool] = {}

    def drivers(self) -> list[psutil.Process]:
        """Rally itself: its main process and its actors, load workers among them."""
        return [process for process in psutil.process_iter() if self._remembered(process)]

    def driver_pids(self) -> list[int]:
        """Process ids of :meth:`drivers`."""
        return [process.pid for process in self.drivers()]

    def nodes(self) -> list[psutil.Process]:
        """Elasticsearch processes that run from the race's folder."""
        return [process for process in psutil.process_iter() if _runs_from(process, self.race_id)]

    def all(self) -> list[psutil.Process]:
        """Everything of the race that is alive, except this process."""
        return [*self.drivers(), *self.nodes()]

    def _remembered(self, process: psutil.Process) -> bool:
        try:
            key = (process.pid, process.create_time())
            if key not in self._known:
                self._known[key] = process.pid != os.getpid() and process.environ().get(MARK) == self.race_id
            return self._known[key] and process.status() != psutil.STATUS_ZOMBIE
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


def is_alive(pid: int, create_time: float) -> bool:
    """Whether the process with that id is still the one that was started then (epoch seconds)."""
    try:
        return abs(psutil.Process(pid).create_time() - create_time) < 1.0
    except psutil.Error:
        return False


def _runs_from(process: psutil.Process, race_id: str) -> bool:
    try:
        words = process.cmdline()
        is_java = bool(words) and os.path.basename(words[0]) == "java"  # noqa: PTH119 - a word, not a file of ours
        return is_java and any(f"/races/{race_id}/" in word for word in words)
    except (psutil.Error, OSError):
        return False


def _quietly(action: Callable[[], None]) -> None:
    with contextlib.suppress(psutil.Error):
        action()
