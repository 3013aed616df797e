"""A tournament's report: put together, and in all its forms: page, Markdown, terminal, JSON, CSV and JUnit."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Tree

from paddock import numbers
from paddock.console import NARROWEST, styled, wrapped
from paddock.errors import FileError, UsageError
from paddock.plain_values import built, plain
from paddock.race.circumstances import with_short_checksums
from paddock.reports import figures, sentences
from paddock.reports.beside import price_section
from paddock.reports.cost import cost_table, tournament_costs
from paddock.reports.document import Report, Section, Table, glossary, keep, render_html, render_markdown, text_table
from paddock.reports.grids import grid_sections
from paddock.reports.index_work import work_section
from paddock.reports.laps import pairs_section, seconds_section, throughput_section, void_section
from paddock.reports.rates import rates_section
from paddock.reports.resources import saturated_in_words, saturated_section
from paddock.reports.study import study_section
from paddock.reports.verdicts import (
    absolute_section,
    absolute_table,
    apply_section,
    highlights,
    verdict_section,
    verdict_table,
)
from paddock.structured_files import read_json
from paddock.tournaments.headroom import headroom_facts
from paddock.tournaments.model import FASTER, SLOWER, UNDECIDED, Result
from paddock.tournaments.published import cell_name
from paddock.tournaments.saturated import known_as

_NOTES = 2  # are seen at once, the most important ones; the others where one asks for them


def build(result: Result) -> Report:
    """The report; verdict first, then what supports it, then how to repeat it."""
    common = figures.common_factors(result)
    result = figures.without_common_factors(result)
    tournament = result.tournament
    facts = (
        ("tournament", f"{tournament.name}, result {result.id}"),
        ("seed of the order", str(result.seed)),
        *((("checksum of the tournament", tournament.checksum),) if tournament.checksum else ()),
        ("unit of the verdicts", "the start of the node" if figures.unit(result) == "start" else "the block of laps"),
        *figures.how_long(tournament),
        *((("in all contenders", cell_name(common)),) if common else ()),
        *((name, with_short_checksums(str(text))) for name, text in result.circumstances.items()),
        *(("load driver alone, into a sink", text) for text in headroom_facts(result.headroom)),
    )
    repeat = "Each line repeats one start with plain Rally." if result.commands else "No race was started."
    if any("\n" in command for command in result.commands):
        repeat = "The first start with plain Rally: nodes are installed and started, raced, and stopped."
    sections = (
        verdict_section(result),
        pairs_section(result),
        study_section(result),
        *grid_sections(result),
        rates_section(result),
        throughput_section(result),
        Section("How it went", items=(sentences.course(result), *result.notes), shown=1 + _NOTES),
        apply_section(result),
        tournament_costs(result),
        price_section(result),
        saturated_section(result),
        work_section(result),
        absolute_section(result),
        seconds_section(result),
        void_section(result),
        Section("Circumstances", facts=facts, folded=True),
        Section("Repeat it", (repeat,), commands=result.commands, folded=bool(result.commands)),
        glossary(tournament=True, growing=result.tournament.growing),
    )
    return Report(
        title=f"Tournament {tournament.name}",
        subtitle=sentences.setup(tournament),
        verdict=sentences.headline(result),
        highlights=highlights(result),
        sections=tuple(section for section in sections if section is not None),
    )


_INKS = {FASTER: "green", SLOWER: "red", UNDECIDED: "yellow"}
_ROWS = 20
_SHOWN = (0, 1, 2, 3, 4, 6)


def render_terminal(result: Result, width: int = 100, colours: bool = False) -> str:
    """The verdict, a table of verdicts, absolute values and what is to be known about them.

    :param colours: whether to use ANSI escape sequences.
    """
    width, result = max(width, NARROWEST), figures.without_common_factors(result)
    measured, tournament = result.main, result.tournament
    blocks = [styled(wrapped(sentences.headline(result), width), "bold", colours)]
    whole = verdict_table(measured, "")
    table = Table(
        f"Against {tournament.baseline}, {figures.label(measured.metric)}",
        tuple(whole.headers[column] for column in _SHOWN),
        tuple(tuple(row[column] for column in _SHOWN) for row in whole.rows[:_ROWS]),
        (2, 3, 4, 5),
    )
    inks = [_INKS.get(verdict.verdict, "") for verdict in measured.verdicts[:_ROWS]]
    blocks.append(text_table(table, width, inks, colours))
    if len(whole.rows) <= _ROWS:
        blocks.append(text_table(absolute_table(result, measured), width))
    else:
        blocks.append(f"... and {len(whole.rows) - _ROWS} more contenders, which the report lists.")
    if result.prices is not None and result.costs:
        blocks.append(text_table(cost_table(result, result.prices, parts=False), width))
    left = len(result.notes) - _NOTES
    more = [f"{numbers.plural(left, 'more note')} in the report."] if left > 0 else []
    found = saturated_in_words(result)
    sayings = [*sentences.decisions(measured), *found, sentences.course(result), *result.notes[:_NOTES], *more]
    blocks.append("\n".join(wrapped(text, width, "- ", "  ") for text in sayings))
    return "\n\n".join(block for block in blocks if block)


_COLUMNS = (
    *("start", "block", "position", "contender", "warmup", "void"),
    *("began", "documents", "counted", "seconds", "docs_per_second", "bulks", "driver_load"),
)
_FRESHNESS = ("p50", "p95", "p99", "n")


def laps_as_csv(result: Result) -> str:
    """All laps in the order of their running, warm-up and void ones included.

    ``began`` leaves breaks of the tournament out. Seconds in ``seconds``, documents per second in ``docs_per_second``
    and, separated by blanks, in ``rates``; processor seconds of the load driver per second in ``driver_load``;
    milliseconds in the columns of freshness; prices under their names. Texts that a spreadsheet would take
    for a formula have an apostrophe before them, as the OWASP advises ("CSV Injection").
    """
    prices = list(dict.fromkeys(name for lap in result.laps for name in lap.prices))
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    header = [*_COLUMNS, *(f"freshness_{part}" for part in _FRESHNESS), *prices, "rates"]
    writer.writerow([_quoted(name) for name in header])
    for lap in result.laps:
        freshness = lap.freshness or {}
        writer.writerow(
            [
                lap.start,
                lap.block,
                lap.position,
                _quoted(lap.contender),
                "yes" if lap.warmup else "no",
                _quoted(lap.void or ""),
                datetime.fromtimestamp(result.began + lap.began, timezone.utc).isoformat(timespec="milliseconds"),
                lap.documents,
                "" if lap.counted is None else lap.counted,
                lap.seconds,
                f"{lap.docs_per_second:.3f}",
                lap.bulks or "",
                "" if lap.driver_load is None else f"{lap.driver_load:.3f}",
                *(freshness.get(part, "") for part in _FRESHNESS),
                *(lap.prices.get(name, "") for name in prices),
                " ".join(f"{rate:.1f}" for rate in lap.rates),
            ]
        )
    return target.getvalue()


def _quoted(text: str) -> str:
    """A text, not a number, on one line and so that no spreadsheet computes it."""
    line = " ".join(text.splitlines())
    return f"'{line}" if line.lstrip().startswith(("=", "+", "-", "@")) else line


# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def result_as_junit(result: Result) -> str:
    """One test case per verdict of the main metric, and one per void start.

    Worse than the baseline, by more than the margin: failure. Undecided: skipped. A void start: error.
    """
    tournament, baseline, margin = result.tournament, result.tournament.baseline, result.tournament.margin
    suite = Tree.Element("testsuite", name=_text(f"tournament {tournament.name}"))
    suite.set("timestamp", numbers.moment(result.began)[:16].replace(" ", "T") + ":00")
    properties = Tree.SubElement(suite, "properties")
    for name, text in (("result", result.id), ("seed", result.seed), *result.circumstances.items()):
        Tree.SubElement(properties, "property", name=_text(str(name)), value=_text(str(text)))

    def case(name: str) -> Tree.Element:
        return Tree.SubElement(suite, "testcase", classname=_text(f"tournament.{tournament.name}"), name=_text(name))

    for verdict in result.main.verdicts:
        found = case(f"{verdict.contender} against {baseline}")
        sentence = _text(sentences.of_verdict(result.main, verdict, baseline))
        if verdict.verdict == UNDECIDED:
            Tree.SubElement(found, "skipped", message=sentence)
        elif verdict.verdict == SLOWER and verdict.ratio and not 1 / (1 + margin) <= verdict.ratio <= 1 + margin:
            Tree.SubElement(found, "failure", message=sentence)
        else:
            Tree.SubElement(found, "system-out").text = sentence
    given_up = {start.number: start.reason for start in result.void_starts}
    for start, reason in sorted({**figures.void_starts(result), **given_up}.items()):
        Tree.SubElement(case(f"start {start}"), "error", message=_text(f"Start {start} is void: {reason}"))
    for plural, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(plural, str(sum(1 for _ in suite.iter(tag))))
    suite.set("time", f"{result.seconds:.3f}")
    root = Tree.Element("testsuites")
    root.append(suite)
    Tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(root, encoding="unicode") + "\n"


def _text(text: str) -> str:
    return _FORBIDDEN.sub("?", text)


FORMAT = "paddock-tournament-result"
VERSION = 1


def result_as_json(result: Result) -> dict[str, Any]:
    """The result as nested objects with the names of its fields, the verdict's sentence beside it.

    JSON has no infinity: an interval without an end has the text "Infinity" there.
    """
    saturated = {name: known_as(found) for name, found in result.bottlenecks.items()}
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": sentences.headline(result),
        **({"saturated": saturated} if saturated else {}),
        "result": plain(result),
    }


def result_from_json(value: Any) -> Result:
    """The result of such an object.

    :raises UsageError: if it is none, or of a version that is not known here.
    """
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        raise UsageError(
            f"This is no tournament result: its format is not {FORMAT}; "
            f"look for the result.json that a tournament wrote beside its report."
        )
    if value.get("version") != VERSION:
        raise UsageError(
            f"This tournament result has version {value.get('version')!r} of its format, and version {VERSION} is "
            f"understood here: read it with the Paddock that wrote it."
        )
    try:
        result: Result = built(Result, value.get("result"), "result")
    except ValueError as error:
        raise UsageError(f"The tournament result is damaged: {error}; make the report anew.") from None
    return result


RESULT_FILE = "result.json"


def write_report(result: Result, folder: Path) -> dict[str, Path]:
    """Write the report; each file is whole or not there. The result itself comes first, so that it outlives a mishap.

    :returns: "json", "csv", "junit", "markdown", "html" -> path.
    """
    files = {
        "json": RESULT_FILE,
        "csv": "laps.csv",
        "junit": "junit.xml",
        "markdown": "report.md",
        "html": "report.html",
    }
    paths = {form: folder / name for form, name in files.items()}
    keep(paths["json"], json.dumps(result_as_json(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    keep(paths["csv"], laps_as_csv(result))
    keep(paths["junit"], result_as_junit(result))
    report = build(result)
    keep(paths["markdown"], render_markdown(report))
    keep(paths["html"], render_html(report))
    return paths


def read_result(path: Path) -> Result:
    """The result in that file, which may come from another machine.

    :raises FileError: if there is none, it is no JSON or no result.
    """
    content = read_json(path)
    try:
        return result_from_json(content)
    except UsageError as error:
        raise FileError(path, str(error)) from None
