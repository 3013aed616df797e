"""Curves through a grid's means: a logarithm through one line of it, and the knee, beyond which more brings little."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Logarithm:
    """y = offset + slope * ln(x), by least squares.

    :param explained: share of the variance of y that it explains, 0 to 1 (R squared); 1 where y does not vary.
    :param points: that it was fitted to.
    """

    offset: float
    slope: float
    explained: float
    points: int

    def at(self, x: float) -> float:
        """Its value there."""
        return self.offset + self.slope * math.log(x)


def fit_logarithm(points: Sequence[tuple[float, float]]) -> Logarithm | None:
    """The logarithm through points (x, y); None for fewer than three different x above 0.

    Two points are met by any curve, so that a fit to them would explain everything and say nothing.
    """
    known = [(math.log(x), y) for x, y in points if x > 0 and math.isfinite(x) and math.isfinite(y)]
    if len({x for x, _ in known}) < 3:
        return None
    count = len(known)
    middle_x, middle_y = (sum(point[place] for point in known) / count for place in (0, 1))
    spread_x = sum((x - middle_x) ** 2 for x, _ in known)
    spread_y = sum((y - middle_y) ** 2 for _, y in known)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in known) / spread_x
    left = sum((y - middle_y - slope * (x - middle_x)) ** 2 for x, y in known)
    explained = max(0.0, 1 - left / spread_y) if spread_y > 0 else 1.0
    return Logarithm(middle_y - slope * middle_x, slope, explained, count)


@dataclass(frozen=True)
class Knee:
    """Cells of a grid that reach nearly the best with least.

    :param best: the cell with the highest value, and ``highest`` that value.
    :param near: the cells (x, y) within the share of it of which no other takes less of one and no more of the other;
        by x.
    """

    best: tuple[float, float]
    highest: float
    near: tuple[tuple[float, float], ...]


def find_knee(cells: Mapping[tuple[float, float], float], within: float = 0.05) -> Knee | None:
    """The knee of a grid of values by two numbers; None without a positive value.

    :param within: how far below the best a value may be, as a share of it.
    """
    known = {cell: value for cell, value in cells.items() if math.isfinite(value)}
    best = max(known, key=lambda cell: known[cell], default=None)
    if best is None or known[best] <= 0:
        return None
    enough = [cell for cell, value in known.items() if value >= (1 - within) * known[best]]
    least = [
        cell
        for cell in enough
        if not any(other != cell and other[0] <= cell[0] and other[1] <= cell[1] for other in enough)
    ]
    return Knee(best, known[best], tuple(sorted(least)))
