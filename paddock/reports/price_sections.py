"""The part of a report that sets prices beside speed."""

from __future__ import annotations

from collections.abc import Iterator

from paddock.reports import figures, numbers
from paddock.reports.document import Plot, Section, Table
from paddock.reports.plots.drawing import shortened
from paddock.reports.plots.prices import Trade, best, pareto
from paddock.tournaments.model import FASTER, SLOWER, Result


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
