"""Pairs of laps, the start as the unit, and what a claim is about."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.signed_rank import signed_rank
from paddock.statistics.starts import Scope, Spread, index_level, node_level, pair, spread, start_value

rate = st.floats(1, 1e6)
blocks = st.lists(st.tuples(st.none() | rate, st.none() | rate), max_size=30)


def split(rows):
    """Contenders' and baselines' laps."""
    return [row[0] for row in rows], [row[1] for row in rows]


@given(blocks)
def test_void_laps_drop_their_pair_only(rows):
    """Every block in which both laps are valid is kept, in its order, and the others are dropped."""
    kept = [row for row in rows if None not in row]
    assert pair(*split(rows)) == tuple(math.log(ours) - math.log(theirs) for ours, theirs in kept)


@given(blocks)
def test_exchanging_contender_and_baseline_negates(rows):
    """The log ratio of B to A is exactly minus that of A to B."""
    contender, baseline = split(rows)
    assert pair(baseline, contender) == tuple(-d for d in pair(contender, baseline))


@given(st.lists(st.tuples(rate, rate), min_size=6, max_size=30), st.floats(0.01, 100))
def test_the_unit_does_not_matter(rows, factor):
    """Figures in another unit (all multiplied) have the same estimate and interval."""
    contender, baseline = split(rows)
    one = signed_rank(pair(contender, baseline))
    other = signed_rank(pair([factor * c for c in contender], [factor * b for b in baseline]))
    for name in ("estimate", "low", "high"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), abs=1e-9)


@given(st.lists(st.tuples(rate, rate, st.floats(0.01, 100)), min_size=6, max_size=30))
def test_what_a_block_has_in_common_does_not_matter(rows):
    """A disturbance that slows both laps of a block by one factor changes nothing."""
    one = pair([c for c, _, _ in rows], [b for _, b, _ in rows])
    other = pair([c * f for c, _, f in rows], [b * f for _, b, f in rows])
    assert other == pytest.approx(one, abs=1e-9)


def test_a_pair():
    """20,000 to 10,000 docs/s is ln 2."""
    assert pair([20_000.0], [10_000.0]) == (pytest.approx(math.log(2)),)


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_impossible_figures_are_refused(figure):
    """A lap without a positive, finite figure must be void, not averaged."""
    with pytest.raises(ValueError, match="make it void"):
        pair([figure], [1.0])


def test_blocks_must_match():
    """Different numbers of blocks are an error, not a silent cut."""
    with pytest.raises(ValueError, match="2 blocks and the baseline 1"):
        pair([1.0, 2.0], [1.0])


def start(contender=(2.0, 2.0), baseline=(1.0, 1.0)):
    """One start with the laps of both contenders."""
    return {"contender": list(contender), "baseline": list(baseline)}


def test_start_value_is_robust():
    """A start's figure is the Hodges-Lehmann estimate of its logs: neither a stalled lap nor a void one moves it."""
    assert start_value([100.0, 100.0, 100.0, 100.0, None, 10.0]) == pytest.approx(100.0)
    assert start_value([1.0, 4.0]) == pytest.approx(2.0)
    assert start_value([None, None]) is None


def test_node_level_has_one_difference_per_start_block():
    """Twelve laps in each of six starts are six differences, not seventy-two."""
    units = node_level([start([2.0] * 12, [1.0] * 12)] * 6, "contender", "baseline")
    assert units.differences == pytest.approx([math.log(2)] * 6)
    assert (units.unit, units.scope, units.caveat) == ("start", Scope.CONFIGURATION, None)


def test_node_level_with_few_starts_says_so():
    """With fewer than five starts the claim is about the JVMs that ran."""
    units = node_level([start()] * 4, "contender", "baseline")
    assert units.scope is Scope.THESE_JVMS
    assert "Only 4 starts" in units.caveat


def test_node_level_drops_void_starts():
    """A start without a valid lap, or that is missing, drops its start-block and is counted."""
    units = node_level([start(), start(contender=[None]), {"baseline": [1.0]}], "contender", "baseline")
    assert units.differences == pytest.approx([math.log(2)])
    assert units.caveat.startswith("Only 1 start of each")


def test_index_level_of_one_start_is_for_this_jvm():
    """Blocks of one start are the units, and the claim is about this JVM."""
    units = index_level([start([2.0, None, 4.0], [1.0, 1.0, 1.0])], "contender", "baseline")
    assert units.differences == pytest.approx([math.log(2), math.log(4)])
    assert (units.unit, units.scope) == ("block", Scope.THIS_JVM)
    assert "One start" in units.caveat


@pytest.mark.parametrize("starts", [2, 5])
def test_index_level_of_some_starts_pools_blocks(starts):
    """Where the starts cannot decide by themselves, all blocks are pooled and the caveat says what is missing."""
    units = index_level([start()] * starts, "contender", "baseline")
    assert (units.unit, units.scope, len(units.differences)) == ("block", Scope.THESE_JVMS, 2 * starts)
    assert "needs 6 starts" in units.caveat


def test_index_level_of_enough_starts_is_for_the_configuration():
    """Six starts are six units; for four contenders eight are needed."""
    six = index_level([start([2.0, 8.0], [1.0, 1.0])] * 6, "contender", "baseline")
    assert six.differences == pytest.approx([math.log(4)] * 6)
    assert (six.unit, six.scope, six.caveat) == ("start", Scope.CONFIGURATION, None)
    assert index_level([start()] * 6, "contender", "baseline", alpha=0.0125).unit == "block"
    assert index_level([start()] * 8, "contender", "baseline", alpha=0.0125).unit == "start"


def test_index_level_without_a_valid_block():
    """Only void laps: no differences."""
    units = index_level([start([None, None])], "contender", "baseline")
    assert (units.differences, units.scope) == ((), Scope.THIS_JVM)


def test_starts_as_units_are_right_where_pooled_laps_are_wrong():
    """JVMs that differ by 5 %: laps pooled name a winner of identical configurations far too often, starts do not."""
    generator = np.random.default_rng(20260201)
    runs, starts, laps = 3000, 8, 8
    logs = generator.normal(0, 0.05, (runs, starts, 2, 1)) + generator.normal(0, 0.1, (runs, starts, 2, laps))
    rates = np.exp(logs)
    by_start = by_lap = 0
    for run in rates:
        blocks = [{"a": row[0].tolist(), "b": row[1].tolist()} for row in run]
        by_start += signed_rank(node_level(blocks, "b", "a").differences).p <= 0.05
        by_lap += signed_rank(np.log(run[:, 1] / run[:, 0]).ravel()).p <= 0.05
    assert by_start / runs <= 0.06, f"the start as the unit: {by_start / runs:.2%} false winners"
    assert by_lap / runs >= 0.15, f"pooled laps: {by_lap / runs:.2%} false winners only; this test sees nothing"


def test_the_components_of_the_variance_are_found():
    """Simulated starts: the medians of both estimates are the standard deviations that made the series."""
    chance = np.random.default_rng(4)
    found = []
    for _ in range(400):
        starts = []
        for own in chance.normal(0.02, 0.06, 8):
            logs = own + chance.normal(0, 0.1, 6)
            starts.append({"a": [float(one) for one in np.exp(logs)], "b": [1.0] * 6})
        found.append(spread(starts, "a", "b"))
    assert np.median([one.block for one in found]) == pytest.approx(0.1, rel=0.05)
    assert np.median([one.start for one in found]) == pytest.approx(0.06, rel=0.15)


def test_what_cannot_vary_has_no_spread():
    """One block in each start tells nothing, one start nothing of starts; alike starts vary by nothing."""
    one, two = {"a": [2.0], "b": [1.0]}, {"a": [2.0, 3.0], "b": [1.0, 1.0]}
    assert spread([one, one], "a", "b") == Spread(None, None)
    assert spread([two], "a", "b") == Spread(pytest.approx(math.log(1.5) / math.sqrt(2)), None)
    assert spread([two, two], "a", "b").start == 0.0
    assert spread([two, {"a": [None, None], "b": [1.0, 1.0]}], "a", "b").start is None


@given(st.lists(st.lists(st.tuples(rate, rate), min_size=2, max_size=5), min_size=2, max_size=5), rate)
def test_spread_is_of_ratios(rows, factor):
    """Other units, and what the two have in common, change nothing of it."""
    starts = [dict(zip(("a", "b"), split(start), strict=True)) for start in rows]
    scaled = [{name: [value * factor for value in values] for name, values in start.items()} for start in starts]
    before, after = spread(starts, "a", "b"), spread(scaled, "a", "b")
    assert after.block == pytest.approx(before.block, abs=1e-6)
    assert after.start == pytest.approx(before.start, abs=1e-4)
