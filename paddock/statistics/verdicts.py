"""Verdicts: better, worse, equivalent or undecided, with everything that is needed to believe or to decide them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import stdev

from paddock.statistics.evidence import standing
from paddock.statistics.power import blocks_for_difference, blocks_for_equivalence
from paddock.statistics.signed_rank import fewest_differences, hodges_lehmann, holm, signed_rank

MARGIN = 0.03
LARGEST_LOG = 700.0  # exp of more is no double any more


class Outcome(Enum):
    """The four answers to "is the contender better than the baseline?"."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Direction:
    """Which way a metric is good, and the words for it: docs/s are faster, bytes per document are smaller."""

    higher_is_better: bool = True
    better: str = "faster"
    worse: str = "slower"

    def word(self, outcome: Outcome) -> str:
        """The outcome in the words of this metric."""
        return {Outcome.BETTER: self.better, Outcome.WORSE: self.worse}.get(outcome, outcome.value)


@dataclass(frozen=True)
class Needed:
    """What would decide an undecided comparison, with 80 % probability if things are as they seem now.

    units: blocks (or starts, where they are the unit) in total, those already run included.
    more: how many of them are still to be run.
    goal: "difference" or "equivalence", whichever comes first.
    seconds: for those still to be run; None if the duration of a unit is unknown.
    """

    units: int
    more: int
    goal: str
    seconds: float | None


@dataclass(frozen=True)
class Verdict:
    """The answer for one contender.

    word: the outcome in the metric's words.
    ratio: estimate of contender / baseline in the metric's unit; None if no pair is valid.
    low, high: interval of the ratio; 0 and infinity where there are too few pairs.
    n: pairs (blocks or starts).
    confidence: what the interval reaches; ``level`` is the error that it was allowed (after Holm).
    p, adjusted_p: of the hypothesis that the ratio is 1, alone and for all contenders together.
    significant: the ratio differs from 1; also set for an equivalent contender whose small difference is certain.
    sd: standard deviation of the log ratios; None for fewer than two.
    margin: the equivalence margin, 0.03 for 1/1.03 to 1.03.
    method: "signed-rank" after a fixed number of blocks, "e-process" after a number that the data may have chosen.
    needed: what would decide it; None unless undecided, or if not even a standard deviation is known.
    """

    contender: str
    outcome: Outcome
    word: str
    ratio: float | None
    low: float
    high: float
    n: int
    confidence: float
    level: float
    p: float
    adjusted_p: float
    significant: bool
    sd: float | None
    margin: float
    method: str
    needed: Needed | None


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


def outcome_of(estimate: float | None, equivalent: bool, significant: bool, direction: Direction) -> Outcome:
    """The outcome of a comparison.

    Equivalence goes first, even if the ratio certainly differs from 1: a difference too small to matter.
    """
    if equivalent:
        return Outcome.EQUIVALENT
    if not significant or not estimate:
        return Outcome.UNDECIDED
    return Outcome.BETTER if (estimate > 0) == direction.higher_is_better else Outcome.WORSE


def what_would_decide(
    differences: Sequence[float],
    margin: float = MARGIN,
    level: float = 0.05,
    equivalence_level: float | None = None,
    seconds_per_unit: float | None = None,
) -> Needed | None:
    """Blocks in total for 80 % power, if the observed estimate and standard deviation are the truth.

    An estimate inside the margin may be decided both as a difference and as equivalence; the cheaper one is given. The
    estimate is uncertain itself, so this is an order of magnitude, not a promise.

    :param level: two-sided level of the verdict, after Holm.
    :param equivalence_level: level of the interval that must lie within the margin; without it ``level``.
    :param seconds_per_unit: wall time of one block (or start-block).
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
        strict = level if equivalence_level is None else equivalence_level
        candidates.append((blocks_for_equivalence(margin, sd, ratio, alpha=strict), "equivalence"))
    units, goal = min(candidates)
    units = max(units, n + 1, fewest_differences(level))
    more = units - n
    return Needed(units, more, goal, None if seconds_per_unit is None else more * seconds_per_unit)


def judge(
    differences: Mapping[str, Sequence[float]],
    direction: Direction | None = None,
    margin: float = MARGIN,
    alpha: float = 0.05,
    seconds_per_unit: float | None = None,
    family: int | None = None,
) -> tuple[Verdict, ...]:
    """The verdicts on all contenders after the planned number of blocks.

    Holm over all of them; each interval is at the level at which Holm decided its contender, so that the interval
    excludes 1 exactly if the contender is significant. The chance of any false difference is at most ``alpha``.

    Holm's levels say nothing of the margin: after a few rejections they are generous, and of four contenders just
    outside the margin one would be called equivalent far too often. So an equivalence needs the interval at
    ``alpha`` / number of contenders inside the margin (two one-sided tests, Bonferroni): the chance of any false
    equivalence is at most ``alpha`` / 2.

    :param differences: per contender the log ratios of its pairs.
    :param family: contenders that share ``alpha``, if some were decided earlier by ``judge_early``.
    """
    direction = direction or Direction()
    names = list(differences)
    p_values = [signed_rank(differences[name], alpha).p for name in names]
    strict = alpha / max(1, len(names) if family is None else family)
    verdicts = []
    for name, step in zip(names, holm(p_values, alpha, family), strict=True):
        values = differences[name]
        result = signed_rank(values, step.level)
        bounds = signed_rank(values, strict)
        equivalent = within(bounds.low, bounds.high, margin)
        outcome = outcome_of(result.estimate, equivalent, step.rejected, direction)
        needed = None
        if outcome is Outcome.UNDECIDED:
            needed = what_would_decide(values, margin, step.level, strict, seconds_per_unit)
        verdicts.append(
            Verdict(
                contender=name,
                outcome=outcome,
                word=direction.word(outcome),
                ratio=None if result.estimate is None else _exp(result.estimate),
                low=_exp(result.low),
                high=_exp(result.high),
                n=result.n,
                confidence=result.confidence,
                level=step.level,
                p=result.p,
                adjusted_p=step.adjusted_p,
                significant=step.rejected,
                sd=stdev(values) if len(values) > 1 else None,
                margin=margin,
                method="signed-rank",
                needed=needed,
            )
        )
    return tuple(verdicts)


def judge_early(
    contender: str,
    differences: Sequence[float],
    comparisons: int = 1,
    direction: Direction | None = None,
    margin: float = MARGIN,
    alpha: float = 0.05,
    seconds_per_unit: float | None = None,
) -> Verdict:
    """The verdict on a contender when what was seen may have decided that no more blocks were run.

    That is a tournament that the evidence ended, one that the user stopped, one that is still running.

    The signed-rank test is not valid at a number of blocks that the data chose; the e-process is. Its interval is the
    confidence sequence, which is wider. Significant while that excludes 1.

    :param comparisons: contenders without the baseline, counted when the tournament began (Bonferroni).
    :param seconds_per_unit: wall time of one block (or start-block).
    """
    direction = direction or Direction()
    level = alpha / comparisons
    now = standing(differences, comparisons, margin, alpha)
    significant = now.low > 0 or now.high < 0
    estimate = hodges_lehmann(differences) if len(differences) else None
    outcome = outcome_of(estimate, within(now.low, now.high, margin), significant, direction)
    return Verdict(
        contender=contender,
        outcome=outcome,
        word=direction.word(outcome),
        ratio=None if estimate is None else _exp(estimate),
        low=_exp(now.low),
        high=_exp(now.high),
        n=len(differences),
        confidence=1 - level,
        level=level,
        p=now.p,
        adjusted_p=min(1.0, comparisons * now.p),
        significant=significant,
        sd=stdev(differences) if len(differences) > 1 else None,
        margin=margin,
        method="e-process",
        needed=what_would_decide(differences, margin, level, seconds_per_unit=seconds_per_unit)
        if outcome is Outcome.UNDECIDED
        else None,
    )
