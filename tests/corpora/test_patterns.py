"""Patterns of recipes: words, slots, and distinct texts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.corpora.integers import Draws
from paddock.corpora.patterns import escaped, fill, fill_one, placeholders, slots, split_at_slots

NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
LITERALS = st.text(st.characters(exclude_characters="<>{}", exclude_categories=["Cs"]))


@given(LITERALS, st.lists(st.tuples(NAMES, LITERALS)))
def test_splitting_gives_literals_and_slots_in_turn(first: str, rest: list[tuple[str, str]]) -> None:
    """What was put together comes apart again."""
    pattern = first + "".join(f"<{name}>{literal}" for name, literal in rest)
    parts = split_at_slots(pattern)
    assert parts[::2] == [first, *(literal for _, literal in rest)]
    assert parts[1::2] == slots(pattern) == [name for name, _ in rest]


@given(st.text(min_size=1, max_size=9), st.integers(1, 20))
def test_names_that_agree_are_the_same_word(name: str, count: int) -> None:
    """A version that stands in a text twice is the same twice if that is asked for; every word gets its turn."""
    words = {"version": [str(number) for number in range(count)]}
    for text in fill("{version}/{version} {hash} {number}", 20 + count, words, Draws(name), agreeing=True):
        first, second = text.split()[0].split("/")
        assert first == second in words["version"]
    apart = fill("{version}/{version}", count * count, words, Draws(name)) if count < 5 else []
    assert len(apart) in (0, count * count)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaping_gives_the_inside_of_a_json_string(text: str) -> None:
    """Quotes, backslashes and newlines survive a reader of JSON, and a document stays one line."""
    assert json.loads(f'"{escaped(text)}"') == text
    assert "\n" not in escaped(text)


def test_words_numbers_and_hashes_are_filled_in() -> None:
    """Each kind of placeholder gives what it promises; slots stay for later."""
    text = fill_one("{animal} {number} {hash} <id>", {"animal": ["cat"]}, Draws("x"), largest_number=9)
    animal, number, digest, slot = text.split(" ")
    assert (animal, slot) == ("cat", "<id>")
    assert 1 <= int(number) <= 9
    assert len(digest) == 8
    assert int(digest, 16) >= 0


def test_only_words_need_a_list() -> None:
    """The built-in placeholders are not reported as missing words."""
    assert placeholders("/{animal}/{number}.{hash}") == ["animal"]


def test_filling_gives_different_texts() -> None:
    """All combinations are found if all are asked for."""
    texts = fill("{a}{a}", 9, {"a": ["x", "y", "z"]}, Draws("x"))
    assert len(set(texts)) == len(texts) == 9


def test_too_few_words_are_an_error() -> None:
    """More texts than combinations end in a sentence, not in an endless loop."""
    with pytest.raises(ValueError, match=r"'\{a\}' gives only 2 different texts, not 3: add words"):
        fill("{a}", 3, {"a": ["x", "y"]}, Draws("x"))
