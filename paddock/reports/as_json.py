"""A result as an object for JSON and back, without loss."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from paddock.errors import UsageError
from paddock.reports import sentences
from paddock.tournaments.model import Result

FORMAT = "paddock-tournament-result"
VERSION = 1
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def result_as_json(result: Result) -> dict[str, Any]:
    """The result as nested objects with the names of its fields, the verdict's sentence beside it.

    JSON has no infinity: an interval without an end has the text "Infinity" there.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": sentences.headline(result),
        "result": _plain(result),
    }


def result_from_json(value: Any) -> Result:
    """The result of such an object.

    :raises UsageError: if it is none, or of a version that is not known here.
    """
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        raise UsageError(
            f"This is no tournament result: its format is not {FORMAT}; "
            f"look for the result.json that a tournament wrote beside its report."
        )
    if value.get("version") != VERSION:
        raise UsageError(
            f"This tournament result has version {value.get('version')!r} of its format, and version {VERSION} is "
            f"understood here: read it with the Paddock that wrote it."
        )
    result: Result = _built(Result, value.get("result"), "result")
    return result


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _built(kind: Any, value: Any, place: str) -> Any:
    """A value of that type from plain JSON.

    :param place: where it is, for the error.
    """
    if kind is Any:
        return value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = next(argument for argument in arguments if argument is not type(None))
        return None if value is None else _built(inner, value, place)
    if origin is tuple:
        _check(isinstance(value, list), place, "a list")
        return tuple(_built(arguments[0], part, f"{place}[{number}]") for number, part in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        _check(isinstance(value, Mapping), place, "an object")
        return {name: _built(arguments[1], part, f"{place}.{name}") for name, part in value.items()}
    if is_dataclass(kind):
        return _object(kind, value, place)
    if kind is float:
        number = _INFINITIES.get(value, value) if isinstance(value, str) else value
        _check(isinstance(number, (int, float)) and not isinstance(number, bool), place, "a number")
        return number
    expected = {int: "a whole number", str: "a text", bool: "true or false"}
    _check(isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), place, expected[kind])
    return value


def _object(kind: Any, value: Any, place: str) -> Any:
    _check(isinstance(value, Mapping), place, "an object")
    hints = typing.get_type_hints(kind)
    parts = {}
    for field in fields(kind):
        if field.name in value:
            parts[field.name] = _built(hints[field.name], value[field.name], f"{place}.{field.name}")
        else:
            optional = field.default is not MISSING or field.default_factory is not MISSING
            _check(optional, f"{place}.{field.name}", "there")
    return kind(**parts)


def _check(holds: bool, place: str, expected: str) -> None:
    if not holds:
        raise UsageError(f"The tournament result is damaged: {place} is not {expected}; make the report anew.")
