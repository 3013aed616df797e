"""From laps to figures, and to the paired differences that the statistics judge: by block, or by start."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from paddock.race.summary import FEWEST_FOR_P95
from paddock.statistics.series import FrontCut, censored_quantile, front_cut
from paddock.statistics.signed_rank import fewest_differences
from paddock.statistics.starts import (
    FEWEST_STARTS,
    Spread,
    Units,
    index_level,
    node_level,
    spread,
    start_level,
    start_value,
)
from paddock.tournaments.laps import MERGE_WAIT, block_of
from paddock.tournaments.model import FEWEST_FOR_P99, Absolute, Lap, Metric, Tournament

DOCS_PER_SECOND = Metric("docs/s", "docs/s", True)
METRICS = {
    metric.name: metric
    for metric in (
        DOCS_PER_SECOND,
        Metric("documents", "a slice", True),
        Metric("node CPU s/M docs", "s/M docs", False),
        Metric("driver CPU s/M docs", "s/M docs", False),
        Metric("shipper CPU s/M docs", "s/M docs", False),
        Metric("GC s/M docs", "s/M docs", False),
        Metric("throttled s/M docs", "s/M docs", False),
        Metric(MERGE_WAIT, "s/M docs", False),
        Metric("refresh s/M docs", "s/M docs", False),
        Metric("merge s/M docs", "s/M docs", False),
        Metric("bytes/doc", "bytes/doc", False),
        Metric("written bytes/doc", "bytes/doc", False),
        Metric("node memory MiB", "MiB", False),
        Metric("shipper memory MiB", "MiB", False),
        Metric("bulk p50 ms", "ms", False),
        Metric("bulk p95 ms", "ms", False),
        Metric("bulk p99 ms", "ms", False),
        Metric("freshness p50 ms", "ms", False),
        Metric("freshness p95 ms", "ms", False),
        Metric("freshness p99 ms", "ms", False),
        Metric("query p50 ms", "ms", False),
        Metric("query p90 ms", "ms", False),
        Metric("query p95 ms", "ms", False),
    )
}
_FEWEST_MARKERS = {"p50": 1, "p95": FEWEST_FOR_P95, "p99": FEWEST_FOR_P99}
ALPHA = 0.05
# More laps without a figure than this share, and what is left is a selection.
MOST_UNMEASURED = 0.05


def figure(lap: Lap, metric: Metric) -> float | None:
    """The lap's figure in that metric; None if it is void or was not measured (a ratio needs positive figures)."""
    if lap.void is not None:
        return None
    value: float | None
    if metric == DOCS_PER_SECOND:
        value = lap.docs_per_second
    elif metric.name.startswith("freshness"):
        value = (lap.freshness or {}).get(metric.name.split()[1])
    else:
        value = lap.prices.get(metric.name)
    return value if value is not None and value > 0 and math.isfinite(value) else None


def counting(laps: Sequence[Lap], contender: str | None = None) -> list[Lap]:
    """The laps that count, of that contender or of all: neither warm-up nor void."""
    return [lap for lap in laps if not lap.warmup and lap.void is None and contender in (None, lap.contender)]


def absolute(contender: str, values: Sequence[float]) -> Absolute:
    """Mean, standard deviation and median of a contender's figures; without any, none of them."""
    if not values:
        return Absolute(contender, None, None, None, 0)
    sd = statistics.stdev(values) if len(values) > 1 else None
    return Absolute(contender, statistics.fmean(values), sd, statistics.median(values), len(values))


def rivals(tournament: Tournament) -> list[str]:
    """The names of all contenders but the baseline."""
    return [contender.name for contender in tournament.contenders if contender.name != tournament.baseline]


# Per contender one figure per block; None for void and missing laps.
Figures = dict[str, list[float | None]]


def measured_blocks(laps: Sequence[Lap]) -> list[tuple[int, int]]:
    """Start and block of every measured block with at least one valid lap, in their order."""
    return sorted({(lap.start, lap.block) for lap in counting(laps)})


def figures_by_block(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> list[Figures]:
    """Index level: one entry per start; a block without a valid lap is left out."""
    found = {(lap.start, lap.block, lap.contender): figure(lap, metric) for lap in counting(laps)}
    blocks = measured_blocks(laps)
    return [
        {
            contender.name: [found.get((start, block, contender.name)) for owner, block in blocks if owner == start]
            for contender in tournament.raced
        }
        for start in sorted({start for start, _ in blocks})
    ]


def figures_by_group(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> dict[int, Figures]:
    """Node level: by the group of starts, the laps of each contender's start."""
    groups: dict[int, Figures] = {}
    for lap in laps:
        if not lap.warmup:
            group, _ = block_of(lap, tournament)
            groups.setdefault(group, {}).setdefault(lap.contender, []).append(figure(lap, metric))
    return dict(sorted(groups.items()))


def find_cut(laps: Sequence[Lap], tournament: Tournament, early: Collection[str] = ()) -> tuple[FrontCut, ...]:
    """What MSER cuts at the front of each start, for all contenders together, by the metric of the verdict.

    Nothing at node level: there each start holds one contender, and cutting every contender by itself is not exact.

    :param early: contenders without laps in later blocks: where a slow one is missing, block means rise without any
        warm-up, so they are those of the others.
    """
    if tournament.node_level:
        return ()
    starts = figures_by_block(laps, tournament, tournament.metric)
    return tuple(front_cut({name: of for name, of in start.items() if name not in early}) for start in starts)


@dataclass(frozen=True)
class Paired:
    """The differences of every contender but the baseline, in one metric.

    :param units: by contender; without differences where too many laps, its own or the baseline's, say nothing.
    :param unmeasured: the share of each contender's laps that count, but have no figure; only those that lack some.
    :param early: those that had no further laps once the evidence had decided them.
    """

    units: Mapping[str, Units]
    unmeasured: Mapping[str, float]
    early: frozenset[str] = frozenset()


def paired(
    laps: Sequence[Lap],
    tournament: Tournament,
    metric: Metric,
    looked: bool = False,
    cut: Sequence[FrontCut] = (),
    names: Sequence[str] | None = None,
    early: Collection[str] = (),
) -> Paired:
    """The differences that are judged.

    Laps without a figure differ from the others in just what is measured: a lap that is too short for the refreshes of
    its index shows no freshness. To compare what is left would be to compare a selection.

    :param looked: for the e-process, which judges blocks if there is one start, and otherwise starts: with several the
        claim is about the configuration, so blocks of the first start must not end the tournament.
    :param cut: blocks to leave out at the front of each start; none for the e-process.
    :param names: who is compared with the baseline, all together; None for all rivals.
    :param early: those of them whose laps the evidence has ended: the e-process judges them, whatever ends the others.
    """
    unmeasured = {}
    for contender in tournament.raced:
        mine = counting(laps, contender.name)
        if missing := sum(figure(lap, metric) is None for lap in mine):
            unmeasured[contender.name] = missing / len(mine)
    baseline, others = tournament.baseline, rivals(tournament) if names is None else names
    alpha = ALPHA / len(others)
    if tournament.node_level:
        groups = list(figures_by_group(laps, tournament, metric).values())
        units = {rival: node_level(groups, rival, baseline) for rival in others}
    else:
        whole = figures_by_block(laps, tournament, metric)
        front = [one.blocks for one in cut] or [0] * len(whole)
        starts = [
            {name: values[first:] for name, values in start.items()} for first, start in zip(front, whole, strict=True)
        ]
        needed = max(FEWEST_STARTS, fewest_differences(alpha))
        units = {}
        for rival in others:
            by_evidence = looked or rival in early
            of = whole if by_evidence else starts
            if by_evidence and tournament.starts > 1:
                units[rival] = start_level(of, rival, baseline, needed)
            else:
                units[rival] = index_level(of, rival, baseline, alpha)
    selected = {name for name, share in unmeasured.items() if share > MOST_UNMEASURED}
    return Paired(
        {name: replace(of, differences=()) if selected & {name, baseline} else of for name, of in units.items()},
        unmeasured,
        frozenset(early),
    )


def spreads(laps: Sequence[Lap], tournament: Tournament, metric: Metric, names: Iterable[str]) -> dict[str, Spread]:
    """How much the log ratios of those contenders vary; of none where each start holds one contender."""
    if tournament.node_level:
        return {}
    starts = figures_by_block(laps, tournament, metric)
    return {name: spread(starts, name, tournament.baseline) for name in names}


@dataclass(frozen=True)
class Pair:
    """A contender's lap and the baseline's in one block; at node level a start of each in one group.

    :param start: at node level the group of starts.
    :param block: as the laps have it, warm-up blocks counted; None at node level.
    :param ratio: contender / baseline.
    """

    start: int
    block: int | None
    ratio: float


def pairs(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> dict[str, list[Pair]]:
    """All pairs of the contenders that have any, in the order of their running, blocks that MSER cuts included."""
    baseline, found = tournament.baseline, {}
    groups = figures_by_group(laps, tournament, metric) if tournament.node_level else {}
    values = {(lap.start, lap.block, lap.contender): figure(lap, metric) for lap in counting(laps)}
    blocks = measured_blocks(laps)
    for name in rivals(tournament):
        places: list[tuple[int, int | None, float | None, float | None]] = []
        if tournament.node_level:
            for group, of in groups.items():
                places.append((group, None, start_value(of.get(name, ())), start_value(of.get(baseline, ()))))
        else:
            for start, block in blocks:
                places.append((start, block, values.get((start, block, name)), values.get((start, block, baseline))))
        if known := [Pair(start, block, a / b) for start, block, a, b in places if a is not None and b is not None]:
            found[name] = known
    return found


@dataclass(frozen=True)
class Freshness:
    """Milliseconds from acknowledged to searchable of one contender.

    :param p50, p95, p99: quantiles (Kaplan-Meier); None where laps are too short to tell, or markers too few.
    :param longest: the longest that any marker was watched: a quantile that laps are too short for is likely to be
        more.
    :param markers: how many were sent; ``found`` of them were seen to become searchable.
    """

    contender: str
    p50: float | None
    p95: float | None
    p99: float | None
    longest: float
    markers: int
    found: int

    def enough_for(self, percentile: str) -> bool:
        """Whether there are as many markers as that one, "p50", "p95" or "p99", takes."""
        return self.markers >= _FEWEST_MARKERS[percentile]


def pooled_freshness(laps: Sequence[Lap], contenders: Sequence[str]) -> tuple[Freshness, ...]:
    """The freshness of each contender from those of its laps that count; contenders without a marker are left out.

    One lap sees a handful of markers, and those that are not searchable when its load ends are known only to take
    longer. All laps together tell the quantiles - up to the time that a lap lasts, and no further. They tell the truth
    because each load begins at a random phase of the refresh: when a marker stops being watched says nothing of how
    long it will take. A lap whose probe ended before its load is left out: that may be because refreshes were slow.
    """
    pooled = []
    for contender in contenders:
        seen = [lap.markers for lap in counting(laps, contender) if lap.markers and lap.markers.problem is None]
        found = [duration for markers in seen for duration in markers.found]
        waiting = [duration for markers in seen for duration in markers.waiting]
        if markers_sent := len(found) + len(waiting):
            p50, p95, p99 = (
                censored_quantile(found, waiting, share) if markers_sent >= _FEWEST_MARKERS[name] else None
                for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
            )
            longest = max(*found, *waiting, 0.0)
            pooled.append(Freshness(contender, p50, p95, p99, longest, markers_sent, len(found)))
    return tuple(pooled)
