"""Orders of documents, ranked by how small a sample becomes in them: what an index is worth being sorted by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

from paddock.inspection.terms import flatten

# Enough for values to come again, and few enough to be sorted a dozen times while somebody waits.
SAMPLE_DOCUMENTS = 10_000
# About what Elasticsearch's codec best_compression packs at once.
_BLOCK_BYTES = 60 << 10
# An order by a value that hardly ever comes again brings nothing together; a field that is often absent, little.
_MOST_DISTINCT, _LEAST_PRESENT = 0.5, 0.5
_TIME = "@timestamp"


@dataclass(frozen=True)
class Order:
    """Documents sorted by one field, those with the same value in their own order.

    :param strings: whether all its values are strings.
    :param share: size of the sample, compressed in blocks, in that order, of its size in its own; below 1 is smaller.
    """

    field: str
    strings: bool
    share: float


def rank_orders(lines: Iterable[bytes]) -> tuple[Order, ...]:
    """The orders in which the first 10,000 of these JSON documents become smaller, the smallest first.

    :param lines: documents, one JSON object each; others are passed over.
    """
    documents: list[tuple[bytes, dict[str, Any]]] = []
    for line in lines:
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict):
            documents.append((line, _single_values(document)))
        if len(documents) == SAMPLE_DOCUMENTS:
            break
    present: dict[str, list[Any]] = {}
    for _, values in documents:
        for name, value in values.items():
            present.setdefault(name, []).append(value)
    own = _size([line for line, _ in documents])
    orders = []
    for name, found in present.items():
        distinct = len({(type(value), value) for value in found})
        few = 1 < distinct <= _MOST_DISTINCT * len(documents)
        if name == _TIME or not few or len(found) < _LEAST_PRESENT * len(documents):
            continue
        # As an index sorts: documents without the field last, and time breaks no order that is there already.
        ordered = sorted(documents, key=lambda one: (name not in one[1], _comparable(one[1].get(name))))
        share = _size([line for line, _ in ordered]) / own
        if share < 1:
            orders.append(Order(name, all(isinstance(value, str) for value in found), share))
    return tuple(sorted(orders, key=lambda order: order.share))


def _single_values(document: dict[str, Any]) -> dict[str, Any]:
    """The leaves by their full names; a field with several values is none to sort by."""
    values: dict[str, Any] = {}
    several = set()
    for name, value in flatten(document):
        if name in values:
            several.add(name)
        if isinstance(value, str | int | float):
            values[name] = value
    return {name: value for name, value in values.items() if name not in several}


def _comparable(value: Any) -> tuple[str, Any]:
    return ("", 0) if value is None else (type(value).__name__, value)


def _size(lines: Sequence[bytes]) -> int:
    """Bytes of all lines, compressed block by block."""
    compressor = zstandard.ZstdCompressor(level=3)
    total, block, length = 0, [], 0
    for line in lines:
        block.append(line)
        length += len(line)
        if length >= _BLOCK_BYTES:
            total += len(compressor.compress(b"".join(block)))
            block, length = [], 0
    return total + len(compressor.compress(b"".join(block))) if block else total
