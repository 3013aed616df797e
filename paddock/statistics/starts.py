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

from paddock.statistics.signed_rank import fewest_differences, hodges_lehmann


@dataclass(frozen=True)
class Pairs:
    """The paired log ratios of one contender to the baseline, in the order of the blocks.

    differences: ln(contender / baseline) of every block in which both laps are valid.
    kept: the indices of these blocks, counted from 0.
    dropped: the indices of the blocks in which one lap or both are void.
    """

    differences: tuple[float, ...]
    kept: tuple[int, ...]
    dropped: tuple[int, ...]


def natural_log(value: float) -> float:
    """The log of a figure of a lap.

    :raises ValueError: for figures that no valid lap has: zero, negative, infinite or not a number.
    """
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"A lap's figure is {value!r}, but only positive numbers have ratios; make it void (None).")
    return math.log(value)


def pair(contender: Sequence[float | None], baseline: Sequence[float | None]) -> Pairs:
    """Pair two contenders block by block.

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
    differences, kept, dropped = [], [], []
    for block, (ours, theirs) in enumerate(zip(contender, baseline, strict=True)):
        if ours is None or theirs is None:
            dropped.append(block)
        else:
            differences.append(natural_log(ours) - natural_log(theirs))
            kept.append(block)
    return Pairs(tuple(differences), tuple(kept), tuple(dropped))


FEWEST_STARTS = 5  # below, a claim is about the JVMs that ran


class Scope(Enum):
    """What a claim is about."""

    THIS_JVM = "for this JVM"
    THESE_JVMS = "for these JVMs"
    CONFIGURATION = "for the configuration"


@dataclass(frozen=True)
class Units:
    """The differences that the test is given, and how far its claim reaches.

    differences: log ratios contender / baseline, one per unit, in their order.
    unit: "block" or "start".
    scope: what the claim is about.
    starts: number of starts (node level: start-blocks) that contribute.
    dropped: pairs that were left out because a lap was void (unit "start": because a whole start was void).
    caveat: a sentence for the report, or None.
    """

    differences: tuple[float, ...]
    unit: str
    scope: Scope
    starts: int
    dropped: int
    caveat: str | None


def start_value(laps: Sequence[float | None]) -> float | None:
    """One figure for one start: exp of the Hodges-Lehmann estimate of its valid laps' logs; None if all are void.

    :raises ValueError: if a figure is not positive and finite.
    """
    logs = [natural_log(lap) for lap in laps if lap is not None]
    return math.exp(hodges_lehmann(logs)) if logs else None


def node_level(start_blocks: Sequence[Mapping[str, Sequence[float | None]]], contender: str, baseline: str) -> Units:
    """Pair contenders that need a start of their own.

    :param start_blocks: per start-block and contender the figures of the laps of its start, None for void laps. A
        contender may be missing from a start-block: then its start is void.
    :raises ValueError: if a figure is not positive and finite.
    """
    pairs = pair(
        [start_value(block.get(contender, ())) for block in start_blocks],
        [start_value(block.get(baseline, ())) for block in start_blocks],
    )
    starts = len(pairs.differences)
    caveat = None
    if starts < FEWEST_STARTS:
        have = f"{starts} start{'' if starts == 1 else 's'}"
        caveat = f"Only {have} of each: a claim about the configuration needs at least {FEWEST_STARTS}."
    scope = Scope.CONFIGURATION if caveat is None else Scope.THESE_JVMS
    return Units(pairs.differences, "start", scope, starts, len(pairs.dropped), caveat)


def start_level(
    starts: Sequence[Mapping[str, Sequence[float | None]]], contender: str, baseline: str, needed: int = FEWEST_STARTS
) -> Units:
    """Pair contenders that share a node, start by start: the Hodges-Lehmann estimate of each start's block log ratios.

    :param starts: as for :func:`index_level`.
    :param needed: starts that a claim about the configuration takes.
    :raises ValueError: if a figure is not positive and finite, or blocks do not match.
    """
    paired = [pair(start[contender], start[baseline]) for start in starts]
    estimates = tuple(hodges_lehmann(pairs.differences) for pairs in paired if pairs.differences)
    few = len(estimates) < needed
    caveat = f"Only {len(estimates)} starts: a claim about the configuration needs {needed}." if few else None
    scope = (Scope.THIS_JVM if len(estimates) <= 1 else Scope.THESE_JVMS) if few else Scope.CONFIGURATION
    return Units(estimates, "start", scope, len(estimates), sum(len(pairs.dropped) for pairs in paired), caveat)


def index_level(
    starts: Sequence[Mapping[str, Sequence[float | None]]], contender: str, baseline: str, alpha: float = 0.05
) -> Units:
    """Pair contenders that share a node: blocks, or starts where there are enough of them.

    With enough starts each one counts once, with the Hodges-Lehmann estimate of its block log ratios. Enough is five,
    and as many as the test needs to be able to decide at its level (six at 5 %). With fewer all blocks are pooled, and
    the claim is about the JVMs that ran, because an effect that differs from start to start is not averaged.

    :param starts: per start and contender one figure per block, None for void laps, warm-up left out.
    :param alpha: the level of the verdict: the family-wise level divided by the number of contenders.
    :raises ValueError: if a figure is not positive and finite, or blocks do not match.
    """
    paired = [pair(start[contender], start[baseline]) for start in starts]
    dropped = sum(len(pairs.dropped) for pairs in paired)
    valid = [pairs.differences for pairs in paired if pairs.differences]
    enough = max(FEWEST_STARTS, fewest_differences(alpha))
    if len(valid) >= enough:
        return start_level(starts, contender, baseline, enough)
    pooled = tuple(difference for differences in valid for difference in differences)
    if len(valid) <= 1:
        scope, caveat = Scope.THIS_JVM, f"One start: a claim about the configuration needs {enough}."
    else:
        scope = Scope.THESE_JVMS
        caveat = f"Blocks of {len(valid)} starts pooled: a claim about the configuration needs {enough} starts."
    return Units(pooled, "block", scope, len(valid), dropped, caveat)
