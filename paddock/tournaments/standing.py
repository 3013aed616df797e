"""Where a running tournament stands after its latest block, and whether it may end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paddock.statistics.evidence import Decision, standing
from paddock.statistics.signed_rank import hodges_lehmann
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import ALPHA, sequential_differences


@dataclass(frozen=True)
class Place:
    """One contender against the baseline, so far.

    :param ratio: estimate in the metric of the verdict; None without a pair.
    :param low, high: confidence sequence of the ratio: valid at every look.
    :param decided: whether the evidence suffices, for a difference or for equivalence, and there is an interval.
    """

    contender: str
    ratio: float | None
    low: float
    high: float
    pairs: int
    decided: bool


def current_standing(laps: Sequence[Lap], tournament: Tournament) -> tuple[Place, ...]:
    """All contenders but the baseline."""
    differences = sequential_differences(laps, tournament, tournament.metric)
    places = []
    for name, values in differences.items():
        now = standing(values, len(differences), tournament.margin, ALPHA)
        ratio = math.exp(hodges_lehmann(values)) if values else None
        low, high = math.exp(max(now.low, -700)), math.exp(min(now.high, 700))
        # Strong evidence comes some blocks before the first interval; a verdict without one would help nobody.
        decided = now.decision is not Decision.GO_ON and math.isfinite(now.high)
        places.append(Place(name, ratio, low, high, len(values), decided))
    return tuple(places)


def is_decided(places: Sequence[Place], tournament: Tournament) -> bool:
    """Whether nothing is left to find out: a tournament that may stop early does so now."""
    return tournament.stop_early and bool(places) and all(place.decided for place in places)


def standing_text(places: Sequence[Place], most: int = 4) -> str:
    """One line for a person: the contenders farthest from the baseline."""
    known = sorted(
        (place for place in places if place.ratio is not None), key=lambda place: -abs(math.log(place.ratio or 1.0))
    )
    shown = [
        f"{place.contender} {100 * ((place.ratio or 1.0) - 1):+.1f} %{'' if place.decided else ' (undecided)'}"
        for place in known[:most]
    ]
    more = len(known) - most
    return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])]) or "no pair of laps yet"
