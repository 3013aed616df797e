"""Formats that the user describes: a regular expression with named groups, or grok."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from paddock.errors import UsageError
from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.formats.grok import Capture, compile_grok
from paddock.imports.formats.json_lines import TIME_FIELDS
from paddock.imports.text import readable
from paddock.imports.times import Clock


class NamedGroups(LineFormat):
    """A document per line; every group that matched something is a field.

    :param pattern: must match the whole line.
    :param captures: group -> the field and what its text becomes.
    :param time_field: the field with the time; it becomes @timestamp.
    """

    def __init__(
        self, name: str, clock: Clock, pattern: re.Pattern[str], captures: Mapping[str, Capture], time_field: str
    ):
        super().__init__(clock)
        self.name = name
        self._pattern = pattern
        self._captures = captures
        self._time_field = time_field

    def event(self, line: str, more: Sequence[str]) -> tuple[int, dict[str, Any]]:
        """See LineFormat."""
        found = self._pattern.fullmatch(line)
        if not found:
            raise BadLine(f"does not match the {self.name} pattern")
        document: dict[str, Any] = {}
        time = None
        for group, text in found.groupdict().items():
            if text in (None, ""):
                continue
            capture = self._captures[group]
            if capture.field == self._time_field:
                time = text
                continue
            try:
                # The first of several groups for one field that matched holds.
                document.setdefault(capture.field, capture.convert(readable(text)))
            except ValueError:
                raise BadLine(f"'{capture.field}' is no number") from None
        if time is None:
            raise BadLine("no time")
        return self.time(time), document


def regex_format(expression: str, clock: Clock, time_field: str | None) -> NamedGroups:
    """The format of a regular expression with named groups.

    :raises UsageError: if it is none, or has no group for the time.
    """
    # Other languages write (?<name>...).
    python = re.sub(r"\(\?<(?![=!])", "(?P<", expression)
    pattern = _compiled(python, "regex", expression)
    captures = {group: Capture(group, str) for group in pattern.groupindex}
    return NamedGroups("regex", clock, pattern, captures, _time_field(captures, time_field, "(?P<timestamp>...)"))


def grok_format(expression: str, clock: Clock, time_field: str | None) -> NamedGroups:
    """The format of a grok expression.

    :raises UsageError: if it cannot be understood, or has no field for the time.
    """
    source, captures = compile_grok(expression)
    pattern = _compiled(source, "grok", expression)
    wanted = _time_field(captures, time_field, "%{TIMESTAMP_ISO8601:timestamp}")
    return NamedGroups("grok", clock, pattern, captures, wanted)


def _compiled(source: str, kind: str, expression: str) -> re.Pattern[str]:
    try:
        return re.compile(source)
    except re.error as error:
        raise UsageError(f"The {kind} expression '{expression}' cannot be compiled: {error}.") from None


def _time_field(captures: Mapping[str, Capture], wanted: str | None, example: str) -> str:
    fields = {capture.field for capture in captures.values()}
    names = TIME_FIELDS if wanted is None else (wanted,)
    found = next((name for name in names if name in fields), None)
    if found is None:
        looked_for = f"'{wanted}'" if wanted is not None else "a time"
        raise UsageError(
            f"The expression has no field for {looked_for} among {', '.join(sorted(fields)) or 'none'}: "
            f"add one such as {example}, or name it with --time-field."
        )
    return found
