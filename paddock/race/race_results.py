"""What Rally's race.json says, in our words; the only place that knows its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddock.race.summary import Activity, Expectation, Figure, Missing, ServiceTimes

_WARMUP_ONLY = "Rally counts nothing that ends within the warm-up, and this task had ended by then."
_NOT_REPORTED = "Rally did not report it."
_TOO_FEW = "Rally gives this percentile only from {} requests on (warm-up not counted)."


@dataclass(frozen=True)
class TaskResult:
    """Rally's figures of one task.

    :param last_request_seconds: from the start of the task until its last request was *sent*, warm-up included. Rally
        calls this the duration and reports it in milliseconds: it is the greatest relative time of all the task's
        samples (metrics.py, GlobalStatsCalculator.duration), which is the request's start minus the moment at which its
        worker began the task (driver.py, Sample.relative_time).
    :param throughput: the median of Rally's throughput samples, each of them cumulative since the start of the task.
    :param latencies: None if the requests had no schedule; Rally then reports the service times as latencies.
    :param measured: whether Rally has seen requests after the warm-up; if not, its error rate is 0 whatever happened.
    :param expectation: what the challenge says of it in its meta-data; None if nothing.
    """

    name: str
    operation: str
    throughput: Figure
    throughput_unit: str
    service_times: ServiceTimes
    error_rate: Figure
    last_request_seconds: Figure
    measured: bool
    latencies: ServiceTimes | None = None
    expectation: Expectation | None = None

    @property
    def indexes_documents(self) -> bool:
        """Whether this is a bulk task: race.json names no operation types, but only bulks are counted in documents."""
        return self.throughput_unit == "docs/s"


def tasks(race: Mapping[str, Any]) -> list[TaskResult]:
    """The tasks of a race.json in the order in which they ran; none if it has no results."""
    return [_task(value, in_test_mode(race)) for value in race.get("results", {}).get("op_metrics", [])]


def in_test_mode(race: Mapping[str, Any]) -> bool:
    """Whether it was only to see that everything works, with 1,000 documents; known of races that we have run."""
    return (race.get("user-tags") or {}).get("test-mode") == "true"


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
    throughput = value.get("throughput") or {}
    service = value.get("service_time") or {}
    latency = value.get("latency") or {}
    measured = bool(service)
    duration = value.get("duration")
    error_rate = value.get("error_rate")
    return TaskResult(
        name=str(value.get("task", value.get("operation"))),
        operation=str(value.get("operation")),
        throughput=_number(throughput.get("median"), _NOT_REPORTED if measured else _WARMUP_ONLY),
        throughput_unit=str(throughput.get("unit") or ""),
        service_times=_service_times(service),
        error_rate=_number(error_rate, _NOT_REPORTED) if measured or error_rate else Missing(_WARMUP_ONLY),
        last_request_seconds=_number(duration, _NOT_REPORTED, 1 / 1000),
        measured=measured,
        latencies=_service_times(latency) if latency and latency != service else None,
        expectation=None if test_mode else _expectation(value.get("meta") or {}),
    )


def _expectation(meta: Mapping[str, Any]) -> Expectation | None:
    """What challenges/parts/paced-tasks.json and growth-step-tasks.json write down."""
    if "growth-step" in meta:
        return Expectation(incidental=True)
    documents, seconds = meta.get("scheduled-documents"), meta.get("scheduled-seconds")
    if not documents or not seconds:
        return None
    return Expectation(documents, float(meta.get("warmup-seconds") or 0), documents / seconds, float(seconds))


def _service_times(service: Mapping[str, Any]) -> ServiceTimes:
    """Percentiles have keys such as "99_0"; the maximum is "100_0"."""

    def percentile(key: str, requests: int) -> Figure:
        return _number(service.get(key), _TOO_FEW.format(requests) if service else _WARMUP_ONLY)

    return ServiceTimes(
        p50=percentile("50_0", 2),
        p90=percentile("90_0", 10),
        p99=percentile("99_0", 100),
        maximum=percentile("100_0", 1),
    )


def _number(value: Any, reason: str, scale: float = 1.0) -> Figure:
    return value * scale if isinstance(value, (int, float)) else Missing(reason)
