"""The figures that tables and plots are made of, picked out of a result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import stdev
from typing import Any

from paddock.plain_values import built, plain
from paddock.tournaments import pairing
from paddock.tournaments.model import FASTER, Absolute, Lap, Metric, MetricResult, Result, Tournament, Verdict
from paddock.tournaments.pairing import Freshness, Pair
from paddock.tournaments.published import cell_name


def common_factors(result: Result) -> dict[str, object]:
    """What the cells of a grid have in common: factors with a single value, where others have several."""
    contenders = result.tournament.contenders
    if len(contenders) < 2 or any(one.name != cell_name(one.coordinates) for one in contenders):
        return {}
    first, *others = [one.coordinates for one in contenders]
    return {factor: value for factor, value in first.items() if all(one.get(factor) == value for one in others)}


def without_common_factors(result: Result) -> Result:
    """The same with names of grid cells that tell only what differs; commands and settings stay as they are."""
    common, tournament = common_factors(result), result.tournament
    if not common:
        return result
    names = {
        one.name: cell_name({factor: value for factor, value in one.coordinates.items() if factor not in common})
        for one in tournament.contenders
    }
    whole = re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True)))

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return whole.sub(lambda found: names[found[0]], value)
        if isinstance(value, dict):
            return {renamed(key): renamed(part) for key, part in value.items()}
        return [renamed(part) for part in value] if isinstance(value, list) else value

    told: Result = built(Result, renamed(plain(result)), "result")
    contenders = tuple(
        replace(one, coordinates={factor: value for factor, value in one.coordinates.items() if factor not in common})
        for one in told.tournament.contenders
    )
    return replace(told, tournament=replace(told.tournament, contenders=contenders), commands=result.commands)


def how_long(tournament: Tournament) -> tuple[tuple[str, str], ...]:
    """What a lap is, by names."""
    length = ("documents per lap", f"{tournament.lap_documents:,}")
    if tournament.lap_seconds is not None:
        length = ("seconds per lap", f"{tournament.lap_seconds:g}")
    return (
        (length, ("indices", "one for each contender, which grows through a start"))
        if tournament.growing
        else (length,)
    )


def contenders(result: Result) -> tuple[str, ...]:
    """Names of the contenders in the order of the tournament file, the baseline included."""
    return tuple(contender.name for contender in result.tournament.contenders)


def winner(result: Result) -> Verdict | None:
    """The verdict on the contender that is the best of those better than the baseline; None if none is."""
    known = [(one.ratio, one) for one in result.main.verdicts if one.verdict == FASTER and one.ratio]
    choose = max if result.main.metric.higher_is_better else min
    return choose(known, key=lambda one: one[0])[1] if known else None


def absolutes(measured: MetricResult) -> dict[str, Absolute]:
    """The absolute values by contender; only those with a lap."""
    return {absolute.contender: absolute for absolute in measured.absolutes if absolute.laps}


def means(measured: MetricResult) -> dict[str, float]:
    """The mean of each contender's laps, where there are any."""
    return {name: absolute.mean for name, absolute in absolutes(measured).items() if absolute.mean is not None}


def counting_laps(result: Result, contender: str | None = None) -> list[Lap]:
    """Laps that count, of that contender or of all: neither warm-up nor void."""
    return pairing.counting(result.laps, contender)


def void_laps(result: Result) -> list[Lap]:
    """Laps that do not count, warm-up ones included, in the order of their running."""
    return [lap for lap in result.laps if lap.void is not None]


def unit(result: Result) -> str:
    """What the verdicts count, "block" or "start": with enough starts these, whether or not contenders share them."""
    return (
        "start" if result.tournament.node_level or any(one.unit == "start" for one in result.main.verdicts) else "block"
    )


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
    known = {one.contender: one.ratio for one in result.main.verdicts if one.ratio is not None}
    return {result.tournament.baseline: 1.0, **known}


def pairs(result: Result) -> dict[str, list[Pair]]:
    """All pairs whose laps count, by contender, in the metric of the verdict; only contenders that have any."""
    return pairing.pairs(result.laps, result.tournament, result.main.metric)


def freshness(result: Result) -> tuple[Freshness, ...]:
    """From acknowledged to searchable, for each contender whose laps were probed."""
    return pairing.pooled_freshness(result.laps, contenders(result))


def label(metric: Metric) -> str:
    """The metric's name with its unit, unless the name holds it already."""
    return metric.name if not metric.unit or metric.unit in metric.name else f"{metric.name} ({metric.unit})"


def better(metric: Metric) -> str:
    """Whether more or less of it is better."""
    return "more" if metric.higher_is_better else "less"


def whole_seconds(lap: Lap) -> tuple[float, ...]:
    """The one-second rates of a lap without its last second, because the lap ends somewhere inside it."""
    return tuple(lap.rates[:-1]) or tuple(lap.rates)


def second_spread(laps: Sequence[Lap]) -> float | None:
    """Standard deviation of the one-second rates inside the laps, in docs/s; None for fewer than two seconds."""
    seconds = [rate for lap in laps for rate in whole_seconds(lap)]
    return stdev(seconds) if len(seconds) > 1 else None


def second_sds(result: Result, warm_up: bool = False) -> dict[str, float]:
    """Standard deviation of the whole seconds inside the laps that count, in docs/s, by contender.

    A contender whose laps are too short to hold two whole seconds has none.

    :param warm_up: whether those of the warm-up count, too.
    """
    laps = laps_with_warm_up(result) if warm_up else counting_laps(result)
    longer = {
        name: [lap for lap in laps if lap.contender == name and len(lap.rates) > 1] for name in contenders(result)
    }
    return {name: sd for name, own in longer.items() if (sd := second_spread(own)) is not None}


def laps_with_warm_up(result: Result) -> list[Lap]:
    """Laps that count and those of the warm-up, void ones left out."""
    return [lap for lap in result.laps if lap.void is None]
