"""Figures are readable and never lie by rounding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.123, "0.12"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (99.94, "99.9"),
        (99.96, "100"),
        (29631.03, "29,631"),
    ],
)
def test_amounts(value: float, text: str) -> None:
    """Three significant digits, all digits of what is larger."""
    assert numbers.amount(value) == text


@given(st.floats(1, 1e12))
def test_an_amount_is_right_to_half_a_percent(value: float) -> None:
    """What is printed differs from what was measured by half a percent at most."""
    assert float(numbers.amount(value).replace(",", "")) == pytest.approx(value, rel=0.005)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, ("0", "B")),
        (1023, ("1,023", "B")),
        (1024, ("1.00", "KiB")),
        (138339271, ("132", "MiB")),
        (2**34, ("16.0", "GiB")),
    ],
)
def test_sizes(size: int, text: tuple[str, str]) -> None:
    """The largest unit of which there is at least one."""
    assert numbers.size(size) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0"), (0.00001, "<0.01"), (0.0001, "0.01"), (0.025, "2.50"), (1, "100")]
)
def test_a_share_that_is_not_zero_does_not_look_like_zero(share: float, text: str) -> None:
    """One failed request in a hundred thousand is still a failed request."""
    assert numbers.percent(share) == (text, "%")


def test_durations_are_told_in_what_they_are_counted_in() -> None:
    """Seconds up to two minutes, minutes up to two hours, days from two on."""
    told = [numbers.duration(seconds) for seconds in (119, 120, 7199, 7200, 2 * 86400 - 60, 2 * 86400, 365 * 86400)]
    assert told == ["119 s", "2 min", "2 h 0 min", "2 h 0 min", "47 h 59 min", "2 days", "365 days"]
