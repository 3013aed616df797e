"""What the indices did beside taking documents - refreshes, merges, flushes - and what that explains of a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paddock import numbers
from paddock.reports import figures
from paddock.reports.document import Section, Table
from paddock.tournaments.model import Result
from paddock.tournaments.studies import compared

_MILLION = 1_000_000
_NODE_CPU = "node CPU s/M docs"
# Of more contenders only the table tells.
_EXPLAINED = 6


@dataclass(frozen=True)
class Work:
    """What an index did for a million documents, over all laps of a contender that count and tell it.

    :param refreshes, merges, flushes: how many, replicas included.
    :param refresh_seconds, merge_seconds, flush_seconds: by the clock of the threads that did it; merges without the
        time for which Elasticsearch had stopped them.
    :param merged_bytes: per document.
    :param segments: when a lap's merges had ended, the mean.
    :param cpu_seconds: processor time of all nodes; None where it is not known.
    """

    refreshes: float
    refresh_seconds: float
    merges: float
    merge_seconds: float
    merged_bytes: float
    flushes: float
    flush_seconds: float
    segments: float
    cpu_seconds: float | None

    @property
    def seconds(self) -> float:
        """All three together."""
        return self.refresh_seconds + self.merge_seconds + self.flush_seconds


def work_of(result: Result, contender: str) -> Work | None:
    """What the indices of that contender did; None where no lap tells."""
    laps = [lap for lap in figures.counting_laps(result, contender) if "refresh_ms" in lap.index and lap.documents]
    if not laps:
        return None
    millions = sum(lap.documents for lap in laps) / _MILLION

    def total(name: str) -> float:
        return sum(lap.index.get(name, 0.0) for lap in laps)

    told = [(lap.prices[_NODE_CPU], lap.documents) for lap in laps if _NODE_CPU in lap.prices]
    known = sum(documents for _, documents in told)
    cpu = sum(seconds * documents for seconds, documents in told) / known if told else None
    return Work(
        refreshes=total("refreshes") / millions,
        refresh_seconds=total("refresh_ms") / 1000 / millions,
        merges=total("merges") / millions,
        merge_seconds=max(0.0, total("merge_ms") - total("merge_throttled_ms")) / 1000 / millions,
        merged_bytes=total("merge_bytes") / millions / _MILLION,
        flushes=total("flushes") / millions,
        flush_seconds=total("flush_ms") / 1000 / millions,
        segments=total("segments") / len(laps),
        cpu_seconds=cpu,
    )


def work_section(result: Result) -> Section | None:
    """What the indices did; None where no lap tells, or there is nobody to compare."""
    works = {name: work for name in figures.contenders(result) if (work := work_of(result, name)) is not None}
    if len(works) < 2:
        return None
    headers = (
        *("contender", "refreshes", "s in refreshes", "ms per refresh", "merges", "s in merges", "merged bytes/doc"),
        *("flushes", "segments at the end", "node CPU s"),
    )
    rows = tuple(
        (
            name,
            numbers.figure(one.refreshes),
            numbers.figure(one.refresh_seconds),
            numbers.figure(1000 * one.refresh_seconds / one.refreshes if one.refreshes else None),
            numbers.figure(one.merges),
            numbers.figure(one.merge_seconds),
            numbers.figure(one.merged_bytes),
            numbers.figure(one.flushes),
            numbers.figure(one.segments),
            numbers.figure(one.cpu_seconds),
        )
        for name, one in works.items()
    )
    table = Table("Per million documents, over the laps that count", headers, rows, tuple(range(1, len(headers))))
    text = (
        "Times are by the clock of the threads that refresh, merge and flush, waiting included: it took as much "
        "processor time at most. Replicas do the same again and are in the figures."
    )
    return Section("What the indices did meanwhile", (text,), tables=(table,), items=tuple(explanation(result)))


def explanation(result: Result) -> Iterator[str]:
    """Why a study's effect is there or not, as far as the work of the indices tells; nothing without a study.

    What threads that refresh and merge are seen to save may be no saving: with fewer refreshes it is the threads that
    index which write full buffers. So the processor time of the nodes, which has all of it, stands beside that.
    """
    name = result.tournament.baseline
    base = work_of(result, name)
    claims = [one for one in compared(result) if one.metric == result.main.metric.name]
    prices = next((one.verdicts for one in result.others if one.metric.name == _NODE_CPU), ())
    by_pairs = {one.contender: one for one in prices if one.ratio}
    if base is None or not base.cpu_seconds or len(claims) > _EXPLAINED:
        return
    for one in claims:
        work = work_of(result, one.contender)
        if work is None or not work.cpu_seconds:
            continue
        saved, spent = base.seconds - work.seconds, by_pairs.get(one.contender)
        # Of pairs where there are some, as every verdict: single laps far outside would decide a mean.
        cpu = spent.ratio if spent is not None and spent.ratio else work.cpu_seconds / base.cpu_seconds
        of_pairs = f" of the pairs, {numbers.interval(spent.low, spent.high)}" if spent is not None else " of the means"
        less, measured = "less" if saved >= 0 else "more", "not measured"
        if one.ratio is not None:
            limits = numbers.interval(one.low, one.high)
            interval = "too few pairs for an interval" if limits == numbers.UNBOUNDED else limits
            measured = f"{numbers.ratio(one.ratio)} ({interval}) was measured"
        yield (
            f"{one.contender}: per million documents {numbers.figure(work.refresh_seconds)} s in refreshes, "
            f"{numbers.figure(work.merge_seconds)} s in merges and {numbers.figure(work.flush_seconds)} s in flushes, "
            f"for {name} {numbers.figure(base.refresh_seconds)}, {numbers.figure(base.merge_seconds)} and "
            f"{numbers.figure(base.flush_seconds)} s: {numbers.figure(abs(saved))} s {less} "
            f"by the clock of their threads. All processor time of the nodes was {numbers.figure(work.cpu_seconds)} s, "
            f"for {name} {numbers.figure(base.cpu_seconds)} s in the mean ({numbers.ratio(cpu)} times as much"
            f"{of_pairs}): where the processor is the limit, that makes {numbers.ratio(1 / cpu)} times "
            f"the rate. {numbers.ratio(one.claimed)} was published "
            f"and {measured}."
        )
