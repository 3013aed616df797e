"""Randomness in integers alone, and the texts that are drawn with it, so that every machine builds the same tables.

Nothing here uses floating point: the last bit of ``pow`` or ``log`` differs between C libraries, and one bit
of difference in a table is a different corpus.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TypeVar

Item = TypeVar("Item")

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)

_WEIGHT_BITS = 40
_STEPS_PER_UNIT = 4
_TRIES = 200  # for each of several different texts

# Private, documentation, benchmarking and reserved blocks.
_RESERVED = "240.0.0.0/4"
_IPV4_BLOCKS = (
    "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "203.0.113.0/24",
    "198.51.100.0/24", _RESERVED, _RESERVED, _RESERVED, _RESERVED, _RESERVED,
)  # fmt: skip
_IPV6_BLOCK = ipaddress.IPv6Network("2001:db8::/32")

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_SLOT = re.compile(r"<(\w+)>")
_ADDRESS = "{address}"
_IPV6_PER_CENT = 20

Words = Mapping[str, Sequence[str]]


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
        return self.shuffled([bisect_right(bounds, (number * total + offset) // count) for number in range(count)])


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
    """The weights of several groups, pairs of share and weights, in one list, with sums in proportion to the shares."""
    result = []
    for share, weights in parts:
        total = sum(weights)
        result += [max(1, (weight * share << _WEIGHT_BITS) // total) for weight in weights]
    return result


def addresses(ipv4: int, ipv6: int, draws: Draws, taken: set[str], beside_new: bool = False) -> list[str]:
    """Distinct addresses in random order; ``taken`` are avoided, and the new ones added to it.

    :param beside_new: avoid those that the kernel makes for clients who come only once: the IPv4 block 240.0.0.0/4,
        and IPv6 addresses whose third group has four digits, which none has that is made here.
    """
    blocks = [ipaddress.IPv4Network(block) for block in _IPV4_BLOCKS if not beside_new or block != _RESERVED]
    result: list[str] = []
    while len(result) < ipv4 + ipv6:
        if len(result) < ipv4:
            block = draws.one_of(blocks)
            address = str(block[draws.between(1, block.num_addresses - 2)])
        else:
            # A provider's customer: one of 4,096 networks of /48, a subnet, an interface.
            host = (draws.below(4096) << 80) | (draws.below(256) << 64) | draws.below(1 << 62)
            address = str(_IPV6_BLOCK[host])
        if address not in taken:
            taken.add(address)
            result.append(address)
    return draws.shuffled(result)


def distinct(draw: Callable[[], Item], count: int, whose: str) -> list[Item]:
    """``count`` different texts or templates, in the order in which they are drawn.

    :param whose: what gives them, for the sentence: "the pattern '{x}' gives".
    :raises ValueError: if it does not give so many.
    """
    found: dict[Item, None] = {}
    for _ in range(count * _TRIES):
        found.setdefault(draw())
        if len(found) == count:
            return list(found)
    raise ValueError(f"{whose} only {len(found)} different texts, not {count}: add words")


def fill_one(pattern: str, words: Words, draws: Draws, largest_number: int = 1, agreeing: bool = False) -> str:
    """The pattern with a random word for each `{name}`, a number for `{number}`, 8 hexadecimal digits for `{hash}`.

    :param agreeing: a name that stands in the pattern twice is the same word, as versions in a user agent are.
    """
    chosen: dict[str, str] = {}

    def word(match: re.Match[str]) -> str:
        name = match[1]
        if agreeing and name in chosen:
            return chosen[name]
        if name == "number":
            chosen[name] = str(draws.between(1, largest_number))
        elif name == "hash":
            chosen[name] = f"{draws.below(1 << 32):08x}"
        else:
            chosen[name] = draws.one_of(words[name])
        return chosen[name]

    return _PLACEHOLDER.sub(word, pattern)


def fill(pattern: str, count: int, words: Words, draws: Draws, agreeing: bool = False) -> list[str]:
    """``count`` different texts of one pattern, as ``fill_one`` has them; raises ValueError if it gives fewer."""
    draw = partial(fill_one, pattern, words, draws, 4 * count, agreeing)
    return distinct(draw, count, f"the pattern '{pattern}' gives")


def values(draws: Draws, pattern: str, count: int, words: Words, least: int = 1) -> list[str]:
    """``count`` values of a pattern: `{number}` counts from ``least``, `{address}` is another each time."""
    ipv6 = count * _IPV6_PER_CENT // 100
    of_pattern = addresses(count - ipv6, ipv6, draws, set()) if _ADDRESS in pattern else [""] * count
    texts = (
        pattern.replace("{number}", str(number)).replace(_ADDRESS, address)
        for number, address in enumerate(of_pattern, least)
    )
    return [fill_one(text, words, draws) for text in texts]


def placeholders(pattern: str) -> list[str]:
    """The names of the words that a pattern needs, in order, the built-in ones apart."""
    return [name for name in _PLACEHOLDER.findall(pattern) if name not in ("number", "hash")]


def split_at_slots(text: str) -> list[str]:
    """Literal text and slot names in turn; the first and the last part are literal and may be empty."""
    return _SLOT.split(text)


def escaped(text: str) -> str:
    """The inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
