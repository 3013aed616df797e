"""Two factors at once: heat maps as tables with the figures in their cells, and lines over either factor."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from html import escape
from typing import Any

from paddock.reports.plots.drawing import SERIES, Panel, ink, legend, linear, named, panels, shape, shortened

Value = Callable[[Any, Any], float | None]
Text = Callable[[float | None], str]
# What stands in a cell whose figure is left out.
LEFT_OUT = "†"


def heat_map(
    across: str,
    down: str,
    columns: Sequence[Any],
    rows: Sequence[Any],
    value: Value,
    text: Text,
    left_out: Collection[tuple[Any, Any]] = (),
) -> str:
    """A cell per pair: the stronger its colour, the higher its value; the value is written into it.

    :param value: of (column, row); None leaves the cell empty.
    :param text: from a value to what is written.
    :param left_out: cells that have a figure which is not believed; they get a mark and a frame instead of it.
    """
    figures = {(column, row): value(column, row) for column in columns for row in rows}
    known = [figure for figure in figures.values() if figure is not None and math.isfinite(figure)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)

    def cell(column: Any, row: Any) -> str:
        where = f"{across} {column}, {down} {row}"
        figure = figures[column, row]
        if (column, row) in left_out:
            return f'<td class="left-out" title="{escape(where)}">{LEFT_OUT}</td>'
        if figure is None or not math.isfinite(figure):
            return f'<td title="{escape(where)}">-</td>'
        strength = 0.06 + 0.5 * (figure - low) / ((high - low) or 1.0)
        said = escape(text(figure))
        return f'<td class="heat" style="--strength:{100 * strength:.0f}%" title="{escape(where)}: {said}">{said}</td>'

    head = "".join(f"<th>{escape(shortened(str(column), 12))}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{escape(shortened(str(row), 12))}</th>{''.join(cell(column, row) for column in columns)}</tr>"
        for row in rows
    )
    corner = f"{escape(down)} \\ {escape(across)}"
    return f'<div class="scroll"><table class="map"><tr><th>{corner}</th>{head}</tr>{body}</table></div>'


def lines(
    along: str, by: str, along_values: Sequence[Any], by_values: Sequence[Any], layers: Sequence[tuple[str, Value]]
) -> str:
    """The value over one factor, a line for each value of the other.

    The places of ``along_values`` are equally far apart: batch sizes of 16 and 32 can be told apart beside 1,250.

    :param layers: title and value of (value along, value by); a panel for each, with a scale of its own.
    """
    found = []
    for title, value in layers:
        courses = [
            [(float(at), figure) for at, one in enumerate(along_values) if (figure := _finite(value(one, member)))]
            for member in by_values
        ]
        highest = max((figure for course in courses for _, figure in course), default=1.0)
        panel = Panel(named(along_values), linear(0, highest * 1.06, 5), 240, title, along)
        for number, (member, course) in enumerate(zip(by_values, courses, strict=True)):
            panel.line(course, _kind(number))
            for at, figure in course:
                hover = f"{along} {along_values[round(at)]}, {by} {member}: {figure:,.4g}"
                panel.mark(at, figure, _shape(number), f"{ink(number)} small", hover)
        found.append(panel.html())
    members = [shortened(str(member), 12) for member in by_values]
    entries = [
        (f"{by} {member}" if not number else member, _shape(number), ink(number))
        for number, member in enumerate(members)
    ]
    return panels(found, legend(entries), least=320)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _shape(number: int) -> str:
    return shape(number + number // SERIES)


def _kind(number: int) -> str:
    return f"{ink(number)} {('', 'dashed', 'dotted')[number // SERIES % 3]}".strip()
