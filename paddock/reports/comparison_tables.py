"""A comparison as tables, and those as text, Markdown or HTML."""

from __future__ import annotations

from paddock.reports import numbers
from paddock.reports.comparison import Comparison, Difference
from paddock.reports.document import Table
from paddock.reports.html import render_comparison_html
from paddock.reports.markdown import escaped, markdown_table
from paddock.reports.terminal import text_table, wrapped

# Wider than any table.
_ENDLESS = 1_000_000


def comparison_tables(comparison: Comparison) -> tuple[Table, ...]:
    """Figures, verdicts and differences; tables without a row are left out."""
    metrics = tuple(dict.fromkeys(name for row in comparison.rows for name in row.figures))
    figures = Table(
        "Figures",
        ("of", "source", *metrics),
        tuple(
            (row.name, row.source, *(row.figures.get(metric, numbers.NOTHING) for metric in metrics))
            for row in comparison.rows
        ),
        tuple(range(2, len(metrics) + 2)),
    )
    tables = (
        figures,
        _side_by_side("Ratios to the baseline", "contender", comparison.verdicts, comparison.sources),
        _side_by_side("What is not the same", "circumstance", comparison.differences, comparison.sources),
    )
    return tuple(table for table in tables if table.rows)


def render_comparison(comparison: Comparison, form: str = "text", width: int = 100) -> str:
    """The comparison as "text", "markdown" or "html"; warnings first."""
    tables = comparison_tables(comparison)
    if form == "html":
        return render_comparison_html(comparison, tables)
    if form == "markdown":
        blocks = [f"# {escaped(comparison.title)}", "\n".join(f"- {escaped(text)}" for text in comparison.warnings)]
        blocks += [block for table in tables for block in markdown_table(table)]
        return "\n\n".join(block for block in blocks if block) + "\n"
    warnings = "\n".join(wrapped(text, width, "! ", "  ") for text in comparison.warnings)
    blocks = [comparison.title, warnings, *(_text(table, width) for table in tables)]
    return "\n\n".join(block for block in blocks if block)


def _text(table: Table, width: int) -> str:
    """The table as it is, or turned round, or as a paragraph per row: the first that fits into the lines."""
    for way in (table, _turned(table)):
        text = text_table(way, _ENDLESS)
        if max(len(line) for line in text.splitlines()) <= width:
            return text
    labels = max(len(header) for header in table.headers[1:])
    lines = [table.caption]
    for row in table.rows:
        lines.append(wrapped(row[0], width, "  ", "    "))
        for header, cell in zip(table.headers[1:], row[1:], strict=True):
            if cell != numbers.NOTHING:
                lines.append(wrapped(f"{header:<{labels}}  {cell}", width, "    ", "      "))
    return "\n".join(lines)


def _turned(table: Table) -> Table:
    """Rows become columns."""
    columns = list(zip(*table.rows, strict=True))
    rows = tuple((header, *column) for header, column in zip(table.headers[1:], columns[1:], strict=True))
    return Table(table.caption, (table.headers[0], *columns[0]), rows, tuple(range(1, len(table.rows) + 1)))


def _side_by_side(caption: str, of: str, lines: tuple[Difference, ...], sources: tuple[str, ...]) -> Table:
    return Table(caption, (of, *sources), tuple((line.name, *line.values) for line in lines))
