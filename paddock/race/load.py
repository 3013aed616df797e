"""How late the bulks of a paced load were, phase by phase and over time, from the journal that the load has kept."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

# Clients in several processes begin within moments of each other; races at least a minute apart.
_SAME_RACE_SECONDS = 10.0
_MOST_BINS = 240
LOAD_JOURNAL_FILE = "load.jsonl"
# Latency is back to normal once the median of a second is at most so many times what it was before the first peak.
NORMAL = 2.0


@dataclass(frozen=True)
class Spread:
    """Quantiles, in milliseconds."""

    p50: float
    p90: float
    p95: float
    p99: float
    maximum: float


@dataclass(frozen=True)
class LoadPhase:
    """One phase of the load; a bulk belongs to the phase in which it was due.

    :param begin: seconds since the load began, as ``end``.
    :param rate: documents per second that were due.
    :param latency: from when a bulk was due to its answer; None of no bulk.
    :param processing: from when it was sent to its answer.
    :param recovery: of a peak: seconds from its end until latency was normal again; None if it never was, or this is
        no peak.
    """

    name: str
    begin: float
    end: float
    rate: float
    bulks: int
    documents: int
    failed: int
    latency: Spread | None
    processing: Spread | None
    recovery: float | None = None

    @property
    def is_peak(self) -> bool:
        """Whether it is one of the peaks of a burst."""
        return self.name.startswith("peak-")


@dataclass(frozen=True)
class LoadPoint:
    """Some seconds of the load; latencies in milliseconds of the bulks that were due then, None of none.

    :param acknowledged: documents per second that were answered for then.
    """

    begin: float
    seconds: float
    median: float | None
    maximum: float | None
    acknowledged: float


@dataclass(frozen=True)
class Load:
    """A whole paced load.

    :param scheduled_documents: how many were due.
    :param behind: seconds from when the last bulk was due to the last answer.
    """

    scheduled_documents: int
    phases: tuple[LoadPhase, ...]
    moments: tuple[LoadPoint, ...]
    behind: float


def read_load(path: Path) -> Load | None:
    """The last load in that journal; None if there is no journal, or nothing in it."""
    lines = journal_lines(path)
    plans = [line for line in lines if line.get("kind") == "schedule"]
    if not plans:
        return None
    plan = plans[-1]
    bulks = [line for line in lines if line.get("kind") == "bulk" and of_same_race(line, plan)]
    return _load(plan, bulks) if bulks else None


def journal_of(race: Mapping[str, Any], folder: Path) -> Path:
    """Where the journal of a race's load is: where the user wanted it, or among Paddock's records of the race.

    :param race: the contents of race.json.
    """
    named = (race.get("track-params") or {}).get("load_journal")
    return Path(named) if named else folder / LOAD_JOURNAL_FILE


def of_same_race(line: Mapping[str, Any], plan: Mapping[str, Any]) -> bool:
    """Whether a line of a journal belongs to that plan: both say when their race began, which may differ a little."""
    return abs(line.get("began", 0.0) - plan["began"]) < _SAME_RACE_SECONDS


def journal_lines(path: Path) -> list[dict[str, Any]]:
    """What is in a journal; nothing if there is none. Lines that a crash has cut off are passed over."""
    try:
        return list(_lines(path))
    except OSError:
        return []


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict):
                yield line


def _load(plan: dict[str, Any], bulks: Sequence[dict[str, Any]]) -> Load:
    end = max(bulk["answered"] for bulk in bulks)
    moments = _moments(bulks, end)
    phases: list[LoadPhase] = []
    for one in plan["phases"]:
        own = [bulk for bulk in bulks if bulk["phase"] == one["name"]]
        phases.append(
            LoadPhase(
                name=str(one["name"]),
                begin=one["begin"],
                end=one["end"],
                rate=one["rate"],
                bulks=len(own),
                documents=sum(bulk["documents"] for bulk in own),
                failed=sum(1 for bulk in own if not bulk["success"]),
                latency=_spread([bulk["answered"] - bulk["due"] for bulk in own]),
                processing=_spread([bulk["answered"] - bulk["sent"] for bulk in own]),
            )
        )
    return Load(
        scheduled_documents=int(plan["documents"]),
        phases=tuple(_with_recovery(phases, bulks)),
        moments=moments,
        behind=end - max(bulk["due"] for bulk in bulks),
    )


def _spread(seconds: Sequence[float]) -> Spread | None:
    if not seconds:
        return None
    return Spread(*(float(value) * 1000 for value in np.quantile(seconds, (0.5, 0.9, 0.95, 0.99, 1.0))))


def _moments(bulks: Sequence[dict[str, Any]], end: float) -> tuple[LoadPoint, ...]:
    length = max(1, math.ceil(end / _MOST_BINS))
    late: dict[int, list[float]] = {}
    documents: dict[int, int] = {}
    for bulk in bulks:
        late.setdefault(int(bulk["due"] // length), []).append(1000 * (bulk["answered"] - bulk["due"]))
        at = int(bulk["answered"] // length)
        documents[at] = documents.get(at, 0) + bulk["documents"]
    return tuple(
        LoadPoint(
            begin=float(number * length),
            seconds=float(length),
            median=float(np.median(late[number])) if number in late else None,
            maximum=max(late[number]) if number in late else None,
            acknowledged=documents.get(number, 0) / length,
        )
        for number in range(int(end // length) + 1)
    )


def _with_recovery(phases: Sequence[LoadPhase], bulks: Sequence[dict[str, Any]]) -> Iterator[LoadPhase]:
    """The phases again, each peak with the time that it took to get over it."""
    normal = _normal(phases, bulks)
    for phase, following in zip(phases, [*phases[1:], None], strict=True):
        if not phase.is_peak or following is None or normal is None:
            yield phase
            continue
        after = [bulk for bulk in bulks if bulk["phase"] == following.name]
        yield replace(phase, recovery=_recovery(phase.end, after, normal))


def _normal(phases: Sequence[LoadPhase], bulks: Sequence[dict[str, Any]]) -> float | None:
    """The largest latency, in milliseconds, that counts as normal; None without a rest before a peak.

    From the second half of the first rest: its first half may hold what the warm-up has left behind, and the rests
    after it what the peaks have.
    """
    for rest, peak in pairwise(phases):
        if peak.is_peak:
            half = (rest.begin + rest.end) / 2
            late = [bulk["answered"] - bulk["due"] for bulk in bulks if half <= bulk["due"] <= rest.end]
            return NORMAL * 1000 * float(np.median(late)) if late else None
    return None


def _recovery(end: float, after: Sequence[dict[str, Any]], normal: float) -> float | None:
    """Seconds from the end of a peak to the first second in which the median latency is normal; None if none is.

    :param normal: milliseconds.
    """
    seconds: dict[int, list[float]] = {}
    for bulk in after:
        seconds.setdefault(int(bulk["due"] - end), []).append(1000 * (bulk["answered"] - bulk["due"]))
    return next((float(at) for at in sorted(seconds) if np.median(seconds[at]) <= normal), None)
