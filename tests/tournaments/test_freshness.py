"""How long documents took to become searchable, over all laps of a contender."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

import pytest

from paddock.tournaments.model import Lap, Markers
from paddock.tournaments.pairing import pooled_freshness
from paddock.tournaments.schedule import make_schedule
from tests.tournaments.test_schedule import a_tournament


def a_lap(contender: str, markers: Markers | None, void: str | None = None, warmup: bool = False) -> Lap:
    """A lap with these markers."""
    return Lap(1, 1, 1, contender, warmup, 1000, 1000, 2.0, 0.0, void=void, markers=markers)


def test_laps_are_pooled() -> None:
    """Markers of all laps that count make one quantile; those of the warm-up and of void laps do not count."""
    laps = [
        a_lap("1s", Markers((100.0, 200.0), (50.0,))),
        a_lap("1s", Markers((300.0, 900.0), ())),
        a_lap("1s", Markers((1.0, 1.0, 1.0), ()), warmup=True),
        a_lap("1s", Markers((1.0, 1.0, 1.0), ()), void="errors"),
    ]
    (fresh,) = pooled_freshness(laps, ["1s", "30s"])
    assert (fresh.contender, fresh.markers, fresh.found) == ("1s", 5, 4)
    assert (fresh.p50, fresh.p99, fresh.longest) == (200.0, None, 900.0)


@pytest.mark.parametrize(("markers", "p99"), [(99, None), (100, 98.0)])
def test_a_99th_percentile_needs_a_hundred_markers(markers: int, p99: float | None) -> None:
    """Those of all laps together; of fewer the largest would be called so."""
    laps = [a_lap("1s", Markers((float(number),), ())) for number in range(markers)]
    (fresh,) = pooled_freshness(laps, ["1s"])
    assert (fresh.p99, fresh.enough_for("p99")) == (p99, p99 is not None)


def test_a_probe_that_ended_early_tells_nothing() -> None:
    """A node that is too busy for markers is slow to refresh as well: half of what it showed would be flattering."""
    laps = [a_lap("1s", Markers((100.0,), ())), a_lap("1s", Markers((1.0, 1.0, 1.0), (), "too busy"))]
    (fresh,) = pooled_freshness(laps, ["1s"])
    assert (fresh.p50, fresh.markers) == (100.0, 1)


def test_laps_that_are_too_short_tell_a_bound() -> None:
    """Nothing found within the laps: no quantile, and how long was watched."""
    (fresh,) = pooled_freshness([a_lap("30s", Markers((), (1200.0, 700.0)))], ["30s"])
    assert (fresh.p50, fresh.p99, fresh.longest, fresh.found) == (None, None, 1200.0, 0)


def test_without_a_probe_there_is_nothing() -> None:
    """Laps without markers give no freshness at all."""
    assert pooled_freshness([a_lap("1s", None)], ["1s"]) == ()


def p50_of(seconds: float, interval: float, phases: Sequence[float], chance: random.Random) -> float:
    """What is told of laps whose loads begin at these phases: index and load are up to 200 ms apart without a wait."""
    laps = []
    for phase in phases:
        age = phase * interval + chance.uniform(0, 0.2)
        found, waiting, sent = [], [], 0.0
        while sent < seconds:
            noticed = -(age + sent) % interval + chance.uniform(0, 0.05)
            (found if sent + noticed <= seconds else waiting).append(1000 * min(noticed, seconds - sent))
            sent += chance.uniform(0.25, 0.75)
        laps.append(a_lap("any", Markers(tuple(found), tuple(waiting))))
    (fresh,) = pooled_freshness(laps, ["any"])
    assert fresh.p50 is not None
    return fresh.p50


@pytest.mark.parametrize(("seconds", "interval", "at_once"), [(9.9, 5, 3270), (1.9, 1, 730), (55, 30, 20_760)])
def test_the_phases_of_a_tournament_make_its_freshness_true(seconds: float, interval: float, at_once: float) -> None:
    """Eight starts of five blocks, ten times over: half an interval and half a look; at a fixed phase far from it."""
    chance = random.Random(8)
    tournament = a_tournament(2, blocks=5, starts=8, freshness=True)
    drawn = [[phase for start in make_schedule(tournament, seed) for phase in start.phases] for seed in range(10)]
    biased = statistics.fmean(p50_of(seconds, interval, [0.0] * 40, chance) for _ in drawn)
    told = statistics.fmean(p50_of(seconds, interval, phases, chance) for phases in drawn)
    assert biased == pytest.approx(at_once, rel=0.04)
    assert told == pytest.approx(500 * interval + 25, rel=0.03)
