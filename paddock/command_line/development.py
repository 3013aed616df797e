"""./inv validate, lint and test: what contributors and CI call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial

from invoke import Context, Exit

from paddock.command_line.sentences import command, task
from paddock.console import print_result
from paddock.errors import PaddockError
from paddock.files import files_below
from paddock.paths import PROJECT

FAILED = 1  # what a failed check or test run exits with
NOTHING_SELECTED = 5  # what pytest exits with if no test was selected, as when its arguments name files without races
MOST_PROCESSES = 8  # each takes a third of a gigabyte
_TEMPLATES = re.compile(r"{[{%#]")


@task
@command
def validate(_context: Context) -> None:
    """Check every file, and every challenge as Rally reads it."""
    checks = list(_checks())
    problems = [f"{subject}: {problem}" for subject, problem in checks if problem]
    for sentence in problems:
        print_result(sentence)
    if problems:
        raise Exit(f"{len(problems)} of {len(checks)} checks failed: see the sentences above.", 2)
    print_result(f"All {len(checks)} checks passed.")


_Check = tuple[str, str | None]  # what was checked, and what is wrong with it


def _checks() -> Iterator[_Check]:
    """Recipes, parameters, cars, JSON files, tournaments, and every challenge of every track, in test mode, too."""
    from paddock import paths, tracks
    from paddock.cars import load_cars
    from paddock.chains.files import chain_names, read_chain
    from paddock.corpora import recipe
    from paddock.structured_files import read_json
    from paddock.tournaments import TournamentOptions
    from paddock.tournaments.files import find_file, read_tournament, tournament_names

    for name in recipe.recipe_names():
        yield _attempt(f"recipe {name}", partial(recipe.load_recipe, name))
    yield _attempt("cars", load_cars)
    for folder in (paths.TRACKS, paths.CHALLENGES):
        for file in files_below(folder, ".json"):
            # Most are templates of Rally's, so no JSON before they are rendered; rendering the tracks checks those.
            if not _TEMPLATES.search(file.read_text(encoding="utf-8")):
                yield _attempt(f"file {file.relative_to(paths.PROJECT)}", partial(read_json, file))
    for name in tournament_names():
        for quick in (False, True):
            read = partial(read_tournament, find_file(name), TournamentOptions(quick=quick))
            yield _attempt(f"tournament {name}{' --quick' if quick else ''}", read)
    for name in chain_names():
        yield _attempt(f"chain {name}", partial(read_chain, name))
    for name in tracks.track_names():
        yield _attempt(f"parameters of track {name}", partial(tracks.read_parameters, name))
        yield from _track_checks(name)


def _track_checks(name: str) -> Iterator[_Check]:
    from paddock.tracks import load_track
    from paddock.tracks.rendering import build_track, render_specification

    try:
        track = load_track(name)
        # Rendered once for all challenges: that takes ten times as long as one challenge.
        specification, _ = render_specification(track.folder, {})
    except PaddockError as error:
        yield f"track {name}", str(error)
        return
    for mode, test_mode in (("", False), (" in test mode", True)):
        for challenge in track.challenges:
            build = partial(build_track, track.folder, {}, specification, challenge.name, test_mode)
            yield _attempt(f"track {name}, challenge {challenge.name}{mode}", build)


def _attempt(subject: str, action: Callable[[], object]) -> _Check:

    try:
        action()
    except PaddockError as error:
        return subject, str(error)
    return subject, None


@task(help={"fix": "also repair what can be repaired"})
@command
def lint(context: Context, fix: bool = False) -> None:
    """Check the Python with ruff and mypy."""
    python = f"'{sys.executable}' -m"
    with context.cd(str(PROJECT)):
        ruff = ("check --fix", "format") if fix else ("check", "format --check")
        commands = [*(f"ruff {one} ." for one in ruff), "mypy --no-error-summary"]
        results = [context.run(f"{python} {one}", warn=True) for one in commands]
    if not all(result.ok for result in results):
        raise Exit("Lint found something: see above; './inv lint --fix' repairs what it can.", FAILED)


@task(
    help={
        "quick": "leave out the real races",
        "long": "also the long calibrations, and every challenge on every track",
        "args": "further arguments for pytest",
    }
)
@command
def test(context: Context, quick: bool = False, long: bool = False, args: str = "") -> None:
    """Run all tests, real races among them (--quick: without)."""
    lint(context)
    with context.cd(str(PROJECT)):
        results = [
            context.run(f"'{sys.executable}' -m pytest {words} {args}", pty=sys.stdout.isatty(), warn=True)
            for words in pytest_runs(quick, long)
        ]
    codes = {result.exited for result in results}
    if codes == {NOTHING_SELECTED} or not codes <= {0, NOTHING_SELECTED}:
        raise Exit("Tests failed: see above.", FAILED)


def pytest_runs(quick: bool, long: bool) -> list[str]:
    """Arguments of pytest, run after run: races run in a process of their own, when nothing else runs beside them."""
    processes = min(len(os.sched_getaffinity(0)), MOST_PROCESSES)
    units = "not race" if long else "not race and not long"
    runs = [f"-n {processes} --dist worksteal -m '{units}'"]
    return runs if quick else [*runs, f"--durations=15 -m {'race' if long else repr('race and not long')}"]
