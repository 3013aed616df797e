"""./inv validate, lint and test: what contributors and CI call."""

from __future__ import annotations

import sys

from invoke import Context, Exit, task

from paddock.command_line.sentences import command
from paddock.paths import PROJECT

# What a failed check or test run exits with.
FAILED = 1


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
        raise Exit("Tests failed: see above.", FAILED)
