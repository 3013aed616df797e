"""Distributions of document sizes, as exact integer weights of every number of bytes.

A size is a number drawn from a continuous distribution and rounded to the nearest byte, so the weight of s is the
distribution's probability between s - 1/2 and s + 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

_BITS = 128  # of the fixed-point numbers below


def size_weights(settings: dict[str, Any]) -> dict[int, int]:
    """The weight of every size in bytes that a recipe's section `size` allows.

    :raises ValueError: if a range is none, or quantiles fall.
    """
    ((kind, value),) = settings.items()
    if kind == "fixed":
        return {value: 1}
    if kind in ("uniform", "quantiles"):
        return quantile_weights(value)
    return exponential_weights(value["from"], value["to"], value["decay"])


def quantile_weights(points: Sequence[int]) -> dict[int, int]:
    """A distribution with these quantiles, equally far apart in probability and linear in between.

    Two points are a uniform distribution, equal neighbours a size of its own.

    :param points: from the least to the largest, in bytes.
    :raises ValueError: if they fall, or are all the same.
    """
    if list(points) != sorted(points) or points[0] == points[-1]:
        raise ValueError("the sizes are no range: they have to rise from the smallest to the largest")
    weights: dict[int, int] = {}
    for low, high in pairwise(points):
        whole = (1 << _BITS) // max(1, high - low)
        for size in range(low, high + 1):
            share = whole if low < size < high or low == high else whole // 2
            weights[size] = weights.get(size, 0) + share
    return weights


def exponential_weights(low: int, high: int, decay: int) -> dict[int, int]:
    """An exponential distribution on the range, cut off at its end.

    :param low: the most frequent size, in bytes.
    :param high: the largest one.
    :param decay: the density falls to 1 / e^decay on the way from ``low`` to ``high``.
    :raises ValueError: if the range is none.
    """
    if low >= high:
        raise ValueError("the sizes are no range: they have to rise from the smallest to the largest")
    half_bytes = 2 * (high - low)
    step = _exponential_of_minus(decay, half_bytes)
    beyond = [1 << _BITS]  # the share of sizes above so many half bytes, but for a factor
    for _ in range(half_bytes):
        beyond.append(beyond[-1] * step >> _BITS)
    bounds = [0, *range(1, half_bytes, 2), half_bytes]
    return {low + place: beyond[bounds[place]] - beyond[bounds[place + 1]] for place in range(high - low + 1)}


def _exponential_of_minus(numerator: int, denominator: int) -> int:
    """e^(-numerator / denominator) in fixed point, by its power series; for a fraction below 1."""
    total, term, count = 0, 1 << _BITS, 0
    while term:
        total += term if count % 2 == 0 else -term
        count += 1
        term = term * numerator // (denominator * count)
    return total
