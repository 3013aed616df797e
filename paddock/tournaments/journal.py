"""The journal of a tournament: JSON lines, each on disk before anything that depends on it is done.

Every line has "at" in epoch seconds, for people, and "elapsed": the seconds that the tournament has been running,
breaks left out, by a clock that neither a step of the time of day nor a suspended machine disturbs. Kinds of lines:
  tournament  how it began: the tournament itself, file, options, seed, checksums
  resumed     it goes on after it was cut off
  start       an attempt at a start begins: race id, command, how many measured blocks earlier attempts have done, and
              "monotonic", the machine's steady clock, by which the lap runner tells when its laps began
  lap         a line of the lap runner's own journal, as it is
  end         an attempt has ended: "done", "failed" or "cut off", with the reason and the circumstances
  decided     the evidence suffices; nothing more is to be run
  finished    the tournament is over, and why: ALL_DONE, DECIDED, BUDGET or FAILED_RACES
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.errors import FileError
from paddock.files import writing

DONE, FAILED, CUT_OFF = "done", "failed", "cut off"
# Why a tournament is over; the last one is that of a tournament that is not.
ALL_DONE, DECIDED, BUDGET, FAILED_RACES = "all blocks done", "decided", "budget", "races failed"
INTERRUPTED = "interrupted"


@dataclass
class Attempt:
    """One race of a start.

    :param skipped: measured blocks that earlier attempts have done, and this one left out.
    :param at: when it began, epoch seconds.
    :param monotonic: when it began, by the machine's steady clock; None in journals from before.
    :param began, ended: seconds that the tournament had been running then; ``ended`` is None while it runs.
    :param outcome: DONE, FAILED or CUT_OFF; an attempt that nobody saw end was cut off.
    :param laps: what the lap runner wrote.
    """

    start: int
    number: int
    race_id: str
    command: str
    skipped: int
    at: float
    monotonic: float | None
    began: float
    ended: float | None = None
    outcome: str = CUT_OFF
    reason: str = "it was cut off"
    circumstances: dict[str, str] = field(default_factory=dict)
    laps: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class History:
    """A journal, read.

    :param decided: contender -> pairs at which the evidence sufficed; empty if it has not.
    :param stopped: why it is over; None if it is not.
    :param last: when its last line was written, epoch seconds.
    :param elapsed: seconds that the tournament has been running up to then, breaks left out.
    """

    header: dict[str, Any] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    decided: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None
    last: float = 0.0
    elapsed: float = 0.0

    def attempts_of(self, start: int) -> list[Attempt]:
        """The attempts at that start, in their order."""
        return [attempt for attempt in self.attempts if attempt.start == start]

    def failed_starts(self) -> dict[int, str]:
        """Starts whose last attempt has failed, with its reason."""
        last = {attempt.start: attempt for attempt in self.attempts}
        return {start: attempt.reason for start, attempt in sorted(last.items()) if attempt.outcome == FAILED}


class Journal:
    """Appends to a journal, and keeps what has been written as a :class:`History`.

    Its time runs from the line that begins or resumes the tournament.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.history = read_journal(file)
        self._before = self.history.elapsed
        self._began = time.monotonic()
        _end_last_line(file)

    @property
    def elapsed(self) -> float:
        """Seconds that the tournament has been running, breaks left out."""
        return self._before + time.monotonic() - self._began

    def add(self, kind: str, **values: Any) -> None:
        """Add a line and wait until it is on disk.

        :raises MachineError: if the disk is full; the journal is then as it was.
        """
        if kind in ("tournament", "resumed"):
            self._began = time.monotonic()
        line = {"kind": kind, "at": time.time(), "elapsed": round(self.elapsed, 3), **values}
        new = not self.file.exists()
        with writing(self.file), self.file.open("ab", buffering=0) as file:
            whole = file.tell()
            text = (json.dumps(line, separators=(",", ":")) + "\n").encode("utf-8")
            try:
                while text:
                    text = text[file.write(text) :]
                os.fsync(file.fileno())
            except OSError:
                os.truncate(self.file, whole)  # a full disk: half a line would damage the next one
                raise
        if new:
            _sync_folder(self.file.parent)
        _take(self.history, line)


def read_journal(file: Path) -> History:
    """What the journal says; a last line that was cut off counts as never written.

    :raises FileError: if another line is damaged; with its number.
    """
    history = History()
    if file.exists():
        for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
            try:
                _take(history, json.loads(line))
            except (ValueError, KeyError, TypeError):
                problem = "this journal is damaged here: restore it, or begin a tournament anew."
                raise FileError(file, problem, number) from None
    return history


def _take(history: History, line: Mapping[str, Any]) -> None:
    kind = line["kind"]
    if "elapsed" in line:
        history.elapsed = line["elapsed"]
    elif kind not in ("tournament", "resumed"):  # written before there was a steady clock
        history.elapsed += max(0.0, line["at"] - history.last)
    if kind == "tournament":
        history.header = dict(line)
    elif kind == "resumed":
        history.stopped = None
    elif kind == "start":
        begun = (line["at"], line.get("monotonic"), history.elapsed)
        history.attempts.append(
            Attempt(line["start"], line["attempt"], line["race_id"], line["command"], line["skipped"], *begun)
        )
    elif kind == "lap":
        _attempt(history, line).laps.append(dict(line["record"]))
    elif kind == "end":
        attempt = _attempt(history, line)
        attempt.ended, attempt.outcome, attempt.reason = history.elapsed, line["outcome"], line["reason"]
        attempt.circumstances = dict(line["circumstances"])
    elif kind == "decided":
        history.decided = dict(line["pairs"])
    elif kind == "finished":
        history.stopped = line["stopped"]
    history.last = line["at"]


def _attempt(history: History, line: Mapping[str, Any]) -> Attempt:
    for attempt in history.attempts:
        if (attempt.start, attempt.number) == (line["start"], line["attempt"]):
            return attempt
    raise KeyError("an attempt that was never begun")


def _end_last_line(file: Path) -> None:
    """Remove a last line that a crash has cut off."""
    if not file.exists():
        return
    text = file.read_bytes()
    whole = text.rfind(b"\n") + 1
    if whole < len(text):
        os.truncate(file, whole)


def _sync_folder(folder: Path) -> None:
    """Without this a power cut can lose the name of a file whose contents are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
