"""Tournaments that are cut off by kill -9 and Ctrl-C, and go on."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock import paths
from paddock.errors import MachineError, UsageError
from paddock.files import locked
from paddock.rally.leftovers import RaceProcesses, end
from paddock.tournaments.command import load_result
from paddock.tournaments.laps import CUT_OFF, DONE
from paddock.tournaments.model import UNDECIDED
from paddock.tournaments.store import find_tournament, tournament_ids
from tests.machine import PATIENCE, wait_until
from tests.tournaments.conftest import counted, hold

Behave = Callable[..., None]
Write = Callable[..., Path]


@pytest.fixture
def process(fake_laps: Behave, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts a tournament in a process of its own, whose fake hangs after some laps, and waits until it does."""
    program = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv.pop(1))
        from paddock.errors import PaddockError
        from paddock.tournaments.command import run_tournament
        from paddock.tournaments import TournamentOptions
        from tests.tournaments.conftest import disregard_other_rallies, prepare_without_elasticsearch
        disregard_other_rallies(setattr)
        try:
            options = TournamentOptions(seed=5, apart="--apart" in sys.argv)
            run_tournament(sys.argv[1], options, prepare_without_elasticsearch)
        except PaddockError as error:
            print(error)
            sys.exit(error.exit_code)
    """)
    started: list[subprocess.Popen[str]] = []

    def start(file: Path, hang: dict[str, int], laps: int, *options: str, **behaviour: Any) -> subprocess.Popen[str]:
        fake_laps(**{"rates": {"30s": 13_000}, "hang": hang, **behaviour})
        words = [sys.executable, "-c", program, str(paths.PROJECT), str(file), *options]
        errors = (tmp_path / "stderr").open("w")
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True))
        errors.close()
        wait_until(lambda: laps_so_far() >= laps, (tmp_path / "stderr").read_text)
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()
        one.stdout.close()
    for tournament_id in tournament_ids():
        for attempt in find_tournament(tournament_id).history().attempts:
            end(RaceProcesses(attempt.race_id).all())


def laps_so_far() -> int:
    """How many laps all tournaments here have journalled."""
    return sum(len(one.records) for name in tournament_ids() for one in find_tournament(name).history().attempts)


def test_after_kill_9_it_goes_on_without_losing_or_repeating_a_lap(
    process: Callable[..., subprocess.Popen[str]], fake_laps: Behave, definition: Write
) -> None:
    """Whole blocks of the cut-off start count, the started block is void, the rest follows in the order of the plan."""
    file = definition(stop_early=False)
    killed = process(file, {"001": 6 + 2 * 5 + 1}, 17)
    planned = find_tournament("latest").schedule()[0].orders
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    fake_laps(rates={"30s": 13_000})
    result = hold(None, resume="latest")
    history = find_tournament(result.id).history()
    assert [attempt.outcome for attempt in history.attempts] == [CUT_OFF, DONE]
    blocks = [(lap.block, lap.contender) for lap in counted(result)]
    assert blocks == [(block, name) for block in range(4, 16) for name in planned[block - 1]]
    assert [lap.void for lap in result.laps if lap.void] == ["the start was cut off in this block"]
    assert result.main.verdicts[0].pairs == 12
    assert any("was cut off once" in note for note in result.notes)


def test_while_a_race_is_running_nothing_is_cleared_up_nor_resumed(
    process: Callable[..., subprocess.Popen[str]], fake_laps: Behave, definition: Write
) -> None:
    """Clearing up comes after the lock on races: what the killed tournament left stays as it is until it is free."""
    killed = process(definition(stop_early=False), {"001": 16}, 16)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    (attempt,) = find_tournament("latest").history().attempts
    left = len(RaceProcesses(attempt.race_id).all())
    with (
        locked(paths.state_folder() / "race.lock", "", wait=False),
        pytest.raises(MachineError, match="has to wait for the race"),
    ):
        hold(None, resume="latest")
    assert len(RaceProcesses(attempt.race_id).all()) == left > 0
    assert [one.ended for one in find_tournament("latest").history().attempts] == [None]


def test_laps_that_only_the_lap_runner_knows_of_are_taken_over(
    process: Callable[..., subprocess.Popen[str]], fake_laps: Behave, definition: Write
) -> None:
    """What Rally wrote after its watcher was killed is in the lap runner's journal and counts, once."""
    killed = process(definition(stop_early=False), {"001": 6 + 2 * 5}, 16)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    stored = find_tournament("latest")
    lines = stored.journal.read_text().splitlines(keepends=True)
    stored.journal.write_text("".join(lines[:-3]) + lines[-3][: len(lines[-3]) // 2])
    fake_laps(rates={"30s": 13_000})
    result = hold(None, resume="latest")
    assert [lap.block for lap in counted(result)] == sorted(2 * list(range(4, 16)))
    assert not [lap for lap in result.laps if lap.void]


def test_ctrl_c_keeps_what_was_measured(
    process: Callable[..., subprocess.Popen[str]], fake_laps: Behave, definition: Write
) -> None:
    """It exits with 130, says how to go on, writes a result, and goes on when asked."""
    stopped = process(definition(stop_early=False), {"001": 6 + 2 * 8}, 22)
    stopped.send_signal(signal.SIGINT)
    said, _ = stopped.communicate(timeout=PATIENCE)
    assert stopped.returncode == 130
    tournament_id = tournament_ids()[-1]
    assert f"./inv tournament {tournament_id} --resume" in said
    assert "What was measured is kept" in said
    assert "discarded" not in said
    partly = load_result(tournament_id)
    assert partly.stopped == "interrupted"
    assert partly.main.verdicts[0].pairs == 8
    # 8 blocks of +30 % suffice for a fixed number of blocks, and not where they were chosen by who watched them.
    assert partly.main.verdicts[0].verdict == UNDECIDED
    assert any("what was seen may be why" in note for note in partly.notes)
    fake_laps(rates={"30s": 13_000})
    assert hold(None, resume=tournament_id).main.verdicts[0].pairs == 12


def test_a_cut_off_start_at_node_level_is_repeated(
    process: Callable[..., subprocess.Popen[str]], fake_laps: Behave, definition: Write
) -> None:
    """Where the start is the unit, half a start is none: its laps are void, and it is run anew."""
    contenders = [{"name": "small", "cars": ["512mheap"]}, {"name": "large", "cars": ["2gheap"]}]
    file = definition(challenge="settings", contenders=contenders, baseline="small", starts=2, blocks=3)
    killed = process(file, {"002": 5}, 6 + 5, "--apart")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    fake_laps()
    result = hold(None, resume="small")
    assert len(counted(result)) == 4 * 3
    assert {lap.void for lap in result.laps if lap.void} == {"the start was cut off"}


def test_it_does_not_go_on_with_something_else(
    process: Callable[..., subprocess.Popen[str]], fake_laps: Behave, definition: Write
) -> None:
    """A tournament file that changed in between is named."""
    file = definition()
    killed = process(file, {"001": 8}, 8)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    file.write_text(file.read_text().replace("lap_documents: 10000", "lap_documents: 20000"))
    with pytest.raises(UsageError, match=r"cannot go on, because .*small.yml changed"):
        hold(None, resume="latest")


def test_it_does_not_go_on_with_another_corpus(
    process: Callable[..., subprocess.Popen[str]],
    fake_laps: Behave,
    definition: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A corpus of the same name with other bytes is named; with the old ones it goes on."""
    killed = process(definition(blocks=4), {"001": 8}, 8)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    monkeypatch.setenv("FAKE_CORPUS", "cd" * 32)
    with pytest.raises(UsageError, match="cannot go on, because the corpus apache changed"):
        hold(None, resume="latest")
    monkeypatch.delenv("FAKE_CORPUS")
    fake_laps()
    assert hold(None, resume="latest").stopped == "all blocks done"


def test_it_does_not_go_on_with_another_elasticsearch_or_java(
    process: Callable[..., subprocess.Popen[str]], definition: Write
) -> None:
    """A newer Paddock may have another default, and JAVA_HOME may lead elsewhere than when it began."""
    killed = process(definition(blocks=4), {"001": 8}, 8)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    journal = find_tournament("latest").journal
    begun = journal.read_text()
    assert '"software":{}' in begun  # the fake starts neither
    journal.write_text(begun.replace('"software":{}', '"software":{"Elasticsearch":"8.8.2","Java":"17.0.15"}', 1))
    with pytest.raises(UsageError, match="cannot go on, because Elasticsearch and Java changed since it began"):
        hold(None, resume="latest")


def test_resume_takes_no_other_options(fake_laps: Behave, definition: Write) -> None:
    """What a tournament was begun with cannot be changed half-way."""
    with pytest.raises(UsageError, match="leave the rest out"):
        hold(definition(), resume="latest", blocks=3)
    with pytest.raises(UsageError, match="No tournament is left to resume"):
        hold(None, resume="latest")
    ended = hold(definition(blocks=1))
    with pytest.raises(UsageError, match=r"has ended \(all blocks done\)"):
        hold(None, resume=ended.id)
    with pytest.raises(UsageError, match="No tournament is left to resume"):
        hold(None, resume="small")
    with pytest.raises(UsageError, match="There is no tournament to resume called 'smell'"):
        hold(None, resume="smell")
