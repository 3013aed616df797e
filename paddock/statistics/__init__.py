"""The statistics of tournaments: pure functions from laps to verdicts, without input, output or state.

blocks        paired log ratios of a contender to the baseline, block by block
starts        ... and start by start, where the start of the node is the unit
signed_rank   Hodges-Lehmann estimate, exact interval and p-value
holm          several contenders
power         how many blocks a difference needs, and which difference a number of blocks resolves
verdicts      better, worse, equivalent or undecided, and what would decide it
evidence      the e-process: stopping early without false winners
warm_up       blocks to cut at the front; steady_state looks inside a lap
orders        seeded coin-flip orders
start_length  laps per start
description   mean, standard deviation, median of absolute rates

All logs are natural; all ratios are contender / baseline.
"""
