"""Verdicts: words, directions, agreement of test and interval, and what would decide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.verdicts import Direction, Outcome, judge, judge_early, what_would_decide

COST = Direction(higher_is_better=False, better="cheaper", worse="dearer")
logs = st.lists(st.floats(-1, 1, allow_subnormal=False), max_size=25)
several = st.dictionaries(st.text("abc", min_size=1, max_size=3), logs, min_size=1, max_size=5)


def around(centre, noise=0.01, n=20, seed=1):
    """Normal differences around a centre."""
    return np.random.default_rng(seed).normal(centre, noise, n).tolist()


def test_faster_and_slower():
    """A contender with a clearly higher rate is faster, with a lower one slower; the ratio is in the metric's unit."""
    faster, slower = judge({"more": around(0.2), "less": around(-0.2)})
    assert (faster.contender, faster.outcome, faster.word) == ("more", Outcome.BETTER, "faster")
    assert (slower.contender, slower.outcome, slower.word) == ("less", Outcome.WORSE, "slower")
    assert faster.low < faster.ratio < faster.high
    assert faster.ratio == pytest.approx(math.exp(0.2), rel=0.01)
    assert faster.needed is None


def test_costs_are_better_when_lower():
    """For a cost the lower contender is the better one, in the metric's own words."""
    more, less = judge({"more": around(0.2), "less": around(-0.2)}, COST)
    assert (more.word, less.word) == ("dearer", "cheaper")


def test_equivalent_within_the_margin():
    """A difference that is certain but smaller than the margin is equivalent, and its significance is still told."""
    (verdict,) = judge({"same": around(0.01, 0.002)})
    assert (verdict.outcome, verdict.word, verdict.significant) == (Outcome.EQUIVALENT, "equivalent", True)
    (verdict,) = judge({"same": around(0.01, 0.002)}, margin=0.005)
    assert verdict.outcome is Outcome.BETTER


def test_undecided_says_what_would_decide():
    """Noise all over: undecided, with blocks in total, blocks to go and seconds."""
    (verdict,) = judge({"noisy": around(0.05, 0.3)}, seconds_per_unit=12.0)
    assert (verdict.outcome, verdict.word) == (Outcome.UNDECIDED, "undecided")
    assert verdict.needed.units > 20
    assert verdict.needed.more == verdict.needed.units - 20
    assert verdict.needed.seconds == 12.0 * verdict.needed.more


def test_too_few_blocks_are_undecided():
    """Five blocks decide nothing; one more may."""
    (verdict,) = judge({"few": [0.2] * 5})
    assert verdict.outcome is Outcome.UNDECIDED
    assert (verdict.low, verdict.high) == (0, math.inf)
    assert verdict.needed.units == 6
    (verdict,) = judge({"enough": [0.2] * 6})
    assert verdict.outcome is Outcome.BETTER


def test_no_valid_pair_is_undecided():
    """A contender whose laps are all void has no ratio and no verdict, and crashes nothing."""
    (verdict,) = judge({"void": []})
    assert (verdict.outcome, verdict.ratio, verdict.n, verdict.needed) == (Outcome.UNDECIDED, None, 0, None)


@given(several)
def test_test_and_interval_agree(differences):
    """The interval excludes 1 exactly if the contender is significant, whatever Holm decided about the others."""
    for verdict in judge(differences):
        # exp is monotone but may round a tiny log to 1, so the ends may touch.
        outside = not verdict.low <= 1 <= verdict.high
        touching = verdict.low == 1 or verdict.high == 1
        assert touching or outside == verdict.significant
        assert verdict.significant == (verdict.p <= verdict.level)
        assert verdict.confidence >= 1 - verdict.level - 1e-12


@given(several)
def test_exchanging_contender_and_baseline_inverts(differences):
    """Ratios and intervals invert, better and worse change places, the other outcomes stay."""
    swap = {Outcome.BETTER: Outcome.WORSE, Outcome.WORSE: Outcome.BETTER}
    mirrored = judge({name: [-d for d in values] for name, values in differences.items()})
    for one, other in zip(judge(differences), mirrored, strict=True):
        assert other.outcome is swap.get(one.outcome, one.outcome)
        if one.ratio is not None:
            assert other.ratio == pytest.approx(1 / one.ratio)
        if math.isfinite(one.high):
            assert (other.low, other.high) == (pytest.approx(1 / one.high), pytest.approx(1 / one.low))


@given(several)
def test_direction_changes_words_only(differences):
    """A cost has the same figures as a rate; better and worse change places."""
    swap = {Outcome.BETTER: Outcome.WORSE, Outcome.WORSE: Outcome.BETTER}
    for rate, cost in zip(judge(differences), judge(differences, COST), strict=True):
        assert cost.outcome is swap.get(rate.outcome, rate.outcome)
        assert (cost.ratio, cost.low, cost.high, cost.p) == (rate.ratio, rate.low, rate.high, rate.p)


@given(several)
def test_only_undecided_needs_more(differences):
    """What would decide is told for undecided contenders, always more than there is; equivalence is truly inside."""
    for verdict in judge(differences):
        if verdict.outcome is not Outcome.UNDECIDED:
            assert verdict.needed is None
        elif verdict.n >= 2:
            assert verdict.needed.more >= 1
        if verdict.outcome is Outcome.EQUIVALENT:
            assert 1 / 1.03 * (1 - 1e-12) <= verdict.low <= verdict.high <= 1.03 * (1 + 1e-12)


def test_several_contenders_are_judged_more_strictly():
    """A p of 0.031 is significant alone and not among four equals."""
    clear = [0.1, 0.11, 0.12, 0.13, 0.14, 0.15]
    assert judge({"a": clear})[0].significant
    assert not any(verdict.significant for verdict in judge(dict.fromkeys("abcd", clear)))
    assert not judge({"a": clear}, family=4)[0].significant


def test_needed_takes_the_nearer_goal():
    """Nearly no difference is decided as equivalence, a large one as a difference."""
    assert what_would_decide(around(0.0, 0.1)).goal == "equivalence"
    assert what_would_decide(around(0.1, 0.4)).goal == "difference"
    assert what_would_decide([0.1]) is None


def test_needed_at_no_difference_at_all():
    """An estimate of exactly 1 has a goal, too."""
    needed = what_would_decide([0.1, -0.1] * 5)
    assert needed.goal == "equivalence"
    assert needed.units > 10


def test_early_difference():
    """After an early stop the verdict is the e-process's: wider interval, p from the evidence, sign as seen."""
    sample = around(0.4, 0.1, 30)
    early = judge_early("fast", sample)
    (fixed,) = judge({"fast": sample})
    assert (early.outcome, early.method) == (Outcome.BETTER, "e-process")
    assert early.low < fixed.low < fixed.high < early.high
    assert judge_early("dear", sample, direction=COST).word == "dearer"


def test_early_equivalence_and_nothing():
    """Equivalence can end a tournament early; without evidence there is no verdict."""
    assert judge_early("same", around(0, 0.01, 60)).outcome is Outcome.EQUIVALENT
    unclear = judge_early("unclear", around(0, 0.3, 5))
    assert (unclear.outcome, unclear.low, unclear.high) == (Outcome.UNDECIDED, 0, math.inf)
    assert judge_early("void", []).ratio is None


def test_without_an_interval_there_is_no_early_verdict():
    """Few but strong blocks: as long as the confidence sequence cannot say how much, nothing is said."""
    sample = [2.0, 1.9, 2.1, 2.0, 1.8, 2.2, 2.0, 2.1, 2.0]
    assert judge_early("strong", sample, alpha=0.3).outcome is Outcome.UNDECIDED
    verdict = judge_early("strong", sample * 2, alpha=0.3)
    assert verdict.outcome is Outcome.BETTER
    assert verdict.low > 1
