"""Paddock's command line: thin; what a command does stands in the package of the same name."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from invoke import Collection, Context, Exit, task

PROJECT = Path(__file__).resolve().parent
SUBPROCESS_FAILED = 1


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """End in one sentence and an exit code where something is wrong; with --debug in a traceback."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        from paddock.errors import PaddockError

        try:
            return function(*args, **kwargs)
        except (Exit, SystemExit):
            raise
        except BaseException as error:
            if {"-d", "--debug"} & set(sys.argv) or os.environ.get("PADDOCK_DEBUG"):
                raise
            if isinstance(error, PaddockError):
                raise Exit(str(error), error.exit_code) from None
            if isinstance(error, KeyboardInterrupt):
                raise Exit("Stopped.", 130) from None
            sentence = f"Paddock itself failed ({type(error).__name__}: {error}): call again with --debug to see where."
            raise Exit(sentence, 70) from None

    return run


@task(
    help={
        "track": "what is indexed: apache or app-logs (./inv tracks)",
        "challenge": "what is done with it (./inv challenges); the track's default is ingest",
        "car": "the node's configuration, a heap car and mixins: 1gheap,index-buffer-30 (./inv cars)",
        "params": "track parameters, name:value,... or JSON or a .json file (./inv track NAME)",
        "car-params": "car variables, written like --params",
        "version": "the Elasticsearch version (8.8.2)",
        "engine": "embedded, official (Rally downloads Elastic's tarball) or the path of a .tar.gz",
        "java": "a Java's folder, a release such as 17, or embedded; otherwise JAVA_HOME where it fits",
        "target-hosts": "race against this cluster (host:port,...) instead of starting a node",
        "client-options": "a .json file with Rally's client options (TLS, passwords) for --target-hosts",
        "documents": "how many documents the corpus has (1,000,000)",
        "seed": "the corpus's seed",
        "test-mode": "1,000 documents, to see that everything works",
        "port": "HTTP port of the node that is started (39200)",
        "data-path": "put the node's data into a folder of its own in this one, to compare disks",
        "on-error": "abort, continue or continue-on-network",
        "user-tags": "name:value,... kept with the result",
        "race-id": "Rally's race id",
        "rally-args": "further arguments for esrally",
        "dry-run": "print the esrally command line and do nothing",
        "json": "print the summary as JSON",
    }
)
@command
def race(
    _context: Context,
    track: str = "apache",
    challenge: str | None = None,
    car: str = "1gheap",
    params: str | None = None,
    car_params: str | None = None,
    version: str | None = None,
    engine: str | None = None,
    java: str | None = None,
    target_hosts: str | None = None,
    client_options: str | None = None,
    documents: int = 0,
    seed: int = 0,
    test_mode: bool = False,
    port: int = 39200,
    data_path: str | None = None,
    on_error: str = "abort",
    user_tags: str | None = None,
    race_id: str | None = None,
    rally_args: str | None = None,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Run one race, whatever has to be set up first.

    Examples:
      ./inv race
      ./inv race --track app-logs --challenge ingest-and-search --car 1gheap,index-buffer-30
      ./inv race --params refresh_interval:30s,bulk_size:5000 --documents 200000
      ./inv race --target-hosts es1:9200,es2:9200 --client-options cluster.json
      ./inv race --dry-run
    """
    from paddock.console import print_result, say, stdout_has_colours, terminal_width, warn
    from paddock.race_options import RaceOptions, prepare

    options = RaceOptions(
        track=track,
        challenge=challenge,
        car=car,
        params=params,
        car_params=car_params,
        version=version,
        engine=engine,
        java=java,
        target_hosts=target_hosts,
        client_options=client_options,
        documents=documents or None,
        seed=seed or None,
        test_mode=test_mode,
        port=port,
        data_path=data_path,
        on_error=on_error,
        user_tags=user_tags,
        race_id=race_id,
        rally_args=rally_args,
    )
    prepared = prepare(options, fetch=not dry_run)
    if dry_run:
        from paddock.rally.command import printable

        for note in prepared.notes:
            warn(note)
        print_result(printable(prepared.request))
        return
    from paddock import race as races
    from paddock.errors import RaceError
    from paddock.tables import as_json

    say(f"Racing {track}, challenge {prepared.request.challenge}, race id {prepared.request.race_id} ...")
    finished = races.run(prepared)
    if json:
        print_result(as_json(races.as_json_object(finished)))
    else:
        print_result(races.render(finished, terminal_width(), stdout_has_colours()))
    if finished.outcome.error_rates:
        failed = ", ".join(f"{task} {100 * rate:.1f} %" for task, rate in finished.outcome.error_rates.items())
        raise RaceError(f"Requests failed in this race ({failed}), so its figures are void: see rally.log.")


@task(help={"json": "for machines"})
@command
def doctor(_context: Context, json: bool = False) -> None:
    """Say what this machine can run and what to change."""
    from dataclasses import asdict

    from paddock import doctor as examination
    from paddock.console import print_result, stdout_has_colours
    from paddock.tables import as_json

    findings = examination.examine()
    if json:
        print_result(as_json([asdict(finding) for finding in findings]))
    else:
        print_result(examination.render(findings, stdout_has_colours()))
    if any(finding.state == examination.BAD for finding in findings):
        raise Exit("No race can run here before the lines marked BAD are dealt with.", 3)


@task(help={"json": "for machines"})
@command
def tracks(_context: Context, json: bool = False) -> None:
    """List the tracks: what can be indexed."""
    from paddock import listing

    listing.show(listing.tracks(), json)


@task(positional=["name"], help={"name": "a track (./inv tracks)", "json": "for machines"})
@command
def track(_context: Context, name: str, json: bool = False) -> None:
    """Show the challenges and parameters of one track."""
    from paddock import listing

    listing.show(listing.track(name), json)


@task(help={"json": "for machines"})
@command
def challenges(_context: Context, json: bool = False) -> None:
    """List the challenges: what can be done with a track."""
    from paddock import listing

    listing.show(listing.challenges(), json)


@task(help={"json": "for machines"})
@command
def cars(_context: Context, json: bool = False) -> None:
    """List the cars and mixins: how a node is configured."""
    from paddock import listing

    listing.show(listing.cars(), json)


@task(help={"json": "for machines"})
@command
def corpora(_context: Context, json: bool = False) -> None:
    """List the recipes and the corpora made from them."""
    from paddock import listing

    listing.show(listing.corpora(), json)


@task(
    positional=["recipe"],
    help={
        "recipe": "what the documents look like (./inv corpora)",
        "documents": "how many documents (1,000,000)",
        "seed": "another seed, other documents",
        "force": "make it anew even if it is there",
    },
)
@command
def corpus_generate(_context: Context, recipe: str, documents: int = 0, seed: int = 0, force: bool = False) -> None:
    """Make a corpus where Rally looks for it.

    Examples:
      ./inv corpus.generate apache
      ./inv corpus.generate app-logs --documents 5000000
    """
    from paddock.console import print_result, progress
    from paddock.corpora.store import ensure_corpus
    from paddock.files import gibibytes

    record = ensure_corpus(recipe, documents or None, seed or None, progress, force=force)
    print_result(f"{record.file}: {record.documents:,} documents, {gibibytes(record.bytes)}, SHA-256 {record.sha256}")


@task
@command
def corpus_verify(_context: Context) -> None:
    """Compare every corpus with its checksum."""
    from paddock.console import print_result
    from paddock.corpora.store import list_corpora, verify_corpus

    for record in list_corpora():
        verify_corpus(record)
        print_result(f"{record.file}: as recorded.")


@task
@command
def validate(_context: Context) -> None:
    """Check every file, and every challenge as Rally reads it."""
    from paddock.console import print_result
    from paddock.validation import validate as check_all

    checks = check_all()
    problems = [check for check in checks if check.problem]
    for check in problems:
        print_result(f"{check.subject}: {check.problem}")
    if problems:
        raise Exit(f"{len(problems)} of {len(checks)} checks failed: see the sentences above.", 2)
    print_result(f"All {len(checks)} checks passed.")


@task(help={"fix": "also repair what can be repaired"})
@command
def lint(context: Context, fix: bool = False) -> None:
    """Check the Python with ruff and mypy."""
    python = f"'{sys.executable}' -m"
    with context.cd(str(PROJECT)):
        repair = " --fix" if fix else ""
        commands = [
            f"{python} ruff check{repair} .",
            f"{python} ruff format{'' if fix else ' --check'} .",
            f"{python} mypy --no-error-summary",
        ]
        results = [context.run(line, warn=True) for line in commands]
    if not all(result.ok for result in results):
        raise Exit("Lint found something: see above; './inv lint --fix' repairs what it can.", SUBPROCESS_FAILED)


@task(help={"quick": "leave out the real races", "args": "further arguments for pytest"})
@command
def test(context: Context, quick: bool = False, args: str = "") -> None:
    """Run all tests, real races among them (--quick: without)."""
    lint(context)
    validate(context)
    with context.cd(str(PROJECT)):
        selection = "-m 'not race'" if quick else ""
        result = context.run(f"'{sys.executable}' -m pytest {selection} {args}", pty=sys.stdout.isatty(), warn=True)
    if not result.ok:
        raise Exit("Tests failed: see above.", SUBPROCESS_FAILED)


corpus = Collection("corpus")
corpus.add_task(corpus_generate, "generate")
corpus.add_task(corpus_verify, "verify")

namespace = Collection(race, doctor, tracks, track, challenges, cars, corpora, corpus, validate, lint, test)
