"""What the sampler's own machine tells: of processes, of its processors, and of the disks with the nodes' data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil

from paddock.limits.disks import Disk, disk_of
from paddock.sampling.records import ComponentUsage, DiskUsage, ProcessUsage

# The JVM notes its start a moment after its process was made; a pid that was given out again is younger than that.
_SAME_START_SECONDS = 30.0
DISK_COUNTERS = Path("/proc/diskstats")
# What the kernel calls a sector there, whatever the disk has.
_SECTOR = 512


class ComponentMeter:
    """Adds up processes that come and go: what one that has ended used stays in the sum.

    :param threads: whether to look into each process for its busiest thread.
    """

    def __init__(self, threads: bool = False) -> None:
        self._threads = threads
        self._cpu: dict[tuple[float, ...], float] = {}
        self._of_threads: dict[tuple[float, ...], float] = {}
        self._disk: dict[tuple[float, ...], tuple[int, int]] = {}

    def read(self, pids: Iterable[int], elapsed: float) -> ComponentUsage:
        """Look at those processes now.

        :param pids: the component's processes as of now; ids of processes that have ended do no harm.
        :param elapsed: seconds since the previous reading, 0 for the first one.
        """
        alive, resident, busiest, busiest_thread = 0, 0, 0.0, 0.0
        for pid in set(pids):
            try:
                process = psutil.Process(pid)
                with process.oneshot():
                    key = (pid, process.create_time())
                    times = process.cpu_times()
                    memory = process.memory_info().rss
            except psutil.Error:
                continue
            busiest = max(busiest, _share(self._cpu, key, times.user + times.system, elapsed))
            if self._threads:
                with contextlib.suppress(psutil.Error):
                    for one in process.threads():
                        used = _share(self._of_threads, (*key, one.id), one.user_time + one.system_time, elapsed)
                        busiest_thread = max(busiest_thread, used)
            if (moved := _written_and_read(process)) is not None:
                self._disk[key] = moved
            alive += 1
            resident += memory
        written, read = (sum(part) for part in zip(*self._disk.values(), strict=True)) if self._disk else (None, None)
        return ComponentUsage(
            alive,
            round(sum(self._cpu.values()), 3),
            resident,
            round(busiest, 3),
            written,
            read,
            round(busiest_thread, 3) if self._threads else None,
        )


def _share(before: dict[tuple[float, ...], float], key: tuple[float, ...], cpu: float, elapsed: float) -> float:
    """The share of a core since it was looked at last, which is noted; the first sight of it tells nothing of that."""
    share = (cpu - before.get(key, cpu)) / elapsed if elapsed > 0 else 0.0
    before[key] = cpu
    return share


class NodeProcesses:
    """The processes of those nodes that run on this machine."""

    def __init__(self) -> None:
        self._processes: dict[str, psutil.Process] = {}

    def find(self, information: Mapping[str, Any]) -> set[str]:
        """Recognise them by what a _nodes answer says: the process id alone may be that of another machine.

        :returns: the ids of the nodes that run here.
        """
        self._processes = {}
        for node_id, node in information.get("nodes", {}).items():
            jvm = node.get("jvm", {})
            pid, start = node.get("process", {}).get("id"), jvm.get("start_time_in_millis")
            if not isinstance(pid, int) or not isinstance(start, int):
                continue
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                if abs(process.create_time() - start / 1000) < _SAME_START_SECONDS:
                    self._processes[node_id] = process
        return set(self._processes)

    def read(self) -> dict[str, ProcessUsage]:
        """Their figures now, by node id; those that have ended are left out."""
        usage = {}
        for node_id, process in self._processes.items():
            with contextlib.suppress(psutil.Error):
                if not process.is_running():
                    continue
                times = process.cpu_times()
                written, read = _written_and_read(process) or (None, None)
                usage[node_id] = ProcessUsage(
                    process.pid, round(times.user + times.system, 3), process.memory_info().rss, written, read
                )
        return usage


class Processors:
    """How much of the time of all processors was used since they were looked at last."""

    def __init__(self) -> None:
        psutil.cpu_times_percent()  # from now on

    def read(self) -> dict[str, float]:
        """``steal_percent`` and ``busy_percent``, which includes it; waiting for a disk is idle."""
        told = psutil.cpu_times_percent()
        idle = told.idle + getattr(told, "iowait", 0.0)
        return {"steal_percent": getattr(told, "steal", 0.0), "busy_percent": round(max(100.0 - idle, 0.0), 1)}


class DiskMeter:
    """The disks of the data of nodes that run on this machine; none where it lies on no disk of its own, as in memory.

    :param counters: where the kernel counts, /proc/diskstats (see iostats.rst of its documentation).
    """

    def __init__(self, counters: Path = DISK_COUNTERS) -> None:
        self._counters = counters
        self._names: set[str] = set()

    def find(self, nodes: Iterable[Mapping[str, Any]]) -> None:
        """Take the disks of these, parts of a _nodes answer with flat settings."""
        self._names = set()
        for node in nodes:
            told = node.get("settings", {}).get("path.data")
            for folder in [told] if isinstance(told, str) else told or ():
                with contextlib.suppress(OSError):
                    disk = disk_of(Path(folder))
                    if isinstance(disk, Disk):
                        self._names.add(disk.name)

    def read(self) -> dict[str, DiskUsage]:
        """Their counters now, by name."""
        if not self._names:
            return {}
        try:
            lines = [line.split() for line in self._counters.read_text(encoding="ascii").splitlines()]
        except (OSError, UnicodeDecodeError):
            return {}
        # Fields: 3 name, 6 sectors read, 10 sectors written, 13 milliseconds in which it had something to do.
        return {
            words[2]: DiskUsage(int(words[12]) / 1000, int(words[5]) * _SECTOR, int(words[9]) * _SECTOR)
            for words in lines
            if len(words) > 12 and words[2] in self._names
        }


def _written_and_read(process: psutil.Process) -> tuple[int, int] | None:
    """Bytes to and from disks since it started; None where the kernel does not tell this user."""
    try:
        counters = process.io_counters()
        return int(counters.write_bytes), int(counters.read_bytes)
    except (psutil.Error, AttributeError, OSError):
        return None
