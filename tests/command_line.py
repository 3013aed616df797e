"""Runs Paddock's command line as a user does, in a process of its own, or where many are run in this one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

from invoke.main import program

from paddock.paths import PROJECT
from tests.machine import PATIENCE


def run_paddock(*words: str, timeout: float = PATIENCE, **environment: str) -> subprocess.CompletedProcess[str]:
    """Call a task and return what it printed and its exit code."""
    return subprocess.run(
        command_line(*words),
        cwd=PROJECT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def run_here(*words: str) -> subprocess.CompletedProcess[str]:
    """As ``run_paddock``, but without a new process, which takes a second or two to import everything."""
    code, output, errors = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            program.run(command_line(*words))
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(words, code, output.getvalue(), errors.getvalue())


def command_line(*words: str) -> list[str]:
    """What ./inv hands over to."""
    return [str(Path(sys.executable).with_name("invoke")), "--search-root", str(PROJECT), *words]


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """What a failed command says: on stderr, without a traceback, its last line."""
    assert "Traceback" not in result.stderr + result.stdout
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert lines, "it said nothing"
    return lines[-1]
