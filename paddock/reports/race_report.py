"""The report of one race: HTML, Markdown and JSON, made from what Rally and Paddock have recorded of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from paddock import numbers
from paddock.files import replacing
from paddock.race.growth import CONFIDENCE, QueryGrowth, Trend, growth
from paddock.race.load import NORMAL, Load, LoadPhase, read_load
from paddock.race.race_results import in_test_mode
from paddock.reports.document import Plot, Report, Section, Table, render_html, render_markdown
from paddock.reports.origins import RaceRecord, origin
from paddock.reports.plots.race import over_size, over_time

_Form = Callable[[float], tuple[str, str]]


def growth_section(queries: Sequence[QueryGrowth]) -> Section:
    """Service time over the size of the data."""
    rows = tuple(
        (query.query, f"{size.documents:,}", numbers.figure(size.median), numbers.figure(size.p90), _failed(size))
        for query in queries
        for size in query.sizes
    )
    headers = ("query", "documents", "p50 ms", "p90 ms", "failed")
    table = Table("Service time at each size", headers, rows, (1, 2, 3, 4))
    trends = Table(
        f"When the data doubles, the median service time is multiplied by (interval: {CONFIDENCE:.0%})",
        ("query", "factor", "interval", "finding"),
        tuple((query.query, *_trend_cells(query.trend)) for query in queries),
        (1,),
    )
    text = (
        "The data grew in this one race, each size measured after the one before it; a JVM that goes on warming up "
        "makes the later sizes look faster than they are. Both axes are logarithmic: on the dotted line twice the data "
        "takes twice the time, as a scan does. The factor is that of a straight line through the medians; its interval "
        "comes from their distances to the line and does not know how another race would differ."
    )
    if not any(size.median for query in queries for size in query.sizes):
        return Section("Latency over the size of the data", ("No query ran often enough for a median.",))
    title = "Service time of each query over the size of the data"
    description = " ".join(f"{query.query}: {_in_words(query)}." for query in queries)
    plot = Plot("growth", title, description, over_size(queries), table)
    return Section("Latency over the size of the data", (text,), plots=(plot,), tables=(trends,))


def growth_words(trend: Trend | None) -> str:
    """What a trend says, in a few words."""
    if trend is None:
        return "too few sizes"
    if trend.low > 1:
        return "grows faster than the data" if trend.low > 2 else "grows with the data"
    return "shrinks while the data grows" if trend.high < 1 else "no growth to be seen"


def _trend_cells(trend: Trend | None) -> tuple[str, str, str]:
    if trend is None:
        return (numbers.NOTHING, numbers.NOTHING, growth_words(trend))
    return (numbers.ratio(trend.per_doubling), numbers.interval(trend.low, trend.high), growth_words(trend))


def _in_words(query: QueryGrowth) -> str:
    known = [size for size in query.sizes if size.median]
    if not known:
        return "no median"
    first, last = known[0], known[-1]
    begin, end = numbers.figure(first.median), numbers.figure(last.median)
    return f"median {begin} ms at {first.documents:,} documents, {end} ms at {last.documents:,}"


def _failed(size: Any) -> str:
    return numbers.share(size.error_rate, 1) if size.error_rate else "0"


def load_section(load: Load) -> Section:
    """Latency against the schedule, over time and by phase."""
    headers = ("second", "median latency ms", "largest ms", "docs/s acknowledged")
    rows = tuple(
        (
            f"{moment.begin:.0f}",
            numbers.figure(moment.median),
            numbers.figure(moment.maximum),
            numbers.figure(moment.acknowledged),
        )
        for moment in load.moments
    )
    length = load.moments[0].seconds
    table = Table(f"Every {'second' if length == 1 else f'{length:.0f} s'} of the load", headers, rows, (0, 1, 2, 3))
    title = "Latency and throughput over time"
    description = " ".join(_phase_in_words(phase) for phase in load.phases)
    reading = (
        "A bulk's latency counts from when it was due and is drawn there; the warm-up ends at the dashed line. "
        "Where fewer documents are acknowledged than due, bulks wait."
    )
    plot = Plot("load", title, description, over_time(load), table, reading)
    items = tuple(_recoveries(load.phases))
    return Section("Latency against the schedule", plots=(plot,), tables=(_phases(load),), items=items)


def _phases(load: Load) -> Table:
    headers = (
        *("phase", "docs/s due", "bulks", "failed", "latency p50 ms", "p90", "p99", "largest"),
        *("processing p50 ms", "p99"),
    )
    rows = []
    for phase in load.phases:
        late, work = phase.latency, phase.processing
        rows.append(
            (
                phase.name,
                numbers.figure(phase.rate),
                f"{phase.bulks:,}",
                f"{phase.failed:,}",
                *(numbers.figure(getattr(late, name, None)) for name in ("p50", "p90", "p99", "maximum")),
                *(numbers.figure(getattr(work, name, None)) for name in ("p50", "p99")),
            )
        )
    caption = "Phases; latency from when a bulk was due, processing from when it was sent"
    return Table(caption, headers, tuple(rows), tuple(range(1, len(headers))))


def _phase_in_words(phase: LoadPhase) -> str:
    if phase.latency is None:
        return f"{phase.name}: no bulk."
    return (
        f"{phase.name}: {numbers.figure(phase.rate)} docs/s due, latency {numbers.figure(phase.latency.p50)} ms in the "
        f"median, {numbers.figure(phase.latency.maximum)} ms at most."
    )


def _recoveries(phases: Sequence[LoadPhase]) -> Iterator[str]:
    for phase, after in pairwise(phases):
        if not phase.is_peak:
            continue
        if phase.recovery is None:
            left = after.end - after.begin
            yield f"After {phase.name} latency does not come back to normal within the {left:g} s left."
        elif phase.recovery == 0:
            yield f"After {phase.name} latency is back to normal at once."
        else:
            yield f"After {phase.name} latency is back to normal {phase.recovery:.0f} s later."
    if any(phase.is_peak for phase in phases):
        yield (
            f"Normal is a second whose median latency is at most {NORMAL:g} times that of the second half of the first "
            "rest."
        )


def _amount(value: float) -> tuple[str, str]:
    return numbers.amount(value), ""


_LOAD_ROWS: tuple[tuple[str, str, _Form], ...] = (
    ("documents", "documents", numbers.count),
    ("seconds", "duration, warm-up included", numbers.seconds),
    ("mean_rate", "docs/s, mean", _amount),
    ("settled_rate", "docs/s, mean after warm-up", _amount),
    ("median_rate", "docs/s, median of the seconds", _amount),
    ("error_rate", "failed bulks", numbers.percent),
    ("node_cpu_seconds", "node CPU time", numbers.seconds),
    ("node_cpu_per_million", "... per million documents", numbers.seconds),
    ("driver_cpu_seconds", "load driver CPU time", numbers.seconds),
)
_RACE_ROWS: tuple[tuple[str, str, _Form], ...] = (
    ("peak_node_bytes", "node memory, peak", numbers.size),
    ("peak_driver_bytes", "load driver memory, peak", numbers.size),
    ("index_bytes", "index size, replicas included", numbers.size),
    ("bytes_per_document", "index bytes per document", _amount),
    ("segments", "segments", numbers.count),
    ("written_bytes", "written to disk", numbers.size),
    ("rejections", "rejected requests", numbers.count),
)


def figures_section(summary: Mapping[str, Any], grown: bool) -> Section:
    """What the summary says, the figures by which a race is known.

    :param summary: as summary.json holds it.
    :param grown: whether its requests are told elsewhere, at each size of the data.
    """
    loads = summary.get("bulk_tasks") or []
    if len(loads) > 1:
        tables = [_loads(loads)]
    else:
        tables = [_figures(f"Load: {task['name']}", task, _LOAD_ROWS) for task in loads]
    timed = [*loads, *(() if grown else summary.get("request_tasks") or [])]
    if timed:
        tables.append(_times(timed))
    tables.append(_figures("Nodes and indices, whole race", summary.get("race") or {}, _RACE_ROWS))
    return Section("Figures", tables=tuple(tables))


def _loads(tasks: Sequence[Mapping[str, Any]]) -> Table:
    """Several loads, a line each, with what they have in common."""
    shown = [
        row for row in _LOAD_ROWS if row[0] in ("documents", "seconds", "mean_rate", "error_rate", "node_cpu_seconds")
    ]
    rows = tuple((task["name"], *(_cell(task, key, form) for key, _, form in shown)) for task in tasks)
    headers = ("load", *(label for _, label, _ in shown))
    return Table("Loads", headers, rows, tuple(range(1, len(headers))))


def _cell(values: Mapping[str, Any], key: str, form: _Form) -> str:
    value = values.get(key)
    return numbers.NOTHING if value is None else " ".join(form(value)).strip()


def _figures(caption: str, values: Mapping[str, Any], rows: Sequence[tuple[str, str, _Form]]) -> Table:
    cells = tuple((label, _cell(values, key, form)) for key, label, form in rows)
    return Table(caption, ("figure", "value"), cells, (1,))


def _times(tasks: Sequence[Mapping[str, Any]]) -> Table:
    """Service times, and latencies below them where a task had a schedule."""
    rows = []
    for task in tasks:
        for what, key in (("service time", "service_times"), ("latency", "latencies")):
            if task.get(key):
                figures = (task[key].get(name) for name in ("p50", "p90", "p99", "maximum"))
                rows.append((task["name"], what, *map(numbers.figure, figures)))
    headers = ("task", "time", "p50 ms", "p90 ms", "p99 ms", "max ms")
    return Table("Times of requests, warm-up excluded", headers, tuple(rows), (2, 3, 4, 5))


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
