"""What ./inv chain and ./inv tune do: preview, run, go on; and results made anew from the journals at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.chains import ChainOptions, carrying, definitions, files, store
from paddock.chains.model import (
    FAILED,
    HELD,
    INTERRUPTED,
    NO_WINNER,
    RACED,
    WON,
    ChainResult,
    Outcome,
    Settings,
    Step,
    StepResult,
)
from paddock.chains.preview import remarks, render_preview
from paddock.chains.run import Hold, Task, preview, run, tuned
from paddock.chains.store import Begun, ChainHistory, ChainJournal, StoredChain, tournament_begun_with
from paddock.console import print_result, say
from paddock.corpora.store import track_of
from paddock.costs import Prices, read_prices
from paddock.errors import FileError, Interrupted, MachineError, PaddockError, UsageError
from paddock.files import is_locked, locked, read_record
from paddock.plain_values import Missing, plain, separated
from paddock.race import DEFAULT_CARS, RaceOptions
from paddock.race.options import prepare
from paddock.race.run import full_disk_of, replay_of
from paddock.race.run import run as run_race
from paddock.race.summary import RaceRecord
from paddock.race.summary import read_record as race_record
from paddock.rally.leftovers import racing
from paddock.rally.outcome import race_file
from paddock.rally.run import race_records
from paddock.tournaments import TournamentOptions
from paddock.tournaments.command import result_of, run_tournament, running_tournament
from paddock.tournaments.durations import gather_experience
from paddock.tournaments.model import FASTER, Result
from paddock.tournaments.races import Prepare
from paddock.tournaments.store import BUDGET, FAILED_RACES

_LARGEST_SEED = 2**31 - 1000
# The shipped chains of ./inv tune, and the minutes from which on each is the one to take.
TUNE: Mapping[str, float] = {"tune-coffee": 0.0, "tune-hour": 40.0, "tune-night": 300.0}
Keep = Callable[[Result], object]


def chain_for(minutes: float) -> str:
    """The shipped chain of ./inv tune for a budget."""
    return [name for name, least in TUNE.items() if minutes >= least][-1]


def run_chain(
    name: str | None, options: ChainOptions, resume: bool = False, keep: Keep = lambda _: None, hold: Hold | None = None
) -> ChainResult | None:
    """Hold a chain, or go on with one.

    :param name: of a chain, a file, or tournaments with commas; with ``resume`` an id, a name or nothing.
    :param keep: is given the result of every tournament as it ends, or is stopped.
    :param hold: holds a step; tests have one of their own.
    :returns: the result; None for a dry run.
    :raises UsageError: the file, the options or what is resumed is wrong, or the budget is too short.
    :raises MachineError: this machine cannot, or another chain, tournament or race is running on it.
    :raises Interrupted: the user stopped it; the text says how to go on.
    """
    hold = hold or (lambda task: hold_step(task, keep))
    if resume:
        if options != ChainOptions():
            raise UsageError("--resume takes everything from the chain that it goes on with: leave the rest out.")
        with _only_one():
            stored = store.find_unfinished(name)
            journal = ChainJournal(stored.journal)
            journal.resume(_running_for(stored, journal))
            say(f"Going on with {stored.id}: {len(journal.history.outcomes)} steps are over.")
            return _run(stored, journal, hold)
    if not name:
        raise UsageError("Which chain? ./inv chains lists them; with --resume those that were begun.")
    options = _with_track(options)
    if options.prices:
        file = Path(options.prices).expanduser().absolute()
        read_prices(file)  # mistakes show before anything runs
        options = replace(options, prices=str(file))
    chain, _file = files.read_chain(name, options)
    if options.contender_hosts and (races := [one.name for one in chain.steps if not one.tournament]):
        raise UsageError(
            f"--contender-hosts names clusters by contenders, and '{races[0]}' is a race, which has none and would be "
            f"run on nodes of this machine: leave it out, or hold a study of tournaments alone."
        )
    expected = preview(chain, options, gather_experience())
    for step in chain.steps:
        if not step.tournament:  # mistakes in what it says show at once
            prepare(race_options(Task(step, Begun(step.name, 1, 0.0), None, chain.default, "chain", 0, options)), False)
    shown = render_preview(chain, expected, remarks(chain, expected, options))
    if options.dry_run:
        print_result(shown)
        return None
    with _only_one():
        stored = StoredChain(store.new_id(chain.name))
        say(shown)
        stored.folder.mkdir(parents=True)
        journal = ChainJournal(stored.journal)
        seed = options.seed if options.seed is not None else time.time_ns() % _LARGEST_SEED
        journal.add("chain", id=stored.id, chain=plain(chain), options=plain(options), seed=seed)
        return _run(stored, journal, hold)


def _running_for(stored: StoredChain, journal: ChainJournal) -> float:
    """Seconds that the tournament has been running in which the chain was cut off; 0 if in none."""
    history = journal.history
    unfinished = [one for name, one in history.begun.items() if name not in history.outcomes and one.file]
    held = tournament_begun_with(stored.folder / unfinished[-1].file) if unfinished else None
    return held.history().elapsed if held is not None else 0.0


def _with_track(options: ChainOptions) -> ChainOptions:
    """The options with the track that --corpus is of, where none is named."""
    if options.corpus and not options.track and (track := track_of(options.corpus)):
        return replace(options, track=track)
    return options


def _run(stored: StoredChain, journal: ChainJournal, hold: Hold) -> ChainResult:
    try:
        run(stored, journal, hold, gather_experience)
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped. {_goes_on(stored)}") from None
    except (Interrupted, MachineError) as error:
        raise type(error)(f"{error} {_goes_on(stored)}") from None
    return load_chain(stored.id)


def _goes_on(stored: StoredChain) -> str:
    return f"The whole chain is kept in {stored.folder}; './inv chain {stored.id} --resume' goes on with all of it."


@contextmanager
def _only_one() -> Iterator[None]:
    """Hold the lock on chains, of this home.

    :raises MachineError: if another chain holds it.
    """
    with locked(_lock_file(), "another chain, which is running on this machine", wait=False):
        yield


def _lock_file() -> Any:
    return paths.state_folder() / "chain.lock"


def is_running() -> bool:
    """Whether a chain is running."""
    return is_locked(_lock_file())


def hold_step(task: Task, keep: Keep, preparing: Prepare = prepare) -> Outcome:
    """Hold a step on this machine, or go on with its tournament.

    What is wrong with the step alone is its outcome; what ends the chain for now is raised.

    :raises Interrupted: the user stopped it.
    :raises MachineError: something else is running, or the machine gave out in the middle.
    """
    if running := running_tournament():
        raise MachineError(f"This has to wait for the tournament {running}: try again when that has ended.")
    with racing() as cleared:
        for sentence in cleared:
            say(sentence)
    return _race(task, preparing) if task.file is None else _tournament(task, keep, preparing)


def _tournament(task: Task, keep: Keep, preparing: Prepare) -> Outcome:
    begun = tournament_begun_with(task.file) if task.file else None
    try:
        if begun is None:
            options = definitions.step_options(task.step, task.options, task.begun.built_on, seed=task.seed)
            result = run_tournament(str(task.file), options, preparing, keep)
        elif begun.ended_because() is None:
            result = run_tournament(begun.id, TournamentOptions(resume=True), preparing, keep)
        else:
            result = result_of(begun)
        if result is None:
            raise UsageError(f"The step '{task.step.name}' was not held.")
    except Interrupted:
        raise
    except PaddockError as error:
        held = tournament_begun_with(task.file) if task.file else None
        cut_off = held is not None and held.ended_because() is None
        # The machine gave out, or what defines the tournament has changed since it was cut off: nothing is given up.
        if cut_off and (isinstance(error, MachineError) or begun is not None):
            raise
        return Outcome(FAILED, str(error), held.id if held else None)
    keep(result)
    outcome = outcome_of(result)
    return Outcome(HELD, "", result.id) if task.step.whole and outcome.kind != FAILED else outcome


def outcome_of(result: Result) -> Outcome:
    """What a tournament comes to in a chain."""
    verdicts = [one for one in result.main.verdicts if one.ratio is not None]
    if not verdicts:
        why = f"it ended because of: {result.stopped}" if result.stopped != FAILED_RACES else "its races failed"
        return Outcome(FAILED, f"Nothing was measured that could be compared; {why}.", result.id)
    better = [one for one in verdicts if one.verdict == FASTER]
    choose = max if result.main.metric.higher_is_better else min
    if not better:
        early = " Its time was over before the evidence sufficed." if result.stopped == BUDGET else ""
        reason = f"Nothing was proven better than {result.tournament.baseline}.{early}"
        return Outcome(NO_WINNER, reason, result.id)
    best = choose(better, key=lambda one: one.ratio or 0.0)
    if obstacle := carrying.unbearable(result.tournament):
        reason = f"{best.contender} was better, but is not carried on: {obstacle}."
        return Outcome(NO_WINNER, reason, result.id, best.contender, ratio=best.ratio)
    settings = carrying.won(result.tournament, best.contender)
    return Outcome(WON, "", result.id, best.contender, settings, best.ratio)


def race_options(task: Task, race_id: str | None = None) -> RaceOptions:
    """The race of a step, with what it builds on; what the step says itself wins."""
    told, settings, options = dict(task.step.race), task.settings, task.options
    cars = told.pop("car", ())
    own = tuple(separated(cars)) if isinstance(cars, str) else tuple(cars)
    given: dict[str, Any] = {
        "corpus": options.corpus,
        "documents": options.documents,
        "seed": options.corpus_seed,
        "port": options.port,
        "prices": options.prices,
        "track": options.track,
        **{name: value for name, value in settings.node.items() if name != "nodes"},
        **({"nodes": settings.node["nodes"]} if "nodes" in settings.node else {}),
        **told,
        "car": carrying.with_cars(carrying.with_cars(DEFAULT_CARS, settings.cars), own),
        "params": {**carrying.track_parameters(settings), **told.get("params", {})},
        "car_params": {**settings.car_params, **told.get("car_params", {})},
        "user_tags": {"chain": task.chain_id},
        "race_id": race_id,
    }
    known = {one.name for one in fields(RaceOptions)}
    return RaceOptions(**{name: value for name, value in given.items() if name in known})


def _race(task: Task, preparing: Prepare) -> Outcome:
    number = 1
    while True:  # one that was killed cannot be gone on with; a race is short
        race_id = f"{task.chain_id}-{task.step.name}-{number}"
        summary = race_records(race_id) / "summary.json"
        try:
            if summary.exists():  # it had ended, but the chain was killed before it could say so
                return judged(race_record(read_record(summary), read_record(race_file(race_id))))
            if not (paths.races_folder() / race_id).exists() and not race_records(race_id).exists():
                return judged(run_race(preparing(race_options(task, race_id), True, ())))
        except (Interrupted, MachineError):
            raise
        except PaddockError as error:
            return Outcome(FAILED, str(error))
        number += 1


def judged(record: RaceRecord) -> Outcome:
    """What a race that has come to its end comes to in a chain."""
    if record.error_rates:
        return Outcome(FAILED, "Requests failed in this race, so its figures are void.", record.race_id)
    replay = replay_of(record)
    if replay and replay.proof and replay.proof.problem:
        return Outcome(FAILED, replay.proof.problem, record.race_id)
    # That documents are lost is what such a race is there to find out.
    full_disk = full_disk_of(record)
    return Outcome(RACED, (full_disk and full_disk.problem) or "", record.race_id)


def load_chain(chain_id: str, prices: Prices | None = None) -> ChainResult:
    """The result of that chain, finished or not, with the tournaments analysed as this version does it.

    :param prices: what money is reckoned with, in the place of what the chain was begun with.
    :raises FileError: if its journal is damaged.
    """
    stored = StoredChain(chain_id)
    history = stored.history()
    try:
        chain = history.chain
        steps = tuple(_step_result(stored, history, step, prices) for step in chain.steps)
        final = _step_result(stored, history, chain.final, prices) if chain.final else None
        found = tuned(chain, history)
        stopped = history.stopped or INTERRUPTED
        applied = carrying.applied(found, chain.default)
        began = float(history.header["at"])
        return ChainResult(chain_id, chain, began, history.elapsed, stopped, steps, final, found, applied)
    except (KeyError, TypeError, ValueError) as error:
        problem = f"this journal is damaged ({type(error).__name__}: {error}): restore it, or begin a chain anew."
        raise FileError(stored.journal, problem) from error


def _step_result(stored: StoredChain, history: ChainHistory, step: Step, prices: Prices | None) -> StepResult:
    outcome, begun = history.outcomes.get(step.name), history.begun.get(step.name)
    result, figures = None, {}
    if begun is not None and begun.file:
        tournament = tournament_begun_with(stored.folder / begun.file)
        result = result_of(tournament, prices) if tournament is not None else None
    elif outcome is not None and outcome.kind == RACED and outcome.result_id:
        figures = _figures(outcome.result_id)
    return StepResult(
        step,
        outcome,
        begun.minutes if begun else None,
        begun.resolves if begun else "",
        begun.built_on if begun else Settings(),
        result,
        figures,
    )


def _figures(race_id: str) -> dict[str, str]:
    """What a race came to, a few figures."""
    summary = read_record(race_records(race_id) / "summary.json")
    try:
        record: RaceRecord = race_record(summary, read_record(race_file(race_id)))
    except UsageError:
        return {}
    found = {one.name: one.text for one in record.summary.race.figures if not isinstance(one.figure, Missing)}
    for bulk in record.summary.bulk_tasks:
        for one in bulk.figures:
            if (one.short or one.name == "documents") and not isinstance(one.figure, Missing):
                found[f"{bulk.name}, {one.name}"] = one.text
    for request in record.summary.request_tasks:
        for one in request.figures:
            if one.short in ("p50 ms", "p95 ms", "p99 ms") and not isinstance(one.figure, Missing):
                found[f"{request.name}, {one.name}"] = one.text
    return found
