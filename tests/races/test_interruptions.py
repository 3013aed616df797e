"""Real races that are stopped: Ctrl-C, and kill -9 of the wrapper."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from paddock.paths import PROJECT
from paddock.rally import leftovers
from paddock.rally.leftovers import RaceProcesses
from tests.command_line import command_line, run_paddock
from tests.machine import PATIENCE, own_rallies, wait_until

pytestmark = pytest.mark.race


@pytest.fixture
def running_race(rally_home: object) -> Iterator[Callable[[str], subprocess.Popen]]:
    """Starts a race and waits until its node is there."""
    started: list[subprocess.Popen] = []

    def start(race_id: str) -> subprocess.Popen:
        process = subprocess.Popen(
            command_line("race", "--race-id", race_id, "--params", "warmup_time_period:0"),
            cwd=PROJECT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        wait_until(lambda: RaceProcesses(race_id).nodes() or process.poll() is not None)
        assert process.poll() is None
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def a_race_id(name: str) -> str:
    """A race id that no earlier run used."""
    return f"{name}-{os.getpid()}-{int(time.time())}"


def test_ctrl_c_leaves_no_node_no_actor_no_lock(running_race: Callable[[str], subprocess.Popen]) -> None:
    """Exit code 130, and nothing of the race is left."""
    race_id = a_race_id("ctrl-c")
    process = running_race(race_id)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert RaceProcesses(race_id).all() == []
    assert leftovers.running() == []


def test_after_kill_9_of_the_wrapper_the_next_race_works(running_race: Callable[[str], subprocess.Popen]) -> None:
    """The next command ends what was left over, and races."""
    race_id = a_race_id("kill-9")
    process = running_race(race_id)
    process.kill()
    process.wait()
    assert RaceProcesses(race_id).all() != []
    result = run_paddock("race", "--test-mode")
    assert result.returncode == 0, result.stderr[-3000:]
    assert f"The race {race_id} was cut off before" in result.stderr
    assert RaceProcesses(race_id).all() == []
    assert own_rallies() == []
