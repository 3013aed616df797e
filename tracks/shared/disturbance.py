"""What else the machine of the load driver did while a lap ran: two looks at Linux's own counters, none in between."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_RESOURCES = ("cpu", "io", "memory")
# In /proc/stat: user nice system idle iowait irq softirq steal, then guests, which are part of user and nice.
_IDLE, _IOWAIT, _STEAL, _COLUMNS = 3, 4, 7, 8


@dataclass(frozen=True)
class Look:
    """Totals since the machine started, in seconds.

    :param cores: of all cores together: ``total`` of any state, ``steal`` that the hypervisor gave to others, ``busy``
        with a process.
    :param own: processor time of this process and of the nodes.
    :param stalled: per resource, in which at least one process waited for it; None where the kernel does not tell.
    """

    at: float
    cores: int
    total: float
    busy: float
    steal: float
    own: float
    stalled: dict[str, float | None]


class Disturbance:
    """Looks at the machine once now and once for :meth:`record`.

    :param nodes: process ids of the nodes that run here, ``elsewhere`` how many nodes run on other machines.
    :param proc: where Linux mounts its counters.
    """

    def __init__(self, nodes: Sequence[int] = (), elsewhere: int = 0, proc: Path = Path("/proc")) -> None:
        self._nodes = tuple(nodes)
        self._elsewhere = elsewhere
        self._proc = proc
        self._first = self._look()

    def record(self, others_of_the_driver: float = 0.0) -> dict[str, Any] | None:
        """What came between the two looks; None on a system without these counters, or if a node is gone.

        Shares are 0 to 1: of the time of all cores, and for pressure of the time that passed. ``others_cores`` is how
        many cores were busy with anything but the load driver and the nodes that run here.

        :param others_of_the_driver: processor seconds in between of the load driver's other processes on this machine.
        """
        first, second = self._first, self._look()
        if first is None or second is None or second.total <= first.total:
            return None
        seconds = second.at - first.at
        busy, own = second.busy - first.busy, second.own - first.own + others_of_the_driver
        pressure: dict[str, float | None] = {}
        for name in _RESOURCES:
            before, after = first.stalled[name], second.stalled[name]
            known = before is not None and after is not None and seconds > 0
            pressure[f"{name}_pressure_share"] = round(min(1.0, (after - before) / seconds), 4) if known else None
        return {
            "seconds": round(seconds, 3),
            "cores": second.cores,
            "nodes_here": len(self._nodes),
            "nodes_elsewhere": self._elsewhere,
            "steal_share": round((second.steal - first.steal) / (second.total - first.total), 4),
            # The counters tick a hundred times a second, so the difference may come out a little below nothing.
            "others_cores": round(max(0.0, busy - own) / seconds, 3),
            **pressure,
        }

    def _look(self) -> Look | None:
        tick = os.sysconf("SC_CLK_TCK")
        try:
            lines = (self._proc / "stat").read_text().splitlines()
            nodes = sum(_process_ticks((self._proc / str(pid) / "stat").read_text()) for pid in self._nodes)
        except OSError:
            return None
        ticks = [int(word) for word in lines[0].split()[1 : 1 + _COLUMNS]]
        if len(ticks) < _COLUMNS:
            return None
        driver = os.times()
        return Look(
            at=time.monotonic(),
            cores=sum(1 for line in lines if re.match(r"cpu[0-9]", line)),
            total=sum(ticks) / tick,
            busy=(sum(ticks) - ticks[_IDLE] - ticks[_IOWAIT] - ticks[_STEAL]) / tick,
            steal=ticks[_STEAL] / tick,
            own=driver.user + driver.system + nodes / tick,
            stalled={name: _stalled(self._proc / "pressure" / name) for name in _RESOURCES},
        )


def _process_ticks(stat: str) -> int:
    """User and system time of a process, whose name may hold anything, blanks and brackets included."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _stalled(pressure: Path) -> float | None:
    """Seconds in which some process waited; None without pressure stall information."""
    try:
        found = re.search(r"^some .*total=([0-9]+)", pressure.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) / 1e6 if found else None
