"""MSER on blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.warm_up import front_cut, mser


def squared_error(series, cut):
    """The squared standard error of what the cut leaves, by definition."""
    return np.var(series[cut:]) / (len(series) - cut)


@given(st.lists(st.integers(-1000, 1000), min_size=4, max_size=40), st.integers(0, 30))
def test_mser_minimises_the_squared_standard_error(series, most):
    """The cut has the smallest error of all that are allowed, by the definition worked out one by one."""
    cut = mser([float(x) for x in series], most)
    allowed = min(most, len(series) - 2)
    assert 0 <= cut <= allowed
    best = min(squared_error(series, d) for d in range(allowed + 1))
    assert squared_error(series, cut) == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_a_warm_up_is_cut():
    """Five slow blocks before steady ones are cut, and no more."""
    steady = np.random.default_rng(1).normal(0, 0.02, 25)
    assert mser(np.concatenate([[-2.0, -1.5, -1.0, -0.6, -0.3], steady]), 15) == 5


@pytest.mark.parametrize("series", [[], [1.0], [1.0, 5.0], [3.0] * 20, [0.1] * 7])
def test_nothing_to_cut(series):
    """Too short or constant series are left whole."""
    assert mser(series, 10) == 0


def test_front_cut_is_for_all_contenders_together():
    """The cut is found on the block means and says how many blocks, not which laps."""
    warm = [0.2, 0.4, 0.7] + [1.0 + i % 3 / 100 for i in range(17)]
    cut = front_cut({"a": [100 * w for w in warm], "b": [120 * w for w in warm]})
    assert (cut.blocks, cut.at_limit) == (3, False)


@given(st.lists(st.tuples(st.floats(1, 10), st.floats(1, 10), st.booleans()), max_size=30))
def test_labels_do_not_matter(rows):
    """Exchanging the labels within any blocks leaves the cut: what keeps the test after it exact."""
    plain = front_cut({"a": [a for a, _, _ in rows], "b": [b for _, b, _ in rows]})
    swapped = front_cut({"a": [b if s else a for a, b, s in rows], "b": [a if s else b for a, b, s in rows]})
    assert plain == swapped


@given(st.lists(st.none() | st.floats(1, 10), max_size=40), st.integers(0, 20))
def test_enough_is_kept(laps, keep):
    """At least ``keep`` valid blocks and half of them are left, void laps or not."""
    valid = sum(lap is not None for lap in laps)
    left = sum(lap is not None for lap in laps[front_cut({"a": laps}, keep).blocks :])
    assert left >= min(valid, keep)
    assert 2 * left >= valid


def test_the_limit_is_told():
    """A series that rises to its end is cut at the limit, and this is said."""
    cut = front_cut({"a": [1.2**i for i in range(30)]})
    assert (cut.blocks, cut.at_limit) == (15, True)


def test_void_blocks_at_the_front_are_counted():
    """The cut counts blocks, the void ones in front of the steady ones included."""
    laps = [None, 1.0, 2.0, *[10.0 + i % 3 / 10 for i in range(17)]]
    assert front_cut({"a": laps}).blocks == 3


def test_blocks_must_match():
    """Contenders with different numbers of blocks are refused."""
    with pytest.raises(ValueError, match="different numbers of blocks"):
        front_cut({"a": [1.0], "b": [1.0, 2.0]})
    assert front_cut({}).blocks == 0


def test_steady_blocks_are_left_alone():
    """Of 20 blocks without warm-up hardly any are cut; of a tail of a warm-up nearly always some."""
    generator = np.random.default_rng(20260401)
    noise = generator.normal(0, 0.1, (1000, 20))
    warm_up = -1.5 * np.exp(-np.arange(20) / 1.5)
    steady = np.mean([front_cut({"a": np.exp(row).tolist()}).blocks for row in noise])
    warming = np.mean([front_cut({"a": np.exp(row).tolist()}).blocks >= 2 for row in noise + warm_up])
    assert steady <= 0.8, f"{steady:.2f} of 20 steady blocks are cut"
    assert warming >= 0.95, f"the tail of a warm-up is cut in {warming:.1%} only"
