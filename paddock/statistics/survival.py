"""Quantiles of durations of which some were still running when the watching stopped."""

from __future__ import annotations

from collections.abc import Sequence

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
