"""Synthetic tournaments with everything that is wrong with a real machine: for tests whose truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from paddock.statistics.evidence import log_evidence
from paddock.statistics.verdicts import MARGIN, Outcome, judge_early

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
    heavy: degrees of freedom of the noise, which is Student's instead of normal; few have heavy tails.
    start: standard deviation of what a launch of the node makes of each contender, in all its laps.
    stall_every, stall: every so many laps one lap loses this much (periodic garbage collection, a cron job).
    warm_up_laps: time constant of the way up from a seventh of the final speed.
    """

    noise: float = 0.12
    walk: float = 0.03
    slope: float = 0.005
    stall_every: int = 7
    stall: float = 0.4
    warm_up_laps: float = 3.0
    heavy: float | None = None
    start: float = 0.0

    def background(self, generator: np.random.Generator, runs: int, laps: int) -> NDArray[np.float64]:
        """What the machine does to the log rate of each lap, whoever runs: one row per simulated tournament."""
        time = np.arange(laps)
        warm_up = -np.log(WARM_UP_FACTOR) * np.exp(-time / self.warm_up_laps)
        walk = np.cumsum(generator.normal(0, self.walk, (runs, laps)), axis=1)
        phase = generator.integers(0, self.stall_every, (runs, 1))
        stalls = np.where((time + phase) % self.stall_every == 0, -self.stall, 0.0)
        direction = generator.choice([-1.0, 1.0], (runs, 1))
        if self.heavy is None:
            noise = generator.normal(0, self.noise, (runs, laps))
        else:
            noise = self.noise * generator.standard_t(self.heavy, (runs, laps))
        return warm_up + walk + direction * self.slope * time + stalls + noise


def tournaments(
    generator: np.random.Generator, runs: int, blocks: int, effects: list[float], machine: Machine
) -> NDArray[np.float64]:
    """Rates of randomised blocks, shape (runs, blocks, contenders); ``effects`` are the contenders' true logs."""
    contenders = len(effects)
    background = machine.background(generator, runs, blocks * contenders).reshape(runs, blocks, contenders)
    position = np.argsort(generator.random((runs, blocks, contenders)), axis=2)  # of each contender in its block
    own = generator.normal(0, machine.start, (runs, 1, contenders)) if machine.start else 0.0
    return np.exp(np.take_along_axis(background, position, axis=2) + np.asarray(effects) + own + np.log(20_000))


def dropping(rates: NDArray[np.float64], laps: int | None = None, alpha: float = 0.05) -> tuple[dict[str, int], int]:
    """Who a tournament drops, and when it ends: looked at after every block, by the verdicts that a run is given.

    :param rates: of one tournament without its warm-up, shape (blocks, contenders), the baseline first.
    :param laps: that its budget pays for, so that whoever stays has more blocks; None for as many as it takes.
    :returns: contender -> pairs at which the e-process decided it, and the blocks that were run.
    """
    logs, blocks = np.log(rates), len(rates)
    differences = logs[:, 1:] - logs[:, :1]
    comparisons = differences.shape[1]
    threshold = math.log(comparisons / alpha)
    # What cannot have been decided needs no interval: neither "no difference" nor both edges of the margin refuted.
    against = [
        np.array([log_evidence(differences[:, rival] - centre) for rival in range(comparisons)]) >= threshold
        for centre in (0.0, math.log1p(MARGIN), -math.log1p(MARGIN))
    ]
    worth_a_look = against[0] | (against[1] & against[2])
    decided: dict[str, int] = {}
    for block in range(1, blocks + 1):
        if laps is not None:
            laps -= 1 + comparisons - len(decided)
            if laps < 0:
                return decided, block - 1
        for rival in np.flatnonzero(worth_a_look[:, block - 1]):
            name = f"contender {rival + 1}"
            if name not in decided:
                seen = judge_early(name, differences[:block, rival], comparisons, alpha=alpha)
                if seen.outcome is not Outcome.UNDECIDED:
                    decided[name] = block
        if len(decided) == comparisons:
            return decided, block
    return decided, blocks
