"""From Rally's race.json and the samples taken beside the race to its summary; pure.

The rate of a bulk task is documents / seconds. Both come from where they are known best:

- documents: indexing operations that Elasticsearch counted (the growth of index_total of the primary shards, from the
  samples), because race.json does not say how many documents a task sent; where that counter fell, documents that are
  in the index in the end;
- seconds: Rally's duration of the task plus the median service time of its bulks. Rally's duration, reported in
  milliseconds, is the time from the moment at which a worker began the task until its last request was *sent*
  (esrally 2.13.0: metrics.py, GlobalStatsCalculator.duration; driver.py, Sample.relative_time). It includes the
  warm-up, and it lacks the answer to the last bulk, for which the median service time stands in; without one (the whole
  task lay within the warm-up) nothing is added. With metrics.request.downsample.factor above 1 the last request may be
  missing from it.

So the mean rate covers the whole task, warm-up and cold JVM included. What the warm-up does to it is visible beside
it: the rate after the warm-up and the median of the one-second rates come from the samples alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddock.plain_values import Figure, Missing, known
from paddock.race import race_results, sampled
from paddock.race.bottleneck import Allowed, find_bottleneck
from paddock.race.cautions import FEWEST_RATES, cautions
from paddock.race.circumstances import CORPUS, cars_of
from paddock.race.figures import Activity, quotient
from paddock.race.over_time import over_time
from paddock.race.race_results import TaskResult
from paddock.race.requests import SentRequest, with_p95
from paddock.race.resources import resources
from paddock.race.sampled import Span, Window
from paddock.race.summary import BulkTask, Expectation, Summary, WholeRace
from paddock.sampling.records import IndexCounters, Sample

_INDISTINCT = "The samples do not show which documents belong to which of the bulk tasks."
_NOTHING_INDEXED = "The samples show no document being indexed."


def summarise(
    race: Mapping[str, Any],
    samples: Sequence[Sample],
    expectations: Mapping[str, Expectation] | None = None,
    requests: Sequence[SentRequest] = (),
    warmups: Mapping[str, Sequence[float]] | None = None,
    limits: Allowed | None = None,
) -> Summary:
    """The summary of one race.

    :param race: the contents of race.json; with no results in it there are no tasks.
    :param samples: what the sampler wrote, in order; may be empty.
    :param expectations: what is known beforehand about the bulk tasks, by their names.
    :param requests: the journal of requests; may be empty. ``warmups`` is what it takes to read it (with_p95).
    :param limits: what nodes and others may use at most.
    """
    results = with_p95(race_results.tasks(race), requests, warmups or {})
    bulks = [result for result in results if result.indexes_documents]
    found = sampled.intervals(samples)
    windows = sampled.load_windows(found, len(bulks))
    bulk_tasks = tuple(
        _bulk_task(
            result,
            (expectations or {}).get(result.requests.name) or result.expectation or Expectation(),
            samples,
            found,
            windows[position] if windows else None,
            windows,
        )
        for position, result in enumerate(bulks)
    )
    request_tasks = tuple(result.requests for result in results if not result.indexes_documents)
    whole, over = _whole_race(race, samples, found), over_time(samples)
    paced = any(task.latencies is not None or task.expectation.rate is not None for task in bulk_tasks)
    under_load = [
        sample for sample in samples if any(window.begin <= sample.seconds <= window.end for window in windows or [])
    ]
    reachable = any(sample.indices is not None for sample in samples)
    return Summary(
        race_id=str(race.get("race-id", "")),
        track=str(race.get("track", "")),
        challenge=str(race.get("challenge", "")),
        cars=cars_of(race),
        version=str((race.get("cluster") or {}).get("distribution-version") or ""),
        bulk_tasks=bulk_tasks,
        request_tasks=request_tasks,
        race=whole,
        warnings=cautions(bulk_tasks, request_tasks, whole, under_load, reachable),
        corpus=str((race.get("user-tags") or {}).get(CORPUS) or ""),
        resources=resources(over) if over else None,
        bottleneck=find_bottleneck(over, limits or Allowed(), paced) if over else None,
    )


def _bulk_task(
    result: TaskResult,
    expectation: Expectation,
    samples: Sequence[Sample],
    found: Sequence[Span],
    window: Window | None,
    windows: Sequence[Window] | None,
) -> BulkTask:
    seconds, requests = _seconds(result), result.requests
    if not isinstance(seconds, Missing):
        seconds = max(seconds - expectation.idle_seconds, 0.0)
    nothing: Figure = Missing(_INDISTINCT if any(interval.total for interval in found) else _why_nothing(found))
    documents = counted = settled_rate = median_rate = node_cpu = driver_cpu = busiest = steal = nothing
    settled: list[Span] = []
    if window and windows:
        counted = sampled.counted_in_the_end(samples, found, window, windows)
        indexed = sampled.documents_in(found, window)
        documents = _or(indexed, counted)
        settled = sampled.settled_intervals(found, window, expectation.warmup_seconds)
        too_short = Missing(
            f"The load ran for {len(settled)} full seconds after the warm-up; {FEWEST_RATES} are needed."
        )
        enough = len(settled) >= FEWEST_RATES
        if isinstance(indexed, Missing):
            median_rate = settled_rate = indexed
        else:
            median_rate = sampled.median_rate(settled) if enough else too_short
            settled_rate = sampled.rate(settled) if enough else too_short
        loaded = sampled.between(samples, window.begin, window.end)
        paid = sampled.between(samples, window.begin, sampled.end_of_cost(found, window, windows))
        node_cpu = sampled.node_cpu_seconds(paid)
        driver_cpu = sampled.driver_cpu_seconds(loaded)
        busiest = sampled.driver_busiest(loaded)
        steal = sampled.steal_percent(loaded)
    if not expectation.warmup_seconds:
        settled_rate = Missing("The task had no warm-up.")
    return BulkTask(
        name=requests.name,
        operation=requests.operation,
        expectation=expectation,
        documents=documents,
        counted=counted,
        seconds=seconds,
        mean_rate=quotient(documents, seconds),
        settled_rate=settled_rate,
        median_rate=median_rate,
        rates=len(settled),
        reported_rate=requests.throughput,
        service_times=requests.service_times,
        latencies=requests.latencies,
        error_rate=requests.error_rate,
        node_cpu_seconds=node_cpu,
        node_cpu_per_million=quotient(node_cpu, documents, 1e6),
        driver_cpu_seconds=driver_cpu,
        driver_busiest=busiest,
        steal_percent=steal,
    )


def _seconds(result: TaskResult) -> Figure:
    """From the start of the task to the answer to its last request; see the top of this file."""
    until_sent, times = result.last_request_seconds, result.requests.service_times
    if isinstance(until_sent, Missing):
        return until_sent
    return until_sent + (known(times.p50) or known(times.maximum) or 0.0) / 1000


def _whole_race(race: Mapping[str, Any], samples: Sequence[Sample], found: Sequence[Span]) -> WholeRace:
    keys = {key for interval in found for key in interval.documents}
    final = sampled.final_indices(samples, keys)
    nothing = Missing(_why_nothing(found))

    def last(value: Any) -> Figure:
        return sum(value(index) for index in final) if final else nothing

    primary_bytes = last(_primary_bytes)
    counted = last(lambda index: index.documents)

    def total(counter: Any, of_rally: Figure) -> Figure:
        value = sampled.index_total(samples, keys, counter)
        return of_rally if isinstance(value, Missing) else value

    def activity(count: Any, milliseconds: Any, name: str) -> Activity:
        reported = race_results.activity(race, name)
        return Activity(total(count, reported.count), total(lambda index: milliseconds(index) / 1000, reported.seconds))

    rejections = sampled.node_total(samples, lambda node: node.write_rejected + node.pressure_rejected)
    return WholeRace(
        node_cpu_seconds=sampled.node_cpu_seconds(samples),
        driver_cpu_seconds=sampled.driver_cpu_seconds(samples),
        peak_node_bytes=sampled.peak_node_bytes(samples),
        peak_driver_bytes=max((sample.driver.resident_bytes for sample in samples), default=0)
        or Missing("No process of the load driver was seen on this machine."),
        index_bytes=_or(last(_all_bytes), race_results.total(race, "store_size")),
        bytes_per_document=quotient(primary_bytes, counted),
        documents_counted=counted,
        index_failed=sampled.index_total(samples, keys, lambda index: index.index_failed),
        written_bytes=sampled.written_bytes(samples),
        segments=_or(last(lambda index: index.segments), race_results.total(race, "segment_count")),
        merges=activity(lambda index: index.merges, lambda index: index.merge_milliseconds, "merge"),
        refreshes=activity(lambda index: index.refreshes, lambda index: index.refresh_milliseconds, "refresh"),
        flushes=activity(lambda index: index.flushes, lambda index: index.flush_milliseconds, "flush"),
        collectors=sampled.collectors(samples) or race_results.collectors(race),
        rejections=rejections,
        merges_running=last(lambda index: index.merges_running),
    )


def _why_nothing(found: Sequence[Span]) -> str:
    return _NOTHING_INDEXED if found else sampled.NO_SAMPLES


def _or(figure: Figure, otherwise: Figure) -> Figure:
    return otherwise if isinstance(figure, Missing) else figure


def _all_bytes(index: IndexCounters) -> int:
    """The exact size where it is known: the other one may be 10 s old."""
    return index.store_bytes if index.segment_bytes is None else index.segment_bytes


def _primary_bytes(index: IndexCounters) -> int:
    return index.primary_store_bytes if index.primary_segment_bytes is None else index.primary_segment_bytes
