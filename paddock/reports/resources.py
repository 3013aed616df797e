"""What components used, and what of it was saturated: parts of a race's report, and a table of a tournament's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from paddock import numbers
from paddock.race.bottleneck import (
    COMPONENT_CPU,
    DISK,
    DRIVER_CPU,
    HEAP_FULL,
    MACHINE_CPU,
    MUCH_COLLECTION,
    NODE_CPU,
    Bottleneck,
    Suspect,
)
from paddock.race.resources import WINDOWS, Resources
from paddock.race.summary import Summary
from paddock.reports.document import Section, Table
from paddock.tournaments.model import Lap, Result
from paddock.tournaments.resources import lap_resources
from paddock.tournaments.saturated import known_as

# Contenders whose findings are told in sentences; of more, the table has them.
_TOLD = 8
_GENERATOR = "generator"  # what feeds a shipper, as Rally's own processes feed nodes


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


def saturated_section(result: Result) -> Section | None:
    """What was saturated by contender; None where no race of the tournament was sampled."""
    found = result.bottlenecks
    if not found:
        return None
    told = [f"{name}: {one.sentence}" for name, one in found.items()] if len(found) <= _TOLD else []
    unknown = dict.fromkeys(text for one in found.values() for text in one.unknown)
    text = (
        "Each contender by its own laps alone: samples are a second apart, and what counts is what came between two of "
        "them that lie in the load of one lap. Of several nodes or processes the one nearest to its limit is shown. It "
        "names what to change first, not by how much that would help."
    )
    return Section("What was saturated", (text,), tables=(saturated_table(result),), items=(*told, *unknown))


def saturated_table(result: Result) -> Table:
    """A row for each contender with samples: what it used of what may be used, and what of that was saturated."""
    found = result.bottlenecks
    columns: dict[str, Callable[[Suspect], bool]] = {
        "node CPU": lambda one: one.kind == NODE_CPU,
        "driver CPU": lambda one: one.kind == DRIVER_CPU or one.of == _GENERATOR,
        "shipper CPU": lambda one: one.kind == COMPONENT_CPU and one.of != _GENERATOR,
        "disk": lambda one: one.kind == DISK,
        "heap": lambda one: one.kind == HEAP_FULL,
        "machine": lambda one: one.kind == MACHINE_CPU,
    }
    if not any(columns["shipper CPU"](each) for one in found.values() for each in one.suspects):
        del columns["shipper CPU"]
    rows = tuple(
        (name, known_as(one), *(_nearest(one, asked) for asked in columns.values()), f"{one.end:.0f}")
        for name, one in found.items()
    )
    caption = "What was saturated in the laps of each contender, in shares of what may be used"
    headers = ("contender", "saturated", *columns, "seconds seen")
    return Table(caption, headers, rows, tuple(range(2, len(headers))))


def saturated_in_words(result: Result) -> Iterator[str]:
    """The same in one line, of a few contenders."""
    if result.bottlenecks and len(result.bottlenecks) <= _TOLD:
        told = "; ".join(f"{name}: {known_as(one)}" for name, one in result.bottlenecks.items())
        yield f"What was saturated - {told}."


def _nearest(found: Bottleneck, asked: Callable[[Suspect], bool]) -> str:
    """The one of them that is nearest to its limit; a hyphen if none of them is known."""
    one = next(filter(asked, found.suspects), None)
    if one is None:
        return numbers.NOTHING
    of = "" if one.kind != HEAP_FULL else " collecting" if one.threshold == MUCH_COLLECTION else " in use"
    return f"{numbers.share(one.share)}{of}{', saturated' if one.saturated else ''}"
