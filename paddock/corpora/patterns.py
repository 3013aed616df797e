"""What is drawn from patterns: words, addresses, names of programs."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping, Sequence

from paddock.corpora.integers import Draws

# Private, documentation, benchmarking and reserved blocks.
_RESERVED = "240.0.0.0/4"
_IPV4_BLOCKS = (
    "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "203.0.113.0/24",
    "198.51.100.0/24", _RESERVED, _RESERVED, _RESERVED, _RESERVED, _RESERVED,
)  # fmt: skip
_IPV6_BLOCK = ipaddress.IPv6Network("2001:db8::/32")


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


_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_SLOT = re.compile(r"<(\w+)>")
_TRIES_PER_TEXT = 200

# Placeholders that need no list of words.
BUILT_IN = ("number", "hash")


def fill_one(
    pattern: str, words: Mapping[str, Sequence[str]], draws: Draws, largest_number: int, agreeing: bool = False
) -> str:
    """The pattern with a random word for each `{name}`, a number for `{number}`, 8 hexadecimal digits for `{hash}`.

    :param agreeing: a name that stands in the pattern twice is the same word, as versions in a user agent are.
    """
    chosen: dict[str, str] = {}

    def replacement(match: re.Match[str]) -> str:
        name = match.group(1)
        if not agreeing or name not in chosen:
            chosen[name] = one(name)
        return chosen[name]

    def one(name: str) -> str:
        if name == "number":
            return str(draws.between(1, largest_number))
        if name == "hash":
            return f"{draws.below(1 << 32):08x}"
        return draws.one_of(words[name])

    return _PLACEHOLDER.sub(replacement, pattern)


def fill(
    pattern: str, count: int, words: Mapping[str, Sequence[str]], draws: Draws, agreeing: bool = False
) -> list[str]:
    """``count`` different texts of one pattern.

    :param agreeing: as ``fill_one`` has it.
    :raises ValueError: if the words do not give so many.
    """
    texts: dict[str, None] = {}
    for _ in range(count * _TRIES_PER_TEXT):
        texts.setdefault(fill_one(pattern, words, draws, largest_number=4 * count, agreeing=agreeing))
        if len(texts) == count:
            return list(texts)
    raise ValueError(f"the pattern '{pattern}' gives only {len(texts)} different texts, not {count}: add words")


def placeholders(pattern: str) -> list[str]:
    """The names of the words that a pattern needs, in order, the built-in ones apart."""
    return [name for name in _PLACEHOLDER.findall(pattern) if name not in BUILT_IN]


def slots(pattern: str) -> list[str]:
    """The names of the slots of a pattern, in order."""
    return _SLOT.findall(pattern)


def split_at_slots(text: str) -> list[str]:
    """Literal text and slot names in turn; the first and the last part are literal and may be empty."""
    return _SLOT.split(text)


def escaped(text: str) -> str:
    """The inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
