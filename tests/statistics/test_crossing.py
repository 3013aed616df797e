"""Two ways at several sizes: intervals of medians that hold, and from which size on one of them wins."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.crossing import Compared, Crossing, Median, crossing, median_of


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=60))
def test_an_interval_holds_its_median(figures: list[float]) -> None:
    """It is made of figures that were measured, and says with which confidence it holds."""
    found = median_of(figures)
    assert found.low <= found.value <= found.high
    assert {found.low, found.high} <= set(figures)
    assert found.confidence >= 0.95 or len(figures) < 6


@pytest.mark.parametrize("number", [6, 9, 30, 100])
def test_intervals_hold_the_true_median_as_often_as_they_say(number: int) -> None:
    """Of 4,000 skewed samples about as many as the confidence; 0.02 is four standard errors at least."""
    chance = random.Random(number)
    confidence = median_of(range(number)).confidence
    held = 0
    for _ in range(4000):
        found = median_of([chance.expovariate(0.6931471805599453) for _ in range(number)])
        held += found.low <= 1 <= found.high
    assert held / 4000 == pytest.approx(confidence, abs=0.02)


def test_six_and_a_hundred() -> None:
    """The fastest and the slowest of six; of a hundred the 40th and the 61st, as tables of the sign test have it."""
    assert median_of(range(1, 7)) == Median(3.5, 1, 6, 1 - 2 / 64)
    found = median_of(range(1, 101))
    assert (found.low, found.high) == (40, 61)


def at(size: float, first: float, second: float, width: float = 1.1) -> Compared:
    """Two medians, each with an interval of that factor on both sides."""
    one, other = (Median(value, value / width, value * width, 0.97) for value in (first, second))
    return Compared(size, one, other)


@pytest.mark.parametrize(
    ("compared", "found"),
    [
        # A scan that takes 1 ms a document against an index that takes 30 ms whatever there is.
        ([at(10, 30, 10), at(100, 30, 100), at(1000, 30, 1000)], Crossing(10, 100, pytest.approx(30))),
        ([at(10, 30, 10), at(30, 30, 31), at(100, 30, 100)], Crossing(10, 100, pytest.approx(30, rel=0.1))),
        ([at(10, 1, 10), at(100, 1, 100)], Crossing(None, 10, None)),
        ([at(10, 5, 5.2), at(100, 5, 52)], Crossing(None, 100, None)),
        ([at(10, 100, 10), at(100, 100, 50)], Crossing(100, None, None)),
        # Faster once, and not at the next size: it does not win from there on.
        ([at(10, 1, 10), at(100, 1, 0.5), at(1000, 1, 10)], Crossing(100, 1000, pytest.approx(170, rel=0.01))),
        ([at(10, 1, 10), at(100, 9, 10)], Crossing(None, None, None)),
    ],
)
def test_from_which_size_on_it_wins(compared: list[Compared], found: Crossing) -> None:
    """Only what is sure at every larger size counts; the estimate lies where the medians cross."""
    assert crossing(compared) == found


def test_too_few_figures_decide_nothing() -> None:
    """Three of each hold their median with 75 % only, however far apart they are."""
    few = Compared(10, median_of([1, 1.1, 1.2]), median_of([50, 51, 52]))
    assert (few.is_known, few.sign, crossing([few]).high) == (False, 0, None)


@given(st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)), min_size=1, max_size=8), st.floats(1, 2))
def test_a_crossing_lies_between_its_ends(times: list[tuple[float, float]], width: float) -> None:
    """What surely loses is smaller than what surely wins, and the estimate is a size among those measured."""
    compared = [at(10.0**number, *both, width) for number, both in enumerate(times)]
    found = crossing(compared)
    if found.low is not None and found.high is not None:
        assert found.low < found.high
    if found.estimate is not None:
        assert any(one.size <= found.estimate <= other.size for one, other in pairwise(compared))
