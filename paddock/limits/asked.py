"""What a node may have at most, as the variables of cars say it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paddock.errors import UsageError
from paddock.files import gibibytes

SWITCH = "limits"
CORES, CPUS, QUOTA, MEMORY = "limit_cores", "limit_cpus", "limit_cpu_quota", "limit_memory"
DISK_READ, DISK_WRITE = "limit_disk_read", "limit_disk_write"
VARIABLES = (CORES, CPUS, QUOTA, MEMORY, DISK_READ, DISK_WRITE)
# Below a tenth of a core a node does not start within the patience of a race.
SMALLEST_QUOTA = 0.1
# What the JVM needs beside its heap to start at all: classes, compiled code, stacks, buffers of the network. With a
# heap of 1 GiB a node that indexes has 1.4 GiB resident.
BESIDE_THE_HEAP = 256 << 20
# The highest CPU that a list may name; the kernel's own bound (CONFIG_NR_CPUS) is at most this.
HIGHEST_CPU = 8191
NO_LIMITS = "no-limits"  # the mixin


@dataclass(frozen=True)
class Limits:
    """What each node of a cluster may have at most; None and empty: as much as there is.

    :param cores: how many of the cores that we may use ourselves.
    :param cpus: those cores by the kernel's numbers, in the place of ``cores``.
    :param quota: cores' worth of time, 0.5 for half of one core's.
    :param memory_bytes: all of the node's memory, page cache of its files included.
    :param read_bytes: per second, from the disk of its data.
    :param write_bytes: likewise, to it.
    """

    cores: int | None = None
    cpus: tuple[int, ...] = ()
    quota: float | None = None
    memory_bytes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None

    def __bool__(self) -> bool:
        return self != Limits()


def cpus_in(text: str) -> tuple[int, ...]:
    """The CPUs in a list as the kernel writes it, "0-3,5", in order.

    :raises ValueError: if it is none; one sentence.
    """
    found: set[int] = set()
    for part in text.strip().split(","):
        match = re.fullmatch(r"\s*([0-9]{1,5})(?:-([0-9]{1,5}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= HIGHEST_CPU:
            raise ValueError(f"'{text}' is no list of CPUs: write their numbers, for example 0-1 or 0,2.")
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def cpu_list(cpus: Iterable[int]) -> str:
    """The shortest list that the kernel takes for these: "0-3,5"."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def limits_of(variables: Mapping[str, str], size: Mapping[str, int], heap_bytes: int, who: str) -> Limits:
    """The limits in a car's variables, whose forms are checked already.

    :param size: those of the variables that are sizes, in bytes.
    :param who: the cars' names, for a sentence.
    :raises UsageError: if they contradict each other or the heap.
    """
    if variables.get(SWITCH) == "off":
        return Limits()
    cores, cpus, quota = (variables.get(name, "") for name in (CORES, CPUS, QUOTA))
    limits = Limits(
        int(cores) if cores else None,
        cpus_in(cpus) if cpus else (),
        float(quota) if quota else None,
        size.get(MEMORY),
        size.get(DISK_READ),
        size.get(DISK_WRITE),
    )
    if limits.cores and limits.cpus:
        raise UsageError(
            f"'{who}' says how many cores ({CORES} {limits.cores}) and which ({CPUS} {cpu_list(limits.cpus)}): leave "
            f"one of the two out, which with --car-params is an empty value, {CORES}: for example."
        )
    number = limits.cores or len(limits.cpus)
    if number and limits.quota and limits.quota > number:
        raise UsageError(
            f"'{who}' has a quota of {limits.quota:g} cores and {number} to use it on: make {QUOTA} {number} or less, "
            f"or leave it out."
        )
    if limits.memory_bytes and limits.memory_bytes < heap_bytes + BESIDE_THE_HEAP:
        raise UsageError(
            f"'{who}' has a heap of {gibibytes(heap_bytes)} and a limit of {gibibytes(limits.memory_bytes)} on all of "
            f"its memory, and the JVM needs {gibibytes(BESIDE_THE_HEAP)} more than its heap at the very least: take a "
            f"smaller heap, or make {MEMORY} {-(-(heap_bytes + BESIDE_THE_HEAP) // 2**20)}m or more."
        )
    return limits
