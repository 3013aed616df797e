"""Exponents and quantiles of what was counted; nothing but arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

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
