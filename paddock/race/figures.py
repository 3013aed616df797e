"""The figures of a race as every view shows them: named, with digits, unit and the reason where one is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from paddock import numbers
from paddock.plain_values import Figure, Missing

# From a figure to its digits, as many as mean something, and its unit.
Form: TypeAlias = Callable[[float], tuple[str, str]]


@dataclass(frozen=True)
class NamedFigure:
    """A figure as every view shows it.

    :param note: how it came about; empty where the name says it all.
    :param short: name and unit where races or tasks stand side by side; empty where it is not shown there.
    """

    name: str
    figure: Figure
    form: Form
    note: str = ""
    short: str = ""

    @property
    def text(self) -> str:
        """Digits and unit; a hyphen if it is missing."""
        return numbers.NOTHING if isinstance(self.figure, Missing) else " ".join(self.form(self.figure)).rstrip()

    @property
    def digits(self) -> str:
        """The digits alone, below a heading with the unit."""
        return numbers.NOTHING if isinstance(self.figure, Missing) else self.form(self.figure)[0]


@dataclass(frozen=True)
class Activity:
    """How often something was done and how long it took altogether."""

    count: Figure
    seconds: Figure

    def figures(self, name: str) -> tuple[NamedFigure, ...]:
        """The count, and how long it took only where anything was done."""
        counted = NamedFigure(name, self.count, numbers.count)
        return (counted, NamedFigure(f"{name}, time", self.seconds, numbers.seconds)) if self.count else (counted,)


def quotient(dividend: Figure, divisor: Figure, times: float = 1.0) -> Figure:
    """``dividend / divisor * times``, or the reason why there is none."""
    if isinstance(dividend, Missing):
        return dividend
    if isinstance(divisor, Missing):
        return divisor
    return dividend / divisor * times if divisor else Missing("There is nothing to divide by: the count is zero.")
