"""What the laps of each contender used, from what the lap runner noted of them; pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paddock.tournaments.model import Lap
from paddock.tournaments.pairing import counting

_MILLION = 1e6


@dataclass(frozen=True)
class LapResources:
    """Medians of a contender's laps that count, None where they do not tell.

    :param node_percent: processor time of all nodes in % of one core's in the seconds of the load; refreshes and merges
        that the load left to be done are in it, so that it can be more than there is.
    :param shipper_percent: the same of the shipper, where one sends its laps; then the driver is what feeds that.
    :param driver_percent: the same of the load driver, and ``busiest_percent`` of its busiest process.
    :param collection_share: the time in which collections stopped nodes per second of the load, 0 to 1 for one node.
    :param written: bytes to disks per second of the load.
    :param memory_bytes: the peak of a lap, resident, all nodes.
    :param lost: documents sent that were not counted, of all its laps whose documents were counted, void ones included:
        what a lap has too many makes up for no other's loss. ``duplicates`` are those. None if no lap's were counted.
    """

    contender: str
    node_percent: float | None
    shipper_percent: float | None
    driver_percent: float | None
    busiest_percent: float | None
    collection_share: float | None
    written: float | None
    memory_bytes: float | None
    lost: int | None
    duplicates: int | None


def lap_resources(laps: Sequence[Lap]) -> tuple[LapResources, ...]:
    """Of each contender, in the order in which they come first; those without a lap that counts come last."""
    counted = counting(laps)
    return tuple(
        _of(name, [lap for lap in counted if lap.contender == name], [lap for lap in laps if lap.contender == name])
        for name in dict.fromkeys(lap.contender for lap in (*counted, *laps))
    )


def _of(name: str, laps: Sequence[Lap], every: Sequence[Lap]) -> LapResources:
    def per_second(price: str, scale: float) -> float | None:
        return _median(laps, lambda lap: _scaled(lap.prices.get(price), scale * lap.docs_per_second))

    missing = [lap.documents - lap.counted for lap in every if lap.counted is not None and lap.documents]
    return LapResources(
        contender=name,
        node_percent=per_second("node CPU s/M docs", 100 / _MILLION),
        shipper_percent=per_second("shipper CPU s/M docs", 100 / _MILLION),
        driver_percent=per_second("driver CPU s/M docs", 100 / _MILLION),
        busiest_percent=_median(laps, lambda lap: _scaled(lap.driver_load, 100)),
        collection_share=per_second("GC s/M docs", 1 / _MILLION),
        written=per_second("written bytes/doc", 1.0),
        memory_bytes=_median(laps, lambda lap: _scaled(lap.prices.get("node memory MiB"), 2**20)),
        lost=sum(max(one, 0) for one in missing) if missing else None,
        duplicates=sum(max(-one, 0) for one in missing) if missing else None,
    )


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _median(laps: Sequence[Lap], of: Callable[[Lap], float | None]) -> float | None:
    told = [value for lap in laps if (value := of(lap)) is not None]
    return statistics.median(told) if told else None
