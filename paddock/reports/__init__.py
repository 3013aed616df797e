"""Reports of tournaments and races, and comparisons, from results that are known; nothing is computed here but places.

document      what a report consists of, and it as HTML and Markdown; drawing: what its plots are made of
write         a tournament's report, put together and in all its forms
verdicts, laps, prices, grids  its parts; sentences and figures are what all of them say and show
race_report   the report of one race
comparison    races and tournaments side by side, by how each came about
"""
