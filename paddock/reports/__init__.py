"""Reports of tournaments: HTML, Markdown, JSON, CSV, JUnit and text, all made from one Result; of races; comparisons.

document     what a report consists of; build puts it together from the modules *_sections
plots        SVG for the page, in its colours, for a desktop and for a phone
html, markdown, terminal, as_json, as_csv, junit   one form each
write        all of them into a folder
origins, comparison, comparison_tables             races and tournaments side by side
race_report   the report of one race, from race_growth (growing data), race_load (a paced load) and race_sections
"""

from paddock.reports.as_json import result_as_json, result_from_json
from paddock.reports.comparison import Comparison, compare
from paddock.reports.comparison_tables import render_comparison
from paddock.reports.origins import RaceRecord
from paddock.reports.race_report import find_out, race_report_as_json, render_race_terminal, write_race_report
from paddock.reports.terminal import render_terminal
from paddock.reports.write import read_result, write_report

__all__ = [
    "Comparison",
    "RaceRecord",
    "compare",
    "find_out",
    "race_report_as_json",
    "read_result",
    "render_comparison",
    "render_race_terminal",
    "render_terminal",
    "result_as_json",
    "result_from_json",
    "write_race_report",
    "write_report",
]
