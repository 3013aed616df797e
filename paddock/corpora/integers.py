"""Randomness and Zipf weights in integers alone, so that every machine builds the same tables from a recipe.

Nothing here uses floating point: the last bit of ``pow`` or ``log`` differs between C libraries, and one bit
of difference in a table is a different corpus.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

Item = TypeVar("Item")

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)

_WEIGHT_BITS = 40
_STEPS_PER_UNIT = 4


def mix(value: int) -> int:
    """The finalizer of SplitMix64: 64 bits in, 64 well mixed bits out."""
    value &= MASK
    value = ((value ^ (value >> 30)) * MULTIPLIERS[0]) & MASK
    value = ((value ^ (value >> 27)) * MULTIPLIERS[1]) & MASK
    return value ^ (value >> 31)


class Draws:
    """A stream of random integers named by a text; equal names give equal streams.

    Tables are built with one stream per purpose, so that a change to one part of a recipe leaves the others alone.
    """

    def __init__(self, name: str):
        self._state = int.from_bytes(hashlib.sha256(name.encode("utf-8")).digest()[:8], "big")

    def below(self, limit: int) -> int:
        """An integer from 0 to ``limit`` - 1."""
        self._state = (self._state + GOLDEN) & MASK
        return (mix(self._state) * limit) >> 64

    def between(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def one_of(self, items: Sequence[Item]) -> Item:
        """One item, all equally likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in random order (Fisher-Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def apportioned(self, weights: Sequence[int], count: int) -> list[int]:
        """``count`` positions in random order, each as often as its weight says (systematic sampling)."""
        total = sum(weights)
        offset = self.below(total)
        bounds = list(accumulate(weights))
        chosen, position = [], 0
        for number in range(count):
            target = (number * total + offset) // count
            while bounds[position] <= target:
                position += 1
            chosen.append(position)
        return self.shuffled(chosen)


def zipf_weights(count: int, exponent: float) -> list[int]:
    """The weights floor(2^40 / rank^exponent) of the ranks 1 to ``count``, exact.

    :param exponent: a multiple of 0.25; quarters make the power two integer square roots.
    :raises ValueError: for any other exponent.
    """
    steps = round(exponent * _STEPS_PER_UNIT)
    if steps != exponent * _STEPS_PER_UNIT or steps < 0:
        raise ValueError(f"the exponent {exponent} is no multiple of 0.25")
    scale = 1 << (_WEIGHT_BITS * _STEPS_PER_UNIT)
    return [max(1, math.isqrt(math.isqrt(scale // rank**steps))) for rank in range(1, count + 1)]


def shares(parts: Sequence[tuple[int, Sequence[int]]]) -> list[int]:
    """The weights of several groups in one list, each group scaled so that its sum is in proportion to its share.

    :param parts: pairs of a share and the weights within the group.
    """
    result = []
    for share, weights in parts:
        total = sum(weights)
        result += [max(1, (weight * share << _WEIGHT_BITS) // total) for weight in weights]
    return result
