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
    Bottleneck,
    Suspect,
    allowed,
    bottleneck_within,
)
from paddock.race.over_time import BUSIEST, DRIVER, PROCESSORS, between_samples
from paddock.race.shippers import pinned
from paddock.rally.limited import launches, limits_file
from paddock.sampling.records import Sample, read_circumstances, read_samples
from paddock.tournaments.laps import Attempt, LapRecord
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.store import Stored

# Samples are a second apart: so many seconds of load hold two of them.
_HOLDS_TWO = 2.0
# Seconds between the samples of two laps, which are looked at as one row: no figure is of what lies between them.
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
    places = dict.fromkeys((race_id, record.cluster) for race_id, record in turns)
    seen = {(race_id, cluster): _look(beside[race_id], cluster) for race_id, cluster in places}
    found = {}
    for contender in tournament.raced:
        own = [(race_id, record) for race_id, record in turns if record.lap.contender == contender.name]
        if own:
            params = {**tournament.track_params, **contender.track_params, "levels": [contender.level_object]}
            found[contender.name] = _find(own, seen, pinned(params))
    return found


def known_as(found: Bottleneck) -> str:
    """What was saturated, in a few words; where nobody can tell, because no lap holds a whole sample, that."""
    return found.named if found.end else "no whole sample"


@dataclass(frozen=True)
class _Seen:
    """One cluster in one race.

    :param names: what its nodes are called here, by their names.
    :param samples: those that tell of all of its nodes, and ``moments`` when they were taken, by the steady clock.
    :param circumstances, limits: of its nodes, by what they are called here.
    """

    names: Mapping[str, str]
    samples: Sequence[Sample]
    moments: Sequence[float]
    circumstances: Sequence[Mapping[str, Any]]
    limits: Sequence[Mapping[str, Any]]
    processors: int


def _look(beside: Recorded, cluster: str) -> _Seen:
    names = _called(
        {node.name for sample in beside.samples for node in (sample.nodes or {}).values() if node.cluster == cluster}
    )
    samples = [sample for sample in beside.samples if _is_whole(sample, cluster, set(names))]
    circumstances, processors = [], 0
    for one in beside.circumstances:
        if one.get("cluster") == cluster:
            processors = int(one.get("processors") or 0)
            there = [node for node in one["nodes"].values() if node.get("name") in names]
            circumstances.append({"nodes": {node["name"]: {**node, "name": names[node["name"]]} for node in there}})
    limits = [{**one, "node": names[one["node"]]} for one in beside.limits if one.get("node") in names]
    return _Seen(names, samples, [one.monotonic or 0.0 for one in samples], circumstances, limits, processors)


def _find(
    own: Sequence[tuple[str, LapRecord]],
    seen: Mapping[tuple[str, str], _Seen],
    held: Sequence[Mapping[str, Any]],
) -> Bottleneck:
    """The bottleneck of a contender.

    :param own: its laps that count, each with the race that it is of.
    :param seen: by race and cluster.
    :param held: what its shipper is held to.
    """
    rows: list[Sample] = []
    spans: list[tuple[int, int]] = []
    seconds = 0.0
    for race_id, record in own:
        one, (begin, end) = seen[race_id, record.cluster], record.load or (0.0, 0.0)
        first, last = bisect_left(one.moments, begin), bisect_right(one.moments, end)
        if last - first > 1:
            spans.append((len(rows), len(rows) + last - first - 1))
            seconds += one.moments[last - 1] - one.moments[first]
            # The steady clock of a machine that was started anew begins at zero again.
            shift = rows[-1].seconds + _APART - one.moments[first] if rows else 0.0
            rows += [_of_cluster(sample, record.cluster, one.names, shift) for sample in one.samples[first:last]]
    records = [record for _, record in own]
    places = [seen[place] for place in dict.fromkeys((race_id, record.cluster) for race_id, record in own)]
    names = list(dict.fromkeys(name for one in places for name in one.names.values()))
    if not spans:
        return Bottleneck(0.0, 0.0, tuple(_recorded(records, len(names), None)), (), _too_short(records))
    may_use = allowed(
        [each for one in places for each in one.circumstances],
        [*(each for one in places for each in one.limits), *held],
        places[-1].processors,
    )
    over = between_samples(rows)
    # The busiest of the load driver's processes is in the records of the laps, of all machines.
    over = replace(over, series=tuple(one for one in over.series if (one.measure, one.component) != (BUSIEST, DRIVER)))
    cores = [may_use.cores[name] for name in names if name in may_use.cores]
    elsewhere = not any(over.one(PROCESSORS, name) for name in over.single_nodes) and len(cores) == len(names)
    further = tuple(_recorded(records, len(names), sum(cores) if elsewhere else None))
    return bottleneck_within(over, may_use, spans, (0.0, seconds), further, others=_OTHERS)


def _called(names: set[str]) -> dict[str, str]:
    """What nodes are called in a report, which may be of somebody's own cluster: not by their names."""
    if len(names) == 1:
        return dict.fromkeys(names, "the node")
    return {name: f"node {number}" for number, name in enumerate(sorted(names, key=_natural), 1)}


def _natural(name: str) -> tuple[str, int]:
    """For an order in which node 10 comes after node 9."""
    digits = name[len(name.rstrip("0123456789")) :]
    return name[: len(name) - len(digits)], int(digits or 0)


def _is_whole(sample: Sample, cluster: str, names: set[str]) -> bool:
    """Whether all nodes of that cluster are in a sample, and when it was taken."""
    nodes = (node for node in (sample.nodes or {}).values() if node.cluster == cluster and node.heap_bytes)
    return sample.monotonic is not None and bool(names) and {node.name for node in nodes} == names


def _of_cluster(sample: Sample, cluster: str, names: Mapping[str, str], shift: float) -> Sample:
    """The sample with the nodes of that cluster and what else is alive of the load alone, at a moment of its own."""
    nodes = {
        node_id: replace(node, name=names[node.name])
        for node_id, node in (sample.nodes or {}).items()
        if node.cluster == cluster
    }
    # Samples go on to tell of the shippers of other contenders, which have ended.
    alive = {name: used for name, used in sample.components.items() if used.processes}
    return replace(sample, seconds=(sample.monotonic or 0.0) + shift, nodes=nodes, indices=None, components=alive)


def _recorded(records: Sequence[LapRecord], nodes: int, cores: float | None) -> Iterator[Suspect]:
    """What the laps themselves tell, medians.

    :param nodes: how many there are; 0 if nobody has seen any.
    :param cores: that all nodes together may use, where their processor time is to be told, too.
    """
    whose = "the node" if nodes == 1 else f"the {nodes} nodes"
    if (driver := _median(record.lap.driver_load for record in records)) is not None:
        used = f"its busiest process {driver:.2f} of 1 core"
        yield Suspect(DRIVER_CPU, DRIVER, used, driver, BUSY_DRIVER)
    if nodes and (stopped := _median(record.stopped for record in records)) is not None:
        mean = "" if nodes == 1 else ", their mean"
        used = f"{numbers.share(stopped / nodes, 1)} of the time in collections{mean}, waiting for merges included"
        yield Suspect(HEAP_FULL, whose, used, stopped / nodes, MUCH_COLLECTION)
    if cores and (spent := _median(record.node_cores for record in records)) is not None:
        used = f"{spent:.2f} of {cores:g} cores, waiting for merges included"
        yield Suspect(NODE_CPU, whose, used, spent / cores, BUSY_CPU)


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
        "early, or its nodes did not answer, or tell no heap in use."
    )
