"""Tournaments: configurations compared by paired laps in randomised blocks, as docs/method.md says.

model       what passes between the layers: definition, plan, laps, result
files       tournament files (tournaments/*.yml) -> definition
plan        definition + seed -> plan, with its price and what it can resolve
journal     laps on disk, appended and fsynced; resume
run         plan -> races -> laps
analysis    laps -> result, by the pure statistics of paddock.statistics
"""
