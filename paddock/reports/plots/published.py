"""Published and measured ratios to the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paddock.reports.plots.canvas import FAINT, INK, MUTED, NARROW, PAPER, SERIES, new_figure, place, shortened
from paddock.reports.plots.scales import limits, ratio_axis

# More contenders than these become a cloud of points instead of a line each.
LISTED = 20


@dataclass(frozen=True)
class StudyRow:
    """One contender's ratios; the interval is that of the measured one."""

    name: str
    published: float
    measured: float
    low: float
    high: float


def side_by_side(rows: Sequence[StudyRow], axis: str, width: int) -> Figure:
    """A line per contender with a diamond (published) and a disc with its interval (measured)."""
    narrow = width <= NARROW
    step, head, bottom = (50 if narrow else 40), 30, 48
    left, right = (8, 8) if narrow else (210, 40)
    figure = new_figure(width, head + step * len(rows) + bottom)
    axes = place(figure, left, head, width - left - right, step * len(rows))
    low, high = limits([value for row in rows for value in (row.published, row.measured, row.low, row.high)], 0.02)
    ratio_axis(axes, "x", low, high, 4 if narrow else 7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.axvline(1, color=INK, linewidth=1.2)
    for at, row in enumerate(rows):
        line = at + 0.18 if narrow else at
        if narrow:
            axes.text(
                0,
                at - 0.26,
                shortened(row.name, 40),
                transform=axes.get_yaxis_transform(),
                va="center",
                weight="bold",
                bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.5},
            )
        else:
            name = shortened(row.name, 26)
            axes.text(-0.02, line, name, transform=axes.get_yaxis_transform(), va="center", ha="right", weight="bold")
        ends = (max(row.low, low), min(row.high, high))
        axes.plot(ends, (line, line), color=SERIES[0], linewidth=2.4, solid_capstyle="butt")
        axes.plot([row.measured], [line], "o", color=SERIES[0], markersize=9)
        axes.plot(
            [row.published], [line], "D", color=SERIES[1], markersize=9, markerfacecolor="none", markeredgewidth=2
        )
        if at:
            axes.axhline(at - 0.5, color=FAINT, linewidth=0.8)
    axes.set_xlabel(axis)
    figure.legend(handles=_legend(), loc="upper left", ncols=2, borderaxespad=0)
    return figure


def _legend() -> list[Line2D]:
    published = Line2D([], [], color=SERIES[1], marker="D", linestyle="", markerfacecolor="none", label="published")
    return [published, Line2D([], [], color=SERIES[0], marker="o", linestyle="-", label="measured here")]


def cloud(rows: Sequence[StudyRow], width: int) -> Figure:
    """A point per contender: published ratio to the right, measured one upwards; on the line they agree."""
    left, top, bottom = 58, 26, 50
    side = min(width - left - 12, 440)
    figure = new_figure(left + side + 12, top + side + bottom)
    axes = place(figure, left, top, side, side)
    low, high = limits([value for row in rows for value in (row.published, row.measured)], 0.02)
    ratio_axis(axes, "x", low, high, 5)
    ratio_axis(axes, "y", low, high, 5)
    axes.grid()
    axes.plot((low, high), (low, high), "--", color=MUTED, linewidth=1.2)
    axes.axvline(1, color=INK, linewidth=1)
    axes.axhline(1, color=INK, linewidth=1)
    for row in rows:
        agrees = (math.log(row.published) > 0) == (math.log(row.measured) > 0)
        shape, ink = ("o", SERIES[0]) if agrees else ("X", SERIES[1])
        axes.plot([row.published], [row.measured], shape, color=ink, markersize=6)
    axes.set_xlabel("published ratio to the baseline")
    axes.set_title("measured ratio (disc: same direction, cross: other)")
    return figure
