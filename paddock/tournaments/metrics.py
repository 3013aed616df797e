"""The metrics that a verdict can be about, and how a lap's figure in each of them is found."""

from __future__ import annotations

import math

from paddock.statistics.verdicts import Direction
from paddock.suggestions import unknown
from paddock.tournaments.model import Lap, Metric

DOCS_PER_SECOND = Metric("docs/s", "docs/s", True)
METRICS = {
    metric.name: metric
    for metric in (
        DOCS_PER_SECOND,
        Metric("node CPU s/M docs", "s/M docs", False),
        Metric("driver CPU s/M docs", "s/M docs", False),
        Metric("bytes/doc", "bytes/doc", False),
        Metric("bulk p50 ms", "ms", False),
        Metric("bulk p99 ms", "ms", False),
        Metric("freshness p50 ms", "ms", False),
        Metric("freshness p99 ms", "ms", False),
        Metric("query p50 ms", "ms", False),
        Metric("query p90 ms", "ms", False),
    )
}


def find_metric(name: str) -> Metric:
    """The metric of that name.

    :raises UsageError: if there is none; with the nearest names.
    """
    if name not in METRICS:
        raise unknown("metric", name, METRICS, "tournaments/README.md")
    return METRICS[name]


def figure(lap: Lap, metric: Metric) -> float | None:
    """The lap's figure in that metric; None if it is void or was not measured (a ratio needs positive figures)."""
    if lap.void is not None:
        return None
    value: float | None
    if metric == DOCS_PER_SECOND:
        value = lap.docs_per_second
    elif metric.name.startswith("freshness"):
        value = (lap.freshness or {}).get(metric.name.split()[1])
    else:
        value = lap.prices.get(metric.name)
    return value if value is not None and value > 0 and math.isfinite(value) else None


def direction(metric: Metric) -> Direction:
    """What the statistics need to know of the metric."""
    return Direction(metric.higher_is_better)
