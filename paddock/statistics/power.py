"""How many blocks a difference needs, and which difference a number of blocks can resolve.

The normal approximation of the one-sample test, n = ((z_alpha + z_power) sd / effect)^2, with two corrections:
+ z_alpha^2 / 2 for the unknown standard deviation (Guenther, The American Statistician 35, 1981), and the signed-rank
test's asymptotic relative efficiency 3 / pi for normal differences (Lehmann, Nonparametrics, 1975). z_alpha belongs to
the level that the discrete test really has. Heavier tails than the normal's need fewer blocks than is said here.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from paddock.statistics.signed_rank import LARGEST_EXACT, achieved_level, fewest_differences

EFFICIENCY = 3 / math.pi


def _upper_quantile(probability: float) -> float:
    """The z with P(Z > z) = ``probability`` for a standard normal Z."""
    return -NormalDist().inv_cdf(probability)


def _check(sd: float, power: float) -> None:
    if not (sd >= 0 and math.isfinite(sd)):
        raise ValueError(f"The standard deviation is {sd!r}, but it must be a number of at least 0.")
    if not 0 < power < 1:
        raise ValueError(f"The power is {power!r}, but it must lie between 0 and 1; 0.8 is usual.")


def _blocks(distance: float, sd: float, z_power: float, alpha: float) -> int:
    """The smallest n whose power suffices to tell a centre from another one at ``distance`` (in logs)."""
    # The log of a ratio like 1.000000001 loses half its digits; nobody needs more blocks than this anyway.
    noise = (sd / max(distance, 1e-9)) ** 2

    def enough(n: int) -> bool:
        z_alpha = _upper_quantile(achieved_level(n, alpha) / 2)
        return ((z_alpha + z_power) ** 2 * noise + z_alpha**2 / 2) / EFFICIENCY <= n

    for n in range(fewest_differences(alpha), LARGEST_EXACT + 1):
        if enough(n):
            return n
    z_alpha = _upper_quantile(alpha / 2)
    needed = math.ceil(((z_alpha + z_power) ** 2 * noise + z_alpha**2 / 2) / EFFICIENCY)
    return max(needed, LARGEST_EXACT + 1, fewest_differences(alpha))


def blocks_for_difference(ratio: float, sd: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Blocks with which a true ``ratio`` is found with probability ``power``.

    :param ratio: contender / baseline, for example 1.05 or 0.95; not 1.
    :param sd: standard deviation of the block log ratios; for independent laps sqrt(2) times that of the laps' logs.
    :param alpha: two-sided level of the verdict (divided by the number of contenders for a cautious plan).
    :raises ValueError: if an argument is out of its range.
    """
    _check(sd, power)
    if not (ratio > 0 and math.isfinite(ratio)) or ratio == 1:
        raise ValueError(f"The ratio is {ratio!r}, but it must be positive and different from 1.")
    return _blocks(abs(math.log(ratio)), sd, _upper_quantile(1 - power), alpha)


def blocks_for_equivalence(
    margin: float, sd: float, ratio: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Blocks with which the interval lies within the margin with probability ``power``, if the truth is ``ratio``.

    With a true ratio of 1 the estimate may err to both sides; nearer to one edge only that edge matters. The larger of
    the two numbers is given.

    :param margin: for example 0.03 for 1/1.03 to 1.03.
    :raises ValueError: if an argument is out of its range or ``ratio`` is not within the margin.
    """
    _check(sd, power)
    edge = math.log1p(margin)
    distance = edge - abs(math.log(ratio))
    if not distance > 0:
        raise ValueError(f"A ratio of {ratio:.4g} is not within {margin:.3g} of 1, so no number of blocks shows it.")
    both_edges = _blocks(edge, sd, _upper_quantile((1 - power) / 2), alpha)
    return max(both_edges, _blocks(distance, sd, _upper_quantile(1 - power), alpha))


def smallest_difference(blocks: int, sd: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest ratio above 1 that ``blocks`` blocks find with probability ``power``; infinite with too few blocks.

    The inverse of ``blocks_for_difference``. 1.05 means: plus 5 %, or down to 1 / 1.05.

    :raises ValueError: if an argument is out of its range.
    """
    _check(sd, power)
    level = achieved_level(blocks, alpha) if blocks <= LARGEST_EXACT else alpha
    if level <= 0:
        return math.inf
    z_alpha = _upper_quantile(level / 2)
    room = blocks * EFFICIENCY - z_alpha**2 / 2
    if room <= 0:
        return math.inf
    exponent = sd * (z_alpha + _upper_quantile(1 - power)) / math.sqrt(room)
    return math.exp(exponent) if exponent < 700 else math.inf
