"""A published study in a report: its ratios beside those measured here, what it said in words, and why they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from paddock import numbers
from paddock.reports import drawing, figures
from paddock.reports.document import Plot, Section, Table
from paddock.tournaments.model import MetricResult, Result
from paddock.tournaments.published import Published, PublishedMetric, claimed
from paddock.tournaments.studies import NOT_MEASURED, OPPOSITE, SAME, Compared, agreement, compared, finding

# Published ratios that are listed one by one; of more, a cloud of points is drawn.
LISTED = 20
# Shape and colour of a finding in that cloud; what is neither, undecided say, has a diamond.
_MARKS = {SAME: ("circle", "series-1"), OPPOSITE: ("cross", "series-2")}


def study_section(result: Result) -> Section | None:
    """Published and measured ratios side by side; None without a published study."""
    published, baseline = result.tournament.published, result.tournament.baseline
    if published is None:
        return None
    ratios, found = published.ratios_to(baseline), compared(result)
    main = [one for one in found if one.metric == result.main.metric.name and one.ratio is not None]
    paragraphs = [f"Source: {published.source}."]
    if not ratios and (published.figures or published.ratios):
        paragraphs.append(
            f"The study has no usable figure for the baseline {baseline}, so there are no ratios to compare."
        )
    elif said := agreement(one for one in found if one.metric == result.main.metric.name):
        paragraphs.append(said)
    paragraphs.append("Absolute rates depend on the machine; the ratio and its direction are the claim.")
    items = (
        *(f"Published without a figure that could be compared: {text}" for text in published.statements),
        *(f"Deviation from the study: {text}" for text in published.deviations),
        *(
            f"Left out: {name}, published as {published.figures.get(name, '?')} {published.unit}: {why}"
            for name, why in published.excluded.items()
        ),
        *(f"Standard deviation left out: {name}: {why}" for name, why in published.excluded_sds.items()),
    )
    tables = [_study_table(result, published, ratios)] if published.figures or published.ratios else []
    plots = (_study_plot(baseline, main, tables[0]),) if main else ()
    others = [_other_table(result, one, found) for one in published.others]
    return Section("Published and measured", tuple(paragraphs), plots, (*([] if plots else tables), *others), items)


def _study_table(result: Result, published: Published, ratios: Mapping[str, float]) -> Table:
    baseline, ratios_here = result.tournament.baseline, figures.ratios(result)
    verdicts, means = {one.contender: one for one in result.main.verdicts}, figures.means(result.main)
    # Between seconds, because studies state that of their monitor's samples.
    sds = figures.second_sds(result) if published.sds else {}
    rows = []
    for name in figures.contenders(result):
        if name not in published.figures and name not in published.ratios and name != baseline:
            continue
        verdict = verdicts.get(name)
        found = numbers.NOTHING
        if name in published.excluded or name == baseline:
            found = "left out" if name in published.excluded else "baseline"
        elif name in ratios:
            found = finding(verdict, ratios[name], result.tournament.margin)
        cells = {
            "contender": name,
            f"published, {published.unit}": numbers.figure(published.figures.get(name)),
            "published sd": numbers.figure(published.sds.get(name)),
            "published ratio": numbers.ratio(ratios.get(name, 1.0 if name == baseline and ratios else None)),
            f"measured, {figures.label(result.main.metric)}": numbers.figure(means.get(name)),
            "measured sd between seconds": numbers.figure(sds.get(name)),
            "measured ratio": numbers.ratio(ratios_here.get(name)),
            "interval": numbers.NOTHING,
            "finding": found,
        }
        if verdict and verdict.ratio is not None:
            cells["interval"] = numbers.interval(verdict.low, verdict.high)
        rows.append({head: cell for head, cell in cells.items() if published.sds or " sd" not in head})
    caption = f"Published and measured, as ratios to {baseline}"
    headers = tuple(rows[0]) if rows else ("contender",)
    return Table(caption, headers, tuple(tuple(row.values()) for row in rows), tuple(range(1, len(headers) - 1)))


def _other_table(result: Result, published: PublishedMetric, found: Sequence[Compared]) -> Table:
    """The same in a metric beside that of the verdict."""
    baseline = result.tournament.baseline
    measured = next((one for one in _metrics(result) if one.metric.name == published.metric), None)
    means = figures.means(measured) if measured is not None else {}
    by_name = {one.contender: one for one in found if one.metric == published.metric}
    ratios = claimed(published.figures, published.ratios, baseline)
    rows = []
    for name in figures.contenders(result):
        if name not in ratios and name != baseline:
            continue
        one = by_name.get(name)
        rows.append(
            (
                name,
                numbers.figure(published.figures.get(name)),
                numbers.ratio(1.0 if name == baseline else ratios.get(name)),
                numbers.figure(means.get(name)),
                numbers.ratio(1.0 if name == baseline and means else one.ratio if one else None),
                numbers.interval(one.low, one.high) if one and one.ratio is not None else numbers.NOTHING,
                "baseline" if name == baseline else one.finding if one else NOT_MEASURED,
            )
        )
    here = figures.label(measured.metric) if measured is not None else published.metric
    headers = (
        *("contender", f"published{', ' if published.unit else ''}{published.unit}", "published ratio"),
        *(f"measured, {here}", "measured ratio", "interval", "finding"),
    )
    said = f" ({published.said})" if published.said else ""
    return Table(f"Published and measured in {published.metric}{said}", headers, tuple(rows), (1, 2, 3, 4, 5))


def _metrics(result: Result) -> Iterator[MetricResult]:
    yield result.main
    yield from result.others


_Rows = Sequence[Compared]  # with a measured ratio each


def _study_plot(baseline: str, rows: _Rows, table: Table) -> Plot:
    title = f"Published and measured ratios to {baseline}"
    parts = [
        f"{one.contender}: published {numbers.ratio(one.claimed)}, measured {numbers.ratio(one.ratio)} "
        f"(interval {numbers.interval(one.low, one.high)})."
        for one in rows[:LISTED]
    ]
    if len(rows) > LISTED:
        parts = [agreement(rows), *parts, "The table has the others."]
    drawn = _side_by_side(rows) if len(rows) <= LISTED else _cloud(rows)
    return Plot("published", title, " ".join(parts), drawn, table)


def _side_by_side(rows: _Rows) -> str:
    """A line per contender with a diamond (published) and a disc with its interval (measured)."""
    drawn = []
    for one in rows:
        here, there = f"measured {numbers.ratio(one.ratio)}", f"published {numbers.ratio(one.claimed)}"
        name, measured = one.contender, one.ratio or 0.0
        intervals = (
            drawing.Interval(measured, one.low, one.high, "circle", "series-1", f"{name}: {here}"),
            drawing.Interval(one.claimed, 0, math.inf, "diamond", "series-2 hollow", f"{name}: {there}"),
        )
        drawn.append(drawing.Row(name, f"{there}, {here}", intervals))
    entries = [("published", "diamond", "series-2 hollow"), ("measured here", "circle", "series-1")]
    return drawing.rows_of_ratios(drawn, 0.0, "ratio to the baseline", drawing.legend(entries))


def _cloud(rows: _Rows) -> str:
    """A point per contender: published ratio to the right, measured one upwards; on the line they agree."""
    both = drawing.ratios([value for one in rows for value in (one.claimed, one.ratio or 0.0)], 0.02, 5)
    panel = drawing.Panel(both, both, 340, "measured ratio", "published ratio to the baseline")
    panel.line([(both.low, both.low), (both.high, both.high)], "muted dashed thin")
    panel.upright(1, "one")
    panel.flat(1, "one")
    shown = {}
    for one in rows:
        name = one.finding if one.finding in _MARKS else "neither"
        shown[name] = shape, kind = _MARKS.get(name, ("diamond", "muted hollow"))
        hover = f"{one.contender}: published {numbers.ratio(one.claimed)}, measured {numbers.ratio(one.ratio)}"
        panel.mark(one.claimed, one.ratio or 0.0, shape, kind, f"{hover}, {one.finding}")
    entries = [(name, *mark) for name, mark in shown.items()]
    return drawing.panels([panel.html()], drawing.legend(entries))
