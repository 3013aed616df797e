"""What components used, and what of it was saturated: parts of a race's report, and a table of a tournament's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paddock import numbers
from paddock.race.bottleneck import Bottleneck
from paddock.race.resources import WINDOWS, Resources
from paddock.race.summary import Summary
from paddock.reports.document import Section, Table
from paddock.tournaments.model import Lap
from paddock.tournaments.resources import lap_resources


def resource_sections(summary: Summary) -> Iterator[Section]:
    """What was saturated first; none of it without samples."""
    if summary.bottleneck:
        yield _bottleneck(summary.bottleneck)
    if summary.resources:
        yield _resources(summary.resources)


def _bottleneck(found: Bottleneck) -> Section:
    rows = tuple(
        (
            one.of,
            one.kind,
            one.used,
            numbers.share(one.share),
            numbers.share(one.threshold),
            "saturated" if one.saturated else "no",
        )
        for one in found.suspects
    )
    headers = ("of", "what", "used", "share", "saturated from", "finding")
    caption = f"Means of the second half of each load, within seconds {found.begin:.0f} to {found.end:.0f}"
    tables = (Table(caption, headers, rows, (3, 4)),) if rows else ()
    return Section("What was saturated", (found.sentence,), tables=tables, items=found.unknown)


def _resources(found: Resources) -> Section:
    caption = f"CPU in % of one core and resident memory, over {found.seconds} s of load; bytes to and from disks"
    table = Table(caption, ("of", *found.headers[1:]), tuple(found.rows), tuple(range(1, len(found.headers))))
    return Section("Resources", (f"{WINDOWS} Written and read: from the first document to the end.",), tables=(table,))


def laps_used(laps: Sequence[Lap]) -> Iterator[Table]:
    """What the laps of each contender used, a row each; nothing where no journal tells."""
    found = lap_resources(laps)
    shipped = any(one.shipper_percent is not None for one in found)
    twice = any(one.duplicates for one in found)
    rows = tuple(
        (
            one.contender,
            _whole(one.node_percent),
            *((_whole(one.shipper_percent),) if shipped else ()),
            *map(_whole, (one.driver_percent, one.busiest_percent)),
            numbers.share(one.collection_share, 1),
            *(
                numbers.NOTHING if size is None else " ".join(numbers.size(size))
                for size in (one.written, one.memory_bytes)
            ),
            *map(_whole, (one.lost, one.duplicates) if twice else (one.lost,)),
        )
        for one in found
    )
    caption = (
        "What laps used, medians: CPU in % of one core over the seconds of the load, with the merges that it left; log "
        "loss is documents sent - counted, void laps included"
    )
    headers = (
        "contender",
        "nodes CPU %",
        *(("shipper CPU %",) if shipped else ()),
        "load driver CPU %",
        "its busiest process",
        "collections",
        "written/s",
        "memory, peak",
        "log loss",
        *(("duplicates",) if twice else ()),
    )
    if any(
        figure is not None for one in found for figure in (one.node_percent, one.driver_percent, one.busiest_percent)
    ):
        yield Table(caption, headers, rows, tuple(range(1, len(headers))))


def _whole(value: float | None) -> str:
    return numbers.NOTHING if value is None else f"{value:,.0f}"
