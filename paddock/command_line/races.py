"""./inv race, tournament, report and compare: what is run, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from invoke import Context

from paddock.command_line.sentences import command, helps, takes, task
from paddock.console import as_json, print_result, say, stdout_has_colours, terminal_width, warn
from paddock.errors import RaceError, UsageError
from paddock.race import RaceOptions
from paddock.tournaments import TournamentOptions

if TYPE_CHECKING:
    from paddock.costs import Prices
    from paddock.tournaments.model import Result


@task(
    help=helps(
        RaceOptions,
        dry_run="print the esrally command line and do nothing",
        json="print the summary as JSON; with --dry-run the command",
    )
)
@command
@takes(RaceOptions)
def race(_context: Context, options: RaceOptions, dry_run: bool = False, json: bool = False) -> None:
    """Run one race, whatever has to be set up first.

    Examples:
      ./inv race
      ./inv race --track app-logs --challenge ingest-and-search --car 1gheap,index-buffer-30
      ./inv race --params refresh_interval:30s,bulk_size:5000
      ./inv race --corpus our-web --challenge replay --params replay_factor:60,query_log:queries.jsonl
      ./inv race --target-hosts es1:9200,es2:9200 --client-options cluster.json
      ./inv race --dry-run
    """
    from paddock.race.options import prepare
    from paddock.rally.leftovers import racing

    if not dry_run:
        # Nothing is made beside somebody else's race; the race itself takes the lock again.
        with racing() as cleared:
            for sentence in cleared:
                say(sentence)
    prepared = prepare(options, fetch=not dry_run)
    if dry_run:
        from paddock.rally.request import printable

        plan = printable(prepared.request)
        if json:
            print_result(as_json({"command": plan, "notes": list(prepared.notes)}))
            return
        for note in prepared.notes:
            warn(note)
        print_result(plan)
        return
    from paddock.race import run as races

    say(f"Racing {prepared.track.name}, challenge {prepared.request.challenge}, race id {prepared.request.race_id} ...")
    record = races.run(prepared)
    replay = races.replay_of(record)
    if json:
        print_result(as_json({**record.as_json(), **({"replay": replay.as_json()} if replay else {})}))
    else:
        print_result(races.render(record, terminal_width(), stdout_has_colours(), replay))
    if record.error_rates:
        failed = ", ".join(f"{task} {100 * rate:.1f} %" for task, rate in record.error_rates.items())
        raise RaceError(f"Requests failed in this race ({failed}), so its figures are void: see rally.log.")
    if replay and replay.proof and replay.proof.problem:
        raise RaceError(f"{replay.proof.problem} './inv report {record.race_id}' shows the differences.")
    if (full_disk := races.full_disk_of(record)) and full_disk.problem:
        raise RaceError(f"{full_disk.problem} './inv report {record.race_id}' shows all figures.")


@task(
    positional=["name"],
    help=helps(
        TournamentOptions,
        name="a tournament (./inv tournaments), a file, or with --resume the id of one that was begun",
        json="print the result as JSON; with --dry-run the plan",
    ),
)
@command
@takes(TournamentOptions)
def tournament(_context: Context, name: str, options: TournamentOptions, json: bool = False) -> None:
    """Compare configurations, to a verdict that holds.

    Examples:
      ./inv tournament refresh-interval --dry-run
      ./inv tournament refresh-interval --quick
      ./inv tournament heap --budget 120
      ./inv tournament refresh-interval --resume
    """
    from paddock.tournaments.command import print_plan, print_plan_as_json, run_tournament
    from paddock.tournaments.store import FAILED_RACES, tournaments_folder

    def write(result: Result) -> dict[str, Path]:
        from paddock.reports.write import write_report  # which a dry run need not wait for

        return write_report(result, tournaments_folder() / result.id)

    result = run_tournament(name, options, keep=write, show=print_plan_as_json if json else print_plan)
    if result is None:
        return
    from paddock.reports.write import render_terminal, result_as_json

    written = write(result)
    if json:
        print_result(as_json(result_as_json(result)))
    else:
        print_result(f"{render_terminal(result, terminal_width())}\n\nReport: {written['html']}")
    if result.stopped == FAILED_RACES and all(verdict.ratio is None for verdict in result.main.verdicts):
        raise RaceError("No race of the tournament came so far that anything can be said: see above for the reasons.")


def _prices(file: str | None) -> Prices | None:
    from paddock.costs import read_prices

    return read_prices(Path(file).expanduser()) if file else None


@task(
    positional=["id"],
    help={
        "id": "the id of a race, tournament or chain (./inv results) or its beginning, or latest",
        "json": "print the result as JSON",
        "prices": "a file of prices (docs/costs.md), in the place of what it was run with: what it costs in money, too",
    },
)
@command
def report(_context: Context, id: str, json: bool = False, prices: str | None = None) -> None:  # noqa: A002 - its name
    """Make the report of a race, a tournament or a chain anew.

    Examples:
      ./inv report latest
      ./inv report latest --prices our-prices.yml
    """
    from paddock.chains.model import ChainResult
    from paddock.chains.store import chains_folder
    from paddock.command_line.lists import find_result
    from paddock.race.summary import RaceRecord
    from paddock.rally.run import race_records
    from paddock.reports.race_report import find_out, race_report_as_json, render_race_terminal, write_race_report
    from paddock.reports.write import render_terminal, result_as_json, write_report
    from paddock.tournaments.store import tournaments_folder

    result = find_result(id, chains=True, prices=_prices(prices))
    if isinstance(result, ChainResult):
        from paddock.reports import chain_page

        written = chain_page.write_chain(result, chains_folder() / result.id)
        text, for_machines = chain_page.render_terminal(result, terminal_width()), chain_page.chain_as_json(result)
    elif isinstance(result, RaceRecord):
        folder = race_records(result.race_id)
        findings = find_out(result, folder)
        written = write_race_report(findings, folder)
        text, for_machines = render_race_terminal(findings), race_report_as_json(findings)
    else:
        written = write_report(result, tournaments_folder() / result.id)
        text, for_machines = render_terminal(result, terminal_width()), result_as_json(result)
    if json:
        print_result(as_json(for_machines))
        return
    print_result(text)
    for path in written.values():
        print_result(str(path))


@task(
    iterable=["also"],
    positional=["first", "second"],
    help={
        "first": "id of a race or tournament (./inv results) or its beginning; or another machine's result.json",
        "second": "another one",
        "also": "further ones, each with its own --also",
        "form": "text, markdown or html",
        "prices": "a file of prices (docs/costs.md): what each costs in money, too",
    },
)
@command
def compare(
    _context: Context, first: str, second: str, also: list[str], form: str = "text", prices: str | None = None
) -> None:
    """Set races and tournaments side by side.

    Examples:
      ./inv compare RACE-ID RACE-ID --also TOURNAMENT-ID
      ./inv compare RACE-ID RACE-ID --form html > page.html   # the races drawn over each other
      ./inv compare TOURNAMENT-ID from-the-team-next-door/result.json
    """
    from paddock.command_line.lists import find_result
    from paddock.race.over_time import over_time, samples_at_hand
    from paddock.race.summary import RaceRecord
    from paddock.rally.run import race_records
    from paddock.reports.comparison import compare as compare_results
    from paddock.reports.comparison import render_comparison
    from paddock.reports.write import read_result
    from paddock.tournaments.costs import with_costs

    if form not in ("text", "markdown", "html"):
        raise UsageError(f"--form is text, markdown or html, not '{form}'.")
    named = (first, second, *also)
    money = _prices(prices)
    items = []
    for each in named:
        if each.endswith(".json"):
            there = read_result(Path(each))
            items.append(there if money is None else with_costs(there, money))
        else:
            items.append(find_result(each, prices=money))
    over = {
        item.race_id: over_time(samples_at_hand(race_records(item.race_id)))
        for item in items
        if form == "html" and isinstance(item, RaceRecord)
    }
    print_result(render_comparison(compare_results(items, over), form, terminal_width()))
