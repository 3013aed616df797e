"""What this machine grants a node (memory, processors) and whether it carries a combination of cars."""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from paddock.advice import heap_over_half
from paddock.cars.files import Combination, load_cars
from paddock.errors import MachineError, UsageError
from paddock.files import gibibytes

# A heap above this share leaves the JVM's own memory, the load driver and the page cache too little to race at all.
LARGEST_HEAP_SHARE = 0.8
CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class Machine:
    """Resources that a node can have here.

    :param memory_bytes: physical memory, or the container's limit if that is lower.
    :param processors: processors that we may run on, or the container's quota (rounded up, as the JVM does).
    :param locked_memory_limit: the most bytes that a node can be allowed to lock; None for no limit.
    """

    memory_bytes: int
    processors: int
    locked_memory_limit: int | None


def this_machine() -> Machine:
    """Measure this machine; cheap, changes nothing."""
    membership = MEMBERSHIP.read_text(encoding="utf-8") if MEMBERSHIP.exists() else ""
    memory = [psutil.virtual_memory().total, cgroup_memory_limit(CGROUPS, membership)]
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processors = [usable, cgroup_processors(CGROUPS, membership)]
    return Machine(
        memory_bytes=min(limit for limit in memory if limit is not None),
        processors=min(limit for limit in processors if limit is not None),
        locked_memory_limit=_locked_memory_limit(),
    )


def largest_heap(machine: Machine) -> int:
    """The largest heap in bytes with which a race is possible here at all."""
    return int(machine.memory_bytes * LARGEST_HEAP_SHARE)


def large_heap(combination: Combination, machine: Machine) -> str | None:
    """A sentence if the heap is more than Elastic advises of the node's memory, which a limit may make small."""
    limit = combination.limits.memory_bytes
    whose = f"the {gibibytes(limit)} that its limit leaves it" if limit else f"this machine's {_memory(machine)}"
    heap = combination.heap_bytes
    return heap_over_half(heap, limit or machine.memory_bytes, f"A heap of {gibibytes(heap)}", whose)


def large_heaps_together(heaps: Sequence[int], machine: Machine) -> str | None:
    """A sentence if several nodes' heaps, in bytes, are more together than Elastic advises of the machine's memory."""
    if len(heaps) < 2:
        return None
    together = f"{gibibytes(sum(heaps))} for the heaps of {len(heaps)} nodes"
    return heap_over_half(sum(heaps), machine.memory_bytes, together, f"this machine's {_memory(machine)}")


def _memory(machine: Machine) -> str:
    return gibibytes(machine.memory_bytes)


def cgroup_memory_limit(root: Path, membership: str) -> int | None:
    """The lowest memory limit, in bytes, on the way from our control group to the root; None if there is none.

    :param root: where control groups are mounted; ``membership`` is the text of /proc/self/cgroup.
    """
    limits = [
        int(text)
        for folder, version in _folders(root, membership, "memory")
        if (text := _read(folder / ("memory.max" if version == 2 else "memory.limit_in_bytes"))).isdigit()
    ]
    # Version 1 writes "no limit" as a number beyond any memory; the caller's minimum drops it.
    return min(limits, default=None)


def cgroup_processors(root: Path, membership: str) -> int | None:
    """The lowest processor quota on the way from our control group to the root, rounded up; None if there is none."""
    quotas = []
    for folder, version in _folders(root, membership, "cpu"):
        if version == 2:
            words = _read(folder / "cpu.max").split()
        else:
            words = [_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")]
        if len(words) == 2 and all(word.isdigit() and int(word) > 0 for word in words):
            quotas.append(math.ceil(int(words[0]) / int(words[1])))
    return min(quotas, default=None)


def _folders(root: Path, membership: str, controller: str) -> Iterator[tuple[Path, int]]:
    """The folders, with the version of control groups, whose limits for ``controller`` hold for us.

    Inside a container the path in ``membership`` may be the host's and not exist here: files that are missing
    are no limits, and the root is always looked at.
    """
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top, version = (root / controller, 1) if controllers else (root, 2)
        folder = top / path.lstrip("/")
        yield from ((place, version) for place in (folder, *folder.parents) if place.is_relative_to(top))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _locked_memory_limit() -> int | None:
    """The hard limit on locked memory, None if there is none or if we may lift it.

    Whether we may is tried and undone: being root does not tell, for a container's root mostly may not.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if hard == resource.RLIM_INFINITY:
        return None
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, resource.RLIM_INFINITY))
    except (ValueError, OSError):
        return hard
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard))
    return None


def check_machine(combination: Combination, machine: Machine) -> list[str]:
    """Sentences about what is not as the combination means it on this machine; empty if all is well.

    :raises MachineError: a heap too large for the memory, or a memory lock that the limit forbids.
    """
    heap, memory, largest = combination.heap_bytes, gibibytes(machine.memory_bytes), largest_heap(machine)
    if heap > largest:
        fitting = [car for car in load_cars().values() if car.name.endswith("heap") and car.heap_bytes <= largest]
        remedy = "not even the smallest heap car fits here"
        if fitting:
            remedy = f"the largest heap car that fits is {max(fitting, key=lambda car: car.heap_bytes).name}"
        raise MachineError(
            f"'{combination.name}' has a heap of {gibibytes(heap)}, and this machine has {memory} of memory, of which "
            f"{gibibytes(largest)} can be heap: {remedy}."
        )
    if combination.memory_lock and machine.locked_memory_limit is not None:
        # mlockall counts the whole address space, which for a small heap is several GiB and with ZGC dozens.
        raise MachineError(
            f"'{combination.name}' locks its memory, but only {gibibytes(machine.locked_memory_limit)} may be locked "
            f"here: set 'ulimit -l unlimited' (in a container: --ulimit memlock=-1), or leave memory-lock out."
        )
    warnings = []
    if large := large_heap(combination, machine):
        warnings.append(large)
    if combination.processors is not None and combination.processors > machine.processors:
        warnings.append(
            f"'{combination.name}' counts on {combination.processors} processors and this machine has "
            f"{machine.processors}: its threads will share them, so this is not that hardware's speed."
        )
    return warnings


def check_data_paths(combination: Combination) -> None:
    """Refuse, with a UsageError, a data path with anything that no node has left there: Rally deletes it all."""
    for folder in combination.data_paths:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise UsageError(f"The data path {folder} is no folder: name a folder of its own, it need not exist yet.")
        try:
            entries = sorted(folder.iterdir()) if folder.exists() else []
        except OSError as error:
            raise UsageError(
                f"The data path {folder} cannot be looked into ({error.strerror}): name a folder of its own."
            ) from None
        for entry in entries:
            # What our elasticsearch.yml gives to one node of one race.
            if not ((entry / "node.lock").exists() or (entry / "_state").is_dir()):
                raise UsageError(
                    f"The data path {folder} holds {entry.name}, and Rally deletes the whole folder after the race: "
                    f"name a folder of its own, for example {folder / 'paddock-node-data'}."
                )
