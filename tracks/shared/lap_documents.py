"""The documents of a lap: a slice of the corpus, read and put into bulks by Rally's own readers."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Share:
    """What one of several processes sends of a lap: whole bulks, dealt out as its clients are.

    Bulk 0 is client 0's, and so on in turn; client 0 is process 0's, and so on in turn. So every process reads through
    the lap as the others do, and the index grows in the order of the corpus however many they are.

    :param number: of the process, from 0, of ``processes``.
    """

    number: int
    processes: int

    def clients(self, clients: int) -> int:
        """How many of a lap's clients it has; none where there are fewer of them than processes."""
        return len(range(self.number, clients, self.processes))

    def of(self, clients: int) -> Callable[[int], bool]:
        """Whether a bulk, by its number in the lap, is its own."""
        return lambda bulk: bulk % clients % self.processes == self.number


class _Own:
    """Reads the lines of those bulks that are its own, and passes the others over."""

    def __init__(self, source: Any, numbers: Iterator[int], own: Callable[[int], bool]) -> None:
        self._source, self._numbers, self._own = source, numbers, own

    def open(self, *how: Any) -> _Own:
        self._source.open(*how)
        return self

    def close(self) -> None:
        self._source.close()

    def __next__(self) -> Any:
        for lines in self._source:
            if self._own(next(self._numbers)):
                return lines
        raise StopIteration


def bulks(
    documents: Sequence[Any],
    start: int,
    count: int,
    bulk_size: int,
    index: str,
    own: Callable[[int], bool] | None = None,
) -> Iterator[tuple[int, bytes]]:
    """The bodies of the bulks of one lap, read as they are asked for.

    :param documents: Rally's document sets, with the paths of their files.
    :param index: the index that the bulks write to.
    :param own: which of them, by their numbers from 0; None for all.
    :returns: one by one: documents in the bulk, and its body.
    """
    numbers = itertools.count()
    for number, first, taken in slices([one.number_of_documents for one in documents], start, count):
        part = copy.copy(documents[number])
        part.target_index = index
        reader = create_default_reader(
            part, first, taken, taken, bulk_size, bulk_size, IndexIdConflict.NoConflicts, None, None, None
        )
        if own is not None:
            reader.file_source = _Own(reader.file_source, numbers, own)
        with reader:
            for _, _, batch in reader:
                yield from batch


def sources(documents: Sequence[Any], start: int, count: int) -> Iterator[bytes]:
    """The documents of one lap themselves, as they stand in the corpus."""
    for _, body in bulks(documents, start, count, 100, "none"):
        yield from body.splitlines()[1::2]
