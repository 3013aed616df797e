"""From laps to the paired differences that the statistics judge: by block, or by start where that is the unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paddock.errors import unknown
from paddock.statistics.signed_rank import fewest_differences
from paddock.statistics.starts import FEWEST_STARTS, Units, index_level, node_level, start_level
from paddock.statistics.verdicts import Direction
from paddock.statistics.warm_up import FrontCut, front_cut
from paddock.tournaments.laps import block_of
from paddock.tournaments.model import Lap, Metric, Tournament

DOCS_PER_SECOND = Metric("docs/s", "docs/s", True)
METRICS = {
    metric.name: metric
    for metric in (
        DOCS_PER_SECOND,
        Metric("node CPU s/M docs", "s/M docs", False),
        Metric("driver CPU s/M docs", "s/M docs", False),
        Metric("bytes/doc", "bytes/doc", False),
        Metric("bulk p50 ms", "ms", False),
        Metric("bulk p99 ms", "ms", False),
        Metric("freshness p50 ms", "ms", False),
        Metric("freshness p99 ms", "ms", False),
        Metric("query p50 ms", "ms", False),
        Metric("query p90 ms", "ms", False),
    )
}


def find_metric(name: str) -> Metric:
    """The metric of that name.

    :raises UsageError: if there is none; with the nearest names.
    """
    if name not in METRICS:
        raise unknown("metric", name, METRICS, "tournaments/README.md")
    return METRICS[name]


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


def direction(metric: Metric) -> Direction:
    """What the statistics need to know of the metric."""
    return Direction(metric.higher_is_better)


ALPHA = 0.05
# More laps without a figure than this share, and what is left is a selection.
MOST_UNMEASURED = 0.05
# Per start and contender one figure per block; None for void and missing laps.
Figures = list[dict[str, list[float | None]]]


@dataclass(frozen=True)
class Cut:
    """Blocks that MSER cuts at the front of each start, beyond the warm-up blocks."""

    starts: tuple[FrontCut, ...]

    @property
    def blocks(self) -> int:
        """All starts together."""
        return sum(cut.blocks for cut in self.starts)


def rivals(tournament: Tournament) -> list[str]:
    """The names of all contenders but the baseline."""
    return [contender.name for contender in tournament.contenders if contender.name != tournament.baseline]


def measured_blocks(laps: Sequence[Lap]) -> list[tuple[int, int]]:
    """Start and block of every measured block with at least one valid lap, in their order."""
    return sorted({(lap.start, lap.block) for lap in laps if not lap.warmup and lap.void is None})


def figures_by_block(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> Figures:
    """Index level: one entry per start; a block without a valid lap is left out."""
    found = {
        (lap.start, lap.block, lap.contender): value
        for lap in laps
        if not lap.warmup and (value := figure(lap, metric)) is not None
    }
    blocks = measured_blocks(laps)
    return [
        {
            contender.name: [found.get((start, block, contender.name)) for owner, block in blocks if owner == start]
            for contender in tournament.contenders
        }
        for start in sorted({start for start, _ in blocks})
    ]


def figures_by_group(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> Figures:
    """Node level: one entry per group of starts, with the laps of each contender's start."""
    groups: dict[int, dict[str, list[float | None]]] = {}
    for lap in laps:
        if not lap.warmup:
            group, _ = block_of(lap, tournament)
            groups.setdefault(group, {}).setdefault(lap.contender, []).append(figure(lap, metric))
    return [groups[group] for group in sorted(groups)]


def find_cut(laps: Sequence[Lap], tournament: Tournament) -> Cut:
    """What MSER cuts, for all contenders together, by the metric of the verdict; nothing at node level.

    There each start holds one contender, and cutting every contender by itself is not exact.
    """
    if tournament.node_level:
        return Cut(())
    return Cut(tuple(front_cut(start) for start in figures_by_block(laps, tournament, tournament.metric)))


def unmeasured(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> dict[str, float]:
    """The share of each contender's laps that count, but have no figure in that metric; contenders without any are out.

    Laps without a figure differ from the others in just what is measured: a lap that is too short for the refreshes of
    its index shows no freshness. To compare what is left would be to compare a selection.
    """
    shares = {}
    for contender in tournament.contenders:
        counting = [lap for lap in laps if lap.contender == contender.name and not lap.warmup and lap.void is None]
        missing = sum(figure(lap, metric) is None for lap in counting)
        if missing:
            shares[contender.name] = missing / len(counting)
    return shares


def _comparable(
    found: dict[str, Units], laps: Sequence[Lap], tournament: Tournament, metric: Metric
) -> dict[str, Units]:
    """Without the differences of contenders that too many of their own laps, or of the baseline's, say nothing of."""
    missing = {name for name, share in unmeasured(laps, tournament, metric).items() if share > MOST_UNMEASURED}
    return {
        rival: replace(of, differences=()) if missing & {rival, tournament.baseline} else of
        for rival, of in found.items()
    }


def units(laps: Sequence[Lap], tournament: Tournament, metric: Metric, cut: Cut | None = None) -> dict[str, Units]:
    """The differences of every contender but the baseline.

    :param cut: blocks to leave out at the front of each start; None for none.
    """
    others = rivals(tournament)
    if tournament.node_level:
        return _by_group(laps, tournament, metric)
    starts = figures_by_block(laps, tournament, metric)
    if cut is not None and cut.starts:
        starts = [
            {name: values[one.blocks :] for name, values in start.items()}
            for start, one in zip(starts, cut.starts, strict=True)
        ]
    found = {rival: index_level(starts, rival, tournament.baseline, ALPHA / len(others)) for rival in others}
    return _comparable(found, laps, tournament, metric)


def sequential_units(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> dict[str, Units]:
    """What the e-process looks at: blocks if there is one start, otherwise starts; nothing is cut at the front.

    With several starts the claim is about the configuration, so blocks of the first start must not end the tournament.
    """
    if tournament.node_level:
        return _by_group(laps, tournament, metric)
    if tournament.starts == 1:
        return units(laps, tournament, metric)
    others, starts = rivals(tournament), figures_by_block(laps, tournament, metric)
    needed = max(FEWEST_STARTS, fewest_differences(ALPHA / len(others)))
    found = {rival: start_level(starts, rival, tournament.baseline, needed) for rival in others}
    return _comparable(found, laps, tournament, metric)


def _by_group(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> dict[str, Units]:
    groups = figures_by_group(laps, tournament, metric)
    found = {rival: node_level(groups, rival, tournament.baseline) for rival in rivals(tournament)}
    return _comparable(found, laps, tournament, metric)
