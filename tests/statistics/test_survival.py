"""Quantiles of durations of which some did not end while they were watched."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.description import censored_quantile

durations = st.lists(st.floats(0.001, 1000), min_size=1, max_size=40)


def test_those_still_running_count() -> None:
    """One of four ends after 1 and one after 2, two run on: half end within 2, nobody knows more."""
    assert censored_quantile([1, 2], [3, 3], 0.25) == 1
    assert censored_quantile([1, 2], [3, 3], 0.5) == 2
    assert censored_quantile([1, 2], [3, 3], 0.75) is None


def test_nothing_seen_to_end_tells_nothing() -> None:
    """No duration, or only unended ones: no quantile, rather than one that is too short."""
    assert censored_quantile([], [], 0.5) is None
    assert censored_quantile([], [1.4, 1.4], 0.5) is None


def test_kaplan_and_meier() -> None:
    """An example by hand: at 2 one of 4 ends, at 5 one of 2 that are left: 3/4 x 1/2 run on."""
    assert censored_quantile([2, 5], [3, 6], 0.62) == 5
    assert censored_quantile([2, 5], [3, 6], 0.63) is None


@given(durations, st.floats(0.01, 1))
def test_without_unended_ones_it_is_the_ordinary_quantile(ended: list[float], share: float) -> None:
    """All were seen to end: the smallest one within which that share of them lies."""
    rank = max(1, math.ceil(share * len(ended) - 1e-6))
    assert censored_quantile(ended, [], share) == pytest.approx(sorted(ended)[rank - 1])


@given(durations, durations, st.floats(0.01, 1))
def test_unended_ones_never_shorten(ended: list[float], unended: list[float], share: float) -> None:
    """Taking the unended as ended can only give a shorter quantile."""
    naive = censored_quantile([*ended, *unended], [], share)
    careful = censored_quantile(ended, unended, share)
    assert naive is not None
    assert careful is None or careful >= naive - 1e-9
