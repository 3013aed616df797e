"""Whole studies with a Rally that only writes laps: held in their quick form, resumed, kept, put into the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paddock.chains import ChainOptions, files
from paddock.chains.command import hold_step, run_chain
from paddock.chains.model import ALL_DONE, FAILED, HELD, ChainResult
from paddock.errors import Interrupted
from paddock.studies import kept, listed
from paddock.studies import page as page_module
from paddock.tournaments.model import Result
from paddock.tournaments.run import TournamentRun
from tests.command_line import one_sentence, run_here
from tests.tournaments.conftest import fake_laps, prepare_without_elasticsearch

__all__ = ["fake_laps"]
Behave = Callable[..., None]
_TOURNAMENT = """
description: Two levels
question: Is 30 s faster?
track: apache
challenge: refresh-interval
baseline: "1s"
contenders: [{name: "1s", level: "1s"}, {name: "5s", level: "5s"}, {name: "30s", level: "30s"}]
lap_documents: 10000
warmup_blocks: 3
blocks: 12
starts: 1
stop_early: false
control: false
budget_minutes: 60
published:
  source: A study, 2013
  unit: docs/s
  figures: {"1s": 2000, "5s": 2500, "30s": 3400}
  deviations: [It is all made up.]
quick: {contenders: ["1s", "30s"], blocks: 10, budget_minutes: 10, deviations: [Two levels.]}
"""


@pytest.fixture
def own_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A study of two tournaments alike, the only chain of the project, which keeps in a folder of the test."""
    chains = tmp_path / "chains"
    chains.mkdir()
    steps = []
    for name in ("study-own", "study-own-again"):
        file = tmp_path / f"{name}.yml"
        file.write_text(_TOURNAMENT)
        steps.append(f"  - tournament: {file}\n    name: {name}\n")
    text = f"question: Is 30 s faster?\nstudy: A study, 2013\nsteps:\n{''.join(steps)}"
    (chains / "study-own.yml").write_text(text)
    monkeypatch.setattr(files, "FOLDER", chains)
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "docs")
    monkeypatch.setattr(page_module, "PAGE", tmp_path / "studies.md")
    monkeypatch.setattr(page_module.write_page, "__defaults__", (tmp_path / "studies.md", tmp_path / "docs"))
    return listed.chain_of("own")


def held(name: str, resume: bool = False, keep: Callable[[Result], object] = lambda _: None) -> ChainResult:
    """A study in its quick form with the fake in Rally's place."""
    hold = partial(hold_step, keep=keep, preparing=prepare_without_elasticsearch)
    result = run_chain(name, ChainOptions() if resume else ChainOptions(quick=True, seed=5), resume, hold=hold)
    assert result is not None
    return result


def test_a_study_is_held_and_kept(fake_laps: Behave, own_study: str, tmp_path: Path) -> None:
    """In its quick form, whole; its ratios are those that Rally's laps had, and stand in the table."""
    fake_laps(rates={"30s": 13_000})
    result = held(own_study)
    assert result.stopped == ALL_DONE
    assert [one.outcome and one.outcome.kind for one in result.steps] == [HELD, HELD]
    first = result.steps[0].result
    assert first is not None
    assert [one.name for one in first.tournament.contenders] == ["1s", "30s"]
    assert first.tournament.blocks == 10
    assert first.tournament.published is not None
    assert first.tournament.published.deviations == ("It is all made up.", "Two levels.")
    done = run_here("studies", "--keep", "latest")
    assert done.returncode == 0, done.stderr
    (one, other) = kept.kept_steps(tmp_path / "docs")
    assert (one.form, one.step, other.step) == ("quick", "study-own", "study-own-again")
    (ratio,) = one.compared
    assert ratio.claimed == 1.7
    assert ratio.ratio == first.main.verdicts[0].ratio
    assert 1.2 < ratio.low < 1.3 < ratio.high < 1.4
    page = (tmp_path / "studies.md").read_text()
    assert f"| 30s against 1s, docs/s | 1.70 | {ratio.ratio:.2f} (" in page
    assert "| same, smaller than published | [quick, " in page
    assert run_here("studies", "--keep", first.id).returncode == 0


def test_a_study_that_was_stopped_goes_on_inside_its_tournament(
    fake_laps: Behave, own_study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while its first laps arrive: what was measured counts, and the second step is held after it."""
    fake_laps(rates={"30s": 13_000}, hang={"001": 12})
    stopped: list[Result] = []
    arrived = TournamentRun.laps_arrived

    def interrupt(run: TournamentRun, lines: list[dict[str, Any]]) -> None:
        arrived(run, lines)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(TournamentRun, "laps_arrived", interrupt)
        with pytest.raises(Interrupted, match="--resume"):
            held(own_study, keep=stopped.append)
    fake_laps(rates={"30s": 13_000})
    result = held(listed.unfinished("own"), resume=True)
    assert [one.outcome and one.outcome.kind for one in result.steps] == [HELD, HELD]
    assert result.steps[0].result is not None
    assert result.steps[0].result.id == stopped[-1].id
    assert result.steps[0].result.laps[: len(stopped[-1].laps)] == stopped[-1].laps


def test_what_was_not_measured_is_not_kept(fake_laps: Behave, own_study: str) -> None:
    """A study whose races all fail says so, and leaves the table as it was."""
    fake_laps(dies=["001", "001-2"])
    result = held(own_study)
    assert [one.outcome and one.outcome.kind for one in result.steps] == [FAILED, FAILED]
    assert "has no result that could be kept" in one_sentence(run_here("studies", "--keep", result.id))
