"""Figures for people: as many digits as mean something, thousands separated, ratios, intervals and times."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timezone

NOTHING = "-"
UNBOUNDED = "unbounded"


def count(value: float) -> tuple[str, str]:
    """A whole number."""
    return f"{value:,.0f}", ""


def amount(value: float) -> str:
    """A measured number with at least three significant digits and no more decimals than that takes."""
    size = abs(value)
    if size == 0:
        return "0"
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{value:,.{decimals}f}"


def _in(unit: str) -> Callable[[float], tuple[str, str]]:
    return lambda value: (amount(value), unit)


seconds, milliseconds, rate = _in("s"), _in("ms"), _in("docs/s")
bytes_each = _in("B")  # per document, which are few


def size(value: float) -> tuple[str, str]:
    """Bytes in the largest binary unit of which there is at least one."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= factor:
            return amount(value / factor), unit
    return f"{value:,.0f}", "B"


def percent(value: float) -> tuple[str, str]:
    """A share (0 to 1) as a percentage; one that is not zero never looks like zero."""
    if 0 < value < 0.0001:
        return "<0.01", "%"
    return amount(100 * value), "%"


def figure(value: float | None) -> str:
    """A measured figure with at least three significant digits; a hyphen if there is none."""
    return NOTHING if value is None or not math.isfinite(value) else amount(value)


def money(amount: float | None) -> str:
    """An amount of money, to the hundredth from 1 on and with three digits below; a hyphen if there is none."""
    if amount is None or not math.isfinite(amount):
        return NOTHING
    size = abs(amount)
    if size == 0:
        return "0"
    decimals = 0 if size >= 99_950 else 2 if size >= 0.995 else 2 - math.floor(math.log10(size))
    return f"{amount:,.{decimals}f}"


def ratio(value: float | None) -> str:
    """A ratio with the digits that a measurement of this kind can have: 1.03, 12.5, 140, 0.041."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞"
    if 0 < value < 0.1:
        return f"{value:.2g}"
    return f"{value:.2f}" if value < 10 else amount(value) if value >= 100 else f"{value:.1f}"


def change(value: float | None) -> str:
    """A ratio as a change in percent: +31 %, -2.5 %; one decimal below 10 %."""
    if value is None or not math.isfinite(value):
        return NOTHING
    percent = 100 * (value - 1)
    text = f"{percent:+,.1f}" if abs(percent) < 9.95 else f"{percent:+,.0f}"
    return f"{'0.0' if text in ('+0.0', '-0.0') else text} %"


def interval(low: float, high: float) -> str:
    """The interval of a ratio; in words where it has no end."""
    if low <= 0 and math.isinf(high):
        return UNBOUNDED
    begin, end = ratio(low), ratio(high)
    if begin == end and low != high and math.isfinite(high):
        begin, end = f"{low:.4f}", f"{high:.4f}"
    return f"{begin} to {end}"


def share(value: float | None, decimals: int = 0) -> str:
    """A share (0 to 1) in percent."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{100 * value:.{decimals}f} %"


def margin(value: float) -> str:
    """A margin (0 to 1) in percent, as it was asked for."""
    return f"{100 * value:.3g} %"


def confidence(value: float) -> str:
    """A confidence (0 to 1) in percent, never rounded up to certainty."""
    whole = f"{100 * value:.0f}"
    if abs(float(whole) - 100 * value) < 0.05 and float(whole) < 100:
        return f"{whole} %"
    return f"{min(100 * value, 99.9):.1f} %"


def p_value(value: float) -> str:
    """A p-value with two significant digits, or that it is under a thousandth."""
    if math.isnan(value):
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def moment(seconds: float) -> str:
    """A time since the epoch as date and time of UTC, to the minute."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def duration(seconds: float) -> str:
    """A duration in seconds, minutes, hours and minutes, or days."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes >= 2880:
        return f"{minutes / 1440:,.0f} days"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def plural(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 lap, 2 laps."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
