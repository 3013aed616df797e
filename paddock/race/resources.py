"""The resource record of a race: what each component used in windows of its load, as studies tell it; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from paddock import numbers
from paddock.plain_values import Figure, Missing
from paddock.race.figures import NamedFigure
from paddock.race.over_time import (
    BUSIEST,
    MEMORY,
    PROCESSORS,
    READ,
    WRITTEN,
    OverTime,
    Series,
    whole_seconds,
)

WINDOW_SECONDS = 30
# What is said of the windows wherever their figures are shown.
WINDOWS = (
    f"While documents came in; CPU in % of one core. Peak: the highest mean of {WINDOW_SECONDS} s in a row, or of all "
    "of a shorter load. Steady: the second half of the load, which leaves warming up to the first."
)
_MIB = 2**20


@dataclass(frozen=True)
class Use:
    """One measure of a component.

    :param average: of all whole seconds in which documents came in.
    :param peak: the highest mean of a window of WINDOW_SECONDS; of a load that is shorter, that of all of it.
    :param steady: the mean of the second half of each load, without the second in which it ended.
    """

    average: Figure
    peak: Figure
    steady: Figure


@dataclass(frozen=True)
class ComponentUse:
    """What a component used.

    :param cpu_percent: of one core.
    :param memory_bytes: resident.
    :param busiest_percent: of one core, the steady mean of its busiest process; Missing of nodes, which are one.
    :param written_bytes: to disks, from the first document to the end of the race; ``read_bytes`` likewise.
    """

    name: str
    cpu_percent: Use
    memory_bytes: Use
    busiest_percent: Figure
    written_bytes: Figure
    read_bytes: Figure

    @property
    def figures(self) -> tuple[NamedFigure, ...]:
        """CPU, memory, and bytes to and from disks."""
        cpu, memory = self.cpu_percent, self.memory_bytes
        return (
            NamedFigure("CPU", cpu.average, numbers.count, "% of one core", f"{self.name} CPU %"),
            NamedFigure("CPU, peak", cpu.peak, numbers.count),
            NamedFigure("CPU, steady", cpu.steady, numbers.count),
            NamedFigure("memory", memory.average, numbers.size, "resident"),
            NamedFigure("memory, peak", memory.peak, numbers.size, "", f"{self.name} memory, peak"),
            NamedFigure("memory, steady", memory.steady, numbers.size),
            NamedFigure("written", self.written_bytes, numbers.size),
            NamedFigure("read", self.read_bytes, numbers.size),
        )


@dataclass(frozen=True)
class Resources:
    """The resource record of a race.

    :param seconds: whole ones in which documents came in.
    :param components: nodes first, all of them together if there are several, then the load driver and the rest.
    :param nodes: the names of those that are one node.
    """

    seconds: int
    components: tuple[ComponentUse, ...]
    nodes: tuple[str, ...] = ()

    headers = ("", "CPU %", "peak", "steady", "memory", "peak", "steady", "written", "read")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Finished text below the headers: CPU in % of one core, memory resident."""
        return [(one.name, *(each.text for each in one.figures)) for one in self.components]


def resources(over: OverTime) -> Resources:
    """The record of a race over time."""
    names = list(dict.fromkeys(one.component for one in over.of(PROCESSORS)))
    return Resources(
        sum(end - begin for begin, end in _halves(over, 0.0)),
        tuple(_component(over, one) for one in names),
        tuple(over.single_nodes),
    )


def steady(over: OverTime) -> tuple[tuple[int, int], ...]:
    """The second half of each load, in seconds since the first document.

    The last one, inside of which the load ended, is left out where there is another: it weighs much in a lap.
    """
    return tuple((first, last - 1 if last - first > 1 else last) for first, last in _halves(over, 0.5))


def _halves(over: OverTime, share: float) -> Iterator[tuple[int, int]]:
    """The whole seconds of each load without that share of them at its beginning."""
    for begin, end in over.loads:
        first, last = whole_seconds(begin, end)
        last = min(last, over.number)
        if last > first:
            yield first + int((last - first) * share), last


def _component(over: OverTime, name: str) -> ComponentUse:
    busiest = over.one(BUSIEST, name)
    return ComponentUse(
        name,
        _use(over, over.one(PROCESSORS, name), 100.0),
        _use(over, over.one(MEMORY, name), _MIB),
        _known(busiest.mean(*steady(over)) if busiest else None, 100.0, "Nodes are one process each."),
        *(_total(over.one(measure, name)) for measure in (WRITTEN, READ)),
    )


_UNSEEN = "It runs on another machine, or the kernel does not tell this user."


def _use(over: OverTime, one: Series | None, scale: float) -> Use:
    if one is None:
        return Use(*(Missing(_UNSEEN),) * 3)
    peaks = [peak for load in _halves(over, 0.0) if (peak := _highest(one.within(load))) is not None]
    figures = (one.mean(*_halves(over, 0.0)), max(peaks, default=None), one.mean(*steady(over)))
    return Use(*(_known(figure, scale, "No whole second of the load was sampled.") for figure in figures))


def _highest(values: Sequence[float]) -> float | None:
    """The highest mean of WINDOW_SECONDS values in a row; of fewer, that of all of them."""
    length = min(WINDOW_SECONDS, len(values))
    sums = [0.0, *accumulate(values)]
    means = [(after - before) / length for before, after in zip(sums, sums[length:], strict=False)] if length else []
    return max(means, default=None)


def _total(one: Series | None) -> Figure:
    known = [value for value in one.values if value is not None] if one else []
    return sum(known) * _MIB if known else Missing(_UNSEEN)


def _known(value: float | None, scale: float, reason: str) -> Figure:
    return Missing(reason) if value is None else value * scale
