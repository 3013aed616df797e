"""Chains of whole tournaments with a Rally that only writes laps: killed with kill -9, and gone on with."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from paddock import paths
from paddock.chains import ChainOptions
from paddock.chains.command import hold_step, load_chain, run_chain
from paddock.chains.model import FAILED, FINAL, NO_WINNER, WON, ChainResult, Outcome, Settings
from paddock.chains.run import Task
from paddock.chains.store import StoredChain, chain_ids
from paddock.errors import Interrupted, MachineError, UsageError
from paddock.files import locked
from paddock.rally.leftovers import RaceProcesses, end
from paddock.tournaments.store import find_tournament, tournament_ids
from tests.machine import wait_until
from tests.tournaments.conftest import fake_laps, prepare_without_elasticsearch

__all__ = ["fake_laps"]
Behave = Callable[..., None]


@pytest.fixture
def two_steps(tmp_path: Path) -> str:
    """A chain of two small tournaments, and the file of it."""
    contenders = {"refresh-interval": ("1s", "30s"), "store-type": ("hybridfs", "niofs")}
    for challenge, (first, second) in contenders.items():
        content = {
            "description": "Two of them",
            "question": "Which one?",
            "track": "apache",
            "challenge": challenge,
            "baseline": first,
            "contenders": [{"name": first, "level": first}, {"name": second, "level": second}],
            "lap_documents": 10_000,
            "warmup_blocks": 3,
            "blocks": 8,
            "starts": 1,
            "budget_minutes": 60,
        }
        (tmp_path / f"{challenge}.yml").write_text(yaml.safe_dump(content))
    steps = [{"tournament": str(tmp_path / f"{one}.yml")} for one in contenders]
    final = {"lap_documents": 10_000, "warmup_blocks": 3, "blocks": 8, "starts": 1}
    file = tmp_path / "two.yml"
    file.write_text(yaml.safe_dump({"question": "Which?", "budget_minutes": 9, "steps": steps, "final": final}))
    return str(file)


def held(name: str, resume: bool = False) -> ChainResult:
    """A chain with the fake in Rally's place."""
    hold = partial(hold_step, keep=lambda _: None, preparing=prepare_without_elasticsearch)
    options = ChainOptions() if resume else ChainOptions(seed=5)
    result = run_chain(name, options, resume, hold=hold)
    assert result is not None
    return result


def outcomes(result: ChainResult) -> list[tuple[str, str, str | None]]:
    """What became of every step."""
    ends = [*result.steps, *([result.final] if result.final else [])]
    return [(one.step.name, one.outcome.kind, one.outcome.winner) for one in ends if one.outcome]


EXPECTED = [("refresh-interval", WON, "30s"), ("store-type", NO_WINNER, None), (FINAL, WON, "tuned")]
RATES = {"30s": 13_000, "tuned": 12_500}


def test_the_winner_of_a_tournament_is_in_the_next_and_in_the_last(fake_laps: Behave, two_steps: str) -> None:
    """Found, carried, confirmed, and there to be copied."""
    fake_laps(rates=RATES)
    result = held(two_steps)
    assert outcomes(result) == EXPECTED
    assert result.tuned == Settings(level={"settings": {"index.refresh_interval": "30s"}})
    assert result.apply == {"--params": "refresh_interval:30s"}
    second = result.steps[1].result
    assert second is not None
    assert second.tournament.track_params == {"refresh_interval": "30s"}
    assert result.final is not None
    last = result.final.result
    assert last is not None
    assert [one.level for one in last.tournament.contenders] == [
        None,
        {"settings": {"index.refresh_interval": "30s"}},
    ]


@pytest.fixture
def process(fake_laps: Behave, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Holds a chain, or goes on with it, in a process of its own."""
    program = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv.pop(1))
        from tests.chains.test_chain_tournaments import held
        from tests.tournaments.conftest import disregard_other_rallies
        disregard_other_rallies(setattr)
        held(sys.argv[1], resume="--resume" in sys.argv)
    """)
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        with (tmp_path / "stderr").open("w") as errors:
            command = [sys.executable, "-c", program, str(paths.PROJECT), *words]
            started.append(subprocess.Popen(command, stderr=errors, text=True))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()
    for tournament_id in tournament_ids():
        for attempt in find_tournament(tournament_id).history().attempts:
            end(RaceProcesses(attempt.race_id).all())


def laps_of(step: str) -> int:
    """How many laps of that step's tournament are journalled."""
    mine = [one for one in tournament_ids() if one.startswith(f"{step}-20")]
    return sum(len(one.records) for name in mine for one in find_tournament(name).history().attempts)


@pytest.mark.parametrize("step", ["refresh-interval", "store-type", FINAL])
def test_after_kill_9_in_any_step_it_comes_to_the_same_end(
    process: Callable[..., subprocess.Popen[str]], fake_laps: Behave, two_steps: str, tmp_path: Path, step: str
) -> None:
    """Killed in the middle of a step's laps: steps before it are not held again, its laps are not lost."""
    fake_laps(rates=RATES, pause=0.05)
    killed = process(two_steps)
    wait_until(
        lambda: laps_of(step) >= 8 or killed.poll() is not None, lambda: (tmp_path / "stderr").read_text()[-2000:]
    )
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = laps_of(step)
    fake_laps(rates=RATES)
    result = held("latest", resume=True)
    assert outcomes(result) == EXPECTED
    assert len(tournament_ids()) == 3
    assert laps_of(step) >= before >= 8
    took = sum(find_tournament(one).history().elapsed for one in tournament_ids())
    assert result.seconds >= took  # what it had been running before it was killed is counted
    ids = [one.outcome.result_id for one in result.steps if one.outcome]
    assert [str(one).rsplit("-", 2)[0] for one in ids] == ["refresh-interval", "store-type"]


def test_what_changed_while_it_was_cut_off_is_said_and_nothing_given_up(
    process: Callable[..., subprocess.Popen[str]],
    fake_laps: Behave,
    two_steps: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another corpus under the same name: the step is not held on it, and goes on once the change is undone."""
    fake_laps(rates=RATES, pause=0.05)
    killed = process(two_steps)
    wait_until(lambda: laps_of("refresh-interval") >= 8 or killed.poll() is not None)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    fake_laps(rates=RATES)
    monkeypatch.setenv("FAKE_CORPUS", "cd" * 32)
    with pytest.raises(UsageError, match="cannot go on, because the corpus apache changed"):
        held("latest", resume=True)
    monkeypatch.delenv("FAKE_CORPUS")
    assert outcomes(held("latest", resume=True)) == EXPECTED


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("how", ["moved", "another name"])
def test_a_home_that_has_moved_holds_no_step_twice(
    fake_laps: Behave, two_steps: str, rally_home: Path, monkeypatch: pytest.MonkeyPatch, how: str, finished: bool
) -> None:
    """The chain was killed before it could say that its first step was over, or even before that was."""
    fake_laps(rates=RATES)

    def killed(task: Task) -> Outcome:
        hold_step(task, lambda _: None, prepare_without_elasticsearch)
        raise Interrupted("It was killed.")

    with pytest.raises(Interrupted):
        run_chain(two_steps, ChainOptions(seed=5), hold=killed)
    (journal,) = (find_tournament(one).journal for one in tournament_ids())
    lines = journal.read_text().splitlines(keepends=True)
    if not finished:
        journal.write_text("".join(lines[:-1]))
    other = rally_home.with_name("other")
    if how == "moved":
        rally_home.rename(other)
    else:
        other.symlink_to(rally_home)
    monkeypatch.setenv("RALLY_HOME", str(other))
    assert outcomes(held("latest", resume=True)) == EXPECTED
    assert len(tournament_ids()) == 3


def test_a_step_whose_races_fail_is_not_the_end(fake_laps: Behave, two_steps: str) -> None:
    """It failed, with the reason, and the next one is held all the same."""
    fake_laps(rates=RATES, dies=["001", "001-2"])
    result = held(two_steps)
    assert {one.outcome.kind for one in result.steps if one.outcome} == {FAILED}
    assert all("races failed" in one.outcome.reason for one in result.steps if one.outcome)


def test_somebody_elses_race_stops_the_chain_and_not_the_step(fake_laps: Behave, two_steps: str) -> None:
    """Nothing is lost or given up: it says what it waits for, and goes on when that has ended."""
    fake_laps(rates=RATES)
    with (
        locked(paths.state_folder() / "race.lock", "", wait=False),
        pytest.raises(MachineError, match=r"has to wait for.*--resume' goes on with all of it"),
    ):
        held(two_steps)
    assert load_chain(chain_ids()[-1]).steps[0].outcome is None
    assert outcomes(held("latest", resume=True)) == EXPECTED


def test_a_chain_that_was_killed_before_its_first_line_is_nobodys() -> None:
    """An empty journal is no chain to go on with, nor a reason to fail."""
    folder = StoredChain("two-20260101-000000").folder
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_bytes(b'{"kind":"chain","at":')
    with pytest.raises(UsageError, match="No chain is left to resume"):
        held("latest", resume=True)
