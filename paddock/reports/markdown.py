"""A report as Markdown: the same sentences and tables, without plots."""

from __future__ import annotations

from paddock.reports.document import Report, Section, Table

# A table of all laps belongs into the CSV file, not into a page that is read as text.
LONGEST_TABLE = 40
_SPECIAL = str.maketrans({character: "\\" + character for character in "\\`*_[]<>|#&"})


def render_markdown(report: Report) -> str:
    """The report; names cannot break a table or bring HTML into the page."""
    blocks = [f"# {escaped(report.title)}", f"**{escaped(report.verdict)}**", escaped(report.subtitle)]
    for section in report.sections:
        blocks += _section(section)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _section(section: Section) -> list[str]:
    blocks = [f"## {escaped(section.heading)}", *(escaped(text) for text in section.paragraphs)]
    for table in (*(plot.table for plot in section.plots), *section.tables):
        blocks += markdown_table(table)
    blocks.append("\n".join(f"- {escaped(text)}" for text in section.items))
    blocks.append("\n".join(f"- {escaped(name)}: {escaped(text)}" for name, text in section.facts))
    return blocks + [_code(command) for command in section.commands]


def markdown_table(table: Table) -> list[str]:
    """The table under its caption; of a long one the caption says where it is."""
    if len(table.rows) > LONGEST_TABLE:
        return [f"{escaped(table.caption)}: {len(table.rows)} rows, which the HTML report and the JSON file have."]
    rule = ["---:" if column in table.figures else "---" for column in range(len(table.headers))]
    rows = [[escaped(header) for header in table.headers], rule]
    rows += [[escaped(cell) for cell in row] for row in table.rows]
    return [f"{escaped(table.caption)}:", "\n".join("| " + " | ".join(row) + " |" for row in rows)]


def escaped(text: str) -> str:
    """The text as one line in which no character means anything to Markdown."""
    return " ".join(text.translate(_SPECIAL).split())


def _code(command: str) -> str:
    fence = "```"
    while fence in command:
        fence += "`"
    return f"{fence}\n{command}\n{fence}"
