"""A paced load over time: how late bulks were, and how many documents were due and acknowledged."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from paddock.reports.plots.canvas import BAND, INK, MUTED, NARROW, SERIES, new_figure, place
from paddock.reports.plots.scales import decades, thousands
from paddock.reports.race_load import Load


def over_time(load: Load, width: int) -> Figure:
    """Latency above, throughput below, peaks shaded."""
    narrow = width <= NARROW
    left, right, gap = 58, 14, 44
    head = 20 * (3 if narrow else 1) + 26
    latency, throughput = (170, 120) if narrow else (220, 130)
    figure = new_figure(width, head + latency + gap + throughput + 46)
    figure.legend(
        handles=_legend(any(phase.is_peak for phase in load.phases)),
        loc="upper left",
        ncols=2 if narrow else 5,
        borderaxespad=0,
        columnspacing=1.3,
    )
    inner = width - left - right
    above = place(figure, left, head, inner, latency)
    below = place(figure, left, head + latency + gap, inner, throughput)
    end = max(load.moments[-1].begin + load.moments[-1].seconds, load.phases[-1].end)
    for axes in (above, below):
        _shade(axes, load)
        axes.set_xlim(0, end)
        axes.xaxis.set_major_locator(MaxNLocator(5 if narrow else 10))
        axes.grid(axis="y")
    _latency(above, load)
    _throughput(below, load)
    return figure


def _shade(axes: Axes, load: Load) -> None:
    for phase in load.phases:
        if phase.is_peak:
            axes.axvspan(phase.begin, phase.end, color=BAND, linewidth=0)
        if phase.name == "warm-up":
            axes.axvline(phase.end, color=INK, linewidth=1, linestyle="--")


def _latency(axes: Axes, load: Load) -> None:
    known = [moment for moment in load.moments if moment.median]
    middles = [moment.begin + moment.seconds / 2 for moment in known]
    medians = [moment.median or 0.0 for moment in known]
    largest = [moment.maximum or 0.0 for moment in known]
    low, high = min(medians) / 1.3, max(largest) * 1.3
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator(decades(low, high)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    axes.plot(middles, largest, "-", color=SERIES[1], linewidth=1.2)
    axes.plot(middles, medians, "-", color=SERIES[0], linewidth=2.2)
    axes.set_title("latency, ms")


def _throughput(axes: Axes, load: Load) -> None:
    edges = [load.phases[0].begin, *(phase.end for phase in load.phases)]
    axes.stairs([phase.rate for phase in load.phases], edges, color=MUTED, linewidth=1.4, linestyle=":", baseline=None)
    middles = [moment.begin + moment.seconds / 2 for moment in load.moments]
    axes.plot(middles, [moment.acknowledged for moment in load.moments], "-", color=SERIES[2], linewidth=1.8)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    axes.set_title("docs/s")
    axes.set_xlabel("seconds since the load began")


def _legend(peaks: bool) -> list[Line2D | Patch]:
    lines: list[Line2D | Patch] = [
        Line2D([], [], color=SERIES[0], linewidth=2.2, label="median latency"),
        Line2D([], [], color=SERIES[1], linewidth=1.2, label="largest"),
        Line2D([], [], color=SERIES[2], linewidth=1.8, label="acknowledged"),
        Line2D([], [], color=MUTED, linestyle=":", label="due"),
    ]
    return [*lines, Patch(color=BAND, label="peak")] if peaks else lines
