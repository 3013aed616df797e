"""The order of everything: reproducible, balanced, and the same after it was written down."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from paddock.plain_values import built, plain
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.pairing import DOCS_PER_SECOND
from paddock.tournaments.schedule import Start, make_schedule


def a_tournament(contenders: int = 2, node_level: bool = False, **changes: object) -> Tournament:
    """A tournament of contenders a, b, c, ... with defaults that fit most tests."""
    names = "abcdefgh"[:contenders]
    cars = ("1gheap",) if node_level else None
    values: dict = {
        "name": "test",
        "description": "",
        "track": "apache",
        "challenge": "settings",
        "cars": ("1gheap",),
        "baseline": "a",
        "contenders": tuple(Contender(name, cars=cars) for name in names),
        "metric": DOCS_PER_SECOND,
        "node_level": node_level,
        "documents": 1_000_000,
        "lap_documents": 100_000,
        "blocks": 10,
        "warmup_blocks": 3,
        "starts": 2,
        "margin": 0.03,
        "budget_minutes": 600.0,
    }
    return Tournament(**{**values, **changes})


sizes = {
    "contenders": st.integers(2, 6),
    "blocks": st.integers(1, 8),
    "warmup": st.integers(0, 4),
    "starts": st.integers(1, 5),
    "seed": st.integers(0, 2**31),
}


@given(**sizes)
def test_every_block_has_every_contender_once(
    contenders: int, blocks: int, warmup: int, starts: int, seed: int
) -> None:
    """Index level: one start after the other, each block a permutation of all contenders."""
    tournament = a_tournament(contenders, blocks=blocks, warmup_blocks=warmup, starts=starts)
    schedule = make_schedule(tournament, seed)
    assert [start.number for start in schedule] == list(range(1, starts + 1))
    everyone = sorted(contender.name for contender in tournament.contenders)
    for start in schedule:
        assert start.blocks == blocks
        assert all(sorted(order) == everyone for order in start.orders)


@given(**sizes)
def test_every_group_starts_every_contender_once(
    contenders: int, blocks: int, warmup: int, starts: int, seed: int
) -> None:
    """Node level: groups of starts are permutations, and a start holds laps of its contender only."""
    tournament = a_tournament(contenders, node_level=True, blocks=blocks, warmup_blocks=warmup, starts=starts)
    schedule = make_schedule(tournament, seed)
    assert [start.number for start in schedule] == list(range(1, starts * contenders + 1))
    everyone = sorted(contender.name for contender in tournament.contenders)
    for group in range(1, starts + 1):
        assert sorted(start.contenders[0] for start in schedule if start.group == group) == everyone
    assert all(set(start.orders) == {start.contenders} and start.blocks == blocks for start in schedule)


@given(**sizes)
def test_a_schedule_survives_being_written_down(
    contenders: int, blocks: int, warmup: int, starts: int, seed: int
) -> None:
    """What plan.json says is what was planned."""
    schedule = make_schedule(a_tournament(contenders, blocks=blocks, warmup_blocks=warmup, starts=starts), seed)
    assert built(tuple[Start, ...], json.loads(json.dumps(plain(schedule))), "schedule") == schedule


def test_a_seed_means_the_same_for_ever() -> None:
    """A golden order: a seed in an old report still repeats its tournament."""
    schedule = make_schedule(a_tournament(3, blocks=3, warmup_blocks=1, starts=1), seed=42)
    assert ["".join(order) for order in schedule[0].orders] == ["abc", "bac", "cba", "abc"]
    other = make_schedule(a_tournament(3, blocks=3, warmup_blocks=1, starts=1), seed=43)
    assert other != schedule


def test_starts_have_orders_of_their_own() -> None:
    """Two starts of one tournament do not repeat each other's order."""
    schedule = make_schedule(a_tournament(4, blocks=10), seed=1)
    assert schedule[0].orders != schedule[1].orders


@given(seed=st.integers(0, 2**31), blocks=st.integers(1, 20), node_level=st.booleans())
def test_each_block_has_a_phase_of_the_refresh(seed: int, blocks: int, node_level: bool) -> None:
    """Spread evenly in each start, others in other groups, the same for starts that are paired, kept when resumed."""
    tournament = a_tournament(2, node_level=node_level, blocks=blocks, freshness=True)
    schedule = make_schedule(tournament, seed)
    for start in schedule:
        assert sorted(int(phase * blocks) for phase in start.phases) == list(range(blocks))
        assert {other.phases == start.phases for other in schedule if other.group == start.group} == {True}
        assert start.phases not in [other.phases for other in schedule if other.group != start.group]
        assert start.without(1).phases == start.phases[1:]
    assert built(tuple[Start, ...], json.loads(json.dumps(plain(schedule))), "schedule") == schedule
    assert not make_schedule(a_tournament(2, blocks=blocks), seed)[0].phases


def test_what_is_left_of_a_start_keeps_its_warm_up() -> None:
    """A start that goes on warms up as planned and continues with the next block."""
    start = make_schedule(a_tournament(3), seed=1)[0]
    left = start.without(4)
    assert left.orders == start.orders[:3] + start.orders[7:]
    assert (left.blocks, left.laps) == (6, 27)
