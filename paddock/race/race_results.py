"""What Rally's race.json says, in our words, and how the queries of a race became slower as its data grew."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.race.summary import Activity, Expectation, Figure, Missing, RequestTask, ServiceTimes, in_test_mode

_WARMUP_ONLY = "Rally counts nothing that ends within the warm-up, and this task had ended by then."
_NO_P95 = "Rally gives no 95th percentile, and no journal of the requests tells it."
_NO_P95_OF_LATENCIES = "Rally gives no 95th percentile of latencies; a paced load has it in its report, by phase."
_NOT_REPORTED = "Rally did not report it."
TOO_FEW = "This percentile takes {} requests at least (warm-up not counted)."


@dataclass(frozen=True)
class TaskResult:
    """Rally's figures of one task.

    :param requests: throughput is the median of Rally's samples, each of them cumulative since the start of the task;
        latencies are None if the requests had no schedule: Rally then reports the service times as latencies.
    :param last_request_seconds: from the start of the task until its last request was *sent*, warm-up included. Rally
        calls this the duration and reports it in milliseconds: it is the greatest relative time of all the task's
        samples (metrics.py, GlobalStatsCalculator.duration), which is the request's start minus the moment at which its
        worker began the task (driver.py, Sample.relative_time).
    :param expectation: what the challenge says of it in its meta-data; None if nothing.
    """

    requests: RequestTask
    last_request_seconds: Figure
    expectation: Expectation | None = None

    @property
    def indexes_documents(self) -> bool:
        """Whether this is a bulk task: race.json names no operation types, but only bulks are counted in documents."""
        return self.requests.throughput_unit == "docs/s"


def tasks(race: Mapping[str, Any]) -> list[TaskResult]:
    """The tasks of a race.json in the order in which they ran; none if it has no results."""
    return [_task(value, in_test_mode(race)) for value in race.get("results", {}).get("op_metrics", [])]


def total(race: Mapping[str, Any], key: str, scale: float = 1.0) -> Figure:
    """One of the totals of a race.json, times ``scale``."""
    value = race.get("results", {}).get(key)
    return value * scale if isinstance(value, (int, float)) else Missing(_NOT_REPORTED)


def activity(race: Mapping[str, Any], name: str) -> Activity:
    """Count and time (milliseconds in race.json) of what Rally calls ``name``: merge, refresh, young_gc..."""
    return Activity(total(race, f"{name}_count"), total(race, f"{name}_time", 1 / 1000))


def collectors(race: Mapping[str, Any]) -> dict[str, Activity]:
    """The garbage collectors for which Rally has figures."""
    names = {"young": "young_gc", "old": "old_gc", "ZGC Cycles": "zgc_cycles_gc", "ZGC Pauses": "zgc_pauses_gc"}
    found = {name: activity(race, key) for name, key in names.items()}
    return {name: value for name, value in found.items() if not isinstance(value.count, Missing)}


def _task(value: Mapping[str, Any], test_mode: bool) -> TaskResult:
    throughput, service, latency = (value.get(name) or {} for name in ("throughput", "service_time", "latency"))
    error_rate = value.get("error_rate")
    requests = RequestTask(
        name=str(value.get("task", value.get("operation"))),
        operation=str(value.get("operation")),
        service_times=_service_times(service, _NO_P95),
        latencies=_service_times(latency, _NO_P95_OF_LATENCIES) if latency and latency != service else None,
        throughput=_number(throughput.get("median"), _NOT_REPORTED if service else _WARMUP_ONLY),
        throughput_unit=str(throughput.get("unit") or ""),
        # Rally's error rate is 0 whatever happened, unless it has seen requests after the warm-up.
        error_rate=_number(error_rate, _NOT_REPORTED) if service or error_rate else Missing(_WARMUP_ONLY),
    )
    expectation = None if test_mode else _expectation(value.get("meta") or {})
    return TaskResult(requests, _number(value.get("duration"), _NOT_REPORTED, 1 / 1000), expectation)


def _expectation(meta: Mapping[str, Any]) -> Expectation | None:
    """What the challenges sustained, paced, burst and growing-data write down."""
    if "growth-step" in meta:
        return Expectation(incidental=True)
    if "sustained" in meta:
        return Expectation(meta.get("sustained-documents"), float(meta.get("warmup-seconds") or 0))
    documents, seconds = meta.get("scheduled-documents"), meta.get("scheduled-seconds")
    if not documents or not seconds:
        return None
    return Expectation(documents, float(meta.get("warmup-seconds") or 0), documents / seconds, float(seconds))


def _service_times(service: Mapping[str, Any], no_p95: str) -> ServiceTimes:
    """Percentiles have keys such as "99_0"; the maximum is "100_0".

    :param no_p95: why there is no 95th.
    """

    def percentile(key: str, requests: int) -> Figure:
        return _number(service.get(key), TOO_FEW.format(requests) if service else _WARMUP_ONLY)

    return ServiceTimes(
        p50=percentile("50_0", 2),
        p90=percentile("90_0", 10),
        p95=_number(service.get("95_0"), no_p95 if service else _WARMUP_ONLY),
        p99=percentile("99_0", 100),
        maximum=percentile("100_0", 1),
    )


def _number(value: Any, reason: str, scale: float = 1.0) -> Figure:
    return value * scale if isinstance(value, (int, float)) else Missing(reason)


CONFIDENCE = 0.95
# With two sizes a line fits always, and says nothing about how well.
_FEWEST_SIZES = 3


@dataclass(frozen=True)
class Size:
    """One query at one size of the data; service times in milliseconds, None where Rally had too few requests.

    :param documents: in the index, as the challenge loaded and checked them.
    :param error_rate: share of failed requests, 0 to 1.
    """

    step: int
    documents: int
    median: float | None
    p90: float | None
    error_rate: float


@dataclass(frozen=True)
class Trend:
    """By how much the median service time is multiplied when the data doubles: a straight line in log-log.

    :param low: lower end of its confidence interval, and ``high`` the upper end, by the points' distances to the line.
    """

    per_doubling: float
    low: float
    high: float


@dataclass(frozen=True)
class QueryGrowth:
    """One query at all sizes, the smallest first; no trend where there are fewer than three medians."""

    query: str
    sizes: tuple[Size, ...]
    trend: Trend | None


def growth(race: Mapping[str, Any]) -> tuple[QueryGrowth, ...]:
    """The queries in the order in which they ran; none if this was no race with growing data.

    :param race: the contents of race.json.
    """
    found: dict[str, list[Size]] = {}
    for task in race.get("results", {}).get("op_metrics", []):
        meta = task.get("meta") or {}
        if "query" in meta and "growth-step" in meta:
            service = task.get("service_time") or {}
            size = Size(
                step=int(meta["growth-step"]),
                documents=int(meta["documents"]),
                median=service.get("50_0"),
                p90=service.get("90_0"),
                error_rate=float(task.get("error_rate") or 0),
            )
            found.setdefault(str(meta["query"]), []).append(size)
    return tuple(
        QueryGrowth(query, tuple(sorted(sizes, key=lambda one: one.documents)), trend(sizes))
        for query, sizes in found.items()
    )


def trend(sizes: Sequence[Size]) -> Trend | None:
    """The trend of the medians; sizes at which requests failed do not count."""
    points = [
        (math.log2(one.documents), math.log2(one.median))
        for one in sizes
        if one.median and one.documents and not one.error_rate
    ]
    if len(points) < _FEWEST_SIZES:
        return None
    at, value = np.array(points).T
    across = at - at.mean()
    if not across.any():
        return None
    slope = float(across @ value / (across @ across))
    off = value - value.mean() - slope * across
    error = math.sqrt(float(off @ off) / (len(points) - 2) / float(across @ across))
    from scipy import stats  # half a second, which other reports need not wait for

    width = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(points) - 2)) * error
    return Trend(2**slope, 2 ** (slope - width), 2 ** (slope + width))
