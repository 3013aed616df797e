"""The plan: minutes, what fits, what can be resolved, and how it reads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.cars import Machine
from paddock.tournaments import TournamentOptions
from paddock.tournaments.durations import Experience, identity, lap_seconds, searching
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.model import Contender
from paddock.tournaments.plan import make_plan, render_plan, resolvable
from tests.tournaments.test_schedule import a_tournament


def test_the_minutes_are_those_of_laps_and_starts() -> None:
    """Known laps of 4 s with 1 s between them and 60 s per start make exact minutes."""
    tournament = a_tournament(2, blocks=7, warmup_blocks=3, starts=2)
    known = {("apache", identity(tournament, contender), 100_000): 4.0 for contender in tournament.contenders}
    plan = make_plan(tournament, 1, Experience(known, between_laps=1.0, per_start=60.0, tournaments=1))
    assert plan.minutes == pytest.approx(2 * (60 + 10 * 2 * 5) / 60)
    assert plan.warmup_seconds == pytest.approx(3 * 2 * 4)


def test_searches_take_their_time() -> None:
    """They lengthen the plan by every round of every lap; what was measured with as many of them replaces the guess."""
    tournament = a_tournament(2, blocks=7, starts=2)
    with_them, with_more = (replace(tournament, searches=searches) for searches in (20, 40))
    minutes = [make_plan(one, 1).minutes for one in (tournament, with_them, with_more)]
    laps = 2 * 10 * 2
    assert minutes[2] - minutes[1] == pytest.approx(laps * 20 * 0.02 / 60)
    assert minutes[1] - minutes[0] == pytest.approx(laps * (25 * 0.02 + 1) / 60)
    known = Experience(between_laps=1.0, between_searching_laps={searching(with_them): 6.0})
    learned = [make_plan(one, 1, known).minutes for one in (tournament, with_them)]
    assert learned[1] - learned[0] == pytest.approx(laps * 5 / 60)


@pytest.mark.parametrize(
    ("challenge", "levels", "params", "longest"),
    [
        ("refresh-interval", ["1s", "30s"], {}, 30),
        ("refresh-interval", ["500ms", "-1"], {}, 0.5),
        ("shards", [1, 2], {}, 1),
        ("shards", [1, 2], {"refresh_interval": "2m"}, 120),
        ("shards", [1, 2], {"index_settings": {"refresh_interval": "5s"}}, 5),
        ("settings", [{"settings": {"refresh_interval": "-1"}}, {"settings": {"index.refresh_interval": "7s"}}], {}, 7),
    ],
)
def test_a_probe_makes_every_measured_lap_wait(
    challenge: str, levels: list[object], params: dict[str, object], longest: float
) -> None:
    """For the phase's share of the longest refresh interval, the same in all laps of a block: half of it on average."""
    contenders = tuple(Contender(name, level) for name, level in zip("ab", levels, strict=True))
    plain = replace(
        a_tournament(2, blocks=8, starts=2), challenge=challenge, contenders=contenders, track_params=params
    )
    probed = make_plan(replace(plain, freshness=True), 1)
    phases = [phase for start in probed.schedule for phase in start.phases]
    assert len(phases) == 16
    assert 60 * (probed.minutes - make_plan(plain, 1).minutes) == pytest.approx(2 * longest * sum(phases))
    assert sum(phases) == pytest.approx(8, abs=1)
    minutes = round(2 * longest * sum(phases) / 60)
    told = f"About {minutes} of these minutes are waits: freshness is probed"
    assert (told in render_plan(probed)) is (longest >= 5)
    assert "are waits" not in render_plan(make_plan(plain, 1))


def test_small_bulks_take_longer() -> None:
    """Round trips count, so a guess for bulks of 16 documents is far from one for bulks of 1,000."""
    tournament = a_tournament(2)
    small = lap_seconds(tournament, Contender("s", {"bulk_size": 16, "clients": 1}), Experience())
    large = lap_seconds(tournament, Contender("l", {"bulk_size": 1000, "clients": 1}), Experience())
    assert small > 3 * large


def test_experience_with_other_contenders_corrects_the_guess() -> None:
    """A machine that was half as fast as the model is expected to be so again."""
    tournament = a_tournament(2)
    guess = lap_seconds(tournament, tournament.contenders[0], Experience())
    slow = Experience({("apache", "something else", 30_000): 2.0})
    assert lap_seconds(tournament, tournament.contenders[0], slow) == pytest.approx(2 * guess)


def test_a_node_with_limits_says_nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its laps are its own; and where it has none yet, it is expected to be as slow as its share of the cores."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    tournament = a_tournament(2)
    first, second = tournament.contenders
    guess = lap_seconds(tournament, first, Experience())
    half = ("apache", "half a core", 30_000)
    assert lap_seconds(tournament, first, Experience({half: 9.0}, capped=frozenset([half]))) == guess
    capped = replace(second, cars=("1gheap", "limit-half-core"))
    assert lap_seconds(tournament, capped, Experience()) == pytest.approx(4 * guess)


def test_only_whole_groups_of_starts_fit_a_budget() -> None:
    """Half a group pairs nobody; the first one is always tried."""
    tournament = a_tournament(3, node_level=True, starts=4)
    whole = make_plan(tournament, 1)
    minutes = sum(whole.seconds[:7]) / 60
    assert make_plan(replace(tournament, budget_minutes=minutes), 1).fits == 6
    assert make_plan(replace(tournament, budget_minutes=0.1), 1).fits == 3
    assert "only 6 of 12 starts fit" in render_plan(make_plan(replace(tournament, budget_minutes=minutes), 1))


def test_more_blocks_resolve_smaller_differences() -> None:
    """The resolution is monotonous, and infinite where nothing can be decided."""
    ratios = [make_plan(a_tournament(2, blocks=blocks, starts=1), 1).resolution.ratio for blocks in (4, 8, 20, 80)]
    assert math.isinf(ratios[0])
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] < 1.07


def test_a_plan_that_cannot_decide_says_so() -> None:
    """Two starts of each never suffice; the sentence says how many would."""
    plan = make_plan(a_tournament(2, node_level=True, starts=2), 1)
    assert "Nothing can be decided with 2 starts of each: at least 6 are needed" in resolvable(plan)


def test_the_unit_is_the_start_where_there_are_enough() -> None:
    """Six starts of two contenders are six observations; five are pooled blocks."""
    assert make_plan(a_tournament(2, starts=6), 1).resolution.unit == "start"
    assert make_plan(a_tournament(2, starts=5), 1).resolution.unit == "block"


def test_a_short_warm_up_is_cautioned() -> None:
    """Less than 60 s or 600,000 documents is said beforehand."""
    assert "less than the 60 s and the 600,000 documents that" in render_plan(
        make_plan(a_tournament(2, lap_documents=10_000), 1)
    )
    assert "less than the 60 s" not in render_plan(make_plan(a_tournament(2, warmup_blocks=20), 1))


def test_orders_are_shown_in_full_on_request() -> None:
    """--dry-run shows every block of every start."""
    plan = make_plan(a_tournament(2, blocks=4, warmup_blocks=3, starts=2), 9)
    text = render_plan(plan, orders=True)
    assert "start 2, block 7:" in text
    assert "Seed 9." in text
    assert "start 1, block 3 (warm-up):" in text


def test_nodes_that_would_hold_nothing_are_told(definition: Callable[..., Path]) -> None:
    """An index of one shard is on one node, however many there are."""
    nodes = [{"name": "1", "nodes": 1}, {"name": "3", "nodes": 3}]
    sizes = {"challenge": "settings", "baseline": "1", "contenders": nodes}
    plan = render_plan(make_plan(read_tournament(definition(**sizes)), 1))
    assert "Caution: '3' has 3 nodes and an index of 1 shard, replicas included: 2 nodes will hold nothing" in plan
    spread = definition(**sizes, track_params={"number_of_shards": 3})
    assert "will hold nothing" not in render_plan(make_plan(read_tournament(spread), 1))
    assert "will hold nothing" not in render_plan(make_plan(read_tournament(find_file("replicas")), 1))


def test_how_far_a_few_starts_reach_is_said_beforehand() -> None:
    """One start, or two, tell of their JVMs; six of the configuration. Of a start longer than the budget one thing."""
    heap = find_file("heap")
    two = render_plan(make_plan(read_tournament(heap, TournamentOptions(quick=True)), seed=1))
    assert "2 starts: what is found holds for their JVMs; --starts 6 makes it a claim about the configuration." in two
    assert "what is found holds for" not in render_plan(make_plan(read_tournament(heap), seed=1))
    long = render_plan(make_plan(read_tournament(heap, TournamentOptions(blocks=60, budget=20.0)), seed=1))
    assert "one start takes longer than the budget; it will end early, between two blocks, and no other is held" in long
    assert "starts fit the budget" not in long


@pytest.mark.parametrize(
    ("challenge", "levels", "holder"),
    [
        ("shards", [1, 21], "A node of 'b' holds 21 shards with a heap of 1.0 GiB"),
        ("replicas", [0, 40], "A node of 'b' holds 41 shards"),
        ("settings", [{}, {"settings": {"index.number_of_shards": 30}}], "A node of 'b' holds 30 shards"),
        ("shards", [1, 20], ""),
    ],
)
def test_many_shards_for_the_heap_are_said(challenge: str, levels: list[object], holder: str) -> None:
    """Of the first contender that has them; the size of a lap's shards is nobody's log and no matter for advice."""
    contenders = tuple(Contender(name, level) for name, level in zip("ab", levels, strict=True))
    text = render_plan(make_plan(replace(a_tournament(2), challenge=challenge, contenders=contenders), 1))
    found = [line for line in text.splitlines() if line.startswith("Advice:")]
    assert [holder in line for line in found] == ([True] if holder else [])


def test_heaps_over_half_of_the_memory_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each car, and of all nodes that are alive at once; held apart, they are not."""
    monkeypatch.setattr("paddock.tournaments.plan.this_machine", lambda: Machine(3 * 2**30, 2, None))
    contenders = (Contender("a", cars=("1gheap",)), Contender("b", cars=("2gheap",)))
    side_by_side = replace(a_tournament(2), contenders=contenders)
    text = render_plan(make_plan(side_by_side, 1))
    assert "Advice: 3.0 GiB for the heaps of 2 nodes is more than half of this machine's 3.0 GiB" in text
    assert "Advice: A heap of 2.0 GiB is more than half of this machine's 3.0 GiB" in text
    apart = render_plan(make_plan(replace(side_by_side, node_level=True), 1))
    assert "for the heaps of 2 nodes" not in apart
    assert "Advice: A heap of 2.0 GiB" in apart
