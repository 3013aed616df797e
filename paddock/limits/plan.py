"""By which means each limit is held on this machine, or why it cannot be: decided before anything is started.

Nothing is changed by planning; what the plan says is tried by making a group of it, which is removed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from paddock.errors import MachineError
from paddock.files import gibibytes
from paddock.limits import layout
from paddock.limits.asked import CORES, CPUS, DISK_READ, DISK_WRITE, MEMORY, NO_LIMITS, QUOTA, Limits, cpu_list
from paddock.limits.disks import Disk, disk_of
from paddock.limits.layout import Setting, Tree

_MEMBERSHIP, _MOUNTS = Path("/proc/self/cgroup"), Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class GroupPlan:
    """One group of a node.

    :param parent: the group in which it is made.
    :param controllers: what version 2 has to give on to it.
    """

    parent: Path
    version: int
    controllers: tuple[str, ...]
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Plan:
    """How the limits of a node are held.

    :param who: the cars' names, for sentences; or what else is held, see ``prefix``.
    :param cpus: the cores that it may use; empty for all.
    :param by_affinity: whether the kernel's CPU affinity holds them, because no group can.
    :param prefix: what stands before the names of limits that are asked for by track parameters: "shipper_". Empty for
        those of cars.
    """

    limits: Limits
    who: str
    cpus: tuple[int, ...] = ()
    by_affinity: bool = False
    disk: Disk | None = None
    groups: tuple[GroupPlan, ...] = ()
    prefix: str = ""

    @property
    def text(self) -> str:
        """What holds, by which means: "cores 1 (cpuset v1), 0.5 cores of time (quota v1), memory 1.7 GiB (v1)"."""
        version = {one: group.version for group in self.groups for one in group.controllers}
        told = []
        if self.cpus:
            means = "affinity" if self.by_affinity else f"cpuset v{version[layout.CPUSET]}"
            told.append(f"{'core' if len(self.cpus) == 1 else 'cores'} {cpu_list(self.cpus)} ({means})")
        if self.limits.quota:
            told.append(f"{self.limits.quota:g} cores of time (quota v{version[layout.CPU]})")
        if self.limits.memory_bytes:
            told.append(f"memory {gibibytes(self.limits.memory_bytes)} (v{version[layout.MEMORY]})")
        if self.disk:
            group = next(one for one in self.groups if layout.DISK in one.controllers)
            later = "" if layout.MEMORY in group.controllers else "; synced and direct ones only"
            for rate, way, more in (
                (self.limits.read_bytes, "reads from", ""),
                (self.limits.write_bytes, "writes to", later),
            ):
                if rate:
                    told.append(f"{way} {self.disk.name} {gibibytes(rate)}/s (v{group.version}{more})")
        return ", ".join(told)

    @property
    def at_most(self) -> dict[str, float]:
        """What it comes to, as far as it is limited: "cores", and bytes per second that may be "written"."""
        cores = min([number for number in (len(self.cpus), self.limits.quota) if number], default=None)
        found = {"cores": cores, "written": self.limits.write_bytes if self.disk else None}
        return {name: float(value) for name, value in found.items() if value}


@dataclass(frozen=True)
class Here:
    """What plans are made from; the defaults are this machine.

    :param cpus: those that we may use ourselves.
    :param memory_bytes: the machine's.
    """

    trees: Mapping[str, Tree] = field(default_factory=lambda: layout.trees(_text(_MEMBERSHIP), _text(_MOUNTS)))
    cpus: tuple[int, ...] = field(default_factory=lambda: tuple(sorted(os.sched_getaffinity(0))))
    memory_bytes: int = field(default_factory=lambda: int(psutil.virtual_memory().total))


def plan_limits(limits: Limits, data: Path, who: str, here: Here | None = None, prefix: str = "") -> Plan:
    """Decide how those limits are held.

    :param data: the folder, which need not exist yet, in which the node keeps its data.
    :param who: the cars' names, for sentences, and ``prefix`` as for a :class:`Plan`.
    :raises MachineError: if the machine is smaller than a limit, or one cannot be held here; with what would help.
    """
    here = here or Here()
    _check_size(limits, who, here, prefix)
    cpus = limits.cpus or (here.cpus[-limits.cores :] if limits.cores else ())
    disk = _disk(limits, data, who)
    asked = _controllers(limits, here)
    groups, failed = _groups(limits, cpus, disk, asked, here)
    by_affinity = failed.pop(layout.CPUSET, None) is not None
    if failed:
        raise MachineError(_cannot(limits, who, failed, prefix))
    return Plan(limits, who, cpus, by_affinity, disk, groups, prefix)


def left_out(prefix: str) -> str:
    """How to do without limits."""
    return "leave its limits out" if prefix else f"leave limits out with the mixin {NO_LIMITS}"


def _check_size(limits: Limits, who: str, here: Here, prefix: str) -> None:
    have = f"and this machine has {_number(len(here.cpus))} that it may use ({cpu_list(here.cpus)})"
    remedy = f"take a smaller {'' if prefix else 'profile or '}limit, or {left_out(prefix)}."
    if limits.cores and limits.cores > len(here.cpus):
        raise MachineError(f"'{who}' is limited to {_number(limits.cores)} ({CORES}), {have}: {remedy}")
    if missing := sorted(set(limits.cpus) - set(here.cpus)):
        verb = "are not among them" if len(missing) > 1 else "is not among them"
        raise MachineError(
            f"'{who}' wants the CPUs {cpu_list(limits.cpus)} ({CPUS}), {have}: {cpu_list(missing)} {verb}."
        )
    if limits.quota and limits.quota > len(here.cpus):
        raise MachineError(f"'{who}' is limited to {limits.quota:g} cores' time ({prefix}{QUOTA}), {have}: {remedy}")
    if limits.memory_bytes and limits.memory_bytes > here.memory_bytes:
        raise MachineError(
            f"'{who}' is limited to {gibibytes(limits.memory_bytes)} of memory ({prefix}{MEMORY}), and this machine "
            f"has {gibibytes(here.memory_bytes)}: {remedy}"
        )


def _number(cores: int) -> str:
    return f"{cores} core{'s' if cores != 1 else ''}"


def _disk(limits: Limits, data: Path, who: str) -> Disk | None:
    if not limits.read_bytes and not limits.write_bytes:
        return None
    found = disk_of(data)
    if isinstance(found, Disk):
        return found
    names = " and ".join(_variables(limits)[layout.DISK])
    raise MachineError(
        f"'{who}' limits its disk ({names}), and {found}: name a folder on a disk with --data-path, or leave them out."
    )


def _variables(limits: Limits) -> dict[str, list[str]]:
    """The variables that ask for a controller."""
    disk = [name for name, rate in ((DISK_READ, limits.read_bytes), (DISK_WRITE, limits.write_bytes)) if rate]
    asked = {
        layout.CPUSET: [CORES] * bool(limits.cores) + [CPUS] * bool(limits.cpus),
        layout.CPU: [QUOTA] * bool(limits.quota),
        layout.MEMORY: [MEMORY] * bool(limits.memory_bytes),
        layout.DISK: disk,
    }
    return {controller: names for controller, names in asked.items() if names}


def _controllers(limits: Limits, here: Here) -> dict[str, set[str]]:
    """The controllers that are asked for, each with those that version 2 needs beside it."""
    found = {one: {one} for one in _variables(limits)}
    memory = here.trees.get(layout.MEMORY)
    if layout.DISK in found and memory is not None and memory.version == 2:
        # Only with both does version 2 know whose a page is that is written back later.
        found[layout.DISK] |= {layout.MEMORY}
    return found


def _groups(
    limits: Limits, cpus: Iterable[int], disk: Disk | None, asked: Mapping[str, set[str]], here: Here
) -> tuple[tuple[GroupPlan, ...], dict[str, str]]:
    """The groups that hold what can be held; for each controller that cannot, why."""
    failed = {one: f"this kernel has no control groups for it here ({one})" for one in asked if one not in here.trees}
    found = []
    for one in asked:
        if one not in failed and here.trees[one].version == 1:
            above, why = layout.parent(here.trees[one], {one})
            if above is None:
                failed[one] = why
            else:
                found.append(GroupPlan(above, 1, (one,), tuple(_settings(one, 1, limits, cpus, disk, above))))
    unified = [one for one in asked if one not in failed and here.trees[one].version == 2]
    held: list[str] = []
    why = ""
    # Affinity holds cores as well, so that they are no reason to do without the rest.
    for these in (unified, [one for one in unified if one != layout.CPUSET]):
        if not these or held:
            continue
        needed = set().union(*(asked[one] for one in these))
        above, reason = layout.parent(here.trees[these[0]], needed)
        why = why or reason
        if above is not None:
            settings = [each for one in these for each in _settings(one, 2, limits, cpus, disk, above)]
            found.append(GroupPlan(above, 2, tuple(sorted(needed)), tuple(settings)))
            held = these
    return tuple(found), failed | {one: why for one in unified if one not in held}


def _settings(
    controller: str, version: int, limits: Limits, cpus: Iterable[int], disk: Disk | None, above: Path
) -> list[Setting]:
    if controller == layout.CPUSET:
        nodes = layout.read(above / "cpuset.effective_mems") or layout.read(above / "cpuset.mems") or "0"
        return layout.cpu_settings(version, cpu_list(cpus), nodes)
    if controller == layout.CPU:
        return layout.quota_settings(version, limits.quota or 1.0)
    if controller == layout.MEMORY:
        return layout.memory_settings(version, limits.memory_bytes or 0)
    rates = {"read": limits.read_bytes, "write": limits.write_bytes}
    return layout.disk_settings(version, disk.number if disk else "", {way: one for way, one in rates.items() if one})


def _cannot(limits: Limits, who: str, failed: Mapping[str, str], prefix: str) -> str:
    """Which limits cannot be held, why, and what would help."""
    names = [f"{prefix}{name}" for controller in failed for name in _variables(limits)[controller]]
    why = "; ".join(dict.fromkeys(failed.values()))
    verb = "is a limit" if len(names) == 1 else "are limits"
    remedy = "call ./inv as root (in a container: with a writable /sys/fs/cgroup)"
    if os.geteuid() == 0:
        remedy = "let this container write to a tree of control groups of its own, at /sys/fs/cgroup"
    return (
        f"{' and '.join(names)} {verb} of '{who}' that cannot be held here, because {why}: {remedy}, or "
        f"{'leave it out' if prefix else f'leave all limits out with the mixin {NO_LIMITS}'}."
    )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
