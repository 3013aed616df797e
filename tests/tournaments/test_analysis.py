"""From laps to verdicts: the pairing, the cut, the unit, the words."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.series import FrontCut
from paddock.tournaments.analysis import current_standing, efficiency, is_decided, measure
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER, UNDECIDED, Lap, Metric, MetricResult, Tournament
from paddock.tournaments.pairing import DOCS_PER_SECOND, METRICS, Pair, figure, find_cut, paired, pairs
from paddock.tournaments.view import standing_text
from tests.tournaments.test_schedule import a_tournament


def laps_at(rates: Sequence[Mapping[str, float | None]], start: int = 1, began: float = 0.0) -> list[Lap]:
    """One lap of 1,000 documents per block and contender at these docs/s; None for a void lap."""
    laps: list[Lap] = []
    for block, of_block in enumerate(rates, start=4):
        for position, (name, rate) in enumerate(of_block.items(), start=1):
            seconds = 1000 / (rate or 1.0)
            laps.append(
                Lap(start, block, position, name, False, 1000, 1000, seconds, began, None if rate else "errors")
            )
            began += seconds + 0.5
    return laps


def noisy(blocks: int, ratio: float, sd: float, seed: int) -> list[Mapping[str, float | None]]:
    """Blocks of a baseline a and a contender b that is faster by that ratio, on a machine that drifts."""
    generator = random.Random(seed)
    level, rates = 1000.0, []
    for _ in range(blocks):
        level *= math.exp(generator.gauss(0, 0.05))
        a, b = (level * math.exp(generator.gauss(0, sd)) for _ in range(2))
        rates.append({"a": a, "b": b * ratio})
    return rates


def judge_metric(
    laps: Sequence[Lap],
    tournament: Tournament,
    metric: Metric,
    cut: Sequence[FrontCut] = (),
    looked: bool = False,
    until: Mapping[str, int] | None = None,
) -> MetricResult:
    """Verdicts and absolute figures in one metric."""
    return measure(laps, tournament, metric, paired(laps, tournament, metric, looked, cut), looked, until)


def judged(laps: Sequence[Lap], tournament: Tournament) -> str:
    """The verdict on the only contender."""
    return judge_metric(laps, tournament, DOCS_PER_SECOND).verdicts[0].verdict


ONE_START = a_tournament(2, starts=1)


@pytest.mark.parametrize(
    ("ratio", "sd", "verdict"),
    [(1.3, 0.1, FASTER), (1 / 1.3, 0.1, SLOWER), (1.0, 0.01, EQUIVALENT), (1.01, 0.15, UNDECIDED)],
)
def test_the_four_verdicts(ratio: float, sd: float, verdict: str) -> None:
    """Each of them from laps made for it."""
    assert judged(laps_at(noisy(20, ratio, sd, seed=3)), ONE_START) == verdict


def test_what_is_undecided_says_what_would_decide_it() -> None:
    """How many more blocks, and how many minutes at the pace so far."""
    verdict = judge_metric(laps_at(noisy(10, 1.05, 0.1, seed=3)), ONE_START, DOCS_PER_SECOND).verdicts[0]
    assert verdict.verdict == UNDECIDED
    assert "more blocks" in verdict.decide
    assert " min, " in verdict.decide


@given(drop=st.sets(st.tuples(st.integers(0, 11), st.sampled_from("ab")), max_size=12))
def test_a_void_lap_takes_its_pair_with_it(drop: set[tuple[int, str]]) -> None:
    """Pairs are the blocks in which both laps count; the rest of the block is not used for the ratio."""
    rates = noisy(12, 1.2, 0.05, seed=1)
    rates = [
        {name: None if (block, name) in drop else rate for name, rate in of_block.items()}
        for block, of_block in enumerate(rates)
    ]
    result = judge_metric(laps_at(rates), ONE_START, DOCS_PER_SECOND)
    assert result.verdicts[0].pairs == 12 - len({block for block, _ in drop})
    assert [one.laps for one in result.absolutes] == [
        12 - sum(name == contender for _, name in drop) for contender in "ab"
    ]


def test_the_warm_up_that_blocks_of_warm_up_missed_is_cut_for_all_together() -> None:
    """A machine that speeds up over the first blocks: they are cut at the front, the ratio stays exact."""
    generator = random.Random(2)
    slow = [{"a": 300.0 * (1 + block), "b": 330.0 * (1 + block)} for block in range(3)]
    steady = [{"a": generator.gauss(1200, 12), "b": generator.gauss(1320, 12)} for _ in range(20)]
    laps = laps_at([*slow, *steady])
    cut = find_cut(laps, ONE_START)
    assert 3 <= cut[0].blocks <= 10
    verdict = judge_metric(laps, ONE_START, DOCS_PER_SECOND, cut).verdicts[0]
    assert verdict.pairs == 23 - cut[0].blocks


def test_laps_of_one_start_are_one_observation_at_node_level() -> None:
    """Three starts of each with many laps decide nothing; their number of pairs is three."""
    tournament = a_tournament(2, node_level=True, starts=3)
    laps = [
        lap
        for number, name in enumerate("abbaab", start=1)
        for lap in laps_at([{name: 1000.0 if name == "a" else 2000.0}] * 10, start=number)
    ]
    verdict = judge_metric(laps, tournament, DOCS_PER_SECOND).verdicts[0]
    assert (verdict.verdict, verdict.pairs, verdict.scope) == (UNDECIDED, 3, "for these JVMs")
    assert verdict.ratio == pytest.approx(2.0)
    assert (verdict.low, verdict.high) == (0.0, math.inf)


def test_the_e_process_looks_at_blocks_of_one_start_and_at_starts_of_several() -> None:
    """Blocks of a first start must not end a tournament that is about the configuration."""
    first, second = laps_at(noisy(10, 1.2, 0.05, 1)), laps_at(noisy(10, 1.2, 0.05, 2), start=2)
    assert len(paired(first, ONE_START, DOCS_PER_SECOND, looked=True).units["b"].differences) == 10
    of = paired([*first, *second], a_tournament(2, starts=2), DOCS_PER_SECOND, looked=True).units["b"]
    assert (len(of.differences), of.unit) == (2, "start")
    assert of.caveat == "Only 2 starts: a claim about the configuration needs 6."


def test_a_standing_is_decided_when_the_evidence_suffices_and_may_end_it() -> None:
    """Many blocks of a large effect decide, few do not; a tournament that must not stop early goes on."""
    few = current_standing(laps_at(noisy(3, 1.5, 0.05, 1)), ONE_START)
    many = current_standing(laps_at(noisy(60, 1.5, 0.05, 1)), ONE_START)
    assert [one.verdict for one in (*few, *many)] == [UNDECIDED, FASTER]
    assert is_decided(many, ONE_START)
    assert not is_decided(many, a_tournament(2, starts=1, stop_early=False))
    assert "(undecided)" in standing_text(few)
    assert standing_text(current_standing([], ONE_START)) == "no pair of laps yet"


def test_the_verdict_of_an_early_end_is_that_of_the_look_that_ended_it() -> None:
    """Blocks that were run before the race noticed do not change it."""
    laps = laps_at(noisy(40, 1.5, 0.05, 1))
    early = judge_metric(laps, ONE_START, DOCS_PER_SECOND, looked=True, until={"b": 20}).verdicts[0]
    assert early.pairs == 20
    assert early.verdict == FASTER


def test_a_difference_that_may_be_negligible_is_called_so() -> None:
    """Certainly slower, but by an interval most of which lies inside the margin of 3 %: the words say so."""
    generator = random.Random(5)
    rates = [{"a": 1000.0, "b": 1000.0 * math.exp(generator.gauss(-0.017, 0.022))} for _ in range(20)]
    verdict = judge_metric(laps_at(rates), ONE_START, DOCS_PER_SECOND).verdicts[0]
    assert (verdict.verdict, verdict.negligible) == (SLOWER, True)
    large = judge_metric(laps_at(noisy(20, 1.3, 0.1, seed=3)), ONE_START, DOCS_PER_SECOND).verdicts[0]
    assert (large.verdict, large.negligible) == (FASTER, False)


def test_whoever_stops_when_it_looks_good_gets_no_false_winner() -> None:
    """Identical contenders, stopped by hand as soon as the fixed-n test says p <= 5 %: false winners in 5 % at most.

    The fixed-n test itself would name one in about a fifth of the cases.
    """
    wrong, naive, tournaments = 0, 0, 120
    for seed in range(tournaments):
        laps = laps_at(noisy(25, 1.0, 0.12, seed))
        for blocks in range(6, 26, 2):
            seen = laps[: 2 * blocks]
            if blocks == 24 or judged(seen, ONE_START) in (FASTER, SLOWER):
                break
        naive += judged(seen, ONE_START) in (FASTER, SLOWER)
        wrong += judge_metric(seen, ONE_START, DOCS_PER_SECOND, looked=True).verdicts[0].verdict in (FASTER, SLOWER)
    assert naive / tournaments > 0.1
    assert wrong / tournaments <= 0.05, f"{wrong} of {tournaments} stopped tournaments had a winner"


def test_laps_without_a_figure_make_no_verdict() -> None:
    """Freshness that the shorter laps cannot see: what is left is a selection, so nothing is said of it."""
    laps = [
        replace(lap, freshness={"p50": 500.0} if lap.contender == "a" or lap.block % 3 else None)
        for lap in laps_at(noisy(30, 1.0, 0.02, 1))
    ]
    freshness = METRICS["freshness p50 ms"]
    for looked in (False, True):
        result = judge_metric(laps, ONE_START, freshness, looked=looked)
        (verdict,) = result.verdicts
        assert (verdict.verdict, verdict.ratio) == (UNDECIDED, None)
        assert verdict.decide.startswith("33 % of the laps of one of the two have no figure here")
        assert [one.mean for one in result.absolutes] == [500.0, None]
    assert judge_metric(laps, ONE_START, DOCS_PER_SECOND).verdicts[0].ratio is not None


def test_interrupted_starts_are_counted_as_starts() -> None:
    """Of several starts some ran: pairs, caveat and what would decide are about starts, not about their blocks."""
    laps = [lap for start in (1, 2, 3) for lap in laps_at(noisy(12, 1.1, 0.05, start), start, 500.0 * start)]
    verdict = judge_metric(laps, a_tournament(2, starts=6), DOCS_PER_SECOND, looked=True).verdicts[0]
    assert verdict.pairs == 3
    assert "more starts" in verdict.decide


def test_efficiency_is_load_over_wall_time() -> None:
    """Laps of 1 s with 0.5 s between them."""
    laps = laps_at([{"a": 1000.0, "b": 1000.0}] * 3)
    assert efficiency(laps) == pytest.approx(6 / 8.5)
    assert efficiency(laps[:1]) is None


def test_a_figure_that_was_not_measured_is_none() -> None:
    """Neither void laps nor zeros make ratios."""
    lap = laps_at([{"a": 500.0}])[0]
    assert figure(lap, DOCS_PER_SECOND) == 500.0
    assert figure(lap, METRICS["bytes/doc"]) is None
    assert figure(lap, METRICS["freshness p50 ms"]) is None
    assert figure(laps_at([{"a": None}])[0], DOCS_PER_SECOND) is None


def test_false_winners_are_rare_even_with_early_stops() -> None:
    """Identical contenders on a drifting machine: looked at after every block, then judged: wrong at most 6 %."""
    wrong, tournaments = 0, 400
    for seed in range(tournaments):
        laps = laps_at(noisy(25, 1.0, 0.12, seed))
        verdict = judged(laps, ONE_START)
        for blocks in range(2, 26, 2):
            seen = laps[: 2 * blocks]
            if is_decided(current_standing(seen, ONE_START), ONE_START):
                verdict = judge_metric(seen, ONE_START, DOCS_PER_SECOND, looked=True).verdicts[0].verdict
                break
        wrong += verdict in (FASTER, SLOWER)
    assert wrong / tournaments <= 0.06, f"{wrong} of {tournaments} tournaments of identical contenders had a winner"


def test_pairs_carry_where_they_were_run() -> None:
    """Start and block as the laps have them; at node level the group of starts, void ones counted."""
    rates: list[Mapping[str, float | None]] = [{"a": 1000.0, "b": 1100.0}, {"a": None, "b": 1.0}, {"a": 10.0, "b": 9.0}]
    assert pairs(laps_at(rates, start=2), ONE_START, DOCS_PER_SECOND) == {
        "b": [Pair(2, 4, pytest.approx(1.1)), Pair(2, 6, pytest.approx(0.9))]
    }
    nodes = a_tournament(2, node_level=True, starts=3)
    laps = [
        lap
        for number, name in enumerate("abbaab", start=1)
        for lap in laps_at([{name: None if number == 4 else 1000.0 * number}] * 3, start=number)
    ]
    assert pairs(laps, nodes, DOCS_PER_SECOND) == {
        "b": [Pair(1, None, pytest.approx(2.0)), Pair(3, None, pytest.approx(6 / 5))]
    }
