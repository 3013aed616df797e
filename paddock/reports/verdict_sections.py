"""The parts of a report that answer its question: verdicts, and absolute values beside them."""

from __future__ import annotations

from paddock.reports import figures, numbers, sentences
from paddock.reports.document import Highlight, Plot, Section, Table
from paddock.reports.plots import canvas
from paddock.reports.plots.forest import ForestRow, forest
from paddock.reports.verdict_tables import absolute_table, verdict_table
from paddock.tournaments.model import MetricResult, Result, Verdict

# So many contenders fit into one forest plot; of more, the most extreme are shown.
SHOWN = 30
HIGHLIGHTED = 6


def verdict_section(result: Result) -> Section:
    """The verdicts in the metric that decides, with their intervals."""
    measured, tournament = result.main, result.tournament
    metric = measured.metric
    unit = "start" if tournament.node_level else "block"
    better = "more is better" if metric.higher_is_better else "less is better"
    explanation = (
        f"Each figure is {figures.label(metric)} of the contender divided by that of the baseline "
        f"{tournament.baseline} "
        f"in the same {unit} ({better}); differences within {numbers.margin(tournament.margin)} count as equivalent."
    )
    table = verdict_table(measured, f"Verdicts in {figures.label(metric)}, against {tournament.baseline}")
    plots = (_forest(result, table),) if any(verdict.ratio is not None for verdict in measured.verdicts) else ()
    tables = () if plots else (table,)
    return Section("Verdicts", (explanation,), plots, tables, sentences.decisions(measured))


def highlights(result: Result) -> tuple[Highlight, ...]:
    """The verdicts one by one; none if they are more than fit beside each other."""
    found = result.main.verdicts
    if len(found) > HIGHLIGHTED:
        return ()
    metric = result.main.metric
    return tuple(
        Highlight(
            verdict.contender,
            verdict.verdict,
            sentences.said_of(metric, verdict),
            numbers.change(verdict.ratio),
            _note(verdict),
        )
        for verdict in found
    )


def _note(verdict: Verdict) -> str:
    if verdict.ratio is None:
        return "no valid pair"
    limits = numbers.interval(verdict.low, verdict.high)
    limits = "no interval" if limits == numbers.UNBOUNDED else limits
    return f"{numbers.ratio(verdict.ratio)} ({limits}), {sentences.pairs(verdict)}"


def _forest(result: Result, table: Table) -> Plot:
    measured, tournament = result.main, result.tournament
    shown = list(measured.verdicts)
    title = f"{figures.label(measured.metric)} against {tournament.baseline}, with intervals"
    if len(shown) > SHOWN:
        ordered = sorted((one for one in shown if one.ratio is not None), key=lambda one: one.ratio or 0.0)
        shown = [*ordered[: SHOWN // 2], *ordered[-(SHOWN // 2) :]] if len(ordered) > SHOWN else ordered
        title += f" (the {len(shown)} lowest and highest of {len(measured.verdicts)})"
    rows = [
        ForestRow(one.contender, one.verdict, one.ratio, one.low, one.high, _beside(measured, one)) for one in shown
    ]
    description = (
        " ".join(sentences.of_verdict(measured, verdict, tournament.baseline) for verdict in shown)
        + f" The shaded band is the margin of {numbers.margin(tournament.margin)} within which they are equivalent."
    )
    axis = f"ratio of {measured.metric.name} to the baseline"
    wide, narrow = canvas.draw("forest", title, description, lambda width: forest(rows, tournament.margin, axis, width))
    return Plot("forest", title, description, wide, narrow, table)


def _beside(measured: MetricResult, verdict: Verdict) -> str:
    """What is written beside an interval."""
    if verdict.ratio is None:
        return "no valid pair"
    said = sentences.said_of(measured.metric, verdict)
    limits = numbers.interval(verdict.low, verdict.high)
    if limits == numbers.UNBOUNDED:
        return f"{numbers.ratio(verdict.ratio)} {said}, too few pairs"
    return f"{numbers.ratio(verdict.ratio)} ({limits}) {said}"


def absolute_section(result: Result) -> Section:
    """Absolute values of all metrics: for orientation, because they drift with the machine."""
    tables = tuple(absolute_table(result, measured) for measured in (result.main, *result.others))
    others = tuple(
        verdict_table(measured, f"Verdicts in {figures.label(measured.metric)}, against {result.tournament.baseline}")
        for measured in result.others
        if measured.verdicts
    )
    text = (
        "Means and standard deviations over the laps that count. They hold for this machine at that time only and "
        "include its drift; the verdicts rest on ratios of laps that belong together."
    )
    return Section("Absolute values", (text,), tables=(*tables, *others))
