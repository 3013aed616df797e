"""./inv chain, chains, tune, report and results: what they print, and what bad input gets. No race is run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock.cars import Machine
from paddock.chains import ChainOptions, command
from paddock.chains.command import run_chain
from paddock.chains.model import FAILED, FINAL, NO_WINNER, WON, ChainResult, Outcome, Settings
from paddock.chains.run import Task
from paddock.chains.store import StoredChain, chain_ids
from paddock.errors import Interrupted
from tests.command_line import one_sentence, run_here, run_paddock


def held() -> ChainResult:
    """A chain in which nothing was found, held by nobody."""

    def hold(_task: Task) -> Outcome:
        return Outcome(NO_WINNER, "Nothing was proven better than it.")

    result = run_chain("heap,index-buffer", ChainOptions(), hold=hold)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("chain", "tune-our"), r"There is no chain 'tune-our'. Did you mean 'tune-hour'"),
        (("chain", "heap"), "'heap' is a tournament, not a chain"),
        (("chain", "heap,gcc"), "There is no tournament 'gcc'. Did you mean 'gc'?"),
        (("chain", "latest", "--resume"), "No chain is left to resume"),
        (("tune", "--budget", "2"), "A budget of 2 minutes is too short for the first step 'bulk-size-and-clients'"),
        (("tune", "--budget", "ten"), "--budget wants a number above 0, not 'ten'"),
        (("tune", "--resume"), "No ./inv tune is left to resume"),
        (("tune", "--corpus", "nobody"), "There is no corpus 'nobody'"),
        (("tune", "--track", "apach"), "There is no track 'apach'. Did you mean 'apache'"),
    ],
)
def test_bad_input_ends_in_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    """Exit code 2, nothing started, nothing left."""
    done = run_here(*words)
    assert done.returncode == 2
    assert sentence in one_sentence(done)


def test_a_chain_without_a_name_is_told_what_it_lacks() -> None:
    """In a process of its own: Invoke forgets what a task's words mean once it has asked."""
    assert "The task chain lacks its NAME: a chain (./inv chains)" in one_sentence(run_paddock("chain"))


@pytest.mark.parametrize(("budget", "steps"), [("10", 1), ("60", 3), ("480", 4)])
def test_tune_shows_its_steps(budget: str, steps: int) -> None:
    """--dry-run: every step with minutes, form, and what it can resolve; the minutes are those of the budget."""
    done = run_here("tune", "--dry-run", "--budget", budget, "--track", "app-logs")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if " of " in line and ("start " in line or "starts " in line)]
    assert len([line for line in told if "block" in line and ":" not in line]) == steps + 1
    assert done.stdout.count("are found with a probability of 80 %") == steps + 1


def test_tune_goes_on_beside_a_chain_that_was_killed_before_it_had_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a first line, as a power cut leaves it, is no chain to go on with, nor in the way of others."""

    def killed(_task: Task) -> Outcome:
        raise Interrupted("It was killed.")

    with pytest.raises(Interrupted):
        run_chain("tune-coffee", ChainOptions(budget=12.0), hold=killed)
    (begun,) = chain_ids()
    for name in ("tune-coffee-20200101-000000", "tune-hour-29990101-000000"):
        StoredChain(name).folder.mkdir(parents=True)
        StoredChain(name).journal.write_text('{"kind": "chain", "at"')
    resumed: list[str] = []
    monkeypatch.setattr(command, "run_chain", lambda name, *_args, **_options: resumed.append(name))
    done = run_here("tune", "--resume")
    assert (done.returncode, done.stderr, resumed) == (0, "", [begun])


def test_a_last_tournament_that_fails_is_said_where_that_ends_the_chain(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the command that tries it again."""
    won = Outcome(WON, "", None, "2 GiB", Settings(cars=("2gheap",)), 1.1)
    failed = Outcome(FAILED, "Its races failed.")
    real = command.run_chain

    def held_by_nobody(*args: Any, **_keep: Any) -> ChainResult | None:
        return real(*args, hold=lambda task: won if task.step.name == "heap" else failed)

    monkeypatch.setattr(command, "run_chain", held_by_nobody)
    file = tmp_path / "own.yml"
    steps = [{"tournament": "heap"}]
    file.write_text(
        yaml.safe_dump({"question": "?", "budget_minutes": 200, "on_failure": "stop", "steps": steps, "final": {}})
    )
    done = run_here("chain", str(file))
    told = f"The step '{FINAL}' failed, and the chain stops there: './inv chain {chain_ids()[0]} --resume' tries"
    assert told in one_sentence(done)


def test_a_preview_says_where_the_default_is_no_contender() -> None:
    """Before an hour is spent on what it is not compared with."""
    done = run_here("tune", "--dry-run", "--budget", "60", "--car", "4gheap")
    assert "No contender of 'heap' is the default configuration (cars 4gheap)" in done.stdout


def test_a_preview_cautions_as_the_plans_of_its_tournaments_do() -> None:
    """Once for all steps of which the same is to be said."""
    done = run_here("tune", "--dry-run", "--budget", "45")
    assert done.returncode == 0, done.stderr
    assert "heap, index-buffer: Caution: laps are expected to take" in done.stdout


def test_a_preview_says_what_this_machine_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step, and the sentence that its tournament would be refused with; the others are planned all the same."""
    monkeypatch.setattr("paddock.cars.this_machine", lambda: Machine(2 * 2**30, 1, None))
    done = run_here("chain", "heap,bulk-size", "--dry-run", "--budget", "60")
    assert done.returncode == 0, done.stderr
    assert re.search("^heap: It cannot be held as it is: .* 2.0 GiB", done.stdout, re.MULTILINE)


def test_a_chain_is_listed_and_has_its_page_made_anew() -> None:
    """In ./inv chains and ./inv results; ./inv report writes the page, ./inv compare says why not."""
    result = held()
    listed = json.loads(run_here("chains", "--json").stdout)
    assert {one["name"] for one in listed["Chains"]} >= {"tune-coffee", "tune-hour", "tune-night"}
    assert [(one["id"], one["steps over"]) for one in listed["Chains begun"]] == [(result.id, "2 of 2")]
    assert result.id in run_here("results").stdout
    done = run_here("report", "latest")
    assert done.returncode == 0, done.stderr
    assert "Nothing was proven to be better than the default configuration." in done.stdout
    page = Path(done.stdout.splitlines()[-1])
    assert page.name == "report.html"
    assert "<h1" in page.read_text()
    assert json.loads(run_here("report", result.id, "--json").stdout)["format"] == "paddock-chain-result"
    assert "which is not compared as a whole" in one_sentence(run_here("compare", result.id, result.id))
