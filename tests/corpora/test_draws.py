"""Random integers, Zipf weights, and the texts of patterns: exact, and the same everywhere."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.corpora.draws import (
    GOLDEN,
    Draws,
    escaped,
    fill,
    fill_one,
    mix,
    placeholders,
    shares,
    split_at_slots,
    zipf_weights,
)
from paddock.corpora.world import alias_columns

WEIGHTS = st.lists(st.integers(1, 10**12), min_size=1, max_size=40)


def test_mix_is_splitmix64() -> None:
    """The first three numbers that the reference implementation gives for the seed 1234567."""
    stream = [mix(1234567 + step * GOLDEN) for step in (1, 2, 3)]
    assert stream == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_streams_are_named() -> None:
    """Equal names give equal numbers, other names other ones."""
    first, again, other = Draws("a"), Draws("a"), Draws("b")
    numbers = [first.below(1000) for _ in range(50)]
    assert numbers == [again.below(1000) for _ in range(50)]
    assert numbers != [other.below(1000) for _ in range(50)]


@given(st.text(), st.integers(1, 10**9), st.integers(0, 10**9))
def test_draws_stay_within_their_range(name: str, limit: int, low: int) -> None:
    """Neither end is passed."""
    draws = Draws(name)
    assert 0 <= draws.below(limit) < limit
    assert low <= draws.between(low, low + limit) <= low + limit


@given(st.text(), st.lists(st.integers()))
def test_shuffling_loses_nothing(name: str, items: list[int]) -> None:
    """A shuffled list is a permutation."""
    assert Counter(Draws(name).shuffled(items)) == Counter(items)


@given(st.text(), WEIGHTS, st.integers(1, 200))
def test_apportioning_is_in_proportion(name: str, weights: list[int], count: int) -> None:
    """Every position comes as often as its weight says, give or take one."""
    chosen = Counter(Draws(name).apportioned(weights, count))
    assert chosen.total() == count
    for position, weight in enumerate(weights):
        assert abs(chosen[position] - Fraction(weight * count, sum(weights))) < 1


@given(st.integers(1, 5000), st.integers(0, 12))
def test_zipf_weights_are_exact(rank: int, quarters: int) -> None:
    """The weight is the largest integer not above 2^40 / rank^s, and at least 1."""
    weight = zipf_weights(rank, quarters / 4)[-1]
    assert weight == 1 or weight**4 * rank**quarters <= 2**160
    assert (weight + 1) ** 4 * rank**quarters > 2**160


def test_other_exponents_are_refused() -> None:
    """An exponent that would need floating point is no exponent."""
    with pytest.raises(ValueError, match=r"no multiple of 0\.25"):
        zipf_weights(3, 0.8)


def test_shares_scale_whole_groups() -> None:
    """A group's sum is its share of the total, whatever the weights inside."""
    weights = shares([(3, [5, 5]), (1, [1000])])
    assert Fraction(sum(weights[:2]), sum(weights)) == Fraction(3, 4)


@given(WEIGHTS)
def test_alias_tables_keep_the_probabilities(weights: list[int]) -> None:
    """The chance of an item, summed over the columns, is its share of the weights to within 2^-32 per column."""
    items = list(range(len(weights)))
    chance = dict.fromkeys(items, Fraction(0))
    for threshold, own, other, _ in alias_columns(items, weights).tolist():
        taken = Fraction(threshold, 2**32)
        assert 0 <= taken <= 1
        chance[own] += taken / len(items)
        chance[other] += (1 - taken) / len(items)
    for item, weight in zip(items, weights, strict=True):
        assert abs(chance[item] - Fraction(weight, sum(weights))) <= Fraction(1, 2**32)


NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
LITERALS = st.text(st.characters(exclude_characters="<>{}", exclude_categories=["Cs"]))


@given(LITERALS, st.lists(st.tuples(NAMES, LITERALS)))
def test_splitting_gives_literals_and_slots_in_turn(first: str, rest: list[tuple[str, str]]) -> None:
    """What was put together comes apart again."""
    pattern = first + "".join(f"<{name}>{literal}" for name, literal in rest)
    parts = split_at_slots(pattern)
    assert parts[::2] == [first, *(literal for _, literal in rest)]
    assert parts[1::2] == [name for name, _ in rest]


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
