"""A long series of rates by itself: from when on it fluctuates more than before, and its trend after that.

Neighbouring seconds resemble each other: a merge, a flush or a collection lasts for several. So no second is taken for
a draw of its own. Everything is judged on windows of many seconds, whose own likeness r (of neighbours, taken as a
series of first order, with what few windows hide of it given back) enters the reference: statistics of thousands of
series of noise with that r, the search for the best place included. That is what keeps noise from having an onset or a
trend; how often it has one all the same is counted in tests/statistics/test_sustained.py.

- Fluctuation: how far a second lies from the level around it, the median of a tenth of the run, as a share of it. What
  is slower than that is trend, not fluctuation. Of each window the logarithm of the mean of its seconds counts.
- Onset: the place that divides the windows best into calmer ones and wilder ones after them (the largest standardised
  difference, one-sided). Its interval are all places that fit nearly as well as the best one: as often as series with
  such a change, made anew, have theirs among them.
- Trend: a straight line through the logarithms of batch means, with the same reference for its t value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Of an onset. The reference knows one kind of noise; that of merges is more uneven, and has an onset twice as often.
LEVEL = 0.02
CONFIDENCE = 0.95
# Seconds of load that are looked at, at least; in fewer than these an onset cannot be told from two merges in a row.
SHORTEST = 120
SHORTEST_FOR_ONSET = 200
# Of a warm-up that is left out: a tenth of the run, at most so many seconds.
LONGEST_WARM_UP = 60
# Windows of this many seconds at least, and about as many of them.
_SHORTEST_WINDOW = 15
_WINDOWS = 60
# Of the windows either side of an onset has at least a tenth, and four.
_FEWEST_WINDOWS = 4
# What fluctuates by less than a quarter more is no onset that anybody would see.
LEAST_GROWTH = 1.25
# A trend has as many batches; of fewer seconds than these there is none. Their likeness is taken to be so much more
# than what is seen: sixteen of them do not tell it any better.
_BATCHES = 16
SHORTEST_TREND = 120
_UNCERTAIN = 0.2
# A second nearer to its level than this is as near as none: rates are counted in bulks.
_FINEST = 1e-4
_SIMULATED = 4000
_SEED = 20170123
_LIKENESS_STEP = 0.05
_MOST_LIKENESS = 0.9


@dataclass(frozen=True)
class Onset:
    """From when on a rate fluctuates more than before; times in seconds of the series.

    :param earliest, latest: the interval of ``at``, at 95 %.
    :param before, after: how far a second lies from the level around it, typically: a share of it.
    """

    at: float
    earliest: float
    latest: float
    before: float
    after: float


@dataclass(frozen=True)
class Trend:
    """A straight line through a stretch of the series.

    :param begin, end: of the stretch, seconds of the series.
    :param change: from its begin to its end, as a share: -0.05 is 5 % less. ``low`` and ``high`` are its interval.
    """

    begin: float
    end: float
    change: float
    low: float
    high: float

    @property
    def seen(self) -> bool:
        """Whether the interval leaves out that there is none."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class LongRun:
    """What a long series of rates says.

    :param begin, end: of what was looked at, seconds of the series: what comes before is warm-up.
    :param rate: documents per second, the mean of it.
    :param fluctuation: how far a second lies from the level around it, typically: a share of it.
    :param p_value: how often noise alone has a place that divides calm from wild as well as the best one here; None of
        a series that is too short to look for it.
    :param onset: None if there is none that noise does not have, or it makes little difference.
    :param trend: from the onset on, or all of it; None if that is too short.
    """

    begin: float
    end: float
    rate: float
    fluctuation: float
    p_value: float | None
    onset: Onset | None
    trend: Trend | None


def long_run(rates: Sequence[float], warm_up: float = 0.0) -> LongRun | None:
    """What a series of rates says; None if it is too short, or its load stood still for longer than a window.

    :param rates: documents in each whole second, none left out.
    :param warm_up: seconds at the front that are known to be one; a tenth of the series is, up to a minute, anyway.
    """
    begin = math.ceil(max(warm_up, min(LONGEST_WARM_UP, len(rates) / 10)))
    values = np.asarray(rates[begin:], dtype=np.float64)
    if len(values) < SHORTEST:
        return None
    levels = _levels(values)
    if not (levels > 0).all():
        return None
    apart = np.abs(values / levels - 1)
    p_value, onset = _onset(apart, float(begin)) if len(values) >= SHORTEST_FOR_ONSET else (None, None)
    after = int(onset.at) - begin if onset else 0
    return LongRun(
        begin=float(begin),
        end=float(len(rates)),
        rate=float(values.mean()),
        fluctuation=float(apart.mean()),
        p_value=p_value,
        onset=onset,
        trend=_trend(values[after:], float(begin + after)),
    )


def _onset(apart: Floats, begin: float) -> tuple[float, Onset | None]:
    """The p value of the best onset, and that onset if it is one.

    :param apart: how far each second is from its level; ``begin`` is the first of them.
    """
    size = max(_SHORTEST_WINDOW, len(apart) // _WINDOWS)
    number = len(apart) // size
    logs = np.log(np.maximum(apart[: number * size].reshape(number, size).mean(axis=1), _FINEST))
    place, p_value, low, high = _divide(logs)
    growth = math.exp(logs[place:].mean() - logs[:place].mean())
    if p_value > LEVEL or growth < LEAST_GROWTH:
        return p_value, None
    # It lies somewhere in one of the two windows that meet there.
    at, earliest, latest = (begin + one * size for one in (place, low - 1, high + 1))
    calm, wild = float(apart[: place * size].mean()), float(apart[place * size :].mean())
    return p_value, Onset(at, earliest, latest, calm, wild)


def _levels(values: Floats) -> Floats:
    """The level around each second: the median of a tenth of the series, and of a minute at least."""
    half = max(30, len(values) // 20)
    padded = np.concatenate([values[half:0:-1], values, values[-2 : -half - 2 : -1]])
    # Medians of so many seconds hardly differ from one second to the next.
    step = half // 6
    medians = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)[::step], axis=1)
    return np.interp(np.arange(len(values)), np.arange(0, len(values), step), medians)


# --- the onset ----------------------------------------------------------------------------------------------


def _edge(number: int) -> int:
    return max(_FEWEST_WINDOWS, number // 10)


def _gains(series: Floats) -> tuple[Floats, Floats]:
    """For each place what a step there explains of the squares of the series, if it leads upwards; and all squares.

    :param series: one in each row.
    """
    number = series.shape[-1]
    places = np.arange(1, number)
    sums = np.cumsum(series, axis=-1)
    whole = sums[..., -1:]
    difference = (whole - sums[..., :-1]) / (number - places) - sums[..., :-1] / places
    gains = np.where(difference > 0, places * (number - places) / number * difference**2, 0.0)
    edge = _edge(number)
    gains[..., : edge - 1] = gains[..., number - edge :] = 0.0
    squares = (series**2).sum(axis=-1) - whole[..., 0] ** 2 / number
    return gains, squares


def _statistics(series: Floats) -> Floats:
    """The largest gain of each row, as a share of the squares that it leaves."""
    gains, squares = _gains(series)
    most = gains.max(axis=-1)
    return np.asarray(most / np.maximum(squares - most, 1e-12))


def _divide(logs: Floats) -> tuple[int, float, int, int]:
    """The window with which the wilder ones begin, the p value, and the first and last that fit nearly as well."""
    gains, squares = _gains(logs)
    place = int(gains.argmax()) + 1
    left = max(float(squares - gains[place - 1]), 1e-12)
    likeness = _likeness(_without_step(logs, place))
    reference = _null_of_onsets(len(logs), likeness)
    observed = float(gains[place - 1]) / left
    p_value = float((1 + (reference >= observed).sum()) / (1 + len(reference)))
    step = (logs[place:].mean() - logs[:place].mean()) / math.sqrt(left / max(1, len(logs) - 2))
    limit = _limit_of_places(len(logs), place, round(float(step), 2), likeness)
    fitting = np.flatnonzero((gains[place - 1] - gains) / left <= limit) + 1
    edge = _edge(len(logs))
    fitting = fitting[(fitting >= edge) & (fitting <= len(logs) - edge)]
    return place, p_value, int(fitting.min()), int(fitting.max())


def _without_step(series: Floats, place: int) -> Floats:
    return np.concatenate([series[:place] - series[:place].mean(), series[place:] - series[place:].mean()])


def _likeness(residuals: Floats, fitted: int = 2) -> float:
    """The correlation of neighbours, with what the fit has taken from it given back; in steps, and upwards.

    :param fitted: how many parameters the residuals are left of.
    """
    squares = float((residuals**2).sum())
    if squares <= 0:
        return 0.0
    seen = float((residuals[1:] * residuals[:-1]).sum()) / squares
    given_back = seen + (fitted + 3 * max(0.0, seen)) / len(residuals)
    return min(_MOST_LIKENESS, max(0.0, math.ceil(given_back / _LIKENESS_STEP) * _LIKENESS_STEP))


@lru_cache(maxsize=256)
def _null_of_onsets(number: int, likeness: float) -> Floats:
    """The statistic of series in which nothing begins."""
    return _statistics(_noise(number, likeness))


@lru_cache(maxsize=256)
def _limit_of_places(number: int, place: int, step: float, likeness: float) -> float:
    """By how much less than the best place the true one explains, at most, in 95 % of series with such a step."""
    series = _noise(number, likeness)
    series = series / series.std() + np.where(np.arange(number) >= place, step, 0.0)
    gains, squares = _gains(series)
    most = gains.max(axis=-1)
    behind = (most - gains[:, place - 1]) / np.maximum(squares - most, 1e-12)
    return float(np.quantile(behind, CONFIDENCE))


def _noise(number: int, likeness: float) -> Floats:
    """Series of normal noise of first order, one in each row; always the same ones."""
    generator = np.random.default_rng([_SEED, number, round(likeness / _LIKENESS_STEP)])
    drawn = generator.standard_normal((_SIMULATED, number))
    for position in range(1, number):
        drawn[:, position] = likeness * drawn[:, position - 1] + math.sqrt(1 - likeness**2) * drawn[:, position]
    return drawn


# --- the trend ----------------------------------------------------------------------------------------------


def _trend(values: Floats, begin: float) -> Trend | None:
    """The trend of a stretch that begins at that second; None if it is too short, or stood still."""
    if len(values) < SHORTEST_TREND:
        return None
    size = len(values) // _BATCHES
    # What does not fill a batch is left out at the front.
    first = len(values) - size * _BATCHES
    means = values[first:].reshape(_BATCHES, size).mean(axis=1)
    if not (means > 0).all():
        return None
    logs = np.log(means)
    slope, error = (float(one[0]) for one in _slopes(logs[np.newaxis]))
    at = np.arange(_BATCHES) - (_BATCHES - 1) / 2
    likeness = min(_MOST_LIKENESS, _likeness(logs - logs.mean() - slope * at) + _UNCERTAIN)
    reach = error * _limit_of_slopes(likeness)
    # From a slope per batch to the whole stretch.
    change, low, high = (math.expm1(one * len(values) / size) for one in (slope, slope - reach, slope + reach))
    return Trend(begin, begin + len(values), change, low, high)


def _slopes(series: Floats) -> tuple[Floats, Floats]:
    """The slope of each row, and its standard error were neighbours nothing alike."""
    number = series.shape[-1]
    at = np.arange(number) - (number - 1) / 2
    squares = (at**2).sum()
    centred = series - series.mean(axis=-1, keepdims=True)
    slopes = centred @ at / squares
    left = ((centred - slopes[:, np.newaxis] * at) ** 2).sum(axis=-1)
    return slopes, np.sqrt(np.maximum(left, 1e-24) / (number - 2) / squares)


@lru_cache(maxsize=64)
def _limit_of_slopes(likeness: float) -> float:
    """How many standard errors a slope of noise is from none, at most, in 95 % of series."""
    slopes, errors = _slopes(_noise(_BATCHES, likeness))
    return float(np.quantile(np.abs(slopes) / errors, CONFIDENCE))
