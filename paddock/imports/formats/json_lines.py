"""JSON lines: an object per line, its time found under one of the usual names or the one given."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.sources import LONGEST_LINE
from paddock.imports.text import readable
from paddock.imports.times import Clock

# In the order in which they are looked for.
TIME_FIELDS = (
    "@timestamp", "timestamp", "time", "ts", "datetime", "date", "eventTime", "event_time", "asctime", "instant",
    "timestamp_ms", "timeMillis", "created", "created_at", "logged_at", "@t", "t",
    "__REALTIME_TIMESTAMP",
)  # fmt: skip
_MESSAGE_FIELDS = ("msg", "log", "text", "short_message", "@m", "MESSAGE")
# Names that Java's layouts in JSON give (ECS, Logstash's encoder, log4j's own), as the track logs has them.
_JAVA_NAMES = {
    "log.level": "level", "log.logger": "logger", "logger_name": "logger", "loggerName": "logger",
    "process.thread.name": "thread", "thread_name": "thread", "threadName": "thread",
    "error.stack_trace": "stack_trace",
}  # fmt: skip
_BETWEEN = re.compile(r"\}\s*\{")
DEEPEST = 100  # levels; an index takes 20 of objects, and Python's own limit depends on who calls


def no_time_field(wanted: str | None) -> str:
    """Why an object is no event: it lacks the field that is wanted, or any of the usual ones."""
    return "no field with a time" if wanted is None else f"no field '{wanted}'"


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class JsonLines(LineFormat):
    """An object per line.

    :param time_field: where the time is, with dots between the names of nested objects; None: one of the usual names.
    """

    name = "json-lines"

    def __init__(self, clock: Clock, time_field: str | None = None):
        super().__init__(self.name, clock)
        self._time_field = time_field

    def quickly(self, line: bytes) -> tuple[int, dict[str, Any]] | None:
        """As ``event``; None of what orjson may read otherwise than the standard library does."""
        try:
            document = orjson.loads(line)
            # It rounds whole numbers beyond 64 bits to fractions; such large ones it writes with an exponent.
            if type(document) is not dict or len(line) > LONGEST_LINE or b"e+" in orjson.dumps(document):
                return None
        except (ValueError, TypeError):
            return None
        if line.count(b"{") + line.count(b"[") > DEEPEST:  # perhaps within one another
            return None
        return self._taken(document, b"null" in line)

    def event(self, line: str) -> tuple[int, dict[str, Any]]:
        """See LineFormat."""
        if not line.lstrip().startswith("{"):
            raise BadLine("not a JSON object")
        try:
            document = _DECODER.decode(readable(line))
            if line.count("{") + line.count("[") > DEEPEST and _depth(document) > DEEPEST:
                raise RecursionError
        except ValueError:
            raise BadLine("not valid JSON") from None
        except RecursionError:
            raise BadLine(f"nested more than {DEEPEST} deep") from None
        return self._taken(document, "null" in line)

    def _taken(self, document: dict[str, Any], nulls: bool) -> tuple[int, dict[str, Any]]:
        """The time of an object and the object without it, which may change; ``nulls``: it may hold some."""
        if nulls:
            _drop_nulls(document)
        milliseconds = self.time(str(self._take_time(document)))
        if "message" not in document:
            found = next((name for name in _MESSAGE_FIELDS if isinstance(document.get(name), str)), None)
            if found:
                document["message"] = document.pop(found)
        if not _JAVA_NAMES.keys().isdisjoint(document):
            for name, usual in _JAVA_NAMES.items():
                if name in document and usual not in document:
                    document[usual] = document.pop(name)
        return milliseconds, document

    def records(self, line: str) -> list[str]:
        """See LineFormat: objects one behind the other."""
        if line.rfind("{") < 1 or not _BETWEEN.search(line):
            return [line]
        found, at = [], 0
        try:
            while at < len(line):
                if line[at].isspace():
                    at += 1
                    continue
                _, end = _DECODER.raw_decode(line, at)
                found.append(line[at:end])
                at = end
        except (ValueError, RecursionError):
            return [line]
        return found if len(found) > 1 else [line]

    def _take_time(self, document: dict[str, Any]) -> Any:
        """The time's text or number, which is taken out: it becomes @timestamp."""
        names = TIME_FIELDS if self._time_field is None else (self._time_field,)
        for name in names:
            if isinstance(document.get(name), (str, int, float)):
                return document.pop(name)
        instant = document.get("instant")
        if self._time_field is None and isinstance(instant, dict) and isinstance(instant.get("epochSecond"), int):
            del document["instant"]  # log4j's JSON layout
            return f"{instant['epochSecond']}.{int(instant.get('nanoOfSecond', 0)):09d}"
        if self._time_field is None and isinstance(document.get("t"), dict) and "$date" in document["t"]:
            return document.pop("t")["$date"]  # MongoDB
        inner: Any = document
        *path, last = (self._time_field or "").split(".")
        for name in path:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get(last), (str, int, float)):
            return inner.pop(last)
        raise BadLine(no_time_field(self._time_field))


def _depth(value: Any) -> int:
    """How many objects and arrays are within one another."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, (dict, list))]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _drop_nulls(values: Any) -> None:
    if isinstance(values, dict):
        for name in [name for name, value in values.items() if value is None]:
            del values[name]
        values = values.values()
    else:
        values[:] = [value for value in values if value is not None]
    for value in values:
        if isinstance(value, (dict, list)):
            _drop_nulls(value)
