"""How long documents took to become searchable: the markers of all laps of a contender together.

One lap sees a handful of markers, and those that are not searchable when its load ends are known only to take longer.
All laps together tell the quantiles - up to the time that a lap lasts, and no further. They tell the truth because each
load begins at a random phase of the refresh: when a marker stops being watched says nothing of how long it will take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paddock.statistics.description import censored_quantile
from paddock.tournaments.model import Lap, Tournament

# As Rally has it: no 99th percentile of fewer than a hundred.
FEWEST_FOR_P99 = 100


@dataclass(frozen=True)
class Freshness:
    """Milliseconds from acknowledged to searchable of one contender.

    :param p50, p99: quantiles (Kaplan-Meier); None where laps are too short to tell, p99 where markers are too few.
    :param longest: the longest that any marker was watched: a quantile that laps are too short for is likely to be
        more.
    :param markers: how many were sent; ``found`` of them were seen to become searchable.
    """

    contender: str
    p50: float | None
    p99: float | None
    longest: float
    markers: int
    found: int

    @property
    def enough_for_p99(self) -> bool:
        """Whether there are as many markers as a 99th percentile takes."""
        return self.markers >= FEWEST_FOR_P99


def pooled_freshness(laps: Sequence[Lap], contenders: Sequence[str]) -> tuple[Freshness, ...]:
    """The freshness of each contender from those of its laps that count; contenders without a marker are left out.

    A lap whose probe ended before its load is no part of it: that may have been because refreshes were slow.
    """
    pooled = []
    for contender in contenders:
        seen = [
            lap.markers
            for lap in laps
            if lap.contender == contender
            and not lap.warmup
            and lap.void is None
            and lap.markers is not None
            and lap.markers.problem is None
        ]
        found = [duration for markers in seen for duration in markers.found]
        waiting = [duration for markers in seen for duration in markers.waiting]
        if found or waiting:
            enough = len(found) + len(waiting) >= FEWEST_FOR_P99
            pooled.append(
                Freshness(
                    contender,
                    censored_quantile(found, waiting, 0.5),
                    censored_quantile(found, waiting, 0.99) if enough else None,
                    max(*found, *waiting, 0.0),
                    len(found) + len(waiting),
                    len(found),
                )
            )
    return tuple(pooled)


def freshness_notes(laps: Sequence[Lap], tournament: Tournament) -> Iterator[str]:
    """Why a figure of freshness is missing, a sentence each; none where it was not probed."""
    ended = Counter(
        (lap.contender, lap.markers.problem)
        for lap in laps
        if not lap.warmup and lap.void is None and lap.markers is not None and lap.markers.problem is not None
    )
    for (contender, problem), number in ended.items():
        yield (
            f"The freshness probe ended early in {number} {'lap' if number == 1 else 'laps'} of '{contender}', because "
            f"{problem}: {'it counts' if number == 1 else 'they count'} for speed, but not for freshness."
        )
    pooled = pooled_freshness(laps, [contender.name for contender in tournament.contenders])
    if few := [f"'{one.contender}' ({one.markers})" for one in pooled if not one.enough_for_p99]:
        yield (
            f"There is no 99th percentile of freshness for {', '.join(few)}: it takes {FEWEST_FOR_P99} markers, and "
            f"about two are sent in a second of load."
        )
    if tournament.metric.name == "freshness p99 ms" and not any((lap.freshness or {}).get("p99") for lap in laps):
        yield (
            f"No lap has a figure in {tournament.metric.name}: it takes {FEWEST_FOR_P99} markers in one lap, which is "
            f"about 50 s of load. Make lap_documents larger, or compare freshness p50 ms."
        )
