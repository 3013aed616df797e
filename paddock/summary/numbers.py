"""Figures for people: thousands separators, as many digits as mean something, the unit beside."""

from __future__ import annotations


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


def seconds(value: float) -> tuple[str, str]:
    """A time in seconds."""
    return amount(value), "s"


def milliseconds(value: float) -> tuple[str, str]:
    """A time in milliseconds."""
    return amount(value), "ms"


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
