"""./inv validate, lint and test: what contributors and CI call."""

from __future__ import annotations

import os
import sys

from invoke import Context, Exit, task

from paddock.command_line.sentences import command
from paddock.paths import PROJECT

# What a failed check or test run exits with.
FAILED = 1
# What pytest exits with if no test was selected, as when its arguments name files without races.
NOTHING_SELECTED = 5
# Each takes a third of a gigabyte.
MOST_PROCESSES = 8


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
        raise Exit("Lint found something: see above; './inv lint --fix' repairs what it can.", FAILED)


@task(
    help={
        "quick": "leave out the real races",
        "long": "also the long calibrations of the statistics",
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
    return runs if quick else [*runs, "-m race"]
