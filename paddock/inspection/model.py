"""What an inspection finds: plain values, and exponents and quantiles of what was counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Lengths:
    """The lengths of the lines, their ends not counted."""

    mean: float
    least: int
    most: int
    quantiles: dict[str, int]  # "p50" and the like
    percentiles: tuple[int, ...]  # 101 of them, from 0 % (the least) to 100 % (the most)


@dataclass(frozen=True)
class Compression:
    """How many times smaller zstd -3 makes it; None where there is not that much."""

    first_10000_lines: float | None
    first_250_kilobytes: float | None
    everything: float


@dataclass(frozen=True)
class Terms:
    """The terms of the text as a full-text index would see them; times are left out."""

    tokens: int
    unique: int
    exact: bool  # else `unique` is an estimate, within about half a per cent
    per_token: float
    per_token_of_250_kilobytes: float | None
    growth: tuple[tuple[int, int], ...]  # after so many documents, so many terms
    heaps_exponent: float | None  # None: too few documents to say
    per_million_documents: int | None
    per_million_measured: bool  # else reckoned from the end of the growth curve
    frequency_slope: float | None  # log frequency over log rank: -1 is Zipf's law
    ranks_fitted: int


@dataclass(frozen=True)
class Field:
    """One field of the documents."""

    name: str
    share: float  # of the documents that have it
    types: tuple[str, ...]
    distinct: int
    exact: bool  # else `distinct` is an estimate, within about two per cent


@dataclass(frozen=True)
class TimeRange:
    """The times of the lines."""

    where: str  # the field, or "line"
    share: float  # of the lines that have one
    first: float
    last: float
    has_year: bool
    has_zone: bool
    steps_back: int  # lines earlier than the one before
    largest_step_back: float


@dataclass(frozen=True)
class Inspection:
    """Everything that is found in one file."""

    source: str
    kind: str  # "JSON documents", "access log" or "text"
    lines: int
    bytes: int  # of these lines, uncompressed, their ends included
    whole: bool  # False: the file goes on
    empty_lines: int
    undecodable_lines: int  # no UTF-8
    misfits: int  # lines that are not of this kind
    lengths: Lengths
    compression: Compression
    terms: Terms
    fields: tuple[Field, ...]
    further_fields: int  # beyond those listed
    time: TimeRange | None


_MILLION = 1_000_000
_RANKS_PER_DECADE = 20
_LEAST_FREQUENCY = 5  # rarer terms lie on steps, not on a line
_LEAST_RANKS = 30
_LEAST_DOCUMENTS = 1000  # the growth before is that of single documents
_ENOUGH_TO_EXTRAPOLATE = 10_000


def slope(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """The slope of the least-squares line through points with at least two different x."""
    return float(np.polyfit(np.asarray(x, dtype=float), np.asarray(y, dtype=float), 1)[0])


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
    return slope(np.log([documents for documents, _ in curve]), np.log([terms for _, terms in curve]))


def terms_per_million(growth: Sequence[tuple[int, int]]) -> tuple[int | None, bool]:
    """Unique terms in a million documents, and whether that was measured.

    With 10,000 documents or more, but less than a million, the curve is carried on with the slope of its last part
    (from a tenth of the documents on); with fewer, None.
    """
    for documents, terms in growth:
        if documents == _MILLION:
            return terms, True
    documents, terms = growth[-1]
    last = [point for point in growth if 10 * point[0] >= documents and point[1]]
    if not _ENOUGH_TO_EXTRAPOLATE <= documents < _MILLION or len(last) < 2:
        return None, False
    exponent = max(0.0, slope(np.log([point[0] for point in last]), np.log([point[1] for point in last])))
    return round(terms * (_MILLION / documents) ** exponent), False


def quantiles(lengths: Counter[int], shares: Sequence[float]) -> list[int]:
    """The smallest lengths that at least such shares (0 to 1, rising) of all do not exceed."""
    values = np.array(sorted(lengths))
    reached = np.cumsum([lengths[int(value)] for value in values])
    # Rounded before it is rounded up: 0.07 * 100 is a little more than 7.
    wanted = np.maximum(1, np.ceil(np.round(np.asarray(shares) * reached[-1], 6)))
    return [int(value) for value in values[np.searchsorted(reached, wanted)]]
