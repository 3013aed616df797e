"""What documents hold: terms and fields, counted in memory that does not grow with the text; orders that shrink them.

Terms are kept as 64-bit hashes. When there are more of them than fit, only those whose hash ends in a zero bit
are kept, then in two, and so on; the number of all is then the number kept times a power of two (Wegman's adaptive
sampling). With half of 500,000 kept at least, that is right to about 0.2 %.
"""

from __future__ import annotations

import ipaddress
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zstandard

from paddock.compilation import compiled
from paddock.inspection.lines import flatten

# Bytes by what they are to the tokenizer.
_BREAK, _LETTER, _DIGIT, _UNDERSCORE = 0, 1, 2, 3
_LONGEST_TERM = 255  # Elasticsearch's max_token_length; the rest begins a new term

_KIND = np.zeros(256, dtype=np.uint8)
_KIND[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1), *range(128, 256)]] = _LETTER
_KIND[ord("0") : ord("9") + 1] = _DIGIT
_KIND[ord("_")] = _UNDERSCORE
_LOWER = np.array([ord(chr(code).lower()) if code < 128 else code for code in range(256)], dtype=np.uint64)
# Characters that do not end a term between two letters, or between two digits (Unicode's rules for word boundaries).
_JOINS = np.zeros((4, 256), dtype=np.bool_)
_JOINS[_LETTER, [ord(character) for character in ".':"]] = True
_JOINS[_DIGIT, [ord(character) for character in ".',;"]] = True

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # SplitMix64's
_BEGINNING, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a's
_27, _30, _31 = (np.uint64(shift) for shift in (27, 30, 31))
_EMPTY, _INSTEAD = np.uint64(0), np.uint64(1 << 63)
_OCCURRENCES, _KEPT, _LEVEL = 0, 1, 2  # the places in a counter's state
_SEPARATOR = "\x1e"
_SEPARATOR_BYTE = np.uint8(ord(_SEPARATOR))


@compiled
def _insert(key, times, keys, counts, state):  # type: ignore[no-untyped-def]  # compiled: numba infers the types
    """Count a mixed hash; the upper bits choose the place, the lower ones whether it is kept."""
    if key & ((np.uint64(1) << np.uint64(state[_LEVEL])) - np.uint64(1)):
        return
    size = np.uint64(keys.size - 1)
    place = (key >> np.uint64(20)) & size
    while keys[place] != _EMPTY and keys[place] != key:
        place = (place + np.uint64(1)) & size
    if keys[place] == _EMPTY:
        keys[place] = key
        state[_KEPT] += 1
    counts[place] += times


@compiled
def _thin(keys, counts, state):  # type: ignore[no-untyped-def]
    """Keep the terms whose hash ends in one more zero bit."""
    used = np.flatnonzero(keys)
    old_keys, old_counts = keys[used], counts[used]
    keys[:] = _EMPTY
    counts[:] = 0
    state[_KEPT] = 0
    state[_LEVEL] += 1
    for number in range(used.size):
        _insert(old_keys[number], old_counts[number], keys, counts, state)


@compiled
def _count(hashed, keys, counts, state):  # type: ignore[no-untyped-def]
    """Count one more occurrence of the term with that FNV hash."""
    key = (hashed ^ (hashed >> _30)) * _FIRST
    key = (key ^ (key >> _27)) * _SECOND
    key = key ^ (key >> _31)
    state[_OCCURRENCES] += 1
    _insert(_INSTEAD if key == _EMPTY else key, 1, keys, counts, state)
    if 2 * state[_KEPT] > keys.size:
        _thin(keys, counts, state)


@compiled
def _count_words(text, keys, counts, state):  # type: ignore[no-untyped-def]
    """Count the words of a text, case ignored."""
    at, end = 0, text.size
    while at < end:
        before = _KIND[text[at]]
        if before == _BREAK:
            at += 1
            continue
        hashed, length = _BEGINNING, 0
        while at < end and length < _LONGEST_TERM:
            kind = _KIND[text[at]]
            if kind == _BREAK and not (_JOINS[before, text[at]] and at + 1 < end and _KIND[text[at + 1]] == before):
                break
            hashed = (hashed ^ _LOWER[text[at]]) * _PRIME
            if kind != _BREAK:
                before = kind
            at += 1
            length += 1
        _count(hashed, keys, counts, state)


@compiled
def _count_values(text, keys, counts, state):  # type: ignore[no-untyped-def]
    """Count values, each ended by a separator, as they are."""
    hashed = _BEGINNING
    for byte in text:
        if byte == _SEPARATOR_BYTE:
            _count(hashed, keys, counts, state)
            hashed = _BEGINNING
        else:
            hashed = (hashed ^ np.uint64(byte)) * _PRIME


class TermCounter:
    """Counts terms, up to half as many as there are ``places`` (a power of two, 16 bytes each) exactly."""

    def __init__(self, places: int = 1 << 20):
        self._keys = np.zeros(places, dtype=np.uint64)
        self._counts = np.zeros(places, dtype=np.int64)
        self._state = np.zeros(3, dtype=np.int64)

    def add_words(self, text: bytes) -> None:
        """Count the words of a text roughly as Elasticsearch's standard analyzer makes them.

        Runs of letters and digits, in lower case; "." and the like join where both neighbours are letters, or both
        digits, so addresses and class names are one term. Everything outside ASCII counts as a letter.
        """
        _count_words(np.frombuffer(text, dtype=np.uint8), self._keys, self._counts, self._state)

    def add_values(self, values: list[str]) -> None:
        """Count whole values."""
        joined = _SEPARATOR.join(values)
        if joined.count(_SEPARATOR) >= len(values):
            joined = _SEPARATOR.join(value.replace(_SEPARATOR, " ") for value in values)
        text = (joined + _SEPARATOR).encode("utf-8", "replace")
        _count_values(np.frombuffer(text, dtype=np.uint8), self._keys, self._counts, self._state)

    @property
    def occurrences(self) -> int:
        """All that were counted."""
        return int(self._state[_OCCURRENCES])

    @property
    def unique(self) -> int:
        """How many different ones; an estimate unless ``exact``."""
        return min(int(self._state[_KEPT]) << int(self._state[_LEVEL]), self.occurrences)

    @property
    def exact(self) -> bool:
        """Whether every term is kept."""
        return int(self._state[_LEVEL]) == 0

    @property
    def one_in(self) -> int:
        """One of so many terms is kept."""
        return 1 << int(self._state[_LEVEL])

    def frequencies(self) -> np.ndarray:
        """How often each of the terms that are kept occurs, the most frequent first."""
        return np.sort(self._counts[self._keys != _EMPTY])[::-1]


MOST_FIELDS = 200  # each takes half a MiB
_PLACES = 1 << 15
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", dict: "empty object"}


@dataclass(frozen=True)
class Field:
    """One field of the documents."""

    name: str
    share: float  # of the documents that have it
    types: tuple[str, ...]
    distinct: int
    exact: bool  # else `distinct` is an estimate, within about two per cent


class FieldCounter:
    """Counts documents and values of each field; fields beyond the first 200 are only noticed."""

    def __init__(self) -> None:
        self._documents = 0
        self._columns: dict[str, _Column] = {}
        self._further = TermCounter(_PLACES)

    def add(self, leaves: list[tuple[str, Any]]) -> None:
        """Count one document."""
        self._documents += 1
        for name, value in leaves:
            column = self._columns.get(name)
            if column is None:
                if len(self._columns) >= MOST_FIELDS:
                    self._further.add_values([name])
                    continue
                column = self._columns[name] = _Column()
            column.waiting.append(value)
            if column.seen_in != self._documents:  # a list has several values
                column.seen_in = self._documents
                column.present += 1

    def settle(self) -> None:
        """Count the values that were added since the last call; until then they take memory."""
        for column in filter(lambda one: one.waiting, self._columns.values()):
            types = set(map(type, column.waiting))
            column.types |= types
            column.values.add_values(column.waiting if types == {str} else list(map(str, column.waiting)))
            column.waiting.clear()

    def fields(self) -> tuple[Field, ...]:
        """What was counted, in the order in which the fields appeared."""
        self.settle()
        return tuple(
            Field(
                name=name,
                share=column.present / self._documents,
                types=tuple(sorted(_TYPES[kind] for kind in column.types)),
                distinct=column.values.unique,
                exact=column.values.exact,
            )
            for name, column in self._columns.items()
        )

    def further(self) -> int:
        """How many fields there are beyond those."""
        return self._further.unique


class _Column:
    """The values of one field."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.present = 0
        self.seen_in = 0  # the last document
        self.types: set[type] = set()
        self.values = TermCounter(_PLACES)


_MILLION = 1_000_000
_RANKS_PER_DECADE = 20
_LEAST_FREQUENCY = 5  # rarer terms lie on steps, not on a line
_LEAST_RANKS = 30
_LEAST_DOCUMENTS = 1000  # the growth before is that of single documents
_ENOUGH_TO_EXTRAPOLATE = 10_000


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of the least-squares line through points with at least two different x."""
    return float(np.polyfit(x, y, 1)[0])


def frequency_slope(frequencies: np.ndarray, one_in: int = 1) -> tuple[float | None, int]:
    """The slope of log frequency over log rank (Zipf's law: -1), and the number of ranks it was fitted to.

    Least squares through points at 20 ranks per decade, so that the many rare terms do not outweigh the frequent
    ones; from rank 1 to the last term that occurs five times. None where fewer than 30 terms do.

    :param frequencies: the most frequent first.
    :param one_in: one of so many terms is in ``frequencies``, chosen by chance.
    """
    frequent = int(np.count_nonzero(frequencies >= _LEAST_FREQUENCY))
    if frequent < _LEAST_RANKS:
        return None, frequent
    points = int(np.log10(frequent) * _RANKS_PER_DECADE) + 1
    ranks = np.unique(np.geomspace(1, frequent, points).astype(np.int64))
    return slope(np.log(ranks * one_in), np.log(frequencies[ranks - 1])), frequent * one_in


def heaps_exponent(growth: Sequence[tuple[int, int]]) -> float | None:
    """The exponent of Heaps' law: slope of log unique terms over log documents, least squares through the curve.

    1: every document brings as many new terms as the first; 0: no new ones. None with fewer than two points from
    1,000 documents on.
    """
    curve = [(documents, terms) for documents, terms in growth if documents >= _LEAST_DOCUMENTS and terms]
    if len(curve) < 2:
        return None
    return slope(*np.log(curve).T)


def terms_per_million(growth: Sequence[tuple[int, int]]) -> tuple[int | None, bool]:
    """Unique terms in a million documents, and whether that was measured.

    With 10,000 documents or more, but less than a million, the curve is carried on with the slope of its last part
    (from a tenth of the documents on); with fewer, None.
    """
    if _MILLION in (measured := dict(growth)):
        return measured[_MILLION], True
    documents, terms = growth[-1]
    last = [point for point in growth if 10 * point[0] >= documents and point[1]]
    if not _ENOUGH_TO_EXTRAPOLATE <= documents < _MILLION or len(last) < 2:
        return None, False
    exponent = max(0.0, slope(*np.log(last).T))
    return round(terms * (_MILLION / documents) ** exponent), False


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
    :param addresses: whether all are IP addresses: no index is sorted by a field of the type ip.
    :param share: size of the sample, compressed in blocks, in that order, of its size in its own; below 1 is smaller.
    """

    field: str
    strings: bool
    addresses: bool
    share: float


def rank_orders(lines: Iterable[bytes]) -> tuple[Order, ...]:
    """The orders in which the first 10,000 JSON documents of the lines become smaller, the smallest first."""
    documents: list[tuple[bytes, dict[str, Any]]] = []
    for line in lines:
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict):
            leaves = [(name, value) for name, value in flatten(document) if isinstance(value, str | int | float)]
            times = Counter(name for name, _ in leaves)
            # A field with several values is none to sort by.
            documents.append((line, {name: value for name, value in leaves if times[name] == 1}))
        if len(documents) == SAMPLE_DOCUMENTS:
            break
    present: dict[str, list[Any]] = {}
    for _, values in documents:
        for name, value in values.items():
            present.setdefault(name, []).append(value)
    own = _blocks_size(line for line, _ in documents)
    orders = []
    for name, found in present.items():
        distinct = {(type(value), value) for value in found}
        few = 1 < len(distinct) <= _MOST_DISTINCT * len(documents)
        if name == _TIME or not few or len(found) < _LEAST_PRESENT * len(documents):
            continue
        # As an index sorts: documents without the field last, and time breaks no order that is there already.
        ordered = sorted(
            documents, key=lambda one: (name not in one[1], type(one[1].get(name)).__name__, one[1].get(name, 0))
        )
        share = _blocks_size(line for line, _ in ordered) / own
        if share < 1:
            strings = all(kind is str for kind, _ in distinct)
            orders.append(Order(name, strings, strings and all(_is_address(text) for _, text in distinct), share))
    return tuple(sorted(orders, key=lambda order: order.share))


def _is_address(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def _blocks_size(lines: Iterable[bytes]) -> int:
    """Bytes of all lines, compressed block by block."""
    compressor = zstandard.ZstdCompressor(level=3)
    total, block = 0, bytearray()
    for line in lines:
        block += line
        if len(block) >= _BLOCK_BYTES:
            total += len(compressor.compress(block))
            block.clear()
    return total + len(compressor.compress(block)) if block else total
