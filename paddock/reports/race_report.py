"""The report of one race: HTML, Markdown and JSON, made from what Rally and Paddock have recorded of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paddock.files import replacing
from paddock.reports import numbers
from paddock.reports.document import Report, Section
from paddock.reports.html import render_html
from paddock.reports.markdown import render_markdown
from paddock.reports.origins import RaceRecord, origin
from paddock.reports.race_growth import QueryGrowth, growth
from paddock.reports.race_load import Load, read_load
from paddock.reports.race_sections import figures_section, growth_section, growth_words, load_section
from paddock.summary.race_results import in_test_mode

FORMAT, VERSION = "paddock-race-report", 1
LOAD_JOURNAL_FILE = "load.jsonl"


@dataclass(frozen=True)
class RaceFindings:
    """What the report of a race rests on.

    :param queries: at all sizes of the data; empty unless it grew.
    :param load: the paced load; None if there was none, or its journal is not at hand.
    """

    record: RaceRecord
    queries: tuple[QueryGrowth, ...]
    load: Load | None


def find_out(record: RaceRecord, folder: Path) -> RaceFindings:
    """Read what there is beside the record itself.

    :param folder: Paddock's own records of the race, where the journal of a load lies unless the race says otherwise.
    """
    named = (record.race.get("track-params") or {}).get("load_journal")
    return RaceFindings(record, growth(record.race), read_load(Path(named) if named else folder / LOAD_JOURNAL_FILE))


def build_race_report(findings: RaceFindings) -> Report:
    """The report; what the challenge asked first, then all figures, circumstances and how to repeat it."""
    record = findings.record
    summary = record.summary["summary"]
    warnings = tuple(summary.get("warnings") or ())
    sections = [
        Section("Before you conclude anything", items=warnings) if warnings else None,
        growth_section(findings.queries) if findings.queries else None,
        load_section(findings.load) if findings.load else None,
        figures_section(summary, bool(findings.queries)),
        Section("Circumstances", facts=(("race", record.race_id), *origin(record).items())),
        Section("Repeat it", ("The same with plain Rally:",), commands=(str(record.summary.get("command") or ""),)),
    ]
    cars = f", car {summary['cars']}" if summary.get("cars") else ""
    version = f", Elasticsearch {summary['version']}" if summary.get("version") else ""
    return Report(
        title=f"Race {record.race_id}",
        subtitle=f"Track {summary.get('track')}, challenge {summary.get('challenge')}{cars}{version}.",
        verdict=headline(findings),
        highlights=(),
        sections=tuple(section for section in sections if section is not None),
    )


def headline(findings: RaceFindings) -> str:
    """What the race came to, in one sentence."""
    if in_test_mode(findings.record.race):
        return "A race in test mode: it shows that everything works, and measures nothing."
    if findings.queries:
        return _growth_headline(findings.queries)
    if findings.load:
        return " ".join(_load_headline(findings.load))
    return _plain_headline(findings.record.summary["summary"])


def _growth_headline(queries: Sequence[QueryGrowth]) -> str:
    known = [query for query in queries if query.trend is not None]
    sizes = sorted({size.documents for query in queries for size in query.sizes})
    if not known:
        return (
            f"{numbers.plural(len(queries), 'query', 'queries')} at {numbers.plural(len(sizes), 'size')} of the data."
        )
    growing = sum(1 for query in known if growth_words(query.trend).startswith("grows"))
    factors = sorted((query.trend.per_doubling, query.query) for query in known if query.trend)
    (least, fewest), (most, worst) = factors[0], factors[-1]
    return (
        f"From {sizes[0]:,} to {sizes[-1]:,} documents {growing} of {len(known)} queries become slower: twice the data "
        f"takes {numbers.ratio(least)} ({fewest}) to {numbers.ratio(most)} ({worst}) times as long."
    )


def _load_headline(load: Load) -> Iterator[str]:
    rests = [phase for phase in load.phases if not phase.is_peak and phase.name != "warm-up" and phase.latency]
    peaks = [phase for phase in load.phases if phase.is_peak and phase.latency]
    if peaks and rests and peaks[0].latency and rests[0].latency:
        calm, worst = rests[0].latency.p50, max(phase.latency.p50 for phase in peaks if phase.latency)
        yield (
            f"Median latency is {numbers.figure(calm)} ms at rest and up to {numbers.figure(worst)} ms in a peak of "
            f"{numbers.figure(peaks[0].rate)} docs/s."
        )
        recoveries = [phase.recovery for phase in peaks]
        known = [value for value in recoveries if value is not None]
        if len(known) < len(recoveries):
            yield "After a peak it does not come back to normal before the next phase ends."
        else:
            yield f"It is back to normal within {max(known) + 1:.0f} s after a peak."
        return
    for phase in rests:
        if phase.latency:
            yield (
                f"At {numbers.figure(phase.rate)} docs/s latency is {numbers.figure(phase.latency.p50)} ms in the "
                f"median and {numbers.figure(phase.latency.p99)} ms in the 99th percentile."
            )


def _plain_headline(summary: Any) -> str:
    for task in summary.get("bulk_tasks") or []:
        rate = task.get("settled_rate") or task.get("mean_rate") or task.get("reported_rate")
        if rate is not None:
            return f"{numbers.figure(rate)} docs/s in '{task['name']}'; a single race proves no difference to another."
    return "Rally reported no throughput for this race."


def race_report_as_json(findings: RaceFindings) -> dict[str, Any]:
    """The report for programs; docs/reports.md describes it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": headline(findings),
        **findings.record.summary,
        "growth": [asdict(query) for query in findings.queries],
        "load": asdict(findings.load) if findings.load else None,
    }


def write_race_report(findings: RaceFindings, folder: Path) -> dict[str, Path]:
    """Write the report; each file is whole or not there.

    :returns: "json", "markdown", "html" -> path.
    """
    report = build_race_report(findings)
    texts = {
        "json": ("report.json", json.dumps(race_report_as_json(findings), indent=1, allow_nan=False) + "\n"),
        "markdown": ("report.md", render_markdown(report)),
        "html": ("report.html", render_html(report)),
    }
    written = {}
    for form, (name, text) in texts.items():
        written[form] = folder / name
        with replacing(written[form]) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    return written


def render_race_terminal(findings: RaceFindings) -> str:
    """What a terminal shows: the headline, and the warnings."""
    summary = findings.record.summary["summary"]
    return "\n".join([headline(findings), *(f"  ! {text}" for text in summary.get("warnings") or ())])
