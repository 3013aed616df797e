"""What a format is, and why a line is none of its."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from paddock.imports.times import Clock

NO_TIME_READ = "the time cannot be read"
_CLOCK = re.compile(r":\d\d:\d\d")


class BadLine(Exception):
    """This line is no event; the text is the reason, a few words that many lines share."""


class LineFormat(ABC):
    """One format.

    :param clock: reads its time stamps.
    """

    name: str
    # The first line of an event, where events may have several lines; None where every line is one.
    start: re.Pattern[str] | None = None
    # Where a second record begins on a line whose end was lost.
    glued: re.Pattern[str] | None = None

    def __init__(self, clock: Clock):
        self.clock = clock

    @abstractmethod
    def event(self, line: str, more: Sequence[str]) -> tuple[int, dict[str, Any]]:
        """The time in milliseconds since 1970 UTC, and the document without it.

        :param line: without its end.
        :param more: further lines of the same event.
        :raises BadLine: if it is none of this format.
        """

    def records(self, line: str) -> list[str]:
        """The line, or its parts where the ends of lines between records were lost."""
        if self.glued is None or len(_CLOCK.findall(line)) < 2:
            return [line]
        begins = [0, *(found.start() for found in self.glued.finditer(line)), len(line)]
        return [line[begin:end] for begin, end in itertools.pairwise(begins)]

    def time(self, text: str) -> int:
        """The time stamp.

        :raises BadLine: if it is none.
        """
        try:
            return self.clock.milliseconds(text)
        except (ValueError, OverflowError):
            raise BadLine(NO_TIME_READ) from None
