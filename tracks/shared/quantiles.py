"""Quantiles of what a lap measured, with nothing but the standard library: Rally brings no numpy."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(values: Sequence[float], share: float) -> float | None:
    """The quantile of complete observations, interpolated linearly between two; None of nothing.

    :param share: 0 to 1; 0.5 is the median.
    """
    if not values:
        return None
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def censored_quantile(ended: Sequence[float], unended: Sequence[float], share: float) -> float | None:
    """The quantile of durations of which some were still running when the watching stopped (Kaplan-Meier).

    Leaving those out, or taking them as ended, would make the durations look shorter than they are.

    :param ended: durations that were seen to end.
    :param unended: durations so far of those that were not.
    :returns: None if too few ended to tell.
    """
    still_running = 1.0
    for duration in sorted(set(ended)):
        at_risk = sum(1 for other in (*ended, *unended) if other >= duration)
        still_running *= 1 - sum(1 for other in ended if other == duration) / at_risk
        if still_running <= 1 - share + 1e-9:
            return duration
    return None
