"""Reports of tournaments and races, and comparisons, from results that are known; nothing is computed here but places.

document      what a report consists of, and it as HTML and Markdown; plots draw its figures
build         puts a tournament's report together from the modules *_sections; write puts it on disk in all its forms
race_report   the report of one race
comparison    races and tournaments side by side, by what origins knows of each
terminal      a tournament's end as text; sentences and figures are what all forms say and show
"""
