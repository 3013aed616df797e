"""Verdicts: better, worse, equivalent or undecided; and what would decide those that are undecided."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import stdev

from paddock.statistics.evidence import confidence_sequence, log_evidence
from paddock.statistics.signed_rank import (
    blocks_for_difference,
    blocks_for_equivalence,
    fewest_differences,
    hodges_lehmann,
    holm,
    signed_rank,
)

MARGIN = 0.03
LARGEST_LOG = 700.0  # exp of more is no double any more


class Outcome(Enum):
    """The four answers to "is the contender better than the baseline?", in the words of results."""

    BETTER = "faster"
    WORSE = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Judgement:
    """The answer for one contender.

    :param ratio: estimate of contender / baseline in the metric's unit; None if no pair is valid.
    :param low, high: interval of the ratio; 0 and infinity where there are too few pairs.
    :param n: pairs (blocks or starts).
    :param confidence: what the interval reaches; ``level`` is the error that it was allowed (after Holm).
    :param adjusted_p: of the hypothesis that the ratio is 1, for all contenders together.
    """

    contender: str
    outcome: Outcome
    ratio: float | None
    low: float
    high: float
    n: int
    confidence: float
    level: float
    adjusted_p: float


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < LARGEST_LOG else math.inf


def within(low: float, high: float, margin: float) -> bool:
    """Whether an interval of the log ratio lies within the equivalence margin."""
    edge = math.log1p(margin)
    return -edge <= low and high <= edge


def mostly_within(low: float, high: float, margin: float) -> bool:
    """Whether the greater part of an interval of the ratio lies within the equivalence margin, on the log's scale."""
    if low <= 0 or math.isinf(high) or low >= high:
        return False
    edge = math.log1p(margin)
    begin, end = math.log(low), math.log(high)
    return 2 * (min(end, edge) - max(begin, -edge)) > end - begin


def _outcome(estimate: float | None, equivalent: bool, significant: bool, higher_is_better: bool) -> Outcome:
    """Equivalence goes first, even if the ratio certainly differs from 1: a difference too small to matter."""
    if equivalent:
        return Outcome.EQUIVALENT
    if not significant or not estimate:
        return Outcome.UNDECIDED
    return Outcome.BETTER if (estimate > 0) == higher_is_better else Outcome.WORSE


@dataclass(frozen=True)
class Needed:
    """What would decide an undecided comparison, with 80 % probability if things are as they seem now.

    :param more: blocks (or starts, where they are the unit) that are still to be run.
    :param goal: "difference" or "equivalence", whichever comes first.
    """

    more: int
    goal: str


def what_would_decide(
    differences: Sequence[float], margin: float = MARGIN, level: float = 0.05, equivalence_level: float = 0.05
) -> Needed | None:
    """What 80 % power takes, if the observed estimate and standard deviation are the truth; None for a single pair.

    An estimate inside the margin may be decided both as a difference and as equivalence; the cheaper one is given. The
    estimate is uncertain itself, so this is an order of magnitude, not a promise.

    :param level: two-sided level of the verdict, after Holm.
    :param equivalence_level: level of the interval that must lie within the margin.
    """
    n = len(differences)
    if n < 2:
        return None
    sd = stdev(differences)
    ratio = math.exp(max(-LARGEST_LOG, min(LARGEST_LOG, hodges_lehmann(differences))))
    candidates = []
    if ratio != 1:
        candidates.append((blocks_for_difference(ratio, sd, alpha=level), "difference"))
    if abs(math.log(ratio)) < math.log1p(margin):
        candidates.append((blocks_for_equivalence(margin, sd, ratio, alpha=equivalence_level), "equivalence"))
    units, goal = min(candidates)
    return Needed(max(units, n + 1, fewest_differences(level)) - n, goal)


def judge(
    differences: Mapping[str, Sequence[float]],
    higher_is_better: bool = True,
    margin: float = MARGIN,
    alpha: float = 0.05,
    early: Collection[str] = (),
) -> tuple[Judgement, ...]:
    """The verdicts on all contenders after the planned number of blocks, by the signed-rank test.

    Holm over all of them; each interval is at the level at which Holm decided its contender, so that the interval
    excludes 1 exactly if the contender is significant. The chance of any false difference is at most ``alpha``.

    Holm's levels say nothing of the margin: after a few rejections they are generous, and of four contenders just
    outside the margin one would be called equivalent far too often. So an equivalence needs the interval at
    ``alpha`` / number of contenders inside the margin (two one-sided tests, Bonferroni): the chance of any false
    equivalence is at most ``alpha`` / 2.

    Contenders that the e-process had decided before, and that had no further blocks, keep its verdict and its interval
    (:func:`judge_early`): their number of blocks was chosen by the data, and no fixed-n interval is valid there. Their
    p-values, which hold at every look, take part in Holm's procedure. The others had all their blocks, and each is
    tested once, at their end; that it could have been decided before adds to its errors what the e-process errs, which
    is nearly always where the test errs, too: simulated, both together stay at the nominal level.

    :param differences: per contender the log ratios of its pairs; of those that were decided early up to then.
    :param early: the names of contenders that had no further blocks because the e-process had decided them.
    """
    comparisons, how = len(differences), (higher_is_better, margin, alpha)
    decided = {name: judge_early(name, differences[name], comparisons, *how) for name in differences if name in early}
    evidence = {name: one.adjusted_p / comparisons for name, one in decided.items()}
    p_values = [evidence[name] if name in early else signed_rank(of, alpha).p for name, of in differences.items()]
    steps = holm(p_values, alpha)
    judged = []
    for (name, values), step in zip(differences.items(), steps, strict=True):
        if name in decided:
            judged.append(decided[name])
            continue
        result, strict = signed_rank(values, step.level), signed_rank(values, alpha / len(differences))
        equivalent = within(strict.low, strict.high, margin)
        judged.append(
            Judgement(
                contender=name,
                outcome=_outcome(result.estimate, equivalent, step.rejected, higher_is_better),
                ratio=None if result.estimate is None else _exp(result.estimate),
                low=_exp(result.low),
                high=_exp(result.high),
                n=len(values),
                confidence=result.confidence,
                level=step.level,
                adjusted_p=step.adjusted_p,
            )
        )
    return tuple(judged)


def judge_early(
    contender: str,
    differences: Sequence[float],
    comparisons: int = 1,
    higher_is_better: bool = True,
    margin: float = MARGIN,
    alpha: float = 0.05,
) -> Judgement:
    """The verdict on a contender when what was seen may have decided that no more blocks were run.

    That is a tournament that the evidence ended, one that the user stopped, one that is still running: it may be asked
    after every block. The signed-rank test is not valid at a number of blocks that the data chose; the e-process is.
    Its interval is the confidence sequence, which is wider. There is a difference while that excludes 1, and
    equivalence while it lies within the margin (each wrong with probability alpha / comparisons at most, since the
    sequence covers at all times). It is the present interval that counts, not the best there ever was: an effect that
    fades is not called one, and interval and answer always agree.

    :param differences: log ratios of all blocks since the warm-up, in their order.
    :param comparisons: contenders without the baseline, counted when the tournament began (Bonferroni).
    """
    level = alpha / comparisons
    low, high = confidence_sequence(differences, level)
    estimate = hodges_lehmann(differences) if len(differences) else None
    p = min(1.0, math.exp(-log_evidence(differences)[-1])) if len(differences) else 1.0
    return Judgement(
        contender=contender,
        outcome=_outcome(estimate, within(low, high, margin), low > 0 or high < 0, higher_is_better),
        ratio=None if estimate is None else _exp(estimate),
        low=_exp(low),
        high=_exp(high),
        n=len(differences),
        confidence=1 - level,
        level=level,
        adjusted_p=min(1.0, comparisons * p),
    )
