"""Scales of ratios: logarithmic, so that twice and half are equally far from 1, with ticks that can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from paddock.reports import numbers

# Ratios beyond these are drawn at the edge.
_SMALLEST, _LARGEST = 0.01, 100.0


def limits(values: Sequence[float], margin: float = 0.0) -> tuple[float, float]:
    """Ends of an axis on which all finite values, 1 and the margin around it are seen."""
    seen = [value for value in values if math.isfinite(value) and _SMALLEST <= value <= _LARGEST]
    low = min([1 / (1 + 1.5 * margin), *seen])
    high = max([1 + 1.5 * margin, *seen])
    room = max((high / low) ** 0.06, 1.01)
    return low / room, high * room


def ratio_axis(axes: Axes, name: str, low: float, high: float, ticks: int) -> None:
    """Make the axis "x" or "y" one of ratios between ``low`` and ``high``."""
    axis: Axis = axes.xaxis if name == "x" else axes.yaxis
    (axes.set_xscale if name == "x" else axes.set_yscale)("log")
    (axes.set_xlim if name == "x" else axes.set_ylim)(low, high)
    axis.set_major_locator(FixedLocator(_ticks(low, high, ticks)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: numbers.ratio(value)))


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    if high / low > 4:
        inside: list[float] = []
        for digits in ((1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)):
            steps = [digit * 10.0**power for power in range(-3, 3) for digit in digits]
            inside = [step for step in steps if low <= step <= high]
            if len(inside) >= 4:
                break
        return inside if len(inside) <= 2 * wanted else inside[:: 2 if 1 in inside[::2] else 3]
    return [
        float(tick) for tick in MaxNLocator(wanted, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= tick <= high
    ]


def thousands(value: float, _: object = None) -> str:
    """A tick of an axis of rates."""
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:,g}"


def decades(low: float, high: float, wanted: int = 5) -> list[float]:
    """Ticks of a logarithmic axis between two values: 1, 2, 5, 10... as far as they fit, otherwise powers of ten."""
    if high / low <= 4:
        return _ticks(low, high, wanted)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        inside = [digit * 10.0**power for power in powers for digit in digits if low <= digit * 10.0**power <= high]
        if len(inside) <= wanted + 2:
            return inside
    return inside[:: math.ceil(len(inside) / wanted)]
