"""The documents of a lap: a slice of the corpus, read and put into bulks by Rally's own readers."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from esrally.track.params import IndexIdConflict, create_default_reader


def slices(sizes: Sequence[int], start: int, count: int) -> Iterator[tuple[int, int, int]]:
    """Which documents of which files are the ``count`` documents from ``start`` on, beginning anew after the last.

    :param sizes: documents in every file.
    :param start: number of the first document, from 0, counted through all files; wraps around as well.
    :returns: one by one: number of the file, first document in it, number of documents.
    """
    position = start % sum(sizes)
    while count:
        for number, size in enumerate(sizes):
            if position >= size:
                position -= size
                continue
            taken = min(count, size - position)
            if taken:
                yield number, position, taken
            count -= taken
            position = 0


def bulks(documents: Sequence[Any], start: int, count: int, bulk_size: int, index: str) -> Iterator[tuple[int, bytes]]:
    """The bodies of the bulks of one lap, read as they are asked for.

    :param documents: Rally's document sets, with the paths of their files.
    :param index: the index that the bulks write to.
    :returns: one by one: documents in the bulk, and its body.
    """
    for number, first, taken in slices([one.number_of_documents for one in documents], start, count):
        part = copy.copy(documents[number])
        part.target_index = index
        reader = create_default_reader(
            part, first, taken, taken, bulk_size, bulk_size, IndexIdConflict.NoConflicts, None, None, None
        )
        with reader:
            for _, _, batch in reader:
                yield from batch


def sources(documents: Sequence[Any], start: int, count: int) -> Iterator[bytes]:
    """The documents of one lap themselves, as they stand in the corpus."""
    for _, body in bulks(documents, start, count, 100, "none"):
        yield from body.splitlines()[1::2]
