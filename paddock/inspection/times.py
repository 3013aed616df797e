"""Finds the time of a log line and tells whether times go forward."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from typing import Any, NamedTuple

from paddock.inspection.model import TimeRange

# Where documents keep their time, the usual name first.
TIME_FIELDS = ("@timestamp", "timestamp", "time", "ts", "datetime", "date", "eventTime")

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAMES = "|".join(MONTHS)
_TIME = re.compile(
    r"(?P<iso>(?P<day>\d{4}-\d\d-\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
    r"(?P<iso_zone>Z|[+-]\d\d:?\d\d)?)"
    rf"|(?P<web>(?P<web_day>\d\d)/(?P<web_month>{_NAMES})/(?P<year>\d{{4}}):(?P<web_clock>\d\d:\d\d:\d\d)"
    r"(?: (?P<web_zone>[+-]\d{4}))?)"
    rf"|(?P<syslog>\b(?P<month>{_NAMES}) {{1,2}}(?P<month_day>\d{{1,2}}) (?P<syslog_clock>\d\d:\d\d:\d\d))"
)
_WITHIN = 160  # characters of a line in which its time begins
_LEAP_YEAR = 2000  # stands for the year where there is none, so that 29 February is a day


class Moment(NamedTuple):
    """A time that was found."""

    seconds: float
    has_year: bool
    has_zone: bool
    begin: int  # where it stands in the line
    end: int


def find_time(line: str) -> Moment | None:
    """The first time in a line: ISO 8601, that of access logs, or syslog's; without a zone it is taken as UTC."""
    found = _TIME.search(line, 0, _WITHIN)
    if not found:
        return None
    try:
        if found["iso"]:
            seconds = _seconds(found["day"], found["clock"]) + float(f"0.{found['part'] or 0}")
            return Moment(seconds - _offset(found["iso_zone"]), True, bool(found["iso_zone"]), *found.span())
        if found["web"]:
            day = f"{found['year']}-{_month(found['web_month']):02d}-{found['web_day']}"
            seconds = _seconds(day, found["web_clock"]) - _offset(found["web_zone"])
            return Moment(seconds, True, bool(found["web_zone"]), *found.span())
        day = f"{_LEAP_YEAR}-{_month(found['month']):02d}-{int(found['month_day']):02d}"
        return Moment(_seconds(day, found["syslog_clock"]), False, False, *found.span())
    except ValueError:  # the 31st of February and the like
        return None


def time_of_value(value: Any) -> Moment | None:
    """The time that a field of a document holds: text, or seconds, milliseconds or microseconds since 1970."""
    if isinstance(value, str):
        return find_time(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e17:
        return None
    divisor = 1 if value < 1e11 else 1e3 if value < 1e14 else 1e6
    return Moment(value / divisor, True, True, 0, 0)


def _month(name: str) -> int:
    return MONTHS.index(name) + 1


@lru_cache(maxsize=4096)
def _seconds(day: str, clock: str) -> float:
    return datetime.datetime.fromisoformat(f"{day}T{clock}+00:00").timestamp()


@lru_cache(maxsize=64)
def _offset(zone: str | None) -> int:
    """Seconds east of Greenwich."""
    if not zone or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    return (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if zone[0] == "-" else 1)


class Clock:
    """Follows the times of the lines."""

    def __init__(self) -> None:
        self._lines = self._timed = self._steps_back = 0
        self._first = self._last = self._before = 0.0
        self._largest = 0.0
        self._has_year = self._has_zone = True

    def tick(self, moment: Moment | None) -> None:
        """The next line's time."""
        self._lines += 1
        if moment is None:
            return
        seconds = moment.seconds
        if not self._timed:
            self._first = self._last = self._before = seconds
        elif seconds < self._before:
            self._steps_back += 1
            self._largest = max(self._largest, self._before - seconds)
        self._timed += 1
        self._before = seconds
        self._first = min(self._first, seconds)
        self._last = max(self._last, seconds)
        self._has_year = self._has_year and moment.has_year
        self._has_zone = self._has_zone and moment.has_zone

    def range(self, where: str) -> TimeRange | None:
        """What was seen; None if no line had a time."""
        if not self._timed:
            return None
        return TimeRange(
            where=where,
            share=self._timed / self._lines,
            first=self._first,
            last=self._last,
            has_year=self._has_year,
            has_zone=self._has_zone,
            steps_back=self._steps_back,
            largest_step_back=self._largest,
        )
