"""What a format is, and why a line is none of its."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from paddock.imports.sources import LONGEST_LINE
from paddock.imports.times import Clock

NO_TIME_READ = "the time cannot be read"
TOO_LONG = f"longer than {LONGEST_LINE >> 20} MiB"


class BadLine(Exception):
    """This line is no event.

    :param reason: a few words that many lines share.
    :param value: what of the line is meant, if anything.
    """

    def __init__(self, reason: str, value: str = ""):
        super().__init__(reason)
        self.value = value


class Format:
    """One format; what it looks like says its layout (layouts.py), unless each line is taken apart by itself.

    :param clock: reads its time stamps.
    :param start: matches the first line of an event, where events may have several lines.
    """

    def __init__(self, name: str, clock: Clock, start: re.Pattern[str] | None = None):
        self.name, self.clock, self.start = name, clock, start


class LineFormat(Format, ABC):
    """A format whose lines are taken apart one by one."""

    @abstractmethod
    def event(self, line: str) -> tuple[int, dict[str, Any]]:
        """The time in milliseconds since 1970 UTC, and the document without it.

        :param line: without its end.
        :raises BadLine: if it is none of this format.
        """

    def records(self, line: str) -> list[str]:
        """The line, or its parts where the ends of lines between records were lost."""
        return [line]

    def time(self, text: str) -> int:
        """The time stamp.

        :raises BadLine: if it is none.
        """
        try:
            return self.clock.milliseconds(text)
        except (ValueError, OverflowError):
            raise BadLine(NO_TIME_READ, text) from None
