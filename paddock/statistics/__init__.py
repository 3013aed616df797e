"""The statistics of tournaments: pure functions from laps to verdicts, without input, output or state.

starts        log ratios of a contender to the baseline, block by block, or start by start where that is the unit
signed_rank   Hodges-Lehmann estimate, exact interval and p-value; Holm's procedure; how many blocks a difference needs
evidence      the e-process: stopping early without false winners
verdicts      better, worse, equivalent or undecided, and what would decide it
sustained     a long series of rates: the onset of its fluctuation, and its trend
curves        a grid of means: the logarithm through one of its lines, and its knee
series        without a baseline: figures far outside, durations still running, blocks to cut, a steady state

All logs are natural; all ratios are contender / baseline.
"""
