"""CPU and memory of the load driver and of the nodes that run here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

import psutil

from paddock.sampling.records import DriverUsage, ProcessUsage

# The JVM notes its start a moment after its process was made; a pid that was given out again is younger than that.
_SAME_START_SECONDS = 30.0


class DriverMeter:
    """Adds up processes that come and go: the CPU time of one that has ended stays in the sum."""

    def __init__(self) -> None:
        self._cpu: dict[tuple[int, float], float] = {}

    def read(self, pids: Iterable[int], elapsed: float) -> DriverUsage:
        """Look at those processes now.

        :param pids: the driver's processes as of now; ids of processes that have ended do no harm.
        :param elapsed: seconds since the previous reading, 0 for the first one.
        """
        alive = 0
        resident = 0
        busiest = 0.0
        for pid in set(pids):
            try:
                process = psutil.Process(pid)
                with process.oneshot():
                    key = (pid, process.create_time())
                    times = process.cpu_times()
                    memory = process.memory_info().rss
            except psutil.Error:
                continue
            cpu = times.user + times.system
            if elapsed > 0:
                # The first sight of a process tells nothing about the time since the previous reading.
                busiest = max(busiest, (cpu - self._cpu.get(key, cpu)) / elapsed)
            self._cpu[key] = cpu
            alive += 1
            resident += memory
        return DriverUsage(alive, round(sum(self._cpu.values()), 3), resident, round(busiest, 3))


class NodeProcesses:
    """The processes of those nodes that run on this machine."""

    def __init__(self) -> None:
        self._processes: dict[str, psutil.Process] = {}

    def find(self, information: Mapping[str, Any]) -> None:
        """Recognise them by what a _nodes answer says: the process id alone may be that of another machine."""
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

    def read(self) -> dict[str, ProcessUsage]:
        """Their figures now, by node id; those that have ended are left out."""
        usage = {}
        for node_id, process in self._processes.items():
            with contextlib.suppress(psutil.Error):
                if not process.is_running():
                    continue
                times = process.cpu_times()
                usage[node_id] = ProcessUsage(
                    pid=process.pid,
                    cpu_seconds=round(times.user + times.system, 3),
                    resident_bytes=process.memory_info().rss,
                    written_bytes=_written(process),
                )
        return usage


def _written(process: psutil.Process) -> int | None:
    try:
        return int(process.io_counters().write_bytes)
    except (psutil.Error, AttributeError, OSError):
        return None
