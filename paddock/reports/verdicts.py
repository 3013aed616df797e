"""The parts of a report that answer its question: verdicts, pairs, what to apply, and absolute values beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from paddock import numbers
from paddock.reports import figures, sentences
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import Interval, Row, legend, rows_of_ratios
from paddock.reports.resources import laps_used
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER, UNDECIDED, MetricResult, Result, Verdict
from paddock.tournaments.notes import SETTINGS

# The challenge whose plain levels are mappings.
_MAPPINGS = "mapping-cost"


def verdict_table(measured: MetricResult, caption: str) -> Table:
    """One row per contender: everything known of its verdict."""
    headers = ("contender", "verdict", "ratio", "change", "interval", "confidence", "pairs", "p", "scope", "to decide")
    rows = []
    for one in measured.verdicts:
        limits = sure = p_value = numbers.NOTHING
        if one.ratio is not None:
            limits, sure = numbers.interval(one.low, one.high), numbers.confidence(one.confidence)
            p_value = numbers.p_value(one.p_value)
        said = (one.contender, sentences.said_of(measured.metric, one), numbers.ratio(one.ratio))
        change, pairs = numbers.change(one.ratio), str(one.pairs)
        dropped = sentences.DROPPED if one.dropped else numbers.NOTHING
        rows.append((*said, change, limits, sure, pairs, p_value, one.scope, one.decide or dropped))
    return Table(caption, headers, tuple(rows), (2, 3, 4, 5, 6, 7))


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


# So many contenders fit into one plot; of more, the most extreme are shown.
SHOWN = 30
HIGHLIGHTED = 6


def verdict_section(result: Result) -> Section:
    """The verdicts in the metric that decides, with their intervals."""
    measured, tournament = result.main, result.tournament
    metric = measured.metric
    unit = "start" if tournament.node_level else "block"
    each = ", one estimate of the blocks of each start" if figures.unit(result) != unit else ""
    explanation = (
        f"Each figure is {figures.label(metric)} of the contender divided by that of the baseline "
        f"{tournament.baseline} in the same {unit}{each} ({figures.better(metric)} is better); differences within "
        f"{numbers.margin(tournament.margin)} count as equivalent."
    )
    table = verdict_table(measured, f"Verdicts in {figures.label(metric)}, against {tournament.baseline}")
    known = any(verdict.ratio is not None for verdict in measured.verdicts)
    plots, tables = ((_ratios(result, table),), ()) if known else ((), (table,))
    texts = [explanation, *sentences.of_control(measured)]
    return Section("Verdicts", tuple(texts), plots, tables, sentences.decisions(measured))


def highlights(result: Result) -> tuple[dict[str, str], ...]:
    """The verdicts one by one; none if they are more than fit beside each other."""
    found, metric = result.main.verdicts, result.main.metric
    if len(found) > HIGHLIGHTED:
        return ()
    told = []
    for one in found:
        note = "no valid pair"
        if one.ratio is not None:
            limits = numbers.interval(one.low, one.high)
            limits = "no interval" if limits == numbers.UNBOUNDED else limits
            note = f"{numbers.ratio(one.ratio)} ({limits}), {numbers.plural(one.pairs, 'pair')}"
        said, change = sentences.said_of(metric, one), numbers.change(one.ratio)
        told.append({"name": one.contender, "verdict": one.verdict, "word": said, "change": change, "note": note})
    return tuple(told)


LOOKS = {
    FASTER: ("up", "better"),
    SLOWER: ("down", "worse"),
    EQUIVALENT: ("square", "equal"),
    UNDECIDED: ("circle", "open hollow"),
}


def _ratios(result: Result, table: Table) -> Plot:
    """All metrics of all contenders, or of many contenders the metric of the verdict alone."""
    measured, tournament = result.main, result.tournament
    shown = list(measured.verdicts)
    title = f"Ratios to {tournament.baseline}, with intervals"
    if len(shown) > SHOWN:
        ordered = sorted((one for one in shown if one.ratio is not None), key=lambda one: one.ratio or 0.0)
        shown = [*ordered[: SHOWN // 2], *ordered[-(SHOWN // 2) :]] if len(ordered) > SHOWN else ordered
        title += f" (the {len(shown)} lowest and highest of {len(measured.verdicts)})"
    told = [(measured, shown)]
    if len(measured.verdicts) <= HIGHLIGHTED:
        told += [(one, list(one.verdicts)) for one in result.others if one.verdicts]
    rows = []
    for one, verdicts in told:
        rows.append(Row(f"{figures.label(one.metric)} ({figures.better(one.metric)} is better)", heading=True))
        rows += [ratio_row(one, verdict) for verdict in verdicts]
    margin = f"margin of {numbers.margin(tournament.margin)}"
    parts = [sentences.of_verdict(one, each, tournament.baseline) for one, own in told for each in own]
    description = " ".join([*parts, f"The shaded band is the {margin} within which they are equivalent."])
    names = {FASTER: "better", SLOWER: "worse"}
    marks = [(names.get(verdict, verdict), *look) for verdict, look in LOOKS.items()]
    bands = [(margin, "box", "band"), *([("control", "box", "control")] if tournament.control else [])]
    drawn = rows_of_ratios(rows, tournament.margin, "ratio to the baseline", legend([*marks, *bands]))
    return Plot("ratios", title, description, drawn, table)


def ratio_row(measured: MetricResult, verdict: Verdict) -> Row:
    """One verdict as a line of a plot of ratios."""
    if verdict.ratio is None:
        return Row(verdict.contender, "no valid pair")
    said, limits = sentences.said_of(measured.metric, verdict), numbers.interval(verdict.low, verdict.high)
    text = f"{numbers.ratio(verdict.ratio)} ({limits}) {said}"
    if limits == numbers.UNBOUNDED:
        text = f"{numbers.ratio(verdict.ratio)} {said}, too few pairs"
    hover = f"{verdict.contender}, {figures.label(measured.metric)}: {text}, {numbers.plural(verdict.pairs, 'pair')}"
    drawn = Interval(verdict.ratio, verdict.low, verdict.high, *LOOKS[verdict.verdict], hover)
    twin = measured.control
    control = (twin.low, twin.high) if twin is not None and twin.low > 0 else None
    return Row(verdict.contender, text, (drawn,), control=control)


def apply_section(result: Result) -> Section | None:
    """What the best contender differs in, to be copied; None if none is better than the baseline."""
    tournament, metric = result.tournament, result.main.metric
    best = figures.winner(result)
    if best is None:
        return None
    contender = next(one for one in tournament.contenders if one.name == best.contender)
    settings: dict[str, Any] = {}
    if contender.cars is not None:
        settings["cars"] = list(contender.cars)
    if contender.car_params:
        settings["car_params"] = dict(contender.car_params)
    for name in ("version", "engine", "java", "data_path", "nodes"):
        if getattr(contender, name) is not None:
            settings[name] = getattr(contender, name)
    if contender.track_params:
        settings["track_params"] = dict(contender.track_params)
    if isinstance(contender.level, Mapping):
        settings |= contender.level
    elif contender.level is not None:
        settings[tournament.challenge] = contender.level
    if not settings:
        return None
    texts = [f"{best.contender} is {sentences.said_of(metric, best)} than {tournament.baseline} in {metric.name}."]
    if told := result.circumstances.get(f"{SETTINGS}, {best.contender}"):
        texts.append(f"What the settings of its index had of their own, as Elasticsearch told them: {told}.")
    if "mapping" in settings or tournament.challenge == _MAPPINGS:
        texts.append(
            "Its mapping decides what can be searched and read back: what is not indexed is not found, and what is not "
            "stored is lost. Apply it where nobody needs that."
        )
    texts.append("What makes it differ, as a contender in a tournament file has it:")
    return Section("Apply this", tuple(texts), commands=(json.dumps(settings, indent=1, ensure_ascii=False),))


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
    return Section("Absolute values", (text,), tables=(*tables, *laps_used(result.laps), *others), folded=True)
