"""Where a running tournament stands after its latest block, and whether it may end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paddock.statistics.evidence import Decision, standing
from paddock.statistics.signed_rank import hodges_lehmann
from paddock.tournaments.lap_cautions import driver_loads, hides_differences
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import ALPHA, sequential_units


@dataclass(frozen=True)
class Place:
    """One contender against the baseline, so far.

    :param ratio: estimate in the metric of the verdict; None without a pair.
    :param low, high: confidence sequence of the ratio: valid at every look.
    :param decided: whether the evidence suffices, for a difference or for an equivalence that may be told.
    """

    contender: str
    ratio: float | None
    low: float
    high: float
    pairs: int
    decided: bool


def current_standing(laps: Sequence[Lap], tournament: Tournament) -> tuple[Place, ...]:
    """All contenders but the baseline."""
    units, loads = sequential_units(laps, tournament, tournament.metric), driver_loads(laps)
    places = []
    for name, of in units.items():
        values = of.differences
        now = standing(values, len(units), tournament.margin, ALPHA)
        ratio = math.exp(hodges_lehmann(values)) if values else None
        low, high = math.exp(max(now.low, -700)), math.exp(min(now.high, 700))
        hidden = hides_differences(tournament.metric, loads, name, tournament.baseline)
        decided = now.decision is Decision.DIFFERENT or (now.decision is Decision.EQUIVALENT and not hidden)
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
