"""Synthetic tournaments with everything that is wrong with a real machine: for tests whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

WARM_UP_FACTOR = 7.0
# Of a calibration: how often a bound is broken by a procedure that errs exactly as often as it may.
FALSE_ALARMS = 0.001


def most_errors(runs: int, rate: float) -> int:
    """The number of errors that a procedure of this error rate exceeds in FALSE_ALARMS of all series of so many runs.

    A quantile of the binomial distribution: at a rate of 5 % it is 41 of 500, 73 of 1,000 and 299 of 5,000. A procedure
    that errs in 10 % is found out with 500 runs in 90 %, one that errs in 9 % with 1,000 runs in 97 %, and one that
    errs in 7 % with 5,000 runs in more than 99 % of all series.
    """
    return int(binom.isf(FALSE_ALARMS, runs, rate))


@dataclass(frozen=True)
class Machine:
    """The disturbances; logs and laps are the units.

    noise: standard deviation of a lap's own noise.
    walk: standard deviation of a step of the random walk from lap to lap.
    slope: linear drift per lap.
    stall_every, stall: every so many laps one lap loses this much (periodic garbage collection, a cron job).
    warm_up_laps: time constant of the way up from a seventh of the final speed.
    """

    noise: float = 0.12
    walk: float = 0.03
    slope: float = 0.005
    stall_every: int = 7
    stall: float = 0.4
    warm_up_laps: float = 3.0

    def background(self, generator: np.random.Generator, runs: int, laps: int) -> NDArray[np.float64]:
        """What the machine does to the log rate of each lap, whoever runs: one row per simulated tournament."""
        time = np.arange(laps)
        warm_up = -np.log(WARM_UP_FACTOR) * np.exp(-time / self.warm_up_laps)
        walk = np.cumsum(generator.normal(0, self.walk, (runs, laps)), axis=1)
        phase = generator.integers(0, self.stall_every, (runs, 1))
        stalls = np.where((time + phase) % self.stall_every == 0, -self.stall, 0.0)
        direction = generator.choice([-1.0, 1.0], (runs, 1))
        noise = generator.normal(0, self.noise, (runs, laps))
        return warm_up + walk + direction * self.slope * time + stalls + noise


def tournaments(
    generator: np.random.Generator, runs: int, blocks: int, effects: list[float], machine: Machine
) -> NDArray[np.float64]:
    """Rates of randomised blocks, shape (runs, blocks, contenders); ``effects`` are the contenders' true logs."""
    contenders = len(effects)
    background = machine.background(generator, runs, blocks * contenders).reshape(runs, blocks, contenders)
    position = np.argsort(generator.random((runs, blocks, contenders)), axis=2)  # of each contender in its block
    return np.exp(np.take_along_axis(background, position, axis=2) + np.asarray(effects) + np.log(20_000))
