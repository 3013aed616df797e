"""Any number of tournaments and races side by side, with warnings where they differ in more than what is compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddock import numbers
from paddock.console import ENDLESS, wrapped
from paddock.errors import UsageError
from paddock.plain_values import known, plain
from paddock.race.circumstances import (
    CAR_PARAMETERS,
    CARS,
    CIRCUMSTANCES,
    CORPUS,
    LIMITS,
    cars_of,
    with_short_checksums,
)
from paddock.race.costs import cost_figures
from paddock.race.over_time import OverTime
from paddock.race.summary import RaceRecord
from paddock.reports import figures, sentences
from paddock.reports.document import Table, escaped, markdown_table, render_page, text_table
from paddock.reports.over_time import overlay
from paddock.tournaments.model import Result

# What the names of parameters begin with.
TRACK_PARAMETER, CAR_PARAMETER = "track parameter", "car parameter"
_PARAMETERS = (TRACK_PARAMETER, CAR_PARAMETER)
# What a race records as a tag, and a tournament under this name.
_TAGS = {
    "paddock": "Paddock",
    "java": "Java",
    **{name: name for name in (CORPUS, LIMITS, CAR_PARAMETERS, *CIRCUMSTANCES)},
}
# What only repeats the corpus where that is recorded, and what differs between any two races.
_CORPUS_PARAMETERS = ("corpus_file", "corpus_documents", "corpus_bytes")
_ALWAYS_DIFFERENT = ("load_journal", "shipper_groups", "generator_groups")
# A race id as Rally and Paddock make them (a UUID).
_BY_CHANCE = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-")
_TOLD = 2  # differences by which a race is named


def origin(item: Result | RaceRecord) -> dict[str, str]:
    """Everything recorded of how it came about that may explain a difference: name -> text."""
    if isinstance(item, Result):
        tournament = item.tournament
        return {
            "track": tournament.track,
            "challenge": tournament.challenge,
            "cars": ", ".join(tournament.cars),
            **_each(TRACK_PARAMETER, tournament.track_params),
            **_each(CAR_PARAMETER, tournament.car_params),
            **dict(figures.how_long(tournament)),
            "nodes": str(tournament.nodes),
            "freshness probe": "yes" if tournament.freshness else "no",
            "searches per query and lap": str(tournament.searches),
            **{name: with_short_checksums(str(text)) for name, text in item.circumstances.items()},
        }
    race = item.race
    tags, params, cluster = (race.get(key) or {} for key in ("user-tags", "track-params", "cluster"))
    left_out = (*_ALWAYS_DIFFERENT, *(_CORPUS_PARAMETERS if CORPUS in tags else ()))
    counts = [count for task in item.summary.bulk_tasks if (count := known(task.documents)) is not None]
    found = {
        "track": race.get("track"),
        "challenge": race.get("challenge"),
        "cars": cars_of(race),
        **_each(TRACK_PARAMETER, {name: value for name, value in params.items() if name not in left_out}),
        **_each(CAR_PARAMETER, race.get("car-params") or {}),
        "Elasticsearch": cluster.get("distribution-version") or item.summary.version,
        "distribution flavor": cluster.get("distribution-flavor"),
        "Rally": race.get("rally-version"),
        "pipeline": race.get("pipeline"),
        **{_TAGS[name]: text for name, text in tags.items() if name in _TAGS},
        **_each("tag", {name: text for name, text in tags.items() if name not in (*_TAGS, CARS)}),
        "documents": f"{sum(counts):,.0f}" if counts else None,
    }
    return {name: str(text) for name, text in found.items() if text not in (None, "")}


def _each(kind: str, values: Mapping[str, Any]) -> dict[str, str]:
    """One entry per parameter, so that each difference is named."""
    return {
        f"{kind} {name}": value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
        for name, value in values.items()
    }


@dataclass(frozen=True)
class ComparedRow:
    """One race, or one contender of a tournament.

    :param source: id of the race or tournament.
    :param figures: metric -> text.
    """

    source: str
    name: str
    figures: Mapping[str, str]


@dataclass(frozen=True)
class Difference:
    """Something that is not the same everywhere: its text for each source, a hyphen where it is not recorded."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """What is known of all sources.

    :param verdicts: contender against its baseline -> the verdict of each source that has it; only tournaments.
    :param over_time: the races whose samples are at hand, each with what it is called.
    """

    title: str
    sources: tuple[str, ...]
    rows: tuple[ComparedRow, ...]
    verdicts: tuple[Difference, ...]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    over_time: tuple[tuple[str, OverTime], ...] = ()


def compare(items: Sequence[Result | RaceRecord], over_time: Mapping[str, OverTime | None] | None = None) -> Comparison:
    """Set them side by side.

    :param over_time: of the races, by their ids, those whose samples are at hand.
    :raises UsageError: if there are fewer than two, or one is named twice.
    """
    ids = [item.id if isinstance(item, Result) else item.race_id for item in items]
    if len(ids) < 2:
        raise UsageError("A comparison needs at least two races or tournaments: name another id.")
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice:
        raise UsageError(f"{twice} is named twice: a comparison needs different races or tournaments.")
    origins = [origin(item) for item in items]
    differences = _differences(items, origins)
    tournaments = [item for item in items if isinstance(item, Result)]
    names, rows = [_short(one, ids) for one in ids], []
    for number, (item, name) in enumerate(zip(items, names, strict=True)):
        rows += _contenders(item) if isinstance(item, Result) else [_race(item, name, _told_apart(number, differences))]
    races = len(items) - len(tournaments)
    kinds = [
        numbers.plural(count, kind) for count, kind in ((len(tournaments), "tournament"), (races, "race")) if count
    ]
    return Comparison(
        title=" and ".join(kinds) + " side by side",
        sources=tuple(names),
        rows=tuple(rows),
        verdicts=_verdicts(items),
        differences=differences,
        over_time=tuple(_over_time(items, names, rows, over_time or {})),
        warnings=(*_machines(names, origins, differences), *_warnings(tournaments, races, differences)),
    )


def _over_time(
    items: Sequence[Result | RaceRecord],
    names: Sequence[str],
    rows: Sequence[ComparedRow],
    found: Mapping[str, OverTime | None],
) -> Iterator[tuple[str, OverTime]]:
    """The races over time, called by what they differ in, and by their ids where that is the same."""
    told = {row.source: row.name for row in rows}
    for item, name in zip(items, names, strict=True):
        over = None if isinstance(item, Result) else found.get(item.race_id)
        if over is not None:
            alone = sum(other == told[name] for other in told.values()) == 1
            yield told[name] if alone else f"{told[name]} ({name})", over


def _short(identity: str, ids: Sequence[str]) -> str:
    """The beginning of an id that Rally's kind of chance has made, where it is told apart by it."""
    short = identity[:8]
    return short if _BY_CHANCE.match(identity) and sum(one.startswith(short) for one in ids) == 1 else identity


def _told_apart(number: int, differences: Sequence[Difference]) -> str:
    """What a race differs in from the others, the first of it; empty if nothing is known."""
    wanted = [one for one in differences if one.name not in CIRCUMSTANCES][:_TOLD] or differences[:_TOLD]
    parts = []
    for one in wanted:
        name, unset = one.name, "unknown"
        for kind in _PARAMETERS:  # one that is not given has its default
            if name.startswith(kind):
                name, unset = name.removeprefix(f"{kind} "), "by default"
        value = one.values[number]
        parts.append(f"{name} {unset if value == numbers.NOTHING else value}")
    return ", ".join(parts)


def _differences(items: Sequence[Result | RaceRecord], origins: Sequence[Mapping[str, str]]) -> tuple[Difference, ...]:
    """What is not the same everywhere.

    What a race records and another race does not is a difference; what only races record (or only tournaments) is none
    to the others. A parameter that is not given is one everywhere: it has another value then, the default. A machine
    that was not recorded is unknown, which is no difference.
    """
    found = []
    for name in dict.fromkeys(name for one in origins for name in one):
        recording = {type(item) for item, one in zip(items, origins, strict=True) if name in one}
        texts = [
            one.get(name, numbers.NOTHING)
            for item, one in zip(items, origins, strict=True)
            if name in one or (name not in CIRCUMSTANCES and (type(item) in recording or name.startswith(_PARAMETERS)))
        ]
        if not _same(texts):
            found.append(Difference(name, tuple(one.get(name, numbers.NOTHING) for one in origins)))
    return tuple(found)


def _same(texts: Sequence[str]) -> bool:
    """Whether all say the same; "8.8.2" says the same as "8.8.2 (Lucene 9.6.0)"."""
    shortest = min(texts, key=len)
    return all(text == shortest or text.startswith(f"{shortest} ") for text in texts)


def _contenders(result: Result) -> list[ComparedRow]:
    """The contenders of a tournament with their absolute values."""
    values: dict[str, dict[str, str]] = {name: {} for name in figures.contenders(result)}
    for measured in (result.main, *result.others):
        for name, absolute in figures.absolutes(measured).items():
            spread = f" ± {numbers.figure(absolute.sd)}" if absolute.laps > 1 else ""
            values.setdefault(name, {})[measured.metric.name] = numbers.figure(absolute.mean) + spread
    return [ComparedRow(result.id, name, found) for name, found in values.items()]


def _race(record: RaceRecord, source: str, apart: str) -> ComparedRow:
    """A race, named for what it differs in, with the figures of its summary; several loads are named, too."""
    found: dict[str, str] = {}
    tasks = record.summary.bulk_tasks
    for task in tasks:
        prefix = f"{task.name}: " if len(tasks) > 1 else ""
        found |= {prefix + one.short: one.digits for one in task.figures if one.short}
    found |= {one.short: one.digits for one in record.summary.race.figures if one.short}
    found |= {one.short: one.digits for one in cost_figures(record) if one.short}
    for component in record.summary.resources.components if record.summary.resources else ():
        found |= {one.short: one.text for one in component.figures if one.short}
    if record.summary.bottleneck:
        found["saturated"] = record.summary.bottleneck.named
    found |= {f"{task.name} {task.figures[0].short}": task.figures[0].digits for task in record.summary.request_tasks}
    return ComparedRow(
        source,
        f"{record.summary.track}: {apart}" if apart else record.summary.track,
        {name: digits for name, digits in found.items() if digits != numbers.NOTHING},
    )


def _verdicts(items: Sequence[Result | RaceRecord]) -> tuple[Difference, ...]:
    found: dict[str, dict[int, str]] = {}
    for position, item in enumerate(items):
        if not isinstance(item, Result):
            continue
        for verdict in item.main.verdicts:
            text = sentences.said_of(item.main.metric, verdict)
            if verdict.ratio is not None:
                text += f" {numbers.ratio(verdict.ratio)} ({numbers.interval(verdict.low, verdict.high)})"
            name = f"{verdict.contender} / {item.tournament.baseline}, {item.main.metric.name}"
            found.setdefault(name, {})[position] = text
    return tuple(
        Difference(name, tuple(texts.get(position, numbers.NOTHING) for position in range(len(items))))
        for name, texts in found.items()
    )


def _machines(
    ids: Sequence[str], origins: Sequence[Mapping[str, str]], differences: Sequence[Difference]
) -> Iterator[str]:
    """Whether they ran on machines that can be compared, as far as it was recorded."""
    differing = [difference for difference in differences if difference.name in CIRCUMSTANCES]
    if differing:
        listed = "; ".join(
            f"{one.name}: {' or '.join(value for value in dict.fromkeys(one.values) if value != numbers.NOTHING)}"
            for one in differing
        )
        yield (
            f"They did not run on the same machine in the same state ({listed}): absolute figures say as much about "
            f"the machines as about what is compared."
        )
    unknown = [one for one, origin_of in zip(ids, origins, strict=True) if not set(CIRCUMSTANCES) & set(origin_of)]
    if unknown and len(unknown) < len(ids):
        yield f"On which machine {' and '.join(unknown)} ran was not recorded; it may have been another."


def _warnings(tournaments: Sequence[Result], races: int, differences: Sequence[Difference]) -> Iterator[str]:
    things = [difference.name for difference in differences if difference.name not in CIRCUMSTANCES]
    if len(things) < len(differences):
        things.append("the machine")
    if len(things) > 1:
        yield (
            f"They differ in {len(things)} things ({', '.join(things)}): what is different in the figures cannot be "
            f"put down to one of them."
        )
    if races > 1:
        yield (
            "Single races cannot be compared reliably: on a noisy machine a naive look finds a winner between "
            "identical configurations three times in four. Let them run as contenders of a tournament."
        )
    if races and tournaments:
        yield "A race's throughput is that of one pass, a tournament's that of many short laps: they are no pair."
    if len(tournaments) > 1:
        yield "Absolute values of different tournaments hold the machine's drift between them; compare the ratios."
    yield from _contradictions(tournaments)


def _contradictions(tournaments: Sequence[Result]) -> Iterator[str]:
    """What has one name in several tournaments and is not the same thing."""
    definitions: dict[str, set[str]] = {}
    for result in tournaments:
        for one in result.tournament.contenders:
            parts = {**plain(one), "coordinates": {}, "own_cluster": False}
            definitions.setdefault(one.name, set()).add(json.dumps(parts, sort_keys=True))
    for name, found in definitions.items():
        if len(found) > 1:
            yield f"The contender {name} is not the same configuration everywhere: its ratios cannot be compared."
    baselines = dict.fromkeys(result.tournament.baseline for result in tournaments)
    metrics = dict.fromkeys(result.main.metric.name for result in tournaments)
    for title, values in (("baseline", baselines), ("metric of the verdict", metrics)):
        if len(values) > 1:
            yield f"The {title} is not the same everywhere ({', '.join(values)}): their ratios are of different things."


def comparison_tables(comparison: Comparison) -> tuple[Table, ...]:
    """Figures, verdicts and differences; tables without a row are left out."""
    metrics = tuple(dict.fromkeys(name for row in comparison.rows for name in row.figures))
    rows = tuple(
        (row.name, row.source, *(row.figures.get(metric, numbers.NOTHING) for metric in metrics))
        for row in comparison.rows
    )
    tables = [Table("Figures", ("of", "source", *metrics), rows, tuple(range(2, len(metrics) + 2)))]
    for caption, of, lines in (
        ("Ratios to the baseline", "contender", comparison.verdicts),
        ("What is not the same", "circumstance", comparison.differences),
    ):
        rows = tuple((line.name, *line.values) for line in lines)
        tables.append(Table(caption, (of, *comparison.sources), rows))
    return tuple(table for table in tables if table.rows)


def render_comparison(comparison: Comparison, form: str = "text", width: int = 100) -> str:
    """The comparison as "text", "markdown" or "html"; warnings first."""
    tables = comparison_tables(comparison)
    if form == "html":
        return render_page(
            "comparison.html.j2", comparison=comparison, tables=tables, overlay=overlay(comparison.over_time)
        )
    if form == "markdown":
        blocks = [f"# {escaped(comparison.title)}", "\n".join(f"- {escaped(text)}" for text in comparison.warnings)]
        blocks += [block for table in tables for block in markdown_table(table)]
        return "\n\n".join(block for block in blocks if block) + "\n"
    warnings = "\n".join(wrapped(text, width, "! ", "  ") for text in comparison.warnings)
    blocks = [comparison.title, warnings, *(_text(table, width) for table in tables)]
    return "\n\n".join(block for block in blocks if block)


def _text(table: Table, width: int) -> str:
    """The table as it is, or turned round, or as a paragraph per row: the first that fits into the lines."""
    for way in (table, _turned(table)):
        text = text_table(way, ENDLESS)
        if max(len(line) for line in text.splitlines()) <= width:
            return text
    labels = max(len(header) for header in table.headers[1:])
    lines = [table.caption]
    for row in table.rows:
        lines.append(wrapped(row[0], width, "  ", "    "))
        for header, cell in zip(table.headers[1:], row[1:], strict=True):
            if cell != numbers.NOTHING:
                lines.append(wrapped(f"{header:<{labels}}  {cell}", width, "    ", "      "))
    return "\n".join(lines)


def _turned(table: Table) -> Table:
    """Rows become columns."""
    headers, *rows = zip(table.headers, *table.rows, strict=True)
    return Table(table.caption, headers, tuple(rows), tuple(range(1, len(headers))))
