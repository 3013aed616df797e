"""A benchmark of generators as tables for the terminal and as Markdown."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.catalogue import TITLES
from benchmarks.model import ALL_CORES, DISK, ONE_CORE, PADDOCK, Benchmark, Comparison
from paddock.console import table

# Between these marks of a page stand the tables.
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"
_MODES = (ONE_CORE, ALL_CORES, DISK)
_KINDS = {"apache": "Apache documents", "app-logs": "Application logs", "logs-structured": "Application logs, 0.5-5 kB"}


def render(result: Benchmark) -> str:
    """For a terminal."""
    parts = [_circumstances(result)]
    for comparison in result.comparisons:
        parts.append(_title(comparison) + "\n" + table(_HEADERS, _rows(result, comparison)))
    parts += [f"Not measured: {TITLES[name]}. {why}" for name, why in result.absent.items()]
    return "\n\n".join(parts)


def markdown(result: Benchmark) -> str:
    """The tables of a page of documentation."""
    parts = [_circumstances(result)]
    for comparison in result.comparisons:
        rows = [_HEADERS, ["---"] * len(_HEADERS), *_rows(result, comparison)]
        parts.append(f"### {_title(comparison)}\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows))
        parts.append(_varieties(comparison))
    parts += [f"Not measured: {TITLES[name]}. {why}" for name, why in result.absent.items()]
    return "\n\n".join(parts) + "\n"


def inserted(page: str, tables: str) -> str:
    """A page with ``tables`` in place of what stands between its two marks.

    :raises ValueError: if it has not exactly one of each mark, in this order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest or END in before + after:
        raise ValueError(f"has to have one line {BEGIN} and, below it, one line {END}")
    return f"{before}{BEGIN}\n{tables}{END}{after}"


def as_values(result: Benchmark) -> dict[str, Any]:
    """Everything, for machines; with the medians and ratios that the tables show."""
    values = dataclasses.asdict(result)
    for comparison, shown in zip(result.comparisons, values["comparisons"], strict=True):
        shown["megabytes_per_second"] = {
            f"{generator}, {mode}": statistics.median(rates(comparison, generator, mode))
            for generator, mode in sorted({(each.generator, each.mode) for each in comparison.measurements})
        }
        shown["paddock_ratio"] = {
            f"{generator}, {mode}": ratios(comparison, generator, mode)
            for generator, mode in sorted({(each.generator, each.mode) for each in comparison.measurements})
            if generator != PADDOCK
        }
    return values


def rates(comparison: Comparison, generator: str, mode: str) -> list[float]:
    """Its MB/s, round by round; empty if that was not measured."""
    return [
        each.megabytes_per_second
        for each in comparison.measurements
        if (each.generator, each.mode) == (generator, mode)
    ]


def ratios(comparison: Comparison, generator: str, mode: str) -> list[float]:
    """How many times as fast as it Paddock is, round by round."""
    own = rates(comparison, PADDOCK, mode)
    others = rates(comparison, generator, mode)
    return [mine / other for mine, other in zip(own, others, strict=True)] if others else []


_HEADERS = ["generator", *_MODES, *(f"ratio {mode}" for mode in _MODES)]
_LEGEND = (
    "MB/s (thousand documents/s), median of the rounds. Ratio: how many times as fast Paddock is in the same round, "
    "median (range)."
)


def _rows(result: Benchmark, comparison: Comparison) -> list[list[str]]:
    names = [*comparison.versions, *(name for name in TITLES if name.startswith("dd "))]
    shown = [name for name in names if any(each.generator == name for each in comparison.measurements)]
    # The fastest first; dd, which generates nothing, last.
    shown.sort(key=lambda name: (name.startswith("dd "), -sum(rates(comparison, name, ONE_CORE))))
    return [list(_row(comparison, name)) for name in shown]


def _row(comparison: Comparison, name: str) -> Iterator[str]:
    version = comparison.versions.get(name, "")
    yield f"{TITLES[name]} {version}".strip()
    for mode in _MODES:
        yield _speed(comparison, name, mode)
    for mode in _MODES:
        yield "" if name == PADDOCK else _ratio(ratios(comparison, name, mode))


def _speed(comparison: Comparison, name: str, mode: str) -> str:
    found = rates(comparison, name, mode)
    if not found:
        return ""
    documents = [
        each.documents / each.seconds / 1000
        for each in comparison.measurements
        if (each.generator, each.mode) == (name, mode) and each.documents
    ]
    speed = _number(statistics.median(found))
    return f"{speed} ({_number(statistics.median(documents))})" if documents else speed


def _ratio(found: Sequence[float]) -> str:
    if not found:
        return ""
    return f"{_number(statistics.median(found))} ({_number(min(found))} to {_number(max(found))})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _title(comparison: Comparison) -> str:
    kind = _KINDS.get(comparison.recipe, "Documents")
    return f"{kind} (recipe {comparison.recipe}, {comparison.samples[0].bytes_per_document:,.0f} bytes on average)"


def _varieties(comparison: Comparison) -> str:
    """How many different values the first documents of each generator have."""
    fields = list(comparison.samples[0].distinct)
    rows = [["generator", "bytes", *fields], ["---"] * (len(fields) + 2)]
    rows += [
        [TITLES[sample.generator], f"{sample.bytes_per_document:,.0f}"]
        + [f"{sample.distinct[field]:,}" for field in fields]
        for sample in comparison.samples
    ]
    count = comparison.samples[0].documents
    listed = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"Bytes and different values in the first {count:,} documents of each:\n\n{listed}"


def _circumstances(result: Benchmark) -> str:
    machine = ", ".join(f"{name} {text}" for name, text in result.machine.items())
    busy = f"Load before the run: {result.load_before:.1f}" + (
        " (other work was running)." if result.load_before >= 0.5 else "."
    )
    return f"{result.began[:10]}; {machine}. {result.rounds} rounds. {busy}\n{_LEGEND}"
