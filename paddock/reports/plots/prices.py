"""Price beside speed, with the contenders that nobody beats in both; published ratios beside measured ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddock import numbers
from paddock.reports.plots.drawing import (
    Interval,
    Panel,
    Row,
    legend,
    linear,
    logarithmic,
    panels,
    ratios,
    rows_of_ratios,
    shortened,
)

# From this quotient of largest and smallest on, the axis of prices is logarithmic.
_WIDE_RANGE = 20
_LABELLED = 6
_LONGEST = 18
# Published ratios that are listed one by one; of more, a cloud of points is drawn.
LISTED = 20


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


def pareto(trades: Sequence[Trade], axis: str, baseline: str, higher_speed_is_better: bool) -> str:
    """A panel per price, speed to the right; filled marks and their line are the contenders that nobody beats.

    A triangle points upwards from a price that is at least so high.
    """
    return panels([_trade(trade, axis, baseline, best(trade, higher_speed_is_better)).html() for trade in trades])


def _trade(trade: Trade, axis: str, baseline: str, unbeaten: tuple[str, ...]) -> Panel:
    names = [name for name in trade.speeds if name in trade.prices]
    charges = [trade.prices[name] for name in names]
    lowest, highest = min(charges), max(charges)
    speeds = ratios([trade.speeds[name] for name in names], 0.04)
    if lowest > 0 and highest / lowest > _WIDE_RANGE:
        prices = logarithmic(lowest / 2, highest * 2.5)
    else:
        spread = (highest - lowest) or abs(highest) * 0.1 or 1.0
        prices = linear(lowest - 0.25 * spread, highest + 0.35 * spread)
    panel = Panel(speeds, prices, 200, trade.title, axis)
    panel.upright(1, "one")
    panel.line([(trade.speeds[name], trade.prices[name]) for name in unbeaten], "series-1 thin")
    for name in names:
        kind = "series-1" if name in unbeaten else "muted hollow"
        shape = "up" if name in trade.at_least else "diamond" if name == baseline else "circle"
        charge = f"{'over ' if name in trade.at_least else ''}{numbers.figure(trade.prices[name])}"
        hover = f"{name}: {numbers.ratio(trade.speeds[name])}, {trade.title} {charge}"
        panel.mark(trade.speeds[name], trade.prices[name], shape, kind, hover)
        if len(names) <= _LABELLED or name in unbeaten[-2:] or name == baseline:
            panel.label(trade.speeds[name], trade.prices[name], shortened(name, _LONGEST))
    return panel


@dataclass(frozen=True)
class StudyRow:
    """One contender's ratios; the interval is that of the measured one."""

    name: str
    published: float
    measured: float
    low: float
    high: float


def side_by_side(rows: Sequence[StudyRow], axis: str) -> str:
    """A line per contender with a diamond (published) and a disc with its interval (measured)."""
    entries = [("published", "diamond", "series-2 hollow"), ("measured here", "circle", "series-1")]
    drawn = []
    for row in rows:
        published, measured = numbers.ratio(row.published), numbers.ratio(row.measured)
        intervals = (
            Interval(row.measured, row.low, row.high, "circle", "series-1", f"{row.name}: measured {measured}"),
            Interval(row.published, 0, math.inf, "diamond", "series-2 hollow", f"{row.name}: published {published}"),
        )
        drawn.append(Row(row.name, f"published {published}, measured {measured}", intervals))
    return rows_of_ratios(drawn, 0.0, axis, legend(entries))


def cloud(rows: Sequence[StudyRow]) -> str:
    """A point per contender: published ratio to the right, measured one upwards; on the line they agree."""
    both = ratios([value for row in rows for value in (row.published, row.measured)], 0.02, 5)
    panel = Panel(both, both, 340, "measured ratio", "published ratio to the baseline")
    panel.line([(both.low, both.low), (both.high, both.high)], "muted dashed thin")
    panel.upright(1, "one")
    panel.flat(1, "one")
    for row in rows:
        agrees = (math.log(row.published) > 0) == (math.log(row.measured) > 0)
        shape, kind = ("circle", "series-1") if agrees else ("cross", "series-2")
        hover = f"{row.name}: published {numbers.ratio(row.published)}, measured {numbers.ratio(row.measured)}"
        panel.mark(row.published, row.measured, shape, kind, hover)
    return panels(
        [panel.html()], legend([("same direction", "circle", "series-1"), ("other direction", "cross", "series-2")])
    )
