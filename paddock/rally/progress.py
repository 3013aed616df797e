"""What Rally prints, read as events; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TASK = re.compile(r"Running (?P<task>.+?)\s*\[\s*(?P<percent>\d+)% done\]")
_NOTE = re.compile(r"\[(?P<level>INFO|WARNING|ERROR)\]\s*(?P<text>.*)")


@dataclass(frozen=True)
class TaskProgress:
    """A task has come that far (percent, 0 to 100)."""

    task: str
    percent: int


@dataclass(frozen=True)
class Note:
    """Something that Rally says: "INFO", "WARNING" or "ERROR", and the text."""

    level: str
    text: str


class OutputReader:
    """Cuts Rally's terminal output into events; pieces may end anywhere."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, text: str) -> list[TaskProgress | Note]:
        """The events that this piece of output completes, in their order."""
        # Rally redraws a progress line by moving the cursor back, so what follows is a line of its own.
        text = self._rest + text
        lines = re.split(r"\r\n|\n|\r|\x1b\[\d+D", text)
        self._rest = lines.pop()
        events: list[TaskProgress | Note] = []
        for line in lines:
            events += self._read(line)
        # A progress line is complete when its percentage is, though no line end follows it.
        if _TASK.search(_CONTROL.sub("", self._rest)):
            events += self._read(self._rest)
            self._rest = ""
        return events

    def _read(self, line: str) -> list[TaskProgress | Note]:
        plain = _CONTROL.sub("", line).strip()
        found: list[TaskProgress | Note] = [
            TaskProgress(match["task"], int(match["percent"])) for match in _TASK.finditer(plain)
        ]
        if not found and (note := _NOTE.search(plain)):
            return [Note(note["level"], note["text"].strip())]
        return found


def seconds_left(percent: int, elapsed: float) -> float | None:
    """What remains of a task if it goes on as it went, in seconds; None while too little is known."""
    if percent < 5 or percent > 100 or elapsed < 2:
        return None
    return elapsed * (100 - percent) / percent
