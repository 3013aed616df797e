"""Counting terms: as the rules say, whatever the text, and in memory that does not grow."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.inspection.terms import TermCounter

LETTER, WORD = rb"[A-Za-z\x80-\xff]", rb"[A-Za-z0-9_\x80-\xff]"
# The same rules as a regular expression.
TERM = re.compile(
    WORD + rb"(?:" + WORD + rb"|(?<=" + LETTER + rb")[.':](?=" + LETTER + rb")|(?<=[0-9])[.,;'](?=[0-9]))*"
)
PIECES = st.sampled_from(["a", "B", "7", "_", ".", ",", ":", ";", "'", " ", "-", "/", "é", "日", "\n"])


def counted(text: bytes) -> TermCounter:
    """A small counter that has seen the text."""
    counter = TermCounter(1 << 10)
    counter.add_words(text)
    return counter


@given(st.lists(PIECES, max_size=80).map("".join))
@settings(max_examples=300, deadline=None)
def test_terms_are_those_of_the_rules(text: str) -> None:
    """Number, variety and frequencies agree with a regular expression that says the same."""
    expected = Counter(term.lower() for term in TERM.findall(text.encode()))
    counter = counted(text.encode())
    assert counter.occurrences == expected.total()
    assert counter.unique == len(expected)
    assert counter.frequencies().tolist() == sorted(expected.values(), reverse=True)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("GET /index.html HTTP/1.1", 4),  # get, index.html, http, 1.1
        ("192.168.0.1 192.168.0.1", 1),
        ("Alice's alice's ALICE'S", 1),
        ("com.example.Shop 3.x x.3", 3),  # 3 and x twice
        ("order_17 order 17", 3),
        ("... --- !!!", 0),
        ("", 0),
    ],
)
def test_terms_of_logs(text: str, terms: int) -> None:
    """What a log is made of is split where a full-text index splits it."""
    assert counted(text.encode()).unique == terms


def test_endless_terms_are_cut() -> None:
    """A run of 600 letters is three terms, as in Elasticsearch."""
    assert counted(b"x" * 600).occurrences == 3


def test_more_terms_than_places_are_estimated() -> None:
    """With 512 places for 50,000 terms the number is still right within a sixth, and said to be an estimate."""
    counter = TermCounter(1 << 10)
    for begin in range(0, 50_000, 1000):
        counter.add_words(b" ".join(b"term%d" % number for number in range(begin, begin + 1000)))
    assert not counter.exact
    assert counter.unique == pytest.approx(50_000, rel=1 / 6)
    assert counter.frequencies().size <= 512
    assert counter.frequencies().size * counter.one_in == counter.unique


def test_an_estimate_does_not_exceed_what_was_counted() -> None:
    """As many different values as values is the most there can be."""
    for seed in range(20):
        counter = TermCounter(1 << 6)
        values = [str(value) for value in np.random.default_rng(seed).permutation(1000)]
        counter.add_values(values)
        assert counter.unique <= 1000


@given(st.lists(st.text(max_size=8), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None)
def test_values_count_as_they_are(values: list[str]) -> None:
    """Whole values, also empty ones, differ if and only if their characters do."""
    counter = TermCounter(1 << 10)
    counter.add_values(values)
    assert counter.occurrences == len(values)
    assert counter.unique == len({value.replace("\x1e", " ") for value in values})
