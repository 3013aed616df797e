"""The steady-state check on bulks."""

from __future__ import annotations

import numpy as np
import pytest

from paddock.statistics.warm_up import Steadiness, halves_p_value
from paddock.statistics.warm_up import steady_state as judge_times


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


def test_a_warm_up_is_cut():
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
    assert "after half" in state.reason


def test_halves_that_differ_are_told():
    """A slow loss of 8 % under noise is nothing to cut, but the test of the halves finds it and tells its size."""
    trend = np.linspace(1, 0.92, 4000)
    state = steady_state(correlated(np.random.default_rng(5), 4000, sd=0.1) * trend)
    assert state.steadiness is Steadiness.NOT_STEADY
    assert state.change == pytest.approx(-0.04, abs=0.01)
    assert state.p < 0.01
    assert "second half differs" in state.reason


def test_few_bulks_cannot_tell():
    """Fewer than 400 bulks: no claim."""
    state = steady_state([20_000.0] * 399)
    assert state.steadiness is Steadiness.TOO_SHORT
    assert "399 bulks" in state.reason


def test_constant_throughput_is_steady():
    """A series without any noise is steady; nothing is divided by zero."""
    state = steady_state([20_000.0] * 400)
    assert (state.steadiness, state.cut, state.change, state.p) == (Steadiness.STEADY, 0, 0, 1)


def test_answers_at_the_same_moment_do_no_harm():
    """Eight clients answered in bursts: seven bulks took no time of their own, and the pace is steady all the same."""
    burst = np.tile([0.008] + [0.0] * 7, 100)
    assert judge_times(burst * np.random.default_rng(6).normal(1, 0.1, 800)).steadiness is Steadiness.STEADY


def test_the_unit_does_not_matter():
    """The same series in another unit has the same answer."""
    series = correlated(np.random.default_rng(4), 600)
    one, other = steady_state(series), steady_state(series * 1000)
    assert (one.cut, one.p) == (other.cut, pytest.approx(other.p))


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
