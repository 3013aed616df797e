"""Wilcoxon's signed-rank test turned inside out: Hodges-Lehmann estimate, interval and a p-value that always agrees.

Source: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd edition, sections 3.1-3.3. The statistic is
counted in Walsh averages (d_i + d_j) / 2, i <= j: the sum of positive ranks is the number of positive averages (Tukey).

Assumption: each difference is distributed symmetrically about the same centre. Coin-flip order within the blocks makes
it so under the null hypothesis, whatever the machine does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT = 50  # as in scipy: up to here the null distribution is counted out, beyond it is taken as normal


@dataclass(frozen=True)
class SignedRank:
    """What the signed-rank test says of one sample of differences.

    estimate: the Hodges-Lehmann estimate of the centre; None without differences.
    low, high: the interval of the centre; infinite where there are too few differences for the level.
    p: two-sided, of the hypothesis that the centre is 0; p <= alpha exactly if 0 is outside [low, high].
    n: number of differences.
    confidence: what the interval reaches: at least 1 - alpha, because the statistic is discrete.
    """

    estimate: float | None
    low: float
    high: float
    p: float
    n: int
    confidence: float


def walsh_averages(differences: Sequence[float]) -> NDArray[np.float64]:
    """All averages (d_i + d_j) / 2 with i <= j, in ascending order."""
    values = np.asarray(differences, dtype=np.float64)
    first, second = np.triu_indices(len(values))
    return np.sort((values[first] + values[second]) / 2)


def hodges_lehmann(differences: Sequence[float]) -> float:
    """The median of the Walsh averages.

    :raises ValueError: without differences.
    """
    if len(differences) == 0:
        raise ValueError("There is no estimate without differences; at least one valid pair is needed.")
    return float(np.median(walsh_averages(differences)))


@lru_cache(maxsize=LARGEST_EXACT + 1)
def _cumulative(n: int) -> NDArray[np.float64]:
    """P(T <= t), t = 0 .. n(n+1)/2, T the sum of the ranks that n fair coins choose; exact up to n = 50."""
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1
    for rank in range(1, n + 1):
        counts[rank:] += counts[:-rank].copy()
    return np.cumsum(counts) / 2.0**n


def lower_tail(n: int, statistic: int) -> float:
    """P(T <= statistic) under the null hypothesis; beyond n = 50 normal with continuity correction."""
    if statistic < 0:
        return 0.0
    if n <= LARGEST_EXACT:
        return float(_cumulative(n)[min(statistic, n * (n + 1) // 2)])
    mean = n * (n + 1) / 4
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return 0.5 * math.erfc(-(statistic + 0.5 - mean) / deviation / math.sqrt(2))


def critical_statistic(n: int, alpha: float) -> int:
    """The largest statistic that rejects at the two-sided level ``alpha``; -1 if none does."""
    low, high = -1, n * (n + 1) // 2
    while high - low > 1:
        middle = (low + high) // 2
        if 2 * lower_tail(n, middle) <= alpha:
            low = middle
        else:
            high = middle
    return low


def achieved_level(n: int, alpha: float) -> float:
    """The two-sided level that the test really has with n differences; at most ``alpha``, 0 if it can never reject."""
    return 2 * lower_tail(n, critical_statistic(n, alpha))


def fewest_differences(alpha: float) -> int:
    """The smallest n with which the test can reject at all: 2 / 2^n <= alpha, 6 at 5 %.

    :raises ValueError: if ``alpha`` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"The level is {alpha!r}, but it must lie between 0 and 1; 0.05 is usual.")
    n = 1
    while 2 / 2.0**n > alpha:
        n += 1
    return n


def signed_rank(differences: Sequence[float], alpha: float = 0.05) -> SignedRank:
    """Estimate, interval and p-value of the centre of symmetric differences.

    The interval holds every centre that the test does not reject: from the (k+1)-th smallest to the (k+1)-th largest
    Walsh average, k the critical statistic. Averages equal to the tested centre count for both sides: with ties and
    zeros this is conservative (a tie broken by symmetric noise could only lower the count), and test and interval
    agree in every case.

    :param alpha: two-sided level, for example 0.05.
    """
    n = len(differences)
    if n == 0:
        return SignedRank(None, -math.inf, math.inf, 1.0, 0, 1.0)
    averages = walsh_averages(differences)
    statistic = min(int(np.count_nonzero(averages <= 0)), int(np.count_nonzero(averages >= 0)))
    critical = critical_statistic(n, alpha)
    low, high = -math.inf, math.inf
    if critical >= 0:
        low, high = float(averages[critical]), float(averages[-1 - critical])
    return SignedRank(
        estimate=float(np.median(averages)),
        low=low,
        high=high,
        p=min(1.0, 2 * lower_tail(n, statistic)),
        n=n,
        confidence=1 - 2 * lower_tail(n, critical),
    )
