"""Tournaments: configurations compared by paired laps in randomised blocks, as docs/tournaments.md says.

model         what passes between the layers: definition, laps, result
contenders    as listed, or as the cells of a grid; a published study's figures
files         tournament files (tournaments/*.yml) -> definition, checked
schedule      definition + seed -> the order of everything
durations     how long laps and starts take, and what earlier journals say of it
plan          schedule + durations -> minutes, what fits, what can be resolved
journal       everything that happens, appended and fsynced
laps          the lap runner's lines -> laps, those void that do not count; lap_cautions: what they cannot tell
pairing       laps -> paired differences in each metric
analysis      laps -> result, by the pure statistics of paddock.statistics; notes: what is said beside it
options       the command line -> definition and races
store         tournaments on disk, resume
run           schedule -> races -> journal; view: where it stands, and what a person sees of it
command       ./inv tournament
"""
