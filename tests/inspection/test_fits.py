"""Exponents and quantiles: what was put in comes out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.inspection.measure import quantiles
from paddock.inspection.terms import TermCounter, frequency_slope, heaps_exponent, terms_per_million


@pytest.mark.parametrize("exponent", [0.75, 1.0, 1.25, 1.5])
def test_the_exponent_of_a_zipf_text_is_found(exponent: float) -> None:
    """400,000 words drawn by Zipf's law of a known exponent give that slope within 0.06."""
    ranks = np.arange(1, 5001)
    weights = ranks**-exponent
    words = np.random.default_rng(11).choice(ranks, 400_000, p=weights / weights.sum())
    counter = TermCounter()
    counter.add_words(" ".join(f"word{word}" for word in words).encode())
    slope, fitted = frequency_slope(counter.frequencies())
    assert slope == pytest.approx(-exponent, abs=0.06)
    assert 200 < fitted <= 5000


def test_sampled_terms_have_the_same_slope() -> None:
    """One term in eight, chosen by chance, lies on the same line; the ranks are those of all terms."""
    frequencies = (1e6 / np.arange(1, 20_001)).astype(np.int64)
    some = np.sort(np.random.default_rng(5).choice(frequencies, 2500, replace=False))[::-1]
    slope, fitted = frequency_slope(some, one_in=8)
    assert slope == pytest.approx(-1, abs=0.12)
    assert fitted == 20_000


def test_few_terms_have_no_slope() -> None:
    """29 terms are too few, 30 are not; terms that occur less than five times do not count."""
    assert frequency_slope(np.array([9] * 29 + [4] * 100))[0] is None
    assert frequency_slope(np.array([9] * 30)) == (pytest.approx(0, abs=1e-9), 30)


@pytest.mark.parametrize("exponent", [0.0, 0.3, 0.5, 1.0])
def test_the_exponent_of_a_growth_is_found(exponent: float) -> None:
    """A vocabulary that grows with that power of the documents, from 1,000 documents on."""
    growth = [(10, 5), *((documents, round(1000 * documents**exponent)) for documents in (1000, 10_000, 100_000))]
    assert heaps_exponent(growth) == pytest.approx(exponent, abs=0.001)


def test_too_little_growth_has_no_exponent() -> None:
    """One checkpoint is no line."""
    assert heaps_exponent([(200, 10), (1000, 40)]) is None


def test_terms_per_million_are_measured_or_reckoned_or_unknown() -> None:
    """At a million documents measured; from 10,000 on reckoned from the last tenth; below that unknown."""
    assert terms_per_million([(100_000, 50), (1_000_000, 70), (2_000_000, 80)]) == (70, True)
    # Fast at first, then with the square root: only the end counts.
    assert terms_per_million([(1000, 1), (10_000, 1000), (100_000, 3162)]) == (pytest.approx(10_000, rel=0.01), False)
    assert terms_per_million([(1000, 500), (9999, 900)]) == (None, False)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=300), st.lists(st.integers(0, 100), min_size=1, max_size=9))
def test_quantiles_are_those_of_numpy(lengths: list[int], percents: list[int]) -> None:
    """Counted lengths give the quantiles that NumPy finds in the list itself."""
    expected = np.percentile(lengths, sorted(percents), method="inverted_cdf")
    assert quantiles(Counter(lengths), [percent / 100 for percent in sorted(percents)]) == expected.tolist()
