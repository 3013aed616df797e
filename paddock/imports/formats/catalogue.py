"""The formats by name, with the track whose documents each makes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paddock.errors import UsageError, unknown
from paddock.imports.formats.base import Format
from paddock.imports.formats.expressions import grok_format, regex_format
from paddock.imports.formats.json_lines import JsonLines
from paddock.imports.formats.layouts import LAYOUTS, as_expression
from paddock.imports.times import Clock

AUTOMATIC = "auto"
# In this order they are tried; the first of several that fit equally well is the more exact one.
TRACK_OF_FORMAT = {JsonLines.name: "logs", **{name: layout.track for name, layout in LAYOUTS.items()}}
_WITH_EXPRESSION = ("regex", "grok")


@dataclass(frozen=True)
class FormatChoice:
    """A format and what the user says of it; plain texts, so that it can be handed to other processes.

    :param name: one of TRACK_OF_FORMAT, or "regex=..." or "grok=...".
    :param zone: of times without one.
    :param time_field, time_format: None for the usual ones.
    """

    name: str
    zone: str = "UTC"
    time_field: str | None = None
    time_format: str | None = None

    @property
    def track(self) -> str:
        """The track whose documents it makes."""
        return TRACK_OF_FORMAT.get(self.name, "logs")

    @property
    def short_name(self) -> str:
        """Without the expression."""
        return self.name.partition("=")[0]

    def build(self) -> Format:
        """The format itself.

        :raises UsageError: if there is none of that name, or what was said of it cannot be used.
        """
        clock = Clock(self.zone, self.time_format)
        kind, equals, expression = self.name.partition("=")
        if kind in _WITH_EXPRESSION:
            if not expression:
                raise UsageError(f"--format {kind} needs its expression: --format '{kind}=...'.")
            return (regex_format if kind == "regex" else grok_format)(expression, clock, self.time_field)
        if equals or self.name not in TRACK_OF_FORMAT:
            known = [*TRACK_OF_FORMAT, *_WITH_EXPRESSION, AUTOMATIC]
            raise unknown("format", self.name, known, "./inv --help corpus.import")
        if self.time_field is not None and self.name != JsonLines.name:
            raise UsageError(
                f"--time-field is for json-lines, regex and grok: the format {self.name} has one time only."
            )
        if self.name == JsonLines.name:
            return JsonLines(clock, self.time_field)
        start = LAYOUTS[self.name].start
        return Format(self.name, clock, re.compile(as_expression(start)) if start else None)
