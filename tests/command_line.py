"""Runs Paddock's command line as a user does, in a process of its own, or in this one beside a fake Rally."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from invoke import Program

import tasks
from paddock.paths import PROJECT


def run_paddock(*words: str, timeout: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
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


def command_line(*words: str) -> list[str]:
    """What ./inv hands over to."""
    return [str(Path(sys.executable).with_name("invoke")), "--search-root", str(PROJECT), *words]


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """What a failed command says: on stderr, without a traceback, its last line."""
    assert "Traceback" not in result.stderr + result.stdout
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert lines, "it said nothing"
    return lines[-1]


def call(capsys: pytest.CaptureFixture[str], *words: str) -> subprocess.CompletedProcess[str]:
    """Call a task in this process; what it printed and its exit code."""
    code = 0
    try:
        Program(namespace=tasks.namespace).run(["inv", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    return subprocess.CompletedProcess(words, code, said.out, said.err)
