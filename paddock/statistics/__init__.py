"""The statistics of tournaments: pure functions from laps to verdicts, without input, output or state.

starts        log ratios of a contender to the baseline, block by block, or start by start where that is the unit
signed_rank   Hodges-Lehmann estimate, exact interval and p-value; Holm's procedure for several contenders
power         how many blocks a difference needs, and which difference a number of blocks resolves
verdicts      better, worse, equivalent or undecided, and what would decide it
evidence      the e-process: stopping early without false winners
warm_up       blocks to cut at the front, and whether the rest is steady
description   mean, standard deviation, median of absolute rates; quantiles of durations still running

All logs are natural; all ratios are contender / baseline.
"""
