"""Runs a tournament: start after start, every lap in the journal, until all is done, decided or the budget is used."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from paddock.circumstances import CORPUS, corpus_text
from paddock.console import say, warn
from paddock.errors import Interrupted, MachineError, RaceError, UsageError
from paddock.race.options import PreparedRace, RaceOptions, prepare
from paddock.rally import command
from paddock.rally.process import Note, TaskProgress
from paddock.rally.processes import RaceProcesses
from paddock.rally.request import Outcome
from paddock.rally.run import run_race_alone
from paddock.sampling import Endpoint, lucene_version
from paddock.tournaments.journal import (
    ALL_DONE,
    BUDGET,
    CUT_OFF,
    DECIDED,
    DONE,
    FAILED,
    FAILED_RACES,
    Attempt,
    Journal,
)
from paddock.tournaments.laps import LapLines, blocks_done, laps_of
from paddock.tournaments.model import Tournament
from paddock.tournaments.options import TournamentOptions, race_options
from paddock.tournaments.plan import Plan
from paddock.tournaments.schedule import Start
from paddock.tournaments.store import Stored
from paddock.tournaments.view import Place, TournamentView, current_standing, is_decided, standing_text

# A failed race is tried again once.
MOST_FAILURES = 2

Prepare = Callable[[RaceOptions, bool], PreparedRace]


@dataclass(frozen=True)
class Checked:
    """What the races of a tournament turn out to be.

    :param commands: the esrally command lines, one for each kind of start.
    :param corpora: SHA-256 by what the corpus is called.
    """

    commands: tuple[str, ...]
    corpora: Mapping[str, str]


@dataclass(frozen=True)
class Setting:
    """What a tournament is run with.

    :param prepare: makes a race of its options; tests have one of their own.
    """

    plan: Plan
    stored: Stored
    options: TournamentOptions
    prepare: Prepare = prepare


class TournamentRun:
    """One tournament, begun or resumed; whoever runs it holds the lock on races."""

    def __init__(self, setting: Setting, journal: Journal) -> None:
        self._plan = setting.plan
        self._tournament = setting.plan.tournament
        self._stored = setting.stored
        self._options = setting.options
        self._prepare = setting.prepare
        self._journal = journal
        self._view = TournamentView(setting.plan)
        self._warned: set[str] = set()
        self._out_of_budget = journal.elapsed > setting.plan.tournament.budget_minutes * 60

    def run(self) -> str:
        """Run what is still to be run; returns why it ended.

        :raises Interrupted: the user stopped it; what was measured is in the journal.
        :raises MachineError: something is in the way of a race.
        """
        try:
            self._close_cut_off_attempts()
            stopped = self._run_starts()
        except KeyboardInterrupt:
            raise Interrupted("Stopped.") from None
        finally:
            self._view.close()
        self._journal.add("finished", stopped=stopped)
        return stopped

    def _run_starts(self) -> str:
        history = self._journal.history
        for start in self._plan.schedule:
            if history.decided:
                return DECIDED
            if self._out_of_budget or self._too_late_for(start):
                return BUDGET
            self._run_start(start)
            self._look()
        if history.decided:
            return DECIDED
        if self._out_of_budget:
            return BUDGET
        failed = history.failed_starts()
        short = any(
            blocks_done(history, self._tournament, start.number) < start.blocks
            for start in self._plan.schedule
            if start.number in failed
        )
        return FAILED_RACES if short else ALL_DONE

    def _run_start(self, start: Start) -> None:
        """Bring a start to its end, or leave it as it is after two failures."""
        while not self._journal.history.decided:
            attempts = self._journal.history.attempts_of(start.number)
            if attempts and attempts[-1].outcome == DONE:
                return
            left = start.without(blocks_done(self._journal.history, self._tournament, start.number))
            if left.blocks == 0 or self._out_of_budget:
                return
            failures = [attempt for attempt in attempts if attempt.outcome == FAILED]
            if len(failures) >= MOST_FAILURES:
                done = start.blocks - left.blocks
                kept = f"keeps {done} of {start.blocks} blocks" if done else "is void"
                warn(f"Start {start.number} failed twice and {kept}: {failures[-1].reason}")
                return
            self._attempt(start, left, len(attempts) + 1)

    def _attempt(self, start: Start, left: Start, number: int) -> None:
        race_id = f"{self._stored.id}-s{start.number:03d}" + (f"-{number}" if number > 1 else "")
        laps, stop = self._stored.lap_journal(race_id), self._stored.stop_file(race_id)
        race = self._prepare(
            race_options(self._tournament, left, self._options, race_id, self._stored.id, laps, stop), True
        )
        for note in race.notes:
            if note not in self._warned:
                self._warned.add(note)
                warn(note)
        self._view.start(start, number)
        self._journal.add(
            "start",
            start=start.number,
            attempt=number,
            race_id=race_id,
            command=command.printable(race.request),
            skipped=start.blocks - left.blocks,
            monotonic=time.monotonic(),
        )
        attempt = self._journal.history.attempts[-1]
        endpoint = Endpoint.from_client_options(race.request.hosts, race.client_options.values)
        watch = _Watch(self, attempt, LapLines(laps), endpoint)
        try:
            outcome = run_race_alone(race.request, watch, say, race.corpus_bytes)
        except RaceError as error:
            self._end(attempt, FAILED, str(error), {})
            warn(str(error))
            return
        except (Interrupted, MachineError) as error:
            self._end(attempt, CUT_OFF, str(error), {})
            raise
        missing = left.laps - len(attempt.laps)
        if missing and not stop.exists():
            self._end(attempt, FAILED, f"The race {race_id} ended with {missing} of {left.laps} laps missing.", {})
            return
        self._end(attempt, DONE, "", _circumstances(race, outcome, watch.lucene))

    def laps_arrived(self, attempt: Attempt, records: list[dict[str, Any]]) -> None:
        """Write down laps that have just been run, show the standing, and see whether it is time to stop."""
        for record in records:
            self._journal.add("lap", start=attempt.start, attempt=attempt.number, record=record)
        self._view.laps(len(records))
        block = records[-1]["block"]
        run = {record["level"] for record in attempt.laps if record["block"] == block}
        if not self._tournament.node_level and len(run) < len(self._tournament.contenders):
            return  # the block goes on; to compute a standing now would disturb the lap that is running
        self._view.standing(standing_text(self._places()))
        self._out_of_budget = self._out_of_budget or self._journal.elapsed > self._tournament.budget_minutes * 60
        if not self._tournament.node_level and self._tournament.starts == 1:
            self._look()
        if self._journal.history.decided or (self._out_of_budget and not self._tournament.node_level):
            self._stored.stop_file(attempt.race_id).touch()

    def view_event(self, event: TaskProgress | Note) -> None:
        """Rally says something."""
        self._view.event(event)

    def _places(self) -> tuple[Place, ...]:
        return current_standing(laps_of(self._journal.history, self._tournament, True), self._tournament)

    def _look(self) -> None:
        """Ask the e-process whether the evidence suffices; once it does, that is written down."""
        history = self._journal.history
        if history.decided:
            return
        places = self._places()
        if is_decided(places, self._tournament):
            self._journal.add("decided", pairs={place.contender: place.pairs for place in places})
            say(f"The evidence suffices: {standing_text(places)}.")

    def _too_late_for(self, start: Start) -> bool:
        """Whether the budget does not suffice for that start and the others of its group; never for the first group."""
        members = [one for one in self._plan.schedule if one.group == start.group]
        if start.group == 1 or start.number != members[0].number or self._journal.history.attempts_of(start.number):
            return False
        needed = sum(self._plan.seconds[one.number - 1] for one in members)
        return self._journal.elapsed + needed > self._tournament.budget_minutes * 60

    def _close_cut_off_attempts(self) -> None:
        """Take over what races that were cut off have still written, once they are gone."""
        for attempt in self._journal.history.attempts:
            if attempt.ended is None:
                known = len(attempt.laps)
                for record in LapLines(self._stored.lap_journal(attempt.race_id), known).read():
                    self._journal.add("lap", start=attempt.start, attempt=attempt.number, record=record)
                self._end(attempt, CUT_OFF, "It was cut off by a kill or a power failure.", {})

    def _end(self, attempt: Attempt, outcome: str, reason: str, circumstances: dict[str, str]) -> None:
        self._journal.add(
            "end",
            start=attempt.start,
            attempt=attempt.number,
            outcome=outcome,
            reason=reason,
            circumstances=circumstances,
        )


class _Watch:
    """Observes the race of one start and hands its laps on as they are run."""

    def __init__(self, run: TournamentRun, attempt: Attempt, lines: LapLines, endpoint: Endpoint) -> None:
        self.lucene = ""
        self._endpoint = endpoint
        self._asked = False
        self._run = run
        self._attempt = attempt
        self._lines = lines

    def started(self, processes: RaceProcesses) -> None:
        """Nothing to do: the lap runner measures."""

    def progress(self, event: TaskProgress | Note) -> None:
        self._run.view_event(event)

    def tick(self) -> None:
        if records := self._lines.read():
            if not self._asked:
                # In the warm-up, and as cheap as a question can be.
                self._asked, self.lucene = True, lucene_version(self._endpoint)
            self._run.laps_arrived(self._attempt, records)

    def ended(self) -> None:
        self.tick()


def _circumstances(race: PreparedRace, outcome: Outcome, lucene: str) -> dict[str, str]:
    """What a start has run on, for the report."""
    engine = race.request.engine
    found = {"cars": ",".join(race.request.cars), "track revision": str(outcome.race.get("track-revision") or "")}
    if race.corpus is not None:
        found[CORPUS] = corpus_text(race.corpus)
    if engine is not None:
        found["Elasticsearch"] = f"{engine.version} ({engine.kind})"
        if engine.java is not None:
            found["Java"] = engine.java.version
    else:
        found["Elasticsearch"] = str(outcome.race.get("cluster", {}).get("distribution-version") or "unknown")
        found["target hosts"] = race.request.hosts
    found["Lucene"] = lucene
    if outcome.race.get("rally-version"):
        found["Rally"] = str(outcome.race["rally-version"])
    return {name: text for name, text in found.items() if text}


def _check_lap(tournament: Tournament, documents: int | None) -> None:
    """Check that a lap fits the corpus, which the file alone cannot tell of an imported one."""
    if documents is not None and tournament.lap_documents > documents:
        raise UsageError(
            f"A lap of {tournament.lap_documents:,} documents does not fit the corpus of {documents:,}: "
            f"make lap_documents smaller, or choose a larger corpus."
        )


def check_races(setting: Setting, fetch: bool) -> Checked:
    """Prepare one race of every kind of node before the first one is run, so that mistakes show at once.

    :param fetch: whether to get what is missing.
    :raises PaddockError: as for a single race.
    """
    tournament, seen, lines = setting.plan.tournament, set(), []
    corpora: dict[str, str] = {}
    for start in setting.plan.schedule:
        if start.contenders in seen:
            continue
        seen.add(start.contenders)
        race_id = f"{setting.stored.id}-s{start.number:03d}"
        laps, stop = setting.stored.lap_journal(race_id), setting.stored.stop_file(race_id)
        race = setting.prepare(
            race_options(tournament, start, setting.options, race_id, setting.stored.id, laps, stop), fetch
        )
        _check_lap(tournament, race.corpus_documents)
        lines.append(command.printable(race.request))
        if race.corpus is not None:
            corpora[f"the corpus {race.corpus.name}"] = race.corpus.sha256
    return Checked(tuple(lines), corpora)
