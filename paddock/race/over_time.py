"""A race over time, from its samples: a figure of each component for every second, from the first document on."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import FileError
from paddock.files import replacing
from paddock.race.sampled import IndexKey, Span, cpu_counter, increase, intervals, load_windows
from paddock.sampling.records import Sample, read_samples

# Measures, named as docs/samples.md has the columns of series.csv.
RATE, PROCESSORS, MEMORY, HEAP, COLLECTION = "documents", "cores", "memory_mib", "heap_mib", "gc_share"
WRITTEN, READ, DISK_BUSY, MACHINE_BUSY = "written_mib", "read_mib", "disk_busy", "busy_percent"
BUSIEST, BUSIEST_THREAD = "busiest", "busiest_thread"
UNITS = {
    RATE: "docs/s",
    PROCESSORS: "cores",
    MEMORY: "MiB",
    HEAP: "MiB",
    COLLECTION: "share of the time",
    WRITTEN: "MiB/s",
    READ: "MiB/s",
    DISK_BUSY: "share of the time",
}
ALL_NODES, DRIVER, INDICES, MACHINE = "all nodes", "load driver", "all indices", "machine"
SAMPLES_FILE = "samples.jsonl"
# The columns that series.csv always has, in their order; those of further components and measures come behind them.
_COLUMNS = (
    *(RATE, "node_cores", "driver_cores", "node_memory_mib", "driver_memory_mib", HEAP, COLLECTION, WRITTEN),
    *("merges", "merging_threads", "merge_throttled", "throttled", "refreshes", "flushes", "translog_mib"),
    *("segments", "indices", "steal_percent"),
)
# More points than this cannot be told apart in a plot.
MOST_POINTS = 300
# A load without a document for so long has ended; where another index comes next, as in laps, at once.
_PAUSE_SECONDS = 5.0
# A level holds for so long where a sample is late, and where no further one comes.
_STALE_SECONDS, _LAST_SECONDS = 10.0, 1.0
_MIB = 2.0**20
Grid = NDArray[np.floating]
Column = tuple[float | None, ...]
# Of a sample, what is asked for a figure, such as its nodes; None where there is nothing to ask.
_Parts = Callable[[Sample], Mapping[str, Any] | None]
# When something was told, in seconds since the sampler started, and the figures by whose they are.
_Moment = tuple[float, Mapping[str, float]]


@dataclass(frozen=True)
class Series:
    """One measure of one component.

    :param measure: its unit is in UNITS.
    :param component: a node's name, ALL_NODES, DRIVER, a component's name, a disk's, INDICES or MACHINE.
    :param column: its name in series.csv; empty of one node among several.
    :param values: of every second, None where it is not known.
    """

    measure: str
    component: str
    column: str
    values: Column

    @property
    def peak(self) -> float:
        """The largest of all seconds; 0 if nothing is known."""
        return max((value for value in self.values if value is not None), default=0.0)

    def within(self, *spans: tuple[float, float]) -> list[float]:
        """What is known of the whole seconds in those spans."""
        places = (whole_seconds(*span) for span in spans)
        return [value for begin, end in places for value in self.values[begin:end] if value is not None]

    def mean(self, *spans: tuple[float, float]) -> float | None:
        """The mean of what is known of the whole seconds in those spans; None if nothing is."""
        told = self.within(*spans)
        return sum(told) / len(told) if told else None

    def points(self, most: int = MOST_POINTS) -> list[tuple[float, float]]:
        """As many at most, each in the middle of the seconds that it is the mean of."""
        number = len(self.values)
        length = max(1, math.ceil(number / most))
        parts = [(begin, min(begin + length, number)) for begin in range(0, number, length)]
        return [(sum(part) / 2, mean) for part in parts if (mean := self.mean(part)) is not None]


def whole_seconds(begin: float, end: float) -> tuple[int, int]:
    """The first whole second in a span, and the one behind the last."""
    return math.ceil(round(begin, 3)), int(round(end, 3))


@dataclass(frozen=True)
class OverTime:
    """A race, or a part of it, over time.

    :param loads: when documents came in: seconds since the first of them, begin and end.
    :param series: those of which anything is known.
    :param nodes: what its nodes together are called: by name where there is one, else ALL_NODES.
    """

    loads: tuple[tuple[float, float], ...]
    series: tuple[Series, ...]
    nodes: str = ALL_NODES

    @property
    def number(self) -> int:
        """How many seconds there are."""
        return max((len(one.values) for one in self.series), default=0)

    def of(self, measure: str) -> tuple[Series, ...]:
        """The components of a measure: nodes first, all of them together, then the load driver and the rest."""
        return tuple(one for one in self.series if one.measure == measure)

    def whole(self, measure: str) -> Series | None:
        """The measure of all nodes together, or of what it is of; None if it was not to be had."""
        found = self.of(measure)
        return next((one for one in found if one.component in (self.nodes, INDICES, MACHINE)), None)

    def one(self, measure: str, component: str) -> Series | None:
        """That series; None if it was not to be had."""
        return next((one for one in self.of(measure) if one.component == component), None)

    @property
    def single_nodes(self) -> list[str]:
        """The names of those that are one node."""
        known = (one.component for measure in (COLLECTION, HEAP) for one in self.of(measure))
        return [name for name in dict.fromkeys(known) if name != ALL_NODES]

    @property
    def columns(self) -> dict[str, Column]:
        """Those of series.csv: figures of all nodes together, of each other component, and of the indices."""
        nothing: Column = (None,) * self.number
        found = {one.column: one.values for one in self.series if one.column}
        first = {name: found.get(name, nothing) for name in _COLUMNS}
        return first | {name: column for name, column in found.items() if name not in first}

    def until(self, second: float) -> OverTime:
        """Only the seconds before that one, and the series of which anything is known there."""
        cut = (replace(one, values=one.values[: int(second)]) for one in self.series)
        known = tuple(one for one in cut if any(value is not None for value in one.values))
        loads = tuple((begin, min(end, second)) for begin, end in self.loads if begin < second)
        return replace(self, loads=loads, series=known)

    def as_json(self) -> dict[str, Any]:
        """For programs: figures while documents came in, and so many points as a plot has."""
        return {
            "loads": [list(load) for load in self.loads],
            "series": [
                {
                    "measure": one.measure,
                    "unit": UNITS.get(one.measure, ""),
                    "component": one.component,
                    "mean": one.mean(*self.loads),
                    "peak": one.peak,
                    "points": [list(point) for point in one.points()],
                }
                for one in self.series
            ],
        }


def over_time(samples: Sequence[Sample]) -> OverTime | None:
    """The race as the samples show it, from its first document on; None if they show no document coming in.

    Processor time, memory and disk are those that the kernel tells; of nodes elsewhere only what they say themselves.
    Counters are interpolated between samples: a second that was missed has what the gap around it had.
    """
    active = [span for span in intervals(samples) if span.total]
    last = max((sample.seconds for sample in samples), default=0.0)
    if not active or last - active[0].begin < 1:
        return None
    zero, keys = active[0].begin, {key for span in active for key in span.documents}
    grid: Grid = zero + np.arange(math.floor(last - zero) + 1, dtype=np.float64)
    series, together = _series(samples, grid, keys)
    return OverTime(tuple(_loads(active, zero)), series, together)


def between_samples(samples: Sequence[Sample]) -> OverTime:
    """The same with a figure for each time between two samples, in the place of one for each second; no loads.

    Figure number 3 is of what came between sample 3 and sample 4, counted from 0, and of nothing before or after.
    """
    grid: Grid = np.array([sample.seconds for sample in samples], dtype=np.float64)
    return OverTime((), *_series(samples, grid, set()))


def _series(samples: Sequence[Sample], grid: Grid, keys: set[IndexKey]) -> tuple[tuple[Series, ...], str]:
    """All series with a value between each two moments of the grid, and what the nodes together are called.

    :param keys: the indices of the load.
    """
    names = _called(samples)
    expected = set(names.values())
    together = next(iter(expected)) if len(expected) == 1 else ALL_NODES
    series: list[Series] = []

    def add(component: str, parts: _Parts, ways: Sequence[_Way], column: str = "{}", anew: bool = False) -> None:
        """All measures of it; ``column`` is how their columns are named."""
        for measure, figure, counts, scale in ways:
            told = _told(samples, parts, figure)
            values = _grown(told, grid, scale, anew) if counts else _level(told, grid, scale)
            if any(value is not None for value in values):
                series.append(Series(measure, component, column.format(measure), values))

    def of_indices(sample: Sample) -> Mapping[str, Any] | None:
        found = sample.indices
        return found and {f"{name} {one.uuid}": one for name, one in found.items() if (name, one.uuid) in keys}

    add(INDICES, of_indices, _OF_INDICES, anew=True)
    processors = ((PROCESSORS, cpu_counter(samples), True, 1.0),)
    for name in dict.fromkeys(names.values()) if len(expected) > 1 else ():
        add(name, _node(names, name), (*processors, *_OF_NODES), "")

    def of_all_nodes(sample: Sample) -> Mapping[str, Any] | None:
        """All nodes, where none of them is missing from the answer: what they use together is no less then."""
        found = sample.nodes
        return found if found and {names[one] for one in found} == expected else None

    add(together, of_all_nodes, (*processors, _OF_NODES[0]), "node_{}")
    add(together, of_all_nodes, _OF_NODES[1:])
    if any(sample.driver.processes for sample in samples):
        add(DRIVER, lambda sample: {"": sample.driver}, _OF_COMPONENTS, "driver_{}", anew=True)
    for name in sorted({name for sample in samples for name in sample.components}):
        parts: _Parts = lambda sample, name=name: _some(sample.components, name) or {}  # type: ignore[misc]  # noqa: E731
        add(name, parts, _OF_COMPONENTS, f"{name}_{{}}", anew=True)
    for name in sorted({name for sample in samples for name in sample.disks}):
        add(name, lambda sample, name=name: _some(sample.disks, name), _OF_DISKS, f"{name}_busy")  # type: ignore[misc]
    add(MACHINE, lambda sample: {"": sample}, _OF_MACHINE)
    return tuple(series), together


def _called(samples: Sequence[Sample]) -> dict[str, str]:
    """What each node is called, by its id: its name, numbered where several nodes had it at the same time.

    A node that comes back with another id, as with an empty data path, is the same one.
    """
    seen: dict[tuple[str, str], list[float]] = {}
    for sample in samples:
        for one, node in (sample.nodes or {}).items():
            seen.setdefault((node.name, one), []).append(sample.seconds)
    ended: dict[str, list[float]] = {}  # by name: until when each of the nodes that have it was seen
    places: dict[str, tuple[str, int]] = {}
    for (name, one), moments in sorted(seen.items(), key=lambda item: item[1][0]):
        ends = ended.setdefault(name, [])
        place = next((number for number, end in enumerate(ends) if end < moments[0]), len(ends))
        ends[place:] = [moments[-1], *ends[place + 1 :]]
        places[one] = name, place
    return {one: f"{name} ({place + 1})" if len(ended[name]) > 1 else name for one, (name, place) in places.items()}


def name_of(component: str) -> str:
    """The name of a node that is numbered because others have the same one."""
    return re.sub(r" \(\d+\)$", "", component)


def load_seconds(samples: Sequence[Sample], tasks: int = 1) -> OverTime | None:
    """The whole seconds of all loads of a race; None if the samples show none.

    :param tasks: that index documents.
    """
    found = intervals(samples)
    windows = load_windows(found, tasks)
    active = [one for one in found if one.total]
    if not windows or len(active) < 3 or (over := over_time(samples)) is None:
        return None
    # The load ended somewhere inside the last interval.
    return over.until(active[-2].end - active[0].begin)


def samples_at_hand(folder: Path) -> list[Sample]:
    """The samples among a race's records; none if there are none, or those of a version that wrote others."""
    try:
        return read_samples(folder / SAMPLES_FILE)
    except FileError:
        return []


def write_seconds(seconds: OverTime, file: Path) -> None:
    """Write a line for each second, as docs/samples.md describes it; the file is whole or not there."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = seconds.columns
    writer.writerow(["second", *columns])
    for number, row in enumerate(zip(*columns.values(), strict=True)):
        writer.writerow([number, *("" if value is None else f"{value:g}" for value in row)])
    with replacing(file) as new:
        new.write_text(text.getvalue(), encoding="utf-8")


# Measure, its counter or gauge, whether it counts, and the scale.
_Way = tuple[str, Callable[[Any], float | None], bool, float]
_OF_NODES: tuple[_Way, ...] = (
    (MEMORY, lambda one: one.process and one.process.resident_bytes, False, 1 / _MIB),
    (HEAP, lambda one: one.heap_bytes or None, False, 1 / _MIB),
    (COLLECTION, lambda one: one.stopped_milliseconds if one.collectors else None, True, 1 / 1000),
    (WRITTEN, lambda one: one.process and one.process.written_bytes, True, 1 / _MIB),
    (READ, lambda one: one.process and one.process.read_bytes, True, 1 / _MIB),
)
_OF_COMPONENTS: tuple[_Way, ...] = (
    (PROCESSORS, lambda one: one.cpu_seconds, True, 1.0),
    (MEMORY, lambda one: one.resident_bytes, False, 1 / _MIB),
    (WRITTEN, lambda one: one.written_bytes, True, 1 / _MIB),
    (READ, lambda one: one.read_bytes, True, 1 / _MIB),
    (BUSIEST, lambda one: one.busiest, False, 1.0),
    (BUSIEST_THREAD, lambda one: one.busiest_thread, False, 1.0),
)
_OF_INDICES: tuple[_Way, ...] = (
    (RATE, lambda one: one.indexed, True, 1.0),
    ("merges", lambda one: one.merges_running, False, 1.0),
    ("merging_threads", lambda one: one.merge_milliseconds, True, 1 / 1000),
    ("merge_throttled", lambda one: one.merge_throttled_milliseconds, True, 1 / 1000),
    ("throttled", lambda one: one.throttled_milliseconds, True, 1 / 1000),
    ("refreshes", lambda one: one.refreshes, True, 1.0),
    ("flushes", lambda one: one.flushes, True, 1.0),
    ("translog_mib", lambda one: one.translog_bytes, False, 1 / _MIB),
    ("segments", lambda one: one.segments, False, 1.0),
    ("indices", lambda _: 1.0, False, 1.0),
)
_OF_DISKS: tuple[_Way, ...] = ((DISK_BUSY, lambda one: one.busy_seconds, True, 1.0),)
_OF_MACHINE: tuple[_Way, ...] = (
    ("steal_percent", lambda sample: sample.steal_percent, False, 1.0),
    (MACHINE_BUSY, lambda sample: sample.busy_percent, False, 1.0),
)


def _some(parts: Mapping[str, Any] | None, name: str) -> dict[str, Any] | None:
    """That one of them; None if it is not there."""
    return {name: parts[name]} if parts and name in parts else None


def _node(names: Mapping[str, str], name: str) -> _Parts:
    """The node that is called so, whatever its id is at the moment; None where it is not there."""
    return lambda sample: {one: node for one, node in (sample.nodes or {}).items() if names[one] == name} or None


def _told(samples: Sequence[Sample], parts: _Parts, figure: Callable[[Any], float | None]) -> Iterator[_Moment]:
    """The figures of those parts, where there are any to ask and all of them tell."""
    for sample in samples:
        if (found := parts(sample)) is not None:
            values = {name: figure(one) for name, one in found.items()}
            known = {name: value for name, value in values.items() if value is not None}
            if len(known) == len(values):
                yield sample.seconds, known


def _loads(active: Sequence[Span], zero: float) -> Iterable[tuple[float, float]]:
    """When documents came in, begin and end; what a load pauses for is no end of it."""
    begin, end, keys = active[0].begin, active[0].end, set(active[0].documents)
    for span in active:
        # An index that rolls over is written to without a pause.
        pause = _PAUSE_SECONDS if keys & span.documents.keys() else 0.0
        if span.begin - end > pause:
            yield begin - zero, end - zero
            begin, keys = span.begin, set()
        end, keys = span.end, keys | span.documents.keys()
    yield begin - zero, end - zero


def _grown(told: Iterable[_Moment], grid: Grid, scale: float, anew: bool) -> Column:
    """By how much counters grew per second between the moments of the grid, all together.

    :param anew: whether one that is seen for the first time began at zero; else its first value tells nothing.
    """
    times: list[float] = []
    totals: list[float] = []
    before: dict[str, float] = {}
    total = 0.0
    for seconds, values in told:
        for key, value in values.items():
            if key in before:
                total += increase(before[key], value)
            elif anew and times:
                total += value
            before[key] = value
        times.append(seconds)
        totals.append(total)
    if len(times) < 2:
        return (None,) * (len(grid) - 1)
    growth = np.diff(np.interp(grid, times, totals)) / np.diff(grid) * scale
    inside = (grid[:-1] >= times[0] - 1) & (grid[1:] <= times[-1] + 1)
    return tuple(round(float(one), 6) if there else None for one, there in zip(growth, inside, strict=True))


def _level(told: Iterable[_Moment], grid: Grid, scale: float) -> Column:
    """What gauges said last before each moment of the grid but the first, all together."""
    seen = [(seconds, sum(values.values())) for seconds, values in told]
    places = np.searchsorted([seconds for seconds, _ in seen], grid[1:], side="right") - 1
    held = [_STALE_SECONDS] * (len(seen) - 1) + [_LAST_SECONDS]
    return tuple(
        round(seen[place][1] * scale, 6) if place >= 0 and end - seen[place][0] <= held[place] else None
        for place, end in zip(places, grid[1:], strict=True)
    )
