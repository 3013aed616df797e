"""Holm's procedure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.signed_rank import holm

p_values = st.lists(st.floats(1e-9, 1), min_size=1, max_size=8)


def test_published_example():
    """Holm's own arithmetic: 0.01, 0.04, 0.03, 0.005 at 5 % reject the two smallest."""
    steps = holm([0.01, 0.04, 0.03, 0.005])
    assert [step.adjusted_p for step in steps] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [step.rejected for step in steps] == [True, False, False, True]
    assert [step.level for step in steps] == pytest.approx([0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4])


@given(p_values)
def test_level_and_decision_agree(values):
    """A hypothesis is rejected exactly if its p is at most its level, so that its interval can say the same."""
    for p, step in zip(values, holm(values), strict=True):
        assert step.rejected == (p <= step.level)
        assert 0.05 / len(values) * (1 - 1e-12) <= step.level <= 0.05


@given(p_values)
def test_adjusted_p_and_decision_agree(values):
    """Rejected means an adjusted p of at most 5 % (up to rounding); adjusted p keep the order and are probabilities."""
    steps = holm(values)
    for p, step in zip(values, steps, strict=True):
        assert step.adjusted_p <= 0.05 * (1 + 1e-12) if step.rejected else step.adjusted_p >= 0.05 * (1 - 1e-12)
        assert p <= step.adjusted_p <= 1
    ordered = [step.adjusted_p for _, step in sorted(zip(values, steps, strict=True), key=lambda both: both[0])]
    assert ordered == sorted(ordered)


@given(p_values)
def test_between_bonferroni_and_none(values):
    """Holm rejects whatever Bonferroni rejects, and nothing above 5 %."""
    for p, step in zip(values, holm(values), strict=True):
        assert step.rejected or p > 0.05 / len(values)
        assert not (step.rejected and p > 0.05)


@given(p_values, st.integers(1, 5))
def test_a_larger_family_is_more_cautious(values, more):
    """Contenders decided elsewhere make the others' decisions harder, never easier."""
    for alone, together in zip(holm(values), holm(values, family=len(values) + more), strict=True):
        assert together.adjusted_p >= alone.adjusted_p
        assert alone.rejected or not together.rejected


def test_a_family_holds_its_members():
    """A family smaller than its members is refused."""
    with pytest.raises(ValueError, match="cannot hold 2"):
        holm([0.1, 0.2], family=1)
