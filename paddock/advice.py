"""What Elastic advises on heaps and shards: what is outside of it, as sentences that say where it stands; pure.

Sizes are those of Elasticsearch's units: its gb is 2 ** 30 bytes. Read in Elastic's documentation:

- heap: "Advanced configuration", up to 7.10 "Setting the heap size";
- size and documents of a shard: "Size your shards"; the number of documents since 2023 (pull request 97831 of
  elastic/elasticsearch);
- shards per heap: "Size your shards" had 20 per GB. It was taken out for 8.3 (pull request 86223; the page of 8.2 was
  changed with it, issue 101233), because a shard takes far less since then. In its place stand a GB of heap per 3,000
  indices on nodes that can be master, and heap by the number of mapped fields on data nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paddock import numbers
from paddock.files import gibibytes

HEAP_SHARE = 0.5
SMALLEST_SHARD, LARGEST_SHARD = 10 * 2**30, 50 * 2**30
MOST_DOCUMENTS = 200_000_000
SHARDS_PER_GIB = 20
INDICES_PER_GIB = 3000
# From this version on Elastic's advice has no shards per heap.
_WITHOUT_SHARDS_PER_HEAP = (8, 3)
# So many indices of one kind with small shards are worth a sentence; fewer may be young, or all that there is.
_MANY = 5
GUIDE = 'Elastic\'s guide "Size your shards"'


def heap_over_half(heap: int, memory: int, heaps: str, of_what: str) -> str | None:
    """A sentence if it is more than Elastic advises; None if not.

    :param heap: bytes of all heaps that share that memory.
    :param memory: bytes.
    :param heaps: what has that heap: "A heap of 4.0 GiB".
    :param of_what: whose memory: "this machine's 6.0 GiB".
    """
    if heap <= memory * HEAP_SHARE:
        return None
    return (
        f"{heaps} is more than half of {of_what}, the most that Elastic advises: little is left for the page cache, "
        f"which Lucene needs."
    )


def shards_per_heap(shards: float, heap: int, whose: str, version: str | None = None) -> str | None:
    """A sentence if a node has more shards than it should by its heap; None if not.

    :param shards: that the node holds, replicas included.
    :param heap: bytes.
    :param whose: "The node es-1", "A node of '4'".
    :param version: its Elasticsearch, where that is known.
    """
    if shards <= SHARDS_PER_GIB * heap / 2**30:
        return None
    found = f"{whose} holds {shards:,.0f} shards with a heap of {gibibytes(heap)}, {shards * 2**30 / heap:,.0f} per GB"
    if version and _parts(version) < _WITHOUT_SHARDS_PER_HEAP:
        return f"{found}: {GUIDE} of {version} advises at most {SHARDS_PER_GIB}."
    return (
        f"{found}. Up to 8.2 {GUIDE} advised at most {SHARDS_PER_GIB}; since 8.3 it asks for a GB of heap per "
        f"{INDICES_PER_GIB:,} indices on nodes that can be master, and for heap by the mapped fields on data nodes, so "
        f"from there on many shards cost something but are no fault by themselves."
    )


def indices_per_heap(indices: int, heap: int, whose: str) -> str | None:
    """A sentence if a node that can be master has too little heap for so many indices; None if not."""
    if indices <= INDICES_PER_GIB * heap / 2**30:
        return None
    return (
        f"{whose} can be master of {indices:,} indices with a heap of {gibibytes(heap)}: {GUIDE} asks for a GB per "
        f"{INDICES_PER_GIB:,} from 8.3 on. Delete indices, let them cover longer periods, or give it more heap."
    )


@dataclass(frozen=True)
class IndexShape:
    """An index as its primary shards are.

    :param sizes: bytes of each primary shard.
    :param documents: of each of them, in the same order.
    """

    name: str
    sizes: tuple[int, ...]
    documents: tuple[int, ...] = field(default=())

    @property
    def bytes(self) -> int:
        """Of all primary shards."""
        return sum(self.sizes)


def shard_sizes(indices: Sequence[IndexShape]) -> Iterator[str]:
    """Sentences about shards that are too large, and about those that are small without need.

    A small shard that is all there is of an index is no fault. Many small ones are: of an index that would do with
    fewer, or of indices that differ in a number or a date only, which could cover longer periods.
    """
    for index in indices:
        yield from _too_large(index)
        if index.bytes >= SMALLEST_SHARD and (sentence := _too_many(index)):
            yield sentence
    for kind, of in _alike(indices).items():
        small = [one for one in of if one.bytes < SMALLEST_SHARD]
        if len(small) > _MANY:
            shards = sum(len(one.sizes) for one in small)
            mean = sum(one.bytes for one in small) // shards
            yield (
                f"{numbers.plural(len(small), 'index', 'indices')} like '{kind}' have shards of {gibibytes(mean)} on "
                f"average: {GUIDE} advises 10 to 50 GB. Let an index cover a longer period, or roll over by "
                f"min_primary_shard_size."
            )
        elif len(small) == 1 and len(of) == 1 and (sentence := _too_many(small[0])):
            yield sentence


def _too_large(index: IndexShape) -> Iterator[str]:
    largest = max(index.sizes, default=0)
    if largest > LARGEST_SHARD:
        needed = -(-index.bytes // LARGEST_SHARD)
        yield (
            f"{index.name} has a shard of {gibibytes(largest)}: {GUIDE} advises 10 to 50 GB, because larger ones take "
            f"long to move and to recover. Roll over at max_primary_shard_size 50gb, or give such an index {needed} "
            f"primary shards."
        )
    most = max(index.documents, default=0)
    if most > MOST_DOCUMENTS:
        yield (
            f"{index.name} has a shard of {most:,} documents: {GUIDE} advises at most 200 million. Roll over at "
            f"max_primary_shard_docs, or use more primary shards."
        )


def _too_many(index: IndexShape) -> str | None:
    """Of an index whose shards are small only because they are many."""
    shards = len(index.sizes)
    if shards < 2 or max(index.sizes) >= SMALLEST_SHARD:
        return None
    enough = max(1, -(-index.bytes // LARGEST_SHARD))
    return (
        f"{index.name} has {shards} primary shards of {gibibytes(index.bytes // shards)} each: {GUIDE} advises 10 to "
        f"50 GB; {numbers.plural(enough, 'shard')} would hold it."
    )


def _alike(indices: Sequence[IndexShape]) -> dict[str, list[IndexShape]]:
    """Indices by their names with every run of digits replaced by a #."""
    found: dict[str, list[IndexShape]] = {}
    for index in indices:
        kind, digits = "", False
        for letter in index.name:
            kind += "" if letter.isdigit() and digits else "#" if letter.isdigit() else letter
            digits = letter.isdigit()
        found.setdefault(kind, []).append(index)
    return found


def large_corpus(size: int, shards: int) -> str | None:
    """A sentence if documents of that size, in bytes, may make shards that are too large; None if not.

    An index is mostly smaller than its documents as JSON, so this is said of what may be, and not of what will.
    """
    if size <= shards * LARGEST_SHARD:
        return None
    return (
        f"The documents have {gibibytes(size)} for {numbers.plural(shards, 'primary shard')}: {GUIDE} advises 10 to 50 "
        f"GB each, and number_of_shards {-(-size // LARGEST_SHARD)} would keep them below that if the index takes as "
        f"much as the documents. What it takes, the race's report says."
    )


def fitting_documents(bytes_per_document: float) -> str:
    """How many documents a shard of the advised size holds, a sentence.

    :param bytes_per_document: of a primary shard, above 0.
    """
    least, most = (int(size / bytes_per_document) for size in (SMALLEST_SHARD, LARGEST_SHARD))
    if least >= MOST_DOCUMENTS:
        held = "200 million documents, the most that it advises, before it is that large"
    elif most > MOST_DOCUMENTS:
        held = f"{_millions(least)} to 200 million documents, the most that it advises"
    else:
        held = f"{_millions(least)} to {_millions(most)} million documents"
    return (
        f"{GUIDE} advises shards of 10 to 50 GB: at {numbers.amount(bytes_per_document)} bytes a document such a shard "
        f"holds {held}."
    )


def _millions(documents: int) -> str:
    return numbers.amount(documents / 1e6)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".")[:2] if part.isdigit())
