"""What ./inv tournament does: plan, show, run, sum up; and results made anew from the journal at any time."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from paddock import paths
from paddock.console import as_json, print_result, say, warn
from paddock.costs import Prices, read_prices
from paddock.errors import FileError, Interrupted, MachineError, UsageError
from paddock.files import is_locked, locked, read_record, write_json
from paddock.plain_values import plain
from paddock.race.circumstances import circumstances, paddock_version
from paddock.race.options import prepare
from paddock.rally.leftovers import racing
from paddock.tournaments import TournamentOptions, store
from paddock.tournaments.analysis import analyse
from paddock.tournaments.checks import check_orders, check_target
from paddock.tournaments.durations import gather_experience
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.headroom import known_headroom, measured_headroom
from paddock.tournaments.inputs import check_unchanged, input_checksums
from paddock.tournaments.model import Result, Tournament
from paddock.tournaments.plan import Plan, make_plan, render_plan, resolvable
from paddock.tournaments.races import Checked, Prepare, Setting, check_races
from paddock.tournaments.run import TournamentRun
from paddock.tournaments.saturated import contender_bottlenecks, read_recorded
from paddock.tournaments.store import Journal, Stored, find_tournament


def load_result(tournament_id: str, prices: Prices | None = None) -> Result:
    """The result of that tournament ("latest" for the latest), finished or not, analysed as this version does it.

    :param prices: what money is reckoned with, in the place of what it was begun with.
    :raises UsageError: if there is no such tournament.
    """
    return result_of(find_tournament(tournament_id), prices)


def result_of(stored: Stored, prices: Prices | None = None) -> Result:
    """The result of a stored tournament.

    :param prices: as in ``load_result``.
    :raises FileError: if its journal is damaged.
    """
    history = stored.history()
    try:
        tournament = stored.tournament(history)
        result = analyse(history, tournament, prices)
        beside = partial(read_recorded, stored)
        saturated = contender_bottlenecks(tournament, history.attempts, result.laps, beside)
        return replace(result, bottlenecks=saturated)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"this journal is damaged ({type(error).__name__}: {error}): restore it, or begin a tournament anew."
        raise FileError(stored.journal, problem) from error


_LARGEST_SEED = 2**31


def print_plan(plan: Plan, checked: Checked) -> None:
    """The plan of a dry run for people: on stdout, what one should know of it on stderr."""
    print_result("\n".join([render_plan(plan, orders=True), "", "Commands:", *checked.commands]))
    for note in checked.notes:
        warn(note)


def print_plan_as_json(plan: Plan, checked: Checked) -> None:
    """The same for programs."""
    names = ("tournament", "seed", "schedule", "seconds", "fits", "minutes", "resolution", "headroom")
    told = {name: plain(getattr(plan, name)) for name in names}
    print_result(as_json({**told, "commands": list(checked.commands), "notes": list(checked.notes)}))


def run_tournament(
    name: str | None,
    options: TournamentOptions,
    preparing: Prepare = prepare,
    keep: Callable[[Result], object] = lambda _: None,
    show: Callable[[Plan, Checked], object] = print_plan,
) -> Result | None:
    """Hold a tournament, or go on with one.

    :param name: a tournament of the project or a file; with ``options.resume`` one that was begun, by its id or the
        name of its file, or "latest" for any.
    :param keep: is given what was measured by one that is stopped, before the exception is raised.
    :param show: is given the plan of a dry run.
    :returns: the result; None for a dry run.
    :raises UsageError: the file, the options or what is resumed is wrong.
    :raises MachineError: this machine cannot, or another tournament is running on it.
    :raises Interrupted: the user stopped it; the text says how to go on.
    """
    if not name:
        raise UsageError(
            "Which tournament? ./inv tournaments lists them; with --resume, ./inv results lists those that were begun."
        )
    if options.resume:
        if options != TournamentOptions(resume=True):
            raise UsageError("--resume takes everything from the tournament that it goes on with: leave the rest out.")
        with _only_one():
            return _resume(store.find_unfinished(name), preparing, keep)
    prices = read_prices(Path(options.prices).expanduser()) if options.prices else None
    file = find_file(name)
    tournament = read_tournament(file, options)
    check_target(tournament, options)
    check_orders(tournament)
    seed = options.seed if options.seed is not None else time.time_ns() % _LARGEST_SEED
    plan = make_plan(_as_raced(tournament, options), seed, gather_experience())
    setting = Setting(plan, Stored(store.new_id(tournament.name)), options, preparing)
    if options.dry_run:
        checked = check_races(setting, fetch=False)
        plan = replace(plan, headroom=known_headroom(tournament, checked.corpus_of))
        show(plan, checked)
        return None
    with _only_one():
        checked = check_races(setting, fetch=True)
        headroom = measured_headroom(tournament, checked.corpus_of)
        say(render_plan(replace(plan, headroom=headroom)))
        store.create(setting.stored, file, plan.schedule)
        journal = Journal(setting.stored.journal)
        journal.add(
            "tournament",
            id=setting.stored.id,
            definition=str(file),
            tournament=plain(tournament),
            seed=seed,
            options=plain(options),
            checksums=input_checksums(tournament.track, file),
            corpora=checked.corpora,
            software=checked.software,
            circumstances=_circumstances(options, tournament),
            headroom=plain(headroom),
            expected_minutes=plan.minutes,
            resolvable=resolvable(plan),
            prices=plain(prices),
        )
        return _run(setting, journal, keep)


def _resume(stored: Stored, preparing: Prepare, keep: Callable[[Result], object]) -> Result:
    journal = Journal(stored.journal)
    header = journal.history.header
    tournament = stored.tournament(journal.history)
    definition = Path(header["definition"])
    now = input_checksums(tournament.track, definition)
    # What a file said that is gone, or has moved, is in the journal.
    gone = {} if definition.exists() else {str(definition): header["checksums"].get(str(definition))}
    check_unchanged(header["checksums"], {**now, **gone}, stored.id)
    # The schedule is the one that was made then, whatever this version of Paddock would make.
    options = store.stored_options(journal.history)
    plan = make_plan(_as_raced(tournament, options), header["seed"], gather_experience())
    setting = Setting(replace(plan, schedule=stored.schedule()), stored, options, preparing)
    checked = check_races(setting, fetch=True, attempts=len(journal.history.attempts))
    check_unchanged(header.get("corpora", {}), checked.corpora, stored.id)
    check_unchanged(header.get("software", {}), checked.software, stored.id)
    journal.add("resumed")
    say(f"Going on with {stored.id}: {len(journal.history.attempts)} races so far.")
    return _run(setting, journal, keep)


def _as_raced(tournament: Tournament, options: TournamentOptions) -> Tournament:
    """The tournament as it is planned: of a cluster that is there nobody starts a node, however many it has."""
    return replace(tournament, nodes=1) if options.target_hosts else tournament


def _run(setting: Setting, journal: Journal, keep: Callable[[Result], object]) -> Result:
    stored = setting.stored
    write_json(_running_file(), {"id": stored.id, "pid": os.getpid()})
    try:
        TournamentRun(setting, journal).run()
    except (Interrupted, MachineError, UsageError) as error:
        keep(result_of(stored))
        raise type(error)(
            f"{error} What was measured is kept in {stored.folder}; "
            f"'./inv tournament {stored.id} --resume' goes on with it."
        ) from None
    finally:
        _running_file().unlink(missing_ok=True)
    return result_of(stored)


def _circumstances(options: TournamentOptions, tournament: Tournament) -> dict[str, str]:
    """This machine and the software on it, for the report."""
    data = None if tournament.is_there else Path(options.data_path or paths.benchmarks_folder())
    return {**circumstances(data), "Python": platform.python_version(), "Paddock": paddock_version()}


@contextmanager
def _only_one() -> Iterator[None]:
    """Hold the locks on tournaments and on races, of this home; laps and races at once would disturb each other.

    Both from before anything is made until the last race has ended, so that nobody's race comes between two of ours.

    :raises MachineError: if another tournament or a race holds them.
    """
    running = read_record(_running_file())
    holder = f"the tournament {running['id']} (process {running['pid']})" if running else "another tournament"
    with locked(_lock_file(), f"{holder}, which is running on this machine", wait=False), racing() as cleared:
        for sentence in cleared:
            say(sentence)
        yield


def running_tournament() -> str | None:
    """The id of the tournament that is running, None if there is none."""
    if is_locked(_lock_file()):
        return str(read_record(_running_file()).get("id") or "") or None
    return None


def _lock_file() -> Path:
    return paths.state_folder() / "tournament.lock"


def _running_file() -> Path:
    return paths.state_folder() / "tournament.json"
