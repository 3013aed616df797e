"""Contenders that are dropped once they are decided: error rates and intervals are still what is promised.

As in test_calibration: whole procedures on simulated machines, on five times as many series where marked `long`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from paddock.statistics.series import front_cut
from paddock.statistics.signed_rank import hodges_lehmann, signed_rank
from paddock.statistics.starts import pair
from paddock.statistics.verdicts import Judgement, Outcome, judge, judge_early
from tests.statistics.simulator import Machine, dropping, most_errors, tournaments
from tests.statistics.test_calibration import MACHINES, WARM_UP_BLOCKS, effort  # noqa: F401 (a fixture)

ALPHA = 0.05
HEAVY = Machine(noise=0.06, heavy=2.5, walk=0.03, stall=0.0)
# Four rivals: one alike, one that few blocks cannot tell, two that are far off.
MIXED = [0.0, 0.0, 0.05, 0.3, -0.4]


def judged(rates: NDArray[np.float64], decided: Mapping[str, int], end: int) -> tuple[Judgement, ...]:
    """The verdicts as analysis gives them, on the laps that were run; the baseline is contender 0."""
    figures = {f"contender {i}": rates[:end, i].tolist() for i in range(rates.shape[1])}
    baseline, *rivals = figures

    def differences(name: str, first: int, last: int) -> tuple[float, ...]:
        return pair(figures[name][first:last], figures[baseline][first:last])

    early = {name: differences(name, 0, pairs) for name, pairs in decided.items()}
    if len(early) == len(rivals):
        return tuple(judge_early(name, early[name], len(rivals), alpha=ALPHA) for name in rivals)
    cut = front_cut({name: of for name, of in figures.items() if name not in early}).blocks
    return judge({name: early.get(name) or differences(name, cut, end) for name in rivals}, early=early)


@dataclass
class Seen:
    """What a number of simulated tournaments came to.

    named, missed: of how many a rival without an effect was called different; in how many each interval missed its
    truth. dropped, missed_dropped: the same of those that were dropped. laps: that were run.
    """

    runs: int = 0
    named: int = 0
    laps: int = 0
    blocks: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    missed_dropped: Counter[str] = field(default_factory=Counter)

    def add(self, rates: NDArray[np.float64], effects: list[float], laps: int | None = None) -> None:
        """Hold one."""
        decided, end = dropping(rates, laps)
        self.runs += 1
        self.blocks += end
        self.laps += end + sum(decided.get(f"contender {i}", end) for i in range(1, len(effects)))
        named = False
        for one, effect in zip(judged(rates, decided, end), effects[1:], strict=True):
            truth = math.exp(effect - effects[0])
            missed = not one.low <= truth <= one.high
            self.missed[one.contender] += missed
            self.dropped[one.contender] += one.contender in decided
            self.missed_dropped[one.contender] += missed and one.contender in decided
            named |= truth == 1 and one.outcome in (Outcome.BETTER, Outcome.WORSE)
        self.named += named


def held(machine: Machine, effects: list[float], runs: int, blocks: int, seed: int, budget: bool = False) -> Seen:
    """Tournaments of that many blocks; with a budget, of as many as that many blocks of everybody would take."""
    generator, seen = np.random.default_rng(seed), Seen()
    most = 3 * blocks if budget else blocks
    for rates in tournaments(generator, runs, WARM_UP_BLOCKS + most, effects, machine):
        seen.add(rates[WARM_UP_BLOCKS:], effects, blocks * len(effects) if budget else None)
    return seen


@pytest.mark.parametrize("contenders", [3, 5])
@pytest.mark.parametrize("machine", [*MACHINES, "heavy tails"])
def test_identical_contenders_get_no_winner(machine, contenders, effort):  # noqa: F811
    """Looked at after every block, dropped where decided, the others tested at the end: any winner in 5 % at most."""
    runs = 400 * effort
    seen = held({**MACHINES, "heavy tails": HEAVY}[machine], [0.0] * contenders, runs, 30, 20260120 + contenders)
    assert seen.named <= most_errors(runs, 0.05), f"{machine}: {seen.named / runs:.2%} false winners"
    assert seen.named >= 0.01 * runs, f"{machine}: {seen.named / runs:.2%}; this test sees nothing"


@pytest.mark.parametrize("budget", [False, True], ids=["blocks", "budget"])
@pytest.mark.parametrize("machine", ["quiet", "drifting", "stalling", "heavy tails"])
def test_intervals_hold_the_truth_whoever_is_dropped(machine, budget, effort):  # noqa: F811
    """Two of four rivals are far off and dropped: every interval misses in 5 % at most, those of the dropped in 1.25 %.

    The rival that is alike is called different in 5 % at most: also where the time of the dropped goes to the others,
    so that the data have a say in how many blocks there are.
    """
    runs = 300 * effort
    seen = held({**MACHINES, "heavy tails": HEAVY}[machine], MIXED, runs, 30, 20260130, budget)
    assert min(seen.dropped["contender 3"], seen.dropped["contender 4"]) > runs / 2, f"{seen.dropped}: sees nothing"
    for name, number in seen.missed.items():
        assert number <= most_errors(runs, ALPHA), f"{machine}, {name}: the interval misses in {number / runs:.2%}"
    for name, number in seen.missed_dropped.items():
        assert number <= most_errors(runs, ALPHA / 4), f"{machine}, {name}, dropped: missed in {number / runs:.2%}"
    assert seen.named <= most_errors(runs, ALPHA), f"{machine}: {seen.named / runs:.2%} false winners"
    if budget:
        assert seen.blocks > 32 * runs, "nobody got more blocks"
        assert seen.laps <= 30 * len(MIXED) * runs


def test_starts_as_units(effort):  # noqa: F811
    """Launches of the node that differ by 4 % for each contender: with starts as units there are no false winners."""
    machine, starts, blocks, runs = Machine(noise=0.08, start=0.04), 24, 4, 150 * effort
    generator, seen = np.random.default_rng(20260140), Seen()
    effects = [0.0, 0.0, 0.0, 0.5]
    for _ in range(runs):
        logs = np.log(tournaments(generator, starts, WARM_UP_BLOCKS + blocks, effects, machine)[:, WARM_UP_BLOCKS:])
        ratios = [[hodges_lehmann(start[:, i] - start[:, 0]) for i in range(len(effects))] for start in logs]
        seen.add(np.exp(np.array(ratios)), effects)
    assert seen.dropped["contender 3"] > 0.9 * runs
    assert seen.named <= most_errors(runs, ALPHA), f"{seen.named / runs:.2%} false winners"
    assert all(number <= most_errors(runs, ALPHA) for number in seen.missed.values()), seen.missed


def test_dropping_by_the_fixed_test_would_name_winners():
    """The same rivals dropped as soon as the signed-rank test says so are identical ones far too often."""
    generator, wrong, runs = np.random.default_rng(20260150), 0, 150
    for rates in tournaments(generator, runs, WARM_UP_BLOCKS + 30, [0.0] * 5, MACHINES["quiet"]):
        logs = np.log(rates[WARM_UP_BLOCKS:])
        looks = [(rival, block) for rival in range(1, 5) for block in range(8, 31)]
        wrong += any(signed_rank(logs[:n, rival] - logs[:n, 0]).p <= ALPHA / 4 for rival, n in looks)
    assert wrong / runs > 0.1, f"{wrong / runs:.1%} false winners; this test sees nothing"


def test_what_is_saved():
    """Of 60 blocks of a baseline, a twin of it and four others, the laps of those that are decided are not run."""
    effects = [0.0, 0.0, 0.1, 0.2, 0.4, -0.4]
    seen = held(MACHINES["quiet"], effects, 100, 60, 20260160)
    share = seen.laps / (seen.runs * 60 * len(effects))
    assert 0.5 < share < 0.8, f"{share:.1%} of the laps were run"
