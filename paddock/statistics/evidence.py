"""The e-process: look after every block, stop when it is clear, and still be wrong at most 5 times in 100.

Assumption (H0): given the past and the size |d_i|, each block's log ratio d_i is positive or negative with equal
chances. Coin-flip order makes it so if the two contenders are the same, whatever drift, stalls and noise do.

Then for every number x the product over blocks of exp(x d_i - x^2 d_i^2 / 2) is a supermartingale that begins at 1:
given |d_i| its mean is cosh(x d_i) exp(-x^2 d_i^2 / 2) <= 1 (de la Peña, Annals of Probability 27, 1999). Averaged over
x ~ normal(0, rho^2), with S the sum of the d_i and V the sum of their squares:

    log E = -ln(1 + rho^2 V) / 2 + rho^2 S^2 / (2 (1 + rho^2 V))

E is a non-negative supermartingale too, so by Ville's inequality it ever reaches 1 / alpha with probability alpha at
most. rho^2 must be fixed before the first block. Blocks may be left out only by rules made before (the warm-up blocks):
a front cut that is found anew at every look changes the process and voids the guarantee.

Confidence sequence: if the d_i are symmetric about one centre c in the same sense (the effect on the log is the same in
every block), the d_i - c obey H0; the centres with E(c) < 1 / alpha hold the truth at all times with probability
1 - alpha. With n blocks, mean m, s^2 = V / n - m^2 and u = c - m:

    2 log E(c) = -ln(a + b u^2) + n b u^2 / (a + b u^2),    a = 1 + rho^2 n s^2,    b = rho^2 n

which rises in |u| and, far out, falls again (a distant centre makes every |d_i - c| huge, and huge noise proves
nothing). The near crossing gives an interval; it is only given if all centres beyond it, up to ratios of a thousand,
are rejected as well, and is infinite otherwise: the one thing believed beforehand is that no ratio exceeds a thousand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

RHO_SQUARED = 4.0
FARTHEST_RATIO = 1000.0


class Decision(Enum):
    """What the evidence allows to do after the latest block."""

    GO_ON = "go on"
    DIFFERENT = "different"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class Standing:
    """Where a comparison stands after the latest block; valid at every look.

    log_e: natural log of the present evidence against "the same".
    p: anytime-valid, 1 / the highest evidence so far, at most 1.
    low, high: confidence sequence of the log ratio, infinite while nothing can be said.
    decision: whether to stop, and why.
    """

    log_e: float
    p: float
    low: float
    high: float
    decision: Decision


def log_evidence(differences: Sequence[float], rho_squared: float = RHO_SQUARED) -> NDArray[np.float64]:
    """Give log E after each block, against the hypothesis that contender and baseline are the same."""
    values = np.asarray(differences, dtype=np.float64)
    total = np.cumsum(values)
    spread = 1 + rho_squared * np.cumsum(values**2)
    return -np.log(spread) / 2 + rho_squared * total**2 / (2 * spread)


def threshold(comparisons: int, alpha: float = 0.05) -> float:
    """The evidence E at which a comparison is decided: 20 for one at 5 %, comparisons / alpha for several (Bonferroni).

    :param comparisons: contenders without the baseline.
    """
    return comparisons / alpha


def confidence_sequence(
    differences: Sequence[float], alpha: float = 0.05, rho_squared: float = RHO_SQUARED
) -> tuple[float, float]:
    """The interval of the log ratio after the latest block; covers at all looks together with 1 - alpha."""
    n = len(differences)
    if n == 0:
        return -math.inf, math.inf
    values = np.asarray(differences, dtype=np.float64)
    mean = float(values.mean())
    spread = 1 + rho_squared * float(((values - mean) ** 2).sum())
    slope = rho_squared * n
    needed = 2 * math.log(1 / alpha)

    def excess(logarithm: float) -> float:
        # logarithm = ln(a / (a + b u^2)), from 0 at the mean down to -infinity far out
        return -math.log(spread) + logarithm - n * math.expm1(logarithm) - needed

    farthest = math.log(FARTHEST_RATIO) + abs(mean)
    near, far = 0.0, -math.log(n)  # the mean, and the centre that is rejected most
    if excess(far) < 0 or excess(-math.log1p(slope * farthest**2 / spread)) < 0:
        return -math.inf, math.inf
    for _ in range(200):
        middle = (near + far) / 2
        if middle in (near, far):
            break
        if excess(middle) < 0:
            near = middle
        else:
            far = middle
    reach = math.sqrt(spread / slope * math.expm1(-far))
    return mean - reach, mean + reach


def standing(
    differences: Sequence[float],
    comparisons: int = 1,
    margin: float = 0.03,
    alpha: float = 0.05,
    rho_squared: float = RHO_SQUARED,
) -> Standing:
    """Where a comparison stands, to be asked after every block.

    "Different" as soon as the evidence has ever reached its threshold; "equivalent" when the confidence sequence lies
    within the margin (wrong with probability alpha / comparisons at most, since the sequence covers at all times).
    Giving up for lack of time is always allowed: it claims nothing.

    :param differences: log ratios of all blocks since the warm-up, in their order.
    :param comparisons: contenders without the baseline, counted when the tournament began.
    :param margin: equivalence margin, for example 0.03 for 1/1.03 to 1.03.
    """
    history = log_evidence(differences, rho_squared)
    highest = float(history.max()) if len(history) else 0.0
    low, high = confidence_sequence(differences, alpha / comparisons, rho_squared)
    decision = Decision.GO_ON
    if highest >= math.log(threshold(comparisons, alpha)):
        decision = Decision.DIFFERENT
    if -math.log1p(margin) <= low and high <= math.log1p(margin):
        decision = Decision.EQUIVALENT
    return Standing(
        log_e=float(history[-1]) if len(history) else 0.0,
        p=min(1.0, math.exp(-highest)),
        low=low,
        high=high,
        decision=decision,
    )
