"""Reads a log line by line, whatever it is compressed with: documents, requests, plain text, and their times."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from paddock.errors import FileError
from paddock.imports.sources import open_sources
from paddock.inspection.model import TimeRange
from paddock.inspection.terms import flatten

LONGEST_LINE = 16 << 20


def read_lines(name: str) -> Iterator[bytes]:
    """The lines of a file, with their ends; plain, gzip, bzip2 or zstd by its first bytes; "-" is standard input.

    :raises FileError: if it cannot be read, is empty, no text, broken off, or has a line of more than 16 MiB.
    """
    source = open_sources([name])[0]
    number = 0
    begun: list[bytes] = []  # a line whose end has not come yet
    size = 0
    for piece in source.pieces():
        lines = piece.splitlines(keepends=True) if b"\r" not in piece else _split(piece)
        for line in lines:
            begun.append(line)
            size += len(line)
            if line.endswith(b"\n"):
                number += 1
                yield line if len(begun) == 1 else b"".join(begun)
                begun.clear()
                size = 0
            elif size > LONGEST_LINE:
                raise FileError(
                    source.label, "this line has more than 16 MiB: is it a log with one event per line?", number + 1
                )
    if begun:
        yield b"".join(begun)


def _split(piece: bytes) -> list[bytes]:
    """Lines by line feeds alone: a carriage return within a line does not end it."""
    parts = piece.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])


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


JSON, ACCESS_LOG, TEXT = "JSON documents", "access log", "text"

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_ACCESS = re.compile(rf"(?:\S+:\d+ )?(\S+) \S+ (\S+) \[[^\]]+\] {_QUOTED} (\d{{3}}) (\d+|-)(?: {_QUOTED} {_QUOTED})?")
_ACCESS_FIELDS = ("client", "user", "request", "status", "bytes", "referrer", "user agent")


@dataclass(frozen=True)
class Content:
    """One line, taken apart."""

    fits: bool  # it is of the kind that was asked for
    leaves: list[tuple[str, Any]]  # fields and their values
    text: str  # what a full-text index would take in: neither the names of fields nor the time
    time: Moment | None
    time_field: str


def kind_of(line: str) -> str:
    """What the lines of a file are, judged by one of them."""
    if document_of(line) is not None:
        return JSON
    return ACCESS_LOG if _ACCESS.match(line) else TEXT


def document_of(line: str) -> dict[str, Any] | None:
    """The JSON object in a line, or None."""
    if not line.startswith("{"):
        return None
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def read_line(line: str, kind: str) -> Content:
    """Take a line apart."""
    if kind == JSON:
        return _read_document(line)
    moment = find_time(line)
    text = line[: moment.begin] + line[moment.end :] if moment else line
    if kind == TEXT:
        return Content(True, [], text, moment, "line")
    match = _ACCESS.match(line)
    leaves = [
        (name, value)
        for name, value in zip(_ACCESS_FIELDS, match.groups() if match else (), strict=False)
        if value not in (None, "-")
    ]
    return Content(match is not None, leaves, text, moment, "line")


def _read_document(line: str) -> Content:
    document = document_of(line)
    if document is None:
        return Content(False, [], line, None, "")
    moment, time_field = None, ""
    for name in TIME_FIELDS:
        if name in document and (moment := time_of_value(document[name])):
            time_field = name
            break
    leaves = list(flatten(document))
    text = "\n".join(str(value) for name, value in leaves if name != time_field and value is not None)
    return Content(True, leaves, text, moment, time_field)


def field_text(line: str, name: str) -> str | None:
    """The text of one field of a document; None if the line is no document or has no such field."""
    document = document_of(line)
    if document is None:
        return None
    values = [str(value) for leaf, value in flatten(document) if leaf == name and value is not None]
    return " ".join(values) if values else None


def combined_line(line: str) -> str | None:
    """A document of an access log (as those of the track apache) as a line of a combined log; None if it is none."""
    document = document_of(line)
    moment = time_of_value(document.get("@timestamp")) if document else None
    if document is None or moment is None or not {"clientip", "method", "path", "status"} <= document.keys():
        return None
    when = datetime.datetime.fromtimestamp(moment.seconds, datetime.timezone.utc)
    clock = f"{when.hour:02d}:{when.minute:02d}:{when.second:02d}"
    query = f"?{document['query']}" if "query" in document else ""
    return (
        f"{document['clientip']} - {document.get('user', '-')} "
        f"[{when.day:02d}/{MONTHS[when.month - 1]}/{when.year}:{clock} +0000] "
        f'"{document["method"]} {document["path"]}{query} HTTP/{document.get("http_version", "1.1")}" '
        f"{document['status']} {document.get('bytes', '-')} "
        f'"{document.get("referrer", "-")}" "{document.get("user_agent", "-")}"'
    )
