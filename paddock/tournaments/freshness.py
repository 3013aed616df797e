"""How long documents took to become searchable: the markers of all laps of a contender together.

One lap sees a handful of markers, and those that are not searchable when its load ends are known only to take longer.
All laps together tell the quantiles - up to the time that a lap lasts, and no further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.statistics.survival import censored_quantile
from paddock.tournaments.model import Lap


@dataclass(frozen=True)
class Freshness:
    """Milliseconds from acknowledged to searchable of one contender.

    :param p50, p99: quantiles (Kaplan-Meier); None where laps are too short to tell.
    :param longest: the longest that any marker was watched: an unknown quantile is likely to be more than this.
    :param markers: how many were sent; ``found`` of them were seen to become searchable.
    """

    contender: str
    p50: float | None
    p99: float | None
    longest: float
    markers: int
    found: int


def pooled_freshness(laps: Sequence[Lap], contenders: Sequence[str]) -> tuple[Freshness, ...]:
    """The freshness of each contender from those of its laps that count; contenders without a marker are left out."""
    pooled = []
    for contender in contenders:
        seen = [
            lap.markers
            for lap in laps
            if lap.contender == contender and not lap.warmup and lap.void is None and lap.markers is not None
        ]
        found = [duration for markers in seen for duration in markers.found]
        waiting = [duration for markers in seen for duration in markers.waiting]
        if found or waiting:
            pooled.append(
                Freshness(
                    contender,
                    censored_quantile(found, waiting, 0.5),
                    censored_quantile(found, waiting, 0.99),
                    max(*found, *waiting, 0.0),
                    len(found) + len(waiting),
                    len(found),
                )
            )
    return tuple(pooled)
