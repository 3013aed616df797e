"""Any number of tournaments and races side by side, with warnings where they differ in more than what is compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddock import numbers
from paddock.console import ENDLESS, wrapped
from paddock.errors import UsageError
from paddock.race.circumstances import CIRCUMSTANCES
from paddock.race.summary import RaceRecord
from paddock.reports import figures, sentences
from paddock.reports.document import Table, escaped, markdown_table, render_page, text_table
from paddock.reports.origins import PARAMETERS, origin
from paddock.tournaments.model import Contender, Result

# A race id as Rally and Paddock make them (a UUID).
_BY_CHANCE = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-")
_TOLD = 2  # differences by which a race is named


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
    """

    title: str
    sources: tuple[str, ...]
    rows: tuple[ComparedRow, ...]
    verdicts: tuple[Difference, ...]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]


def compare(items: Sequence[Result | RaceRecord]) -> Comparison:
    """Set them side by side.

    :raises UsageError: if there are fewer than two, or one is named twice.
    """
    ids = [_id(item) for item in items]
    if len(ids) < 2:
        raise UsageError("A comparison needs at least two races or tournaments: name another id.")
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice:
        raise UsageError(f"{twice} is named twice: a comparison needs different races or tournaments.")
    origins = [origin(item) for item in items]
    differences = _differences(items, origins)
    tournaments = [item for item in items if isinstance(item, Result)]
    names = [_short(one, ids) for one in ids]
    rows = []
    for number, (item, name) in enumerate(zip(items, names, strict=True)):
        rows += _contenders(item) if isinstance(item, Result) else [_race(item, name, _told_apart(number, differences))]
    races, kinds = len(items) - len(tournaments), []
    if tournaments:
        kinds.append(numbers.plural(len(tournaments), "tournament"))
    if races:
        kinds.append(numbers.plural(races, "race"))
    return Comparison(
        title=" and ".join(kinds) + " side by side",
        sources=tuple(names),
        rows=tuple(rows),
        verdicts=_verdicts(items),
        differences=differences,
        warnings=(*_machines(names, origins, differences), *_warnings(tournaments, races, differences)),
    )


def _id(item: Result | RaceRecord) -> str:
    return item.id if isinstance(item, Result) else item.race_id


def _short(identity: str, ids: Sequence[str]) -> str:
    """The beginning of an id that Rally's kind of chance has made, where it is told apart by it."""
    short = identity[:8]
    return short if _BY_CHANCE.match(identity) and sum(one.startswith(short) for one in ids) == 1 else identity


def _told_apart(number: int, differences: Sequence[Difference]) -> str:
    """What a race differs in from the others, the first of it; empty if nothing is known."""
    wanted = [one for one in differences if one.name not in CIRCUMSTANCES][:_TOLD] or differences[:_TOLD]
    return ", ".join(_value(one.name, one.values[number]) for one in wanted)


def _value(name: str, value: str) -> str:
    """A difference in a few words; a parameter that is not given has its default."""
    for kind in PARAMETERS:
        if name.startswith(kind):
            return f"{name.removeprefix(f'{kind} ')} {'by default' if value == numbers.NOTHING else value}"
    return f"{name} {'unknown' if value == numbers.NOTHING else value}"


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
            if name in one or (name not in CIRCUMSTANCES and (type(item) in recording or name.startswith(PARAMETERS)))
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
        listed = "; ".join(f"{one.name}: {' or '.join(_known(one.values))}" for one in differing)
        yield (
            f"They did not run on the same machine in the same state ({listed}): absolute figures say as much about "
            f"the machines as about what is compared."
        )
    unknown = [one for one, origin_of in zip(ids, origins, strict=True) if not set(CIRCUMSTANCES) & set(origin_of)]
    if unknown and len(unknown) < len(ids):
        yield f"On which machine {' and '.join(unknown)} ran was not recorded; it may have been another."


def _known(values: Sequence[str]) -> list[str]:
    return [value for value in dict.fromkeys(values) if value != numbers.NOTHING]


def _warnings(tournaments: Sequence[Result], races: int, differences: Sequence[Difference]) -> list[str]:
    texts = []
    things = [difference.name for difference in differences if difference.name not in CIRCUMSTANCES]
    if len(things) < len(differences):
        things.append("the machine")
    if len(things) > 1:
        texts.append(
            f"They differ in {len(things)} things ({', '.join(things)}): what is different in the figures cannot be "
            f"put down to one of them."
        )
    if races > 1:
        texts.append(
            "Single races cannot be compared reliably: on a noisy machine a naive look finds a winner between "
            "identical configurations three times in four. Let them run as contenders of a tournament."
        )
    if races and tournaments:
        texts.append(
            "A race's throughput is that of one pass, a tournament's that of many short laps: they are no pair."
        )
    if len(tournaments) > 1:
        texts.append(
            "Absolute values of different tournaments hold the machine's drift between them; compare the ratios."
        )
        texts += _contradictions(tournaments)
    return texts


def _contradictions(tournaments: Sequence[Result]) -> list[str]:
    """Contenders of one name that are not the same thing."""
    texts = []
    definitions: dict[str, set[str]] = {}
    for result in tournaments:
        for contender in result.tournament.contenders:
            definitions.setdefault(contender.name, set()).add(_definition(contender))
    for name, found in definitions.items():
        if len(found) > 1:
            texts.append(
                f"The contender {name} is not the same configuration everywhere: its ratios cannot be compared."
            )
    for title, value in _BETWEEN.items():
        values = list(dict.fromkeys(value(result) for result in tournaments))
        if len(values) > 1:
            texts.append(
                f"The {title} is not the same everywhere ({', '.join(values)}): their ratios are of different things."
            )
    return texts


_BETWEEN: Mapping[str, Callable[[Result], str]] = {
    "baseline": lambda result: result.tournament.baseline,
    "metric of the verdict": lambda result: result.main.metric.name,
}


def _definition(contender: Contender) -> str:
    parts: list[Any] = [contender.level, contender.cars, contender.version, dict(contender.track_params)]
    return json.dumps(parts, sort_keys=True, default=str)


def comparison_tables(comparison: Comparison) -> tuple[Table, ...]:
    """Figures, verdicts and differences; tables without a row are left out."""
    metrics = tuple(dict.fromkeys(name for row in comparison.rows for name in row.figures))
    figures = Table(
        "Figures",
        ("of", "source", *metrics),
        tuple(
            (row.name, row.source, *(row.figures.get(metric, numbers.NOTHING) for metric in metrics))
            for row in comparison.rows
        ),
        tuple(range(2, len(metrics) + 2)),
    )
    tables = (
        figures,
        _side_by_side("Ratios to the baseline", "contender", comparison.verdicts, comparison.sources),
        _side_by_side("What is not the same", "circumstance", comparison.differences, comparison.sources),
    )
    return tuple(table for table in tables if table.rows)


def render_comparison(comparison: Comparison, form: str = "text", width: int = 100) -> str:
    """The comparison as "text", "markdown" or "html"; warnings first."""
    tables = comparison_tables(comparison)
    if form == "html":
        return render_page("comparison.html.j2", comparison=comparison, tables=tables)
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
    columns = list(zip(*table.rows, strict=True))
    rows = tuple((header, *column) for header, column in zip(table.headers[1:], columns[1:], strict=True))
    return Table(table.caption, (table.headers[0], *columns[0]), rows, tuple(range(1, len(table.rows) + 1)))


def _side_by_side(caption: str, of: str, lines: tuple[Difference, ...], sources: tuple[str, ...]) -> Table:
    return Table(caption, (of, *sources), tuple((line.name, *line.values) for line in lines))
