"""That tests depend neither on how they were started nor on what runs beside them, and how ./inv test divides them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paddock.command_line.development import pytest_runs
from paddock.paths import PROJECT

STARTED_IN_THE_BACKGROUND = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from tests.conftest import pytest_configure
pytest_configure()
subprocess.run([sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT).__name__)"], check=True)
"""


def test_ctrl_c_reaches_what_tests_start() -> None:
    """Also where the tests were started with it ignored, as a shell starts its background jobs."""
    command = [sys.executable, "-c", STARTED_IN_THE_BACKGROUND]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert result.stdout == "default_int_handler\n"


def test_races_never_run_beside_anything() -> None:
    """They have a run of their own in one process, after the rest; --quick leaves it out, --long adds to the rest."""
    everything, races = pytest_runs(quick=False, long=False)
    assert "-m 'not race and not long'" in everything
    assert races.endswith(" -m 'race and not long'")
    assert pytest_runs(quick=False, long=True)[1].endswith(" -m race")
    assert pytest_runs(quick=True, long=False) == [everything]
    (long,) = pytest_runs(quick=True, long=True)
    assert "-m 'not race'" in long


def test_a_race_in_one_of_several_processes_is_refused() -> None:
    """Whoever calls pytest with -n gets a sentence instead of races that disturb each other."""
    words = ["-n", "1", "-m", "race", "--setup-only", "-p", "no:cacheprovider", "tests/races/test_interruptions.py"]
    command = [sys.executable, "-m", "pytest", *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    result = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert "Races run in one process" in result.stdout
