"""The report of one race: HTML, Markdown and JSON, made from what Rally and Paddock have recorded of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paddock import numbers
from paddock.plain_values import known, plain
from paddock.race.advised import shard_advice
from paddock.race.costs import race_cost
from paddock.race.full_disk import FullDisk, read_full_disk
from paddock.race.load import Load, journal_of, read_load
from paddock.race.log_queries import LogQueries, read_log_queries
from paddock.race.over_time import OverTime, over_time, samples_at_hand
from paddock.race.race_results import CONFIDENCE, QueryGrowth, Trend, growth
from paddock.race.replay import Replay, read_replay
from paddock.race.summary import BulkTask, Missing, NamedFigure, RaceRecord, RequestTask, Summary
from paddock.race.sustained import SustainedLoad, sustained_load
from paddock.rally.limited import LIMITS_FILE, limits_held
from paddock.reports.comparison import origin
from paddock.reports.cost import race_costs
from paddock.reports.document import Plot, Report, Section, Table, glossary, keep, render_html, render_markdown
from paddock.reports.drawing import (
    LONGEST,
    Panel,
    Scale,
    legend,
    logarithmic,
    panels,
    shortened,
    thousands,
)
from paddock.reports.full_disk import full_disk_headline, full_disk_section
from paddock.reports.log_queries import growth_of_ways, log_queries_headline, log_queries_section, log_query_costs
from paddock.reports.over_time import time_section
from paddock.reports.race_load import load_section
from paddock.reports.replay import replay_headline, replay_sections
from paddock.reports.resources import resource_sections
from paddock.reports.sustained import sustained_as_json, sustained_headline, sustained_section

_MEDIAN, _P90 = "series-1", "series-2"


def growth_section(queries: Sequence[QueryGrowth]) -> Section:
    """Service time over the size of the data."""
    heading = "Latency over the size of the data"
    if not any(size.median for query in queries for size in query.sizes):
        return Section(heading, ("No query ran often enough for a median.",))
    rows, trends, words = [], [], []
    for query in queries:
        for size in query.sizes:
            times = numbers.figure(size.median), numbers.figure(size.p90)
            rows.append(
                (
                    query.query,
                    f"{size.documents:,}",
                    *times,
                    numbers.share(size.error_rate, 1) if size.error_rate else "0",
                )
            )
        trend, ratio, span = query.trend, numbers.NOTHING, numbers.NOTHING
        if trend:
            ratio, span = numbers.ratio(trend.per_doubling), numbers.interval(trend.low, trend.high)
        trends.append((query.query, ratio, span, growth_words(trend)))
        told = [f"{numbers.figure(size.median)} ms at {size.documents:,}" for size in query.sizes if size.median]
        words.append(
            f"{query.query}: median {told[0]} documents, {told[-1]}." if told else f"{query.query}: no median."
        )
    text = (
        "The data grew in this one race, each size measured after the one before it; a JVM that goes on warming up "
        "makes the later sizes look faster than they are. Both axes are logarithmic: on the dotted line twice the data "
        "takes twice the time, as a scan does. The factor is that of a straight line through the medians; its interval "
        "comes from their distances to the line and does not know how another race would differ."
    )
    headers = ("query", "documents", "p50 ms", "p90 ms", "failed")
    table = Table("Service time at each size", headers, tuple(rows), (1, 2, 3, 4))
    caption = f"When the data doubles, the median service time is multiplied by (interval: {CONFIDENCE:.0%})"
    factors = Table(caption, ("query", "factor", "interval", "finding"), tuple(trends), (1,))
    title = "Service time of each query over the size of the data"
    plot = Plot("growth", title, " ".join(words), _over_size(queries), table)
    return Section(heading, (text,), plots=(plot,), tables=(factors,))


def _over_size(queries: Sequence[QueryGrowth]) -> str:
    """A panel per query with median, 90th percentile, and what would be proportional to the data; both logarithmic."""
    values = [value for one in queries for size in one.sizes for value in (size.median, size.p90) if value]
    documents = sorted({size.documents for one in queries for size in one.sizes})
    up = logarithmic(min(values) / 1.3, max(values) * 1.3, 4)
    across = Scale(documents[0] / 1.25, documents[-1] * 1.25, tuple(map(float, documents)), thousands, True)
    found = []
    for number, query in enumerate(queries):
        title = shortened(query.query, LONGEST) + ("" if number else ", ms")
        panel = Panel(across, up, 130, title, "documents in the index")
        medians = [(float(size.documents), size.median) for size in query.sizes if size.median]
        if medians:
            first, start = medians[0]
            panel.line([(at, rise) for at, _ in medians if (rise := start * at / first) <= up.high], "muted dotted")
        ninetieths = [(float(size.documents), size.p90) for size in query.sizes if size.p90]
        for name, kind, mark, points in (
            ("p90", _P90, "square", ninetieths),
            ("median", _MEDIAN, "circle", medians),
        ):
            panel.line(points, kind if name == "median" else f"{kind} dashed")
            for at, value in points:
                panel.mark(at, value, mark, f"{kind} small", f"{at:,.0f} documents: {name} {numbers.figure(value)} ms")
        found.append(panel.html())
    entries = [
        ("median", "circle", _MEDIAN),
        ("90th percentile", "square", _P90),
        ("proportional to the data", "line", "muted dotted"),
    ]
    return panels(found, legend(entries), least=260)


def growth_words(trend: Trend | None) -> str:
    """What a trend says, in a few words."""
    if trend is None:
        return "too few sizes"
    if trend.low > 1:
        return "grows faster than the data" if trend.low > 2 else "grows with the data"
    return "shrinks while the data grows" if trend.high < 1 else "no growth to be seen"


def figures_section(summary: Summary, grown: bool) -> Section:
    """What the summary says, the figures by which a race is known.

    :param grown: whether its requests are told elsewhere, at each size of the data.
    """
    loads = summary.bulk_tasks
    tables = [_loads(loads)] if len(loads) > 1 else [_figures(f"Load: {one.name}", one.figures) for one in loads]
    told = [(one, one.service_times.figures("service time")) for one in loads if not one.expectation.incidental]
    if len(loads) > 1 and told:
        tables.append(_times("bulks", ("load", "p50 ms", "p90 ms", "p95 ms", "p99 ms", "max ms"), told))
    if summary.request_tasks and not grown:
        asked = [(one, one.figures) for one in summary.request_tasks]
        tables.append(_times("requests", ("requests", *(one.short for one in asked[0][1])), asked))
    tables.append(_figures("Nodes and indices, whole race", summary.race.figures))
    return Section("Figures", tables=tuple(tables))


def _loads(tasks: Sequence[BulkTask]) -> Table:
    """Several loads, a line each: documents, duration, and the figures by which loads are compared."""
    first, second, *others = tasks[0].figures
    headers = ("load", first.name, second.name, *(one.short for one in others if one.short))
    rows = []
    for task in tasks:
        first, second, *others = task.figures
        rows.append((task.name, first.text, second.text, *(one.digits for one in others if one.short)))
    return Table("Loads", headers, tuple(rows), tuple(range(1, len(headers))))


def _times(
    of: str, headers: tuple[str, ...], tasks: Sequence[tuple[BulkTask | RequestTask, Sequence[NamedFigure]]]
) -> Table:
    """Service times, and latencies below them where a task had a schedule."""
    rows: list[tuple[str, ...]] = []
    for task, told in tasks:
        rows.append((task.name, *(one.digits for one in told)))
        if task.latencies:
            late = [one.digits for one in task.latencies.figures("latency")]
            rows.append((f"{task.name}, latency", *late, *[""] * (len(told) - len(late))))
    return Table(f"Service times of {of}, warm-up excluded", headers, tuple(rows), tuple(range(1, len(headers))))


def _figures(caption: str, figures: Sequence[NamedFigure]) -> Table:
    rows = tuple((one.name, one.text, "" if isinstance(one.figure, Missing) else one.note) for one in figures)
    return Table(caption, ("figure", "value", "note"), rows, (1,))


FORMAT, VERSION = "paddock-race-report", 1


@dataclass(frozen=True)
class RaceFindings:
    """What the report of a race rests on.

    :param queries: at all sizes of the data; empty unless it grew.
    :param load: the paced load; None if there was none, or its journal is not at hand.
    :param limits: what its nodes were held to and what they used, a sentence for each launch; empty without limits.
    :param sustained: how its load held, if that went on for long enough to ask; else None.
    :param replay: None if there was none, or its journal is not at hand.
    :param advice: on the size of shards, a sentence each; empty where its data is nobody's.
    :param over_time: what its components used; None without samples.
    :param log_queries: questions to an index and to scans; None if there were none, or their journal is not at hand.
    :param full_disk: what came of a disk that became full; None likewise.
    """

    record: RaceRecord
    queries: tuple[QueryGrowth, ...]
    load: Load | None
    limits: tuple[str, ...] = ()
    sustained: SustainedLoad | None = None
    replay: Replay | None = None
    advice: tuple[str, ...] = ()
    over_time: OverTime | None = None
    log_queries: LogQueries | None = None
    full_disk: FullDisk | None = None


def find_out(record: RaceRecord, folder: Path) -> RaceFindings:
    """Read what there is beside the record itself.

    :param folder: Paddock's own records of the race, where the journal of a load lies unless the race says otherwise.
    """
    journal, limits = journal_of(record.race, folder), tuple(limits_held(folder / LIMITS_FILE))
    samples = samples_at_hand(folder)
    return RaceFindings(
        record,
        growth(record.race),
        read_load(journal),
        limits,
        sustained=sustained_load(samples, record.summary.bulk_tasks),
        replay=read_replay(journal),
        advice=tuple(shard_advice(record)),
        over_time=over_time(samples),
        log_queries=read_log_queries(journal, record.summary),
        full_disk=read_full_disk(journal),
    )


def build_race_report(findings: RaceFindings) -> Report:
    """The report; what the challenge asked first, then all figures, circumstances and how to repeat it."""
    record, summary, asked = findings.record, findings.record.summary, findings.log_queries
    sections = [
        Section("Before you conclude anything", items=summary.warnings) if summary.warnings else None,
        log_queries_section(asked) if asked else growth_section(findings.queries) if findings.queries else None,
        full_disk_section(findings.full_disk) if findings.full_disk else None,
        log_query_costs(asked, summary, record.prices) if asked else None,
        load_section(findings.load) if findings.load else None,
        # How a long load held has the same over time, and more.
        sustained_section(findings.sustained) if findings.sustained else None,
        *(replay_sections(findings.replay) if findings.replay else ()),
        *resource_sections(summary),
        time_section(findings.over_time) if findings.over_time and not findings.sustained else None,
        figures_section(summary, bool(findings.queries)),
        race_costs(record),
        Section("Size of shards", items=findings.advice) if findings.advice else None,
        Section("Limits", items=findings.limits) if findings.limits else None,
        Section("Circumstances", facts=(("race", record.race_id), *origin(record).items())),
        Section("Repeat it", ("The same with plain Rally:",), commands=(record.command,)),
        glossary(tournament=False),
    ]
    shown = tuple(section for section in sections if section is not None)
    return Report(f"Race {record.race_id}", f"{summary.title}.", headline(findings), (), shown)


def headline(findings: RaceFindings) -> str:
    """What the race came to, in one sentence."""
    if findings.record.test_mode:
        return "A race in test mode: it shows that everything works, and measures nothing."
    if findings.full_disk:
        return full_disk_headline(findings.full_disk)
    if findings.log_queries:
        return log_queries_headline(findings.log_queries)
    if findings.queries:
        return _growth_headline(findings.queries)
    if findings.load:
        return " ".join(_load_headline(findings.load))
    if findings.sustained:
        return sustained_headline(findings.sustained)
    if findings.replay:
        return " ".join(replay_headline(findings.replay))
    return _plain_headline(findings.record.summary)


def study_figures(findings: RaceFindings) -> dict[str, str]:
    """What published studies say of a race, as it was here: name -> text; only what was measured."""
    summary = findings.record.summary
    told: dict[str, str] = {}
    for task in summary.bulk_tasks:
        told |= {f"{task.name}, {one.name}": one.text for one in task.figures if one.short or one.name == "documents"}
        told[f"{task.name}, documents lost"] = "" if isinstance(task.lost, Missing) else f"{task.lost:,.0f}"
    if full := findings.full_disk:
        how = ", then a full disk stopped the load" if full.full else ", and no disk stopped the load"
        told["documents taken"] = f"{full.taken:,} of {full.offered:,}{how if full.offered else ''}"
        told["acknowledged documents lost"] = f"{full.missing:,}"
    if findings.log_queries:
        told |= growth_of_ways(findings.log_queries)
    if used := summary.resources:
        nodes = [one.figures for one in used.components if one.name in used.nodes]
        for number, what in ((1, "node CPU, peak"), (0, "node CPU, average"), (4, "node memory, peak")):
            unit = " % of a core" if "CPU" in what else ""
            told[what] = ", ".join(f"{one[number].text}{unit}" for one in nodes)
    if summary.bottleneck:
        told["saturated"] = summary.bottleneck.sentence
    return {name: text for name, text in told.items() if text}


def _growth_headline(queries: Sequence[QueryGrowth]) -> str:
    trends = [(query.trend, query.query) for query in queries if query.trend is not None]
    sizes = sorted({size.documents for query in queries for size in query.sizes})
    if not trends:
        return (
            f"{numbers.plural(len(queries), 'query', 'queries')} at {numbers.plural(len(sizes), 'size')} of the data."
        )
    growing = sum(growth_words(trend).startswith("grows") for trend, _ in trends)
    factors = sorted((trend.per_doubling, query) for trend, query in trends)
    (least, fewest), (most, worst) = factors[0], factors[-1]
    return (
        f"From {sizes[0]:,} to {sizes[-1]:,} documents {growing} of {len(trends)} queries become slower: twice the "
        f"data takes {numbers.ratio(least)} ({fewest}) to {numbers.ratio(most)} ({worst}) times as long."
    )


def _load_headline(load: Load) -> Iterator[str]:
    known = [(phase, phase.latency) for phase in load.phases if phase.latency]
    rests = [(phase, late) for phase, late in known if not phase.is_peak and phase.name != "warm-up"]
    peaks = [(phase, late) for phase, late in known if phase.is_peak]
    if peaks and rests:
        yield (
            f"Median latency is {numbers.figure(rests[0][1].p50)} ms at rest and up to "
            f"{numbers.figure(max(late.p50 for _, late in peaks))} ms in a peak of "
            f"{numbers.figure(peaks[0][0].rate)} docs/s."
        )
        recoveries = [phase.recovery for phase, _ in peaks if phase.recovery is not None]
        if len(recoveries) < len(peaks):
            yield "After a peak it does not come back to normal before the next phase ends."
        else:
            yield f"It is back to normal within {max(recoveries) + 1:.0f} s after a peak."
        return
    for phase, late in rests:
        yield (
            f"At {numbers.figure(phase.rate)} docs/s latency is {numbers.figure(late.p50)} ms in the median and "
            f"{numbers.figure(late.p99)} ms in the 99th percentile."
        )


def _plain_headline(summary: Summary) -> str:
    for task in summary.bulk_tasks:
        rate = known(task.rate) or known(task.reported_rate)
        if rate is not None:
            return f"{numbers.figure(rate)} docs/s in '{task.name}'; a single race proves no difference to another."
    return "Rally reported no throughput for this race."


def race_report_as_json(findings: RaceFindings) -> dict[str, Any]:
    """The report for programs; docs/reports.md describes it."""
    record = findings.record
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": headline(findings),
        **record.as_json(),
        "growth": [asdict(query) for query in findings.queries],
        "load": asdict(findings.load) if findings.load else None,
        "full_disk": asdict(findings.full_disk) if findings.full_disk else None,
        "log_queries": asdict(findings.log_queries) if findings.log_queries else None,
        "limits": list(findings.limits),
        "sustained": sustained_as_json(findings.sustained) if findings.sustained else None,
        "replay": findings.replay.as_json() if findings.replay else None,
        "advice": list(findings.advice),
        "over_time": findings.over_time.as_json() if findings.over_time else None,
        "cost": plain(race_cost(record.summary, record.prices)) if record.prices else None,
    }


def write_race_report(findings: RaceFindings, folder: Path) -> dict[str, Path]:
    """Write the report; each file is whole or not there.

    :returns: "json", "markdown", "html" -> path.
    """
    report = build_race_report(findings)
    written = {"json": folder / "report.json", "markdown": folder / "report.md", "html": folder / "report.html"}
    keep(written["json"], json.dumps(race_report_as_json(findings), indent=1, allow_nan=False) + "\n")
    keep(written["markdown"], render_markdown(report))
    keep(written["html"], render_html(report))
    return written


def render_race_terminal(findings: RaceFindings) -> str:
    """What a terminal shows: the headline, and the warnings."""
    return "\n".join([headline(findings), *(f"  ! {text}" for text in findings.record.summary.warnings)])
