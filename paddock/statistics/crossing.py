"""Two ways to do the same, at several sizes of the data: from which size on one of them surely is the faster."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Median:
    """A median and an interval that holds it, whatever the figures' distribution is.

    :param confidence: with which it does, 0 to 1: below CONFIDENCE where there are fewer than six figures.
    """

    value: float
    low: float
    high: float
    confidence: float


def median_of(figures: Sequence[float], confidence: float = CONFIDENCE) -> Median:
    """The median of independent figures, at least one, between two of them: the narrowest such interval.

    The true median lies below the k-th smallest of n, or above the k-th largest, with the chance of fewer than k heads
    in n throws of a coin each.
    """
    ordered, n = sorted(figures), len(figures)
    left_out, beyond = 1, 0.5**n
    while left_out < (n + 1) // 2:
        more = beyond + math.comb(n, left_out) * 0.5**n
        if 1 - 2 * more < confidence:
            break
        left_out, beyond = left_out + 1, more
    return Median(statistics.median(ordered), ordered[left_out - 1], ordered[-left_out], 1 - 2 * beyond)


@dataclass(frozen=True)
class Compared:
    """Both ways at one size.

    :param size: of the data, above 0.
    :param first: how long the one takes that is to win; ``second`` the other.
    """

    size: float
    first: Median
    second: Median

    @property
    def ratio(self) -> float:
        """How many times as long the second one takes."""
        return self.second.value / self.first.value

    @property
    def interval(self) -> tuple[float, float]:
        """What that ratio is at least and at most if both medians are within their intervals."""
        return self.second.low / self.first.high, self.second.high / self.first.low

    @property
    def is_known(self) -> bool:
        """Whether there are figures enough for intervals with that confidence: six of each."""
        return min(self.first.confidence, self.second.confidence) >= CONFIDENCE

    @property
    def sign(self) -> int:
        """1 if the first one surely is the faster, -1 if the second one, 0 if nothing is sure."""
        if not self.is_known:
            return 0
        low, high = self.interval
        return 1 if low > 1 else -1 if high < 1 else 0


@dataclass(frozen=True)
class Crossing:
    """From which size on the first one wins.

    :param low: the largest size at which it surely does not; None if there is none among those measured.
    :param high: the smallest size from which on it surely does at every size measured; None if there is none.
    :param estimate: where the medians cross; None where they do not between the sizes measured.
    """

    low: float | None
    high: float | None
    estimate: float | None


def crossing(compared: Sequence[Compared]) -> Crossing:
    """Where the first one begins to win.

    :param compared: by size, ascending; at least one.
    """
    winning = len(compared)
    while winning and compared[winning - 1].sign > 0:
        winning -= 1
    losing = [one.size for one in compared[:winning] if one.sign < 0]
    high = compared[winning].size if winning < len(compared) else None
    return Crossing(max(losing, default=None), high, _estimate(compared))


def _estimate(compared: Sequence[Compared]) -> float | None:
    """Where the line between the logarithms of the last two sizes that differ in who is faster meets a ratio of 1."""
    for before, after in zip(reversed(compared[:-1]), reversed(compared[1:]), strict=True):
        if before.ratio <= 1 < after.ratio:
            below, above = math.log(before.ratio), math.log(after.ratio)
            share = -below / (above - below)
            return before.size * (after.size / before.size) ** share
    return None
