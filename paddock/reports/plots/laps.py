"""Throughput of laps: in the order of their running, above what else the machine did, and second by second inside."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from paddock.reports.figures import whole_seconds
from paddock.reports.plots.canvas import (
    BAND,
    INK,
    MUTED,
    NARROW,
    colour,
    marker,
    new_figure,
    place,
    shortened,
)
from paddock.reports.plots.scales import thousands
from paddock.tournaments.disturbance import disturbed_laps
from paddock.tournaments.model import Lap

# More contenders than there are colours cannot be told apart: then only the baseline keeps its own.
COLOURED = 8
PANELS = 12
# Pixels of the strip below a panel, and between the two.
_STRIP, _STRIP_GAP = 34, 26
# Percent that a strip shows at least: a quiet machine is to look quiet.
_STRIP_TOP = 20.0


def in_order(laps: Sequence[Lap], names: Sequence[str], baseline: str, width: int) -> Figure:
    """One panel per start: each lap a mark at its minute; warm-up shaded, void laps crossed out.

    Where the journal tells, a strip below says what else the machine did during each lap.
    """
    starts = sorted({lap.start for lap in laps})[:PANELS]
    narrow = width <= NARROW
    panel, gap, left, right = 132, 40, 52, 8
    columns = 1 if narrow or len(starts) == 1 else 2
    height_one = 210 if len(starts) == 1 else panel
    watched = [lap for lap in laps if lap.disturbance is not None]
    below = _STRIP + _STRIP_GAP if watched else 0
    rows = math.ceil(len(starts) / columns)
    legend = [*_legend(names, baseline), *(_strip_legend() if watched else ())]
    per_row = max(1, width // (170 if narrow else 190))
    head = 26 + 20 * math.ceil(len(legend) / per_row)
    height = head + rows * (height_one + below + gap) + 4
    figure = new_figure(width, height)
    figure.legend(
        handles=legend, loc="upper left", ncols=per_row, borderaxespad=0, handletextpad=0.4, columnspacing=1.2
    )
    each = (width - columns * (left + right)) / columns
    top_rate = max((lap.docs_per_second for lap in laps), default=1.0) * 1.08 or 1.0
    far = disturbed_laps(laps)
    highest = max([_STRIP_TOP, *(sum(_parts(lap)) for lap in watched), *(_waiting(lap) or 0.0 for lap in watched)])
    for number, start in enumerate(starts):
        row, column = divmod(number, columns)
        place_left = left + column * (each + left + right)
        place_top = head + row * (height_one + below + gap)
        axes = place(figure, place_left, place_top, each, height_one)
        own = [lap for lap in laps if lap.start == start]
        _panel(axes, own, names, baseline)
        axes.set_ylim(0, top_rate)
        title = f"start {start}" if len(starts) > 1 else "docs/s"
        axes.set_title(title if number else f"{title}{', docs/s' if len(starts) > 1 else ''}")
        if watched:
            axes.tick_params(labelbottom=False)
            limits = axes.get_xlim()
            axes = place(figure, place_left, place_top + height_one + _STRIP_GAP, each, _STRIP)
            axes.set_xlim(limits)
            _strip(axes, own, [one.lap for one in far], highest)
        if row == rows - 1 or number + columns >= len(starts):
            axes.set_xlabel("minutes since the start's first lap")
    return figure


def _panel(axes: Axes, laps: Sequence[Lap], names: Sequence[str], baseline: str) -> None:
    first = min(lap.began for lap in laps)
    minutes = [((lap.began - first) / 60, lap.seconds / 60) for lap in laps]
    # A start that was cut off warms up again when it goes on.
    together = zip(minutes, laps, strict=True)
    for warm, run in itertools.groupby(together, key=lambda one: one[1].warmup):
        if warm:
            times = [time for time, _ in run]
            axes.axvspan(times[0][0], times[-1][0] + times[-1][1], color=BAND, linewidth=0)
    size = 7.5 if len(laps) <= 60 else 5.5
    for (begin, length), lap in zip(minutes, laps, strict=True):
        ink, shape = _style(lap.contender, names, baseline)
        middle = begin + length / 2
        if lap.void is not None:
            axes.plot([middle], [lap.docs_per_second], "x", color=INK, markersize=9, markeredgewidth=2.2)
            continue
        face = "none" if lap.warmup else ink
        axes.plot([middle], [lap.docs_per_second], shape, color=ink, markersize=size, markerfacecolor=face)
    axes.set_xlim(0, max(begin + length for begin, length in minutes) * 1.02 or 1)
    axes.grid(axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))


def _strip(axes: Axes, laps: Sequence[Lap], far: Sequence[Lap], highest: float) -> None:
    """Percent of the cores that others had during each lap, and of the time that somebody waited for disk or memory."""
    first = min(lap.began for lap in laps)
    top = highest * 1.35
    for lap in laps:
        if lap.disturbance is None:
            continue
        begin, length = (lap.began - first) / 60, lap.seconds / 60
        others, steal = _parts(lap)
        axes.bar(begin, others, length, align="edge", color=MUTED, linewidth=0)
        axes.bar(begin, steal, length, bottom=others, align="edge", color=INK, linewidth=0)
        if (waiting := _waiting(lap)) is not None:
            axes.plot([begin, begin + length], [waiting, waiting], "-", color=INK, linewidth=1.2)
        if lap in far:
            axes.plot([begin + length / 2], [top * 0.88], "v", color=INK, markersize=5)
    axes.set_ylim(0, top)
    axes.set_title("disturbance, %", fontsize=11)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(2))


def _parts(lap: Lap) -> tuple[float, float]:
    """Percent of all cores of the machine that other processes had, and that other machines had."""
    one = lap.disturbance
    return (100 * one.others / one.cores, 100 * one.steal) if one else (0.0, 0.0)


def _waiting(lap: Lap) -> float | None:
    """Percent of the time in which somebody waited for a disk or for memory; None where the kernel does not tell."""
    one = lap.disturbance
    known = [value for value in (one.io_pressure, one.memory_pressure) if value is not None] if one else []
    return 100 * max(known) if known else None


def _strip_legend() -> list[Line2D | Patch]:
    return [
        Patch(color=MUTED, linewidth=0, label="cores: others"),
        Patch(color=INK, linewidth=0, label="cores: steal"),
        Line2D([], [], color=INK, linewidth=1.2, label="waits: disk, memory"),
        Line2D([], [], color=INK, marker="v", linestyle="", markersize=5, label="far outside"),
    ]


def _style(name: str, names: Sequence[str], baseline: str) -> tuple[str, str]:
    if len(names) > COLOURED:
        return (colour(0), "D") if name == baseline else (MUTED, "o")
    position = list(names).index(name) if name in names else 0
    return colour(position), marker(position)


def _legend(names: Sequence[str], baseline: str) -> list[Line2D]:
    def entry(text: str, ink: str, shape: str, filled: bool = True) -> Line2D:
        face = ink if filled else "none"
        return Line2D([], [], color=ink, marker=shape, linestyle="", markerfacecolor=face, label=shortened(text, 18))

    if len(names) > COLOURED:
        known = [entry(baseline, colour(0), "D"), entry("all others", MUTED, "o")]
    else:
        known = [entry(name, *_style(name, names, baseline)) for name in names]
    return [*known, entry("hollow: warm-up", MUTED, "o", False), entry("crossed: void", INK, "x")]


def inside(laps: Sequence[Lap], names: Sequence[str], width: int) -> Figure:
    """One panel per contender: a thin line per lap (dashed in warm-up), a thick one for the median lap."""
    shown = list(names)[:PANELS]
    columns = 1 if width <= NARROW else min(3, len(shown))
    left, right, panel, gap, head = 52, 10, 120, 50, 26
    rows = math.ceil(len(shown) / columns)
    figure = new_figure(width, head + rows * (panel + gap) + 6)
    each = (width - columns * (left + right)) / columns
    top_rate = max((rate for lap in laps for rate in lap.rates), default=1.0) * 1.05 or 1.0
    longest = max((len(whole_seconds(lap)) for lap in laps), default=1)
    for number, name in enumerate(shown):
        row, column = divmod(number, columns)
        axes = place(figure, left + column * (each + left + right), head + row * (panel + gap), each, panel)
        own = [lap for lap in laps if lap.contender == name and lap.rates and lap.void is None]
        for lap in own:
            rates = whole_seconds(lap)
            style = "--" if lap.warmup else "-"
            axes.plot(range(1, len(rates) + 1), rates, style, color=MUTED, linewidth=0.8, alpha=0.45)
        _median_line(axes, [lap for lap in own if not lap.warmup], number)
        axes.set_ylim(0, top_rate)
        axes.set_xlim(0.5, longest + 0.5)
        axes.set_title(shortened(name, 30) + (", docs/s" if number == 0 else ""))
        axes.grid(axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(3))
        axes.yaxis.set_major_formatter(FuncFormatter(thousands))
        if number + columns >= len(shown):
            axes.set_xlabel("second of the lap")
    return figure


def _median_line(axes: Axes, laps: Sequence[Lap], number: int) -> None:
    """The median rate of each second that at least half of the laps reached."""
    every = [whole_seconds(lap) for lap in laps]
    length = round(median(len(rates) for rates in every)) if laps else 0
    middle = [median(rates[second] for rates in every if len(rates) > second) for second in range(length)]
    if middle:
        axes.plot(
            range(1, length + 1), middle, marker=marker(number), color=colour(number), markersize=5, linewidth=2.2
        )
