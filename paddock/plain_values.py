"""Dataclasses as plain JSON values and back, without loss; figures that are missing say why."""

from __future__ import annotations

import functools
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, TypeAlias

# A file of samples has thousands of objects of a few kinds.
_hints = functools.cache(typing.get_type_hints)
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


@dataclass(frozen=True)
class Missing:
    """In place of a figure: why there is none, one sentence."""

    reason: str


Figure: TypeAlias = float | Missing


def separated(text: str) -> list[str]:
    """The words in "a, b,c"; empty parts are dropped."""
    return [word.strip() for word in text.split(",") if word.strip()]


def known(figure: Figure) -> float | None:
    """The figure, or None if it is missing."""
    return None if isinstance(figure, Missing) else figure


def plain(value: Any) -> Any:
    """The value as nested objects, lists, texts and numbers; an object has the names of a dataclass's fields.

    JSON has no infinity: it becomes the text "Infinity". A missing figure is null; the object that has it says why
    under ``missing``, by the figure's name.
    """
    if isinstance(value, Missing):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        reasons = {name: part.reason for name, part in parts.items() if isinstance(part, Missing)}
        return {name: plain(part) for name, part in parts.items()} | ({"missing": reasons} if reasons else {})
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def built(kind: Any, value: Any, place: str) -> Any:
    """The value of that type of which :func:`plain` made this; what is missing takes its default.

    :param kind: a dataclass, or the type of one of its fields.
    :param place: what it is called, for the error.
    :raises ValueError: if it is no such value; says where.
    """
    if kind is Any:
        return value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = next(argument for argument in arguments if argument is not type(None))
        return None if value is None else built(inner, value, place)
    if origin is tuple:
        _check(isinstance(value, list), place, "a list")
        return tuple(built(arguments[0], part, f"{place}[{number}]") for number, part in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        _check(isinstance(value, Mapping), place, "an object")
        return {name: built(arguments[1], part, f"{place}.{name}") for name, part in value.items()}
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
    hints = _hints(kind)
    reasons = value.get("missing", {})
    _check(isinstance(reasons, Mapping), f"{place}.missing", "an object")
    parts: dict[str, Any] = {}
    for field in fields(kind):
        if value.get(field.name) is None and Missing in typing.get_args(hints[field.name]):
            parts[field.name] = Missing(str(reasons.get(field.name, "It was not recorded.")))
        elif field.name in value:
            parts[field.name] = built(hints[field.name], value[field.name], f"{place}.{field.name}")
        else:
            optional = field.default is not MISSING or field.default_factory is not MISSING
            _check(optional, f"{place}.{field.name}", "there")
    return kind(**parts)


def _check(holds: bool, place: str, expected: str) -> None:
    if not holds:
        raise ValueError(f"{place} is not {expected}")
