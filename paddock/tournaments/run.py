"""Runs a tournament: start after start, every lap in the journal, until all is done, decided or the budget is used."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from paddock.console import PLAIN_INTERVAL, messages, say, warn
from paddock.errors import Interrupted, MachineError, RaceError
from paddock.files import read_record
from paddock.race.options import PreparedRace
from paddock.rally.clusters import DEFAULT_CLUSTER
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.nodes import Nodes
from paddock.rally.outcome import race_file
from paddock.rally.process import Note, TaskProgress
from paddock.rally.request import printable
from paddock.rally.run import run_race_alone
from paddock.sampling import Endpoint, lucene_version
from paddock.tournaments.analysis import current_standing, is_decided
from paddock.tournaments.laps import CUT_OFF, DONE, FAILED, Attempt, LapLines, blocks_done, laps_of
from paddock.tournaments.model import UNDECIDED, Verdict
from paddock.tournaments.plan import Plan
from paddock.tournaments.races import Setting, contenders_on, race_circumstances
from paddock.tournaments.schedule import Start
from paddock.tournaments.store import ALL_DONE, BUDGET, DECIDED, FAILED_RACES, Journal

# A failed race is tried again once.
MOST_FAILURES = 2
# Seconds between two looks at whether all nodes are there.
NODES_INTERVAL = 2.0


class TournamentRun:
    """One tournament, begun or resumed; whoever runs it holds the lock on races."""

    def __init__(self, setting: Setting, journal: Journal) -> None:
        self._setting = setting
        self._plan = setting.plan
        self._tournament = setting.plan.tournament
        self._journal = journal
        self._view = _View(setting.plan)
        self._warned: set[str] = set()
        self._out_of_budget = journal.elapsed > setting.plan.tournament.budget_minutes * 60
        self.stored = setting.stored
        self.contenders_on = contenders_on(setting.plan.tournament, setting.options)

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
                return ALL_DONE if self._is_complete() else BUDGET
            self._run_start(start)
            self._look(self._standing())
        if history.decided:
            return DECIDED
        if self._out_of_budget and not self._is_complete():
            return BUDGET
        failed = history.failed_starts()
        short = any(self._left(start).blocks for start in self._plan.schedule if start.number in failed)
        return FAILED_RACES if short else ALL_DONE

    def _is_complete(self) -> bool:
        """Whether all that was planned has been run, though the budget was used up by its last block."""
        if self._tournament.node_level:
            done = {attempt.start for attempt in self._journal.history.attempts if attempt.outcome == DONE}
            return all(start.number in done for start in self._plan.schedule)
        return not any(self._left(start).blocks for start in self._plan.schedule)

    def _run_start(self, start: Start) -> None:
        """Bring a start to its end, or leave it as it is after two failures."""
        while not self._journal.history.decided:
            attempts = self._journal.history.attempts_of(start.number)
            left = self._left(start)
            if (attempts and attempts[-1].outcome == DONE) or left.blocks == 0 or self._out_of_budget:
                return
            failures = [attempt for attempt in attempts if attempt.outcome == FAILED]
            if len(failures) >= MOST_FAILURES:
                done = start.blocks - left.blocks
                kept = f"keeps {done} of {start.blocks} blocks" if done else "is void"
                warn(f"Start {start.number} failed twice and {kept}: {failures[-1].reason}")
                return
            self._attempt(start, left, len(attempts) + 1)

    def _left(self, start: Start) -> Start:
        """What is still to be run of a start."""
        return start.without(blocks_done(self._journal.history.attempts, self._tournament, start.number))

    def _attempt(self, start: Start, left: Start, number: int) -> None:
        """One race: of what is left of this start, and of those that follow where nodes are started while it runs."""
        spans = (left, *self._setting.spans(start)[1:])
        race = self._setting.race(spans, number)
        for note in race.notes:
            if note not in self._warned:
                self._warned.add(note)
                warn(note)
        nodes = Nodes(race.request.race_id, race.request.clusters)
        watch = _Watch(self, race, nodes, spans)
        self.begin(start, left, number, race)
        try:
            run_race_alone(race.request, watch, say, race.corpus_bytes, nodes)
        except RaceError as error:
            self.end(FAILED, str(error))
            warn(str(error))
        except (Interrupted, MachineError) as error:
            self.end(CUT_OFF, str(error))
            raise
        else:
            watch.close()

    def begin(self, start: Start, left: Start, number: int, race: PreparedRace) -> None:
        """An attempt at a start begins in that race."""
        self._view.start(start, number)
        self._journal.add(
            "start",
            start=start.number,
            attempt=number,
            race_id=race.request.race_id,
            command=printable(race.request),
            skipped=start.blocks - left.blocks,
            monotonic=time.monotonic(),
        )

    def end(self, outcome: str, reason: str, circumstances: dict[str, str] | None = None) -> None:
        """The attempt that is running has ended; none may be, between two starts of a race."""
        attempt = self._journal.history.attempts[-1]
        if attempt.ended is None:
            self._end(attempt, outcome, reason, circumstances)

    def goes_on_with(self, start: Start) -> bool:
        """Whether a race that has come to the end of a start goes on with this one."""
        self._look(self._standing())
        history = self._journal.history
        ends = history.decided or self._out_of_budget or self._too_late_for(start)
        return not ends and not history.attempts_of(start.number)

    def laps_arrived(self, lines: list[dict[str, Any]]) -> int:
        """Write down laps that have just been run, show the standing, and see whether it is time to stop.

        :returns: how many laps the attempt has by now.
        """
        attempt = self._journal.history.attempts[-1]
        self._add(attempt, lines)
        self._view.laps(len(lines))
        latest = attempt.records[-1].lap.block
        run = {record.lap.contender for record in attempt.records if record.lap.block == latest}
        if not self._tournament.node_level and len(run) < len(self._tournament.raced):
            return len(attempt.records)  # the block goes on; a standing now would disturb the lap that is running
        standing = self._standing()
        self._view.standing(standing_text(standing))
        self._out_of_budget = self._out_of_budget or self._journal.elapsed > self._tournament.budget_minutes * 60
        if not self._tournament.node_level and self._tournament.starts == 1:
            self._look(standing)
        if self._journal.history.decided or (self._out_of_budget and not self._tournament.node_level):
            self.stored.stop_file(attempt.race_id).touch()
        return len(attempt.records)

    def laps_of(self, start: Start) -> int:
        """How many laps the attempt at that start has that is running, or ran last."""
        attempts = self._journal.history.attempts_of(start.number)
        return len(attempts[-1].records) if attempts else 0

    def said(self, event: TaskProgress | Note) -> None:
        """Rally says something; its own progress is coarser than ours."""
        if isinstance(event, Note) and event.level == "WARNING":
            warn(f"Rally: {event.text}")

    def _standing(self) -> tuple[Verdict, ...]:
        laps = laps_of(self._journal.history.attempts, self._tournament, running=True)
        return current_standing(laps, self._tournament)

    def _look(self, standing: Sequence[Verdict]) -> None:
        """Ask the e-process whether the evidence suffices; once it does, that is written down."""
        if not self._journal.history.decided and is_decided(standing, self._tournament):
            self._journal.add("decided", pairs={one.contender: one.pairs for one in standing})
            say(f"The evidence suffices: {standing_text(standing)}.")

    def _too_late_for(self, start: Start) -> bool:
        """Whether the budget does not suffice for that start and the others of its group; never for the first group."""
        members = [one for one in self._plan.schedule if one.group == start.group]
        if start.group == 1 or start.number != members[0].number or self._journal.history.attempts_of(start.number):
            return False
        needed = sum(self._plan.seconds[one.number - 1] for one in members)
        return self._journal.elapsed + needed > self._tournament.budget_minutes * 60

    def _close_cut_off_attempts(self) -> None:
        """Take over what races that were cut off have still written, once they are gone."""
        history = self._journal.history
        for attempt in history.attempts:
            if attempt.ended is None:
                # A race that spans several starts has written all their laps into one file.
                known = sum(len(one.records) for one in history.attempts if one.race_id == attempt.race_id)
                self._add(attempt, LapLines(self.stored.lap_journal(attempt.race_id), known).read())
                self._end(attempt, CUT_OFF, "It was cut off by a kill or a power failure.")

    def _add(self, attempt: Attempt, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            self._journal.add("lap", start=attempt.start, attempt=attempt.number, record=line)

    def _end(self, attempt: Attempt, outcome: str, reason: str, circumstances: dict[str, str] | None = None) -> None:
        self._journal.add(
            "end",
            start=attempt.start,
            attempt=attempt.number,
            outcome=outcome,
            reason=reason,
            circumstances=circumstances or {},
        )


class _Watch:
    """Observes one race, hands its laps on as they are run, and starts the nodes anew between two of its starts.

    :param spans: what is to be run of each start of the race.
    """

    def __init__(self, run: TournamentRun, race: PreparedRace, nodes: Nodes, spans: Sequence[Start]) -> None:
        self._run = run
        self._race = race
        self._nodes = nodes
        self._spans = list(spans)
        self._lines = LapLines(run.stored.lap_journal(race.request.race_id))
        self._lucene: dict[str, str] = {}
        self._launch: Future[None] | None = None
        self._launcher = ThreadPoolExecutor(1)
        self._over = False
        self._looked = 0.0
        self._broken = False

    def started(self, processes: RaceProcesses) -> None:
        """Nothing to do: the lap runner measures."""

    def progress(self, event: TaskProgress | Note) -> None:
        self._run.said(event)

    def tick(self) -> None:
        if self._launch is not None and self._launch.done():
            self._launched(self._launch)
        if self._broken or self._has_lost_a_node():
            return  # what laps there still are have run on what was left
        for start, group in itertools.groupby(self._lines.read(), lambda line: line.get("start")):
            if not self._lucene:
                self._lucene = self._ask()  # in the warm-up, and as cheap as a question can be
            if start in (None, self._spans[0].number) and self._run.laps_arrived(list(group)) == self._spans[0].laps:
                self._next_start()

    def interrupted(self) -> None:
        # The lap runner may be waiting for nodes, and Rally for the lap runner.
        self._run.stored.stop_file(self._race.request.race_id).touch()

    def ended(self) -> None:
        # The start for which nodes are still being started will be another race's.
        self._over, self._launch = True, None
        self._nodes.give_up()
        self._launcher.shutdown()
        self.tick()

    def close(self) -> None:
        """The race has come to results: so has the start that was running, if it has all its laps."""
        race_id, start = self._race.request.race_id, self._spans[0]
        missing = start.laps - self._run.laps_of(start)
        if missing and not self._run.stored.stop_file(race_id).exists():
            self._run.end(FAILED, f"The race {race_id} ended with {missing} of {start.laps} laps missing.")
        else:
            self._run.end(DONE, "", self._circumstances())

    def _has_lost_a_node(self) -> bool:
        """See that all nodes are there; without one the attempt has failed, and the race ends before its next block."""
        if self._over or self._launch is not None or time.monotonic() - self._looked < NODES_INTERVAL:
            return False
        self._looked = time.monotonic()
        if (reason := self._nodes.gone()) is None:
            return False
        self._broken = True
        self._run.end(FAILED, reason)
        warn(reason)
        self._run.stored.stop_file(self._race.request.race_id).touch()
        return True

    def _next_start(self) -> None:
        """A start has all its laps: the race ends, or its nodes are started anew, beside this thread."""
        if len(self._spans) == 1 or self._launch is not None:
            return
        self._run.end(DONE, "", self._circumstances())
        if self._over:
            return
        if self._run.goes_on_with(self._spans[1]):
            self._launch = self._launcher.submit(self._nodes.restart)
        else:
            self._run.stored.stop_file(self._race.request.race_id).touch()

    def _launched(self, launch: Future[None]) -> None:
        """The nodes are there for the next start, or cannot be: then another race tries again."""
        self._launch = None
        del self._spans[0]
        start, race_id = self._spans[0], self._race.request.race_id
        self._run.begin(start, start, 1, self._race)
        try:
            launch.result()
        except (RaceError, MachineError) as error:
            self._broken = True
            self._run.end(FAILED, str(error))
            warn(str(error))
            self._run.stored.stop_file(race_id).touch()
        else:
            self._run.stored.ready_file(race_id, start.number).touch()

    def _circumstances(self) -> dict[str, str]:
        told = read_record(race_file(self._race.request.race_id))
        return race_circumstances(self._race, told, self._lucene, self._run.contenders_on)

    def _ask(self) -> dict[str, str]:
        """The Lucene of each cluster."""
        request = self._race.request
        hosts = {one.name: ",".join(one.addresses) for one in request.clusters} or {DEFAULT_CLUSTER: request.hosts}
        private = request.client_options.private
        return {
            name: lucene_version(Endpoint.from_client_options(text, private.get(name) or request.client_options.values))
            for name, text in hosts.items()
        }


def standing_text(standing: Sequence[Verdict], most: int = 4) -> str:
    """One line for a person: the contenders farthest from the baseline."""
    known = sorted(
        ((one, one.ratio) for one in standing if one.ratio is not None), key=lambda both: -abs(math.log(both[1]))
    )
    shown = [
        f"{one.contender} {100 * (ratio - 1):+.1f} %{' (undecided)' if one.verdict == UNDECIDED else ''}"
        for one, ratio in known[:most]
    ]
    more = len(known) - most
    return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])]) or "no pair of laps yet"


class _View:
    """Progress in laps: a bar on a terminal, lines elsewhere."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._total = sum(start.laps for start in plan.schedule[: plan.fits])
        self._done = 0
        self._said = 0.0
        self._began = time.monotonic()
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def start(self, start: Start, attempt: int) -> None:
        """A start begins; everything before it is done."""
        schedule = self._plan.schedule
        self._done = sum(one.laps for one in schedule[: start.number - 1])
        again = f", attempt {attempt}" if attempt > 1 else ""
        who = start.contenders[0] if len(start.contenders) == 1 else f"{start.laps} laps"
        say(f"[{self._elapsed()}] Start {start.number} of {len(schedule)} ({who}{again}) ...")
        if messages().is_terminal and self._bar is None:
            self._bar = Progress(
                TextColumn("{task.completed}/{task.total} laps"),
                BarColumn(bar_width=30),
                TextColumn("about {task.fields[left]} left"),
                TextColumn("{task.fields[standing]}", markup=False),
                console=messages(),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self._total, left="?", standing="")
            self._bar.start()

    def laps(self, number: int) -> None:
        """So many laps more have been run."""
        self._done += number
        if self._bar:
            self._bar.update(self._task, completed=self._done, left=self._left())

    def standing(self, text: str) -> None:
        """Who leads, after a block."""
        if self._bar:
            self._bar.update(self._task, standing=text)
        elif time.monotonic() - self._said >= PLAIN_INTERVAL:
            self._said = time.monotonic()
            say(f"[{self._elapsed()}] {self._done} of {self._total} laps, about {self._left()} left; {text}")

    def close(self) -> None:
        """It is over."""
        if self._bar:
            self._bar.stop()
            self._bar = None

    def _left(self) -> str:
        """From the plan's durations: the share of laps that is left of each start's seconds."""
        seconds, before = 0.0, 0
        for start, expected in zip(self._plan.schedule[: self._plan.fits], self._plan.seconds, strict=False):
            left = min(start.laps, max(0, before + start.laps - self._done))
            seconds += expected * left / start.laps
            before += start.laps
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._began)
        return f"{seconds // 60}:{seconds % 60:02d}"
