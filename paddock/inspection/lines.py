"""Reads a log line by line, whatever it is compressed with: documents, requests, plain text, and their times."""

from __future__ import annotations

import datetime
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from paddock.errors import FileError
from paddock.imports.formats.json_lines import TIME_FIELDS
from paddock.imports.sources import LongLine, blocks, open_sources
from paddock.imports.times import Clock, YearRule

LONGEST_LINE, _AT_ONCE = 16 << 20, 256 << 10  # bytes


def read_lines(name: str) -> Iterator[bytes]:
    """The lines of a file, with their ends; plain, gzip, bzip2 or zstd by its first bytes; "-" is standard input.

    :raises FileError: if it cannot be read, is empty, no text, broken off, or has a line of more than 16 MiB.
    """
    source = open_sources([name])[0]
    for block in blocks(source.pieces(), source.label, _YEAR, size=_AT_ONCE, longest=LONGEST_LINE):
        if isinstance(block, LongLine):
            raise FileError(
                source.label, "this line has more than 16 MiB: is it a log with one event per line?", block.line
            )
        yield from io.BytesIO(block.data)


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAMES = "|".join(MONTHS)
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?P<iso_zone>Z|[+-]\d\d:?\d\d)?"
    rf"|\d\d/(?:{_NAMES})/\d{{4}}:\d\d:\d\d:\d\d(?P<web_zone> [+-]\d{{4}})?"
    rf"|(?P<syslog>\b(?:{_NAMES}) {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d)",
    re.ASCII,
)
_WITHIN = 160  # characters of a line in which its time begins
# Where there is none, the year is a leap year, so that 29 February is a day; the rule has a day to spare.
_YEAR = YearRule(datetime.datetime(2000, 12, 30, 23, 59, 59, tzinfo=datetime.timezone.utc).timestamp())
_CLOCK = Clock()
_CLOCK.follow(_YEAR)


class FoundTime(NamedTuple):
    """A time that was found."""

    seconds: float
    has_year: bool
    has_zone: bool
    begin: int  # where it stands in the line
    end: int


def find_time(line: str) -> FoundTime | None:
    """The first time in a line: ISO 8601, that of access logs, or syslog's; without a zone it is taken as UTC."""
    found = _TIME.search(line, 0, _WITHIN)
    if not found:
        return None
    iso_zone, web_zone, syslog = found.groups()
    try:
        milliseconds = _CLOCK.milliseconds(found[0])
    except ValueError:  # the 31st of February and the like
        return None
    return FoundTime(milliseconds / 1000, not syslog, bool(iso_zone or web_zone), *found.span())


def time_of_value(value: Any) -> FoundTime | None:
    """The time that a field of a document holds: text, or seconds, milliseconds or microseconds since 1970."""
    if isinstance(value, str):
        return find_time(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e17:
        return None
    try:
        return FoundTime(_CLOCK.milliseconds(str(value)) / 1000, True, True, 0, 0)
    except ValueError:  # a number with an exponent
        return None


@dataclass
class LineTimes:
    """The times of the lines, told one after the other.

    :param where: the field, or "line"; ``share`` (0 to 1) of the lines have a time there.
    :param first, last: the earliest and the latest, seconds since 1970 UTC.
    :param steps_back: lines earlier than the one before, by ``largest_step_back`` seconds at most.
    """

    where: str = "line"
    share: float = 0.0
    first: float = math.inf
    last: float = -math.inf
    has_year: bool = True
    has_zone: bool = True
    steps_back: int = 0
    largest_step_back: float = 0.0

    def __post_init__(self) -> None:
        self._lines, self._timed, self._before = 0, 0, -math.inf

    def tick(self, moment: FoundTime | None) -> None:
        """The next line's time."""
        self._lines += 1
        if moment:
            self._timed += 1
            if moment.seconds < self._before:
                self.steps_back += 1
                self.largest_step_back = max(self.largest_step_back, self._before - moment.seconds)
            self._before = moment.seconds
            self.first, self.last = min(self.first, moment.seconds), max(self.last, moment.seconds)
            self.has_year, self.has_zone = self.has_year and moment.has_year, self.has_zone and moment.has_zone
        self.share = self._timed / self._lines


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
    time: FoundTime | None
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


def flatten(document: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a document with their dotted names, as an index names them; each element of a list is a leaf."""
    for name, value in document.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{path}.")
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, dict):
                    yield from flatten(element, f"{path}.")
                elif isinstance(element, list):
                    yield path, json.dumps(element)
                else:
                    yield path, element
        else:
            yield path, value


def read_line(line: str, kind: str) -> Content:
    """Take a line apart."""
    if kind == JSON:
        return _read_document(line)
    moment = find_time(line)
    text = line[: moment.begin] + line[moment.end :] if moment else line
    if kind == TEXT:
        return Content(True, [], text, moment, "line")
    match = _ACCESS.match(line)
    values = zip(_ACCESS_FIELDS, match.groups() if match else (), strict=False)
    leaves = [(name, value) for name, value in values if value not in (None, "-")]
    return Content(match is not None, leaves, text, moment, "line")


def _read_document(line: str) -> Content:
    document = document_of(line)
    if document is None:
        return Content(False, [], line, None, "")
    found = ((name, time_of_value(document[name])) for name in TIME_FIELDS if name in document)
    time_field, moment = next((one for one in found if one[1]), ("", None))
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
    query = f"?{document['query']}" if "query" in document else ""
    return (
        f"{document['clientip']} - {document.get('user', '-')} "
        f"[{when:%d}/{MONTHS[when.month - 1]}/{when:%Y:%H:%M:%S} +0000] "
        f'"{document["method"]} {document["path"]}{query} HTTP/{document.get("http_version", "1.1")}" '
        f"{document['status']} {document.get('bytes', '-')} "
        f'"{document.get("referrer", "-")}" "{document.get("user_agent", "-")}"'
    )
