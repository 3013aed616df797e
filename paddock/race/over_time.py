"""A race over time, from its samples: what each component used second by second, and how fast documents came in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from paddock.errors import FileError
from paddock.race.sampled import Span, cpu_counter, increase, intervals
from paddock.sampling.records import NodeCounters, Sample, read_samples

RATE, PROCESSORS, MEMORY, DISK, COLLECTION = "docs/s", "processors", "memory", "disk", "garbage collection"
UNITS = {RATE: "docs/s", PROCESSORS: "cores", MEMORY: "GiB", DISK: "MB/s written", COLLECTION: "% of the time"}
ALL_NODES, DRIVER, INDICES = "all nodes", "load driver", "all indices"
SAMPLES_FILE = "samples.jsonl"
# More points than this cannot be told apart in a plot.
_MOST_POINTS = 300
_OVERLAID = 60
# A load without a document for so long has ended.
_PAUSE_SECONDS = 5.0


@dataclass(frozen=True)
class Series:
    """One measure of one component.

    :param measure: RATE, PROCESSORS, MEMORY, DISK or COLLECTION; its unit is in UNITS.
    :param component: a node's name, ALL_NODES, DRIVER or INDICES.
    :param points: seconds since the load began, and the figure; of a rate, that since the point before.
    :param mean: over time, while documents came in; None if no point lies there. ``peak`` is the largest of all points.
    """

    measure: str
    component: str
    points: tuple[tuple[float, float], ...]
    mean: float | None
    peak: float


@dataclass(frozen=True)
class OverTime:
    """A race over time.

    :param loads: when documents came in: seconds since the first of them, begin and end.
    """

    loads: tuple[tuple[float, float], ...]
    series: tuple[Series, ...]

    def of(self, measure: str) -> tuple[Series, ...]:
        """The components of a measure: nodes first, all of them together, then the load driver."""
        return tuple(one for one in self.series if one.measure == measure)

    def whole(self, measure: str) -> Series | None:
        """The measure of all indices or all nodes together; None if it was not to be had."""
        wanted = INDICES if measure == RATE else ALL_NODES
        found = self.of(measure)
        nodes = [one for one in found if one.component != DRIVER]
        return next((one for one in found if one.component == wanted), nodes[0] if len(nodes) == 1 else None)

    def coarser(self) -> OverTime:
        """The same with so few points, each the mean of some seconds, that lines over each other can be followed."""
        return replace(
            self, series=tuple(replace(one, points=tuple(_thinned(one.points, _OVERLAID))) for one in self.series)
        )


def over_time(samples: Sequence[Sample]) -> OverTime | None:
    """The race as the samples show it, from its first document on; None if they show no document coming in.

    Processor time, memory and writes are those that the kernel tells; of nodes elsewhere only what they say themselves.
    """
    spans = intervals(samples)
    active = [span for span in spans if span.total]
    if not active:
        return None
    zero = active[0].begin
    loads = tuple(_loads(active, zero))
    seen = [sample for sample in samples if sample.seconds >= zero]
    series: list[Series] = []

    def add(measure: str, component: str, points: Iterable[tuple[float, float]]) -> None:
        placed = [(at - zero, value) for at, value in points]
        if placed:
            peak = max(value for _, value in placed)
            series.append(Series(measure, component, tuple(_thinned(placed, _MOST_POINTS)), _mean(placed, loads), peak))

    rates = [(span.end, span.total / (span.end - span.begin)) for span in spans if span.begin >= zero]
    add(RATE, INDICES, rates)
    names = {node_id: node.name for sample in seen for node_id, node in (sample.nodes or {}).items()}
    ways: tuple[tuple[str, Callable[[NodeCounters], float | None], bool, float], ...] = (
        (PROCESSORS, cpu_counter(seen), True, 1.0),
        (MEMORY, lambda node: node.process.resident_bytes if node.process else None, False, 2.0**30),
        (DISK, lambda node: node.process.written_bytes if node.process else None, True, 1e6),
        (COLLECTION, lambda node: node.stopped_milliseconds, True, 10.0),
    )
    for measure, value, counts, scale in ways:
        each = {node_id: list(_of_node(seen, node_id, value, counts, scale)) for node_id in names}
        for node_id, points in each.items():
            add(measure, names[node_id], points)
        if len(each) > 1:
            add(measure, ALL_NODES, _together(list(each.values())))
        if measure == PROCESSORS:
            add(measure, DRIVER, _of_driver(seen))
        elif measure == MEMORY:
            add(measure, DRIVER, ((one.seconds, one.driver.resident_bytes / scale) for one in seen))
    return OverTime(loads, tuple(series))


def samples_at_hand(folder: Path) -> list[Sample]:
    """The samples among a race's records; none if there are none, or those of a version that wrote others."""
    try:
        return read_samples(folder / SAMPLES_FILE)
    except FileError:
        return []


def _loads(active: Sequence[Span], zero: float) -> Iterable[tuple[float, float]]:
    """When documents came in, begin and end; what a load pauses for is no end of it."""
    begin, end = active[0].begin, active[0].end
    for span in active:
        if span.begin - end > _PAUSE_SECONDS:
            yield begin - zero, end - zero
            begin = span.begin
        end = span.end
    yield begin - zero, end - zero


def _mean(points: Sequence[tuple[float, float]], loads: Sequence[tuple[float, float]]) -> float | None:
    """Of the points in the loads, each by the time since the one before; None if there is none."""
    lasting = [
        (at - before, value)
        for (before, _), (at, value) in pairwise([(0.0, 0.0), *points])
        if any(begin < at <= end for begin, end in loads)
    ]
    seconds = sum(length for length, _ in lasting)
    return sum(length * value for length, value in lasting) / seconds if seconds > 0 else None


def _of_node(
    samples: Sequence[Sample],
    node_id: str,
    value: Callable[[NodeCounters], float | None],
    counts: bool,
    scale: float,
) -> Iterable[tuple[float, float]]:
    """The node's figure at each sample that has it; of a counter, by how much it grew in a second."""
    found = [
        (sample.seconds, amount)
        for sample in samples
        if (node := (sample.nodes or {}).get(node_id)) is not None and (amount := value(node)) is not None
    ]
    if not counts:
        return ((at, amount / scale) for at, amount in found)
    return ((end, increase(a, b) / (end - begin) / scale) for (begin, a), (end, b) in pairwise(found) if end > begin)


def _of_driver(samples: Sequence[Sample]) -> Iterable[tuple[float, float]]:
    used = [(one.seconds, one.driver.cpu_seconds) for one in samples if one.driver.processes]
    return ((end, max(b - a, 0.0) / (end - begin)) for (begin, a), (end, b) in pairwise(used) if end > begin)


def _together(each: Sequence[Sequence[tuple[float, float]]]) -> Iterable[tuple[float, float]]:
    """The sum at every moment at which all have a figure."""
    tables = [dict(points) for points in each]
    return ((at, sum(table[at] for table in tables)) for at in tables[0] if all(at in table for table in tables))


def _thinned(points: Sequence[tuple[float, float]], most: int) -> Iterable[tuple[float, float]]:
    """As many points at most, each the mean of those that it stands for."""
    size = math.ceil(len(points) / most)
    for first in range(0, len(points), size):
        some = points[first : first + size]
        yield sum(at for at, _ in some) / len(some), sum(value for _, value in some) / len(some)
