"""How the queries of a race became slower as its data grew, from Rally's race.json."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
