"""The parts of a report that set something beside speed: prices, and a published study's figures."""

from __future__ import annotations

import math
from collections.abc import Iterator

from paddock import numbers
from paddock.reports import figures
from paddock.reports.document import Plot, Section, Table
from paddock.reports.plots.drawing import shortened
from paddock.reports.plots.prices import LISTED, StudyRow, Trade, best, cloud, pareto, side_by_side
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER, UNDECIDED, Published, Result


def price_section(result: Result) -> Section | None:
    """Prices beside speed; None if none was measured or there is nobody to compare."""
    speeds = figures.ratios(result)
    prices = [
        (figures.label(price.metric), price)
        for price in figures.prices(result)
        if len(set(price.values) & set(speeds)) > 1
    ]
    if not prices:
        return None
    trades = [
        Trade(name, price.metric.higher_is_better, speeds, price.values, price.at_least) for name, price in prices
    ]
    upward = result.main.metric.higher_is_better
    title = f"Prices beside {result.main.metric.name}"
    names = [name for name in figures.contenders(result) if name in speeds]
    table = Table(
        f"{title}: of the laps that count, means; of searchability, quantiles over all of them",
        ("contender", f"ratio of {result.main.metric.name}", *(name for name, _ in prices)),
        tuple((name, numbers.ratio(speeds[name]), *(_value(price, name) for _, price in prices)) for name in names),
        tuple(range(1, len(prices) + 2)),
    )
    parts = []
    for trade in trades:
        unbeaten = best(trade, upward)
        parts.append(
            f"{trade.title} ({'more' if trade.higher_price_is_better else 'less'} is better): "
            + ", ".join(
                f"{name} {'over ' if name in trade.at_least else ''}{numbers.figure(trade.prices[name])}"
                for name in unbeaten
            )
            + (" is" if len(unbeaten) == 1 else " are")
            + " beaten by no other contender."
        )
    description = " ".join(parts)
    unseen = tuple(_unseen(result))
    axis = f"ratio of {result.main.metric.name} to {shortened(result.tournament.baseline, 24)}"
    text = (
        "Filled marks on the line: no other contender is at least as good in both and better in one. The diamond is "
        "the baseline. The means carry noise: look at the verdicts before trusting a small step."
    )
    found = {verdict.verdict for one in (result.main, *result.others) for verdict in one.verdicts}
    if not found & {FASTER, SLOWER}:
        nothing = "No difference was found, neither in speed nor in price."
        return Section("Price beside speed", (nothing,), tables=(table,), items=unseen)
    drawn = pareto(trades, axis, result.tournament.baseline, upward)
    return Section("Price beside speed", plots=(Plot("prices", title, description, drawn, table, text),), items=unseen)


def _value(price: figures.Price, name: str) -> str:
    text = numbers.figure(price.values.get(name))
    return f"over {text}" if name in price.at_least else text


def _unseen(result: Result) -> Iterator[str]:
    """Contenders whose laps are too short to see how late their documents become searchable."""
    for fresh in figures.freshness(result):
        if fresh.p50 is None:
            yield (
                f"{fresh.contender}: {numbers.plural(fresh.markers, 'document')} were watched for up to "
                f"{fresh.longest / 1000:.1f} s, the length of a lap, and {fresh.found or 'none'} of them became "
                f"searchable meanwhile: the median is longer, and it takes longer laps to see it."
            )


def published_ratios(published: Published, baseline: str) -> dict[str, float]:
    """The study's figures as ratios to its own figure for the baseline; empty if that is missing or excluded."""
    reference = published.figures.get(baseline)
    if not reference or baseline in published.excluded:
        return {}
    return {name: figure / reference for name, figure in published.figures.items() if name not in published.excluded}


def study_section(result: Result) -> Section | None:
    """Published and measured ratios side by side; None without a published study."""
    published, baseline = result.tournament.published, result.tournament.baseline
    if published is None:
        return None
    claimed, measured = published_ratios(published, baseline), figures.ratios(result)
    table = _table(result, published, claimed)
    rows = _rows(result, claimed, measured)
    items = (
        *(f"Deviation from the study: {text}" for text in published.deviations),
        *(
            f"Left out: {name}, published as {published.figures.get(name, '?')} {published.unit}: {why}"
            for name, why in published.excluded.items()
        ),
        *(f"Standard deviation left out: {name}: {why}" for name, why in published.excluded_sds.items()),
    )
    paragraphs = [f"Source: {published.source}."]
    if not claimed:
        paragraphs.append(
            f"The study has no usable figure for the baseline {baseline}, so there are no ratios to compare."
        )
    elif rows:
        paragraphs.append(_agreement(result, rows))
    paragraphs.append("Absolute rates depend on the machine; the ratio and its direction are the claim.")
    plots = (_plot(result, rows, table),) if rows else ()
    return Section("Published and measured", tuple(paragraphs), plots, () if plots else (table,), items)


def _rows(result: Result, claimed: dict[str, float], measured: dict[str, float]) -> list[StudyRow]:
    """Contenders other than the baseline that have both ratios."""
    verdicts = figures.verdicts(result.main)
    return [
        StudyRow(name, claimed[name], measured[name], verdicts[name].low, verdicts[name].high)
        for name in figures.contenders(result)
        if name in claimed and name in measured and name in verdicts and claimed[name] > 0 and measured[name] > 0
    ]


def _finding(result: Result, name: str, claimed: float) -> str:
    """Whether the measurement shows the study's effect."""
    verdict = figures.verdicts(result.main).get(name)
    if verdict is None or verdict.ratio is None:
        return "not measured"
    if verdict.verdict == UNDECIDED:
        return "undecided here"
    small = abs(math.log(claimed)) <= math.log1p(result.tournament.margin)
    if verdict.verdict == EQUIVALENT:
        return "no effect in either" if small else "no effect here"
    if small:
        return "an effect only here"
    return "same direction" if (claimed > 1) == (verdict.ratio > 1) else "opposite direction"


def _agreement(result: Result, rows: list[StudyRow]) -> str:
    """How often the measurement shows what the study found, in a sentence."""
    findings = [_finding(result, row.name, row.published) for row in rows]
    counts = {finding: findings.count(finding) for finding in dict.fromkeys(findings)}
    listed = ", ".join(f"{finding} {count}" for finding, count in counts.items())
    return f"Of {numbers.plural(len(rows), 'published ratio')} that can be compared: {listed}."


def _table(result: Result, published: Published, claimed: dict[str, float]) -> Table:
    baseline, unit = result.tournament.baseline, published.unit
    verdicts, means = figures.verdicts(result.main), figures.means(result.main)
    # Between seconds, because studies state that of their monitor's samples.
    sds = figures.second_sds(result) if published.sds else {}
    rows = []
    for name in figures.contenders(result):
        if name not in published.figures:
            continue
        verdict = verdicts.get(name)
        known = verdict is not None and verdict.ratio is not None
        if name in published.excluded:
            finding = "left out"
        elif name == baseline:
            finding = "baseline"
        else:
            finding = _finding(result, name, claimed[name]) if name in claimed else numbers.NOTHING
        rows.append(
            (
                name,
                numbers.figure(published.figures[name]),
                *((numbers.figure(published.sds.get(name)),) if published.sds else ()),
                numbers.ratio(claimed.get(name)),
                numbers.figure(means.get(name)),
                *((numbers.figure(sds.get(name)),) if published.sds else ()),
                numbers.ratio(1.0 if name == baseline else verdict.ratio if verdict else None),
                numbers.interval(verdict.low, verdict.high) if verdict and known else numbers.NOTHING,
                finding,
            )
        )
    measured = figures.label(result.main.metric)
    headers = (
        "contender",
        f"published, {unit}",
        *(("published sd",) if published.sds else ()),
        "published ratio",
        f"measured, {measured}",
        *(("measured sd between seconds",) if published.sds else ()),
        "measured ratio",
        "interval",
        "finding",
    )
    return Table(
        f"Published and measured, as ratios to {baseline}", headers, tuple(rows), tuple(range(1, len(headers) - 1))
    )


def _plot(result: Result, rows: list[StudyRow], table: Table) -> Plot:
    title = f"Published and measured ratios to {result.tournament.baseline}"
    parts = [
        f"{row.name}: published {numbers.ratio(row.published)}, measured {numbers.ratio(row.measured)} "
        f"(interval {numbers.interval(row.low, row.high)})."
        for row in rows[:LISTED]
    ]
    if len(rows) > LISTED:
        parts = [_agreement(result, rows), *parts, "The table has the others."]
    description = " ".join(parts)
    axis = "ratio to the baseline"
    drawn = side_by_side(rows, axis) if len(rows) <= LISTED else cloud(rows)
    return Plot("published", title, description, drawn, table)
