"""The differences that are judged: one per block, or one per start of the node; and what a claim is about.

A launch of the node has its own memory layout, its own compiled code and its own luck; laps inside it share them. For
contenders that differ in the node itself the laps inside a start are therefore no replications at all, and for those
compared inside one start the claim is about that JVM, until it was repeated over enough of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from paddock.statistics.signed_rank import fewest_differences, hodges_lehmann


def natural_log(value: float) -> float:
    """The log of a figure of a lap.

    :raises ValueError: for figures that no valid lap has: zero, negative, infinite or not a number.
    """
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"A lap's figure is {value!r}, but only positive numbers have ratios; make it void (None).")
    return math.log(value)


def pair(contender: Sequence[float | None], baseline: Sequence[float | None]) -> tuple[float, ...]:
    """Pair two contenders block by block: ln(contender / baseline) of every block in which both laps are valid.

    The difference of logs (not the log of the ratio) is used because it is exactly antisymmetric: exchanging contender
    and baseline changes the signs and nothing else.

    :param contender: one positive figure per block, in the metric's unit; None for a void lap.
    :param baseline: the same blocks' figures of the baseline.
    :raises ValueError: if the lengths differ or a figure is not positive and finite.
    """
    if len(contender) != len(baseline):
        raise ValueError(
            f"The contender has {len(contender)} blocks and the baseline {len(baseline)}; "
            "give one figure or None for every block of both."
        )
    return tuple(
        natural_log(ours) - natural_log(theirs)
        for ours, theirs in zip(contender, baseline, strict=True)
        if ours is not None and theirs is not None
    )


Laps: TypeAlias = Mapping[str, Sequence[float | None]]  # contender -> a figure for each of its laps, None for void ones
FEWEST_STARTS = 5  # below, a claim is about the JVMs that ran


class Scope(Enum):
    """What a claim is about."""

    THIS_JVM = "for this JVM"
    THESE_JVMS = "for these JVMs"
    CONFIGURATION = "for the configuration"


@dataclass(frozen=True)
class Units:
    """The differences that the test is given, and how far its claim reaches.

    :param differences: log ratios contender / baseline, one per unit, in their order.
    :param unit: "block" or "start".
    :param caveat: a sentence for the report, or None.
    """

    differences: tuple[float, ...]
    unit: str
    scope: Scope
    caveat: str | None


def start_value(laps: Sequence[float | None]) -> float | None:
    """One figure for one start: exp of the Hodges-Lehmann estimate of its valid laps' logs; None if all are void.

    :raises ValueError: if a figure is not positive and finite.
    """
    logs = [natural_log(lap) for lap in laps if lap is not None]
    return math.exp(hodges_lehmann(logs)) if logs else None


def node_level(start_blocks: Sequence[Laps], contender: str, baseline: str) -> Units:
    """Pair contenders that need a start of their own.

    :param start_blocks: per start-block and contender the figures of the laps of its start, None for void laps. A
        contender may be missing from a start-block: then its start is void.
    :raises ValueError: if a figure is not positive and finite.
    """
    differences = pair(
        [start_value(block.get(contender, ())) for block in start_blocks],
        [start_value(block.get(baseline, ())) for block in start_blocks],
    )
    starts = len(differences)
    if starts >= FEWEST_STARTS:
        return Units(differences, "start", Scope.CONFIGURATION, None)
    have = f"{starts} start{'' if starts == 1 else 's'}"
    caveat = f"Only {have} of each: a claim about the configuration needs at least {FEWEST_STARTS}."
    return Units(differences, "start", Scope.THESE_JVMS, caveat)


def start_level(starts: Sequence[Laps], contender: str, baseline: str, needed: int = FEWEST_STARTS) -> Units:
    """Pair contenders that share a node, start by start: the Hodges-Lehmann estimate of each start's block log ratios.

    :param starts: as for :func:`index_level`.
    :param needed: starts that a claim about the configuration takes.
    :raises ValueError: if a figure is not positive and finite, or blocks do not match.
    """
    paired = [pair(start[contender], start[baseline]) for start in starts]
    estimates = tuple(hodges_lehmann(differences) for differences in paired if differences)
    few = len(estimates) < needed
    caveat = f"Only {len(estimates)} starts: a claim about the configuration needs {needed}." if few else None
    scope = (Scope.THIS_JVM if len(estimates) <= 1 else Scope.THESE_JVMS) if few else Scope.CONFIGURATION
    return Units(estimates, "start", scope, caveat)


@dataclass(frozen=True)
class Spread:
    """How much log ratios vary, as standard deviations.

    :param block: from block to block of one start; None without two blocks in a start.
    :param start: from start to start, beyond what the blocks in each make of it; None without two starts, or without
        ``block``. 0 where the blocks explain all of it.
    """

    block: float | None
    start: float | None


def spread(starts: Sequence[Laps], contender: str, baseline: str) -> Spread:
    """The components of the variance of a contender's log ratios.

    By the one-way analysis of variance with groups of unequal size: Searle, Casella and McCulloch, Variance Components,
    1992, section 3.6; a negative estimate is taken for 0.

    :param starts: as for :func:`index_level`.
    :raises ValueError: if a figure is not positive and finite, or blocks do not match.
    """
    groups = [found for start in starts if (found := pair(start[contender], start[baseline]))]
    number = sum(map(len, groups))
    if number <= len(groups):
        return Spread(None, None)
    means = [math.fsum(group) / len(group) for group in groups]
    within = math.fsum((one - mean) ** 2 for group, mean in zip(groups, means, strict=True) for one in group)
    within /= number - len(groups)
    if len(groups) < 2:
        return Spread(math.sqrt(within), None)
    mean = math.fsum(one for group in groups for one in group) / number
    between = math.fsum(len(group) * (own - mean) ** 2 for group, own in zip(groups, means, strict=True))
    between /= len(groups) - 1
    size = (number - sum(len(group) ** 2 for group in groups) / number) / (len(groups) - 1)
    return Spread(math.sqrt(within), math.sqrt(max(0.0, (between - within) / size)))


def index_level(starts: Sequence[Laps], contender: str, baseline: str, alpha: float = 0.05) -> Units:
    """Pair contenders that share a node: blocks, or starts where there are enough of them.

    With enough starts each one counts once, with the Hodges-Lehmann estimate of its block log ratios. Enough is five,
    and as many as the test needs to be able to decide at its level (six at 5 %). With fewer all blocks are pooled, and
    the claim is about the JVMs that ran, because an effect that differs from start to start is not averaged.

    :param starts: per start and contender one figure per block, None for void laps, warm-up left out.
    :param alpha: the level of the verdict: the family-wise level divided by the number of contenders.
    :raises ValueError: if a figure is not positive and finite, or blocks do not match.
    """
    paired = [pair(start[contender], start[baseline]) for start in starts]
    valid = [differences for differences in paired if differences]
    enough = max(FEWEST_STARTS, fewest_differences(alpha))
    if len(valid) >= enough:
        return start_level(starts, contender, baseline, enough)
    pooled = tuple(difference for differences in valid for difference in differences)
    if len(valid) <= 1:
        scope, caveat = Scope.THIS_JVM, f"One start: a claim about the configuration needs {enough}."
    else:
        scope = Scope.THESE_JVMS
        caveat = f"Blocks of {len(valid)} starts pooled: a claim about the configuration needs {enough} starts."
    return Units(pooled, "block", scope, caveat)
