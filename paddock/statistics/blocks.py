"""From one figure per lap to one log ratio per block: the pairing that removes whatever a block has in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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
