"""Two factors at once: heat maps with the numbers in their cells, and lines over either factor."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
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
# What stands in a cell whose figure is left out.
LEFT_OUT = "†"


def heat_map(
    across: str,
    down: str,
    columns: Sequence[Any],
    rows: Sequence[Any],
    value: Value,
    text: Text,
    width: int,
    left_out: Collection[tuple[Any, Any]] = (),
) -> Figure:
    """A cell per pair: the stronger its colour, the higher its value; the value is written into it.

    :param value: of (column, row); None leaves the cell empty.
    :param text: from a value to what is written.
    :param left_out: cells that have a figure which is not believed; they get a mark and a frame instead of it.
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
            missing = "-"
            if (column, row) in left_out:
                missing = LEFT_OUT
                frame = Rectangle((across_at + 0.06, down_at + 0.1), 0.88, 0.8, facecolor="none", edgecolor=INK)
                axes.add_patch(frame)
            axes.text(across_at + 0.5, down_at + 0.52, written.get((column, row), missing), ha="center", va="center")
    axes.set_xticks([at + 0.5 for at in range(len(columns))], [shortened(str(column), 12) for column in columns])
    axes.set_yticks([at + 0.5 for at in range(len(rows))], [shortened(str(row), 12) for row in rows])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel(across)
    axes.set_ylabel(down)
    return figure


def lines(
    along: str,
    by: str,
    along_values: Sequence[Any],
    by_values: Sequence[Any],
    panels: Sequence[tuple[str, Value]],
    width: int,
) -> Figure:
    """The value over one factor, a line for each value of the other.

    The places of ``along_values`` are equally far apart: batch sizes of 16 and 32 can be told apart beside 1,250.

    :param panels: title and value of (value along, value by); several stand side by side, on a phone below each other,
        each with a scale of its own.
    """
    narrow = width <= NARROW
    across = 1 if narrow else len(panels)
    down = len(panels) // across
    columns = 4 if narrow else 1
    legend = 26 + 20 * math.ceil(len(by_values) / columns) if narrow else 0
    titled, under = (26 if any(title for title, _ in panels) else 10), 50
    left, gap, right = 52, 8, 0 if narrow else 142
    panel = 240 if narrow else max(330, 20 * len(by_values) + 16)
    figure = new_figure(width, legend + down * (titled + panel + under))
    each = (width - right) / across
    for number, (title, value) in enumerate(panels):
        row, column = divmod(number, across)
        top = legend + titled + row * (titled + panel + under)
        axes = place(figure, column * each + left, top, each - left - gap, panel)
        _lines(axes, along_values, by_values, value)
        axes.set_title(title)
        axes.set_xlabel(along)
    place_of_legend: Literal["upper left", "upper right"] = "upper left" if narrow else "upper right"
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc=place_of_legend,
        title=by,
        ncols=columns,
        borderaxespad=0.1,
        alignment="left",
        columnspacing=1.0,
    )
    return figure


def _lines(axes: Axes, along_values: Sequence[Any], by_values: Sequence[Any], value: Value) -> None:
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
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    axes.tick_params(color=MUTED, labelcolor=INK)
