"""Times of log lines: found in every usual form, and none where there is none."""

from __future__ import annotations

import datetime
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.inspection.lines import MONTHS, LineTimes, find_time, time_of_value

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime.datetime(1970, 1, 2), datetime.datetime(2100, 1, 1), timezones=ZONES)


@given(MOMENTS)
def test_iso_times_are_found(moment: datetime.datetime) -> None:
    """Any time with any zone, within a line; where it stands is told as well."""
    text = moment.isoformat(timespec="milliseconds")
    found = find_time(f"host {text} INFO started")
    assert found
    assert found.seconds == pytest.approx(moment.timestamp(), abs=0.001)
    assert (found.begin, found.end) == (5, 5 + len(text))
    assert found.has_year
    assert found.has_zone


@given(MOMENTS)
def test_times_of_access_logs_are_found(moment: datetime.datetime) -> None:
    """The form in square brackets."""
    text = f"{moment:%d}/{MONTHS[moment.month - 1]}/{moment:%Y:%H:%M:%S %z}"
    found = find_time(f'203.0.113.7 - - [{text}] "GET / HTTP/1.1" 200 5')
    assert found
    assert found.seconds == moment.replace(microsecond=0).timestamp()


@given(MOMENTS)
def test_times_of_syslog_lack_year_and_zone(moment: datetime.datetime) -> None:
    """Month, day padded with a space, and the clock; 29 February as well."""
    found = find_time(f"<13>{MONTHS[moment.month - 1]} {moment.day:2d} {moment:%H:%M:%S} host app: text")
    assert found
    assert not found.has_year
    assert not found.has_zone
    there = datetime.datetime.fromtimestamp(found.seconds, datetime.timezone.utc)
    assert (there.month, there.day, there.hour, there.second) == (moment.month, moment.day, moment.hour, moment.second)


@pytest.mark.parametrize(
    "line", ["", "no time", "2026-02-31T10:00:00Z", "2026-01-05T25:00:00Z", "[99/Jan/2026:00:00:00]"]
)
def test_what_is_no_time_is_none(line: str) -> None:
    """Neither a line without one nor a day that the calendar has not."""
    assert find_time(line) is None


@given(st.text(max_size=200))
def test_any_text_has_a_time_or_none(text: str) -> None:
    """Nothing makes the search fail."""
    find_time(text)


@pytest.mark.parametrize("value", [1_767_607_200, 1_767_607_200_000, 1_767_607_200_000_000, "2026-01-05 10:00:00,000"])
def test_fields_hold_text_or_numbers(value: object) -> None:
    """Seconds, milliseconds, microseconds since 1970, or text with a comma and without a zone."""
    found = time_of_value(value)
    assert found
    assert found.seconds == 1_767_607_200


@pytest.mark.parametrize("value", [None, True, -5, [], {}, "soon"])
def test_other_values_are_no_times(value: object) -> None:
    """A document's field may hold anything."""
    assert time_of_value(value) is None


@given(st.lists(st.integers(10_000, 20_000), min_size=1, max_size=50))
def test_steps_back_are_counted(seconds: list[int]) -> None:
    """Lines earlier than the one before, the largest such step, the first and the last time."""
    found = LineTimes()
    for each in seconds:
        found.tick(time_of_value(each))
    found.tick(None)
    assert found
    steps = [before - after for before, after in itertools.pairwise(seconds) if after < before]
    assert (found.steps_back, found.largest_step_back) == (len(steps), max(steps, default=0))
    assert (found.first, found.last) == (min(seconds), max(seconds))
    assert found.share == len(seconds) / (len(seconds) + 1)
