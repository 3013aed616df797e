"""A replay: how late documents and queries were against their own times, and what the restore proof found.

All of it comes from the journal that the replay keeps (tracks/shared/replay_source.py and restore_proof.py write it),
where every request has the moment at which it was due. Nothing is left out because a client was busy: what is sent late
is late by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paddock import numbers
from paddock.race.load import journal_lines, of_same_race

_QUANTILES = (0.5, 0.95, 0.99)
# Kinds of streams: documents, all queries, and queries of one name.
DOCUMENTS, QUERIES, NAMED = "documents", "queries", "named"


@dataclass(frozen=True)
class Lateness:
    """Milliseconds: of so many documents or queries half, 95 and 99 in a hundred were no later, and the latest."""

    p50: float
    p95: float
    p99: float
    maximum: float


@dataclass(frozen=True)
class Stream:
    """Documents, or queries, or queries of one name, without those of the warm-up unless it says so.

    :param kind: DOCUMENTS, QUERIES or NAMED.
    :param items: documents or queries, and ``requests`` in which they were sent; ``failed`` of the items.
    :param latency: from when it was due to its answer; a document is due with the last one of its bulk.
    :param service: from when it was sent to its answer.
    :param delay: from when it was due until it was sent: the load driver's part of the latency.
    :param recorded: of queries, how long they took when they were recorded, where the log says so.
    """

    kind: str
    name: str
    items: int
    requests: int
    failed: int
    latency: Lateness
    service: Lateness
    delay: Lateness
    recorded: Lateness | None = None

    @property
    def label(self) -> str:
        """Its name, by which nobody takes a query of the name "documents" for documents."""
        return f"queries named {self.name}" if self.kind == NAMED and self.name in (DOCUMENTS, QUERIES) else self.name


@dataclass(frozen=True)
class ReplayPoint:
    """Some seconds of the replay; ``asked`` were due then and ``reached`` were answered well then, a second.

    :param latency: the median in milliseconds of what was due then, and ``latest`` the largest; None of nothing.
    """

    begin: float
    seconds: float
    asked: float
    reached: float
    latency: float | None
    latest: float | None


@dataclass(frozen=True)
class Proof:
    """What the restore proof found.

    :param mode: "all" or "sample".
    :param counted: documents in the index, and ``documents``, how many were sent.
    :param compared: documents that were read back; ``sampled`` of the archive's were drawn for it, None of all, and
        ``undated`` more were drawn that have no time by which the index could be asked for them.
    :param missing: in the archive and not in the index; ``unexpected`` the other way round; ``changed`` in both, with
        other values.
    :param fields: by their full names, how many ``documents`` differ in them, and what was ``sent`` and ``read`` first.
    :param examples: documents of each ``kind``, with their time ``at`` and, of changed ones, their ``fields``.
    :param parts: the first parts of the time in which the numbers differ: ``from``, ``until``, ``sent``, ``read``.
    :param problem: one sentence; None if it passed.
    """

    mode: str
    documents: int
    counted: int
    compared: int
    sampled: int | None
    missing: int
    unexpected: int
    changed: int
    fields: Mapping[str, Any]
    examples: tuple[Mapping[str, Any], ...]
    parts: tuple[Mapping[str, Any], ...]
    seconds: float
    problem: str | None
    undated: int = 0

    @property
    def sentence(self) -> str:
        """What it came to."""
        if self.problem is not None:
            return self.problem
        if self.sampled is None:
            return (
                f"The restore proof passed: {self.counted:,} documents were sent and are in the index, and each of "
                f"them reads back as it was sent ({numbers.figure(self.seconds)} s)."
            )
        # None of so many drawn differ with a probability of 0.05 or more unless a larger share of all does.
        most = numbers.percent(1 - 0.05 ** (1 / self.sampled) if self.sampled else 1.0)[0]
        of_all = "of all" if not self.undated else "of those that have a time"
        certainty = (
            "which are all"
            if self.sampled >= self.documents
            else f"so at most {most} % {of_all} differ, with 95 % confidence"
        )
        undated = f"; {self.undated:,} more that were drawn have no time, by which alone they could be found"
        return (
            f"The restore proof passed: {self.counted:,} documents were sent and are in the index; {self.sampled:,} of "
            f"them, drawn at random, read back as they were sent, {certainty}{undated if self.undated else ''} "
            f"({numbers.figure(self.seconds)} s)."
        )


@dataclass(frozen=True)
class Empty:
    """Queries whose answer had no hit, which are fast whatever the index is like.

    :param answered: queries that were answered with a number of hits, ``queries`` of them with 0.
    :param found_before: of those, how many had found something when they were recorded, and ``names``, theirs.
    """

    answered: int
    queries: int
    found_before: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """A whole replay; times in seconds since it began.

    :param origin: the recorded time with which it began, and ``until`` the one with which it ended; ``factor`` times as
        fast as recorded.
    :param scheduled: documents that were due, and ``scheduled_queries``; ``left_out`` queries were asked at other
        times, and ``of_today`` those that look at the time of the replay.
    :param without_time: documents without a time, due with the one before them; ``disordered`` ones, older than one
        before them in the file, which were put in order.
    :param whole_seconds: whether times were no finer than a second, over which documents then were spread.
    :param warmup: how long requests that were due are left out of the streams.
    :param due: when the last request was due, and ``ended`` when the last was answered.
    :param furthest: by how much at most something was sent late.
    :param bulk_wait: how long at most a document waited until the last one of its bulk was due.
    :param streams: documents first, then all queries, then those of each name if there are several.
    :param warm_up: documents and queries of the warm-up.
    :param empty: None where no query was answered with a number of hits.
    """

    origin: str
    until: str
    factor: float
    scheduled: int
    scheduled_queries: int
    left_out: int
    without_time: int
    disordered: int
    whole_seconds: bool
    warmup: float
    due: float
    ended: float
    furthest: float
    bulk_wait: float
    answered: int
    indexed: int
    streams: tuple[Stream, ...]
    warm_up: tuple[Stream, ...]
    documents: tuple[ReplayPoint, ...]
    queries: tuple[ReplayPoint, ...]
    proof: Proof | None
    of_today: int = 0
    empty: Empty | None = None

    @property
    def behind(self) -> float:
        """Seconds from when the last request was due to the last answer."""
        return self.ended - self.due

    def as_json(self) -> dict[str, Any]:
        """For programs; docs/reports.md describes it."""
        return {**asdict(self), "behind": self.behind}


def read_replay(path: Path) -> Replay | None:
    """The last replay in that journal; None if there is no journal, or no replay in it."""
    lines = journal_lines(path)
    plan = next((line for line in reversed(lines) if line.get("kind") == "replay"), None)
    if plan is None:
        return None
    own = [line for line in lines[lines.index(plan) :] if line.get("kind") == "proof" or of_same_race(line, plan)]
    # Another process may have been the first to write.
    own += [line for line in lines[: lines.index(plan)] if of_same_race(line, plan)]
    kinds = {kind: [line for line in own if line.get("kind") == kind] for kind in ("bulk", "query")}
    if not kinds["bulk"]:
        return None
    asked = next((line for line in own if line.get("kind") == "replay-queries"), None)
    proof = next((line for line in reversed(own) if line.get("kind") == "proof"), None)
    return _replay(plan, kinds["bulk"], asked, kinds["query"], proof)


def _replay(
    plan: Mapping[str, Any],
    bulks: Sequence[Mapping[str, Any]],
    asked: Mapping[str, Any] | None,
    queries: Sequence[Mapping[str, Any]],
    proof: Mapping[str, Any] | None,
) -> Replay:
    both, warmup = [*bulks, *queries], float(plan["warmup_seconds"] or 0)
    measured, warming = ([line for line in both if (line["due"] >= warmup) is later] for later in (True, False))
    names = sorted({line["name"] for line in queries})
    streams = [*_streams(measured)]
    if len(names) > 1:
        streams += (_stream(name, [line for line in measured if line.get("name") == name], NAMED) for name in names)
    return Replay(
        origin=plan["from"],
        until=plan["until"],
        factor=plan["factor"],
        scheduled=plan["documents"],
        scheduled_queries=asked["queries"] if asked else 0,
        left_out=asked["left_out"] if asked else 0,
        without_time=plan["without_time"],
        disordered=plan["disordered"],
        whole_seconds=plan["whole_seconds"],
        warmup=warmup,
        due=max(line["due"] for line in both),
        ended=max(line["answered"] for line in both),
        furthest=max(0.0, *(line["sent"] - line["due"] for line in both)),
        bulk_wait=max(line["due"] - line["first"] for line in bulks),
        answered=sum(line["documents"] for line in bulks),
        indexed=sum(line["indexed"] for line in bulks),
        streams=tuple(one for one in streams if one),
        warm_up=tuple(one for one in _streams(warming) if one),
        documents=_points(plan["asked"], bulks),
        queries=_points(asked["asked"], queries) if asked else (),
        proof=_proof(proof) if proof else None,
        of_today=asked.get("of_today", 0) if asked else 0,
        empty=_empty(queries),
    )


def _empty(queries: Sequence[Mapping[str, Any]]) -> Empty | None:
    answered = [line for line in queries if line["success"] and line.get("hits") is not None]
    nothing = [line for line in answered if not line["hits"]]
    before = [line for line in nothing if line.get("recorded_hits")]
    names = tuple(sorted({line["name"] for line in before}))
    return Empty(len(answered), len(nothing), len(before), names) if answered else None


def _streams(lines: Sequence[Mapping[str, Any]]) -> Iterable[Stream | None]:
    """Documents, and all queries."""
    yield _stream(DOCUMENTS, [line for line in lines if line["kind"] == "bulk"], DOCUMENTS)
    yield _stream(QUERIES, [line for line in lines if line["kind"] == "query"], QUERIES)


def _stream(name: str, lines: Sequence[Mapping[str, Any]], kind: str) -> Stream | None:
    if not lines:
        return None
    weights = [line.get("documents", 1) for line in lines]
    recorded = [line["recorded_ms"] for line in lines if line.get("recorded_ms") is not None]
    return Stream(
        kind=kind,
        name=name,
        items=sum(weights),
        requests=len(lines),
        failed=sum(_failed(line) for line in lines),
        latency=lateness([1000 * (line["answered"] - line["due"]) for line in lines], weights),
        service=lateness([1000 * (line["answered"] - line["sent"]) for line in lines], weights),
        delay=lateness([max(0.0, 1000 * (line["sent"] - line["due"])) for line in lines], weights),
        recorded=lateness(recorded, [1] * len(recorded)) if recorded else None,
    )


def _failed(line: Mapping[str, Any]) -> int:
    return int(line["documents"] - line["indexed"] if line["kind"] == "bulk" else not line["success"])


def lateness(milliseconds: Sequence[float], weights: Sequence[int]) -> Lateness:
    """The quantiles of items of which so many each took so long: the smallest value that enough do not exceed."""
    order = np.argsort(milliseconds, kind="stable")
    values, reached = np.asarray(milliseconds, dtype=float)[order], np.cumsum(np.asarray(weights)[order])
    # A hair less, so that half of ten is the fifth and not, by rounding, the sixth.
    half, most, nearly_all = (
        float(values[np.searchsorted(reached, share * reached[-1] - 1e-9)]) for share in _QUANTILES
    )
    return Lateness(half, most, nearly_all, float(values[-1]))


def _points(asked: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> tuple[ReplayPoint, ...]:
    length = float(asked["seconds"])
    due: list[int] = asked["due"]
    last = max([len(due) - 1, *(int(line["answered"] // length) for line in lines)])
    reached = [0] * (last + 1)
    late: dict[int, list[float]] = {}
    for line in lines:
        reached[int(line["answered"] // length)] += line["indexed"] if line["kind"] == "bulk" else int(line["success"])
        late.setdefault(int(line["due"] // length), []).append(1000 * (line["answered"] - line["due"]))
    return tuple(
        ReplayPoint(
            begin=number * length,
            seconds=length,
            asked=(due[number] if number < len(due) else 0) / length,
            reached=reached[number] / length,
            latency=float(np.median(late[number])) if number in late else None,
            latest=max(late[number]) if number in late else None,
        )
        for number in range(last + 1)
    )


def _proof(line: Mapping[str, Any]) -> Proof:
    same = (
        *("mode", "documents", "counted", "compared", "missing"),
        *("unexpected", "changed", "fields", "seconds", "problem"),
    )
    return Proof(
        **{name: line[name] for name in same},
        sampled=line.get("sampled"),
        undated=line.get("undated", 0),
        examples=tuple(line["examples"]),
        parts=tuple(line["parts"]),
    )
