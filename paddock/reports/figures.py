"""The figures that tables and plots are made of, picked out of a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Any

from paddock.tournaments.freshness import Freshness, pooled_freshness
from paddock.tournaments.model import Absolute, Contender, Lap, Metric, MetricResult, Result, Verdict
from paddock.tournaments.pairing import figure, units

FRESHNESS = "acknowledged to searchable"


@dataclass(frozen=True)
class Price:
    """What contenders cost in one respect, in the metric's unit.

    :param values: by contender: the mean of its laps, or a quantile where the metric's name says so.
    :param at_least: contenders whose value is only known to be that much or more.
    """

    metric: Metric
    values: Mapping[str, float]
    at_least: frozenset[str] = frozenset()


def contenders(result: Result) -> tuple[str, ...]:
    """Names of the contenders in the order of the tournament file, the baseline included."""
    return tuple(contender.name for contender in result.tournament.contenders)


def verdicts(measured: MetricResult) -> dict[str, Verdict]:
    """The verdicts by contender."""
    return {verdict.contender: verdict for verdict in measured.verdicts}


def absolutes(measured: MetricResult) -> dict[str, Absolute]:
    """The absolute values by contender; only those with a lap."""
    return {absolute.contender: absolute for absolute in measured.absolutes if absolute.laps}


def means(measured: MetricResult) -> dict[str, float]:
    """The mean of each contender's laps, where there are any."""
    return {name: absolute.mean for name, absolute in absolutes(measured).items() if absolute.mean is not None}


def counting_laps(result: Result, contender: str | None = None) -> list[Lap]:
    """Laps that count: neither warm-up nor void."""
    return [lap for lap in result.laps if not lap.warmup and lap.void is None and contender in (None, lap.contender)]


def void_laps(result: Result) -> list[Lap]:
    """Laps that do not count, warm-up ones included, in the order of their running."""
    return [lap for lap in result.laps if lap.void is not None]


def void_starts(result: Result) -> dict[int, str]:
    """Starts of which no measured lap counts, with the reason of their first void lap."""
    reasons: dict[int, str] = {}
    counted = {lap.start for lap in counting_laps(result)}
    for lap in result.laps:
        if lap.void is not None and lap.start not in counted:
            reasons.setdefault(lap.start, lap.void)
    return reasons


def ratios(result: Result) -> dict[str, float]:
    """Ratios to the baseline in the metric of the verdict, the baseline's own 1 included; only known ones."""
    known = {name: verdict.ratio for name, verdict in verdicts(result.main).items() if verdict.ratio is not None}
    return {result.tournament.baseline: 1.0, **known}


def pairs(result: Result) -> dict[str, list[tuple[str, float]]]:
    """The ratios of all pairs whose laps count, contender by contender, in the order of their running.

    :returns: contender -> where the pair was run, and its ratio to the baseline in the metric of the verdict; only
        contenders that have pairs.
    """
    tournament, metric = result.tournament, result.main.metric
    if tournament.node_level:
        found = units(result.laps, tournament, metric)
        return {
            name: [(f"starts {number}", math.exp(one)) for number, one in enumerate(own.differences, 1)]
            for name, own in found.items()
            if own.differences
        }
    values = {
        (lap.start, lap.block, lap.contender): value
        for lap in counting_laps(result)
        if (value := figure(lap, metric)) is not None
    }
    ratios_of: dict[str, list[tuple[str, float]]] = {}
    for (start, block, name), value in values.items():
        base = values.get((start, block, tournament.baseline))
        if name != tournament.baseline and base is not None:
            where = f"block {block}" if tournament.starts == 1 else f"start {start}, block {block}"
            ratios_of.setdefault(name, []).append((where, value / base))
    return {name: ratios_of[name] for name in contenders(result) if name in ratios_of}


def freshness(result: Result) -> tuple[Freshness, ...]:
    """From acknowledged to searchable, for each contender whose laps were probed."""
    return pooled_freshness(result.laps, contenders(result))


def prices(result: Result) -> list[Price]:
    """The metrics beside that of the verdict, and freshness where it was probed."""
    found = []
    for measured in result.others:
        # One lap sees too few markers: freshness is told from all laps together.
        if measured.metric.name.startswith("freshness"):
            continue
        known = {name: value for name, value in means(measured).items() if math.isfinite(value)}
        if known:
            found.append(Price(measured.metric, known))
    probed = freshness(result)
    for percentile in ("p50", "p99") if probed else ():
        told = [one for one in probed if percentile == "p50" or one.enough_for_p99]
        quantiles: dict[str, float | None] = {one.contender: getattr(one, percentile) for one in told}
        if told:
            found.append(
                Price(
                    Metric(f"{FRESHNESS}, {percentile}", "ms", False),
                    {one.contender: quantiles[one.contender] or one.longest for one in told},
                    frozenset(name for name, quantile in quantiles.items() if quantile is None),
                )
            )
    return found


def label(metric: Metric) -> str:
    """The metric's name with its unit, unless the name holds it already."""
    return metric.name if not metric.unit or metric.unit in metric.name else f"{metric.name} ({metric.unit})"


def whole_seconds(lap: Lap) -> tuple[float, ...]:
    """The one-second rates of a lap without its last second, because the lap ends somewhere inside it."""
    return tuple(lap.rates[:-1]) or tuple(lap.rates)


def second_spread(laps: Sequence[Lap]) -> float | None:
    """Standard deviation of the one-second rates inside the laps, in docs/s; None for fewer than two seconds."""
    seconds = [rate for lap in laps for rate in whole_seconds(lap)]
    return stdev(seconds) if len(seconds) > 1 else None


def second_sds(result: Result) -> dict[str, float]:
    """Standard deviation of the whole seconds inside the laps that count, in docs/s, by contender.

    A contender whose laps are too short to hold two whole seconds has none.
    """
    found = {}
    for name in contenders(result):
        # A lap ends somewhere inside its last second.
        seconds = [rate for lap in counting_laps(result, name) for rate in lap.rates[:-1]]
        if len(seconds) > 1:
            found[name] = stdev(seconds)
    return found


@dataclass(frozen=True)
class Grid:
    """Contenders in two dimensions.

    :param across, down: the factors; ``across`` has at least as many values.
    :param cells: (value across, value down) -> name of the contender.
    :param others: what the other factors are in this grid, as text; empty if there are none.
    """

    across: str
    down: str
    columns: tuple[Any, ...]
    rows: tuple[Any, ...]
    cells: Mapping[tuple[Any, Any], str]
    others: str = ""


def grids(result: Result) -> list[Grid]:
    """The grids among the contenders, one for each combination of further factors; none without two factors."""
    placed = [contender for contender in result.tournament.contenders if len(contender.coordinates) > 1]
    if not placed:
        return []
    names = sorted({factor for contender in placed for factor in contender.coordinates})
    placed = [contender for contender in placed if set(contender.coordinates) == set(names)]
    values = {name: _in_order([contender.coordinates[name] for contender in placed]) for name in names}
    across, down, *further = sorted(names, key=lambda name: (-len(values[name]), name))
    if len(values.get(down, ())) < 2:
        return []
    groups: dict[str, list[Contender]] = {}
    for contender in placed:
        others = ", ".join(f"{name} {contender.coordinates[name]}" for name in further)
        groups.setdefault(others, []).append(contender)
    return [
        Grid(
            across,
            down,
            values[across],
            values[down],
            {(_key(one.coordinates[across]), _key(one.coordinates[down])): one.name for one in group},
            others,
        )
        for others, group in groups.items()
    ]


def cell(grid: Grid, column: Any, row: Any) -> str | None:
    """The contender in that cell; None if it was not run."""
    return grid.cells.get((_key(column), _key(row)))


def _key(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool)) else repr(value)


def _in_order(values: Sequence[Any]) -> tuple[Any, ...]:
    """Each value once: numbers by size, others as they come."""
    once = list({_key(value): value for value in values}.values())
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in once)
    return tuple(sorted(once)) if numeric else tuple(once)
