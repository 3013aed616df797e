"""What stands beside a verdict: other figures than speed, and who is beaten by nobody in both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paddock import numbers
from paddock.reports import drawing, figures
from paddock.reports.document import Plot, Section, Table
from paddock.tournaments.model import FASTER, SLOWER, Metric, Result

# From this quotient of largest and smallest on, the axis of prices is logarithmic.
_WIDE_RANGE = 20
_LABELLED = 24  # characters of a name beside its mark


@dataclass(frozen=True)
class Price:
    """What contenders cost in one respect, in the metric's unit.

    :param values: by contender: the mean of its laps, or a quantile where the metric's name says so.
    :param at_least: contenders whose value is only known to be that much or more.
    """

    metric: Metric
    values: Mapping[str, float]
    at_least: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """The metric with its unit."""
        return figures.label(self.metric)

    def text(self, name: str) -> str:
        """What that contender costs."""
        return f"{'over ' if name in self.at_least else ''}{numbers.figure(self.values.get(name))}"


def prices_of(result: Result) -> list[Price]:
    """The metrics beside that of the verdict, and freshness where it was probed."""
    found = []
    for measured in result.others:
        # One lap sees too few markers: freshness is told from all laps together.
        if measured.metric.name.startswith("freshness"):
            continue
        known = {name: value for name, value in figures.means(measured).items() if math.isfinite(value)}
        if known:
            found.append(Price(measured.metric, known))
    probed = figures.freshness(result)
    for percentile in ("p50", "p95", "p99"):
        told = [one for one in probed if one.enough_for(percentile)]
        if told:
            quantiles = {one.contender: getattr(one, percentile) for one in told}
            values = {one.contender: quantiles[one.contender] or one.longest for one in told}
            unseen = frozenset(name for name, quantile in quantiles.items() if quantile is None)
            found.append(Price(Metric(f"acknowledged to searchable, {percentile}", "ms", False), values, unseen))
    return found


def best(price: Price, speeds: Mapping[str, float], higher_speed_is_better: bool) -> tuple[str, ...]:
    """Contenders that no other equals or beats in both and beats in one; in the order of their speed."""
    speed_sign = 1 if higher_speed_is_better else -1
    price_sign = 1 if price.metric.higher_is_better else -1
    points = {
        name: (speed_sign * speeds[name], price_sign * price.values[name]) for name in speeds if name in price.values
    }
    unbeaten = [
        name
        for name, (speed, cost) in points.items()
        if not any(
            other_speed >= speed and other_cost >= cost and (other_speed, other_cost) != (speed, cost)
            for other_speed, other_cost in points.values()
        )
    ]
    return tuple(sorted(unbeaten, key=lambda name: (speeds[name], name)))


def _panel(price: Price, speeds: Mapping[str, float], result: Result, unbeaten: tuple[str, ...]) -> str:
    """Speed to the right, price upwards; filled marks and their line are the contenders that nobody beats.

    An arrow points upwards from a price that is at least so high. Where contenders are too many for marks of their own,
    those at the end of the line and the baseline are named beside theirs.
    """
    names = [name for name in speeds if name in price.values]
    charges = [price.values[name] for name in names]
    lowest, highest = min(charges), max(charges)
    if lowest > 0 and highest / lowest > _WIDE_RANGE:
        up = drawing.logarithmic(lowest / 2, highest * 2.5)
    else:
        spread = (highest - lowest) or abs(highest) * 0.1 or 1.0
        up = drawing.linear(lowest - 0.25 * spread, highest + 0.35 * spread)
    baseline = result.tournament.baseline
    axis = f"ratio of {result.main.metric.name} to {drawing.shortened(baseline, 24)}"
    panel = drawing.Panel(drawing.ratios([speeds[name] for name in names], 0.04), up, 200, price.title, axis)
    panel.upright(1, "one")
    panel.line([(speeds[name], price.values[name]) for name in unbeaten], "muted thin")
    styles = drawing.series(figures.contenders(result), baseline)
    for name in names:
        place, (kind, shape) = (speeds[name], price.values[name]), styles[name]
        kind += "" if name in unbeaten else " hollow"
        panel.mark(*place, shape, kind, f"{name}: {numbers.ratio(speeds[name])}, {price.title} {price.text(name)}")
        if name in price.at_least:
            panel.mark(*place, "more", kind)
        if len(styles) > drawing.SERIES and (name in unbeaten[-2:] or name == baseline):
            panel.label(*place, drawing.shortened(name, _LABELLED))
    return panel.html()


def price_section(result: Result) -> Section | None:
    """Prices beside speed; None if none was measured or there is nobody to compare."""
    speeds, metric = figures.ratios(result), result.main.metric
    prices = [price for price in prices_of(result) if len(set(price.values) & set(speeds)) > 1]
    if not prices:
        return None
    title = f"Prices beside {metric.name}"
    names = [name for name in figures.contenders(result) if name in speeds]
    table = Table(
        f"{title}: of the laps that count, means; of searchability, quantiles over all of them",
        ("contender", f"ratio of {metric.name}", *(price.title for price in prices)),
        tuple((name, numbers.ratio(speeds[name]), *(price.text(name) for price in prices)) for name in names),
        tuple(range(1, len(prices) + 2)),
    )
    unseen = tuple(_unseen(result))
    found = {verdict.verdict for one in (result.main, *result.others) for verdict in one.verdicts}
    if not found & {FASTER, SLOWER}:
        nothing = "No difference was found, neither in speed nor in price."
        return Section("Price beside speed", (nothing,), tables=(table,), items=unseen)
    drawn, parts = [], []
    for price in prices:
        unbeaten = best(price, speeds, metric.higher_is_better)
        drawn.append(_panel(price, speeds, result, unbeaten))
        parts.append(
            f"{price.title} ({figures.better(price.metric)} is better): "
            f"{', '.join(f'{name} {price.text(name)}' for name in unbeaten)} {'is' if len(unbeaten) == 1 else 'are'} "
            f"beaten by no other contender."
        )
    text = (
        "Filled marks on the line: no other contender is at least as good in both and better in one. "
        "The means carry noise: look at the verdicts before trusting a small step."
    )
    styles = drawing.series(figures.contenders(result), result.tournament.baseline)
    entries = drawing.series_legend(styles, result.tournament.baseline)
    entries.append(("beaten by another", "circle", "muted hollow"))
    if any(price.at_least for price in prices):
        entries.append(("at least", "more", "muted"))
    plot = Plot("prices", title, " ".join(parts), drawing.panels(drawn, drawing.legend(entries)), table, text)
    return Section("Price beside speed", plots=(plot,), items=unseen)


def _unseen(result: Result) -> Iterator[str]:
    """Contenders whose laps are too short to see how late their documents become searchable."""
    for fresh in figures.freshness(result):
        if fresh.p50 is None:
            yield (
                f"{fresh.contender}: {numbers.plural(fresh.markers, 'document')} were watched for up to "
                f"{fresh.longest / 1000:.1f} s, the length of a lap, and {fresh.found or 'none'} of them became "
                f"searchable meanwhile: the median is longer, and it takes longer laps to see it."
            )
