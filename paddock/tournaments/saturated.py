"""What was saturated in the laps of each contender: samples belong to the lap in whose load they lie wholly.

Contenders take turns, so what a race as a whole used is nobody's. A lap has what came between two samples of which both
were taken while its load ran; warm-up and void laps tell nothing. What samples do not tell, because asking for it would
make the lap runner's own figures old, is taken from the records of the same laps: collections, the processes of all
load drivers, and the processor time of nodes on other machines.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paddock import numbers
from paddock.errors import FileError
from paddock.race.bottleneck import (
    BUSY_CPU,
    BUSY_DRIVER,
    DRIVER_CPU,
    HEAP_FULL,
    MUCH_COLLECTION,
    NODE_CPU,
    Allowed,
    Bottleneck,
    Suspect,
    allowed,
    bottleneck_within,
)
from paddock.race.over_time import BUSIEST, DRIVER, PROCESSORS, OverTime, between_samples
from paddock.race.shippers import pinned
from paddock.rally.limited import launches, limits_file
from paddock.sampling.records import Sample, read_circumstances, read_samples
from paddock.tournaments.laps import Attempt, LapRecord
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.store import Stored

# Samples are a second apart: so many seconds of load hold two of them.
_HOLDS_TWO = 2.0
# Between the samples of two races, which are looked at as one row: nobody's lap reaches from one to the next.
_APART = 1000.0
_OTHERS = "processes that are none of its own, as the nodes of other contenders may be"


@dataclass(frozen=True)
class Recorded:
    """What was recorded beside a race.

    :param circumstances: of its nodes, each time they changed, the last of it last.
    :param limits: what each launch of a node was held to.
    """

    samples: Sequence[Sample]
    circumstances: Sequence[Mapping[str, Any]] = ()
    limits: Sequence[Mapping[str, Any]] = ()


def read_recorded(stored: Stored, race_id: str) -> Recorded:
    """The same of a race that is stored; without samples where there are none, or those of another version."""
    file = stored.samples_file(race_id)
    try:
        return Recorded(read_samples(file), read_circumstances(file), launches(limits_file(race_id)))
    except FileError:
        return Recorded(())


def contender_bottlenecks(
    tournament: Tournament, attempts: Sequence[Attempt], laps: Sequence[Lap], recorded: Callable[[str], Recorded]
) -> dict[str, Bottleneck]:
    """What was saturated in each contender's laps; nothing where no race of laps that count was sampled.

    :param laps: of all attempts in their order, those void that do not count.
    :param recorded: what was recorded beside the race of that id.
    """
    records = [(attempt.race_id, record) for attempt in attempts for record in attempt.records]
    turns = [
        (race_id, replace(record, lap=lap))
        for (race_id, record), lap in zip(records, laps, strict=True)
        if not lap.warmup and lap.void is None
    ]
    beside = {race_id: recorded(race_id) for race_id in dict.fromkeys(race_id for race_id, _ in turns)}
    if not any(one.samples for one in beside.values()):
        return {}
    seen: dict[tuple[tuple[str, str], ...], _Seen] = {}
    found = {}
    for contender in tournament.raced:
        own = [(race_id, record) for race_id, record in turns if record.lap.contender == contender.name]
        places = tuple(dict.fromkeys((race_id, record.cluster) for race_id, record in own))
        if own:
            if places not in seen:
                seen[places] = _look({(race_id, name): beside[race_id] for race_id, name in places})
            params = {**tournament.track_params, **contender.track_params, "levels": [contender.level_object]}
            found[contender.name] = _find(seen[places], own, pinned(params))
    return found


def known_as(found: Bottleneck) -> str:
    """What was saturated, in a few words; where nobody can tell, because no lap holds a whole sample, that."""
    return found.named if found.end else "no whole sample"


@dataclass(frozen=True)
class _Seen:
    """The samples of some races of one cluster, one after the other.

    :param times: of the samples, in an order of their own.
    :param shifts: by what is added to the steady clock of each race for that.
    :param over: a figure between each two samples.
    :param nodes: how many there are; 0 if none was seen.
    :param told: circumstances and limits, by the names that nodes have here.
    """

    times: Sequence[float]
    shifts: Mapping[str, float]
    over: OverTime | None
    nodes: int
    told: Sequence[Mapping[str, Any]]
    limits: Sequence[Mapping[str, Any]]
    processors: int


def _look(places: Mapping[tuple[str, str], Recorded]) -> _Seen:
    rows: list[Sample] = []
    shifts: dict[str, float] = {}
    told: list[Mapping[str, Any]] = []
    limits: list[Mapping[str, Any]] = []
    most, processors = 0, 0
    for (race_id, cluster), one in places.items():
        known = [sample for sample in one.samples if sample.monotonic is not None]
        names = _called(
            {node.name for sample in known for node in (sample.nodes or {}).values() if node.cluster == cluster}
        )
        most = max(most, len(names))
        end = rows[-1].seconds + _APART if rows else 0.0
        shifts[race_id] = end - (known[0].monotonic or 0.0) if known else 0.0
        rows += filter(None, (_of_cluster(sample, cluster, names, shifts[race_id]) for sample in known))
        for each in one.circumstances:
            if each.get("cluster") == cluster:
                processors = int(each.get("processors") or 0)
                nodes = {
                    key: {**node, "name": names[node["name"]]}
                    for key, node in each["nodes"].items()
                    if node.get("name") in names
                }
                told.append({"nodes": nodes})
        limits += [{**each, "node": names[each["node"]]} for each in one.limits if each.get("node") in names]
    over = between_samples(rows) if len(rows) > 1 else None
    if over is not None:
        # That of the drivers is in the records of the laps, of all machines.
        series = tuple(one for one in over.series if (one.measure, one.component) != (BUSIEST, DRIVER))
        over = replace(over, series=series)
    return _Seen([row.seconds for row in rows], shifts, over, most, told, limits, processors)


def _called(names: set[str]) -> dict[str, str]:
    """What nodes are called in a report, which may be of somebody's own cluster: not by their names."""
    if len(names) == 1:
        return dict.fromkeys(names, "the node")
    return {name: f"node {number}" for number, name in enumerate(sorted(names, key=_natural), 1)}


def _natural(name: str) -> tuple[str, int]:
    """For an order in which node 10 comes after node 9."""
    digits = name[len(name.rstrip("0123456789")) :]
    return name[: len(name) - len(digits)], int(digits or 0)


def _of_cluster(sample: Sample, cluster: str, names: Mapping[str, str], shift: float) -> Sample | None:
    """The sample with the nodes of that cluster alone; None where not all of them are in it."""
    nodes = {
        node_id: replace(node, name=names[node.name])
        for node_id, node in (sample.nodes or {}).items()
        if node.cluster == cluster and node.heap_bytes
    }
    if {node.name for node in nodes.values()} != set(names.values()) or sample.monotonic is None:
        return None
    return replace(sample, seconds=sample.monotonic + shift, nodes=nodes, indices=None)


def _find(seen: _Seen, own: Sequence[tuple[str, LapRecord]], held: Sequence[Mapping[str, Any]]) -> Bottleneck:
    """The bottleneck of a contender.

    :param own: its laps that count, each with the race that it is of.
    :param held: what its shipper is held to.
    """
    spans, seconds = [], 0.0
    for race_id, record in own:
        if record.load is None:
            continue
        begin, end = (moment + seen.shifts[race_id] for moment in record.load)
        first, last = bisect_left(seen.times, begin), bisect_right(seen.times, end) - 1
        if last > first:
            spans.append((first, last))
            seconds += seen.times[last] - seen.times[first]
    limits = allowed(seen.told, [*seen.limits, *held], seen.processors)
    records = [record for _, record in own]
    if seen.over is None or not spans:
        further = tuple(_recorded(records, seen.nodes, None))
        return Bottleneck(0.0, 0.0, further, (), _too_short(records))
    sampled = any(seen.over.one(PROCESSORS, name) for name in seen.over.single_nodes)
    further = tuple(_recorded(records, seen.nodes, None if sampled else limits))
    return bottleneck_within(seen.over, limits, spans, (0.0, seconds), further, others=_OTHERS)


def _recorded(records: Sequence[LapRecord], nodes: int, limits: Allowed | None) -> Iterator[Suspect]:
    """What the laps themselves tell, medians.

    :param limits: of the nodes, where their processor time is to be told, too.
    """
    if (driver := _median(record.lap.driver_load for record in records)) is not None:
        used = f"its busiest process {driver:.2f} of 1 core"
        yield Suspect(DRIVER_CPU, DRIVER, used, driver, BUSY_DRIVER)
    if nodes and (stopped := _median(record.stopped for record in records)) is not None:
        each = stopped / nodes
        whose, mean = ("the node", "") if nodes == 1 else (f"the {nodes} nodes", ", their mean")
        used = f"{numbers.share(each, 1)} of the time in collections{mean}, waiting for merges included"
        yield Suspect(HEAP_FULL, whose, used, each, MUCH_COLLECTION)
    if (
        limits
        and len(limits.cores) == nodes
        and (cores := _median(record.node_cores for record in records)) is not None
    ):
        most = sum(limits.cores.values())
        whose = "the node" if nodes == 1 else f"the {nodes} nodes"
        used = f"{cores:.2f} of {most:g} cores, waiting for merges included"
        yield Suspect(NODE_CPU, whose, used, cores / most, BUSY_CPU)


def _median(values: Iterator[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return statistics.median(told) if told else None


def _too_short(records: Sequence[LapRecord]) -> str:
    """Why nothing is known of these laps."""
    longest = max((end - begin for begin, end in (record.load for record in records if record.load)), default=0.0)
    if longest < _HOLDS_TWO:
        return (
            f"What was saturated is not known: samples are a second apart, and no two of them lie within the load of "
            f"one lap, the longest of which took {longest:.1f} s; longer laps (lap_documents, lap_seconds) would tell."
        )
    return (
        "What was saturated is not known: no two samples were taken within one of its laps, because the sampler ended "
        "early or its nodes did not answer."
    )
