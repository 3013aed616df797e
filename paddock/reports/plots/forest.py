"""Ratios with their intervals beside the baseline's 1 and the margin of equivalence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paddock.reports.plots.canvas import BAND, FAINT, INK, MUTED, NARROW, PAPER, SERIES, new_figure, place, shortened
from paddock.reports.plots.scales import limits, ratio_axis
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER

_STYLES = {FASTER: ("^", SERIES[0]), SLOWER: ("v", SERIES[1]), EQUIVALENT: ("s", SERIES[2])}
_UNDECIDED = ("o", MUTED)


@dataclass(frozen=True)
class ForestRow:
    """One contender.

    :param text: what is written beside its interval.
    """

    name: str
    verdict: str
    ratio: float | None
    low: float
    high: float
    text: str


def forest(rows: Sequence[ForestRow], margin: float, axis: str, width: int) -> Figure:
    """One line per contender: shape and colour by its verdict, bar for its interval."""
    narrow = width <= NARROW
    step, top, bottom = (50, 6, 48) if narrow else (36, 6, 48)
    left, right = (8, 8) if narrow else (210, 290)
    height = top + step * len(rows) + bottom
    figure = new_figure(width, height)
    axes = place(figure, left, top, width - left - right, step * len(rows))
    ends = [end for row in rows if row.ratio is not None for end in (row.low, row.ratio, row.high)]
    low, high = limits(ends, margin)
    ratio_axis(axes, "x", low, high, 4 if narrow else 7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.axvspan(1 / (1 + margin), 1 + margin, color=BAND, linewidth=0)
    axes.axvline(1, color=INK, linewidth=1.2)
    axes.set_xlabel(axis)
    for position, row in enumerate(rows):
        at = position + 0.2 if narrow else position
        _interval(axes, row, at, low, high)
        if narrow:
            head, ground = position - 0.24, {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
            place_of: Any = {"transform": axes.get_yaxis_transform(), "va": "center", "bbox": ground}
            axes.text(0, head, shortened(row.name, 20), weight="bold", **place_of)
            axes.text(1, head, row.text, ha="right", fontsize=11.5, **place_of)
            if position:
                axes.axhline(position - 0.5, color=FAINT, linewidth=0.8)
        else:
            place_left, place_right = -14 / (width - left - right), 1 + 14 / (width - left - right)
            name = shortened(row.name, 26)
            axes.text(
                place_left, at, name, transform=axes.get_yaxis_transform(), va="center", ha="right", weight="bold"
            )
            axes.text(place_right, at, row.text, transform=axes.get_yaxis_transform(), va="center")
    return figure


def _interval(axes: Axes, row: ForestRow, at: float, low: float, high: float) -> None:
    shape, ink = _STYLES.get(row.verdict, _UNDECIDED)
    if row.ratio is None or not low <= row.ratio <= high:
        return
    filled = "none" if (shape, ink) == _UNDECIDED else ink
    axes.plot([row.ratio], [at], shape, color=ink, markersize=10, markerfacecolor=filled, markeredgewidth=2, zorder=4)
    if row.low <= 0 and math.isinf(row.high):
        return
    ends = (max(row.low, low), min(row.high, high))
    axes.plot(ends, (at, at), color=ink, linewidth=2.4, solid_capstyle="butt")
    for end, whole, arrow in (
        (ends[0], row.low >= low, "<"),
        (ends[1], row.high <= high and math.isfinite(row.high), ">"),
    ):
        axes.plot([end], [at], "|" if whole else arrow, color=ink, markersize=9 if whole else 7, clip_on=False)
