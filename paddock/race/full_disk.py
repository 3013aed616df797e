"""What the challenge full-disk found, by the load's journal: what was taken, what the client saw, what was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import cars
from paddock.errors import UsageError
from paddock.race import RaceOptions

FULL_DISK_TASK = "full-disk"  # what our challenge calls it
# What an error says of a full disk: its block before, or its own failure after the last byte.
_FULL = ("disk usage exceeded", "read-only / allow delete", "no space left on device")
_FLOOD_STAGE = 0.8  # of a node's file system, as tracks/shared/full_disk.py sets it


def check_full_disk(tasks: Sequence[str], options: RaceOptions) -> None:
    """Check that a race that fills disks is told which: 40 % of a disk are written before its load begins.

    :param tasks: of the challenge.
    :raises UsageError: if the disk of this machine would be filled.
    """
    if FULL_DISK_TASK not in tasks or options.target_hosts or options.data_path or options.params.get("full_disk_room"):
        return
    variables = cars.combine(options.car, cars.load_cars(), options.car_params).variables
    if not variables.get("data_size", "").strip():
        raise UsageError(
            "The challenge full-disk fills the disk that a node has its data on, and here that is this machine's: give "
            "nodes a file system of their own with the mixin data-256m (--car 1gheap,data-256m), say how much of the "
            "disk may be filled with --params full_disk_room:500mb, or name a small file system with --data-path."
        )


@dataclass(frozen=True)
class Refusal:
    """One kind of error as the client saw it.

    :param status: of HTTP; 0 where there was no answer.
    :param reason: the error's own words, of the first such one.
    :param documents: how often a document was refused; it was sent again and again.
    :param first: seconds since the load began, as ``last``.
    """

    status: int
    kind: str
    reason: str
    documents: int
    first: float
    last: float


@dataclass(frozen=True)
class FullDisk:
    """All of it; times in seconds since the load began.

    :param offered: documents there were to take; ``taken`` until the load stopped, or all of them.
    :param room: bytes up to the flood stage where watermarks made the disk small; None where it was.
    :param first_refusal: None if nothing was refused; ``taken_before_refusal`` the documents taken by then.
    :param recovery: seconds from freeing space to the next document taken; None if none was, or nothing had stopped.
    :param freed: whether space could be freed, where the load had stopped.
    :param disks: bytes in all and available, of each node when the load had stopped.
    :param counted: documents in the index at the end, None where a shard did not tell; ``lost`` those acknowledged that
        were not found by their ids.
    """

    offered: int
    taken: int
    stopped: bool
    room: int | None
    first_refusal: float | None
    taken_before_refusal: int | None
    last_taken: float
    recovery: float | None
    recovered_by: str | None
    refusals: tuple[Refusal, ...]
    disks: tuple[tuple[int, int], ...]
    acknowledged: int
    counted: int | None
    lost: int
    freed: bool = True

    @property
    def full(self) -> bool:
        """Whether it was a full disk that stopped the load: an error says so, or a disk of its own has no more room."""
        told = any(words in one.reason.lower() for one in self.refusals for words in _FULL)
        used = (1 - free / total for total, free in self.disks if total)
        return self.stopped and (told or (self.room is None and any(share >= _FLOOD_STAGE for share in used)))

    @property
    def missing(self) -> int:
        """Acknowledged documents that are not in the index."""
        return max(self.lost, self.acknowledged - (self.counted or 0))

    @property
    def problem(self) -> str | None:
        """What is wrong with the proof, a sentence; None if every acknowledged document is there."""
        lost = f"{self.missing:,} of {self.acknowledged:,} acknowledged documents are lost"
        if self.counted is None:
            return f"{lost}, or could not be counted: a shard did not answer."
        return f"{lost}." if self.missing else None


def read_full_disk(path: Path) -> FullDisk | None:
    """The last one in that journal; None if there is none."""
    from paddock.race.load import journal_lines  # numpy, which a race that is only checked does without

    lines = [line for line in journal_lines(path) if line.get("kind") == "full-disk"]
    return _full_disk(lines[-1]) if lines else None


def _full_disk(line: Mapping[str, Any]) -> FullDisk:
    plain = ("offered", "taken", "stopped", "room", "first_refusal", "taken_before_refusal", "last_taken", "recovery")
    return FullDisk(
        **{name: line[name] for name in (*plain, "recovered_by", "acknowledged", "counted", "lost")},
        refusals=tuple(Refusal(**one) for one in line["refusals"]),
        freed=line.get("freed", True),
        disks=tuple((one["total"], one["available"]) for one in line["disks"]),
    )
