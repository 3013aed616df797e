"""Reports of tournaments: HTML, Markdown, JSON, CSV, JUnit and text, all made from one Result; of races; comparisons.

document     what a report consists of; build puts it together from the modules *_sections
plots        SVG for the page, in its colours, for a desktop and for a phone
html, markdown, terminal, as_json, as_csv, junit   one form each
write        all of them into a folder
origins, comparison, comparison_tables             races and tournaments side by side
race_report   the report of one race, from race_growth (growing data), race_load (a paced load) and race_sections

Nothing is imported here, because plots take a second to import, and most commands draw none.
"""
