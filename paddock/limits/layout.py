"""Which control groups there are for us, of version 1 and of version 2, and what is written into which file of them.

Version 1 has a tree of groups for each controller, version 2 one for all, and a machine may have both (which systemd
calls hybrid): each controller is then in one of them. The kernel's documents cgroup-v1 and cgroup-v2 explain the files.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

CPUSET, CPU, MEMORY, DISK = "cpuset", "cpu", "memory", "io"
# Version 1 calls one of them by another name.
_NAME_IN_1 = {DISK: "blkio"}
# Microseconds; the kernel's own default, too.
PERIOD = 100_000


@dataclass(frozen=True)
class Tree:
    """Where the groups of a controller are.

    :param version: 1 or 2.
    :param top: the highest group that can be seen from here.
    :param own: the group that we are in.
    """

    version: int
    top: Path
    own: Path

    @property
    def ways_up(self) -> tuple[Path, ...]:
        """Our group and those above it, as far as they can be seen."""
        return (self.own, *(one for one in self.own.parents if one.is_relative_to(self.top)))


@dataclass(frozen=True)
class Setting:
    """What is written into a file of a group.

    :param expected: what the file says afterwards; of several lines one does.
    :param needed: whether it is an error if the file is missing, or cannot be written.
    """

    file: str
    text: str
    expected: str
    needed: bool = True


def trees(membership: str, mounts: str) -> dict[str, Tree]:
    """Our groups by controller; one that nothing is mounted for is missing.

    :param membership: the text of /proc/self/cgroup.
    :param mounts: the text of /proc/self/mountinfo.
    """
    found: dict[str, Tree] = {}
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            continue
        for controller in (CPUSET, CPU, MEMORY, DISK):
            name = _NAME_IN_1.get(controller, controller)
            if name in controllers.split(",") and (mount := _mount(mounts, "cgroup", name)):
                found[controller] = Tree(1, mount[1], _below(*mount, path))
    unified = next((line.split(":", 2)[2] for line in membership.splitlines() if line.startswith("0::")), None)
    if unified is not None and (mount := _mount(mounts, "cgroup2")):
        tree = Tree(2, mount[1], _below(*mount, unified))
        for controller in (CPUSET, CPU, MEMORY, DISK):
            if controller not in found and any(controller in controllers_of(group) for group in tree.ways_up):
                found[controller] = tree
    return found


def _mount(mounts: str, kind: str, controller: str = "") -> tuple[str, Path] | None:
    """The group that is mounted, as its tree calls it, and where; the last such mount covers those before it."""
    found = None
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        words, kinds = before.split(), after.split()
        known = len(words) > 4 and len(kinds) > 2 and kinds[0] == kind
        if known and (not controller or controller in kinds[2].split(",")):
            found = unescaped(words[3]), Path(unescaped(words[4]))
    return found


def unescaped(text: str) -> str:
    """As proc(5) writes blanks and the like: a backslash and three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _below(root: str, top: Path, path: str) -> Path:
    """The folder of the group ``path`` where the group ``root`` is mounted at ``top``.

    In a container either may be the host's name for it, or lie outside of what is mounted: then the top is all we see.
    """
    with contextlib.suppress(ValueError):
        relative = PurePosixPath(path).relative_to(root)
        if ".." not in relative.parts and (top / relative).is_dir():
            return top / relative
    return top


def controllers_of(group: Path) -> set[str]:
    """What groups below a group of version 2 could limit."""
    return set(read(group / "cgroup.controllers").split())


def given_on(group: Path) -> set[str]:
    """... and what they can limit already."""
    return set(read(group / "cgroup.subtree_control").split())


def read(file: Path) -> str:
    """The file's text; empty if it cannot be read."""
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def parent(tree: Tree, controllers: set[str]) -> tuple[Path | None, str]:
    """The group in which one for a node can be made, with all of those controllers; or None, and why there is none.

    In version 2 a group that has processes cannot give controllers on (only the machine's own topmost group may), so it
    is the nearest on the way up that can.
    """
    if tree.version == 1:
        return (tree.own, "") if _writable(tree.own) else (None, f"no group can be made in {tree.own}")
    why = f"no group can be made in {tree.own} or above it"
    for group in tree.ways_up:
        if _writable(group) and controllers <= controllers_of(group):
            occupied = bool(read(group / "cgroup.procs")) and (group / "cgroup.type").exists()
            can_give_on = os.access(group / "cgroup.subtree_control", os.W_OK) and not occupied
            if controllers <= given_on(group) or can_give_on:
                return group, ""
            why = f"{group} has processes of its own, and only groups without any give limits on to those below"
        if limited := [file for file in ("cpu.max", "memory.max", "cpuset.cpus") if _is_limited(group / file)]:
            return None, f"{why}, and {group} has limits ({', '.join(limited)}) that a node elsewhere would not have"
    return None, why


def _is_limited(file: Path) -> bool:
    return not read(file).startswith("max") and read(file) != ""


def _writable(group: Path) -> bool:
    return os.access(group, os.W_OK | os.X_OK) and os.access(group / "cgroup.procs", os.W_OK)


def cpu_settings(version: int, cpus: str, memory_nodes: str) -> list[Setting]:
    """For the controller cpuset.

    :param cpus: as the kernel writes a list.
    :param memory_nodes: those of the group above; version 1 takes no process into a group without any.
    """
    own = [Setting("cpuset.mems", memory_nodes, memory_nodes)] if version == 1 else []
    return [*own, Setting("cpuset.cpus", cpus, cpus)]


def quota_settings(version: int, cores: float) -> list[Setting]:
    """For the controller cpu: so many cores' worth of time in each period."""
    quota = str(round(cores * PERIOD))
    if version == 2:
        return [Setting("cpu.max", f"{quota} {PERIOD}", f"{quota} {PERIOD}")]
    return [
        Setting("cpu.cfs_period_us", str(PERIOD), str(PERIOD)),
        Setting("cpu.cfs_quota_us", quota, quota),
    ]


def memory_settings(version: int, size: int) -> list[Setting]:
    """For the controller memory, swap included where the kernel counts it; the kernel rounds down to whole pages."""
    pages = str(size // os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PAGE_SIZE"))
    if version == 2:
        return [Setting("memory.max", pages, pages), Setting("memory.swap.max", "0", "0", needed=False)]
    return [
        Setting("memory.limit_in_bytes", pages, pages),
        Setting("memory.memsw.limit_in_bytes", pages, pages, needed=False),
    ]


def disk_settings(version: int, device: str, rates: Mapping[str, int]) -> list[Setting]:
    """For the controller io (blkio in version 1).

    :param device: "254:0".
    :param rates: "read" and "write" -> bytes per second.
    """
    if version == 1:
        return [
            Setting(f"blkio.throttle.{way}_bps_device", f"{device} {rate}", f"{device} {rate}")
            for way, rate in rates.items()
        ]
    both = {"read": "max", "write": "max", **{way: str(rate) for way, rate in rates.items()}}
    line = f"{device} rbps={both['read']} wbps={both['write']} riops=max wiops=max"
    return [Setting("io.max", line, line)]
