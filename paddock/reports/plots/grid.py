"""Two factors at once: heat maps with the numbers in their cells, and lines over either factor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from paddock.reports.plots.canvas import (
    FAINT,
    HEAT,
    INK,
    MUTED,
    NARROW,
    colour,
    dashes,
    marker,
    new_figure,
    place,
    shortened,
)
from paddock.reports.plots.scales import thousands

Value = Callable[[Any, Any], float | None]
Text = Callable[[float | None], str]


def heat_map(
    across: str, down: str, columns: Sequence[Any], rows: Sequence[Any], value: Value, text: Text, width: int
) -> Figure:
    """A cell per pair: the stronger its colour, the higher its value; the value is written into it.

    :param value: of (column, row); None leaves the cell empty.
    :param text: from a value to what is written.
    """
    figures = {(column, row): value(column, row) for column in columns for row in rows}
    known = [figure for figure in figures.values() if figure is not None and math.isfinite(figure)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    written = {key: text(figure) for key, figure in figures.items() if figure is not None and math.isfinite(figure)}
    longest = max((len(cell) for cell in written.values()), default=1)
    left = 22 + 8 * max(len(shortened(str(row), 12)) for row in rows)
    cell_width = max((width - left - 4) / len(columns), 7.5 * longest + 10, 34.0)
    cell_width = min(cell_width, 120.0)
    cell_height, top, bottom = 32, 4, 44
    total = left + cell_width * len(columns) + 4
    figure = new_figure(total, top + cell_height * len(rows) + bottom)
    axes = place(figure, left, top, cell_width * len(columns), cell_height * len(rows))
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    for across_at, column in enumerate(columns):
        for down_at, row in enumerate(rows):
            if (column, row) in written:
                strength = 0.06 + 0.5 * ((figures[column, row] or 0.0) - low) / ((high - low) or 1.0)
                axes.add_patch(Rectangle((across_at, down_at), 1, 1, facecolor=(HEAT, strength), edgecolor=FAINT))
            else:
                axes.add_patch(Rectangle((across_at, down_at), 1, 1, facecolor="none", edgecolor=FAINT))
            axes.text(across_at + 0.5, down_at + 0.52, written.get((column, row), "-"), ha="center", va="center")
    axes.set_xticks([at + 0.5 for at in range(len(columns))], [shortened(str(column), 12) for column in columns])
    axes.set_yticks([at + 0.5 for at in range(len(rows))], [shortened(str(row), 12) for row in rows])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel(across)
    axes.set_ylabel(down)
    return figure


def lines(
    along: str, by: str, along_values: Sequence[Any], by_values: Sequence[Any], value: Value, width: int
) -> Figure:
    """The value over one factor, a line for each value of the other.

    The places of ``along_values`` are equally far apart: batch sizes of 16 and 32 can be told apart beside 1,250.

    :param value: of (value along, value by).
    """
    narrow = width <= NARROW
    columns = 4 if narrow else 1
    head = 26 + 20 * math.ceil(len(by_values) / columns) if narrow else 10
    left, right, panel = 52, 8 if narrow else 150, 240 if narrow else 330
    figure = new_figure(width, head + panel + 50)
    axes = place(figure, left, head, width - left - right, panel)
    highest = 0.0
    for number, member in enumerate(by_values):
        points = [(at, value(one, member)) for at, one in enumerate(along_values)]
        drawn = [(at, rate) for at, rate in points if rate is not None and math.isfinite(rate)]
        highest = max([highest, *(rate for _, rate in drawn)])
        axes.plot(
            [at for at, _ in drawn],
            [rate for _, rate in drawn],
            dashes(number),
            marker=marker(number + number // 8),
            color=colour(number),
            markersize=6,
            label=shortened(str(member), 12),
        )
    axes.set_ylim(0, highest * 1.06 or 1)
    axes.set_xlim(-0.3, len(along_values) - 0.7)
    axes.set_xticks(range(len(along_values)), [shortened(str(one), 8) for one in along_values])
    axes.grid(axis="y")
    axes.set_xlabel(along)
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    place_of_legend = {"loc": "upper left"} if narrow else {"loc": "upper right", "reverse": False}
    figure.legend(title=by, ncols=columns, borderaxespad=0.1, alignment="left", columnspacing=1.0, **place_of_legend)
    axes.tick_params(color=MUTED, labelcolor=INK)
    return figure
