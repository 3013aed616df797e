"""Service time over the size of the data: one panel per query, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from paddock.reports.plots.canvas import MUTED, NARROW, SERIES, new_figure, place, shortened
from paddock.reports.plots.scales import decades, thousands
from paddock.reports.race_growth import QueryGrowth

_MEDIAN, _P90 = SERIES[0], SERIES[1]


def over_size(queries: Sequence[QueryGrowth], width: int) -> Figure:
    """A panel per query with median, 90th percentile, and what would be proportional to the data."""
    narrow = width <= NARROW
    columns = 1 if narrow else min(3, len(queries))
    left, right, panel, gap, head = 56, 14, 130, 56, 30 + (22 if narrow else 0)
    rows = math.ceil(len(queries) / columns)
    figure = new_figure(width, head + rows * (panel + gap) + 4)
    figure.legend(handles=_legend(), loc="upper left", ncols=2 if narrow else 3, borderaxespad=0, columnspacing=1.4)
    each = (width - columns * (left + right)) / columns
    values = [value for one in queries for size in one.sizes for value in (size.median, size.p90) if value]
    documents = sorted({size.documents for one in queries for size in one.sizes})
    low, high = min(values) / 1.3, max(values) * 1.3
    for number, query in enumerate(queries):
        row, column = divmod(number, columns)
        axes = place(figure, left + column * (each + left + right), head + 14 + row * (panel + gap), each, panel)
        _axes(axes, documents, low, high)
        _lines(axes, query)
        axes.set_title(shortened(query.query, 34) + (", ms" if number == 0 else ""))
        if number + columns >= len(queries):
            axes.set_xlabel("documents in the index")
    return figure


def _axes(axes: Axes, documents: Sequence[int], low: float, high: float) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(documents[0] / 1.25, documents[-1] * 1.25)
    axes.set_ylim(low, high)
    axes.xaxis.set_major_locator(FixedLocator(list(documents)))
    axes.yaxis.set_major_locator(FixedLocator(decades(low, high)))
    axes.xaxis.set_major_formatter(FuncFormatter(thousands))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.grid()


def _lines(axes: Axes, query: QueryGrowth) -> None:
    known = [size for size in query.sizes if size.median]
    if known:
        first = known[0]
        proportional = [(first.median or 0.0) * size.documents / first.documents for size in known]
        axes.plot([size.documents for size in known], proportional, ":", color=MUTED, linewidth=1.4)
    for value, ink, shape, style in (("p90", _P90, "s", "--"), ("median", _MEDIAN, "o", "-")):
        points = [(size.documents, getattr(size, value)) for size in query.sizes if getattr(size, value)]
        axes.plot([at for at, _ in points], [each for _, each in points], style, marker=shape, color=ink, markersize=6)


def _legend() -> list[Line2D]:
    return [
        Line2D([], [], color=_MEDIAN, marker="o", linestyle="-", label="median"),
        Line2D([], [], color=_P90, marker="s", linestyle="--", label="90th percentile"),
        Line2D([], [], color=MUTED, linestyle=":", label="proportional to the data"),
    ]
