"""Plots of what a race used over time: of its components, of a long load, and of several races over each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paddock import numbers
from paddock.race.over_time import (
    COLLECTION,
    DISK_BUSY,
    HEAP,
    INDICES,
    MEMORY,
    MOST_POINTS,
    PROCESSORS,
    RATE,
    READ,
    UNITS,
    WRITTEN,
    OverTime,
    Series,
)
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import LONGEST, Panel, Scale, ink, legend, linear, shape, shortened, stacked

NAMES = {
    RATE: "docs/s",
    PROCESSORS: "processors",
    MEMORY: "memory",
    HEAP: "heap in use",
    WRITTEN: "written to disks",
    READ: "read from disks",
    COLLECTION: "garbage collection",
    DISK_BUSY: "disk at work",
    "merging_threads": "merging threads at work",
    "merge_throttled": "merging threads made to wait",
    "throttled": "indexing made to wait",
    "segments": "segments",
    "translog_mib": "translog to be flushed, MiB",
}
# Panels: what each shows, the first as a line, the second dashed, the third dotted.
_PANELS = ((RATE,), (PROCESSORS,), (MEMORY, HEAP), (WRITTEN,), (READ,), (DISK_BUSY,), (COLLECTION,))
_LONG_PANELS = (("merging_threads", "merge_throttled", "throttled"), ("segments",), ("translog_mib",))
_OVERLAID_PANELS = ((RATE,), (PROCESSORS,), (MEMORY,), (WRITTEN,), (COLLECTION,))
_STYLES = ("", " dashed", " dotted")
_HEIGHT = 110
# More races over each other cannot be told apart, by their colours or otherwise.
MOST_RACES = 4
_OVERLAID_POINTS = 60
_MOMENTS = 150  # at which figures are shown where one points
_MARKS = 6  # on each line, so that it is told apart by its shape as well


@dataclass(frozen=True)
class _Line:
    """A line: what it is called, and the number of its colour and mark; None for what is no component's."""

    name: str
    series: Series
    number: int | None
    style: str = ""


def time_section(found: OverTime) -> Section:
    """What every component used over time, with the times of load shaded."""
    return Section("Over time", plots=(time_plot(found, "over-time", "What was used over time"),))


def time_plot(
    found: OverTime,
    name: str,
    title: str,
    long: bool = False,
    mark: Callable[[Panel, Scale], None] | None = None,
    further: Sequence[tuple[str, str, str]] = (),
) -> Plot:
    """The plot of what every component used.

    :param long: whether merges and the like have panels, too, and the load is all there is: not shaded then.
    :param mark: draws into the panel of documents; ``further`` is what the legend says of that.
    """
    panels = shown(found, long)
    components = list(dict.fromkeys(one.component for each in panels for one in each if one.component != INDICES))
    looks = {component: number for number, component in enumerate(components)}
    drawn = []
    for each in panels:
        measures = list(dict.fromkeys(one.measure for one in each))
        lines = [_Line(_said(one), one, looks.get(one.component), _STYLES[measures.index(one.measure)]) for one in each]
        panel, scale = _panel(measures, lines, found.number, each is panels[-1])
        if not long:
            for begin, until in found.loads:
                panel.box("band", (max(begin, 0.0), until))
        if mark and measures[0] == RATE:
            mark(panel, scale)
        _draw(panel, lines, MOST_POINTS, len(looks) > 1)
        drawn.append(panel)
    entries = [(shortened(name, LONGEST), shape(number), ink(number)) for name, number in looks.items()]
    entries += further or [("load", "box", "band")]
    told = [(one.component, one, found.loads) for each in panels for one in each]
    reading = (
        "Seconds count from the first document. Processor time, memory, reads and writes are those of the nodes' "
        "processes and of all processes of each other component together; garbage collection is for how long it "
        "stopped nodes, as they say themselves. A disk at work all the time may still be able to do more at once."
    )
    words = " ".join(_in_words(*one) for one in told)
    return Plot(
        name, title, words, legend(entries) + stacked(*drawn), _table("Each component over time", told), reading
    )


def shown(found: OverTime, long: bool) -> list[list[Series]]:
    """The series of each panel; those of which nothing is known are left out, and reads where there were none."""
    panels = [
        [one for measure in measures for one in found.of(measure)]
        for measures in (*_PANELS, *(_LONG_PANELS if long else ()))
    ]
    return [each for each in panels if each and (each[0].measure != READ or any(one.peak for one in each))]


def overlay(races: Sequence[tuple[str, OverTime]]) -> Plot | None:
    """Several races over each other, the first MOST_RACES of them; None if there are not two.

    :param races: what each is called, and it over time.
    """
    first = list(races[:MOST_RACES])
    if len(first) < 2:
        return None
    panels = [
        [_Line(name, one, number) for number, (name, of) in enumerate(first) if (one := of.whole(measure)) is not None]
        for (measure,) in _OVERLAID_PANELS
    ]
    known, end, drawn = [lines for lines in panels if lines], max(of.number for _, of in first), []
    for lines in known:
        panel, _ = _panel([lines[0].series.measure], lines, end, lines is known[-1])
        _draw(panel, lines, _OVERLAID_POINTS, marked=True)
        drawn.append(panel)
    entries = [(shortened(name, LONGEST), shape(number), ink(number)) for number, (name, _) in enumerate(first)]
    loads = {name: of.loads for name, of in first}
    told = [(line.name, line.series, loads[line.name]) for lines in known for line in lines]
    reading = (
        "Seconds count from each race's first document; figures are those of all nodes together, and each point is the "
        "mean of some seconds. Lines that lie apart prove no difference: single races differ by themselves."
    )
    if len(races) > MOST_RACES:
        left = ", ".join(name for name, _ in races[MOST_RACES:])
        reading += f" More than {MOST_RACES} lines cannot be told apart: {left} stay out; compare fewer at once."
    words = " ".join(_in_words(*one) for one in told)
    table = _table("Each race over time", told)
    return Plot("overlay", "The races over each other", words, legend(entries) + stacked(*drawn), table, reading)


def _panel(measures: Sequence[str], lines: Sequence[_Line], end: float, last: bool) -> tuple[Panel, Scale]:
    up = linear(0, max(line.series.peak for line in lines) * 1.06 or 1.0, 3)
    unit = UNITS.get(measures[0], "")
    title = NAMES[measures[0]] + (f", {unit}" if unit not in ("", NAMES[measures[0]]) else "")
    further = "; ".join(f"{style.strip()}: {NAMES[one]}" for one, style in zip(measures[1:], _STYLES[1:], strict=False))
    below = "seconds since the first document" if last else ""
    panel = Panel(
        linear(0, end or 1.0, 8), up, _HEIGHT, f"{title} ({further})" if further else title, below, names=last
    )
    return panel, up


def _draw(panel: Panel, lines: Sequence[_Line], most: int, marked: bool) -> None:
    """The lines, with marks where they are to be told apart, and the figures of each moment where one points at it."""
    told: dict[int, dict[str, float]] = {}
    width = max([1.0, *(len(line.series.values) / _MOMENTS for line in lines)])
    for line in lines:
        points = line.series.points(most)
        kind = "ink" if line.number is None else ink(line.number)
        panel.line(points, kind + line.style)
        if line.number is not None and marked and points:
            step = max(1, len(points) // _MARKS)
            for at, value in points[(line.number * step) // MOST_RACES % len(points) :: step]:
                panel.mark(at, value, shape(line.number), f"{kind} small")
        for at, value in points:
            told.setdefault(int(at // width), {}).setdefault(line.name, value)
    for number, figures in sorted(told.items()):
        said = ", ".join(f"{name} {numbers.figure(value)}" for name, value in figures.items())
        panel.box("touch", (number * width, (number + 1) * width), hover=f"second {number * width:.0f}: {said}")


_Told = tuple[str, Series, Sequence[tuple[float, float]]]


def _table(caption: str, told: Sequence[_Told]) -> Table:
    cells = tuple(
        (
            name,
            NAMES[one.measure],
            UNITS.get(one.measure, ""),
            numbers.figure(one.mean(*loads)),
            numbers.figure(one.peak),
        )
        for name, one, loads in told
    )
    return Table(
        f"{caption}: mean while documents came in, and peak", ("of", "measure", "unit", "mean", "peak"), cells, (3, 4)
    )


def _said(one: Series) -> str:
    return one.component if one.measure in (RATE, PROCESSORS, MEMORY) else f"{one.component}, {NAMES[one.measure]}"


def _in_words(name: str, one: Series, loads: Sequence[tuple[float, float]]) -> str:
    mean, peak, unit = numbers.figure(one.mean(*loads)), numbers.figure(one.peak), UNITS.get(one.measure, "")
    return f"{name}, {NAMES[one.measure]}: {mean} {unit} on average, {peak} at most.".replace("  ", " ")
