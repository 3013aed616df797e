"""The figures of a summary, and it as an object for JSON. A figure that is not there says why; none is set to zero."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Missing:
    """In place of a figure: why there is none, one sentence."""

    reason: str


Figure: TypeAlias = float | Missing


@dataclass(frozen=True)
class Expectation:
    """What is known beforehand about a bulk task.

    :param documents: how many it was to send, or None if that is not known.
    :param warmup_seconds: how long its warm-up lasts (Rally's warmup-time-period).
    :param rate: documents per second at which it was to send them, or None if as fast as possible.
    :param scheduled_seconds: when its last document was due, or None if its schedule does not say.
    :param incidental: whether it is there only for what is measured after it.
    """

    documents: int | None = None
    warmup_seconds: float = 0.0
    rate: float | None = None
    scheduled_seconds: float | None = None
    incidental: bool = False


@dataclass(frozen=True)
class ServiceTimes:
    """Milliseconds from sending a request to its answer, warm-up excluded, as Rally reports them.

    Latencies have the same form: milliseconds from when a request was due, whenever it was sent, to its answer.

    Rally gives p90 from 10 requests on, p99 from 100 on; p50 from 2 on.
    """

    p50: Figure
    p90: Figure
    p99: Figure
    maximum: Figure


@dataclass(frozen=True)
class BulkTask:
    """One task that indexed documents.

    :param documents: indexing operations that the samples counted while it ran, warm-up included.
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


@dataclass(frozen=True)
class Activity:
    """How often something was done and how long it took altogether."""

    count: Figure
    seconds: Figure


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


@dataclass(frozen=True)
class Summary:
    """One race.

    :param cars: names of the cars, or "external" if Rally did not start the nodes.
    :param warnings: sentences about what makes the figures doubtful.
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


def known(figure: Figure) -> float | None:
    """The figure, or None if it is missing."""
    return None if isinstance(figure, Missing) else figure


def quotient(dividend: Figure, divisor: Figure, times: float = 1.0) -> Figure:
    """``dividend / divisor * times``, or the reason why there is none."""
    if isinstance(dividend, Missing):
        return dividend
    if isinstance(divisor, Missing):
        return divisor
    return dividend / divisor * times if divisor else Missing("There is nothing to divide by: the count is zero.")


def summary_as_json(summary: Summary) -> dict[str, Any]:
    """The summary as nested objects with the names of its fields.

    A missing figure is null; the object that has it says why under ``missing``, by the figure's name.
    """
    plain: dict[str, Any] = _plain(summary)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Missing):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        missing = {name: part.reason for name, part in parts.items() if isinstance(part, Missing)}
        plain = {name: _plain(part) for name, part in parts.items()}
        return {**plain, "missing": missing} if missing else plain
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
