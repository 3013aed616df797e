"""The e-process and its confidence sequence; their error rates are in test_calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.evidence import confidence_sequence, fewest_pairs, log_evidence

logs = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=60)


def test_evidence_is_the_mixture_integral():
    """The closed formula equals the mean over x ~ normal(0, 4) and x ~ normal(0, 400) of exp(x S - x^2 V / 2)."""
    sample = np.array([0.3, 0.1, -0.05, 0.25, 0.2])
    total, squares = sample.sum(), (sample**2).sum()
    integrals = [
        scipy.integrate.quad(
            lambda x, scale=scale: math.exp(x * total - x * x * squares / 2) * scipy.stats.norm.pdf(x, scale=scale),
            -60,
            60,
        )[0]
        for scale in (2, 20)
    ]
    assert log_evidence(sample)[-1] == pytest.approx(math.log(sum(integrals) / 2), abs=1e-6)


def test_quiet_figures_are_decided_in_few_blocks():
    """One per cent with hardly any noise, as sizes have it, needs a score of blocks; 5 % in large noise needs more."""
    chance = np.random.default_rng(4)
    quiet = chance.normal(0.01, 0.003, 40)
    assert int(np.argmax(log_evidence(quiet) >= math.log(20))) < 30
    assert log_evidence(chance.normal(0.05, 0.1, 15)).max() < math.log(20)


@given(logs)
def test_fair_signs_never_gain_on_average(sizes):
    """Given past and size, the mean of E over both signs of the next block is at most E: a supermartingale."""
    *past, latest = sizes
    before = math.exp(log_evidence(past)[-1]) if past else 1.0
    after = [math.exp(log_evidence([*past, sign * latest])[-1]) for sign in (1, -1)]
    assert sum(after) / 2 <= before * (1 + 1e-9)


@given(logs)
def test_exchanging_contender_and_baseline_changes_signs_only(sample):
    """E is the same, the confidence sequence is mirrored."""
    mirrored = [-d for d in sample]
    assert log_evidence(mirrored) == pytest.approx(log_evidence(sample))
    low, high = confidence_sequence(sample)
    assert confidence_sequence(mirrored) == (pytest.approx(-high), pytest.approx(-low))


@given(logs, st.floats(-3, 3))
def test_confidence_sequence_inverts_the_evidence(sample, centre):
    """A centre is inside exactly if the evidence against it is below 20, wherever the interval is finite."""
    low, high = confidence_sequence(sample)
    if math.isfinite(low) and min(abs(centre - low), abs(centre - high)) > 1e-6:
        evidence = log_evidence([d - centre for d in sample])[-1]
        assert (low < centre < high) == (evidence < math.log(20))


@given(logs)
def test_an_infinite_sequence_could_not_have_been_finite(sample):
    """Where no interval is given, some far centre, within ratios of a thousand, is not rejected."""
    low, high = confidence_sequence(sample)
    if math.isinf(low):
        far = math.log(1000) + abs(np.mean(sample))
        assert high == math.inf
        assert log_evidence([d - np.mean(sample) - far for d in sample])[-1] < math.log(20) + 1e-6
    else:
        assert low < np.mean(sample) < high


def test_long_series_have_narrow_sequences():
    """400 blocks of noise 0.1 around 0.2: finite, narrow, and holding the truth."""
    low, high = confidence_sequence(np.random.default_rng(3).normal(0.2, 0.1, 400))
    assert 0.15 < low < 0.2 < high < 0.25


def test_constant_differences():
    """Blocks that all say the same are no division by zero."""
    low, high = confidence_sequence([0.1] * 40)
    assert low < 0.1 < high


@pytest.mark.parametrize("rivals", [1, 2, 4])
def test_so_few_pairs_are_never_enough(rivals: int) -> None:
    """However large a difference, and however alike in all blocks: one pair fewer does not suffice."""
    alpha = 0.05 / rivals
    fewest = fewest_pairs(alpha)

    def enough(pairs: int) -> bool:
        sizes = np.geomspace(1e-4, 6, 400)
        return any(log_evidence([size] * pairs)[-1] >= math.log(1 / alpha) for size in sizes)

    assert not enough(fewest - 1)
    assert enough(fewest)
