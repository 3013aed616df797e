"""A summary as an object for JSON."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from paddock.summary.model import Missing, Summary


def summary_as_json(summary: Summary) -> dict[str, Any]:
    """The summary as nested objects with the names of its fields.

    A missing figure is null; the object that has it says why under ``missing``, by the figure's name.
    """
    plain: dict[str, Any] = _plain(summary)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Missing):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        missing = {name: part.reason for name, part in parts.items() if isinstance(part, Missing)}
        plain = {name: _plain(part) for name, part in parts.items()}
        return {**plain, "missing": missing} if missing else plain
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
