"""Coin-flip orders."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from paddock.tournaments.schedule import block_orders, derived_seed

NAMES = ("a", "b", "c")


def test_golden_order():
    """This seed gives this order on every Python and machine, for ever."""
    assert ["".join(order) for order in block_orders(NAMES, 6, seed=2026)] == ["cba", "acb", "bca", "acb", "abc", "abc"]
    assert derived_seed(2026, "start 3") == 14122413929476809661


@given(st.integers(0, 2**64 - 1), st.integers(0, 20), st.integers(0, 20))
def test_more_blocks_begin_alike(seed, blocks, more):
    """A tournament that is prolonged keeps the orders it had; each order holds every contender once."""
    longer = block_orders(NAMES, blocks + more, seed)
    assert longer[:blocks] == block_orders(NAMES, blocks, seed)
    assert all(sorted(order) == list(NAMES) for order in longer)


def test_all_orders_are_equally_likely():
    """A chi-square test over the six orders of three contenders, and over neighbouring blocks of two."""
    counts = Counter(block_orders(NAMES, 6000, seed=1))
    assert len(counts) == 6
    assert scipy.stats.chisquare(list(counts.values())).pvalue > 0.001
    pairs = block_orders(("a", "b"), 8001, seed=2)
    neighbours = Counter(itertools.pairwise(pairs))
    assert len(neighbours) == 4
    assert scipy.stats.chisquare(list(neighbours.values())).pvalue > 0.001


def test_purposes_have_their_own_seeds():
    """Different purposes and different seeds give different seeds."""
    assert len({derived_seed(seed, f"start {i}") for seed in (1, 2) for i in range(50)}) == 100


def test_names_must_differ():
    """The same contender twice is refused."""
    with pytest.raises(ValueError, match="named twice"):
        block_orders(("a", "a"), 1, seed=1)
