"""Elastic's advice on heaps and shards: said where it is of use, silent where it would be noise."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import advice
from paddock.advice import (
    IndexShape,
    fitting_documents,
    heap_over_half,
    indices_per_heap,
    large_corpus,
    shard_sizes,
    shards_per_heap,
)

GIB = 2**30


def index(name: str, *gibibytes: float, documents: Sequence[int] = ()) -> IndexShape:
    """An index with primary shards of these sizes."""
    return IndexShape(name, tuple(int(size * GIB) for size in gibibytes), tuple(documents))


def test_half_of_the_memory_is_what_elastic_advises() -> None:
    """Exactly half is fine, a byte more is said."""
    assert heap_over_half(4 * GIB, 8 * GIB, "A heap", "the memory") is None
    assert "more than half of the memory" in str(heap_over_half(4 * GIB + 1, 8 * GIB, "A heap", "the memory"))


def test_shards_per_heap_by_version() -> None:
    """Up to 8.2 it is Elastic's advice, from 8.3 on it was: the sentence says what replaced it."""
    assert shards_per_heap(20, GIB, "The node a", "7.17.28") is None
    assert shards_per_heap(10, GIB // 2, "The node a", "9.2.4") is None
    old, new = (str(shards_per_heap(21, GIB, "The node a", version)) for version in ("8.2.3", "8.3.0"))
    assert old == "The node a holds 21 shards with a heap of 1.0 GiB, 21 per GB: " + (
        'Elastic\'s guide "Size your shards" of 8.2.3 advises at most 20.'
    )
    assert "since 8.3 it asks for a GB of heap per 3,000 indices" in new
    assert shards_per_heap(21, GIB, "A node") == shards_per_heap(21, GIB, "A node", "9.2.4")
    assert "8.10.1 advises" not in str(shards_per_heap(21, GIB, "A node", "8.10.1"))


def test_indices_per_heap_of_a_master() -> None:
    """3,000 for each GB."""
    assert indices_per_heap(6000, 2 * GIB, "The node a") is None
    assert "6,001 indices with a heap of 2.0 GiB" in str(indices_per_heap(6001, 2 * GIB, "The node a"))


@pytest.mark.parametrize(
    "fine",
    [
        [index("small", 0.1)],  # all that there is of it
        [index("good", 10, 50)],
        [index("logs-2026.11.01", 1), index("logs-2026.11.02", 1), index("logs-2026.11.03", 1)],
        [index("mixed", 4, 12)],
        [index("empty", 0)],
        [],
    ],
)
def test_nothing_to_say_of_shards(fine: list[IndexShape]) -> None:
    """One small shard, shards of 10 to 50 GB, a few young indices."""
    assert list(shard_sizes(fine)) == []


def test_shards_that_are_too_large() -> None:
    """By their size, with as many as it takes, and by their documents."""
    (large,) = shard_sizes([index("logs", 120, 20)])
    assert "logs has a shard of 120.0 GiB" in large
    assert "give such an index 3 primary shards" in large
    (many,) = shard_sizes([index("logs", 30, documents=[200_000_001])])
    assert "200,000,001 documents" in many


def test_small_shards_that_need_not_be() -> None:
    """An index that would do with fewer, and many indices that differ in their date only."""
    (split,) = shard_sizes([index("logs", 0.2, 0.2, 0.2)])
    assert "3 primary shards of 205 MiB each" in split
    assert split.endswith("1 shard would hold it.")
    (spread,) = shard_sizes([index("logs", *[8] * 15)])
    assert spread.endswith("3 shards would hold it.")
    (daily,) = shard_sizes([index(f"logs-2026.11.{day:02}", 0.5) for day in range(1, 7)])
    assert daily.startswith("6 indices like 'logs-#.#.#' have shards of 512 MiB on average")


@given(st.lists(st.floats(0, 300), min_size=1, max_size=9), st.floats(1.01, 3))
def test_what_is_advised_would_not_be_advised_against(sizes: list[float], factor: float) -> None:
    """An index whose data lies in as many equal shards as a sentence names has none that is too large."""
    found = index("logs", *(size * factor for size in sizes))
    sentences = list(shard_sizes([found]))
    for sentence in sentences:
        words = sentence.replace("give such an index ", "§").replace("50 GB; ", "§").split("§")
        number = int(words[1].split()[0].replace(",", ""))
        equal = IndexShape("logs", (found.bytes // number,) * number)
        assert not any("has a shard of" in one for one in shard_sizes([equal]))


def test_a_corpus_that_may_be_too_large_for_its_shards() -> None:
    """As many shards as it takes are named; at 50 GB each nothing is said."""
    assert large_corpus(100 * GIB, 2) is None
    sentence = str(large_corpus(100 * GIB + 1, 2))
    assert "100.0 GiB for 2 primary shards" in sentence
    assert "number_of_shards 3 would" in sentence


@pytest.mark.parametrize(
    ("each", "words"),
    [
        (139, "77.2 to 200 million documents, the most that it advises."),
        (1000, "10.7 to 53.7 million documents."),
        (30, "200 million documents, the most that it advises, before it is that large."),
    ],
)
def test_documents_in_a_shard(each: float, words: str) -> None:
    """10 to 50 GB divided by what a document takes, and never more than 200 million."""
    assert fitting_documents(each).endswith(words)
    assert advice.GUIDE in fitting_documents(each)
