"""The limits of a shipper and of what feeds it: what a level asks for, and the kernel's control groups that hold it.

Somebody else makes the groups and names their folders, for a race's runners only join them. Which of them a level's
processes join is decided by what the kernel says of each group, never by its name.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esrally import exceptions

QUOTA, MEMORY = "limit_cpu_quota", "limit_memory"
# The parameter that names groups, behind the name of who joins them.
GROUPS = "groups"
# Cores; a thousandth of a second in each period of a tenth is the least that the kernel takes.
SMALLEST_QUOTA = 0.01
# Version 1 says a number near 2^63 where memory has no limit.
_NO_LIMIT = 1 << 60
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}
# What is read back for the record, of version 2 and of version 1.
_FILES = ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us", "memory.max", "memory.limit_in_bytes")


@dataclass(frozen=True)
class GroupLimits:
    """What a shipper, or what feeds it, may have at most, and the groups among which are those that hold it.

    :param quota: cores' worth of time, 0.5 for half of one core's; None for as much as there is.
    :param memory_bytes: of the process and of what it starts, page cache of its files included; None likewise.
    :param groups: the folders of control groups that were named, empty if none were.
    """

    quota: float | None = None
    memory_bytes: int | None = None
    groups: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.wanted)

    @property
    def wanted(self) -> dict[str, float]:
        """The limits by their names, cores and bytes; those that are asked for."""
        page = os.sysconf("SC_PAGE_SIZE")
        memory = None if self.memory_bytes is None else self.memory_bytes // page * page
        return {name: one for name, one in ((QUOTA, self.quota), (MEMORY, memory)) if one is not None}

    def folders(self) -> tuple[Path, ...]:
        """The groups that hold these limits and nothing else, one for each tree of groups; none without limits.

        :raises ValueError: if there are none among those that were named; one sentence, without an end.
        """
        held = {group: limits_in(group) for group in self.groups}
        found: dict[str, float] = {}
        chosen = []
        # Of version 2 one group has all of them.
        for group, limits in sorted(held.items(), key=lambda one: -len(one[1])):
            if limits.keys() - found.keys() and limits.items() <= self.wanted.items():
                found |= limits
                chosen.append(group)
        if found != self.wanted:
            told = "; ".join(f"{group} has {_text(limits)}" for group, limits in held.items())
            raise ValueError(f"no group that was named has {_text(self.wanted)} and no other limit ({told})")
        return tuple(chosen)


class JoinedGroups:
    """The groups that one process of a lap joins: what the kernel says of them, and what it has counted in them.

    :raises ValueError: if there are none that hold its limits; one sentence, without an end.
    """

    def __init__(self, limits: GroupLimits) -> None:
        self._limits = limits
        self.folders = limits.folders()
        self._files = read_back(self.folders)
        self._throttled_before = self._throttled = throttled_seconds(self.folders)
        self._ended_before = ended_for_memory(self.folders)

    def has(self, pid: int) -> bool:
        """Whether the kernel counts a process to all of them."""
        return all(str(pid) in _words(folder / "cgroup.procs") for folder in self.folders)

    def begin(self) -> None:
        """The load begins: from here on their waiting counts."""
        self._throttled_before = throttled_seconds(self.folders)

    def end(self) -> str:
        """The load is over; why their figures are not those of the limits, empty if they are."""
        self._throttled = throttled_seconds(self.folders)
        now = read_back(self.folders)
        changed = [file for file, said in self._files.items() if now.get(file) != said]
        return ", ".join(f"{file} says {now.get(file, 'nothing')}" for file in changed)

    @property
    def too_small(self) -> str:
        """What to say of one that the kernel has ended for its memory; empty if it has not."""
        if self._limits.memory_bytes is None or ended_for_memory(self.folders) == self._ended_before:
            return ""
        return f", because it needed more memory than its limit of {self._limits.memory_bytes / 2**20:,.0f} MiB"

    def record(self) -> dict[str, Any] | None:
        """What the lap's record has of them: the limits, the files as they were read, the waiting during the load.

        None without limits.
        """
        if not self._limits:
            return None
        return {
            "cpu_quota": self._limits.quota,
            "memory_bytes": self._limits.wanted.get(MEMORY),
            "throttled_seconds": round(self._throttled - self._throttled_before, 3),
            "files": self._files,
        }


def group_limits(given: Mapping[str, Any], component: str, groups: Any, who: str) -> GroupLimits:
    """The limits of a level's shipper, or of its generator.

    :param given: what the level and the track say.
    :param component: "shipper" or "generator", the beginning of the parameters' names.
    :param groups: folders with commas between them, as the track's parameter names them; None for none.
    :param who: the level's name, for sentences.
    :raises exceptions.InvalidSyntax: for what is no limit, and for one that nobody holds.
    """
    quota_key, memory_key, groups_key = (f"{component}_{name}" for name in (QUOTA, MEMORY, GROUPS))
    quota, memory = given.get(quota_key), given.get(memory_key)
    is_number = isinstance(quota, int | float) and not isinstance(quota, bool)
    if quota is not None and not (is_number and SMALLEST_QUOTA <= quota < math.inf):
        raise exceptions.InvalidSyntax(
            f"the {quota_key} of the level '{who}' must be cores' worth of time, {SMALLEST_QUOTA:g} or more, such as "
            f"0.5, but is {quota!r}."
        )
    size = None if memory is None else size_in_bytes(memory)
    if memory is not None and not size:
        raise exceptions.InvalidSyntax(
            f"the {memory_key} of the level '{who}' must be a whole number above 0 and a unit, such as 512m or 1g, but "
            f"is {memory!r}."
        )
    if groups is not None and not isinstance(groups, str):
        raise exceptions.InvalidSyntax(f"{groups_key} must be folders with commas between them, but is {groups!r}.")
    named = tuple(Path(one.strip()) for one in (groups or "").split(",") if one.strip())
    if relative := [str(one) for one in named if not one.is_absolute()]:
        raise exceptions.InvalidSyntax(f"{groups_key} must be absolute paths, but has '{relative[0]}'.")
    found = GroupLimits(None if quota is None else float(quota), size, named)
    if found and not named:
        key = quota_key if quota is not None else memory_key
        raise exceptions.InvalidSyntax(
            f"the level '{who}' has {key}, which nobody holds here: race it with ./inv, which makes a control group "
            f"for it, or make one with just this limit and name its folder with {groups_key}."
        )
    return found


def size_in_bytes(value: Any) -> int:
    """Bytes of a size such as 512m or 1g; 0 if it is none."""
    match = re.fullmatch(r"([0-9]{1,15})([bkmgt]?)", str(value).strip().lower())
    return int(match[1]) << _UNITS.get(match[2], 0) if match and not isinstance(value, bool) else 0


def limits_in(group: Path) -> dict[str, float]:
    """What a control group of version 1 or 2 limits: cores, and bytes of memory, by the names of the limits.

    :raises ValueError: if it is no group; one sentence, without an end.
    """
    if not (group / "cgroup.procs").is_file():
        raise ValueError(f"{group} is no control group that is there")
    found: dict[str, float] = {}
    quota, period = (
        _words(group / "cpu.max", 2)
        or (
            *_words(group / "cpu.cfs_quota_us", 1),
            *_words(group / "cpu.cfs_period_us", 1),
        )
        or ("max", "")
    )
    # Version 1 says -1 where there is no limit.
    if quota.isdigit() and period.isdigit():
        found[QUOTA] = int(quota) / int(period)
    (memory,) = _words(group / "memory.max", 1) or _words(group / "memory.limit_in_bytes", 1) or ("max",)
    if memory.isdigit() and int(memory) < _NO_LIMIT:
        found[MEMORY] = int(memory)
    return found


def read_back(folders: Iterable[Path]) -> dict[str, str]:
    """What the files of these groups say that hold limits, by their paths."""
    files = [folder / name for folder in folders for name in _FILES]
    return {str(file): " ".join(_words(file)) for file in files if file.is_file()}


def throttled_seconds(folders: Iterable[Path]) -> float:
    """For how long the quotas of these groups have made their threads wait since the groups were made, all together."""
    # Version 2 has microseconds, version 1 nanoseconds.
    stat = [_counts(folder / "cpu.stat") for folder in folders]
    return sum(one.get("throttled_usec", 0) / 1e6 + one.get("throttled_time", 0) / 1e9 for one in stat)


def ended_for_memory(folders: Iterable[Path]) -> int:
    """How many processes in these groups the kernel has ended, because they needed more memory."""
    events = ("memory.events", "memory.oom_control")
    return sum(_counts(folder / name).get("oom_kill", 0) for folder in folders for name in events)


def _text(limits: Mapping[str, float]) -> str:
    """Of people: "limit_cpu_quota 0.5 and limit_memory 536,870,912 bytes"."""
    told = [f"{name} {one:g}" if name == QUOTA else f"{name} {one:,.0f} bytes" for name, one in limits.items()]
    return " and ".join(told) or "no limit"


def _words(file: Path, number: int | None = None) -> Sequence[str]:
    """Those in a file; none if it cannot be read, or has not so many."""
    words: list[str] = []
    with contextlib.suppress(OSError):
        words = file.read_text(encoding="ascii", errors="replace").split()
    return words if number in (None, len(words)) else ()


def _counts(file: Path) -> dict[str, int]:
    words = _words(file)
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=False) if number.isdigit()}
