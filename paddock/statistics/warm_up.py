"""MSER: how many observations at the front belong to the warm-up.

Source: K. P. White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69 (1997).
The cut d minimises the squared standard error of what is left: sum over i > d of (x_i - mean)^2 / (n - d)^2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paddock.statistics.blocks import natural_log

LEAST_GAIN = 0.5  # of the squared standard error, to make a cut on blocks


@dataclass(frozen=True)
class FrontCut:
    """Blocks to cut at the front.

    blocks: how many, for all contenders together.
    at_limit: the cut is the largest that was allowed, so the warm-up may not have ended even there.
    """

    blocks: int
    at_limit: bool


def squared_errors(series: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The squared standard error that each cut 0, 1, 2 ... leaves; always two observations or more are left."""
    values = np.asarray(series, dtype=np.float64)
    values = values - values.mean() if len(values) else values  # keeps the differences below from losing digits
    count = np.arange(len(values), 1, -1)
    total = np.cumsum(values[::-1])[::-1][:-1]
    squares = np.cumsum(values[::-1] ** 2)[::-1][:-1]
    # Rounding must not make a cut where all values are equal.
    return np.maximum((squares - total**2 / count) / count**2, 1e-18)


def mser(series: Sequence[float] | NDArray[np.float64], most: int) -> int:
    """The number of observations, at most ``most``, that MSER cuts at the front; the fewest among equals."""
    errors = squared_errors(series)[: max(0, most) + 1]
    return int(np.argmin(errors)) if len(errors) else 0


def front_cut(figures: Mapping[str, Sequence[float | None]], keep: int = 8) -> FrontCut:
    """The blocks that MSER cuts on the block means of the laps' logs: at most half, and at least ``keep`` are left.

    A block's mean does not change when the labels of its laps are exchanged. So, given the cut, contender and baseline
    are still in coin-flip order, and the signed-rank test after the cut is as exact as without it. (Cutting every
    contender by itself, or choosing single blocks by their ratios, would not be.)

    MSER's smallest error is often somewhere in the middle by mere chance, which would cost 3 of 20 blocks of a series
    without any warm-up. So a cut is only made if it at least halves the squared standard error; a real warm-up does.

    :param figures: per contender one positive figure per block, None for void laps; the baseline included.
    :param keep: what the analysis needs: 6 pairs can decide about one contender at 5 %, 8 about four.
    :raises ValueError: if a figure is not positive and finite, or the numbers of blocks differ.
    """
    rows = list(figures.values())
    if len({len(row) for row in rows}) > 1:
        raise ValueError("The contenders have different numbers of blocks; give one figure or None for every block.")
    blocks = len(rows[0]) if rows else 0
    means = np.full(blocks, np.nan)
    for block in range(blocks):
        logs = [natural_log(lap) for row in rows if (lap := row[block]) is not None]
        if logs:
            means[block] = np.mean(logs)
    valid = np.flatnonzero(~np.isnan(means))
    most = min(len(valid) // 2, len(valid) - keep)
    cut = mser(means[valid], most)
    if cut:
        errors = squared_errors(means[valid])
        cut = cut if errors[cut] <= (1 - LEAST_GAIN) * errors[0] else 0
    blocks_cut = int(valid[cut]) if cut else 0
    return FrontCut(blocks_cut, at_limit=cut > 0 and cut == most)
