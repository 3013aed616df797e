"""The seconds of a load: from samples, which come when they can, to one row for each whole second; and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paddock.files import replacing
from paddock.race.sampled import IndexKey, Window, cpu_counter, increase
from paddock.sampling.records import IndexCounters, NodeCounters, Sample

_MIB = 2.0**20
Grid = NDArray[np.floating]
Column = tuple[float | None, ...]
# Of one sample, the counters or gauges by whose they are; None where it does not tell.
_Told = Callable[[Sample], Mapping[str, float] | None]


@dataclass(frozen=True)
class Seconds:
    """Each whole second of a load.

    :param columns: by name, a figure for every second, as docs/samples.md describes them; None where it is not known.
    """

    columns: Mapping[str, Column]

    @property
    def number(self) -> int:
        """How many seconds there are."""
        return len(self.columns["documents"])

    def known(self, name: str) -> bool:
        """Whether that column has a figure for any second."""
        return any(value is not None for value in self.columns[name])

    def mean(self, name: str, begin: float, end: float) -> float | None:
        """The mean of a column from one second up to, but without, another; None if nothing of it is known."""
        told = [value for value in self.columns[name][int(begin) : int(end)] if value is not None]
        return sum(told) / len(told) if told else None


def seconds_of(samples: Sequence[Sample], window: Window, keys: set[IndexKey]) -> Seconds:
    """The whole seconds inside a window.

    :param samples: in order.
    :param keys: the indices of the load.
    """
    grid: Grid = window.begin + np.arange(max(0, math.floor(window.end - window.begin)) + 1, dtype=np.float64)

    def of_indices(counter: Callable[[IndexCounters], float]) -> _Told:
        return lambda sample: (
            {f"{name} {one.uuid}": counter(one) for name, one in sample.indices.items() if (name, one.uuid) in keys}
            if sample.indices is not None
            else None
        )

    def of_nodes(counter: Callable[[NodeCounters], float | None]) -> _Told:
        def told(sample: Sample) -> Mapping[str, float] | None:
            values = {name: counter(one) for name, one in (sample.nodes or {}).items()}
            known = {name: value for name, value in values.items() if value is not None}
            return known if values and len(known) == len(values) else None

        return told

    def of_sample(value: Callable[[Sample], float]) -> _Told:
        return lambda sample: {"": value(sample)}

    def grown(told: _Told, scale: float = 1.0, anew: bool = False) -> Column:
        return _grown(samples, told, grid, scale, anew)

    def level(told: _Told, scale: float = 1.0) -> Column:
        return _level(samples, told, grid, scale)

    driver = any(sample.driver.processes for sample in samples)
    columns = {
        "documents": grown(of_indices(lambda one: one.indexed), anew=True),
        "node_cores": grown(of_nodes(cpu_counter(samples))),
        "driver_cores": grown(of_sample(lambda one: one.driver.cpu_seconds)),
        "node_memory_mib": level(of_nodes(lambda one: one.process.resident_bytes if one.process else None), 1 / _MIB),
        "driver_memory_mib": level(of_sample(lambda one: one.driver.resident_bytes), 1 / _MIB),
        "heap_mib": level(of_nodes(lambda one: one.heap_bytes or None), 1 / _MIB),
        "gc_share": grown(of_nodes(lambda one: one.stopped_milliseconds), 1 / 1000),
        "written_mib": grown(of_nodes(lambda one: one.process.written_bytes if one.process else None), 1 / _MIB),
        "merges": level(of_indices(lambda one: one.merges_running)),
        "merging_threads": grown(of_indices(lambda one: one.merge_milliseconds), 1 / 1000, anew=True),
        "merge_throttled": grown(of_indices(lambda one: one.merge_throttled_milliseconds), 1 / 1000, anew=True),
        "throttled": grown(of_indices(lambda one: one.throttled_milliseconds), 1 / 1000, anew=True),
        "refreshes": grown(of_indices(lambda one: one.refreshes), anew=True),
        "flushes": grown(of_indices(lambda one: one.flushes), anew=True),
        "translog_mib": level(of_indices(lambda one: one.translog_bytes), 1 / _MIB),
        "segments": level(of_indices(lambda one: one.segments)),
        "indices": level(of_indices(lambda one: 1.0)),
        "steal_percent": level(of_sample(lambda one: one.steal_percent)),
    }
    if not driver:
        columns |= {name: (None,) * (len(grid) - 1) for name in ("driver_cores", "driver_memory_mib")}
    return Seconds(columns)


def _grown(samples: Sequence[Sample], told: _Told, grid: Grid, scale: float, anew: bool) -> Column:
    """By how much counters grew in each second, all together.

    :param anew: whether one that is seen for the first time began at zero; else its first value tells nothing.
    """
    times: list[float] = []
    totals: list[float] = []
    before: dict[str, float] = {}
    total = 0.0
    for sample in samples:
        if (values := told(sample)) is None:
            continue
        for key, value in values.items():
            if key in before:
                total += increase(before[key], value)
            elif anew and times:
                total += value
            before[key] = value
        times.append(sample.seconds)
        totals.append(total)
    if len(times) < 2:
        return (None,) * (len(grid) - 1)
    growth = np.diff(np.interp(grid, times, totals)) * scale
    inside = (grid[:-1] >= times[0] - 1) & (grid[1:] <= times[-1] + 1)
    return tuple(round(float(one), 6) if there else None for one, there in zip(growth, inside, strict=True))


def _level(samples: Sequence[Sample], told: _Told, grid: Grid, scale: float) -> Column:
    """What gauges said last in each second or before it, all together."""
    times: list[float] = []
    values: list[float] = []
    for sample in samples:
        if (found := told(sample)) is not None:
            times.append(sample.seconds)
            values.append(sum(found.values()))
    places = np.searchsorted(times, grid[1:], side="right") - 1
    return tuple(round(values[place] * scale, 6) if place >= 0 else None for place in places)


def write_seconds(seconds: Seconds, file: Path) -> None:
    """Write a line for each second; the file is whole or not there."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["second", *seconds.columns])
    for number, row in enumerate(zip(*seconds.columns.values(), strict=True)):
        writer.writerow([number, *("" if value is None else f"{value:g}" for value in row)])
    with replacing(file) as new:
        new.write_text(text.getvalue(), encoding="utf-8")
