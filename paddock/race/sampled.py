"""What the samples beside a race say: when documents were indexed and searches ran, and what the work cost."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paddock.plain_values import Figure, Missing
from paddock.race.figures import Activity
from paddock.sampling.records import IndexCounters, NodeCounters, Sample

# A name alone does not tell an index from the one that was deleted before it.
IndexKey = tuple[str, str]


@dataclass(frozen=True)
class Span:
    """The time between two samples, in seconds since the sampler started.

    :param documents: indexing operations done meanwhile, per index.
    :param queries: shard queries done meanwhile, all indices together.
    :param fell: whether a counter of documents was lower at the end, as where a node with a primary shard has left.
    """

    begin: float
    end: float
    documents: dict[IndexKey, int]
    queries: int
    fell: bool = False

    @property
    def total(self) -> int:
        """Indexing operations of all indices."""
        return sum(self.documents.values())


@dataclass(frozen=True)
class Window:
    """A stretch of time in which one task indexed, from sample to sample: up to two seconds wider than the load."""

    begin: float
    end: float


def increase(before: float, after: float) -> float:
    """By how much a counter has grown; one that has fallen was started anew from zero."""
    return after - before if after >= before else after


def intervals(samples: Sequence[Sample]) -> list[Span]:
    """The intervals between samples that know the indices; a missed sample makes a longer interval."""
    found = []
    usable = [(sample.seconds, sample.indices) for sample in samples if sample.indices is not None]
    for (begin, before), (end, after) in pairwise(usable):
        documents = {}
        queries, fell = 0, False
        for name, index in after.items():
            earlier = before.get(name)
            if earlier is None or earlier.uuid != index.uuid:
                earlier = IndexCounters(index.uuid)
            fell = fell or index.indexed < earlier.indexed
            grown = int(increase(earlier.indexed, index.indexed))
            if grown:
                documents[(name, index.uuid)] = grown
            queries += int(increase(earlier.queries, index.queries))
        if end > begin:
            found.append(Span(begin, end, documents, queries, fell))
    return found


def load_windows(found: Sequence[Span], tasks: int) -> list[Window] | None:
    """One window per bulk task, in their order; None if the samples cannot tell that many tasks apart.

    Tasks that index into an index of their own each are told apart by the indices; others by the longest pauses between
    them (Rally pauses for a second at least between two tasks).
    """
    active = [interval for interval in found if interval.total]
    if not active or tasks < 1:
        return None
    if tasks == 1:
        return [Window(active[0].begin, active[-1].end)]
    return _windows_by_index(active, tasks) or _windows_by_pause(active, tasks)


_FELL = "The counter of indexed documents fell during the load, as where a node left or was started anew."
_NOT_ALONE = "Another task wrote to the same index, or it was not there in the end: so its documents cannot be counted."


def _inside(found: Sequence[Span], window: Window) -> list[Span]:
    return [interval for interval in found if window.begin <= interval.begin and interval.end <= window.end]


def documents_in(found: Sequence[Span], window: Window) -> Figure:
    """Indexing operations in that window; Missing where their counter fell, for then nobody knows."""
    inside = _inside(found, window)
    return Missing(_FELL) if any(one.fell for one in inside) else sum(one.total for one in inside)


def counted_in_the_end(
    samples: Sequence[Sample], found: Sequence[Span], window: Window, windows: Sequence[Window]
) -> Figure:
    """Documents in the indices to which that window's task alone wrote, by the last sample that knows indices.

    Missing where one of these indices is not there: it was deleted, or has no shard that answers.
    """
    keys, *others = (
        {key for one in _inside(found, each) for key in one.documents}
        for each in (window, *(other for other in windows if other != window))
    )
    last = next((sample.indices for sample in reversed(samples) if sample.indices is not None), {})
    there = [last[name].documents for name, uuid in keys if name in last and last[name].uuid == uuid]
    if len(there) < len(keys) or any(keys & other for other in others):
        return Missing(_NOT_ALONE)
    return sum(there)


def settled_intervals(found: Sequence[Span], window: Window, warmup_seconds: float) -> list[Span]:
    """The intervals in which the load ran from beginning to end and the warm-up was over.

    The first and the last interval of a window hold moments without load, so they are left out.
    """
    inside = _inside(found, window)
    full = inside[1:-1]
    return [interval for interval in full if interval.begin >= inside[0].end + warmup_seconds] if full else []


def rate(some: Sequence[Span]) -> float:
    """Documents per second of those intervals together."""
    return sum(interval.total for interval in some) / sum(interval.end - interval.begin for interval in some)


def median_rate(some: Sequence[Span]) -> float:
    """The median of the intervals' own documents per second."""
    return statistics.median(rate([interval]) for interval in some)


def end_of_cost(found: Sequence[Span], window: Window, windows: Sequence[Window]) -> float:
    """When other work began than what that window's load had left behind: the next load, searches, or nothing at all.

    Searching is taken to begin with two intervals in a row that have queries: a single count of the documents, as the
    challenges do after a load, is none.
    """
    limits = [other.begin for other in windows if other.begin >= window.end]
    later = [interval for interval in found if interval.begin >= window.end]
    limits += [first.begin for first, second in pairwise(later) if first.queries and second.queries]
    limits += [later[-1].end] if later else [window.end]
    return min(limits)


def _windows_by_index(active: Sequence[Span], tasks: int) -> list[Window] | None:
    spans: dict[IndexKey, Window] = {}
    for interval in active:
        for key in interval.documents:
            begin = spans[key].begin if key in spans else interval.begin
            spans[key] = Window(begin, interval.end)
    if len(spans) != tasks:
        return None
    ordered = sorted(spans.values(), key=lambda window: window.begin)
    apart = all(first.end <= second.begin for first, second in pairwise(ordered))
    return ordered if apart else None


def _windows_by_pause(active: Sequence[Span], tasks: int) -> list[Window] | None:
    pauses = sorted(
        ((second.begin - first.end, position) for position, (first, second) in enumerate(pairwise(active))),
        reverse=True,
    )
    chosen = pauses[: tasks - 1]
    if len(chosen) < tasks - 1 or any(length <= 0 for length, _ in chosen):
        return None
    # Equally long pauses would make the choice arbitrary.
    if len(pauses) >= tasks and pauses[tasks - 1][0] >= chosen[-1][0]:
        return None
    cuts = sorted(position for _, position in chosen)
    firsts = [0, *(cut + 1 for cut in cuts)]
    lasts = [*cuts, len(active) - 1]
    return [Window(active[first].begin, active[last].end) for first, last in zip(firsts, lasts, strict=True)]


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


def cpu_counter(samples: Sequence[Sample]) -> Callable[[NodeCounters], float | None]:
    """Where a node's processor time stands: with the kernel, if it ever saw its process, else with the node itself.

    Never now with the one and now with the other: they do not count from the same moment on.
    """
    here = {node.name for sample in samples for node in (sample.nodes or {}).values() if node.process}

    def read(node: NodeCounters) -> float | None:
        if node.name in here:
            return node.process.cpu_seconds if node.process else None
        return node.cpu_seconds

    return read


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
    shares = [sample.steal_percent for sample in samples[1:]]
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
