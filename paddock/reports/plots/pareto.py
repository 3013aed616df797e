"""Price beside speed: which contender nobody beats in both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from paddock.reports.plots.canvas import INK, MUTED, NARROW, PAPER, SERIES, new_figure, place, shortened
from paddock.reports.plots.scales import limits, ratio_axis

# From this quotient of largest and smallest on, the axis of prices is logarithmic.
_WIDE_RANGE = 20
_LABELLED = 6
# Pixels that a letter and a line of a label take, and by which a label may be moved; the letters that fit.
_LETTER, _LINE, _FARTHEST, _LONGEST = 6.6, 14, 40, 22


@dataclass(frozen=True)
class Trade:
    """Points of one plot: ratio of speed and price, by contender.

    :param at_least: contenders whose price is only known to be that high or higher.
    """

    title: str
    higher_price_is_better: bool
    speeds: Mapping[str, float]
    prices: Mapping[str, float]
    at_least: frozenset[str] = frozenset()


def best(trade: Trade, higher_speed_is_better: bool) -> tuple[str, ...]:
    """Contenders that no other equals or beats in both and beats in one; in the order of their speed."""
    speed_sign = 1 if higher_speed_is_better else -1
    price_sign = 1 if trade.higher_price_is_better else -1
    points = {
        name: (speed_sign * trade.speeds[name], price_sign * trade.prices[name])
        for name in trade.speeds
        if name in trade.prices
    }
    unbeaten = [
        name
        for name, (speed, price) in points.items()
        if not any(
            other_speed >= speed and other_price >= price and (other_speed, other_price) != (speed, price)
            for other_speed, other_price in points.values()
        )
    ]
    return tuple(sorted(unbeaten, key=lambda name: (trade.speeds[name], name)))


def pareto(trades: list[Trade], axis: str, baseline: str, higher_speed_is_better: bool, width: int) -> Figure:
    """A panel per price, speed to the right; filled marks and their line are the contenders that nobody beats.

    A triangle points upwards from a price that is at least so high.
    """
    columns = 1 if width <= NARROW or len(trades) == 1 else 2
    left, right, panel, gap, head = 58, 14, 200, 66, 28
    rows = math.ceil(len(trades) / columns)
    if columns == 1:
        panel = 230
    figure = new_figure(width, head + rows * (panel + gap) - 18)
    each = (width - columns * (left + right)) / columns
    for number, trade in enumerate(trades):
        row, column = divmod(number, columns)
        axes = place(figure, left + column * (each + left + right), head + row * (panel + gap), each, panel)
        _panel(axes, trade, baseline, best(trade, higher_speed_is_better))
        axes.set_title(trade.title)
        axes.set_xlabel(axis)
    return figure


def _panel(axes: Axes, trade: Trade, baseline: str, unbeaten: tuple[str, ...]) -> None:
    names = [name for name in trade.speeds if name in trade.prices]
    speeds = [trade.speeds[name] for name in names]
    charges = [trade.prices[name] for name in names]
    low, high = limits(speeds, 0.02)
    room = (high / low) ** 0.12
    ratio_axis(axes, "x", low / room, high * room, 5)
    lowest, highest = min(charges), max(charges)
    if lowest > 0 and highest / lowest > _WIDE_RANGE:
        axes.set_yscale("log")
        axes.set_ylim(lowest / 2, highest * 2.5)
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        spread = (highest - lowest) or abs(highest) * 0.1 or 1.0
        axes.set_ylim(lowest - 0.25 * spread, highest + 0.35 * spread)
        axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.grid()
    axes.axvline(1, color=INK, linewidth=1)
    axes.plot([trade.speeds[name] for name in unbeaten], [trade.prices[name] for name in unbeaten], color=SERIES[0])
    for name in names:
        ink, face = (SERIES[0], SERIES[0]) if name in unbeaten else (MUTED, "none")
        shape = "^" if name in trade.at_least else "D" if name == baseline else "o"
        axes.plot([trade.speeds[name]], [trade.prices[name]], shape, color=ink, markerfacecolor=face, markersize=8)
    labelled = [name for name in names if len(names) <= _LABELLED or name in unbeaten[-2:] or name == baseline]
    _labels(axes, {name: (trade.speeds[name], trade.prices[name]) for name in labelled}, math.sqrt(low * high))


def _labels(axes: Axes, points: Mapping[str, tuple[float, float]], middle: float) -> None:
    """Names beside their points: to the left of those on the right, and moved up where they would overlap."""
    taken: list[tuple[float, float, float]] = []
    places = {name: axes.transData.transform(point) for name, point in points.items()}
    for name in sorted(points, key=lambda name: places[name][1]):
        text = shortened(name, _LONGEST)
        length = _LETTER * len(text)
        across, up = places[name]
        before = points[name][0] > middle
        begin = across - length - 8 if before else across + 8
        height = up
        while any(
            begin < end and begin + length > start and abs(height - other) < _LINE for start, end, other in taken
        ):
            height += 3
        if height - up > _FARTHEST:
            continue
        taken.append((begin, begin + length, height))
        axes.annotate(
            text,
            points[name],
            xytext=(-9 if before else 9, height - up),
            textcoords="offset points",
            ha="right" if before else "left",
            va="center",
            fontsize=11.5,
            bbox={"facecolor": (PAPER, 0.75), "edgecolor": "none", "pad": 0.5},
        )
