"""A result as an object for JSON and back, without loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddock.errors import UsageError
from paddock.plain_values import built, plain
from paddock.reports import sentences
from paddock.tournaments.model import Result

FORMAT = "paddock-tournament-result"
VERSION = 1


def result_as_json(result: Result) -> dict[str, Any]:
    """The result as nested objects with the names of its fields, the verdict's sentence beside it.

    JSON has no infinity: an interval without an end has the text "Infinity" there.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": sentences.headline(result),
        "result": plain(result),
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
    try:
        result: Result = built(Result, value.get("result"), "result")
    except ValueError as error:
        raise UsageError(f"The tournament result is damaged: {error}; make the report anew.") from None
    return result
