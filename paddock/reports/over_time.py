"""Plots of what a race used over time: of its components, and of several races over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddock import numbers
from paddock.race.over_time import COLLECTION, DISK, MEMORY, PROCESSORS, RATE, UNITS, OverTime, Series
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import LONGEST, Panel, ink, legend, linear, shape, shortened, stacked

_MEASURES = (RATE, PROCESSORS, MEMORY, DISK, COLLECTION)
_HEIGHT = 110
# More races over each other cannot be told apart, by their colours or otherwise.
MOST_RACES = 4
_MOMENTS = 150  # at which figures are shown where one points
_MARKS = 6  # on each line, so that it is told apart by its shape as well


def time_section(found: OverTime) -> Section:
    """What every component used over time, with the times of load shaded."""
    components = list(dict.fromkeys(one.component for one in found.series if one.measure != RATE))
    looks = {component: number for number, component in enumerate(components)}
    end = max(at for one in found.series for at, _ in one.points)
    panels = []
    told = [measure for measure in _MEASURES if found.of(measure)]
    for measure in told:
        series = found.of(measure)
        panel = _panel(measure, series, end, last=measure == told[-1])
        for begin, until in found.loads:
            panel.box("band", (max(begin, 0.0), until))
        for one in series:
            _draw(panel, one, looks.get(one.component), len(series) > 1)
        _touch(panel, {one.component: one for one in series}, end)
        panels.append(panel)
    entries = [(shortened(name, LONGEST), shape(number), ink(number)) for name, number in looks.items()]
    entries.append(("load", "box", "band"))
    table = _table("Each component over time", [(one.component, one) for one in found.series])
    words = " ".join(_in_words(one.component, one) for one in found.series)
    reading = (
        "Seconds count from the first document. Processor time, memory and writes are those of the nodes' processes "
        "and of all processes of the load driver together; garbage collection is for how long it "
        "stopped the node, as it says itself."
    )
    plot = Plot("over-time", "What was used over time", words, legend(entries) + stacked(*panels), table, reading)
    return Section("Over time", plots=(plot,))


def overlay(races: Sequence[tuple[str, OverTime]]) -> Plot | None:
    """Several races over each other, the first MOST_RACES of them; None if there are not two.

    :param races: what each is called, and it over time.
    """
    shown = list(races[:MOST_RACES])
    if len(shown) < 2:
        return None
    lines = {measure: [(name, of.whole(measure)) for name, of in shown] for measure in _MEASURES}
    told = [measure for measure in _MEASURES if any(one is not None for _, one in lines[measure])]
    end = max(at for measure in told for _, one in lines[measure] if one for at, _ in one.points)
    panels = []
    for measure in told:
        known = [one for _, one in lines[measure] if one is not None]
        panel = _panel(measure, known, end, last=measure == told[-1])
        for number, (_, one) in enumerate(lines[measure]):
            if one is not None:
                _draw(panel, one, number, marked=True)
        _touch(panel, {name: one for name, one in lines[measure] if one is not None}, end)
        panels.append(panel)
    entries = [(shortened(name, LONGEST), shape(number), ink(number)) for number, (name, _) in enumerate(shown)]
    rows = [(name, one) for measure in told for name, one in lines[measure] if one is not None]
    words = " ".join(_in_words(name, one) for name, one in rows)
    reading = (
        "Seconds count from each race's first document; figures are those of all nodes together, and each point is the "
        "mean of some seconds. Lines that lie apart prove no difference: single races differ by themselves."
    )
    if len(races) > MOST_RACES:
        left = ", ".join(name for name, _ in races[MOST_RACES:])
        reading += f" More than {MOST_RACES} lines cannot be told apart: {left} stay out; compare fewer at once."
    drawn, table = legend(entries) + stacked(*panels), _table("Each race over time", rows)
    return Plot("overlay", "The races over each other", words, drawn, table, reading)


def _panel(measure: str, series: Sequence[Series], end: float, last: bool) -> Panel:
    highest = max((value for one in series for _, value in one.points), default=0.0)
    up = linear(0, highest * 1.06 or 1.0, 3)
    title = f"{measure}, {UNITS[measure]}" if measure != RATE else UNITS[measure]
    below = "seconds since the first document" if last else ""
    return Panel(linear(0, end or 1.0, 8), up, _HEIGHT, title, below, names=last)


def _draw(panel: Panel, one: Series, number: int | None, marked: bool) -> None:
    """A line, and where there are several marks on it: at other places than those of its neighbours.

    :param number: of its colour and mark; None for what is no component's.
    """
    panel.line(one.points, "ink" if number is None else ink(number))
    if number is not None and marked and one.points:
        step = max(1, len(one.points) // _MARKS)
        for at, value in one.points[(number * step) // MOST_RACES :: step]:
            panel.mark(at, value, shape(number), f"{ink(number)} small")


def _touch(panel: Panel, named: Mapping[str, Series], end: float) -> None:
    """The figures of each moment, where one points at it."""
    width = max(1.0, end / _MOMENTS)
    told: dict[int, dict[str, float]] = {}
    for name, one in named.items():
        for at, value in one.points:
            told.setdefault(int(at // width), {}).setdefault(name, value)
    for number, figures in sorted(told.items()):
        said = ", ".join(f"{name} {numbers.figure(value)}" for name, value in figures.items())
        panel.box("touch", (number * width, (number + 1) * width), hover=f"second {number * width:.0f}: {said}")


def _table(caption: str, rows: Sequence[tuple[str, Series]]) -> Table:
    cells = tuple(
        (name, one.measure, UNITS[one.measure], numbers.figure(one.mean), numbers.figure(one.peak))
        for name, one in rows
    )
    return Table(
        f"{caption}: mean while documents came in, and peak", ("of", "measure", "unit", "mean", "peak"), cells, (3, 4)
    )


def _in_words(name: str, one: Series) -> str:
    mean, peak = numbers.figure(one.mean), numbers.figure(one.peak)
    return f"{name}, {one.measure}: {mean} {UNITS[one.measure]} on average, {peak} at most."
