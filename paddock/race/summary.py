"""The figures of a race, each listed once with its name and form for every view, and its record as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddock import numbers
from paddock.costs import Prices
from paddock.errors import UsageError
from paddock.plain_values import Figure, Missing, built, known, plain
from paddock.race.bottleneck import Bottleneck
from paddock.race.figures import Activity, NamedFigure
from paddock.race.resources import Resources


@dataclass(frozen=True)
class Expectation:
    """What is known beforehand about a bulk task.

    :param documents: how many it was to send, or None if that is not known.
    :param warmup_seconds: how long its warm-up lasts (Rally's warmup-time-period).
    :param rate: documents per second at which it was to send them, or None if as fast as possible.
    :param scheduled_seconds: when its last document was due, or None if its schedule does not say.
    :param idle_seconds: how long it waited at its start, before anything was due.
    :param incidental: whether it is there only for what is measured after it.
    """

    documents: int | None = None
    warmup_seconds: float = 0.0
    rate: float | None = None
    scheduled_seconds: float | None = None
    incidental: bool = False
    idle_seconds: float = 0.0


# As Rally has it for others: no 95th percentile of fewer than that.
FEWEST_FOR_P95 = 20
_TIMES = ("p50 ms", "p90 ms", "p95 ms", "p99 ms", "max ms")
_BULK_TIMES = ("bulk p50 ms", "", "bulk p95 ms", "bulk p99 ms", "")


@dataclass(frozen=True)
class ServiceTimes:
    """Milliseconds from sending a request to its answer, warm-up excluded, as Rally reports them.

    Latencies have the same form: milliseconds from when a request was due, whenever it was sent, to its answer.

    Rally gives p90 from 10 requests on, p99 from 100 on; p50 from 2 on. It gives no p95: that of service times comes
    from a journal of requests (requests.py).
    """

    p50: Figure
    p90: Figure
    p95: Figure
    p99: Figure
    maximum: Figure

    def figures(self, name: str, note: str = "", shorts: Sequence[str] = ("",) * 5) -> tuple[NamedFigure, ...]:
        """All of them; the note is said of the first."""
        named = zip(("p50", "p90", "p95", "p99", "maximum"), (note, *[""] * 4), shorts, strict=True)
        return tuple(
            NamedFigure(f"{name}, {part}", getattr(self, part), numbers.milliseconds, said, short)
            for part, said, short in named
        )


@dataclass(frozen=True)
class BulkTask:
    """One task that indexed documents.

    :param documents: indexing operations that the samples counted while it ran, warm-up included; where their counter
        fell, ``counted``.
    :param counted: documents in the end in the indices that it alone wrote.
    :param seconds: from its start to the answer to its last bulk (see summarise.py).
    :param mean_rate: documents / seconds, in documents per second.
    :param settled_rate: documents per second after the warm-up; Missing without a warm-up.
    :param median_rate: median of the one-second rates after the warm-up.
    :param rates: how many one-second rates there are.
    :param reported_rate: Rally's own median throughput, which is cumulative since the start of the task.
    :param latencies: against the schedule; None if there was none, because Rally then calls the service time latency.
    :param error_rate: share of failed requests, 0 to 1, warm-up excluded.
    :param node_cpu_seconds: CPU time of all nodes from the first bulk until the next load or search began, or the race
        ended: refreshes and merges that the load left to be done are part of its price.
    :param node_cpu_per_million: the same per million documents.
    :param driver_cpu_seconds: CPU time of all processes of the load driver while the task ran.
    :param driver_busiest: median share of one core that the busiest process of the load driver used (1 = whole core).
    :param steal_percent: mean share of the machine's time that its hypervisor gave to others while the task ran.
    """

    name: str
    operation: str
    expectation: Expectation
    documents: Figure
    counted: Figure
    seconds: Figure
    mean_rate: Figure
    settled_rate: Figure
    median_rate: Figure
    rates: int
    reported_rate: Figure
    service_times: ServiceTimes
    latencies: ServiceTimes | None
    error_rate: Figure
    node_cpu_seconds: Figure
    node_cpu_per_million: Figure
    driver_cpu_seconds: Figure
    driver_busiest: Figure
    steal_percent: Figure

    @property
    def lost(self) -> Figure:
        """Documents that were generated, or to be sent, without those in the index in the end; never below 0."""
        return self._without(1)

    @property
    def surplus(self) -> Figure:
        """Documents that are in the index in the end and were not to be sent: duplicates; never below 0."""
        return self._without(-1)

    def _without(self, sign: int) -> Figure:
        generated = self.expectation.documents
        if generated is None:
            return Missing("How many documents were sent is not known beforehand, so neither is how many were lost.")
        return self.counted if isinstance(self.counted, Missing) else max(sign * (generated - self.counted), 0)

    @property
    def rate(self) -> Figure:
        """Documents per second by which the load is known: after the warm-up, where there was one."""
        return self.mean_rate if isinstance(self.settled_rate, Missing) else self.settled_rate

    @property
    def figures(self) -> tuple[NamedFigure, ...]:
        """All that is told of it, in the order of the telling."""
        warmup, rate = self.expectation.warmup_seconds, numbers.rate
        by_mean = isinstance(self.settled_rate, Missing)
        apart = f"without the first {warmup:g} s and the last second"
        settled = NamedFigure(
            "throughput, mean after warm-up", self.settled_rate, rate, apart, "" if by_mean else "docs/s"
        )
        scheduled = self.expectation.rate
        waited = "from when the bulk was due, waiting included"
        return (
            NamedFigure("documents", self.documents, numbers.count, "counted by Elasticsearch"),
            *(
                (NamedFigure("log loss", self.lost, numbers.count, "documents sent - counted", "log loss"),)
                if self.expectation.documents is not None
                else ()
            ),
            *(
                (NamedFigure("duplicates", self.surplus, numbers.count, "counted - sent"),)
                if known(self.surplus)
                else ()
            ),
            NamedFigure(
                "duration", self.seconds, numbers.seconds, "from the start to the last answer, warm-up included"
            ),
            NamedFigure("throughput, mean", self.mean_rate, rate, "documents / duration", "docs/s" if by_mean else ""),
            *((settled,) if warmup else ()),
            NamedFigure("throughput, median", self.median_rate, rate, f"of {self.rates} one-second rates"),
            NamedFigure(
                "throughput, Rally's median", self.reported_rate, rate, "cumulative since the start of the task"
            ),
            *((NamedFigure("throughput, as scheduled", scheduled, rate),) if scheduled else ()),
            *self.service_times.figures("service time", "per bulk, warm-up excluded", _BULK_TIMES),
            *(self.latencies.figures("latency", waited) if self.latencies else ()),
            NamedFigure("failed bulks", self.error_rate, numbers.percent, "", "failed bulks %"),
            NamedFigure(
                "node CPU time", self.node_cpu_seconds, numbers.seconds, "refreshes and merges after the load included"
            ),
            NamedFigure(
                "node CPU time per million documents",
                self.node_cpu_per_million,
                numbers.seconds,
                short="node CPU s/M docs",
            ),
            NamedFigure("load driver CPU time", self.driver_cpu_seconds, numbers.seconds),
        )


@dataclass(frozen=True)
class RequestTask:
    """One task that did something else: searches above all.

    :param latencies: against the schedule; None if there was none.
    :param throughput: Rally's median, in ``throughput_unit``.
    :param error_rate: share of failed requests, 0 to 1.
    """

    name: str
    operation: str
    service_times: ServiceTimes
    latencies: ServiceTimes | None
    throughput: Figure
    throughput_unit: str
    error_rate: Figure

    @property
    def figures(self) -> tuple[NamedFigure, ...]:
        """All that is told of it but its latencies."""
        return (
            *self.service_times.figures("service time", shorts=_TIMES),
            NamedFigure("throughput", self.throughput, numbers.milliseconds, short="per second"),
            NamedFigure("failed", self.error_rate, numbers.percent, short="failed %"),
        )


@dataclass(frozen=True)
class WholeRace:
    """Figures of the race as a whole.

    :param peak_node_bytes: largest resident memory of all nodes together.
    :param peak_driver_bytes: largest resident memory of all processes of the load driver together.
    :param index_bytes: size of the indices at the end, replicas included.
    :param bytes_per_document: size of the primary shards per document.
    :param documents_counted: documents found in the indices at the end.
    :param index_failed: documents that Elasticsearch could not index.
    :param written_bytes: what the nodes wrote to disks, translog and merges included.
    :param collectors: what each garbage collector did, by name.
    :param rejections: requests refused by write thread pools or for indexing pressure.
    :param merges_running: merges that still ran when the cluster was last seen.
    """

    node_cpu_seconds: Figure
    driver_cpu_seconds: Figure
    peak_node_bytes: Figure
    peak_driver_bytes: Figure
    index_bytes: Figure
    bytes_per_document: Figure
    documents_counted: Figure
    index_failed: Figure
    written_bytes: Figure
    segments: Figure
    merges: Activity
    refreshes: Activity
    flushes: Activity
    collectors: dict[str, Activity]
    rejections: Figure
    merges_running: Figure

    @property
    def figures(self) -> tuple[NamedFigure, ...]:
        """All that is told of it, in the order of the telling."""
        return (
            NamedFigure("node memory, peak", self.peak_node_bytes, numbers.size, "resident"),
            NamedFigure("load driver memory, peak", self.peak_driver_bytes, numbers.size, "resident, all processes"),
            NamedFigure("index size", self.index_bytes, numbers.size, "replicas included"),
            NamedFigure(
                "index size per document", self.bytes_per_document, numbers.bytes_each, "primary shards", "bytes/doc"
            ),
            NamedFigure("segments", self.segments, numbers.count),
            NamedFigure("written to disk", self.written_bytes, numbers.size, "translog and merges included"),
            *self.merges.figures("merges"),
            *self.refreshes.figures("refreshes"),
            *self.flushes.figures("flushes"),
            *(one for name, activity in self.collectors.items() for one in activity.figures(f"GC {name}")),
            NamedFigure("rejected requests", self.rejections, numbers.count),
        )


@dataclass(frozen=True)
class Summary:
    """One race.

    :param cars: names of the cars, or "external" if neither Rally nor we started the nodes.
    :param warnings: sentences about what makes the figures doubtful.
    :param corpus: what was indexed, as the race's user tags say it; empty if they do not.
    :param resources: what each component used; None without samples. ``bottleneck``: what of it was saturated.
    """

    race_id: str
    track: str
    challenge: str
    cars: str
    version: str
    bulk_tasks: tuple[BulkTask, ...]
    request_tasks: tuple[RequestTask, ...]
    race: WholeRace
    warnings: tuple[str, ...]
    corpus: str = ""
    resources: Resources | None = None
    bottleneck: Bottleneck | None = None

    @property
    def title(self) -> str:
        """What was raced on what, without a full stop."""
        challenge = f", challenge {self.challenge}" if self.challenge else ""
        cars = f", car {self.cars}" if self.cars else ""
        version = f", Elasticsearch {self.version}" if self.version else ""
        return f"Track {self.track}{challenge}{cars}{version}"


def in_test_mode(race: Mapping[str, Any]) -> bool:
    """Whether a race.json is that of a race in test mode; known of races that Paddock has run.

    Rally makes a boolean of the tag unless tags come as JSON.
    """
    return (race.get("user-tags") or {}).get("test-mode") in (True, "true")


@dataclass(frozen=True)
class RaceRecord:
    """One race as it is kept, and shown.

    :param race: Rally's race.json.
    :param race_file: where that is; ``samples_file``: where the samples are.
    :param command: the esrally command line that repeats it.
    :param error_rates: the share of requests that failed (0 to 1) of each task in which any did.
    :param prices: what money is reckoned with; None if nobody named any.
    """

    race_id: str
    summary: Summary
    race: Mapping[str, Any]
    race_file: str = ""
    samples_file: str = ""
    command: str = ""
    error_rates: Mapping[str, float] = field(default_factory=dict)
    prices: Prices | None = None

    @property
    def test_mode(self) -> bool:
        """Whether it only was to show that everything works, with 1,000 documents."""
        return in_test_mode(self.race)

    def as_json(self) -> dict[str, Any]:
        """All but Rally's race.json, which has a file of its own."""
        return {
            "race-id": self.race_id,
            "race-file": self.race_file,
            "samples-file": self.samples_file,
            "command": self.command,
            "error-rates": dict(self.error_rates),
            "summary": plain(self.summary),
            "log-loss": {task.name: plain(task.lost) for task in self.summary.bulk_tasks},
            "prices": plain(self.prices),
        }


def read_record(value: Mapping[str, Any], race: Mapping[str, Any]) -> RaceRecord:
    """The record of which ``as_json`` made this.

    :param race: Rally's race.json.
    :raises UsageError: if it is none.
    """
    race_id = value.get("race-id")
    if not race_id or not isinstance(value.get("summary"), Mapping):
        raise UsageError("This race has no summary: compare races that ./inv race has run to their end.")
    try:
        summary: Summary = built(Summary, value["summary"], "summary")
        prices = built(Prices, value["prices"], "prices") if value.get("prices") else None
    except ValueError as error:
        raise UsageError(f"The summary of the race {race_id} is damaged: {error}; run the race again.") from None
    return RaceRecord(
        race_id=str(race_id),
        summary=summary,
        race=race,
        race_file=str(value.get("race-file", "")),
        samples_file=str(value.get("samples-file", "")),
        command=str(value.get("command", "")),
        error_rates=value.get("error-rates", {}),
        prices=prices,
    )
