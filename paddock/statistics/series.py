"""What a series of figures says by itself, without a baseline: those far outside, durations, warm-up, steady state.

Source: K. P. White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69 (1997).
The cut d minimises the squared standard error of what is left: sum over i > d of (x_i - mean)^2 / (n - d)^2.

What is looked at is the time per document, not its reciprocal: several clients can be answered at the same moment, and
the mean of the times is that of the whole, the mean of the rates is not.

Ratios of paired laps do not need this; absolute rates do. MSER-5: White, Cobb, Spratt, A comparison of five
steady-state truncation heuristics for simulation, Winter Simulation Conference 2000. Batch means: Schmeiser, Operations
Research 30 (1982), 10 to 30 batches.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from paddock.statistics.starts import natural_log

# Scaled by this, the median absolute deviation of normal figures is their standard deviation.
MAD_TO_SD = 1.4826
FAR = 5.0


def far_above(figures: Sequence[float], least: float) -> list[int]:
    """Which figures are far above the others: by more than five robust standard deviations, and by more than ``least``.

    Median and median absolute deviation hardly move with the few that are looked for. Where all the others are nearly
    alike, five of their deviations are next to nothing: ``least`` keeps harmless ones from being named.

    :param least: distance from the median in the figures' own unit.
    :returns: positions in ``figures``.
    """
    if not figures:
        return []
    median = statistics.median(figures)
    mad = statistics.median(abs(figure - median) for figure in figures)
    limit = median + max(FAR * MAD_TO_SD * mad, least)
    return [position for position, figure in enumerate(figures) if figure > limit]


# Probabilities are products of fractions: 0.5 may come out a rounding error below it.
_ROUNDING = 1e-9


def censored_quantile(ended: Sequence[float], unended: Sequence[float], share: float) -> float | None:
    """The shortest duration within which that share of all durations ends, by the Kaplan-Meier estimate.

    Leaving out those that were still running, or taking them as ended, would make the durations look shorter than
    they are.

    :param ended: durations that were seen to end, in any unit.
    :param unended: durations so far of those that were not, in the same unit.
    :param share: above 0, up to 1; 0.5 is the median.
    :returns: None if too few were seen to end to tell.
    """
    if not ended:
        return None
    from scipy.stats import CensoredData, ecdf  # half a second, which only results with freshness have to wait for

    estimate = ecdf(CensoredData(uncensored=list(ended), right=list(unended))).cdf
    reached = estimate.quantiles[estimate.probabilities >= share - _ROUNDING]
    return float(reached[0]) if reached.size else None


LEAST_GAIN = 0.5  # of the squared standard error, to make a cut on blocks


@dataclass(frozen=True)
class FrontCut:
    """Blocks to cut at the front.

    :param blocks: how many, for all contenders together.
    :param at_limit: the cut is the largest that was allowed, so the warm-up may not have ended even there.
    """

    blocks: int
    at_limit: bool


def squared_errors(series: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The squared standard error that each cut 0, 1, 2 ... leaves; always two observations or more are left."""
    values = np.asarray(series, dtype=np.float64)
    values = values - values.mean() if len(values) else values  # keeps the differences below from losing digits
    count = np.arange(len(values), 1, -1)
    total = np.cumsum(values[::-1])[::-1][:-1]
    squares = np.cumsum(values[::-1] ** 2)[::-1][:-1]
    # Rounding must not make a cut where all values are equal.
    return np.maximum((squares - total**2 / count) / count**2, 1e-18)


def mser(series: Sequence[float] | NDArray[np.float64], most: int) -> int:
    """The number of observations, at most ``most``, that MSER cuts at the front; the fewest among equals."""
    errors = squared_errors(series)[: max(0, most) + 1]
    return int(np.argmin(errors)) if len(errors) else 0


def front_cut(figures: Mapping[str, Sequence[float | None]], keep: int = 8) -> FrontCut:
    """The blocks that MSER cuts on the block means of the laps' logs: at most half, and at least ``keep`` are left.

    A block's mean does not change when the labels of its laps are exchanged. So, given the cut, contender and baseline
    are still in coin-flip order, and the signed-rank test after the cut is as exact as without it. (Cutting every
    contender by itself, or choosing single blocks by their ratios, would not be.)

    MSER's smallest error is often somewhere in the middle by mere chance, which would cost 3 of 20 blocks of a series
    without any warm-up. So a cut is only made if it at least halves the squared standard error; a real warm-up does.

    :param figures: per contender one positive figure per block, None for void laps; the baseline included.
    :param keep: what the analysis needs: 6 pairs can decide about one contender at 5 %, 8 about four.
    :raises ValueError: if a figure is not positive and finite, or the numbers of blocks differ.
    """
    rows = list(figures.values())
    if len({len(row) for row in rows}) > 1:
        raise ValueError("The contenders have different numbers of blocks; give one figure or None for every block.")
    logs = [[natural_log(lap) for lap in laps if lap is not None] for laps in zip(*rows, strict=True)]
    means = np.array([np.mean(block) if block else np.nan for block in logs])
    valid = np.flatnonzero(~np.isnan(means))
    most = min(len(valid) // 2, len(valid) - keep)
    cut, errors = mser(means[valid], most), squared_errors(means[valid])
    if cut == 0 or errors[cut] > (1 - LEAST_GAIN) * errors[0]:
        return FrontCut(0, at_limit=False)
    return FrontCut(int(valid[cut]), at_limit=cut == most)


FEWEST_BULKS = 400
BATCH = 5  # the 5 of MSER-5
BATCHES_PER_HALF = 10
LARGEST_CHANGE = 0.03
LEVEL = 0.01


class Steadiness(Enum):
    """Whether a throughput is steady."""

    STEADY = "steady"
    NOT_STEADY = "no steady state"
    UNDECIDED = "too noisy to tell"
    TOO_SHORT = "too short to tell"


@dataclass(frozen=True)
class SteadyState:
    """What the throughput of the bulks says.

    :param cut: bulks at the front that belong to the warm-up.
    :param change: docs/s in the second half of the rest / in its first half, minus 1; None if nothing was compared.
    """

    steadiness: Steadiness
    cut: int
    change: float | None = None


def halves_p_value(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Two-sided p of equal means of two halves of a series, respecting that neighbours resemble each other.

    Welch's t on ten batch means per half. What correlation r is left between neighbouring batch means (estimated within
    the halves, with its small-sample bias of about -1/10 taken back) inflates the variance by (1 + r) / (1 - r) and
    lowers the degrees of freedom by the same factor.
    """
    groups = [_batch_means(half, len(half) // BATCHES_PER_HALF) for half in (first, second)]
    residuals = [group - group.mean() for group in groups]
    squares = sum(float((r**2).sum()) for r in residuals)
    difference = float(groups[1].mean() - groups[0].mean())
    if squares <= 0:
        return 1.0 if difference == 0 else 0.0
    products = sum(float((r[1:] * r[:-1]).sum()) for r in residuals)
    correlation = min(0.9, max(0.0, products / squares + 1 / BATCHES_PER_HALF))
    inflation = (1 + correlation) / (1 - correlation)
    variances = [float(group.var(ddof=1)) / len(group) * inflation for group in groups]
    spreads = [v**2 / max(1.0, len(g) / inflation - 1) for v, g in zip(variances, groups, strict=True)]
    freedom = sum(variances) ** 2 / sum(spreads)
    from scipy.special import stdtr  # a third of a second, which plans and lists need not wait for

    return float(2 * stdtr(freedom, -abs(difference) / math.sqrt(sum(variances))))


def _batch_means(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Means of consecutive batches of ``size``; what does not fill a batch is left out at the front."""
    batches = len(values) // size
    return values[len(values) - batches * size :].reshape(batches, size).mean(axis=1)


def steady_state(seconds_per_document: Sequence[float]) -> SteadyState:
    """Judge the throughput of consecutive bulks.

    :param seconds_per_document: of every bulk, in order of time: seconds since the answer before / its documents.
    """
    values = np.asarray(seconds_per_document, dtype=np.float64)
    if len(values) < FEWEST_BULKS:
        return SteadyState(Steadiness.TOO_SHORT, 0)
    values = values / values.mean()
    whole = values[: len(values) // BATCH * BATCH].reshape(-1, BATCH).mean(axis=1)
    # The last few cuts leave so little that their standard error is an accident.
    cut = BATCH * mser(whole, len(whole) - BATCH)
    if cut > len(values) / 2:
        return SteadyState(Steadiness.NOT_STEADY, cut)
    rest = values[cut:]
    first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    change = float(first.mean() / second.mean() - 1)
    if abs(change) <= LARGEST_CHANGE:
        return SteadyState(Steadiness.STEADY, cut, change)
    # A trend looks much like neighbours that resemble each other: that it is not proved does not make it steady.
    moving = halves_p_value(first, second) < LEVEL
    return SteadyState(Steadiness.NOT_STEADY if moving else Steadiness.UNDECIDED, cut, change)
