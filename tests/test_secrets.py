"""Passwords of somebody else's cluster: whatever becomes of a race, none is shown, and none is left on disk."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock import paths
from paddock.files import locked
from paddock.rally.request import OPTIONS_VARIABLE, ClientOptions, RaceRequest
from paddock.rally.run import run_race
from tests.command_line import one_sentence, run_here
from tests.machine import wait_until
from tests.sampling.fake_elasticsearch import FakeElasticsearch

SECRET = "hush-4711"  # noqa: S105 - nobody's
OPTIONS = json.dumps({"basic_auth_user": "me", "basic_auth_password": SECRET})


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeElasticsearch]:
    """A cluster that answers, and the way to be let in in the environment."""
    monkeypatch.setenv(OPTIONS_VARIABLE, OPTIONS)
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
    fake_rally: Callable[..., None], cluster: FakeElasticsearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rally reads a file that only its user can read; neither output nor --debug nor any file has the password."""
    words = ("--debug", *a_race(host=cluster.host))
    monkeypatch.setattr(sys, "argv", ["inv", *words])
    result = run_here(*words)
    assert result.returncode == 0, result.stderr
    assert SECRET not in result.stdout + result.stderr
    seen = json.loads((paths.races_folder() / "secret-1" / "client-options.json").read_text())
    assert (seen["mode"], seen["clusters"]) == ("0o600", ["default"])
    assert not Path(seen["file"]).exists()
    assert OPTIONS_VARIABLE not in seen["environment"]
    assert "--client-options=client-options.json" in result.stdout
    assert "a printed command names client-options.json in their place" in result.stderr
    assert seen["file"] not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("words", "code"), [(("--dry-run",), 0), (("--challenge", "ingset"), 2), (("--params", "bulk_size:0"), 2)]
)
def test_a_dry_run_and_a_refused_race_write_nothing(
    cluster: FakeElasticsearch, rally_home: Path, words: tuple[str, ...], code: int
) -> None:
    """Where Rally is not started there is no file, and the command that --dry-run prints names none of ours."""
    result = run_here(*a_race(*words, host=cluster.host))
    assert result.returncode == code, result.stderr
    assert ("--client-options=client-options.json" in result.stdout) is (code == 0)
    assert list(rally_home.rglob("*client-options*")) == []


def test_a_race_that_has_to_wait_writes_nothing(
    fake_rally: Callable[..., None], cluster: FakeElasticsearch, rally_home: Path
) -> None:
    """Refused after the preparation, just before the launch."""
    with locked(paths.state_folder() / "race.lock", "", wait=False):
        result = run_here(*a_race(host=cluster.host))
    assert "has to wait" in one_sentence(result)
    assert list(rally_home.rglob("*client-options*")) == []


def test_after_ctrl_c_the_file_is_gone(fake_rally: Callable[..., None], cluster: FakeElasticsearch) -> None:
    """The file goes with the race."""
    fake_rally(seconds=36_000)
    seen = paths.races_folder() / "secret-1" / "client-options.json"
    there: list[bool] = []

    def interrupt() -> None:
        wait_until(lambda: seen.exists() and seen.read_bytes().endswith(b"}"))
        there.append(Path(json.loads(seen.read_text())["file"]).exists())
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    result = run_here(*a_race(host=cluster.host))
    interrupting.join()
    assert result.returncode == 130
    assert there == [True]
    assert not Path(json.loads(seen.read_text())["file"]).exists()


def test_a_failure_between_file_and_launch_removes_it(fake_rally: Callable[..., None], rally_home: Path) -> None:
    """An exception of ours, before Rally is started."""
    request = RaceRequest(
        "secret-1",
        paths.TRACKS / "apache",
        "ingest",
        ("external",),
        None,
        target_hosts="127.0.0.1:9",
        client_options=ClientOptions(private={"default": {"basic_auth_password": SECRET}}),
    )
    assert SECRET not in repr(request)

    class Failing:
        def started(self, _processes: object) -> None:
            assert len(list(rally_home.rglob("client-options.json"))) == 1
            raise RuntimeError("something of ours")

    with pytest.raises(RuntimeError, match="something of ours"):
        run_race(request, Failing(), print)
    assert list(rally_home.rglob("client-options.json")) == []


@pytest.mark.parametrize("task", [("race", "--documents", "1000"), ("tournament", "refresh-interval", "--starts", "1")])
def test_a_password_in_a_host_is_refused(task: tuple[str, ...], rally_home: Path) -> None:
    """It would stand in the list of processes, the journal, race.json and the report, and Rally has no use for it."""
    result = run_here(*task, "--target-hosts", f"https://elastic:{SECRET}@es1:9200")
    assert "put basic_auth_user and basic_auth_password into a .json file" in one_sentence(result)
    assert SECRET not in result.stdout + result.stderr
    assert result.returncode == 2
    assert list(rally_home.rglob("journal.jsonl")) == []


@pytest.mark.parametrize("option", ["--client-options=", "--client ", "--cl=", "--target-hosts ", "--targ=", "--ta="])
def test_rallys_own_arguments_are_no_way_round(option: str) -> None:
    """--rally-args: neither hosts nor client options, however Rally lets them be abbreviated."""
    words = f"--offline {option}basic_auth_password:'{SECRET}'"
    result = run_here("race", "--target-hosts", "es1:9200", "--rally-args", words, "--dry-run")
    assert f"{option[:-1]} in --rally-args passes by all checks" in one_sentence(result)
    assert SECRET not in result.stdout + result.stderr


def test_the_login_of_a_mirror_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror of Maven Central may want one, in its URL; a sentence about it does without."""
    mirror = f"http://me:{SECRET}@127.0.0.1:1/maven"
    monkeypatch.setenv("PADDOCK_MAVEN_REPOSITORY", mirror)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    result = run_here("race", "--documents", "1000")
    assert "from the mirror http://127.0.0.1:1/maven" in one_sentence(result)
    assert SECRET not in result.stdout + result.stderr
