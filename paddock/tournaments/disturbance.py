"""Laps during which the machine was busy with something else, far more than during the others of their contender.

They stay in: a disturbance hits whichever lap it finds, and leaving out what does not please is no method. Blocks in
random order keep it from favouring anybody; naming such laps tells where an outlier may come from.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from paddock.statistics.description import far_above
from paddock.tournaments.model import Disturbance, Lap

# What has to be exceeded beside the others' own scatter, so that a quiet machine names no lap. Taken cores slow a lap
# down by as much; waiting for a disk or for memory may be part of what a lap does anyway.
LEAST_TAKEN = 0.05
LEAST_PRESSURE = 0.10
# Share of the cores that others may have in the median lap before it is said of the machine as a whole.
SHARED = 0.10
_NAMED = 5


@dataclass(frozen=True)
class DisturbedLap:
    """A lap far outside.

    :param signs: in what, with its figures, as text: "steal 12 %".
    """

    lap: Lap
    signs: tuple[str, ...]


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


# Its figure (None where unknown), how far above the others it has to be, and how it reads.
_SIGNS: tuple[tuple[Callable[[Disturbance], float | None], float, Callable[[Disturbance], str]], ...] = (
    (lambda one: one.steal, LEAST_TAKEN, lambda one: f"steal {_share(one.steal)}"),
    (lambda one: one.others / one.cores, LEAST_TAKEN, lambda one: f"{one.others:.2f} cores busy with others"),
    (lambda one: one.io_pressure, LEAST_PRESSURE, lambda one: f"waiting for disks {_share(one.io_pressure or 0.0)}"),
    (
        lambda one: one.memory_pressure,
        LEAST_PRESSURE,
        lambda one: f"waiting for memory {_share(one.memory_pressure or 0.0)}",
    ),
)


def disturbed_laps(laps: Sequence[Lap]) -> tuple[DisturbedLap, ...]:
    """Those of the laps that count, in their order, that lie far above the others of the same contender.

    Contenders are looked at one by one, because what is asked of a machine differs between them. Pressure on the
    processor is no sign: the nodes' own threads wait for each other, and what others take shows in their load.
    """
    counting = _counting(laps)
    signs: dict[int, list[str]] = {}
    for contender in dict.fromkeys(lap.contender for lap in counting):
        for figure, least, text in _SIGNS:
            known = [
                (place, value, lap.disturbance)
                for place, lap in enumerate(counting)
                if lap.contender == contender and lap.disturbance and (value := figure(lap.disturbance)) is not None
            ]
            for position in far_above([value for _, value, _ in known], least):
                place, _, disturbance = known[position]
                signs.setdefault(place, []).append(text(disturbance))
    return tuple(DisturbedLap(counting[place], tuple(signs[place])) for place in sorted(signs))


def _counting(laps: Sequence[Lap]) -> list[Lap]:
    """The laps that count and tell."""
    return [lap for lap in laps if not lap.warmup and lap.void is None and lap.disturbance is not None]


def disturbance_notes(laps: Sequence[Lap]) -> Iterator[str]:
    """The laps far outside in one sentence, and whether others had a good part of the machine all the time."""
    found = disturbed_laps(laps)
    if found:
        named = [
            f"start {one.lap.start} block {one.lap.block} '{one.lap.contender}' ({', '.join(one.signs)})"
            for one in found[:_NAMED]
        ]
        more = [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
        yield (
            f"{len(found)} {'lap was' if len(found) == 1 else 'laps were'} disturbed far more than the others of the "
            f"same contender, and {'counts' if len(found) == 1 else 'count'} all the same, because their order is "
            f"random: {'; '.join([*named, *more])}."
        )
    taken = [lap.disturbance.taken for lap in _counting(laps) if lap.disturbance]
    if taken and statistics.median(taken) > SHARED:
        yield (
            f"The machine was shared: others had {_share(statistics.median(taken))} of its cores during the median "
            f"lap, {_share(min(taken))} to {_share(max(taken))} in all of them. Absolute rates are those of what was "
            f"left."
        )
    if any(lap.disturbance is not None and lap.disturbance.nodes_elsewhere for lap in laps):
        yield (
            "Disturbances are those of the load driver's machine; nobody watched the machines of the nodes that run "
            "elsewhere."
        )
