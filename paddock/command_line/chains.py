"""./inv chain and tune: tournaments one after the other, the winners of earlier ones in later ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from invoke import Context

from paddock.chains import ChainOptions
from paddock.command_line.sentences import command, helps, positive_number, takes, task
from paddock.console import as_json, print_result, terminal_width
from paddock.errors import Interrupted, MachineError, RaceError, UsageError

if TYPE_CHECKING:
    from paddock.command_line.lists import Listing
    from paddock.tournaments.model import Result

DEFAULT_MINUTES = 60.0


def _write_tournament(result: Result) -> dict[str, Path]:
    from paddock.reports.write import write_report
    from paddock.tournaments.store import tournaments_folder

    return write_report(result, tournaments_folder() / result.id)


def hold(name: str | None, options: ChainOptions, resume: bool, json: bool) -> None:
    """Hold a chain, or go on with one, and write its page, that of one that is stopped, too."""
    from paddock.chains.command import run_chain
    from paddock.chains.store import chain_ids, chains_folder

    if json and options.dry_run:
        raise UsageError("--json has the result of a chain, and --dry-run only shows its steps: leave one of them out.")
    before = set(chain_ids())
    try:
        result = run_chain(name, options, resume, keep=_write_tournament)
    except (Interrupted, MachineError):
        _write_stopped(before, resume)
        raise
    if result is None:
        return
    from paddock.reports.chain_page import chain_as_json, render_terminal, write_chain

    written = write_chain(result, chains_folder() / result.id)
    if json:
        print_result(as_json(chain_as_json(result)))
    else:
        print_result(f"{render_terminal(result, terminal_width())}\n\nReport: {written['html']}")
    from paddock.chains.model import FAILED, STEP_FAILED

    ends = [*result.steps, *([result.final] if result.final else [])]
    failed = [one.step.name for one in ends if one.outcome is not None and one.outcome.kind == FAILED]
    if result.stopped == STEP_FAILED:
        again = f"'./inv chain {result.id} --resume' tries it again"
        raise RaceError(f"The step '{failed[-1]}' failed, and the chain stops there: {again}.")
    if all(one.step.name in failed for one in result.steps):
        raise RaceError("Every step of the chain failed: see above for the reasons.")


def _write_stopped(before: set[str], resume: bool) -> None:
    """The page of the chain that was stopped in the middle: of those that may be, the one journalled last."""
    from paddock.chains.command import load_chain
    from paddock.chains.store import StoredChain, chain_ids, chains_folder
    from paddock.reports.chain_page import write_chain

    begun = [one for one in chain_ids() if resume or one not in before]
    if begun:
        stopped = max(begun, key=lambda one: StoredChain(one).journal.stat().st_mtime)
        write_chain(load_chain(stopped), chains_folder() / stopped)


@task(
    positional=["name"],
    help=helps(
        ChainOptions,
        name="a chain (./inv chains), a file, tournaments with commas between, or with --resume the id of one begun",
        resume="go on with the one that was cut off, by its id or its name, or latest",
        json="print the result as JSON",
    ),
)
@command
@takes(ChainOptions)
def chain(_context: Context, name: str, options: ChainOptions, resume: bool = False, json: bool = False) -> None:
    """Hold tournaments one after the other, winners carried on.

    Examples:
      ./inv chain tune-hour --dry-run
      ./inv chain heap,index-buffer --budget 90
      ./inv chain my/own-chain.yml --corpus our-app
      ./inv chain latest --resume
    """
    hold(name, options, resume, json)


@task(
    help=helps(
        ChainOptions,
        budget="minutes; under 30 a coffee's chain, under 300 an hour's, else a night's (60)",
        resume="go on with the latest that was cut off",
        json="print the result as JSON",
    ),
)
@command
@takes(ChainOptions)
def tune(_context: Context, options: ChainOptions, resume: bool = False, json: bool = False) -> None:
    """Find settings that index a corpus faster.

    Examples:
      ./inv tune --corpus our-app --budget 60
      ./inv tune --budget 10
      ./inv tune --track app-logs --budget 480 --dry-run
      ./inv tune --resume
    """
    from dataclasses import replace

    from paddock.chains.command import TUNE, chain_for
    from paddock.chains.store import StoredChain, chain_ids, read_journal

    if resume:
        for one in reversed([one for one in chain_ids() if one.startswith(tuple(TUNE))]):
            history = read_journal(StoredChain(one).journal)
            if history.header and history.stopped is None and history.header["chain"]["name"] in TUNE:
                hold(one, options, resume, json)
                return
        raise UsageError("No ./inv tune is left to resume: './inv tune' begins one.")
    budget = options.budget or positive_number("--budget", str(DEFAULT_MINUTES)) or DEFAULT_MINUTES
    hold(chain_for(budget), replace(options, budget=budget), False, json)


@task(help={"json": "for machines"})
@command
def chains(_context: Context, json: bool = False) -> None:
    """List the chains: those there are, those that were begun."""
    from paddock.command_line.lists import show

    show(all_chains(), json)


def all_chains() -> Listing:
    """The chains that can be held, and those that were begun."""
    from paddock.chains.files import chain_names, find_chain_file
    from paddock.command_line.lists import Listing, chains_begun
    from paddock.structured_files import read_yaml

    files = [(name, read_yaml(find_chain_file(name), "chain")) for name in chain_names()]
    files = [(name, one) for name, one in files if not one.get("study")]  # which ./inv studies lists
    rows = [[name, len(one["steps"]), f"{one['budget_minutes']:g} min", one["question"]] for name, one in files]
    return Listing(
        [
            ("Chains", ("name", "steps", "at most", "question"), rows),
            ("Chains begun", ("id", "steps over", "ended because"), chains_begun()),
        ],
        "'./inv chain NAME --dry-run' shows the steps; './inv report ID' makes the page of one that was held.",
    )
