"""Races for the tests of their reports: growing data, bursts, a plain one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddock.race.summarise import summarise
from paddock.race.summary import RaceRecord
from tests.race.scenes import Load, RallyTask, Request, Scene, race_json, steady

# Milliseconds of the median at 1x, and by how much it is multiplied when the data doubles.
QUERIES = {"latest-errors": (2.0, 1.0), "errors-by-free-text": (4.5, 1.3), "top-paths": (30.0, 2.0)}
STEPS = (1, 2, 4, 8)


def record(
    tasks: Sequence[RallyTask], scene: Scene, challenge: str, params: Mapping[str, Any] | None = None
) -> RaceRecord:
    """What Rally and Paddock have recorded of a race with these tasks."""
    race = race_json(tasks)
    race |= {"challenge": challenge, "track-params": dict(params or {}), "user-tags": {"engine": "embedded"}}
    summary = summarise(race, scene.samples())
    return RaceRecord(race["race-id"], summary, race, command="esrally race --track-path=tracks/apache")


def growing(requests: int = 100, factors: Mapping[str, tuple[float, float]] | None = None) -> RaceRecord:
    """A race in which the data grew from 10,000 to 80,000 documents.

    :param requests: of each query at each size.
    """
    tasks, loads = [], []
    before = 0
    for position, step in enumerate(STEPS):
        documents = 10_000 * step
        meta = {"growth-step": step, "documents": documents}
        tasks.append(RallyTask(f"bulk-to-{step}x", "docs/s", steady(2, 10), meta=meta))
        loads.append(Load(5 + 20 * position, [(documents - before) // 2] * 2))
        before = documents
        for query, (median, factor) in (factors or QUERIES).items():
            middle = median * factor**position * (1.05 if position % 2 else 1.0)
            found = [Request(0.1 * one, middle * (0.8 + 0.4 * one / max(requests - 1, 1))) for one in range(requests)]
            tasks.append(RallyTask(f"{query}-at-{step}x", "ops/s", found, rate=9.9, meta={**meta, "query": query}))
    return record(tasks, Scene(90, loads), "growing-data")


PHASES = [("warm-up", 5, 4000), ("rest-1", 20, 500), ("peak-1", 10, 4000), ("rest-2", 20, 500)]


def journal(capacity: float = 3000.0, phases: Sequence[tuple[str, float, float]] = PHASES) -> Iterator[dict[str, Any]]:
    """The lines of a load: eight clients that send bulks of 100 in turn to a server that takes so many docs/s."""
    plan, begin = [], 0.0
    for name, seconds, rate in phases:
        plan.append({"name": name, "begin": begin, "end": begin + seconds, "rate": rate})
        begin += seconds
    documents = round(sum(seconds * rate for _, seconds, rate in phases))
    yield {"kind": "schedule", "began": 1000.0, "documents": documents, "phases": plan}
    free = [0.0] * 8
    server = 0.0
    number = 0
    for phase in plan:
        due = phase["begin"]
        while (due := due + 100 / phase["rate"]) <= phase["end"] + 1e-9:
            client = number % 8
            sent = max(due, free[client])
            server = max(server, sent) + 100 / capacity
            answered = server + 0.004 * (1 + number % 5 / 5)
            free[client] = answered
            said = {"kind": "bulk", "began": 1000.002, "client": client, "phase": phase["name"], "documents": 100}
            yield said | {"due": due, "sent": sent, "answered": answered, "success": number != 7}
            number += 1


def write(path: Path, lines: Iterator[dict[str, Any]]) -> Path:
    """A journal on disk."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def burst(journal_file: Path, scheduled: float = 55.0) -> RaceRecord:
    """A burst whose journal lies there."""
    requests = [Request(one / 10, 12.0, one < 50, latency=15.0 + (one % 50)) for one in range(550)]
    meta = {"scheduled-documents": 80_000, "scheduled-seconds": scheduled, "warmup-seconds": 5}
    task = RallyTask("paced-bulk", "docs/s", requests, meta=meta)
    rates = [4000] * 5 + [500] * 20 + [3000] * 13 + [700] * 10 + [500] * 7
    documents = [*rates[:-1], 80_000 - sum(rates[:-1])]
    return record([task], Scene(70, [Load(5, documents)]), "burst", {"load_journal": str(journal_file)})


def plain() -> RaceRecord:
    """An ordinary race."""
    tasks = [RallyTask("bulk", "docs/s", steady(20, 10)), RallyTask("top-paths", "ops/s", steady(20, 10))]
    return record(tasks, Scene(40, [Load(4, [2000] * 20)]), "ingest-and-search")


def two_loads() -> RaceRecord:
    """A load as fast as possible, then one by a schedule, whose bulks waited to be sent."""
    waited = [Request(one / 10, 12.0, False, latency=500.0 + one % 50) for one in range(200)]
    tasks = [RallyTask("first", "docs/s", steady(20, 10)), RallyTask("second", "docs/s", waited)]
    return record(tasks, Scene(90, [Load(4, [2000] * 20), Load(44, [2000] * 20)]), "two-loads")


def asked(documents: int, way: str, query: str, position: int = 0) -> float:
    """Seconds of a run: an index that takes 6 ms, hardly more at larger sizes, against scans that go through all."""
    if way == "index":
        return 0.006 * (1.05 if documents > 20_000 else 1.0) * (1 + position / 200)
    cost = {"zgrep": 0.004 + documents * 2e-7, "json": 0.03 + documents * 8e-7}[way]
    return cost * (1 + position / 100) * (1.5 if query == "text-hits" else 1.0)


def log_queries_journal(differs: bool = True) -> Iterator[dict[str, Any]]:
    """The lines of the challenge log-queries at the sizes of a growing race; an earlier race stands before it.

    :param differs: whether zgrep finds a document more at the largest size.
    """
    yield {"kind": "log-queries", "began": 1.0}
    yield {"kind": "log-query", "way": "index", "query": "old", "documents": 5, "warm_up": False, "seconds": 9.0}
    yield {"kind": "log-queries", "began": 1000.0}
    for step in STEPS:
        documents = 10_000 * step
        for query in ("text-count", "text-hits"):
            for way, runs in (("index", 20), ("zgrep", 6), ("json", 6)):
                found = documents // 70 + (differs and way == "zgrep" and step == 8)
                line: dict[str, Any] = {"kind": "log-query", "way": way, "query": query, "documents": documents}
                line |= {"number": found, "items": 0, "digest": "e3b0"}
                if way != "index":
                    scanned = {"read_bytes": documents * 50, "raw_bytes": documents * 500}
                    line |= {"cpu_seconds": asked(documents, way, query) * 0.9, **scanned}
                yield line | {"warm_up": True, "began": 1000.0, "seconds": 5.0}
                for position in range(runs):
                    taken = asked(documents, way, query, position)
                    yield line | {"warm_up": False, "began": 1000.0, "seconds": taken}


def log_queries(journal_file: Path) -> RaceRecord:
    """A race of the challenge log-queries, whose journal lies there."""
    tasks, loads = [], []
    before = 0
    for position, step in enumerate(STEPS):
        documents = 10_000 * step
        meta = {"growth-step": step, "documents": documents}
        tasks.append(RallyTask(f"bulk-to-{step}x", "docs/s", steady(2, 10), meta=meta))
        loads.append(Load(5 + 20 * position, [(documents - before) // 2] * 2))
        before = documents
        found = [Request(0.1 * one, 6.0) for one in range(20)]
        told = {**meta, "query": "text-count by index"}
        tasks.append(RallyTask(f"text-count-by-index-at-{step}x", "ops/s", found, rate=9.9, meta=told))
    return record(tasks, Scene(90, loads), "log-queries", {"load_journal": str(journal_file)})
