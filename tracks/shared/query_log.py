"""A recorded query log: JSON lines, one search each, with the time at which it was asked (docs/replay.md).

    {"at": "2026-01-05T20:00:01.250Z", "body": {"query": {"match": {"path": "cart"}}}, "name": "search", "took_ms": 12}

This file knows nothing of Rally's corpora, so that a log can be checked before anything is started.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from esrally import exceptions

from shared.replay_times import read_time, time_text

UNNAMED = "query"
KEYS = {
    "at": "when it was asked, ISO 8601 (UTC unless it says otherwise)",
    "body": "the body of the search, an object",
    "index": "what was searched; left out, the index of the race",
    "params": "parameters of the request, an object of texts, numbers, true and false",
    "name": "by what queries are told apart in reports",
    "took_ms": "how long it took when it was recorded",
    "hits": "how many documents it found when it was recorded",
}
# How deep a body may be nested; Elasticsearch takes some dozens of queries within each other.
_DEEPEST = 200
_BOUNDS = ("gt", "gte", "lt", "lte", "from", "to")
# Where else a time of Elasticsearch's date mathematics may stand: names, and what in them are times.
_TIMES = {"extended_bounds": ("min", "max"), "hard_bounds": ("min", "max"), "distance_feature": ("origin",)}
_NOW = re.compile(r"now((?:[+-]\d*[yMwdhHms]|/[yMwdhHms])*)")
# Of a text in Lucene's syntax, a range that begins or ends with it.
_NOW_IN_TEXT = re.compile(r"(?:[\[{]|\bTO|[<>]=?)\s*\"?now\b")
# What is searched for in these is text.
_FULL_TEXT = {"match", "match_phrase", "match_phrase_prefix", "match_bool_prefix", "multi_match"}


class BadQueryLog(exceptions.InvalidSyntax):
    """A line of a query log that cannot be meant.

    :param line: counted from 1; None where it is the file as a whole.
    :param problem: one sentence without the place.
    """

    def __init__(self, path: Path | str, problem: str, line: int | None = None) -> None:
        self.path, self.line, self.problem = Path(path), line, problem
        super().__init__(f"{path}:{line}: {problem}" if line else f"{path}: {problem}")


@dataclass(frozen=True)
class RecordedQuery:
    """One search of the log.

    :param line: where it stands in the file, from 1.
    :param at: when it was asked, in microseconds since 1970 UTC.
    :param took_ms: milliseconds that it took when it was recorded, and ``hits``, how many documents it found then; None
        where the log does not say.
    """

    line: int
    at: int
    body: dict[str, Any]
    name: str = UNNAMED
    params: dict[str, Any] = field(default_factory=dict)
    took_ms: float | None = None
    hits: int | None = None


def read_query_log(path: Path, index: str) -> tuple[RecordedQuery, ...]:
    """All searches of a log in the order of their times; of equal times in that of the file.

    :param index: the index or data stream of the race, which is all that there is to search.
    :raises BadQueryLog: at the first line that is broken or asks another index, or if there is no line.
    """
    if not path.is_absolute():
        raise BadQueryLog(
            path, "query_log must be an absolute path, because Rally's workers run in folders of their own."
        )
    try:
        with path.open("rb") as file:
            found = [_read(path, number, line, index) for number, line in enumerate(file, 1) if line.strip()]
    except OSError as error:
        raise BadQueryLog(path, f"this query log cannot be read: {error.strerror}.") from None
    if not found:
        raise BadQueryLog(path, "this query log has no line: leave query_log out, or record some queries.")
    return tuple(sorted(found, key=lambda query: query.at))


def _read(path: Path, number: int, line: bytes, index: str) -> RecordedQuery:
    def bad(problem: str) -> BadQueryLog:
        return BadQueryLog(path, problem, number)

    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise bad(f"this line is no JSON ({error}): a query log has one object in each line.") from None
    if not isinstance(value, dict):
        raise bad("this line is no object: a query log has one object in each line.")
    if problem := _cannot_be_sent(value):
        raise bad(problem)
    if strange := sorted(set(value) - set(KEYS)):
        raise bad(f"'{strange[0]}' is no key of a query log, which has {', '.join(KEYS)}.")
    if missing := [key for key in ("at", "body") if key not in value]:
        raise bad(f"the key '{missing[0]}' is missing: {KEYS[missing[0]]}.")
    at = read_time(value["at"]) if isinstance(value["at"], str) else None
    if at is None:
        raise bad(f"{value['at']!r} is no time such as 2026-01-05T20:00:01.250Z.")
    kinds = (
        ("body", dict, "an object"),
        ("params", dict, "an object"),
        ("index", str, "a text"),
        ("name", str, "a text"),
    )
    for key, kind, wanted in kinds:
        if key in value and not isinstance(value[key], kind):
            raise bad(f"'{key}' must be {wanted}: {KEYS[key]}.")
    for key in ("took_ms", "hits"):
        if key in value and not _counts(value[key], whole=key == "hits"):
            raise bad(f"'{key}' must be a number from 0 on: {KEYS[key]}.")
    for key, one in value.get("params", {}).items():
        if not isinstance(one, str | bool | int | float):
            raise bad(f"the parameter '{key}' must be a text, a number, true or false.")
    if unknown := _unknown(value.get("index", index), index):
        raise bad(
            f"the index '{unknown}' is none of this race, which has '{index}' alone: leave the key index out, or "
            f"choose "
            f"what of a slow log is meant with ./inv queries.import --index."
        )
    optional = {key: value[key] for key in ("params", "took_ms", "hits") if key in value}
    return RecordedQuery(number, at, value["body"], value.get("name") or UNNAMED, **optional)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def _cannot_be_sent(line: Mapping[str, Any]) -> str | None:
    """What of it JSON for Elasticsearch cannot be made of, or no name in a report; a sentence."""
    stack: list[tuple[Any, int]] = [(line, 0)]
    while stack:
        one, depth = stack.pop()
        if depth > _DEEPEST:
            return f"this line is nested more than {_DEEPEST} deep, which no search is."
        if isinstance(one, int | float) and not abs(one) <= sys.float_info.max:
            return "this line has a number that is too large."
        if isinstance(one, str) and any("\ud800" <= letter <= "\udfff" for letter in one):
            return "this line has half a character (a lone surrogate such as \\ud800)."
        if isinstance(one, Mapping):
            stack += [(part, depth + 1) for pair in one.items() for part in pair]
        elif isinstance(one, list):
            stack += [(part, depth + 1) for part in one]
    return None


def _counts(value: Any, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return False
    return bool(0 <= value < math.inf)


def _unknown(asked: str, index: str) -> str | None:
    """The first of several names or patterns that does not mean the index."""
    parts = [part.strip() for part in asked.split(",")]
    return next((part for part in parts if not fnmatchcase(index, part) and part != "_all"), None)


def at_its_time(body: Mapping[str, Any], at: int) -> dict[str, Any]:
    """The body with ``now`` replaced by the time at which it was asked.

    That is in the bounds of ranges, queries and aggregations, in ``extended_bounds`` and ``hard_bounds``, and as
    ``origin`` of ``distance_feature``. Else "the last 15 minutes" would be those of today, in which a replayed log has
    nothing. Elasticsearch reckons on from a date with ``||``: ``now-15m/m`` becomes
    ``2026-01-05T20:00:01.250Z||-15m/m``. What has a format of its own stays as it is, for the date would have to be
    written in that; :func:`asks_of_today` finds it.

    :param at: microseconds since 1970 UTC.
    """
    moment = time_text(at)
    return {name: _anchored(name, one, moment) for name, one in body.items()}


def _anchored(name: str, value: Any, moment: str) -> Any:
    """The value of that name."""
    if isinstance(value, list):
        return [_anchored("", one, moment) for one in value]
    if not isinstance(value, Mapping):
        return value
    if name == "range":  # by fields; what has no bounds is an aggregation, or something that only has this name
        return {
            field: _with_times(one, _BOUNDS, moment)
            if isinstance(one, Mapping) and any(not isinstance(one.get(bound, {}), Mapping) for bound in _BOUNDS)
            else _anchored(field, one, moment)
            for field, one in value.items()
        }
    if name == "date_range" and isinstance(value.get("ranges"), list) and "format" not in value:
        return {**value, "ranges": [_with_times(one, _BOUNDS, moment) for one in value["ranges"]]}
    if name == "date_histogram" and "format" in value:
        return dict(value)
    if name in _TIMES:
        return _with_times(value, _TIMES[name], moment)
    return {inner: _anchored(inner, one, moment) for inner, one in value.items()}


def _with_times(value: Any, names: Collection[str], moment: str) -> Any:
    """The value with these of its members at that moment."""
    if not isinstance(value, Mapping) or "format" in value:
        return value
    return {name: _at(one, moment) if name in names else one for name, one in value.items()}


def _at(value: Any, moment: str) -> Any:
    found = _NOW.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    return f"{moment}||{found[1]}" if found[1] else moment


def asks_of_today(query: RecordedQuery) -> bool:
    """Whether ``now`` is left in it where it may mean a time, which then is that of today.

    That is where a format of its own is asked for, in ``query_string``, and in whatever Paddock does not know.
    """
    stack: list[tuple[str, Any]] = [("", at_its_time(query.body, query.at)), ("", query.params)]
    while stack:
        name, one = stack.pop()
        if isinstance(one, str) and (_NOW.fullmatch(one) or _NOW_IN_TEXT.search(one)):
            return True
        if isinstance(one, Mapping) and name not in _FULL_TEXT:
            stack += one.items()
        elif isinstance(one, list):
            stack += [(name, part) for part in one]
    return False
