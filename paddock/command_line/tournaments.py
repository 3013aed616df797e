"""./inv tournament, tournaments, results, report and compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from invoke import Context, task

from paddock.command_line.sentences import LARGEST_PORT, command, positive_number, whole_number

if TYPE_CHECKING:
    from paddock.tournaments.model import Result


@task(
    positional=["name"],
    help={
        "name": "a tournament (./inv tournaments), a file, or with --resume the id of one that was begun",
        "quick": "fewer and shorter laps, for a coffee break; the plan says what that cannot resolve",
        "dry-run": "show the plan and the esrally command lines, and do nothing",
        "resume": "go on with the one that was cut off, by its id or its name",
        "seed": "of the order of laps; recorded, and taken from the clock if it is left out",
        "budget": "minutes after which no new race begins",
        "blocks": "measured blocks per start of the node",
        "starts": "starts of the node",
        "car": "cars and mixins for every contender",
        "params": "track parameters for every contender, written as for ./inv race",
        "car-params": "car variables for every contender",
        "corpus": "what is indexed: a recipe of the track or an imported corpus (./inv corpora)",
        "documents": "how many documents the corpus has",
        "corpus-seed": "the corpus's seed",
        "version": "the Elasticsearch version (8.8.2)",
        "engine": "embedded, official or the path of a .tar.gz",
        "java": "a Java's folder, a release such as 17, or embedded",
        "target-hosts": "race against this cluster (host:port,...)",
        "client-options": "a .json file with Rally's client options for --target-hosts",
        "port": "HTTP port of the node that is started (39200)",
        "data-path": "put the node's data into a folder of its own in this one",
        "json": "print the result as JSON",
    },
)
@command
def tournament(
    _context: Context,
    name: str,
    quick: bool = False,
    dry_run: bool = False,
    resume: bool = False,
    seed: str | None = None,
    budget: str | None = None,
    blocks: str | None = None,
    starts: str | None = None,
    car: str | None = None,
    params: str | None = None,
    car_params: str | None = None,
    corpus: str | None = None,
    documents: str | None = None,
    corpus_seed: str | None = None,
    version: str | None = None,
    engine: str | None = None,
    java: str | None = None,
    target_hosts: str | None = None,
    client_options: str | None = None,
    port: str = "39200",
    data_path: str | None = None,
    json: bool = False,
) -> None:
    """Compare configurations, to a verdict that holds.

    Examples:
      ./inv tournament refresh-interval --dry-run
      ./inv tournament refresh-interval --quick
      ./inv tournament heap --budget 120
      ./inv tournament refresh-interval --resume
    """
    from paddock.console import print_result, terminal_width
    from paddock.tournaments.command import run_tournament
    from paddock.tournaments.options import TournamentOptions
    from paddock.tournaments.store import find_unfinished, tournaments_folder

    options = TournamentOptions(
        quick=quick,
        dry_run=dry_run,
        resume=find_unfinished(name).id if resume else None,
        seed=whole_number("--seed", seed, least=0),
        budget=positive_number("--budget", budget),
        blocks=whole_number("--blocks", blocks),
        starts=whole_number("--starts", starts),
        car=car,
        params=params,
        car_params=car_params,
        corpus=corpus,
        documents=whole_number("--documents", documents),
        corpus_seed=whole_number("--corpus-seed", corpus_seed, least=0),
        version=version,
        engine=engine,
        java=java,
        target_hosts=target_hosts,
        client_options=client_options,
        port=whole_number("--port", port, most=LARGEST_PORT) or 0,
        data_path=data_path,
    )

    def write(result: Result) -> dict[str, Path]:
        from paddock.reports.write import write_report  # which a dry run need not wait for

        return write_report(result, tournaments_folder() / result.id)

    result = run_tournament(None if resume else name, options, keep=write)
    if result is None:
        return
    from paddock.console import as_json
    from paddock.reports.terminal import render_terminal
    from paddock.reports.write import result_as_json

    written = write(result)
    if json:
        print_result(as_json(result_as_json(result)))
    else:
        print_result(f"{render_terminal(result, terminal_width())}\n\nReport: {written['html']}")


@task(help={"json": "for machines"})
@command
def tournaments(_context: Context, json: bool = False) -> None:
    """List the tournaments that can be held."""
    from paddock import listing

    listing.show(listing.tournaments(), json)


@task(help={"all": "the earlier ones as well", "json": "for machines"})
@command
def results(_context: Context, all: bool = False, json: bool = False) -> None:  # noqa: A002 - what users call it
    """List the latest races and tournaments that have been held."""
    from paddock import listing

    listing.show(listing.results(everything=all), json)


@task(
    positional=["id"],
    help={
        "id": "a race's or a tournament's id (./inv results), or latest for the latest tournament",
        "json": "print the result as JSON",
    },
)
@command
def report(_context: Context, id: str, json: bool = False) -> None:  # noqa: A002 - what users call it
    """Make the report of a race or a tournament anew."""
    from paddock.console import as_json, print_result, terminal_width
    from paddock.listing import find_result
    from paddock.rally.run import race_records
    from paddock.reports.origins import RaceRecord
    from paddock.reports.race_report import find_out, race_report_as_json, render_race_terminal, write_race_report
    from paddock.reports.terminal import render_terminal
    from paddock.reports.write import result_as_json, write_report
    from paddock.tournaments.command import load_result
    from paddock.tournaments.store import tournaments_folder

    result = load_result(id) if id == "latest" else find_result(id)
    if isinstance(result, RaceRecord):
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
        "first": "id of a race or tournament (./inv results)",
        "second": "another one",
        "also": "further ones, each with its own --also",
        "form": "text, markdown or html",
    },
)
@command
def compare(_context: Context, first: str, second: str, also: list[str], form: str = "text") -> None:
    """Set races and tournaments side by side.

    Examples:
      ./inv compare RACE-ID RACE-ID --also TOURNAMENT-ID
    """
    from paddock.console import print_result, terminal_width
    from paddock.errors import UsageError
    from paddock.listing import find_result
    from paddock.reports.comparison import compare as compare_results
    from paddock.reports.comparison import render_comparison

    if form not in ("text", "markdown", "html"):
        raise UsageError(f"--form is text, markdown or html, not '{form}'.")
    items = [find_result(each) for each in (first, second, *also)]
    print_result(render_comparison(compare_results(items), form, terminal_width()))
