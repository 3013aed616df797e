"""A report as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from paddock.reports.comparison import Comparison
from paddock.reports.document import Report, Table
from paddock.reports.plots.drawing import MARKS

_TEMPLATES = Path(__file__).parent / "templates"


def render_html(report: Report) -> str:
    """The report as an HTML page; whatever a user named is escaped."""
    return _environment().get_template("report.html.j2").render(report=report)


def render_comparison_html(comparison: Comparison, tables: tuple[Table, ...]) -> str:
    """The comparison as an HTML page."""
    return _environment().get_template("comparison.html.j2").render(comparison=comparison, tables=tables)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["marks"] = MARKS
    # The plots' SVG is ours, with every text in it escaped when it was drawn.
    environment.filters["drawn"] = Markup
    # A figure and its percent sign stay in one line.
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\u00a0%")
    return environment
