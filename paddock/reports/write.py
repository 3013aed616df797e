"""A tournament's report on disk: the result as JSON, its laps as CSV, its verdicts as JUnit, and the page."""

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
from paddock.errors import FileError, UsageError
from paddock.files import replacing
from paddock.plain_values import built, plain
from paddock.reports import figures, sentences
from paddock.reports.build import build
from paddock.reports.document import render_html, render_markdown
from paddock.tournaments.model import SLOWER, UNDECIDED, Result, Verdict

_COLUMNS = (
    *("start", "block", "position", "contender", "warmup", "void"),
    *("began", "documents", "counted", "seconds", "docs_per_second", "bulks", "driver_load"),
)
_FRESHNESS = ("p50", "p99", "n")


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
                lap.counted,
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
    suite = Tree.Element("testsuite", name=_text(f"tournament {result.tournament.name}"))
    suite.set("timestamp", numbers.moment(result.began)[:16].replace(" ", "T") + ":00")
    properties = Tree.SubElement(suite, "properties")
    for name, text in (("result", result.id), ("seed", result.seed), *result.circumstances.items()):
        Tree.SubElement(properties, "property", name=_text(str(name)), value=_text(str(text)))
    counts = {"failure": 0, "skipped": 0, "error": 0}
    for verdict in result.main.verdicts:
        case = _case(suite, result, f"{verdict.contender} against {result.tournament.baseline}")
        kind = _kind(result, verdict)
        sentence = _text(sentences.of_verdict(result.main, verdict, result.tournament.baseline))
        if kind:
            counts[kind] += 1
            Tree.SubElement(case, kind, message=sentence)
        else:
            Tree.SubElement(case, "system-out").text = sentence
    given_up = {start.number: start.reason for start in result.void_starts}
    for start, reason in sorted({**figures.void_starts(result), **given_up}.items()):
        counts["error"] += 1
        Tree.SubElement(
            _case(suite, result, f"start {start}"), "error", message=_text(f"Start {start} is void: {reason}")
        )
    suite.set("tests", str(sum(1 for _ in suite.iter("testcase"))))
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("skipped", str(counts["skipped"]))
    suite.set("time", f"{result.seconds:.3f}")
    root = Tree.Element("testsuites")
    root.append(suite)
    Tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(root, encoding="unicode") + "\n"


def _case(suite: Tree.Element, result: Result, name: str) -> Tree.Element:
    return Tree.SubElement(suite, "testcase", classname=_text(f"tournament.{result.tournament.name}"), name=_text(name))


def _kind(result: Result, verdict: Verdict) -> str | None:
    if verdict.verdict == UNDECIDED:
        return "skipped"
    beyond = sentences.beyond_margin(result.main.metric, verdict, result.tournament.margin)
    return "failure" if verdict.verdict == SLOWER and beyond else None


def _text(text: str) -> str:
    return _FORBIDDEN.sub("?", text)


FORMAT = "paddock-tournament-result"
VERSION = 1


def result_as_json(result: Result) -> dict[str, Any]:
    """The result as nested objects with the names of its fields, the verdict's sentence beside it.

    JSON has no infinity: an interval without an end has the text "Infinity" there.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": sentences.headline(result),
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
    paths = {
        "json": folder / RESULT_FILE,
        "csv": folder / "laps.csv",
        "junit": folder / "junit.xml",
        "markdown": folder / "report.md",
        "html": folder / "report.html",
    }
    _write(paths["json"], json.dumps(result_as_json(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    _write(paths["csv"], laps_as_csv(result))
    _write(paths["junit"], result_as_junit(result))
    report = build(result)
    _write(paths["markdown"], render_markdown(report))
    _write(paths["html"], render_html(report))
    return paths


def read_result(path: Path) -> Result:
    """The result in that file.

    :raises FileError: if there is none or it cannot be understood.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as mishap:
        raise FileError(
            path, f"This result cannot be read ({mishap.strerror}); list results to find another."
        ) from None
    try:
        value = json.loads(text)
    except ValueError as mishap:
        raise FileError(path, f"This result is no JSON ({mishap}); run the tournament with --resume.") from None
    return result_from_json(value)


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
