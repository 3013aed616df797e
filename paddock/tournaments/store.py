"""Tournaments on disk: a folder each, with the definition, the plan, the journal and the result.

definition/      the tournament file as it was, and the table beside it
plan.json        the schedule
journal.jsonl    everything that happened (paddock.tournaments.journal)
lesson.json      what it teaches the plan of the next one (paddock.tournaments.durations)
laps/            the lap runner's own journals, one per race, and the files that ask it to stop
result.json      the result, written with the report when the tournament ends or is interrupted
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import FileError, UsageError, unknown
from paddock.files import read_record, write_json
from paddock.plain_values import built
from paddock.tournaments.files import read_tournament
from paddock.tournaments.journal import History, read_journal
from paddock.tournaments.model import Tournament
from paddock.tournaments.options import TournamentOptions
from paddock.tournaments.schedule import Start, schedule_as_json, schedule_from_json

_MADE_AT = re.compile(r"-(\d{8}-\d{6})(?:-(\d+))?$")


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
        return self.folder / "journal.jsonl"

    @property
    def result(self) -> Path:
        """The result, for machines."""
        return self.folder / "result.json"

    def lap_journal(self, race_id: str) -> Path:
        """Where the lap runner of that race writes."""
        return self.folder / "laps" / f"{race_id}.jsonl"

    def stop_file(self, race_id: str) -> Path:
        """What ends that race before its next block, once it exists."""
        return self.folder / "laps" / f"{race_id}.stop"

    def schedule(self) -> tuple[Start, ...]:
        """The schedule that was made when it began."""
        return schedule_from_json(read_record(self.folder / "plan.json")["schedule"])

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
            return read_tournament(copy, stored_options(history).changes())
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
    found = [file.parent.name for file in tournaments_folder().glob("*/journal.jsonl") if file.is_file()]
    return sorted(found, key=_begun)


def _begun(tournament_id: str) -> tuple[str, int, str]:
    """What the end of an id says of when it was made: date and time, and which one in that second."""
    when = _MADE_AT.search(tournament_id)
    return (when[1], int(when[2] or 1), tournament_id) if when else ("", 1, tournament_id)


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
        header = Stored(tournament_id).beginning()
        # Without a header it was killed before it began.
        if (
            header
            and Stored(tournament_id).ended_because() is None
            and name in ("latest", Path(header["definition"]).stem)
        ):
            return Stored(tournament_id)
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


def create(tournament: Tournament, definition: Path, schedule: tuple[Start, ...]) -> Stored:
    """A folder for a tournament that is about to begin."""
    stored = Stored(_new_id(tournament.name))
    (stored.folder / "laps").mkdir(parents=True)
    copies = stored.folder / "definition"
    copies.mkdir()
    for file in (definition, *definition.parent.glob(f"{definition.stem}*.csv")):
        shutil.copyfile(file, copies / file.name)
    write_json(stored.folder / "plan.json", {"schedule": schedule_as_json(schedule)})
    return stored


def input_checksums(track: str, definition: Path) -> dict[str, str]:
    """SHA-256 of everything that decides what a race of the tournament does, by what it is."""
    return {
        str(definition): _checksum([definition]),
        f"tracks/{track}": _checksum(_files(paths.TRACKS / track)),
        "tracks/shared": _checksum(_files(paths.TRACKS / "shared")),
        "challenges": _checksum(_files(paths.CHALLENGES)),
        "cars": _checksum(_files(paths.CARS)),
    }


def check_unchanged(before: Mapping[str, str], now: Mapping[str, str], tournament_id: str) -> None:
    """Refuse to go on with something else than what was begun.

    :raises UsageError: with what has changed.
    """
    changed = sorted(name for name in before if before[name] != now.get(name))
    if changed:
        raise UsageError(
            f"The tournament {tournament_id} cannot go on, because {' and '.join(changed)} changed since it began: "
            f"laps before and after would not be comparable. Undo the change, or begin anew."
        )


def stored_options(history: History) -> TournamentOptions:
    """The options with which it began."""
    options: dict[str, Any] = history.header["options"]
    return TournamentOptions(**options)


def _new_id(name: str) -> str:
    base = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    number, chosen = 1, base
    while (tournaments_folder() / chosen).exists():
        number += 1
        chosen = f"{base}-{number}"
    return chosen


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".md":
            yield path


def _checksum(files: Iterator[Path] | list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode())
        try:
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        except FileNotFoundError:
            digest.update(b"missing")
    return digest.hexdigest()
