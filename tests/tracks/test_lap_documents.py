"""Which documents a lap sends, and that it sends exactly those."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.lap_documents import Share, bulks, slices

from tests.tracks.lap_client import corpus

SIZES = st.lists(st.integers(0, 20), min_size=1, max_size=4).filter(sum)


@given(sizes=SIZES, start=st.integers(0, 200), count=st.integers(0, 100))
def test_slices_are_consecutive_and_wrap_around(sizes: list[int], start: int, count: int) -> None:
    """Read one after another the slices are the documents start, start + 1, ... of the endlessly repeated corpus."""
    firsts = [sum(sizes[:number]) for number in range(len(sizes))]
    read = [
        firsts[number] + document
        for number, first, taken in slices(sizes, start, count)
        for document in range(first, first + taken)
    ]
    assert read == [(start + step) % sum(sizes) for step in range(count)]


@given(sizes=SIZES, start=st.integers(0, 100), count=st.integers(0, 60))
def test_slices_are_never_empty_nor_outside(sizes: list[int], start: int, count: int) -> None:
    """Rally's readers are only asked for lines that a file has."""
    for number, first, taken in slices(sizes, start, count):
        assert 0 < taken <= sizes[number] - first


def test_bulks_hold_the_documents_in_order(tmp_path: Path) -> None:
    """Across the end of a file and of the corpus; every document with an action line for the lap's own index."""
    documents = corpus(tmp_path, [7, 5])
    sent = list(bulks(documents, 5, 12, 3, "paddock-test-lap"))
    assert [count for count, _ in sent] == [2, 3, 2, 3, 2]
    lines = b"".join(body for _, body in sent).splitlines()
    assert set(lines[::2]) == {b'{"index": {"_index": "paddock-test-lap"}}'}
    assert [json.loads(line)["n"] for line in lines[1::2]] == [5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4]
    assert documents[0].target_index == "elsewhere"


def test_bulk_size_does_not_change_the_documents(tmp_path: Path) -> None:
    """Levels with different bulk sizes index the same documents."""
    documents = corpus(tmp_path, [30])
    wholes = [b"".join(body for _, body in bulks(documents, 20, 25, size, "i")) for size in (1, 4, 100)]
    assert len(set(wholes)) == 1


@given(
    processes=st.integers(1, 6),
    clients=st.integers(1, 12),
    sizes=SIZES,
    start=st.integers(0, 40),
    count=st.integers(1, 60),
    bulk_size=st.integers(1, 9),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shares_are_the_whole_lap(
    tmp_path: Path, processes: int, clients: int, sizes: list[int], start: int, count: int, bulk_size: int
) -> None:
    """Whatever the split: the same bulks as one process sends, each once, in order; clients differ by one at most."""
    documents = corpus(tmp_path, sizes)
    whole = [body for _, body in bulks(documents, start, count, bulk_size, "i")]
    shares = [Share(number, processes) for number in range(processes)]
    parts = [[body for _, body in bulks(documents, start, count, bulk_size, "i", one.of(clients))] for one in shares]
    for number, part in enumerate(parts):
        assert part == [body for bulk, body in enumerate(whole) if bulk % clients % processes == number]
    assert sorted(body for part in parts for body in part) == sorted(whole)
    each = [one.clients(clients) for one in shares]
    assert sum(each) == clients
    assert max(each) - min(each) <= 1
    assert [bool(part) for part in parts] == [one > 0 and number < len(whole) for number, one in enumerate(each)]
