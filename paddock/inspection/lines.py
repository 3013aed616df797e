"""What a line says: a JSON document, a request in an access log, or plain text."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass
from typing import Any

from paddock.inspection.fields import flatten
from paddock.inspection.times import MONTHS, TIME_FIELDS, Moment, find_time, time_of_value

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
