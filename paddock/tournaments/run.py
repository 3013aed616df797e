"""Runs a tournament: start after start, every lap in the journal, until all is done, decided or the budget is used."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from paddock.cars.machine import this_machine
from paddock.console import say, warn
from paddock.errors import Interrupted, MachineError, RaceError
from paddock.files import read_record, write_json
from paddock.race.options import PreparedRace
from paddock.rally.caches import PAGE_CACHE, drop_caches
from paddock.rally.clusters import DEFAULT_CLUSTER
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.nodes import Nodes
from paddock.rally.outcome import race_file
from paddock.rally.process import Note, TaskProgress
from paddock.rally.request import printable
from paddock.rally.run import run_race_alone
from paddock.sampling import Endpoint, NodesObserver, Sampler, described, lucene_version
from paddock.tournaments.analysis import current_standing, is_decided, to_be_dropped
from paddock.tournaments.durations import start_seconds
from paddock.tournaments.growth import bytes_to_index
from paddock.tournaments.headroom import recorded_headroom
from paddock.tournaments.laps import CUT_OFF, DONE, FAILED, Attempt, LapLines, blocks_done, laps_of
from paddock.tournaments.model import Verdict
from paddock.tournaments.races import Setting, contenders_on, race_circumstances
from paddock.tournaments.schedule import Start
from paddock.tournaments.store import ALL_DONE, BUDGET, DECIDED, FAILED_RACES, Journal
from paddock.tournaments.view import View, standing_text

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
        self._view = View(setting.plan)
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
            if not start.lacking(history.dropped).contenders:
                continue
            if self._out_of_budget or self._too_late_for(start):
                return ALL_DONE if self._is_complete() else BUDGET
            self._run_start(start)
            # A start that was cut off later is looked at when it is whole, and not before.
            if history.attempts and history.attempts[-1].start <= start.number:
                self._look(self._standing())
        if history.decided:
            return DECIDED
        if self._out_of_budget and not self._is_complete():
            return BUDGET
        failed = history.failed_starts()
        left = [self._left(start) for start in self._plan.schedule if start.number in failed]
        short = any(one.blocks and one.contenders for one in left)
        return FAILED_RACES if short else ALL_DONE

    def _is_complete(self) -> bool:
        """Whether all that was planned has been run, though the budget was used up by its last block."""
        if self._tournament.node_level:
            done = {attempt.start for attempt in self._journal.history.attempts if attempt.outcome == DONE}
            planned = [one for one in self._plan.schedule if one.lacking(self._journal.history.dropped).contenders]
            return all(start.number in done for start in planned)
        left = map(self._left, self._plan.schedule)
        return not any(one.blocks and one.contenders for one in left)

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
        history = self._journal.history
        return start.without(blocks_done(history.attempts, self._tournament, start.number)).lacking(history.dropped)

    def _attempt(self, start: Start, left: Start, number: int) -> None:
        """One race: of what is left of this start, and of those that follow where nodes are started while it runs."""
        following = self._setting.spans(start)[1:]
        spans = (left, *(one.lacking(self._journal.history.dropped) for one in following))
        race = self._setting.race(spans, number)
        for note in race.notes:
            if note not in self._warned:
                self._warned.add(note)
                warn(note)
        nodes = Nodes(race.request.race_id, race.request.clusters)
        watch = _Watch(self, race, nodes, spans, self._tournament.drop_caches)
        self.begin(start, left, number, race)
        watch.drop_caches()
        plan = self._plan
        size = bytes_to_index(plan.tournament, plan.experience, race.corpus_documents, race.corpus_bytes)
        try:
            run_race_alone(race.request, watch, say, size, nodes)
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

    def laps_arrived(self, lines: list[dict[str, Any]]) -> None:
        """Write down laps that have just been run, show the standing, and see whether it is time to stop."""
        attempt = self._journal.history.attempts[-1]
        self._add(attempt, lines)
        self._view.laps(len(lines))
        latest = attempt.records[-1].lap.block
        run = {record.lap.contender for record in attempt.records if record.lap.block == latest}
        raced = [one.name for one in self._tournament.raced]
        if not self._tournament.node_level and not run >= attempt.expected(raced, latest):
            return  # the block goes on; a standing now would disturb the lap that is running
        standing = self._standing()
        self._view.standing(standing_text(standing))
        self._out_of_budget = self._out_of_budget or self._journal.elapsed > self._tournament.budget_minutes * 60
        if not self._tournament.node_level and self._tournament.starts == 1:
            self._look(standing)
        if self._journal.history.decided or (self._out_of_budget and not self._tournament.node_level):
            self.stored.stop_file(attempt.race_id).touch()

    def missing(self, start: Start) -> int:
        """How many laps the attempt at that start still lacks that is running, or ran last.

        :param start: what it is to run.
        """
        return self._journal.history.attempts_of(start.number)[-1].missing(start)

    def said(self, event: TaskProgress | Note) -> None:
        """Rally says something; its own progress is coarser than ours."""
        if isinstance(event, Note) and event.level == "WARNING":
            warn(f"Rally: {event.text}")

    def _standing(self) -> tuple[Verdict, ...]:
        laps = laps_of(self._journal.history.attempts, self._tournament, running=True)
        history = self._journal.history
        return current_standing(laps, self._tournament, history.dropped, recorded_headroom(history.header))

    def _look(self, standing: Sequence[Verdict]) -> None:
        """Ask the e-process whether the evidence suffices, for all or for some; once it does, that is written down."""
        history = self._journal.history
        if history.decided:
            return
        if is_decided(standing, self._tournament):
            self._journal.add("decided", pairs={one.contender: one.pairs for one in standing})
            say(f"The evidence suffices: {standing_text(standing)}.")
        elif new := to_be_dropped(standing, self._tournament, history.dropped):
            for one in new:
                self._journal.add("dropped", contender=one.contender, pairs=one.pairs, verdict=one.verdict)
            say(f"Decided, so no further laps of: {standing_text(new)}.")
            self._view.drop(history)
            # Read before each block, by a race that spans several starts before the next one, too.
            write_json(self.stored.dropped_file(history.attempts[-1].race_id), sorted(history.dropped))

    def _too_late_for(self, start: Start) -> bool:
        """Whether the budget does not suffice for that start and the others of its group; never for the first group."""
        dropped = self._journal.history.dropped
        of_group = (one for one in self._plan.schedule if one.group == start.group)
        members = [one for one in of_group if one.lacking(dropped).contenders]
        if start.group == 1 or start.number != members[0].number or self._journal.history.attempts_of(start.number):
            return False
        needed = sum(self._seconds(one) for one in members)
        return self._journal.elapsed + needed > self._tournament.budget_minutes * 60

    def _seconds(self, start: Start) -> float:
        """How long a start will probably take, without the contenders that were dropped."""
        left = start.lacking(self._journal.history.dropped)
        if left is start:
            return self._pace() * self._plan.seconds[start.number - 1]
        return self._pace() * start_seconds(self._tournament, left, self._plan.experience) if left.contenders else 0.0

    def _pace(self) -> float:
        """What whole starts have taken here, as a share of what was planned; 1 before the first one has ended.

        Where no tournament was held before, the plan is a guess, and may be far off. What lies between starts counts.
        """
        attempts = self._journal.history.attempts
        done = [one for one in attempts if one.outcome == DONE and one.ended is not None and not one.skipped]
        planned = sum(self._plan.seconds[one.start - 1] for one in done)
        return ((done[-1].ended or 0.0) - done[0].began) / planned if planned else 1.0

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
    :param drops: whether the kernel's cache is dropped before nodes start.
    """

    def __init__(
        self, run: TournamentRun, race: PreparedRace, nodes: Nodes, spans: Sequence[Start], drops: bool = False
    ) -> None:
        self._drops = drops
        self._cache = ""
        self._run = run
        self._race = race
        self._nodes = nodes
        self._spans = list(spans)
        self._lines = LapLines(run.stored.lap_journal(race.request.race_id))
        self._told: dict[str, dict[str, str]] = {}
        self._launch: Future[None] | None = None
        self._launcher = ThreadPoolExecutor(1)
        self._over = False
        self._looked = 0.0
        self._broken = False
        self._sampler: Sampler | None = None

    def started(self, processes: RaceProcesses) -> None:
        """Clusters that are there are asked what they are before anything else is; the lap runner measures."""
        endpoints, race_id = self._endpoints(), self._race.request.race_id
        if not self._race.request.starts_nodes:
            self._told = {name: described(endpoint) for name, endpoint in endpoints.items()}
        observer, samples = NodesObserver(endpoints, this_machine().processors), self._run.stored.samples_file(race_id)
        self._sampler = Sampler(observer, samples, processes.component_pids)
        self._sampler.start()

    def progress(self, event: TaskProgress | Note) -> None:
        self._run.said(event)

    def tick(self) -> None:
        if self._launch is not None and self._launch.done():
            self._launched(self._launch)
        if self._broken or self._has_lost_a_node():
            return  # what laps there still are have run on what was left
        for start, group in itertools.groupby(self._lines.read(), lambda line: line.get("start")):
            if not self._told:  # in the warm-up, and as cheap as a question can be
                self._told = {name: {"Lucene": lucene_version(one)} for name, one in self._endpoints().items()}
            if start in (None, self._spans[0].number):
                self._run.laps_arrived(list(group))
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
        if self._sampler is not None:
            self._sampler.stop()
            if self._sampler.problem:
                warn(f"The samples end early: {self._sampler.problem}")

    def close(self) -> None:
        """The race has come to results: so has the start that was running, if it has all its laps."""
        race_id, start = self._race.request.race_id, self._spans[0]
        missing = self._run.missing(start)
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
        """Once a start has all its laps, the race ends, or its nodes are started anew, beside this thread."""
        if len(self._spans) == 1 or self._launch is not None or self._run.missing(self._spans[0]):
            return
        self._run.end(DONE, "", self._circumstances())
        if self._over:
            return
        if self._run.goes_on_with(self._spans[1]):
            self._launch = self._launcher.submit(self._restart_cold if self._drops else self._nodes.restart)
        else:
            self._run.stored.stop_file(self._race.request.race_id).touch()

    def drop_caches(self) -> None:
        """Drop the kernel's cache, where the tournament asks for it; what came of it is a circumstance of the start."""
        self._cache = drop_caches() if self._drops else ""

    def _restart_cold(self) -> None:
        """Stop the nodes and start them anew; the kernel's cache is dropped while nobody uses their files."""
        self._nodes.stop()
        self.drop_caches()
        self._nodes.start()

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
        cache = {PAGE_CACHE: self._cache} if self._cache else {}
        return {**race_circumstances(self._race, told, self._told, self._run.contenders_on), **cache}

    def _endpoints(self) -> dict[str, Endpoint]:
        """Where each cluster answers."""
        request = self._race.request
        hosts = {one.name: ",".join(one.addresses) for one in request.clusters} or {DEFAULT_CLUSTER: request.hosts}
        private = request.client_options.private
        return {
            name: Endpoint.from_client_options(text, private.get(name) or request.client_options.values)
            for name, text in hosts.items()
        }
