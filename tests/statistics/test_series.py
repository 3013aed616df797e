"""Figures without a baseline: those far outside, durations, MSER on blocks, the steady state of bulks."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.series import (
    Steadiness,
    censored_quantile,
    far_above,
    front_cut,
    halves_p_value,
    mser,
)
from paddock.statistics.series import steady_state as judge_times


@given(st.lists(st.floats(0, 1), max_size=40), st.floats(0.01, 0.5))
def test_far_above_is_above_both_limits(figures, least):
    """Nothing within the least distance of the median is named, nor within five robust standard deviations."""
    found = far_above(figures, least)
    median = np.median(figures) if figures else 0.0
    sd = scipy.stats.median_abs_deviation(figures, scale="normal") if figures else 0.0
    for position, figure in enumerate(figures):
        distance = figure - median
        # 1.4826 is rounded.
        if abs(distance - max(5 * sd, least)) > 1e-4:
            assert (position in found) == bool(distance > max(5 * sd, least))


def test_a_few_far_ones_do_not_hide_each_other():
    """Median and median absolute deviation hardly move with them; mean and standard deviation would."""
    quiet = [0.01, 0.02, 0.01, 0.03, 0.02, 0.02, 0.01, 0.02]
    assert far_above([*quiet, 0.4, 0.5], 0.05) == [8, 9]
    assert far_above(quiet, 0.05) == []
    assert far_above([0.0] * 9 + [0.04], 0.05) == []
    assert far_above([], 0.05) == []


def test_chance_seldom_names_a_figure():
    """Of 20 normal figures, in 2,000 draws, none is far above in at least 99 % of them."""
    generator = np.random.default_rng(5)
    named = sum(bool(far_above(list(generator.normal(size=20)), 0.0)) for _ in range(2_000))
    assert named < 20


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


def steady_state(throughput):
    """Judge bulks by their docs/s."""
    return judge_times(1 / np.asarray(throughput))


def correlated(generator, n, correlation=0.0, sd=0.2):
    """Noise in which each value resembles the one before (first-order autoregression), with unit mean."""
    shocks = generator.normal(0, sd * np.sqrt(1 - correlation**2), n)
    values = np.empty(n)
    values[0] = generator.normal(0, sd)
    for i in range(1, n):
        values[i] = correlation * values[i - 1] + shocks[i]
    return 20_000 * (1 + values)


def test_a_warm_up_of_bulks_is_cut():
    """A warm-up of a factor of seven is cut, and the rest is steady."""
    n = 1000
    factor = 1 - 6 / 7 * np.exp(-np.arange(n) / 30)
    state = steady_state(correlated(np.random.default_rng(1), n, sd=0.05) * factor)
    assert state.steadiness is Steadiness.STEADY
    assert 60 <= state.cut <= 250
    assert state.cut % 5 == 0
    assert abs(state.change) < 0.03


def test_a_trend_is_no_steady_state():
    """Throughput that sinks by 30 % has no steady state; under much noise that cannot be told, but it is not steady."""
    trend = np.linspace(1, 0.7, 800)
    clear = steady_state(correlated(np.random.default_rng(2), 800, sd=0.05) * trend)
    noisy = steady_state(correlated(np.random.default_rng(2), 800, sd=0.2) * trend)
    assert clear.steadiness is Steadiness.NOT_STEADY
    assert noisy.steadiness is Steadiness.UNDECIDED
    assert noisy.change == pytest.approx(-0.17, abs=0.05)


def test_a_step_in_the_last_quarter_is_no_steady_state():
    """Throughput that falls to half near the end: the cut exceeds half, and this is the reason given."""
    step = np.where(np.arange(800) < 600, 1.0, 0.5)
    state = steady_state(correlated(np.random.default_rng(3), 800, sd=0.05) * step)
    assert state.steadiness is Steadiness.NOT_STEADY
    assert state.cut > 400
    assert state.change is None


def test_halves_that_differ_are_told():
    """A slow loss of 8 % under noise is nothing to cut, but the test of the halves finds it and tells its size."""
    trend = np.linspace(1, 0.92, 4000)
    state = steady_state(correlated(np.random.default_rng(5), 4000, sd=0.1) * trend)
    assert state.steadiness is Steadiness.NOT_STEADY
    assert state.change == pytest.approx(-0.04, abs=0.01)


def test_few_bulks_cannot_tell():
    """Fewer than 400 bulks: no claim."""
    state = steady_state([20_000.0] * 399)
    assert state.steadiness is Steadiness.TOO_SHORT
    assert steady_state([20_000.0] * 400).steadiness is not Steadiness.TOO_SHORT


def test_constant_throughput_is_steady():
    """A series without any noise is steady; nothing is divided by zero."""
    state = steady_state([20_000.0] * 400)
    assert (state.steadiness, state.cut, state.change) == (Steadiness.STEADY, 0, 0)


def test_answers_at_the_same_moment_do_no_harm():
    """Eight clients answered in bursts: seven bulks took no time of their own, and the pace is steady all the same."""
    burst = np.tile([0.008] + [0.0] * 7, 100)
    assert judge_times(burst * np.random.default_rng(6).normal(1, 0.1, 800)).steadiness is Steadiness.STEADY


def test_the_unit_does_not_matter():
    """The same series in another unit has the same answer."""
    series = correlated(np.random.default_rng(4), 600)
    one, other = steady_state(series), steady_state(series * 1000)
    assert (one.steadiness, one.cut, one.change) == (other.steadiness, other.cut, pytest.approx(other.change))


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.9])
def test_false_alarms_are_rare(correlation):
    """The test of the halves alone is wrong at p < .01 in 2 % at most, on bulks that resemble their neighbours, too."""
    generator = np.random.default_rng(20260301)
    runs = 1500
    series = [correlated(generator, 600, correlation) for _ in range(runs)]
    wrong = np.mean([halves_p_value(values[:300], values[300:]) < 0.01 for values in series])
    assert wrong <= 0.02, f"correlation {correlation}: halves differ in {wrong:.2%}"


def test_steps_are_found():
    """A lasting step of 8 % in the middle is reported in most cases."""
    generator = np.random.default_rng(20260302)
    step = np.where(np.arange(600) < 300, 1.0, 0.92)
    states = [steady_state(correlated(generator, 600, 0.3, 0.1) * step).steadiness for _ in range(300)]
    found = states.count(Steadiness.NOT_STEADY) / len(states)
    assert found >= 0.8, f"a step of 8 % is found in {found:.1%}"
