"""How many laps a start should have: starts are dear, laps are cheap, and both are noisy.

Source: the optimal cluster size of two-stage sampling (Cochran, Sampling Techniques, 3rd edition, section 10.6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Variances:
    """Variances of log figures: between the laps of a start, and between starts beyond what the laps explain."""

    lap: float
    start: float


def variance_components(starts: Sequence[Sequence[float]]) -> Variances:
    """Split the variance of log figures into laps and starts (one-way analysis of variance).

    :param starts: per start the logs of its laps' figures.
    :raises ValueError: unless there are two starts and one of them has two laps.
    """
    groups = [np.asarray(start, dtype=np.float64) for start in starts if len(start)]
    total = sum(len(group) for group in groups)
    if len(groups) < 2 or total <= len(groups):
        raise ValueError("Two starts with together more laps than starts are needed to tell their variances apart.")
    mean = float(np.concatenate(groups).mean())
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / (total - len(groups))
    between = sum(len(group) * (float(group.mean()) - mean) ** 2 for group in groups) / (len(groups) - 1)
    typical_laps = (total - sum(len(group) ** 2 for group in groups) / total) / (len(groups) - 1)
    return Variances(lap=within, start=max(0.0, (between - within) / typical_laps))


def laps_per_start(
    start_seconds: float, lap_seconds: float, variances: Variances, fewest: int = 5, most: int = 12
) -> int:
    """m* = sqrt(cost of a start / cost of a lap * variance of laps / variance of starts), rounded and clamped.

    :param start_seconds: what a start costs beside its laps: stop, launch, warm-up.
    :param lap_seconds: what one more lap of it costs.
    :raises ValueError: if a duration is not positive or a variance is negative.
    """
    if not (start_seconds > 0 and lap_seconds > 0 and variances.lap >= 0 and variances.start >= 0):
        raise ValueError("Durations must be positive and variances must not be negative.")
    if variances.start == 0:
        return most  # no reason for another start but the scope of the claim
    best = math.sqrt(start_seconds / lap_seconds * variances.lap / variances.start)
    return max(fewest, min(most, round(best)))
