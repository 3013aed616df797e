"""Absolute figures, described: they stand beside the ratios, no verdict rests on them; and durations still running."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Scaled by this, the median absolute deviation of normal figures is their standard deviation.
MAD_TO_SD = 1.4826
FAR = 5.0


@dataclass(frozen=True)
class Description:
    """A contender's valid laps in the metric's unit.

    n: valid laps; void: laps that are not counted.
    sd: sample standard deviation; None for fewer than two laps.
    mad: median absolute deviation from the median, not scaled to the normal's standard deviation.
    The others are None without a valid lap.
    """

    n: int
    void: int
    mean: float | None
    sd: float | None
    median: float | None
    mad: float | None
    lowest: float | None
    highest: float | None


def describe(figures: Sequence[float | None]) -> Description:
    """Describe the figures of one contender's laps; None stands for a void lap."""
    valid = [figure for figure in figures if figure is not None]
    void = len(figures) - len(valid)
    if not valid:
        return Description(0, void, None, None, None, None, None, None)
    median = statistics.median(valid)
    return Description(
        n=len(valid),
        void=void,
        mean=statistics.fmean(valid),
        sd=statistics.stdev(valid) if len(valid) > 1 else None,
        median=median,
        mad=statistics.median(abs(figure - median) for figure in valid),
        lowest=min(valid),
        highest=max(valid),
    )


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
    from scipy.stats import (
        CensoredData,
        ecdf,
    )  # takes half a second, which only results with freshness have to wait for

    estimate = ecdf(CensoredData(uncensored=list(ended), right=list(unended))).cdf
    reached = estimate.quantiles[estimate.probabilities >= share - _ROUNDING]
    return float(reached[0]) if reached.size else None
