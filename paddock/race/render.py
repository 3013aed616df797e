"""A summary as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from paddock import numbers
from paddock.race.summary import (
    Activity,
    BulkTask,
    Figure,
    Missing,
    RequestTask,
    ServiceTimes,
    Summary,
    WholeRace,
)

_BOLD, _DIM, _YELLOW, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"
_NARROWEST = 60

# From a figure to its digits and its unit.
Form = Callable[[float], tuple[str, str]]


@dataclass(frozen=True)
class _Row:
    label: str
    figure: Figure
    form: Form
    note: str = ""


@dataclass
class _Footnotes:
    """Reasons why figures are missing, each told once."""

    reasons: list[str] = field(default_factory=list)

    def mark(self, missing: Missing) -> str:
        """The sign that stands in the figure's place."""
        if missing.reason not in self.reasons:
            self.reasons.append(missing.reason)
        return f"[{self.reasons.index(missing.reason) + 1}]"


def render_summary(summary: Summary, width: int = 100, colours: bool = False) -> str:
    """The summary as lines no longer than ``width`` columns (60 at least), without a line end behind the last.

    :param colours: whether to use ANSI escape sequences.
    """
    width = max(width, _NARROWEST)
    footnotes = _Footnotes()
    ink = _Ink(colours)
    blocks = [_wrapped(_title(summary), width, "", "")]
    tables = [(f"Load: {task.name}", _bulk_rows(task)) for task in summary.bulk_tasks]
    tables.append(("Nodes and indices, whole race", _race_rows(summary.race)))
    for position, (heading, rows) in enumerate(tables):
        if position == len(tables) - 1 and summary.request_tasks:
            blocks.append([ink.bold("Requests"), *_request_lines(summary.request_tasks, footnotes, width)])
        blocks.append([ink.bold(heading), *_lines(rows, footnotes, width, ink)])
    if summary.warnings:
        sentences = [line for text in summary.warnings for line in _wrapped(text, width, "  ! ", "    ")]
        blocks.append([ink.bold("Warnings"), *(ink.yellow(line) for line in sentences)])
    if footnotes.reasons:
        blocks.append(
            [
                ink.dim(line)
                for number, reason in enumerate(footnotes.reasons, 1)
                for line in _wrapped(reason, width, f"[{number}] ", "    ")
            ]
        )
    return "\n\n".join("\n".join(block) for block in blocks)


class _Ink:
    def __init__(self, colours: bool):
        self._colours = colours

    def bold(self, text: str) -> str:
        return self._in(_BOLD, text)

    def dim(self, text: str) -> str:
        return self._in(_DIM, text)

    def yellow(self, text: str) -> str:
        return self._in(_YELLOW, text)

    def _in(self, code: str, text: str) -> str:
        return f"{code}{text}{_PLAIN}" if self._colours and text else text


def _title(summary: Summary) -> str:
    challenge = f", challenge {summary.challenge}" if summary.challenge else ""
    cars = f", car {summary.cars}" if summary.cars else ""
    version = f", Elasticsearch {summary.version}" if summary.version else ""
    return f"Track {summary.track}{challenge}{cars}{version}"


def _bulk_rows(task: BulkTask) -> list[_Row]:
    rows = [
        _Row("documents", task.documents, numbers.count, "counted by Elasticsearch"),
        _Row("duration", task.seconds, numbers.seconds, "from the start to the last answer, warm-up included"),
        _Row("throughput, mean", task.mean_rate, _rate, "documents / duration"),
    ]
    if task.expectation.warmup_seconds:
        note = f"without the first {task.expectation.warmup_seconds:g} s and the last second"
        rows.append(_Row("throughput, mean after warm-up", task.settled_rate, _rate, note))
    return [
        *rows,
        _Row("throughput, median", task.median_rate, _rate, f"of {task.rates} one-second rates"),
        _Row("throughput, Rally's median", task.reported_rate, _rate, "cumulative since the start of the task"),
        *([_Row("throughput, as scheduled", task.expectation.rate, _rate)] if task.expectation.rate else []),
        _Row("service time, p50", task.service_times.p50, numbers.milliseconds, "per bulk, warm-up excluded"),
        _Row("service time, p90", task.service_times.p90, numbers.milliseconds),
        _Row("service time, p99", task.service_times.p99, numbers.milliseconds),
        _Row("service time, maximum", task.service_times.maximum, numbers.milliseconds),
        *(_latency_rows(task.latencies) if task.latencies else []),
        _Row("failed bulks", task.error_rate, numbers.percent),
        _Row("node CPU time", task.node_cpu_seconds, numbers.seconds, "refreshes and merges after the load included"),
        _Row("node CPU time per million documents", task.node_cpu_per_million, numbers.seconds),
        _Row("load driver CPU time", task.driver_cpu_seconds, numbers.seconds),
    ]


def _latency_rows(latencies: ServiceTimes) -> list[_Row]:
    return [
        _Row("latency, p50", latencies.p50, numbers.milliseconds, "from when the bulk was due, waiting included"),
        _Row("latency, p90", latencies.p90, numbers.milliseconds),
        _Row("latency, p99", latencies.p99, numbers.milliseconds),
        _Row("latency, maximum", latencies.maximum, numbers.milliseconds),
    ]


def _race_rows(race: WholeRace) -> list[_Row]:
    rows = [
        _Row("node memory, peak", race.peak_node_bytes, numbers.size, "resident"),
        _Row("load driver memory, peak", race.peak_driver_bytes, numbers.size, "resident, all processes"),
        _Row("index size", race.index_bytes, numbers.size, "replicas included"),
        _Row("index size per document", race.bytes_per_document, _bytes, "primary shards"),
        _Row("segments", race.segments, numbers.count),
        _Row("written to disk", race.written_bytes, numbers.size, "translog and merges included"),
        *_activity_rows("merges", race.merges),
        *_activity_rows("refreshes", race.refreshes),
        *_activity_rows("flushes", race.flushes),
    ]
    for name, activity in race.collectors.items():
        rows += _activity_rows(f"GC {name}", activity)
    return [*rows, _Row("rejected requests", race.rejections, numbers.count)]


def _activity_rows(label: str, activity: Activity) -> list[_Row]:
    """The count, and how long it took only where anything was done."""
    rows = [_Row(label, activity.count, numbers.count)]
    if activity.count:
        rows.append(_Row(f"{label}, time", activity.seconds, numbers.seconds))
    return rows


def _lines(rows: Sequence[_Row], footnotes: _Footnotes, width: int, ink: _Ink) -> list[str]:
    """One line per row; notes only where they fit."""
    cells = [(row, *_cell(row.figure, row.form, footnotes)) for row in rows]
    labels = max(len(row.label) for row in rows)
    digits = max(len(value) for _, value, _ in cells)
    units = max(len(unit) for _, _, unit in cells)
    lines = []
    for row, value, unit in cells:
        line = f"  {row.label:<{labels}}  {value:>{digits}} {unit}".rstrip()
        noted = f"  {row.label:<{labels}}  {value:>{digits}} {unit:<{units}}  {row.note}"
        if row.note and not isinstance(row.figure, Missing) and len(noted) <= width:
            line = noted[: -len(row.note)] + ink.dim(row.note)
        lines.append(line)
    return lines


def _request_lines(tasks: Sequence[RequestTask], footnotes: _Footnotes, width: int) -> list[str]:
    """A table with a line per task; where it would be too wide, the names stand on lines of their own."""
    table = [["", "p50 ms", "p90 ms", "p99 ms", "max ms", "per second", "failed %"]]
    for task in tasks:
        cells = [*_percentiles(task.service_times, footnotes), _short(task.throughput, numbers.milliseconds, footnotes)]
        table.append([task.name, *cells, _short(task.error_rate, numbers.percent, footnotes)])
        if task.latencies:
            table.append(["  latency", *_percentiles(task.latencies, footnotes), "", ""])
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    stacked = 2 + widths[0] + sum(2 + wide for wide in widths[1:]) > width
    lines = []
    for row in table:
        cells_text = "".join(f"  {cell:>{wide}}" for cell, wide in zip(row[1:], widths[1:], strict=True))
        if stacked and row[0]:
            lines.append(f"  {row[0]}")
        lines.append((f"  {cells_text}" if stacked else f"  {row[0]:<{widths[0]}}{cells_text}").rstrip())
    return lines


def _percentiles(times: ServiceTimes, footnotes: _Footnotes) -> list[str]:
    figures = (times.p50, times.p90, times.p99, times.maximum)
    return [_short(figure, numbers.milliseconds, footnotes) for figure in figures]


def _cell(figure: Figure, form: Form, footnotes: _Footnotes) -> tuple[str, str]:
    return ("-", footnotes.mark(figure)) if isinstance(figure, Missing) else form(figure)


def _short(figure: Figure, form: Form, footnotes: _Footnotes) -> str:
    return f"- {footnotes.mark(figure)}" if isinstance(figure, Missing) else form(figure)[0]


def _rate(value: float) -> tuple[str, str]:
    return numbers.amount(value), "docs/s"


def _bytes(value: float) -> tuple[str, str]:
    return numbers.amount(value), "B"


def _wrapped(text: str, width: int, first: str, further: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )
