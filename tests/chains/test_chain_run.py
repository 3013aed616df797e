"""Chains whose steps are held by a plain function: order, winners, failures, time, and going on from everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock.chains import ChainOptions
from paddock.chains.command import load_chain, race_options, run_chain
from paddock.chains.model import (
    ALL_DONE,
    FAILED,
    FINAL,
    INTERRUPTED,
    NO_TIME,
    NO_WINNER,
    NOTHING_FOUND,
    RACED,
    SKIPPED,
    STEP_FAILED,
    WON,
    ChainResult,
    Outcome,
    Settings,
)
from paddock.chains.run import Task
from paddock.chains.store import StoredChain, chain_ids
from paddock.errors import FileError, Interrupted, MachineError, UsageError
from paddock.structured_files import read_yaml

WON_HEAP = Outcome(WON, "", None, "2 GiB", Settings(cars=("2gheap",)), 1.1)
WON_BUFFER = Outcome(WON, "", None, "40 %", Settings(cars=("index-buffer-40",)), 1.05)
WON_FINAL = Outcome(WON, "", None, "tuned", Settings(), 1.12)
STEPS: list[dict[str, Any]] = [{"tournament": "heap"}, {"tournament": "index-buffer"}]


class Machine:
    """Holds steps without a machine: hands out outcomes by name, and remembers what it was asked for.

    :param dies: before which call it is killed, counted from 1; None for never.
    """

    def __init__(self, outcomes: dict[str, Outcome], dies: int | None = None, error: type[BaseException] = Interrupted):
        self.outcomes, self.dies, self.error = outcomes, dies, error
        self.tasks: list[Task] = []

    def __call__(self, task: Task) -> Outcome:
        self.tasks.append(task)
        if len(self.tasks) == self.dies:
            raise self.error("It was killed.")
        return self.outcomes.get(task.step.name, Outcome(NO_WINNER))


@pytest.fixture
def chain_file(tmp_path: Path) -> Callable[..., str]:
    """Writes a chain file of these steps; its path."""

    def write(steps: list[dict[str, Any]] = STEPS, **more: Any) -> str:
        file = tmp_path / "own.yml"
        file.write_text(yaml.safe_dump({"question": "Which?", "budget_minutes": 200, "steps": steps, **more}))
        return str(file)

    return write


def held(machine: Machine, name: str = "latest", resume: bool = False, **options: Any) -> ChainResult:
    """A chain held by that machine."""
    result = run_chain(name, ChainOptions(**options), resume, hold=machine)
    assert result is not None
    return result


def kinds(result: ChainResult) -> list[str | None]:
    """What became of all steps, the last tournament included."""
    ends = [result.final] if result.final else []
    return [one.outcome.kind if one.outcome else None for one in (*result.steps, *ends)]


def cars(task: Task) -> list[list[str]]:
    """The cars of the contenders in the file that a step is held with."""
    assert task.file is not None
    return [one["cars"] for one in read_yaml(task.file, "tournament")["contenders"]]


def test_winners_are_carried_on_to_the_last_tournament(chain_file: Callable[..., str]) -> None:
    """Heap, index buffer in that heap, both against neither; and what comes out of it is there to be copied."""
    machine = Machine({"heap": WON_HEAP, "index-buffer": WON_BUFFER, FINAL: WON_FINAL})
    result = held(machine, chain_file(), seed=7)
    assert kinds(result) == [WON, WON, WON]
    assert cars(machine.tasks[0]) == [["512mheap"], ["1gheap"], ["2gheap"]]
    assert cars(machine.tasks[1]) == [["2gheap", f"index-buffer-{share}"] for share in (10, 30, 40)]
    assert cars(machine.tasks[2]) == [["1gheap"], ["2gheap", "index-buffer-40"]]
    assert [one.seed for one in machine.tasks] == [7, 8, 9]
    assert result.apply == {"--car": "2gheap,index-buffer-40"}
    assert result.stopped == ALL_DONE


def test_a_step_without_a_winner_carries_the_default_on(chain_file: Callable[..., str]) -> None:
    """The index buffer is then tried in the default heap."""
    machine = Machine({"index-buffer": WON_BUFFER})
    result = held(machine, chain_file())
    assert kinds(result) == [NO_WINNER, WON, NO_WINNER]
    assert cars(machine.tasks[1])[0] == ["1gheap", "index-buffer-10"]
    assert result.tuned == Settings(cars=("index-buffer-40",))


def test_where_nothing_was_found_there_is_no_last_tournament(chain_file: Callable[..., str]) -> None:
    """It says so instead."""
    machine = Machine({})
    result = held(machine, chain_file())
    assert kinds(result) == [NO_WINNER, NO_WINNER, NOTHING_FOUND]
    assert len(machine.tasks) == 2
    assert not result.apply


@pytest.mark.parametrize("error", [Interrupted, MachineError, KeyboardInterrupt])
@pytest.mark.parametrize("dies", [1, 2, 3])
def test_it_goes_on_from_wherever_it_was_stopped(
    chain_file: Callable[..., str], dies: int, error: type[BaseException]
) -> None:
    """Finished steps are not repeated; the one that was running is gone on with, in the same file."""
    outcomes = {"heap": WON_HEAP, "index-buffer": WON_BUFFER, FINAL: WON_FINAL}
    whole = Machine(outcomes)
    expected = held(whole, chain_file(), seed=7)
    first, second = Machine(outcomes, dies, error), Machine(outcomes)
    with pytest.raises((Interrupted, MachineError), match=r"'\./inv chain own-\S+ --resume' goes on"):
        held(first, chain_file(), seed=7)
    assert load_chain(chain_ids()[-1]).stopped == INTERRUPTED
    result = held(second, resume=True)
    names = [one.step.name for one in whole.tasks]
    assert [one.step.name for one in first.tasks] == names[:dies]
    assert [one.step.name for one in second.tasks] == names[dies - 1 :]
    assert second.tasks[0].file == first.tasks[-1].file
    assert (kinds(result), result.apply) == (kinds(expected), expected.apply)
    with pytest.raises(UsageError, match="No chain is left"):
        held(Machine({}), resume=True)


def test_a_journal_that_was_cut_off_anywhere_goes_on(chain_file: Callable[..., str]) -> None:
    """Whatever part of it reached the disk before a power cut: the chain comes to the same end."""
    outcomes = {"heap": WON_HEAP, "index-buffer": WON_BUFFER, FINAL: WON_FINAL}
    expected = held(Machine(outcomes), chain_file(), seed=7)
    journal = StoredChain(expected.id).journal
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 2 + 3 * 2
    for kept in range(1, len(lines)):
        journal.write_bytes(b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
        result = held(Machine(outcomes), expected.id, resume=True)
        assert (kinds(result), result.apply, result.stopped) == (kinds(expected), expected.apply, ALL_DONE)


def test_a_damaged_journal_is_said_with_its_line(chain_file: Callable[..., str]) -> None:
    """Not a traceback."""
    result = held(Machine({}), chain_file())
    journal = StoredChain(result.id).journal
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([lines[0], "{nonsense\n", *lines[2:]]))
    with pytest.raises(FileError, match=r"journal\.jsonl:2: this journal is damaged here"):
        load_chain(result.id)


def test_what_does_not_need_a_failed_step_goes_on(chain_file: Callable[..., str]) -> None:
    """The heap cannot be held; gc needs it, the index buffer does not."""
    steps = [*STEPS, {"tournament": "gc", "needs": ["heap"]}]
    machine = Machine({"heap": Outcome(FAILED, "Not enough memory."), "index-buffer": WON_BUFFER})
    result = held(machine, chain_file(steps))
    assert kinds(result) == [FAILED, WON, SKIPPED, NO_WINNER]
    assert [one.step.name for one in machine.tasks] == ["heap", "index-buffer", FINAL]


def test_a_chain_that_is_to_stop_at_a_failure_tries_that_step_again(chain_file: Callable[..., str]) -> None:
    """With a file of its own, so that the tournament of the first attempt is left alone."""
    first = Machine({"heap": Outcome(FAILED, "Not enough memory.")})
    result = held(first, chain_file(on_failure="stop"))
    assert result.stopped == STEP_FAILED
    assert kinds(result) == [FAILED, None, None]
    second = Machine({"heap": WON_HEAP})
    result = held(second, resume=True)
    assert kinds(result) == [WON, NO_WINNER, NO_WINNER]
    assert second.tasks[0].file != first.tasks[0].file
    assert second.tasks[0].begun.attempt == 2


def test_a_last_tournament_that_fails_is_tried_again_as_well(chain_file: Callable[..., str]) -> None:
    """If the chain is to stop at a failure: as any step, and what was found before is not looked for again."""
    first = Machine({"heap": WON_HEAP, FINAL: Outcome(FAILED, "Its races failed.")})
    result = held(first, chain_file(on_failure="stop"))
    assert (result.stopped, kinds(result)) == (STEP_FAILED, [WON, NO_WINNER, FAILED])
    second = Machine({FINAL: WON_FINAL})
    result = held(second, resume=True)
    assert (result.stopped, kinds(result)) == (ALL_DONE, [WON, NO_WINNER, WON])
    assert [one.step.name for one in second.tasks] == [FINAL]
    assert second.tasks[0].begun.attempt == 2


def test_a_budget_that_is_too_short_is_refused_before_anything_runs(chain_file: Callable[..., str]) -> None:
    """Nothing is left behind either."""
    machine = Machine({})
    with pytest.raises(UsageError, match="2 minutes is too short for the first step 'heap'"):
        held(machine, chain_file(), budget=2)
    assert machine.tasks == []
    assert chain_ids() == []


def test_steps_for_which_there_is_no_time_are_said(chain_file: Callable[..., str]) -> None:
    """The first step and the last tournament are kept."""
    machine = Machine({"heap": WON_HEAP})
    result = held(machine, chain_file([{**STEPS[0], "contenders": ["1 GiB", "2 GiB"]}, STEPS[1]]), budget=9)
    assert kinds(result) == [WON, NO_TIME, NO_WINNER]
    assert [one.step.name for one in machine.tasks] == ["heap", FINAL]


def test_races_are_steps_as_well(chain_file: Callable[..., str]) -> None:
    """They find nothing, and are told what winners bring."""
    steps = [{"tournament": "heap"}, {"race": {"challenge": "ingest", "params": {"bulk_size": 500}}}]
    machine = Machine({"heap": WON_HEAP, "ingest": Outcome(RACED, "", "a-race")})
    result = held(machine, chain_file(steps))
    assert kinds(result) == [WON, RACED, NO_WINNER]
    assert machine.tasks[1].file is None
    assert machine.tasks[1].settings == Settings(cars=("2gheap",))


def test_a_race_is_asked_for_with_what_it_builds_on(chain_file: Callable[..., str]) -> None:
    """The winner's heap and bulks, but for what the step says itself; and it is known whose race it is."""
    load = Outcome(WON, "", None, "x", Settings(level={"bulk_size": 5000, "clients": 2}), 1.2)
    steps = [*STEPS[:1], {"tournament": "bulk-size"}, {"race": {"challenge": "ingest", "params": {"bulk_size": 500}}}]
    machine = Machine({"heap": WON_HEAP, "bulk-size": load, "ingest": Outcome(RACED, "", "a-race")})
    held(machine, chain_file(steps), documents=20_000, car_params={"index_buffer_size": "20%"})
    asked = race_options(machine.tasks[2], "an-id")
    assert (asked.car, asked.car_params, asked.documents) == (("2gheap",), {"index_buffer_size": "20%"}, 20_000)
    assert asked.params == {"bulk_size": 500, "bulk_indexing_clients": 2}
    assert (asked.challenge, asked.race_id) == ("ingest", "an-id")
    assert "chain" in asked.user_tags


def test_a_race_that_cannot_be_is_refused_before_anything_runs(chain_file: Callable[..., str]) -> None:
    """Not after an hour of tournaments."""
    machine = Machine({})
    with pytest.raises(UsageError, match="no challenge 'ingset'"):
        held(machine, chain_file([*STEPS, {"race": {"challenge": "ingset"}}]))
    assert machine.tasks == []


def test_options_are_the_default_configuration(chain_file: Callable[..., str]) -> None:
    """--car and --params are in every step, and in the default of the last tournament."""
    machine = Machine({"heap": WON_HEAP})
    result = held(machine, chain_file(), car=("4gheap", "gc-z"), params={"refresh_interval": "30s"})
    assert [set(one) for one in cars(machine.tasks[0])[:2]] == [{"gc-z", "512mheap"}, {"gc-z", "1gheap"}]
    assert [set(one) for one in cars(machine.tasks[-1])] == [{"gc-z", "4gheap"}, {"gc-z", "2gheap"}]
    for task in machine.tasks:
        assert task.file is not None
        assert read_yaml(task.file, "tournament")["track_params"]["refresh_interval"] == "30s"
    assert result.apply["--params"] == "refresh_interval:30s"


def test_two_chains_at_once_are_refused(chain_file: Callable[..., str]) -> None:
    """The second has to wait."""

    def another(_task: Task) -> Outcome:
        held(Machine({}), chain_file())
        return Outcome(NO_WINNER)

    with pytest.raises(MachineError, match="another chain"):
        run_chain(chain_file(), ChainOptions(), hold=another)


def test_resume_takes_nothing_else(chain_file: Callable[..., str]) -> None:
    """All of it is the chain's that is gone on with."""
    with pytest.raises(UsageError, match="leave the rest out"):
        held(Machine({}), chain_file(), resume=True, budget=10)
