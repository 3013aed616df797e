"""The parts of a race's report on what its components used, and on what of it was saturated."""

from __future__ import annotations

from collections.abc import Iterator

from paddock import numbers
from paddock.race.bottleneck import Bottleneck
from paddock.race.resources import WINDOWS, Resources
from paddock.race.summary import Summary
from paddock.reports.document import Section, Table


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
