"""What the challenge full-disk found, by the load's journal: what was taken, what the client saw, what was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.race.load import journal_lines


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
    :param disks: bytes in all and available, of each node when the load had stopped.
    :param counted: documents in the index at the end; ``lost`` those acknowledged that were not found by their ids.
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
    counted: int
    lost: int


def read_full_disk(path: Path) -> FullDisk | None:
    """The last one in that journal; None if there is none."""
    lines = [line for line in journal_lines(path) if line.get("kind") == "full-disk"]
    return _full_disk(lines[-1]) if lines else None


def _full_disk(line: Mapping[str, Any]) -> FullDisk:
    plain = ("offered", "taken", "stopped", "room", "first_refusal", "taken_before_refusal", "last_taken", "recovery")
    return FullDisk(
        **{name: line[name] for name in (*plain, "recovered_by", "acknowledged", "counted", "lost")},
        refusals=tuple(Refusal(**one) for one in line["refusals"]),
        disks=tuple((one["total"], one["available"]) for one in line["disks"]),
    )
