"""The processes of the nodes that run on this machine: which they are, what they wrote, how much memory they took."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
# Written to clear_refs, it sets a process's peak of resident memory to what it has now (proc(5)).
_RESET_PEAK = "5"


async def local_nodes(es: Any, proc: Path = _PROC) -> tuple[list[int], int]:
    """The process ids of those nodes of the cluster that run on this machine, and how many others there are.

    A node in a container of its own has a process id that means another process here: it counts among the others.
    """
    answer = await es.nodes.info(metric="process")
    here = [
        node["process"]["id"]
        for node in answer["nodes"].values()
        if _is_here(node.get("ip", "")) and _is_elasticsearch(proc / str(node["process"]["id"]) / "cmdline")
    ]
    return here, len(answer["nodes"]) - len(here)


class NodeProcesses:
    """Looks at all nodes of a cluster once now and once for :meth:`record`.

    Linux tells the owner of a process, and root, what it has written; in some containers it tells nobody.

    :param here: process ids of the nodes on this machine, ``elsewhere`` how many are on others.
    """

    def __init__(self, here: Sequence[int], elsewhere: int = 0, proc: Path = _PROC) -> None:
        self._folders = [proc / str(pid) for pid in here]
        self._all_here = bool(here) and not elsewhere
        self._written = self._sum("io", r"^write_bytes: ([0-9]+)$")
        self._peaks_reset = self._reset_peaks()

    def record(self) -> dict[str, int | None]:
        """Bytes that all nodes together have sent towards the disk since, and the sum of their peaks of memory.

        What a node writes to a file that is deleted before the kernel gets to it counts, too. Null where Linux
        does not tell, and if a node is elsewhere.
        """
        after, peak = self._sum("io", r"^write_bytes: ([0-9]+)$"), self._sum("status", r"^VmHWM:\s+([0-9]+) kB$")
        known = self._written is not None and after is not None
        return {
            "written_bytes": after - self._written if known else None,
            "peak_memory_bytes": peak * 1024 if self._peaks_reset and peak is not None else None,
        }

    def _sum(self, file: str, figure: str) -> int | None:
        """The figure of all nodes together; None if that of one is unknown."""
        if not self._all_here:
            return None
        total = 0
        for folder in self._folders:
            try:
                found = re.search(figure, (folder / file).read_text(encoding="utf-8"), re.MULTILINE)
            except OSError:
                return None
            if found is None:
                return None
            total += int(found[1])
        return total

    def _reset_peaks(self) -> bool:
        try:
            for folder in self._folders:
                (folder / "clear_refs").write_text(_RESET_PEAK, encoding="utf-8")
        except OSError:
            return False
        return True


def _is_here(address: str) -> bool:
    """Whether an address belongs to this machine: only then can a socket be bound to it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            one.bind((address, 0))
    except OSError:
        return False
    return bool(address)


def _is_elasticsearch(command: Path) -> bool:
    try:
        return b"org.elasticsearch" in command.read_bytes()
    except OSError:
        return False
