"""Passwords of somebody else's cluster: whatever becomes of a race, none is shown, and none is left on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock import paths
from paddock.locks import locked
from paddock.rally.command import OPTIONS_VARIABLE
from paddock.rally.request import RaceRequest
from paddock.rally.run import run_race
from tests.command_line import command_line, one_sentence, run_paddock
from tests.sampling.fake_elasticsearch import FakeElasticsearch

SECRET = "hush-4711"  # noqa: S105 - nobody's
OPTIONS = {OPTIONS_VARIABLE: json.dumps({"basic_auth_user": "me", "basic_auth_password": SECRET})}


@pytest.fixture
def cluster() -> Iterator[FakeElasticsearch]:
    """A cluster that answers."""
    with FakeElasticsearch() as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_is_left(rally_home: Path) -> Iterator[None]:
    """After each of these tests: no file below Rally's home holds the password."""
    yield
    holding = [file for file in rally_home.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert holding == []


def a_race(*words: str, host: str) -> tuple[str, ...]:
    """The words of a small race against that cluster."""
    return "race", "--target-hosts", host, "--documents", "1000", "--race-id", "secret-1", *words


def test_a_race_gets_them_in_a_private_file_and_shows_them_nowhere(
    fake_rally: Callable[..., None], cluster: FakeElasticsearch
) -> None:
    """Rally reads a file that only its user can read; neither output nor --debug nor any file has the password."""
    result = run_paddock("--debug", *a_race(host=cluster.host), **OPTIONS)
    assert result.returncode == 0, result.stderr
    assert SECRET not in result.stdout + result.stderr
    seen = json.loads((paths.races_folder() / "secret-1" / "client-options.json").read_text())
    assert (seen["mode"], seen["clusters"]) == ("0o600", ["default"])
    assert not Path(seen["file"]).exists()
    assert OPTIONS_VARIABLE not in seen["environment"]
    assert "--client-options=client-options.json" in result.stdout
    assert "a printed command names client-options.json in their place" in result.stderr
    assert seen["file"] not in result.stdout + result.stderr


def test_a_dry_run_writes_nothing(cluster: FakeElasticsearch, rally_home: Path) -> None:
    """--dry-run of a race: the command names no temporary file, and there is none."""
    result = run_paddock(*a_race("--dry-run", host=cluster.host), **OPTIONS)
    assert result.returncode == 0, result.stderr
    assert "--client-options=client-options.json" in result.stdout
    assert list(rally_home.rglob("*client-options*")) == []


@pytest.mark.parametrize("words", [("--challenge", "ingset"), ("--params", "bulk_size:0")])
def test_a_refused_race_writes_nothing(cluster: FakeElasticsearch, rally_home: Path, words: tuple[str, ...]) -> None:
    """A mistake in another option."""
    result = run_paddock(*a_race(*words, host=cluster.host), **OPTIONS)
    assert result.returncode == 2
    assert list(rally_home.rglob("*client-options*")) == []


def test_a_race_that_has_to_wait_writes_nothing(
    fake_rally: Callable[..., None], cluster: FakeElasticsearch, rally_home: Path
) -> None:
    """Refused after the preparation, just before the launch."""
    with locked(paths.state_folder() / "race.lock", "", wait=False):
        result = run_paddock(*a_race(host=cluster.host), **OPTIONS)
    assert "has to wait" in one_sentence(result)
    assert list(rally_home.rglob("*client-options*")) == []


def test_after_ctrl_c_the_file_is_gone(
    fake_rally: Callable[..., None], cluster: FakeElasticsearch, rally_home: Path
) -> None:
    """The file goes with the race."""
    fake_rally(seconds=300)
    race = subprocess.Popen(
        command_line(*a_race(host=cluster.host)),
        cwd=paths.PROJECT,
        env={**os.environ, **OPTIONS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        seen = paths.races_folder() / "secret-1" / "client-options.json"
        deadline = time.monotonic() + 120
        while not seen.exists() or not seen.read_bytes():
            assert time.monotonic() < deadline
            assert race.poll() is None
            time.sleep(0.05)
        file = Path(json.loads(seen.read_text())["file"])
        assert file.exists()
        race.send_signal(signal.SIGINT)
        assert race.wait(60) == 130
        assert not file.exists()
    finally:
        race.kill()
        race.wait()


def test_a_failure_between_file_and_launch_removes_it(fake_rally: Callable[..., None], rally_home: Path) -> None:
    """An exception of ours, before Rally is started."""
    request = RaceRequest(
        "secret-1",
        paths.TRACKS / "apache",
        "ingest",
        ("external",),
        None,
        target_hosts="127.0.0.1:9",
        private_options={"default": {"basic_auth_password": SECRET}},
    )
    assert SECRET not in repr(request)

    class Failing:
        def started(self, _processes: object) -> None:
            assert len(list(rally_home.rglob("client-options.json"))) == 1
            raise RuntimeError("something of ours")

    with pytest.raises(RuntimeError, match="something of ours"):
        run_race(request, Failing(), print)
    assert list(rally_home.rglob("client-options.json")) == []


@pytest.mark.parametrize("task", [("race", "--documents", "1000"), ("tournament", "refresh-interval")])
def test_a_password_in_a_host_is_refused(task: tuple[str, ...], rally_home: Path) -> None:
    """It would stand in the list of processes, the journal, race.json and the report, and Rally has no use for it."""
    result = run_paddock(*task, "--target-hosts", f"https://elastic:{SECRET}@es1:9200")
    assert "put basic_auth_user and basic_auth_password into a .json file" in one_sentence(result)
    assert SECRET not in result.stdout + result.stderr
    assert result.returncode == 2
    assert list(rally_home.rglob("journal.jsonl")) == []


def test_rallys_own_arguments_are_no_way_round() -> None:
    """--rally-args: neither hosts nor client options."""
    word = f"--client-options=basic_auth_password:'{SECRET}'"
    result = run_paddock("race", "--target-hosts", "es1:9200", "--rally-args", word, "--dry-run")
    assert "--client-options in --rally-args passes by all checks" in one_sentence(result)
    assert SECRET not in result.stdout + result.stderr


def test_the_login_of_a_mirror_is_not_shown() -> None:
    """A mirror of Maven Central may want one, in its URL; a sentence about it does without."""
    mirror = f"http://me:{SECRET}@127.0.0.1:1/maven"
    result = run_paddock("race", "--documents", "1000", PADDOCK_MAVEN_REPOSITORY=mirror, NO_PROXY="127.0.0.1")
    assert "from the mirror http://127.0.0.1:1/maven" in one_sentence(result)
    assert SECRET not in result.stdout + result.stderr
