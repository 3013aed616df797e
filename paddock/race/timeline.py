"""When documents were indexed and searches ran, as the samples show it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from paddock.sampling.records import IndexCounters, Sample

# A name alone does not tell an index from the one that was deleted before it.
IndexKey = tuple[str, str]


@dataclass(frozen=True)
class Interval:
    """The time between two samples, in seconds since the sampler started.

    :param documents: indexing operations done meanwhile, per index.
    :param queries: shard queries done meanwhile, all indices together.
    """

    begin: float
    end: float
    documents: dict[IndexKey, int]
    queries: int

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


def intervals(samples: Sequence[Sample]) -> list[Interval]:
    """The intervals between samples that know the indices; a missed sample makes a longer interval."""
    found = []
    usable = [(sample.seconds, sample.indices) for sample in samples if sample.indices is not None]
    for (begin, before), (end, after) in pairwise(usable):
        documents = {}
        queries = 0
        for name, index in after.items():
            earlier = before.get(name)
            if earlier is None or earlier.uuid != index.uuid:
                earlier = IndexCounters(index.uuid)
            grown = int(increase(earlier.indexed, index.indexed))
            if grown:
                documents[(name, index.uuid)] = grown
            queries += int(increase(earlier.queries, index.queries))
        if end > begin:
            found.append(Interval(begin, end, documents, queries))
    return found


def load_windows(found: Sequence[Interval], tasks: int) -> list[Window] | None:
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


def documents_in(found: Sequence[Interval], window: Window) -> int:
    """Indexing operations in that window."""
    return sum(interval.total for interval in found if window.begin <= interval.begin and interval.end <= window.end)


def settled_intervals(found: Sequence[Interval], window: Window, warmup_seconds: float) -> list[Interval]:
    """The intervals in which the load ran from beginning to end and the warm-up was over.

    The first and the last interval of a window hold moments without load, so they are left out.
    """
    inside = [interval for interval in found if window.begin <= interval.begin and interval.end <= window.end]
    full = inside[1:-1]
    return [interval for interval in full if interval.begin >= inside[0].end + warmup_seconds] if full else []


def rate(some: Sequence[Interval]) -> float:
    """Documents per second of those intervals together."""
    return sum(interval.total for interval in some) / sum(interval.end - interval.begin for interval in some)


def median_rate(some: Sequence[Interval]) -> float:
    """The median of the intervals' own documents per second."""
    return statistics.median(rate([interval]) for interval in some)


def end_of_cost(found: Sequence[Interval], window: Window, windows: Sequence[Window]) -> float:
    """When other work began than what that window's load had left behind: the next load, searches, or nothing at all.

    Searching is taken to begin with two intervals in a row that have queries: a single count of the documents, as the
    challenges do after a load, is none.
    """
    limits = [other.begin for other in windows if other.begin >= window.end]
    later = [interval for interval in found if interval.begin >= window.end]
    limits += [first.begin for first, second in pairwise(later) if first.queries and second.queries]
    limits += [later[-1].end] if later else [window.end]
    return min(limits)


def _windows_by_index(active: Sequence[Interval], tasks: int) -> list[Window] | None:
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


def _windows_by_pause(active: Sequence[Interval], tasks: int) -> list[Window] | None:
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
