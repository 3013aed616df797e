"""Time stamps: the usual forms, zones, missing years."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import UsageError
from paddock.imports.times import Clock, IsoTimes, YearRule

UTC = datetime.timezone.utc


def read(text: str, zone: str = "UTC", form: str | None = None, years: YearRule | None = None) -> str:
    """A time as the documents have it."""
    clock = Clock(zone, form)
    clock.follow(years or YearRule(datetime.datetime(2026, 1, 2, tzinfo=UTC).timestamp()))
    return IsoTimes().text(clock.milliseconds(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36.000Z"),
        ("2024-05-01T12:34:56.789Z", "2024-05-01T12:34:56.789Z"),
        ("2024-05-01T12:34:56.789123+02:00", "2024-05-01T10:34:56.789Z"),
        ("2024-05-01 12:34:56,7", "2024-05-01T12:34:56.700Z"),
        ("2024-05-01 12:34:56 +0530", "2024-05-01T07:04:56.000Z"),
        ("2024/05/01 12:34:56", "2024-05-01T12:34:56.000Z"),
        ("15/09/01 18:14:41", "2015-09-01T18:14:41.000Z"),
        ("01-May-2024 12:34:56.789", "2024-05-01T12:34:56.789Z"),
        ("01 May 2024 12:34:56,789", "2024-05-01T12:34:56.789Z"),
        ("Wed, 01 May 2024 12:34:56 GMT", "2024-05-01T12:34:56.000Z"),
        ("Wed May  1 12:34:56 2024", "2024-05-01T12:34:56.000Z"),
        ("20240501T123456", "2024-05-01T12:34:56.000Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z"),
        ("1714566896", "2024-05-01T12:34:56.000Z"),
        ("1714566896.25", "2024-05-01T12:34:56.250Z"),
        ("1714566896789", "2024-05-01T12:34:56.789Z"),
        ("1714566896789123", "2024-05-01T12:34:56.789Z"),
        ("1714566896789123456", "2024-05-01T12:34:56.789Z"),
    ],
)
def test_usual_forms_are_read(text: str, expected: str) -> None:
    """Every form, with and without fraction and zone; finer digits than milliseconds are cut off."""
    assert read(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2024-13-01 00:00:00", "31/Feb/2026:10:00:00 +0000",
                                  "Foo  1 10:00:00", "2024-05-01", "12:34:56", "9" * 25])  # fmt: skip
def test_what_is_no_time_is_refused(text: str) -> None:
    """Never a wrong time in its place."""
    with pytest.raises(ValueError, match=r"."):
        read(text)


@pytest.mark.parametrize("zone", ["+02:00", "+0200", "+02"])
def test_a_zone_may_be_an_offset(zone: str) -> None:
    """Of times that have none; what is no offset is a sentence."""
    assert read("2024-01-01 12:00:00", zone) == "2024-01-01T10:00:00.000Z"
    assert read("2024-01-01 12:00:00+01:00", zone) == "2024-01-01T11:00:00.000Z"
    assert read("Jan  1 12:00:00", "-05:30") == "2026-01-01T17:30:00.000Z"
    for wrong in ("+25:00", "+2", "02:00"):
        with pytest.raises(UsageError, match=r"no time zone .* or an offset such as \+02:00"):
            read("2024-01-01 12:00:00", wrong)


def test_times_without_a_zone_are_of_the_given_one() -> None:
    """Summer and winter time as the zone had them; a zone in the text wins."""
    assert read("2024-01-15 12:00:00", "Europe/Berlin") == "2024-01-15T11:00:00.000Z"
    assert read("2024-07-15 12:00:00", "Europe/Berlin") == "2024-07-15T10:00:00.000Z"
    assert read("2024-07-15 12:00:00Z", "Europe/Berlin") == "2024-07-15T12:00:00.000Z"


def test_years_are_resolved_across_new_year() -> None:
    """December and January of one file that was last written in January."""
    written = YearRule(datetime.datetime(2026, 1, 2, tzinfo=UTC).timestamp())
    assert read("Dec 31 23:59:59", years=written) == "2025-12-31T23:59:59.000Z"
    assert read("Jan  1 00:00:01", years=written) == "2026-01-01T00:00:01.000Z"


def test_years_go_on_from_the_first_line() -> None:
    """--year: the first line is of that year, what comes after it may be of the next."""
    first = YearRule(datetime.datetime(2023, 12, 30, tzinfo=UTC).timestamp(), before=False)
    assert read("Dec 30 00:00:00", years=first) == "2023-12-30T00:00:00.000Z"
    assert read("Dec 29 23:00:00", years=first) == "2023-12-29T23:00:00.000Z"  # a little backwards
    assert read("Jan  1 00:00:01", years=first) == "2024-01-01T00:00:01.000Z"


def test_the_29th_of_february_is_of_a_leap_year() -> None:
    """The latest one that there was."""
    assert read("Feb 29 10:00:00") == "2024-02-29T10:00:00.000Z"


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("epoch", "1714566896.5", "2024-05-01T12:34:56.500Z"),
        ("epoch-ms", "99", "1970-01-01T00:00:00.099Z"),
        ("%d.%m.%Y %H:%M:%S", "01.05.2024 12:34:56", "2024-05-01T12:34:56.000Z"),
        ("%d.%m. %H:%M", "29.02. 12:34", "2024-02-29T12:34:00.000Z"),
        ("%Y-%m-%d %H:%M:%S.%f %z", "2024-05-01 12:34:56.789 +0200", "2024-05-01T10:34:56.789Z"),
    ],
)
def test_a_form_can_be_given(form: str, text: str, expected: str) -> None:
    """Strptime formats and epochs, without a year too."""
    assert read(text, form=form) == expected


@pytest.mark.parametrize("form", ["iso", "%Q", "%d %d"])
def test_a_form_that_cannot_be_used_is_a_sentence(form: str) -> None:
    """Said before anything is read."""
    with pytest.raises(UsageError, match="time format"):
        Clock("UTC", form)


def test_an_unknown_zone_is_a_sentence() -> None:
    """With examples."""
    with pytest.raises(UsageError, match=r"no time zone 'Berlin': use a name such as Europe/Berlin"):
        Clock("Berlin")


@given(st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30)))
def test_what_is_written_reads_as_the_same_time(moment: datetime.datetime) -> None:
    """Milliseconds survive both ways, in any year."""
    milliseconds = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(milliseconds=1)
    text = IsoTimes().text(milliseconds)
    assert text == f"{moment.isoformat(timespec='milliseconds')}Z"
    assert Clock().milliseconds(text) == milliseconds
