"""The bottleneck of a race: which of processors, load driver, shipper, disk and heap was saturated; pure.

Each is judged by the second half of each load, against what it may use; nothing is said of what was not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from paddock import numbers
from paddock.race.over_time import (
    ALL_NODES,
    BUSIEST,
    BUSIEST_THREAD,
    COLLECTION,
    DISK_BUSY,
    DRIVER,
    HEAP,
    MACHINE_BUSY,
    MEMORY,
    PROCESSORS,
    WRITTEN,
    OverTime,
    Series,
    name_of,
)
from paddock.race.resources import steady

# Shares of what may be used from which on something counts as saturated: what is at its limit waits at times, between
# two bulks. Of the driver's processes it is what the warning of a busy driver says.
BUSY_CPU, BUSY_MACHINE, BUSY_DRIVER, BUSY_DISK = 0.9, 0.95, 0.8, 0.9
# The share of the time in which collections stopped a node, and the share of the heap that was never free.
MUCH_COLLECTION, FULL_HEAP = 0.1, 0.85
# Below this share of a busy machine our own components are not what keeps it busy.
_OURS = 0.8
# By how much a share of some processors may lie above that of all by chance.
_MARGIN = 0.05
_MIB = 2.0**20
_Noted = TypeVar("_Noted", int, float)
_Spans = Sequence[tuple[float, float]]

NODE_CPU, DRIVER_CPU, COMPONENT_CPU, MACHINE_CPU, DISK, HEAP_FULL = (
    *("node CPU", "driver CPU", "component CPU", "machine's processors", "disk", "heap"),
)
_MEANS = {
    NODE_CPU: "more or faster cores there, or settings that cost less work, would bring more.",
    DRIVER_CPU: "the load driver is measured as much as Elasticsearch: give it more processes or a machine of its own.",
    COMPONENT_CPU: "more cores, or less work for it to do, would bring more; Elasticsearch could do more.",
    MACHINE_CPU: "what runs on it takes processor time from each other: apart from each other, each may do more.",
    DISK: "a faster disk, or less that is written and merged, would bring more.",
    HEAP_FULL: "a larger heap, or less of what fills it, would bring more.",
}


@dataclass(frozen=True)
class Allowed:
    """What may be used at most, as far as it is known.

    :param cores: by the name of a node, or of another component that has a limit.
    :param heap_bytes: by the name of a node.
    :param written: bytes per second that a limit allows to write, by the name of a node.
    :param processors: of the machine that was sampled, which runs Rally; None if nobody noted them.
    """

    cores: Mapping[str, float] = field(default_factory=dict)
    heap_bytes: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, float] = field(default_factory=dict)
    processors: float | None = None


def allowed(
    circumstances: Sequence[Mapping[str, Any]], limits: Sequence[Mapping[str, Any]], processors: int
) -> Allowed:
    """The same from the records of a race.

    :param circumstances: what the nodes said, the last of it last (sampling.records.read_circumstances).
    :param limits: what each launch of a node, or of another component, was held to (rally.limited.launches).
    :param processors: that this machine lets us use.
    """
    cores: dict[str, float] = {}
    heaps: dict[str, int] = {}
    written: dict[str, float] = {}
    for told in circumstances:
        for node in told["nodes"].values():
            name = str(node.get("name"))
            if number := (node.get("os") or {}).get("allocated_processors"):
                cores[name] = float(number)
            if size := ((node.get("jvm") or {}).get("mem") or {}).get("heap_max_in_bytes"):
                heaps[name] = int(size)
    for one in limits:
        name, held = str(one.get("node")), one.get("at most") or {}
        if held.get("cores"):
            cores[name] = min(float(held["cores"]), cores.get(name, float("inf")))
        if held.get("written"):
            written[name] = float(held["written"])
    return Allowed(cores, heaps, written, float(processors))


@dataclass(frozen=True)
class Suspect:
    """Something that may have been the bottleneck.

    :param kind: NODE_CPU, DRIVER_CPU, COMPONENT_CPU, MACHINE_CPU, DISK or HEAP_FULL.
    :param of: whose, for people.
    :param used: the figure, for people, beside what it is measured against.
    :param share: of that, 0 to 1; ``threshold`` from which share on it counts as saturated.
    """

    kind: str
    of: str
    used: str
    share: float
    threshold: float

    @property
    def saturated(self) -> bool:
        """Whether it was."""
        return self.share >= self.threshold


@dataclass(frozen=True)
class Bottleneck:
    """What came of the search.

    :param begin, end: the seconds since the first document that were looked at; of laps 0 and how many they were.
    :param suspects: the nearest to its limit first.
    :param unknown: what could not be judged, a sentence each.
    :param sentence: what was saturated, or that nothing was, and what that means.
    """

    begin: float
    end: float
    suspects: tuple[Suspect, ...]
    unknown: tuple[str, ...]
    sentence: str

    @property
    def named(self) -> str:
        """What was saturated, in a few words."""
        found = dict.fromkeys(_short(one) for one in self.suspects if one.saturated)
        return ", ".join(found) or "nothing seen"


def find_bottleneck(over: OverTime, limits: Allowed, paced: bool = False) -> Bottleneck | None:
    """Look for it; None if no whole second of a load was sampled.

    :param paced: whether a schedule set the pace of the load.
    """
    spans = steady(over)
    return bottleneck_within(over, limits, spans, (spans[0][0], spans[-1][1]), paced=paced) if spans else None


def bottleneck_within(
    over: OverTime,
    limits: Allowed,
    spans: _Spans,
    seconds: tuple[float, float],
    further: Sequence[Suspect] = (),
    paced: bool = False,
    others: str = "processes that are none of the race's",
) -> Bottleneck:
    """Look for it in those parts of a race.

    :param spans: from which value of the series to which.
    :param seconds: what is told of that: begin and end.
    :param further: what else may have been it, by somebody else's figures.
    :param others: who else uses the processors of this machine.
    """
    nodes = over.single_nodes
    limits = _numbered(limits, nodes)
    found = [
        *further,
        *_nodes(over, nodes, limits, spans),
        *_others(over, nodes, limits, spans),
        *_machine(over, limits, spans),
        *_disks(over, nodes, limits, spans),
    ]
    suspects = tuple(sorted(found, key=lambda one: one.share / one.threshold, reverse=True))
    unknown = tuple(_unknown(over, nodes, limits, suspects))
    strangers = others if _strangers(over, spans, limits) else ""
    sentence = " ".join(_sentences(suspects, len(unknown), paced, strangers))
    return Bottleneck(*seconds, suspects, unknown, sentence)


def _numbered(limits: Allowed, nodes: Sequence[str]) -> Allowed:
    """What nodes may use that are numbered, because they have one name: what was noted of that name."""

    def told(noted: Mapping[str, _Noted]) -> dict[str, _Noted]:
        return {**{one: noted[name_of(one)] for one in nodes if name_of(one) in noted}, **noted}

    return replace(limits, cores=told(limits.cores), heap_bytes=told(limits.heap_bytes), written=told(limits.written))


def _nodes(over: OverTime, nodes: Sequence[str], limits: Allowed, spans: _Spans) -> Iterator[Suspect]:
    for name in nodes:
        cores, most = _mean(over.one(PROCESSORS, name), spans), limits.cores.get(name)
        if cores is not None and most:
            yield _cpu(NODE_CPU, name, cores, most)
        stopped = _mean(over.one(COLLECTION, name), spans)
        if stopped is not None:
            used = f"{numbers.share(stopped, 1)} of the time in collections"
            yield Suspect(HEAP_FULL, name, used, stopped, MUCH_COLLECTION)
        heap, size = over.one(HEAP, name), limits.heap_bytes.get(name)
        if heap and size and (seen := heap.within(*spans)):
            least = min(seen) * _MIB
            used = f"never less than {' '.join(numbers.size(least))} of {' '.join(numbers.size(size))} in use"
            yield Suspect(HEAP_FULL, name, used, least / size, FULL_HEAP)


def _others(over: OverTime, nodes: Sequence[str], limits: Allowed, spans: _Spans) -> Iterator[Suspect]:
    """The load driver and further components."""
    for one in over.of(PROCESSORS):
        name = one.component
        if name in (*nodes, ALL_NODES) or (cores := _mean(one, spans)) is None:
            continue
        most = limits.cores.get(name) or (limits.processors if name != DRIVER else None)
        if most:
            yield _cpu(COMPONENT_CPU, name, cores, most)
        measure, what = (BUSIEST, "process") if name == DRIVER else (BUSIEST_THREAD, "thread")
        if (busiest := _mean(over.one(measure, name), spans)) is not None:
            used = f"its busiest {what} {busiest:.2f} of 1 core"
            kind, threshold = (DRIVER_CPU, BUSY_DRIVER) if name == DRIVER else (COMPONENT_CPU, BUSY_CPU)
            yield Suspect(kind, name, used, busiest, threshold)


def _machine(over: OverTime, limits: Allowed, spans: _Spans) -> Iterator[Suspect]:
    here = _cores_here(over, spans)
    if (busy := _mean(over.whole(MACHINE_BUSY), spans)) is not None:
        ours = ", ".join(f"{name} {cores:.2f}" for name, cores in here.items())
        used = f"{busy:.0f} % busy" + (f" (cores: {ours})" if ours else "")
        yield Suspect(MACHINE_CPU, "this machine", used, busy / 100, BUSY_MACHINE)
        # In a container, say, we may use less than the machine has.
        if limits.processors and (share := sum(here.values()) / limits.processors) > busy / 100 + _MARGIN:
            used = f"{sum(here.values()):.2f} of the {limits.processors:g} cores that may be used here"
            yield Suspect(MACHINE_CPU, "this machine", used, share, BUSY_MACHINE)


def _disks(over: OverTime, nodes: Sequence[str], limits: Allowed, spans: _Spans) -> Iterator[Suspect]:
    for one in over.of(DISK_BUSY):
        if (busy := _mean(one, spans)) is not None:
            yield Suspect(DISK, one.component, f"{numbers.share(busy)} of the time at work", busy, BUSY_DISK)
    for name in nodes:
        written, most = _mean(over.one(WRITTEN, name), spans), limits.written.get(name)
        if written is not None and most:
            used = f"{numbers.figure(written)} of {numbers.figure(most / _MIB)} MiB/s written that its limit allows"
            yield Suspect(DISK, name, used, written * _MIB / most, BUSY_DISK)


def _cpu(kind: str, name: str, cores: float, most: float) -> Suspect:
    return Suspect(kind, name, f"{cores:.2f} of {most:g} cores", cores / most, BUSY_CPU)


def _mean(one: Series | None, spans: _Spans) -> float | None:
    return one.mean(*spans) if one else None


def _cores_here(over: OverTime, spans: _Spans) -> dict[str, float]:
    """What each component used of this machine; nodes elsewhere use another's."""
    here = {one.component for one in over.of(MEMORY)} - {ALL_NODES}
    found = {one.component: _mean(one, spans) for one in over.of(PROCESSORS) if one.component in here}
    return {name: cores for name, cores in found.items() if cores is not None}


def _strangers(over: OverTime, spans: _Spans, limits: Allowed) -> bool:
    """Whether a good part of what kept this machine busy was none of the race's."""
    busy = _mean(over.whole(MACHINE_BUSY), spans)
    if busy is None or not limits.processors:
        return False
    return sum(_cores_here(over, spans).values()) < _OURS * busy / 100 * limits.processors


def _unknown(over: OverTime, nodes: Sequence[str], limits: Allowed, suspects: Sequence[Suspect]) -> Iterator[str]:
    """What nobody can say, and why."""
    elsewhere = [name for name in nodes if over.one(MEMORY, name) is None]
    if elsewhere:
        yield (
            f"{', '.join(elsewhere)} {'runs' if len(elsewhere) == 1 else 'run'} on another machine, or where this user "
            "may not look: what else kept its processors busy, and its disk, are not known."
        )
    elif not any(one.kind == DISK for one in suspects):
        yield "No disk of the nodes' data was noted, as where that lies in memory: the disk is not judged."
    without = [name for name in nodes if name not in limits.cores]
    if without:
        yield f"How many processors {', '.join(without)} may use was not noted: its CPU is not judged."
    if nodes and any(name not in limits.heap_bytes or over.one(HEAP, name) is None for name in nodes):
        yield "The heaps in use, or their sizes, were not noted: of heaps only the time in collections is judged."
    if not any(one.kind == DRIVER_CPU for one in suspects):
        yield "No process of the load driver was seen on this machine: its CPU is not judged."
    if over.whole(MACHINE_BUSY) is None:
        yield "How busy this machine was altogether was not noted."


def _sentences(suspects: Sequence[Suspect], unknown: int, paced: bool, strangers: str) -> Iterator[str]:
    saturated = [one for one in suspects if one.saturated]
    if not suspects:
        yield "Nothing of which a bottleneck could be told was sampled."
        return
    if not saturated:
        nearest = suspects[0]
        yield (
            "None of what could be judged was saturated; the nearest to its limit was "
            f"{_called(nearest)}: {nearest.used}, and {numbers.share(nearest.threshold)} would be saturated."
        )
        if paced:
            yield "A schedule set the pace of the load."
        elif {NODE_CPU, DRIVER_CPU, MACHINE_CPU} <= {one.kind for one in suspects}:
            yield "The load waited for answers more than for any of these: more clients may bring more."
        if unknown:
            yield f"Not judged: {numbers.plural(unknown, 'thing')}, which the report names."
        return
    for kind in dict.fromkeys(one.kind for one in saturated):
        told = "; ".join(f"{_called(one)}: {one.used}" for one in saturated if one.kind == kind)
        yield f"Saturated was {told}; {_MEANS[kind]}"
        if kind == MACHINE_CPU and strangers:
            yield f"A good part of its time went to {strangers}, or to other machines."


def _short(one: Suspect) -> str:
    return f"{one.of} CPU" if one.kind == COMPONENT_CPU else one.kind


def _called(one: Suspect) -> str:
    return {
        NODE_CPU: f"the CPU of {one.of}",
        DRIVER_CPU: "the CPU of the load driver",
        COMPONENT_CPU: f"the CPU of the {one.of}",
        MACHINE_CPU: "the processor time of this machine",
        DISK: f"the disk {one.of}",
        HEAP_FULL: f"the heap of {one.of}",
    }[one.kind]
