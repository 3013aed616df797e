"""Pairing laps into log ratios."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.signed_rank import signed_rank
from paddock.statistics.starts import pair

rate = st.floats(1, 1e6)
blocks = st.lists(st.tuples(st.none() | rate, st.none() | rate), max_size=30)


def split(rows):
    """Contenders' and baselines' laps."""
    return [row[0] for row in rows], [row[1] for row in rows]


@given(blocks)
def test_void_laps_drop_their_pair_only(rows):
    """Every block is kept or dropped, and dropped exactly if one lap is void."""
    pairs = pair(*split(rows))
    assert sorted(pairs.kept + pairs.dropped) == list(range(len(rows)))
    assert set(pairs.dropped) == {i for i, row in enumerate(rows) if None in row}
    assert len(pairs.differences) == len(pairs.kept)


@given(blocks)
def test_exchanging_contender_and_baseline_negates(rows):
    """The log ratio of B to A is exactly minus that of A to B."""
    contender, baseline = split(rows)
    assert pair(baseline, contender).differences == tuple(-d for d in pair(contender, baseline).differences)


@given(st.lists(st.tuples(rate, rate), min_size=6, max_size=30), st.floats(0.01, 100))
def test_the_unit_does_not_matter(rows, factor):
    """Figures in another unit (all multiplied) have the same estimate and interval."""
    contender, baseline = split(rows)
    one = signed_rank(pair(contender, baseline).differences)
    other = signed_rank(pair([factor * c for c in contender], [factor * b for b in baseline]).differences)
    for name in ("estimate", "low", "high"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), abs=1e-9)


@given(st.lists(st.tuples(rate, rate, st.floats(0.01, 100)), min_size=6, max_size=30))
def test_what_a_block_has_in_common_does_not_matter(rows):
    """A disturbance that slows both laps of a block by one factor changes nothing."""
    one = pair([c for c, _, _ in rows], [b for _, b, _ in rows]).differences
    other = pair([c * f for c, _, f in rows], [b * f for _, b, f in rows]).differences
    assert other == pytest.approx(one, abs=1e-9)


def test_a_pair():
    """20,000 to 10,000 docs/s is ln 2."""
    assert pair([20_000.0], [10_000.0]).differences == (pytest.approx(math.log(2)),)


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_impossible_figures_are_refused(figure):
    """A lap without a positive, finite figure must be void, not averaged."""
    with pytest.raises(ValueError, match="make it void"):
        pair([figure], [1.0])


def test_blocks_must_match():
    """Different numbers of blocks are an error, not a silent cut."""
    with pytest.raises(ValueError, match="2 blocks and the baseline 1"):
        pair([1.0, 2.0], [1.0])
