"""From laps to the paired differences that the statistics judge: by block, or by start where that is the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.statistics.blocks import pair
from paddock.statistics.signed_rank import hodges_lehmann
from paddock.statistics.starts import Units, index_level, node_level
from paddock.statistics.warm_up import FrontCut, front_cut
from paddock.tournaments.laps import block_of
from paddock.tournaments.metrics import figure
from paddock.tournaments.model import Lap, Metric, Tournament

ALPHA = 0.05
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


def units(laps: Sequence[Lap], tournament: Tournament, metric: Metric, cut: Cut | None = None) -> dict[str, Units]:
    """The differences of every contender but the baseline.

    :param cut: blocks to leave out at the front of each start; None for none.
    """
    others = rivals(tournament)
    if tournament.node_level:
        groups = figures_by_group(laps, tournament, metric)
        return {rival: node_level(groups, rival, tournament.baseline) for rival in others}
    starts = figures_by_block(laps, tournament, metric)
    if cut is not None:
        starts = [
            {name: values[one.blocks :] for name, values in start.items()}
            for start, one in zip(starts, cut.starts, strict=True)
        ]
    return {rival: index_level(starts, rival, tournament.baseline, ALPHA / len(others)) for rival in others}


def sequential_differences(laps: Sequence[Lap], tournament: Tournament, metric: Metric) -> dict[str, tuple[float, ...]]:
    """What the e-process looks at: blocks if there is one start, otherwise starts; nothing is cut at the front.

    With several starts the claim is about the configuration, so blocks of the first start must not end the tournament.
    """
    if tournament.node_level:
        return {rival: of.differences for rival, of in units(laps, tournament, metric).items()}
    starts = figures_by_block(laps, tournament, metric)
    differences: dict[str, tuple[float, ...]] = {}
    for rival in rivals(tournament):
        per_start = [pair(start[rival], start[tournament.baseline]).differences for start in starts]
        if tournament.starts > 1:
            differences[rival] = tuple(hodges_lehmann(of) for of in per_start if of)
        else:
            differences[rival] = tuple(difference for of in per_start for difference in of)
    return differences
