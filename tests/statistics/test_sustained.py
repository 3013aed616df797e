"""Onset and trend of long series: what has none is told none, as often as it says; what has one is found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paddock.statistics.sustained import LongRun, long_run
from tests.statistics.simulator import most_errors

Floats = NDArray[np.float64]


@pytest.fixture(params=[150, pytest.param(600, marks=pytest.mark.long)], ids=["short", "long"])
def number(request: pytest.FixtureRequest) -> int:
    """How many series are judged."""
    return int(request.param)


@dataclass(frozen=True)
class Load:
    """The seconds of a load with what a node does to them.

    :param likeness: correlation of neighbouring seconds' own noise, of which ``noise`` is the standard deviation.
    :param tails: degrees of freedom of its steps, Student's; None for normal ones.
    :param dips: seconds from one dip to the next, on average (merges); 0 for none. Each takes ``depth`` of the rate
        away for 3 to 15 s.
    :param periodic: seconds from one short dip to the next, always the same (refreshes); 0 for none.
    """

    likeness: float = 0.5
    noise: float = 0.08
    tails: float | None = None
    dips: float = 0.0
    depth: float = 0.4
    periodic: int = 0

    def rates(self, generator: np.random.Generator, seconds: int, wilder: Floats | float = 1.0) -> Floats:
        """One series; ``wilder`` multiplies what every second differs by."""
        if self.tails is None:
            steps = generator.standard_normal(seconds)
        else:
            steps = generator.standard_t(self.tails, seconds) / math.sqrt(self.tails / (self.tails - 2))
        noise = np.empty(seconds)
        noise[0] = steps[0]
        for at in range(1, seconds):
            noise[at] = self.likeness * noise[at - 1] + math.sqrt(1 - self.likeness**2) * steps[at]
        noise *= self.noise
        if self.dips:
            for begin in np.flatnonzero(generator.random(seconds) < 1 / self.dips):
                noise[begin : begin + generator.integers(3, 16)] -= self.depth
        if self.periodic:
            noise[generator.integers(0, self.periodic) :: self.periodic] -= self.depth
        return np.maximum(50_000 * np.exp(noise * wilder), 0.0)


LOADS = {
    "independent": Load(likeness=0.0),
    "alike": Load(likeness=0.8),
    "very alike": Load(likeness=0.95),
    "heavy tails": Load(likeness=0.5, tails=3.0),
    "merges": Load(likeness=0.5, noise=0.05, dips=45.0),
    "rare merges": Load(likeness=0.5, noise=0.05, dips=120.0),
    "refreshes": Load(likeness=0.3, noise=0.05, periodic=30),
}


def runs(
    number: int, load: Load, seconds: int, seed: int, wilder: Floats | float = 1.0, trend: Floats | float = 1.0
) -> list[LongRun]:
    """What is said of many series of that load."""
    generator = np.random.default_rng(seed)
    found = [long_run(list(load.rates(generator, seconds, wilder) * trend)) for _ in range(number)]
    assert all(one is not None for one in found)
    return [one for one in found if one is not None]


@pytest.mark.parametrize("name", LOADS)
@pytest.mark.parametrize("seconds", [240, 600, 1800])
def test_false_onsets_and_false_trends(name: str, seconds: int, number: int) -> None:
    """A load that is the same from its first second to its last has an onset, or a trend, in 5 % of races at most."""
    found = runs(number, LOADS[name], seconds, seed=seconds)
    onsets = sum(one.onset is not None for one in found)
    trends = sum(one.trend is not None and one.trend.seen for one in found)
    assert onsets <= most_errors(number, 0.05), f"onsets: {onsets / number:.3f}"
    assert trends <= most_errors(number, 0.05), f"trends: {trends / number:.3f}"


@pytest.mark.parametrize("name", ["independent", "alike", "heavy tails"])
def test_a_true_onset_is_found_and_its_interval_holds_it(name: str, number: int) -> None:
    """Three times the fluctuation from second 1,000 of 1,800 on: found in nine of ten, inside 95 % of intervals."""
    wilder = np.where(np.arange(1800) < 1000, 1.0, 3.0)
    found = runs(number, LOADS[name], 1800, 7, wilder)
    onsets = [one.onset for one in found if one.onset is not None]
    assert len(onsets) >= 0.9 * number
    missed = sum(not one.earliest <= 1000 <= one.latest for one in onsets)
    assert missed <= most_errors(len(onsets), 0.05)
    assert np.median([abs(one.at - 1000) for one in onsets]) <= 2 * 1740 // 60
    assert np.median([one.after / one.before for one in onsets]) == pytest.approx(3, rel=0.35)


@pytest.mark.parametrize("name", ["independent", "alike", "merges"])
def test_a_true_trend_is_no_onset_and_its_interval_holds_it(name: str, number: int) -> None:
    """A rate that falls by a quarter fluctuates no more than before; 95 % of intervals hold what it falls by."""
    falling = np.exp(math.log(0.75) * np.arange(1800) / 1740)
    found = runs(number, LOADS[name], 1800, 11, trend=falling)
    assert sum(one.onset is not None for one in found) <= most_errors(number, 0.05)
    trends = [one.trend for one in found if one.trend is not None and one.onset is None]
    missed = sum(not one.low <= -0.25 <= one.high for one in trends)
    assert missed <= most_errors(len(trends), 0.05)
    assert sum(one.seen and one.change < 0 for one in trends) >= 0.9 * len(trends)


def test_a_cold_beginning_is_no_onset_and_no_trend(number: int) -> None:
    """A JVM that warms up within the first seconds is left out."""
    load, generator = LOADS["alike"], np.random.default_rng(5)
    cold = 1 - 6 / 7 * np.exp(-np.arange(900) / 10)
    found = [long_run(list(load.rates(generator, 900) * cold)) for _ in range(number)]
    assert sum(one is not None and one.onset is not None for one in found) <= most_errors(number, 0.05)
    trends = sum(one is not None and one.trend is not None and one.trend.seen for one in found)
    assert trends <= most_errors(number, 0.05)


@given(
    st.lists(st.floats(0, 1e6), max_size=400),
    st.floats(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_whatever_the_rates_are(rates: list[float], warm_up: float) -> None:
    """No figure is out of its range, and no stretch out of the series; too short, or at rest, there is none."""
    found = long_run(rates, warm_up)
    if found is None:
        return
    assert warm_up <= found.begin < found.end == len(rates)
    assert found.p_value is None or 0 <= found.p_value <= 1
    if found.onset:
        times = (found.begin, found.onset.earliest, found.onset.at, found.onset.latest, found.end)
        assert all(before <= after for before, after in pairwise(times))
        assert found.onset.after > found.onset.before
    if found.trend:
        assert -1 <= found.trend.low <= found.trend.change <= found.trend.high
        assert (found.trend.begin, found.trend.end) == (found.onset.at if found.onset else found.begin, found.end)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1000))
@settings(max_examples=15, deadline=None)
def test_the_unit_does_not_matter(seed: int, scale: float) -> None:
    """Rates that are so many times as large have the same onset and the same trend."""
    rates = LOADS["merges"].rates(np.random.default_rng(seed), 400, np.where(np.arange(400) < 200, 1.0, 2.5))
    one, other = long_run(list(rates)), long_run(list(rates * scale))
    assert one is not None
    assert other is not None
    assert (one.onset and one.onset.at) == (other.onset and other.onset.at)
    # A late onset leaves too little for a trend: in every unit.
    assert (one.trend is None) == (other.trend is None)
    if one.trend and other.trend:
        assert other.trend.change == pytest.approx(one.trend.change, abs=1e-9)
    assert other.rate == pytest.approx(one.rate * scale)


def test_a_constant_rate_has_neither() -> None:
    """Where every second is the same there is nothing to find, and nothing is divided by nothing."""
    found = long_run([1000.0] * 600)
    assert found is not None
    assert found.onset is None
    assert found.fluctuation == 0
    assert found.trend is not None
    assert not found.trend.seen
    assert found.trend.change == pytest.approx(0, abs=1e-9)


def test_too_short_or_at_rest() -> None:
    """Two minutes without the warm-up are the least; a load that stood still for long is no such load."""
    assert long_run([1.0] * 130) is None
    assert long_run([1.0] * 140) is not None
    assert long_run([5.0] * 200 + [0.0] * 200) is None
    assert long_run([]) is None
