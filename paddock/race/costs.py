"""What the work cost, added up from the counters in the samples."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from paddock.race.summary import Activity, Figure, Missing
from paddock.race.timeline import IndexKey, increase
from paddock.sampling.records import IndexCounters, NodeCounters, Sample

NO_SAMPLES = "The cluster answered fewer than two samples."
ELSEWHERE = "The nodes, or some of them, do not run on the machine that was sampled."


def between(samples: Sequence[Sample], begin: float, end: float) -> list[Sample]:
    """The samples from ``begin`` to ``end``, both included (seconds since the sampler started)."""
    return [sample for sample in samples if begin <= sample.seconds <= end]


def node_total(samples: Iterable[Sample], counter: Callable[[NodeCounters], float | None]) -> Figure:
    """By how much a counter grew, all nodes together; moments in which it is None are left out."""
    histories: dict[str, list[float]] = {}
    for sample in samples:
        for node_id, node in (sample.nodes or {}).items():
            value = counter(node)
            if value is not None:
                histories.setdefault(node_id, []).append(value)
    if not any(len(history) > 1 for history in histories.values()):
        return Missing(NO_SAMPLES)
    return sum(_growth(history) for history in histories.values())


def node_cpu_seconds(samples: Sequence[Sample]) -> Figure:
    """CPU time of all nodes.

    Where the nodes are local the kernel is asked, because a node renews its own figure only once a second.
    """
    if _all_local(samples):
        return node_total(samples, lambda node: node.process.cpu_seconds if node.process else None)
    return node_total(samples, lambda node: node.cpu_seconds)


def written_bytes(samples: Sequence[Sample]) -> Figure:
    """Bytes that the nodes caused to be written to disks."""
    if not _all_local(samples):
        return Missing(ELSEWHERE if _seen(samples) else NO_SAMPLES)
    if any(node.process and node.process.written_bytes is None for node in _nodes(samples)):
        return Missing("The kernel does not tell this user how much the nodes wrote.")
    return node_total(samples, lambda node: node.process.written_bytes if node.process else None)


def peak_node_bytes(samples: Sequence[Sample]) -> Figure:
    """Largest resident memory of all nodes at one moment."""
    if not _all_local(samples):
        return Missing(ELSEWHERE if _seen(samples) else NO_SAMPLES)
    return max(
        sum(node.process.resident_bytes for node in sample.nodes.values() if node.process)
        for sample in samples
        if sample.nodes
    )


def collectors(samples: Sequence[Sample]) -> dict[str, Activity]:
    """What every garbage collector did."""
    names = sorted({name for node in _nodes(samples) for name in node.collectors})
    found = {}
    for name in names:
        count = node_total(samples, lambda node, name=name: _collected(node, name)[0])  # type: ignore[misc]
        spent = node_total(samples, lambda node, name=name: _collected(node, name)[1])  # type: ignore[misc]
        found[name] = Activity(count, spent if isinstance(spent, Missing) else spent / 1000)
    return found


def driver_cpu_seconds(samples: Sequence[Sample]) -> Figure:
    """CPU time of the load driver."""
    if len(samples) < 2:
        return Missing(NO_SAMPLES)
    if not any(sample.driver.processes for sample in samples):
        return Missing("No process of the load driver was seen on this machine.")
    return max(samples[-1].driver.cpu_seconds - samples[0].driver.cpu_seconds, 0.0)


def driver_busiest(samples: Sequence[Sample]) -> Figure:
    """Median share of one core that the busiest process of the load driver used."""
    shares = [sample.driver.busiest for sample in samples[1:] if sample.driver.processes]
    return statistics.median(shares) if shares else Missing("No process of the load driver was seen on this machine.")


def steal_percent(samples: Sequence[Sample]) -> Figure:
    """Mean share of the machine's time that its hypervisor gave to others."""
    shares = [sample.machine.steal_percent for sample in samples[1:]]
    return statistics.mean(shares) if shares else Missing(NO_SAMPLES)


def index_total(samples: Iterable[Sample], keys: set[IndexKey], counter: Callable[[IndexCounters], float]) -> Figure:
    """By how much a counter grew, all indices in ``keys`` together; one made while sampling began at zero."""
    histories: dict[IndexKey, list[float]] = {}
    first = True
    for sample in samples:
        if sample.indices is None:
            continue
        for name, index in sample.indices.items():
            key = (name, index.uuid)
            if key in keys:
                histories.setdefault(key, [] if first else [0.0]).append(counter(index))
        first = False
    return sum(_growth(history) for history in histories.values()) if histories else Missing(NO_SAMPLES)


def final_indices(samples: Iterable[Sample], keys: set[IndexKey]) -> list[IndexCounters]:
    """The indices in ``keys`` as seen last; of several that had one name after the other only the last."""
    found: dict[str, IndexCounters] = {}
    for sample in samples:
        for name, index in (sample.indices or {}).items():
            if (name, index.uuid) in keys:
                found[name] = index
    return list(found.values())


def _growth(history: Sequence[float]) -> float:
    return sum(increase(before, after) for before, after in pairwise(history))


def _nodes(samples: Iterable[Sample]) -> Iterable[NodeCounters]:
    return (node for sample in samples for node in (sample.nodes or {}).values())


def _seen(samples: Iterable[Sample]) -> bool:
    return any(sample.nodes for sample in samples)


def _all_local(samples: Iterable[Sample]) -> bool:
    """Whether the process of every node has been seen, if only at times: one that ends may still answer."""
    seen: dict[str, bool] = {}
    for sample in samples:
        for node_id, node in (sample.nodes or {}).items():
            seen[node_id] = seen.get(node_id, False) or node.process is not None
    return bool(seen) and all(seen.values())


def _collected(node: NodeCounters, name: str) -> tuple[int, int]:
    done = node.collectors.get(name)
    return (done.count, done.milliseconds) if done else (0, 0)
