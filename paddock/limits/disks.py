"""The disk below a folder, as control groups name it: limits on reading and writing are a disk's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from paddock.limits.layout import unescaped

SYSTEM = Path("/sys/dev/block")
MOUNTS = Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class Disk:
    """A whole disk; a partition has no limits of its own.

    :param number: major and minor number, "254:0".
    :param name: the kernel's, "vda".
    """

    number: str
    name: str


def disk_of(folder: Path, mounts: str | None = None, system: Path = SYSTEM) -> Disk | str:
    """The disk of a folder, which need not exist yet; or why there is none that can be limited, one clause.

    :param mounts: the text of /proc/self/mountinfo, for tests.
    :param system: where the kernel lists disks by number.
    """
    place = folder.expanduser().resolve()
    while not place.exists():
        place = place.parent
    number, kind, source = _mounted(place, MOUNTS.read_text(encoding="utf-8") if mounts is None else mounts)
    if not (system / number).exists() and source.startswith("/dev/"):
        # A file system over several disks, such as btrfs, has a number of its own and names one of its disks.
        try:
            device = Path(source).stat().st_rdev
        except OSError:
            device = 0
        number = f"{os.major(device)}:{os.minor(device)}"
    entry = system / number
    if not entry.exists():
        return f"{place} lies on {kind or 'a file system'}, which has no disk of its own that could be limited"
    entry = entry.resolve()
    if (entry / "partition").exists():
        entry = entry.parent
    return Disk((entry / "dev").read_text(encoding="ascii").strip(), entry.name)


def _mounted(place: Path, mounts: str) -> tuple[str, str, str]:
    """Device number, file system and source of what is mounted there; the last of the innermost mounts counts."""
    found, depth = ("", "", ""), -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        words, kinds = before.split(), after.split()
        if len(words) < 5 or len(kinds) < 2:
            continue
        point = Path(unescaped(words[4]))
        if place.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = (words[2], kinds[0], kinds[1]), len(point.parts)
    return found
