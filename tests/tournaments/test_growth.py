"""Slices of a load into growing indices: what a file may say, what the plan expects, what a result says beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddock.errors import FileError
from paddock.tournaments import TournamentOptions
from paddock.tournaments.durations import Experience, lap_documents, lap_seconds
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.growth import grown_documents, growth_notes, left_merges
from paddock.tournaments.laps import Attempt
from paddock.tournaments.model import Contender, Lap
from paddock.tournaments.plan import make_plan, render_plan
from paddock.tournaments.schedule import make_schedule
from tests.tournaments.conftest import hold
from tests.tournaments.test_schedule import a_tournament

SLICES = {"growing": True, "lap_seconds": 20, "lap_documents": None}
INTERVALS = (Contender("1s", "1s"), Contender("30s", "30s"))


def slices(**changes: Any) -> Any:
    """A tournament of two refresh intervals in slices of 60 s."""
    values = {"challenge": "refresh-interval", "contenders": INTERVALS, "baseline": "1s", "stop_early": False}
    return replace(a_tournament(2), **{**values, "growing": True, "lap_documents": 0, "lap_seconds": 60.0, **changes})


def test_a_tournament_of_slices(fake_laps: Callable[..., None], definition: Callable[..., Path]) -> None:
    """Held with the fake from file to report: pairs of slices judge, and prices are those of the growing index."""
    fake_laps(rates={"1s": 10_000.0, "30s": 13_000.0})
    result = hold(definition(**SLICES, stop_early=False))
    (verdict,) = result.main.verdicts
    assert (verdict.verdict, verdict.pairs) == ("faster", 12)
    assert verdict.ratio == pytest.approx(1.3, rel=0.05)
    last = [lap for lap in result.laps if lap.contender == "30s"][-1]
    assert last.documents_before == sum(lap.documents for lap in result.laps if lap.contender == "30s") - last.documents
    assert last.seconds == 20
    assert last.prices["bytes/doc"] == pytest.approx(100)
    assert last.prices["merge wait s/M docs"] == pytest.approx(0.2 / last.documents * 1e6)
    assert any("which grew through a start" in note for note in result.notes)
    assert any(note.startswith("'30s' through its slices: ") for note in result.notes)
    assert '"lap_seconds":20' in result.commands[0].replace(" ", "")
    assert "lap_documents" not in result.commands[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"growing": True, "lap_seconds": 20}, "give one of lap_documents and lap_seconds"),
        ({"lap_documents": None}, "give one of lap_documents and lap_seconds"),
        ({"lap_documents": None, "lap_seconds": 20}, "add 'growing: true'"),
        ({**SLICES, "searches": 3}, "'searches' looks at the documents of one lap alone"),
        ({**SLICES, "force_merge": True}, "'force_merge' looks at the documents of one lap alone"),
        ({**SLICES, "read_back": 3}, "'read_back' looks at the documents of one lap alone"),
        ({**SLICES, "lap_seconds": 0}, "lap_seconds"),
        ({"metric": "merge wait s/M docs"}, "is that of slices into growing indices"),
        ({"track_params": {"lap_growing": True}}, "'lap_growing' is set by the tournament itself"),
    ],
)
def test_what_a_file_cannot_say(changes: dict[str, Any], words: str, definition: Callable[..., Path]) -> None:
    """Refused before anything is started."""
    with pytest.raises(FileError, match=re.escape(words)):
        read_tournament(definition(**changes))


def test_a_slice_may_be_longer_than_the_corpus(definition: Callable[..., Path]) -> None:
    """It begins the corpus again; a lap into a fresh index may not."""
    assert read_tournament(definition(growing=True, lap_documents=5_000_000)).lap_documents == 5_000_000
    with pytest.raises(FileError, match="does not fit a corpus"):
        read_tournament(definition(lap_documents=5_000_000))


def test_apart(definition: Callable[..., Path]) -> None:
    """Where the machine does not bear both indices, each start has one contender, and starts are compared."""
    tournament = read_tournament(definition(**SLICES), TournamentOptions(apart=True, starts=3))
    assert tournament.node_level
    assert [len(start.contenders) for start in make_schedule(tournament, 1)] == [1] * 6
    assert not read_tournament(definition(), TournamentOptions(apart=True)).node_level
    assert "3 starts of each of 2 contenders" in render_plan(make_plan(tournament, 1))


def test_the_plan_knows_how_long_slices_are() -> None:
    """Their seconds are given, their documents expected; both indices together have those of all laps."""
    throttled = slices(blocks=7, warmup_blocks=3, starts=1)
    unthrottled = {"index_settings": {"index.merge.scheduler.auto_throttle": False}}
    tournament = replace(throttled, track_params=unthrottled)
    plan = make_plan(tournament, 1, Experience(between_laps=1.0, per_start=60.0))
    assert plan.minutes == pytest.approx((60 + 2 * 10 * 61) / 60)
    assert plan.lap_seconds == lap_seconds(tournament, INTERVALS[0], Experience()) == 60
    each = lap_documents(tournament, INTERVALS[0], Experience())
    assert 30 * 20_000 < each < 60 * 40_000
    assert grown_documents(tournament, Experience()) == pytest.approx(20 * each)
    assert plan.warmup_documents == 3 * 2 * each
    text = render_plan(plan)
    assert "A lap is a load of 60 s into its contender's own index, which grows through the start." in text
    assert "Caution" not in text
    slowed = render_plan(make_plan(throttled, 1))
    assert "Caution: Elasticsearch slows merges down" in slowed
    assert "those of '1s', '30s' go on long after a slice" in slowed


def test_slices_that_are_too_short_for_anything_are_told() -> None:
    """In seconds, of which they are made."""
    text = render_plan(make_plan(slices(lap_seconds=0.5), 1))
    assert "slices are expected to take 0.5 s (median), less than 4 s: make lap_seconds longer" in text


def test_slices_that_are_too_short_for_their_refreshes_are_told_before() -> None:
    """Of contenders that differ in their interval; where they do not, what a slice leaves is the same for all."""
    text = render_plan(make_plan(slices(lap_seconds=20.0), 1))
    assert "Caution: a slice of 20 s holds less than 2 refreshes of '30s'" in text
    assert "slices of 60 s would hold them" in text
    alike = replace(slices(lap_seconds=20.0), contenders=(Contender("a", {"mapping": "track"}), Contender("b")))
    assert "holds less than" not in render_plan(make_plan(replace(alike, baseline="a", challenge="settings"), 1))
    assert "while the indices are still small" in render_plan(make_plan(slices(stop_early=True), 1))


def line(**changes: Any) -> dict[str, Any]:
    """What the lap runner writes of a slice."""
    return {
        "block": 4,
        "position": 1,
        "warm_up": False,
        "level": "1s",
        "documents_sent": 1000,
        "seconds": 2.0,
        "documents_counted": 1000,
        "index_figures": {"store_bytes": 300_000, "merge_throttled_ms": 500},
        "documents_before": 2000,
        "merge_wait_seconds": 0.5,
        "void": None,
        **changes,
    }


def test_prices_of_a_growing_index() -> None:
    """Its size is that of all its documents, what was throttled that of the slice alone; a fresh index has no wait."""
    attempt = Attempt(1, 1, "race", "", 0, 0.0, None, 0.0)
    attempt.add(line())
    attempt.add(line(documents_before=None))
    growing, fresh = (record.lap.prices for record in attempt.records)
    assert (growing["bytes/doc"], fresh["bytes/doc"]) == (100, 300)
    assert growing["throttled s/M docs"] == fresh["throttled s/M docs"] == 500
    assert growing["merge wait s/M docs"] == 500
    assert "merge wait s/M docs" not in fresh


def a_lap(start: int, block: int, rates: list[float], **changes: Any) -> Lap:
    """A slice of the contender 1s with these seconds, and two more that are no whole ones."""
    values = {"position": 1, "contender": "1s", "warmup": False, "documents": 1000, "counted": 1000, "seconds": 60.0}
    values |= {"began": 0.0, "rates": (1.0, *rates, 1.0), "documents_before": 5000, **changes}
    return Lap(start=start, block=block, **values)


def test_how_a_contender_held_is_said() -> None:
    """A rate that falls from slice to slice is told with how much; in several starts how often."""
    generator = np.random.default_rng(2)
    falling = list(1000 * np.exp(-0.3 * np.arange(600) / 600 + generator.normal(0, 0.02, 600)))
    laps = [a_lap(1, block, falling[60 * block : 60 * block + 60]) for block in range(10)]
    notes = list(growth_notes(laps, slices()))
    assert "up to 6,000 documents" in notes[0]
    (told,) = notes[1:]
    assert re.search(r"'1s' through its slices: no onset of fluctuation, and -2\d\.\d % within 9 min of load \(-", told)
    more = [replace(lap, start=2) for lap in laps]
    (told,) = list(growth_notes([*laps, *more], slices()))[1:]
    assert "in 2 loads the rate fell in 2, rose in 0" in told
    assert list(growth_notes(laps, replace(slices(), growing=False))) == []


def test_merges_that_are_left_to_the_pauses_are_told() -> None:
    """By contender, in seconds for each second of load; where they are short docs/s has all of them, nearly."""
    price = "merge wait s/M docs"  # 1,000 documents a lap of 60 s

    def waited(contender: str, seconds: float) -> Lap:
        return a_lap(1, 1, [1.0], contender=contender, prices={price: seconds * 1000})

    told = left_merges([waited("1s", 6), waited("30s", 120), waited("30s", 0)], slices())
    assert told is not None
    assert "0.10 s by '1s', 1.00 s by '30s'" in told
    (caution,) = [left_merges([replace(waited("1s", 60), merges_go_on=True), waited("30s", 0)], slices())]
    assert caution is not None
    assert "They went on when the next slice began, and cost that one: 1 times by '1s'." in caution
    assert left_merges([waited("1s", 3), waited("30s", 5)], slices()) is None
    assert left_merges([], slices()) is None


def test_a_start_that_was_cut_off_is_two_loads() -> None:
    """What goes on begins with a warm-up of its own, whose cold seconds are no dip in the middle of one load."""
    flat = list(1000 * np.exp(np.random.default_rng(3).normal(0, 0.02, 900)))
    cold = [a_lap(1, block, [50.0] * 60, warmup=True) for block in (1, 2)]
    first, second = (
        [a_lap(1, block, flat[60 * block : 60 * block + 60]) for block in blocks] for blocks in (range(6), range(6, 12))
    )
    (told,) = list(growth_notes([*cold, *first, *cold, *second], slices()))[1:]
    assert "in 2 loads the rate fell in 0, rose in 0" in told


def test_the_shipped_tournament() -> None:
    """Half an hour of load for two intervals together; its quick form ends within ten minutes."""
    whole = read_tournament(find_file("sustained-refresh-interval"))
    assert whole.growing
    assert whole.lap_seconds is not None
    assert (whole.warmup_blocks + whole.blocks) * whole.lap_seconds * len(whole.raced) == 1800
    assert "Caution: a slice" not in render_plan(make_plan(whole, 1))
    quick = make_plan(read_tournament(find_file("sustained-refresh-interval"), TournamentOptions(quick=True)), 1)
    assert quick.minutes < 10


def test_time_based_indices() -> None:
    """The shipped tournament asks the lap runner for a new index after three slices."""
    shipped = read_tournament(find_file("time-based-indices"))
    assert [one.level for one in shipped.contenders][1] == {"blocks_per_index": 3}


def test_a_new_index_after_some_blocks_needs_growing(definition: Callable[..., Path]) -> None:
    """Every lap has a fresh one otherwise."""
    contenders = [{"name": "a", "level": {"blocks_per_index": 2}}, {"name": "b"}]
    with pytest.raises(FileError, match="'a' has a new index after some blocks, and every lap has a fresh one"):
        read_tournament(definition(challenge="settings", baseline="a", contenders=contenders))
