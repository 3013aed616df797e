"""Holm's step-down procedure: several contenders, one error rate for all of them together.

Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class HolmStep:
    """What Holm's procedure says of one hypothesis.

    adjusted_p: the smallest family-wise level at which this hypothesis is rejected.
    level: the level at which an interval for this hypothesis agrees with the procedure's decision.
    rejected: whether it is rejected at the family-wise level.
    """

    adjusted_p: float
    level: float
    rejected: bool


def holm(p_values: Sequence[float], alpha: float = 0.05, family: int | None = None) -> tuple[HolmStep, ...]:
    """Decide over all hypotheses such that the chance of any false rejection is at most ``alpha``.

    The j-th smallest p-value is compared with alpha / (k - j + 1), until one is larger. A rejected hypothesis keeps the
    level of its step; those that are not rejected share the level of the step at which the procedure ended. So an
    interval at that level excludes the null hypothesis exactly if the procedure rejects it. The guarantee is on the
    rejections: the intervals do not cover *all at once* with probability 1 - alpha where several are rejected.

    :param p_values: one per hypothesis, in any order and with any dependence; the answer keeps their order.
    :param family: number of hypotheses that share ``alpha``, if larger than the number of ``p_values``: those decided
        elsewhere count as not rejected here, which is conservative.
    :raises ValueError: if ``family`` is smaller than the number of p-values.
    """
    k = len(p_values) if family is None else family
    if k < len(p_values):
        raise ValueError(f"A family of {k} cannot hold {len(p_values)} p-values; leave it out or count all contenders.")
    steps: list[HolmStep | None] = [None] * len(p_values)
    adjusted, level, rejecting = 0.0, alpha, True
    for position, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        p = p_values[index]
        adjusted = max(adjusted, min(1.0, (k - position) * p))
        if rejecting:
            level = alpha / (k - position)
            rejecting = p <= level
        steps[index] = HolmStep(adjusted, level, rejecting)
    return tuple(step for step in steps if step is not None)
