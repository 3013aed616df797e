"""Tournaments on disk: a folder each, with the definition, the plan, the journal and the result.

definition/      the tournament file as it was, and the table beside it
plan.json        the schedule
journal.jsonl    everything that happened
lesson.json      what it teaches the plan of the next one (paddock.tournaments.durations)
laps/            the lap runner's own journals, one per race, and the files that tell it to stop, or whom to drop
samples/         what nodes, load driver and machine did second by second, one per race (docs/samples.md)
result.json      the result, written with the report when the tournament ends or is interrupted

Every line of the journal has "at" in epoch seconds, for people, and "elapsed": the seconds that the tournament has been
running, breaks left out, by a clock that neither a step of the time of day nor a suspended machine disturbs. Kinds:
  tournament  how it began: the tournament itself, file, options, seed, checksums, the load driver's headroom
  resumed     it goes on after it was cut off
  start       an attempt at a start begins: race id, command, how many measured blocks earlier attempts have done, and
              "monotonic", the machine's steady clock, by which the lap runner tells when its laps began
  lap         a line of the lap runner's own journal, as it is
  dropped     the evidence suffices for one contender while it does not for others: it gets no further laps
  end         an attempt has ended: "done", "failed" or "cut off", with the reason and the circumstances
  decided     the evidence suffices; nothing more is to be run
  finished    the tournament is over, and why: ALL_DONE, DECIDED, BUDGET or FAILED_RACES
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paddock import journals, paths
from paddock.errors import FileError, UsageError, unknown
from paddock.files import read_record, write_json
from paddock.plain_values import built, plain, separated
from paddock.rally.request import parse_pairs
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import read_tournament
from paddock.tournaments.laps import FAILED, Attempt, blocks_done
from paddock.tournaments.model import Tournament
from paddock.tournaments.schedule import Start

# Why a tournament is over; the last one is that of a tournament that is not.
ALL_DONE, DECIDED, BUDGET, FAILED_RACES = "all blocks done", "decided", "budget", "races failed"
INTERRUPTED = "interrupted"


@dataclass
class History:
    """A journal, read.

    :param decided: contender -> pairs at which the evidence sufficed for all; empty if it has not.
    :param dropped: contender -> pairs at which it sufficed for that one, while others went on.
    :param stopped: why it is over; None if it is not.
    :param last: when its last line was written, epoch seconds.
    :param elapsed: seconds that the tournament has been running up to then, breaks left out.
    """

    header: dict[str, Any] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    decided: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
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

    def void_starts(self, tournament: Tournament) -> dict[int, str]:
        """Starts that were given up after their races had failed, without a block that counts; each with the reason."""
        failed = self.failed_starts()
        return {start: why for start, why in failed.items() if not blocks_done(self.attempts, tournament, start)}

    def take(self, line: Mapping[str, Any]) -> None:
        """Add what a line says.

        :raises KeyError, TypeError: if it is no line of a journal.
        """
        kind = line["kind"]
        if "elapsed" in line:
            self.elapsed = line["elapsed"]
        elif kind not in ("tournament", "resumed"):  # written before there was a steady clock
            self.elapsed += max(0.0, line["at"] - self.last)
        if kind == "tournament":
            self.header = dict(line)
        elif kind == "resumed":
            self.stopped = None
        elif kind == "start":
            begun = (line["at"], line.get("monotonic"), self.elapsed)
            self.attempts.append(
                Attempt(
                    *(line["start"], line["attempt"], line["race_id"], line["command"], line["skipped"], *begun),
                    dropped=dict.fromkeys(self.dropped, 0),
                )
            )
        elif kind == "lap":
            self._attempt(line).add(line["record"])
        elif kind == "end":
            attempt = self._attempt(line)
            attempt.ended, attempt.outcome, attempt.reason = self.elapsed, line["outcome"], line["reason"]
            attempt.circumstances = dict(line["circumstances"])
        elif kind == "decided":
            self.decided = dict(line["pairs"])
        elif kind == "dropped":
            self.dropped[line["contender"]] = line["pairs"]
            for attempt in self.attempts[-1:]:
                attempt.dropped[line["contender"]] = max((one.lap.block for one in attempt.records), default=0)
        elif kind == "finished":
            self.stopped = line["stopped"]
        self.last = line["at"]

    def _attempt(self, line: Mapping[str, Any]) -> Attempt:
        for attempt in self.attempts:
            if (attempt.start, attempt.number) == (line["start"], line["attempt"]):
                return attempt
        raise KeyError("an attempt that was never begun")


class Journal:
    """Appends to a journal, and keeps what has been written as a :class:`History`.

    Its time runs from the line that begins or resumes the tournament.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.history = read_journal(file)
        self._before = self.history.elapsed
        self._began = time.monotonic()
        journals.drop_half_line(file)

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
        journals.append(self.file, line)
        self.history.take(line)


def read_journal(file: Path) -> History:
    """What the journal says; a last line that was cut off counts as never written.

    :raises FileError: if another line is damaged; with its number.
    """
    history = History()
    journals.read(file, history.take, "this journal is damaged here: restore it, or begin a tournament anew.")
    return history


@dataclass(frozen=True)
class Stored:
    """A tournament in its folder."""

    id: str

    @property
    def folder(self) -> Path:
        """Where all of it lies."""
        return tournaments_folder() / self.id

    @property
    def journal(self) -> Path:
        """Everything that happened."""
        return self.folder / journals.JOURNAL

    def race_id(self, start: int, attempt: int = 1) -> str:
        """What Rally calls an attempt at that start."""
        return f"{self.id}-s{start:03d}" + (f"-{attempt}" if attempt > 1 else "")

    def lap_journal(self, race_id: str) -> Path:
        """Where the lap runner of that race writes."""
        return self.folder / "laps" / f"{race_id}.jsonl"

    def samples_file(self, race_id: str) -> Path:
        """What was sampled beside that race."""
        return self.folder / "samples" / f"{race_id}.jsonl"

    def stop_file(self, race_id: str) -> Path:
        """What ends that race before its next block, once it exists."""
        return self.folder / "laps" / f"{race_id}.stop"

    def dropped_file(self, race_id: str) -> Path:
        """Who has no laps in the blocks that this race begins after it was written."""
        return self.folder / "laps" / f"{race_id}.dropped"

    def ready_file(self, race_id: str, start: int) -> Path:
        """What lets that race go on with that start, once it exists: the nodes are there."""
        return self.folder / "laps" / f"{race_id}.start-{start}"

    def schedule(self) -> tuple[Start, ...]:
        """The schedule that was made when it began."""
        file = self.folder / "plan.json"
        schedule: tuple[Start, ...] = built(tuple[Start, ...], read_record(file).get("schedule"), f"{file}: schedule")
        return schedule

    def history(self) -> History:
        """Its journal, read."""
        return read_journal(self.journal)

    def tournament(self, history: History) -> Tournament:
        """The tournament as it was when it began, whatever has become of cars, tracks and files since.

        A journal of an earlier version has only the options; with them its copy of the tournament file is read again.

        :raises FileError: if neither tells.
        """
        header = history.header
        try:
            if "tournament" in header:
                tournament: Tournament = built(Tournament, header["tournament"], "the tournament")
                return tournament
            copy = self.folder / "definition" / Path(header["definition"]).name
            # Contenders that differ at the node were held apart then, and there were no controls.
            return read_tournament(copy, replace(stored_options(history), apart=True, no_control=True))
        except (KeyError, TypeError, ValueError, UsageError) as error:
            problem = f"this journal does not tell which tournament it is of ({error}); its report is beside it."
            raise FileError(self.journal, problem, 1) from None

    def beginning(self) -> dict[str, Any]:
        """The line with which its journal begins; empty if it was killed before it began. Cheap."""
        return _line(self.journal, 0)

    def ended_because(self) -> str | None:
        """Why it has come to its end; None if it has not. Cheap: one line of its journal tells."""
        last = _line(self.journal, -1)
        return str(last.get("stopped")) if last.get("kind") == "finished" else None


def tournaments_folder() -> Path:
    """The folder of all tournaments."""
    return paths.state_folder() / "tournaments"


def tournament_ids() -> list[str]:
    """The ids of all tournaments that were begun, the latest last, as their ids say."""
    return journals.ids_in(tournaments_folder())


def find_tournament(tournament_id: str) -> Stored:
    """The tournament with that id, or the latest one for "latest".

    :raises UsageError: if there is none; with the nearest ids.
    """
    known = tournament_ids()
    if tournament_id == "latest" and known:
        return Stored(known[-1])
    if tournament_id not in known:
        raise unknown("tournament with the id", tournament_id, known, "./inv results")
    return Stored(tournament_id)


def find_unfinished(name: str) -> Stored:
    """The tournament to go on with.

    :param name: its id; or the name of its file, or "latest" for any: then the latest that has not come to its end.
    :raises UsageError: if there is none, or it is finished.
    """
    known = tournament_ids()
    if name in known:
        stopped = Stored(name).ended_because()
        if stopped is not None:
            raise UsageError(f"The tournament {name} has ended ({stopped}): './inv tournament NAME' begins another.")
        return Stored(name)
    for tournament_id in reversed(known):
        stored = Stored(tournament_id)
        header = stored.beginning()  # without one it was killed before it began
        if header and stored.ended_because() is None and name in ("latest", Path(header["definition"]).stem):
            return stored
    if name == "latest" or name in {tournament_id.rsplit("-", 2)[0] for tournament_id in known}:
        raise UsageError(
            "No tournament is left to resume: all have come to their end. ./inv tournament NAME begins one."
        )
    raise unknown("tournament to resume called", name, known, "./inv results")


def _line(file: Path, number: int) -> dict[str, Any]:
    """The first (0) or last (-1) whole line of a journal, without reading what lies between; empty if there is none."""
    try:
        with file.open("rb") as journal:
            if number == 0:
                line = journal.readline()
            else:
                # The line with which a tournament ends is far shorter than this; of a longer one only the end is read.
                journal.seek(-min(4096, file.stat().st_size), os.SEEK_END)
                line = journal.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
        value = json.loads(line)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def create(stored: Stored, definition: Path, schedule: tuple[Start, ...]) -> None:
    """Make the folder of a tournament that is about to begin."""
    (stored.folder / "laps").mkdir(parents=True)
    copies = stored.folder / "definition"
    copies.mkdir()
    for file in (definition, *definition.parent.glob(f"{definition.stem}*.csv")):
        shutil.copyfile(file, copies / file.name)
    write_json(stored.folder / "plan.json", {"schedule": plain(schedule)})


def stored_options(history: History) -> TournamentOptions:
    """The options with which it began; an earlier version wrote them as they were typed."""
    given = {name: value for name, value in history.header["options"].items() if value is not None}
    for name in ("params", "car_params"):
        if isinstance(given.get(name), str):
            given[name] = parse_pairs(given[name], name)
    if isinstance(given.get("car"), str):
        given["car"] = separated(given["car"])
    options: TournamentOptions = built(TournamentOptions, given, "options")
    return options


def new_id(name: str) -> str:
    """An id for a tournament that is about to be planned."""
    return journals.new_id(tournaments_folder(), name)
