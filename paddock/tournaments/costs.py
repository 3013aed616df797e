"""What contenders cost in money: a figure of each lap, judged as any other, and what it comes to in a month."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from paddock.costs import ContenderCost, Cost, Prices, Usage, cost_of
from paddock.tournaments.model import Lap, Metric, MetricResult, Result, Tournament
from paddock.tournaments.pairing import absolute, counting


def cost_metric(prices: Prices) -> Metric:
    """The cost of a million documents."""
    return Metric(f"cost {prices.currency}/M docs", prices.currency, False)


def is_cost(metric: Metric) -> bool:
    """Whether it is the cost, in whatever currency."""
    return metric.name.startswith("cost ")


def lap_cost(lap: Lap, prices: Prices) -> Cost | None:
    """What a million documents cost as in that lap; None if something that has a price was not measured."""
    memory = lap.prices.get("node memory MiB")
    used = Usage(
        lap.prices.get("node CPU s/M docs"), lap.prices.get("bytes/doc"), None if memory is None else memory * 2**20
    )
    return cost_of(used, prices)


def priced(laps: Sequence[Lap], prices: Prices) -> tuple[Lap, ...]:
    """The laps with their cost among their figures; those without one where it cannot be told."""
    name, found = cost_metric(prices).name, []
    for lap in laps:
        cost = lap_cost(lap, prices)
        found.append(lap if cost is None else replace(lap, prices={**lap.prices, name: cost.total}))
    return tuple(found)


def contender_costs(
    laps: Sequence[Lap], tournament: Tournament, measured: MetricResult, prices: Prices
) -> tuple[ContenderCost, ...]:
    """The costs of all contenders that have any.

    :param measured: the verdicts in the cost.
    """
    found = []
    for contender in tournament.contenders:
        known = [cost for lap in counting(laps, contender.name) if (cost := lap_cost(lap, prices)) is not None]
        if known:
            parts = {part: statistics.fmean(cost.parts[part] for cost in known) for part in prices.priced}
            million = Cost(parts)
            found.append(ContenderCost(contender.name, million, million.of_month(prices), len(known)))
    baseline = next((one.million.total for one in found if one.contender == tournament.baseline), None)
    if baseline is None:
        return tuple(found)
    saved = {}
    for verdict in measured.verdicts:
        if verdict.ratio is not None:
            ends = (verdict.ratio, verdict.high, verdict.low)
            saved[verdict.contender] = tuple(baseline * (1 - ratio) for ratio in ends)
    return tuple(
        replace(
            one, saved=saved[one.contender][0], saved_low=saved[one.contender][1], saved_high=saved[one.contender][2]
        )
        if one.contender in saved
        else one
        for one in found
    )


def with_costs(result: Result, prices: Prices) -> Result:
    """The result with the absolute costs of its contenders, as far as a result alone tells them: without verdicts."""
    metric = cost_metric(prices)
    absolutes = []
    for contender in result.tournament.contenders:
        known = [cost.total for lap in counting(result.laps, contender.name) if (cost := lap_cost(lap, prices))]
        absolutes.append(absolute(contender.name, known))
    measured = MetricResult(metric, (), tuple(absolutes))
    others = tuple(one for one in result.others if not is_cost(one.metric))
    costs = contender_costs(result.laps, result.tournament, measured, prices)
    return replace(result, others=(*others, measured), prices=prices, costs=costs)
