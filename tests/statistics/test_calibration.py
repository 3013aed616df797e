"""Are the promised error rates true? Whole procedures on simulated machines with drift, stalls and warm-up.

Each is run on hundreds of series; marked `long`, on many times as many. A bound on errors is the number that a
procedure of just the promised rate exceeds in one of a thousand such calibrations (``most_errors``); the others leave
as much room or more. The seeds are fixed, so that a calibration that holds goes on to hold until the procedure changes.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from paddock.statistics.evidence import confidence_sequence, log_evidence
from paddock.statistics.series import front_cut
from paddock.statistics.signed_rank import blocks_for_difference, blocks_for_equivalence, signed_rank
from paddock.statistics.starts import pair
from paddock.statistics.verdicts import Outcome, judge, judge_early, within
from tests.statistics.simulator import Machine, most_errors, tournaments

WARM_UP_BLOCKS = 3
ALPHA = 0.05
MACHINES = {
    "quiet": Machine(noise=0.10, walk=0.0, slope=0.0, stall=0.0),
    "drifting": Machine(noise=0.10, walk=0.06, slope=0.01, stall=0.0),
    "stalling": Machine(noise=0.12, stall=0.5),
    "all of it": Machine(noise=0.15, walk=0.05, slope=0.008, stall=0.4, warm_up_laps=6.0),
}


@pytest.fixture(params=[1, pytest.param(5, marks=pytest.mark.long)], ids=["short", "long"])
def effort(request):
    """How many times the ordinary number of series."""
    return request.param


def analysed(rates):
    """The procedure of a tournament: warm-up blocks dropped, MSER on the rest, pairs; rates[block, contender]."""
    kept = rates[WARM_UP_BLOCKS:]
    names = [f"contender {i}" for i in range(kept.shape[1])]
    figures = {name: kept[:, i].tolist() for i, name in enumerate(names)}
    cut = front_cut(figures).blocks
    return {name: pair(figures[name][cut:], figures[names[0]][cut:]) for name in names[1:]}


@pytest.mark.parametrize("contenders", [1, 4])
@pytest.mark.parametrize("machine", MACHINES)
def test_identical_contenders_get_no_winner(machine, contenders, effort):
    """Warm-up cut, MSER, signed-rank test and Holm name any difference between identical contenders in 5 % at most.

    1,000 series of one contender and 500 of four, or five times as many; a false alarm at just 5 % is one in 1,000.
    """
    generator = np.random.default_rng(20260101 + contenders)
    runs = effort * (1000 if contenders == 1 else 500)
    rates = tournaments(generator, runs, WARM_UP_BLOCKS + 20, [0.0] * (contenders + 1), MACHINES[machine])
    wrong = sum(any(v.adjusted_p <= ALPHA for v in judge(analysed(run))) for run in rates)
    assert wrong <= most_errors(runs, 0.05), f"{machine}, {contenders} contenders: {wrong / runs:.2%} false winners"
    assert wrong >= 0.01 * runs, f"{machine}, {contenders} contenders: {wrong / runs:.2%}; this test sees nothing"


@pytest.mark.parametrize("machine", MACHINES)
def test_interval_covers_the_truth(machine, effort):
    """After the same procedure the 95 % interval holds the true log ratio in 95 %; a false alarm is one in 1,000."""
    generator = np.random.default_rng(20260102)
    runs, effect = 1000 * effort, 0.05
    rates = tournaments(generator, runs, WARM_UP_BLOCKS + 20, [0.0, effect], MACHINES[machine])
    missed = 0
    for run in rates:
        result = signed_rank(analysed(run)["contender 1"])
        missed += not result.low <= effect <= result.high
    assert missed <= most_errors(runs, 0.05), f"{machine}: the interval misses in {missed / runs:.2%}"


@pytest.mark.parametrize("machine", MACHINES)
def test_evidence_may_be_looked_at_after_every_block(machine, effort):
    """The e-process ever reaches 20 between identical contenders in 5 % at most; naive peeking is far worse.

    Ville's inequality allows 5 % over endless blocks, so what is seen in 100 is less and gets no room for luck.
    """
    generator = np.random.default_rng(20260103)
    runs, blocks = 1000 * effort, 100
    rates = tournaments(generator, runs, WARM_UP_BLOCKS + blocks, [0.0, 0.0], MACHINES[machine])
    differences = np.log(rates[:, WARM_UP_BLOCKS:, 1] / rates[:, WARM_UP_BLOCKS:, 0])
    wrong = np.mean([log_evidence(run).max() >= math.log(1 / ALPHA) for run in differences])
    peeking = np.mean([any(signed_rank(run[:n]).p <= 0.05 for n in range(6, 51, 2)) for run in differences[:200]])
    assert wrong <= 0.05, f"{machine}: E >= 20 at some look in {wrong:.2%}"
    assert peeking >= 0.15, f"{machine}: naive peeking is wrong in {peeking:.2%} only; this test sees nothing"


@pytest.mark.parametrize("contenders", [1, 4])
def test_stopping_early_or_testing_at_the_end(contenders, effort):
    """Both together, an e-process that stops early and a signed-rank test at the end, stay within 6 %, too.

    1,000 series of one contender and 500 of four, or five times as many; a false alarm at just 6 % is one in 1,000.
    """
    generator = np.random.default_rng(20260104)
    runs, blocks = effort * (1000 if contenders == 1 else 500), 40
    rates = tournaments(generator, runs, WARM_UP_BLOCKS + blocks, [0.0] * (contenders + 1), MACHINES["all of it"])
    wrong = 0
    for run in rates:
        logs = np.log(run[WARM_UP_BLOCKS:])
        early = any(
            log_evidence(logs[:, i] - logs[:, 0]).max() >= math.log(contenders / ALPHA)
            for i in range(1, contenders + 1)
        )
        wrong += early or any(verdict.adjusted_p <= ALPHA for verdict in judge(analysed(run)))
    rate = f"{wrong / runs:.2%} false winners with early stopping"
    assert wrong <= most_errors(runs, 0.06), f"{contenders} contenders: {rate}"


def test_confidence_sequence_covers_at_all_looks(effort):
    """The confidence sequence holds the true log ratio at all looks together in at least 95 %.

    As for the e-process, the promise is for endless looks; 59 of them miss so rarely that luck needs no room.
    """
    generator = np.random.default_rng(20260105)
    runs, effect = 300 * effort, 0.1
    rates = tournaments(generator, runs, WARM_UP_BLOCKS + 60, [0.0, effect], MACHINES["all of it"])
    missed = 0
    for run in np.log(rates[:, WARM_UP_BLOCKS:, 1] / rates[:, WARM_UP_BLOCKS:, 0]):
        intervals = [confidence_sequence(run[:n]) for n in range(2, 61)]
        missed += any(not low <= effect <= high for low, high in intervals)
    assert missed / runs <= 0.05, f"missed at some look in {missed / runs:.2%}"


def test_evidence_stops_early_where_there_is_something():
    """A true difference of 40 % is found before 40 blocks in most tournaments, and equivalence where noise is small."""
    generator = np.random.default_rng(20260106)
    rates = tournaments(generator, 400, 43, [0.0, math.log(1.4)], MACHINES["drifting"])
    differences = np.log(rates[:, 3:, 1] / rates[:, 3:, 0])
    found = np.mean([log_evidence(run).max() >= math.log(1 / ALPHA) for run in differences])
    small = generator.normal(0, 0.02, (300, 60))
    equivalent = np.mean([judge_early("same", run).outcome is Outcome.EQUIVALENT for run in small])
    assert found >= 0.8, f"found in {found:.0%}"
    assert equivalent >= 0.8, f"equivalent in {equivalent:.0%}"


def test_naive_practice_is_wrong_on_the_same_machines():
    """One race each and a rule of 5 % names a winner between identical configurations in most cases."""
    generator = np.random.default_rng(20260107)
    for name, machine in MACHINES.items():
        background = machine.background(generator, 4000, 24)[:, 12:]  # warmed up
        ratio = np.exp(background[:, 1] - background[:, 0])
        wrong = np.mean((ratio > 1.05) | (ratio < 1 / 1.05))
        assert wrong > 0.6, f"{name}: naive practice is wrong in {wrong:.1%} only; the simulator has no teeth"
        cold = np.exp(machine.background(generator, 4000, 2))
        second = np.mean(cold[:, 1] > 1.05 * cold[:, 0])
        assert second > 0.75, f"{name}: second on a cold machine wins in {second:.1%} only"


def test_fixed_order_is_wrong():
    """ABAB in fixed order under a disturbance of period 4, tested in the same way, is nearly always wrong."""
    generator = np.random.default_rng(20260108)
    logs = Machine(stall_every=4, warm_up_laps=1.0).background(generator, 500, 86)[:, 6:].reshape(500, 40, 2)
    wrong = np.mean([signed_rank(run[:, 1] - run[:, 0]).p <= 0.05 for run in logs])
    assert wrong > 0.6, f"fixed order is wrong in {wrong:.1%} only"


@pytest.mark.parametrize(
    ("ratio", "noise", "published_80", "published_90"),
    [
        (1.05, 0.10, 72, 97),
        (1.05, 0.15, 157, 213),
        (1.10, 0.10, 21, 27),
        (1.10, 0.15, 43, 58),
        (1.20, 0.10, 8, 10),
        (1.20, 0.15, 14, 18),
    ],
)
def test_blocks_needed(ratio, noise, published_80, published_90):
    """The numbers of blocks are those of simulation (within 3 % or one block) and reach their power."""
    sd = noise * math.sqrt(2)
    generator = np.random.default_rng(20260109)
    for power, published in ((0.8, published_80), (0.9, published_90)):
        blocks = blocks_for_difference(ratio, sd, power)
        assert abs(blocks - published) <= max(1, 0.03 * published), f"{blocks} blocks, by simulation {published}"
        samples = generator.normal(math.log(ratio), sd, (1000, blocks))
        found = np.mean([signed_rank(sample).p <= 0.05 for sample in samples])
        assert power - 0.04 <= found <= power + 0.06, f"{blocks} blocks find {ratio} in {found:.1%}, not {power:.0%}"


@pytest.mark.parametrize("ratio", [1.0, 1.015])
def test_blocks_needed_for_equivalence(ratio):
    """With the number of blocks said the interval lies within the margin in about 80 %."""
    sd, margin = 0.08, 0.03
    blocks = blocks_for_equivalence(margin, sd, ratio)
    samples = np.random.default_rng(20260110).normal(math.log(ratio), sd, (600, blocks))
    results = [signed_rank(sample) for sample in samples]
    found = np.mean([within(result.low, result.high, margin) for result in results])
    assert 0.74 <= found <= 0.88, f"{blocks} blocks show equivalence of {ratio} in {found:.1%}"


def test_false_equivalence_is_rare():
    """A contender just outside the margin is called equivalent in 5 % of the cases at most, one of four included."""
    generator = np.random.default_rng(20260111)
    runs, wrong = 400, 0
    for _ in range(runs):
        samples = {str(i): generator.normal(math.log(1.0301), 0.05, 60) for i in range(4)}
        wrong += any(verdict.outcome is Outcome.EQUIVALENT for verdict in judge(samples))
    assert wrong / runs <= 0.05, f"false equivalence in {wrong / runs:.1%}"
