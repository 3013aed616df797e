"""Verdicts: words, directions, agreement of test and interval, and what would decide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.evidence import log_evidence
from paddock.statistics.signed_rank import signed_rank
from paddock.statistics.verdicts import Outcome, judge, judge_early, what_would_decide

logs = st.lists(st.floats(-1, 1, allow_subnormal=False), max_size=25)
several = st.dictionaries(st.text("abc", min_size=1, max_size=3), logs, min_size=1, max_size=5)


def around(centre, noise=0.01, n=20, seed=1):
    """Normal differences around a centre."""
    return np.random.default_rng(seed).normal(centre, noise, n).tolist()


def test_faster_and_slower():
    """A contender with a clearly higher rate is faster, with a lower one slower; the ratio is in the metric's unit."""
    faster, slower = judge({"more": around(0.2), "less": around(-0.2)})
    assert (faster.contender, faster.outcome, faster.outcome.value) == ("more", Outcome.BETTER, "faster")
    assert (slower.contender, slower.outcome, slower.outcome.value) == ("less", Outcome.WORSE, "slower")
    assert faster.low < faster.ratio < faster.high
    assert faster.ratio == pytest.approx(math.exp(0.2), rel=0.01)


def test_costs_are_better_when_lower():
    """For a cost the lower contender is the better one."""
    more, less = judge({"more": around(0.2), "less": around(-0.2)}, higher_is_better=False)
    assert (more.outcome, less.outcome) == (Outcome.WORSE, Outcome.BETTER)


def test_equivalent_within_the_margin():
    """A difference that is certain but smaller than the margin is equivalent, and its significance is still told."""
    (verdict,) = judge({"same": around(0.01, 0.002)})
    assert (verdict.outcome, verdict.outcome.value) == (Outcome.EQUIVALENT, "equivalent")
    assert verdict.adjusted_p < 0.05
    (verdict,) = judge({"same": around(0.01, 0.002)}, margin=0.005)
    assert verdict.outcome is Outcome.BETTER


def test_undecided_says_what_would_decide():
    """Noise all over: undecided, with blocks to go."""
    (verdict,) = judge({"noisy": around(0.05, 0.3)})
    assert (verdict.outcome, verdict.outcome.value) == (Outcome.UNDECIDED, "undecided")
    assert what_would_decide(around(0.05, 0.3)).more > 0


def test_too_few_blocks_are_undecided():
    """Five blocks decide nothing; one more may."""
    (verdict,) = judge({"few": [0.2] * 5})
    assert verdict.outcome is Outcome.UNDECIDED
    assert (verdict.low, verdict.high) == (0, math.inf)
    assert what_would_decide([0.2] * 5).more == 1
    (verdict,) = judge({"enough": [0.2] * 6})
    assert verdict.outcome is Outcome.BETTER


def test_no_valid_pair_is_undecided():
    """A contender whose laps are all void has no ratio and no verdict, and crashes nothing."""
    (verdict,) = judge({"void": []})
    assert (verdict.outcome, verdict.ratio, verdict.n, what_would_decide([])) == (Outcome.UNDECIDED, None, 0, None)


@given(several)
def test_test_and_interval_agree(differences):
    """The interval excludes 1 exactly if the contender is significant, whatever Holm decided about the others."""
    for verdict in judge(differences):
        # exp is monotone but may round a tiny log to 1, so the ends may touch.
        outside = not verdict.low <= 1 <= verdict.high
        touching = verdict.low == 1 or verdict.high == 1
        significant = signed_rank(differences[verdict.contender]).p <= verdict.level
        assert touching or outside == significant
        assert significant == (verdict.adjusted_p <= 0.05 * (1 + 1e-12))
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
    for rate, cost in zip(judge(differences), judge(differences, higher_is_better=False), strict=True):
        assert cost.outcome is swap.get(rate.outcome, rate.outcome)
        assert (cost.ratio, cost.low, cost.high, cost.adjusted_p) == (rate.ratio, rate.low, rate.high, rate.adjusted_p)


@given(several)
def test_undecided_contenders_need_more(differences):
    """What would decide is told for undecided contenders, always more than there is; equivalence is truly inside."""
    for verdict in judge(differences):
        if verdict.outcome is Outcome.UNDECIDED and verdict.n >= 2:
            assert what_would_decide(differences[verdict.contender], level=verdict.level).more >= 1
        if verdict.outcome is Outcome.EQUIVALENT:
            assert 1 / 1.03 * (1 - 1e-12) <= verdict.low <= verdict.high <= 1.03 * (1 + 1e-12)


def test_several_contenders_are_judged_more_strictly():
    """A p of 0.031 is significant alone and not among four equals."""
    clear = [0.1, 0.11, 0.12, 0.13, 0.14, 0.15]
    assert judge({"a": clear})[0].outcome is Outcome.BETTER
    assert not any(verdict.adjusted_p <= 0.05 for verdict in judge(dict.fromkeys("abcd", clear)))
    assert {verdict.outcome for verdict in judge(dict.fromkeys("abcd", clear))} == {Outcome.UNDECIDED}


def test_needed_takes_the_nearer_goal():
    """Nearly no difference is decided as equivalence, a large one as a difference."""
    assert what_would_decide(around(0.0, 0.1)).goal == "equivalence"
    assert what_would_decide(around(0.1, 0.4)).goal == "difference"
    assert what_would_decide([0.1]) is None


def test_needed_at_no_difference_at_all():
    """An estimate of exactly 1 has a goal, too."""
    needed = what_would_decide([0.1, -0.1] * 5)
    assert needed.goal == "equivalence"
    assert needed.more > 0


def test_early_difference():
    """After an early stop the verdict is the e-process's: wider interval, p from the evidence, sign as seen."""
    sample = around(0.4, 0.1, 30)
    early = judge_early("fast", sample)
    (fixed,) = judge({"fast": sample})
    assert early.outcome is Outcome.BETTER
    assert early.adjusted_p == pytest.approx(math.exp(-log_evidence(sample)[-1]))
    assert judge_early("fast", sample, comparisons=4).confidence == pytest.approx(1 - 0.05 / 4)
    assert early.low < fixed.low < fixed.high < early.high
    assert judge_early("dear", sample, higher_is_better=False).outcome is Outcome.WORSE


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


def early(differences, **settings):
    """The outcome of the e-process."""
    return judge_early("it", differences, **settings).outcome


def test_it_may_be_asked_after_every_block():
    """A clear difference: undecided at first, better later, and p is the inverse of the evidence."""
    sample = [0.5, 0.4, 0.6] * 8
    assert early(sample[:2]) is Outcome.UNDECIDED
    assert early(sample) is Outcome.BETTER


def test_an_effect_that_fades_is_not_called_one():
    """The present interval counts: evidence that was reached once is no answer beside an interval that holds 1."""
    sample = [0.5] * 20 + [-0.5] * 12
    assert early(sample[:20]) is Outcome.BETTER
    now = judge_early("it", sample)
    assert now.low < 1 < now.high
    assert now.adjusted_p > 0.05
    assert now.outcome is Outcome.UNDECIDED


def test_the_e_process_sees_equivalence():
    """Tiny differences both ways: equivalent, once the sequence is within the margin."""
    sample = [0.004, -0.004] * 40
    assert early(sample[:4]) is Outcome.UNDECIDED
    assert early(sample) is Outcome.EQUIVALENT
    assert early(sample, margin=0.0001) is Outcome.UNDECIDED


def test_before_the_first_block_nothing_is_known():
    """Nothing run, nothing known."""
    nothing = judge_early("it", [])
    assert (nothing.adjusted_p, nothing.outcome, nothing.ratio) == (1, Outcome.UNDECIDED, None)
