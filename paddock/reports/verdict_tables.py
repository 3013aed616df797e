"""Verdicts and absolute values as tables."""

from __future__ import annotations

from paddock.reports import figures, numbers, sentences
from paddock.reports.document import Table
from paddock.tournaments.model import MetricResult, Result


def verdict_table(measured: MetricResult, caption: str) -> Table:
    """One row per contender: everything known of its verdict."""
    headers = ("contender", "verdict", "ratio", "change", "interval", "confidence", "pairs", "p", "scope", "to decide")
    rows = tuple(
        (
            verdict.contender,
            sentences.said_of(measured.metric, verdict),
            numbers.ratio(verdict.ratio),
            numbers.change(verdict.ratio),
            numbers.interval(verdict.low, verdict.high) if verdict.ratio is not None else numbers.NOTHING,
            numbers.confidence(verdict.confidence) if verdict.ratio is not None else numbers.NOTHING,
            str(verdict.pairs),
            numbers.p_value(verdict.p_value) if verdict.ratio is not None else numbers.NOTHING,
            verdict.scope,
            verdict.decide or numbers.NOTHING,
        )
        for verdict in measured.verdicts
    )
    return Table(caption, headers, rows, (2, 3, 4, 5, 6, 7))


def absolute_table(result: Result, measured: MetricResult) -> Table:
    """One row per contender: mean, standard deviation, median."""
    known = {absolute.contender: absolute for absolute in measured.absolutes}
    rows = []
    for name in figures.contenders(result):
        absolute = known.get(name)
        if absolute is None or not absolute.laps:
            rows.append((name, *[numbers.NOTHING] * 4, "0"))
            continue
        sd = absolute.sd if absolute.laps > 1 else None
        relative = numbers.share(sd / absolute.mean, 1) if sd is not None and absolute.mean else numbers.NOTHING
        values = (numbers.figure(absolute.mean), numbers.figure(sd), relative, numbers.figure(absolute.median))
        rows.append((name, *values, str(absolute.laps)))
    headers = ("contender", "mean", "sd", "sd / mean", "median", "laps")
    return Table(figures.label(measured.metric), headers, tuple(rows), (1, 2, 3, 4, 5))
