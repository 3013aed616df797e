"""Texts made from patterns of a recipe: `{word}` is filled in while tables are built, `<slot>` for each document."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from paddock.corpora.integers import Draws

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
