"""Races for the tests: race.json made by Rally's own classes, and the samples that go with it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from esrally import config, metrics, track

from paddock.sampling.records import (
    Collections,
    ComponentUsage,
    IndexCounters,
    NodeCounters,
    ProcessUsage,
    Sample,
)


@dataclass(frozen=True)
class Request:
    """One request: when it was sent (seconds since its task began), how long it took, whether it was warm-up.

    :param latency: milliseconds from when it was due; without a schedule Rally records the service time.
    """

    sent: float
    milliseconds: float
    warmup: bool = False
    success: bool = True
    latency: float | None = None


@dataclass(frozen=True)
class RallyTask:
    """One task as Rally saw it."""

    name: str
    unit: str
    requests: Sequence[Request]
    rate: float = 1000.0
    meta: Mapping[str, Any] | None = None


def steady(seconds: int, per_second: int, milliseconds: float = 100.0, warmup: float = 0.0) -> list[Request]:
    """Requests at even distances, a few of them slower."""
    return [
        Request(number / per_second, milliseconds * (1 + (number % 10) / 10), number / per_second < warmup)
        for number in range(seconds * per_second)
    ]


def race_json(tasks: Sequence[RallyTask], totals: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A race.json as Rally 2.13 writes it: its own calculator over its own metrics store, its own Race."""
    configuration = config.Config()
    configuration.add(config.Scope.application, "system", "env.name", "local")
    configuration.add(config.Scope.application, "track", "params", {})
    store = metrics.InMemoryMetricsStore(configuration)
    began = datetime.datetime(2026, 11, 21, 5, 43, 58)
    store.open("f5696e03", began, "apache", "ingest", ["1gheap"], create=True)
    for task in tasks:
        for request in task.requests:
            _record(store, task, request)
    schedule = [
        track.Task(task.name, track.Operation(task.name, "bulk", param_source="bulk"), meta_data=task.meta)
        for task in tasks
    ]
    challenge = track.Challenge("ingest", schedule=schedule)
    results = metrics.GlobalStatsCalculator(store, track.Track("apache"), challenge)()
    for name, value in (totals or {}).items():
        setattr(results, name, value)
    apache, cars = track.Track("apache"), ["1gheap"]
    race = metrics.Race(
        "2.13.0", None, "local", "f5696e03", began, "from-distribution", {}, apache, {}, challenge, cars, None, None
    )
    race.distribution_version = "8.8.2"
    race.add_results(results)
    as_read: dict[str, Any] = json.loads(json.dumps(race.as_dict()))
    return as_read


def _record(store: Any, task: RallyTask, request: Request) -> None:
    kind = metrics.SampleType.Warmup if request.warmup else metrics.SampleType.Normal
    common = {
        "task": task.name,
        "operation": task.name,
        "operation_type": "bulk",
        "sample_type": kind,
        "absolute_time": 1000 + request.sent,
        "relative_time": request.sent,
        "meta_data": {"success": request.success},
    }
    store.put_value_cluster_level("service_time", request.milliseconds, "ms", **common)
    latency = request.milliseconds if request.latency is None else request.latency
    store.put_value_cluster_level("latency", latency, "ms", **common)
    store.put_value_cluster_level("throughput", task.rate, f"{task.unit}", **common)


@dataclass(frozen=True)
class Load:
    """Documents that arrive in an index, one number per second.

    :param begin: the second in which the first of them arrive.
    """

    begin: int
    documents: Sequence[int]
    index: str = "apache"
    uuid: str = "first"


@dataclass(frozen=True)
class Scene:
    """What the sampler sees: one node on this machine and the given loads.

    :param searches: seconds in which shard queries are done.
    :param merging_until: until then a merge runs after the last load.
    :param deleted: seconds from which on an index (by its uuid) is gone.
    """

    seconds: int
    loads: Sequence[Load]
    searches: range = range(0)
    merging_until: int = 0
    local: bool = True
    busiest: float = 0.4
    steal: float = 0.5
    rejected: int = 0
    failed: int = 0
    missed: Sequence[int] = ()
    deleted: Mapping[str, int] = field(default_factory=dict)

    def samples(self) -> list[Sample]:
        """One sample per second."""
        return [self._sample(second) for second in range(self.seconds + 1)]

    def _sample(self, second: int) -> Sample:
        lost = second in self.missed
        return Sample(
            time=1_795_239_960.0 + second,
            seconds=float(second),
            missed=1 if lost else 0,
            problem="No answer from the cluster (ReadTimeoutError)." if lost else None,
            nodes=None if lost else {"node": self._node(second)},
            indices=None if lost else self._indices(second),
            steal_percent=self.steal,
            driver=ComponentUsage(3, 1.5 + 0.5 * self._busy(second), 300 * 2**20 + second, self.busiest),
        )

    def _node(self, second: int) -> NodeCounters:
        # CPU-seconds per second: 2 under load, half a one while merging, a tenth while searching, none otherwise.
        cpu = 10 + 2.0 * self._busy(second) + 0.5 * self._merging(second) + 0.1 * self._searching(second)
        process = ProcessUsage(4711, cpu, 1400 * 2**20 + second * 2**10, 10**6 * second)
        return NodeCounters(
            name="rally-node-0",
            cpu_seconds=float(round(cpu)),
            collectors={"young": Collections(5 + second, 50 + 13 * second), "old": Collections(0, 0)},
            write_rejected=self.rejected if second > 5 else 0,
            process=process if self.local else None,
        )

    def _indices(self, second: int) -> dict[str, IndexCounters]:
        found: dict[str, IndexCounters] = {}
        for load in self.loads:
            if second < load.begin or second >= self.deleted.get(load.uuid, self.seconds + 1):
                continue
            indexed = sum(load.documents[: max(second - load.begin, 0)])
            busy = min(max(second - load.begin, 0), len(load.documents))
            before = found.get(load.index, IndexCounters(load.uuid))
            if before.uuid != load.uuid:
                before = IndexCounters(load.uuid)
            total = before.indexed + indexed
            found[load.index] = replace(
                before,
                documents=total,
                indexed=total,
                index_failed=self.failed,
                primary_store_bytes=1,
                store_bytes=1,
                primary_segment_bytes=total * 138,
                segment_bytes=total * 138,
                segments=7,
                merges_running=1 if self._merging(second) and second < self.merging_until else 0,
                merges=busy // 5,
                merge_milliseconds=busy * 300,
                refreshes=busy,
                refresh_milliseconds=busy * 250,
                queries=self._searching(second) * 40 + (1 if second > self._end() + 2 else 0),
            )
        return found

    def _end(self) -> int:
        return max((load.begin + len(load.documents) for load in self.loads), default=0)

    def _busy(self, second: int) -> int:
        return sum(min(max(second - load.begin, 0), len(load.documents)) for load in self.loads)

    def _merging(self, second: int) -> int:
        return max(min(second, self.merging_until) - self._end(), 0)

    def _searching(self, second: int) -> int:
        return len([moment for moment in self.searches if moment < second])
