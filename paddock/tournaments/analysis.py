"""From the laps of a tournament to its result, finished or not, by the pure statistics of paddock.statistics."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from paddock import numbers
from paddock.costs import ContenderCost, Prices
from paddock.plain_values import built
from paddock.race.headroom import Headroom
from paddock.statistics import verdicts as judging
from paddock.statistics.series import FrontCut
from paddock.statistics.starts import Units
from paddock.tournaments.cautions import driver_loads, hides_differences, median_rates
from paddock.tournaments.costs import contender_costs, cost_metric, priced
from paddock.tournaments.headroom import recorded_headroom, shares, undisturbed
from paddock.tournaments.laps import laps_of
from paddock.tournaments.model import (
    EQUIVALENT,
    FASTER,
    SLOWER,
    UNDECIDED,
    Lap,
    Metric,
    MetricResult,
    Result,
    Tournament,
    Verdict,
    VoidStart,
)
from paddock.tournaments.notes import all_notes, recorded_circumstances
from paddock.tournaments.pairing import (
    ALPHA,
    METRICS,
    MOST_UNMEASURED,
    Paired,
    absolute,
    counting,
    figure,
    find_cut,
    measured_blocks,
    paired,
    spreads,
)
from paddock.tournaments.store import FAILED_RACES, INTERRUPTED, History

# Minutes from which on a time is told in hours or days.
_LONG = 120

# So many contenders have their variances told in a note; all stand in the result.
_SPREADS_TOLD = 4


def analyse(history: History, tournament: Tournament, prices: Prices | None = None) -> Result:
    """The result of a tournament, finished or not; the same journal always gives the same result.

    :param prices: what money is reckoned with, in the place of what the tournament was begun with.
    """
    laps = laps_of(history.attempts, tournament)
    if prices is None and history.header.get("prices"):
        prices = built(Prices, history.header["prices"], "prices")
    if prices is not None:
        laps = priced(laps, prices)
    stopped = history.stopped or INTERRUPTED
    # Whoever watches a tournament and stops it may have been led by what they saw, as the evidence is that ends one; a
    # race may have failed because of what a contender did. At node level a failed start is a pair less, and no end.
    looked = stopped == INTERRUPTED or bool(history.decided) or (stopped == FAILED_RACES and not tournament.node_level)
    cut = () if looked else find_cut(laps, tournament, history.dropped)
    headroom = recorded_headroom(history.header)
    counted = counting(laps)
    results: dict[str, MetricResult] = {}
    for metric in (*METRICS.values(), *([cost_metric(prices)] if prices is not None else [])):
        if metric == tournament.metric or any(figure(lap, metric) is not None for lap in counted):
            pairs = paired(laps, tournament, metric, looked, cut, early=history.dropped)
            until = {**history.dropped, **history.decided} if metric == tournament.metric else {}
            measured = measure(laps, tournament, metric, pairs, looked, until, headroom)
            control = _control(laps, tournament, metric, looked, cut, headroom)
            results[metric.name] = replace(measured, control=control)
            if metric == tournament.metric:
                reach = pairs.units
    main = results.pop(tournament.metric.name)
    return Result(
        id=history.header["id"],
        tournament=tournament,
        seed=history.header["seed"],
        began=history.header["at"],
        seconds=history.elapsed,
        main=main,
        others=tuple(results.values()),
        laps=laps,
        notes=(*_control_notes(main), *_spread_notes(main), *all_notes(history, tournament, laps, reach, cut, stopped)),
        circumstances=recorded_circumstances(history),
        commands=tuple(dict.fromkeys(attempt.command for attempt in history.attempts)),
        efficiency=efficiency(laps),
        stopped=stopped,
        void_starts=tuple(VoidStart(number, reason) for number, reason in history.void_starts(tournament).items()),
        headroom=headroom,
        prices=prices,
        costs=() if prices is None else _costs(laps, tournament, results, prices),
    )


def _costs(
    laps: Sequence[Lap], tournament: Tournament, results: Mapping[str, MetricResult], prices: Prices
) -> tuple[ContenderCost, ...]:
    measured = results.get(cost_metric(prices).name)
    return () if measured is None else contender_costs(laps, tournament, measured, prices)


def _control(
    laps: Sequence[Lap],
    tournament: Tournament,
    metric: Metric,
    looked: bool,
    cut: Sequence[FrontCut],
    headroom: Mapping[str, Headroom],
) -> Verdict | None:
    """The verdict on the control alone: it is no contender, so it takes nothing of their level."""
    if tournament.control is None:
        return None
    pairs = paired(laps, tournament, metric, looked, cut, [tournament.control.name])
    return judge(laps, tournament, metric, pairs, looked, headroom=headroom)[0]


def _control_notes(main: MetricResult) -> Iterator[str]:
    """What to make of a control that differs from its twin."""
    if main.control is not None and main.control.verdict in (FASTER, SLOWER):
        found = numbers.interval(main.control.low, main.control.high)
        yield (
            f"The control, a twin of the baseline, differs from it ({found} of it in {main.metric.name}), which "
            f"happens by chance once in twenty times: else something beside the settings makes a difference here, and "
            f"differences of that size mean nothing. Hold it again."
        )


def _spread_notes(main: MetricResult) -> Iterator[str]:
    """What more starts would have to overcome; of a result with several."""
    known = [(one.contender, one.block_sd, one.start_sd) for one in main.verdicts if one.start_sd is not None]
    if known:
        listed = ", ".join(f"'{name}' {block:.3f} and {start:.3f}" for name, block, start in known[:_SPREADS_TOLD])
        more = f", and {len(known) - _SPREADS_TOLD} more" if len(known) > _SPREADS_TOLD else ""
        yield f"Log ratios vary from block to block, and beyond that from start to start, by (sd): {listed}{more}."


def measure(
    laps: Sequence[Lap],
    tournament: Tournament,
    metric: Metric,
    pairs: Paired,
    looked: bool = False,
    until: Mapping[str, int] | None = None,
    headroom: Mapping[str, Headroom] | None = None,
) -> MetricResult:
    """Verdicts and absolute figures in one metric; parameters as in ``judge``."""
    absolutes = []
    for name in (contender.name for contender in tournament.contenders):
        found = [value for lap in counting(laps, name) if (value := figure(lap, metric)) is not None]
        absolutes.append(absolute(name, [] if pairs.unmeasured.get(name, 0.0) > MOST_UNMEASURED else found))
    return MetricResult(metric, judge(laps, tournament, metric, pairs, looked, until, headroom), tuple(absolutes))


def current_standing(
    laps: Sequence[Lap],
    tournament: Tournament,
    dropped: Mapping[str, int] | None = None,
    headroom: Mapping[str, Headroom] | None = None,
) -> tuple[Verdict, ...]:
    """Where a running tournament stands: by the e-process, which is valid at every look.

    :param dropped: contender -> pairs at which it was decided; its verdict stays.
    """
    pairs = paired(laps, tournament, tournament.metric, True, early=dropped or ())
    return judge(laps, tournament, tournament.metric, pairs, True, dropped, headroom)


def is_decided(standing: Sequence[Verdict], tournament: Tournament) -> bool:
    """Whether nothing is left to find out: a tournament that may stop early does so now."""
    return tournament.stop_early and bool(standing) and all(one.verdict != UNDECIDED for one in standing)


def to_be_dropped(standing: Sequence[Verdict], tournament: Tournament, dropped: Collection[str]) -> list[Verdict]:
    """Those for whom nothing is left to find out while others go on, and who still have laps."""
    decided = [one for one in standing if one.verdict != UNDECIDED and one.contender not in dropped]
    return decided if tournament.drops else []


def judge(
    laps: Sequence[Lap],
    tournament: Tournament,
    metric: Metric,
    pairs: Paired,
    looked: bool = False,
    until: Mapping[str, int] | None = None,
    headroom: Mapping[str, Headroom] | None = None,
) -> tuple[Verdict, ...]:
    """The verdicts in one metric.

    :param pairs: of ``paired``, with the same ``looked``.
    :param looked: whether the data may have chosen the number of blocks, because the evidence ended the tournament, or
        somebody who saw it: then the e-process gives the verdicts, because the signed-rank test is not valid there.
    :param until: contender -> pairs at which the evidence ended the tournament, or its laps; all of those that it does
        not name.
    :param headroom: contender -> what the load driver alone pushes of its load, where that is known.
    """
    differences = {name: of.differences[: (until or {}).get(name)] for name, of in pairs.units.items()}
    how = metric.higher_is_better, tournament.margin, ALPHA
    if looked:
        found = [judging.judge_early(name, values, len(differences), *how) for name, values in differences.items()]
    else:
        found = list(judging.judge(differences, *how, pairs.early))
    seconds, loads = _seconds_per_unit(laps, tournament, pairs.units), driver_loads(laps)
    reached = shares(undisturbed(headroom or {}), median_rates(laps))
    varying = spreads(laps, tournament, metric, differences)
    verdicts = []
    for one in found:
        of, two = pairs.units[one.contender], (one.contender, tournament.baseline)
        word, decide = one.outcome.value, ""
        if word == UNDECIDED:
            level = ALPHA / len(differences)
            needed = judging.what_would_decide(differences[one.contender], tournament.margin, one.level, level)
            decide = _what_would_decide(needed, of, seconds)
        missing = max(pairs.unmeasured.get(name, 0.0) for name in two)
        if missing > MOST_UNMEASURED:
            decide = (
                f"{100 * missing:.0f} % of the laps of one of the two have no figure here, and which ones depends on "
                f"what is measured, so the others are no fair sample: longer laps (lap_documents) would have one."
            )
        if word == EQUIVALENT and hides_differences(metric, loads, reached, two):
            word = UNDECIDED
            decide = "The load driver was the limit, so that alike says little: larger bulks would tell."
        verdicts.append(
            Verdict(
                contender=one.contender,
                verdict=word,
                ratio=one.ratio,
                low=one.low,
                high=one.high,
                confidence=one.confidence,
                pairs=one.n,
                p_value=one.adjusted_p,
                scope=of.scope.value,
                unit=of.unit,
                decide=decide,
                block_sd=varying[one.contender].block if varying else None,
                start_sd=varying[one.contender].start if varying else None,
                negligible=word in (FASTER, SLOWER) and judging.mostly_within(one.low, one.high, tournament.margin),
                dropped=one.contender in pairs.early,
            )
        )
    return tuple(verdicts)


def _what_would_decide(needed: judging.Needed | None, pairs: Units, seconds_per_unit: float | None) -> str:
    if needed is None:
        return f"More {pairs.unit}s: one pair alone says nothing about how much they vary."
    goal = "a difference" if needed.goal == "difference" else "that the two are equivalent"
    units = f"{needed.more:,} more {pairs.unit}{'' if needed.more == 1 else 's'}"
    time = ""
    if seconds_per_unit is not None:
        minutes = math.ceil(needed.more * seconds_per_unit / 60)
        time = f", {max(minutes, 1)} min," if minutes < _LONG else f", {numbers.duration(60.0 * minutes)},"
    return f"About {units}{time} would probably show {goal}, if the estimate of now is the truth."


def efficiency(laps: Sequence[Lap]) -> float | None:
    """Seconds of load / seconds from the first lap's begin to the last one's end; None with fewer than two laps.

    Warm-up laps are load, void laps are not. Breaks are no part of the time.
    """
    timed = [lap for lap in laps if lap.seconds > 0]
    if len(timed) < 2:
        return None
    wall = max(lap.began + lap.seconds for lap in timed) - min(lap.began for lap in timed)
    return min(1.0, sum(lap.seconds for lap in timed if lap.void is None) / wall) if wall > 0 else None


def _seconds_per_unit(laps: Sequence[Lap], tournament: Tournament, pairs: Mapping[str, Units]) -> float | None:
    """Wall time of a block, or of a start of every contender where starts are the unit; None if unknown."""
    begins: dict[tuple[int, int], float] = {}
    ran: Counter[tuple[int, int]] = Counter()
    for lap in laps:
        if lap.seconds > 0:
            key = (lap.start, lap.block)
            begins[key] = min(lap.began, begins.get(key, lap.began))
            ran[key] += 1
    if tournament.node_level or any(of.unit == "start" for of in pairs.values()):
        first = sorted(min(at for (start, _), at in begins.items() if start == one) for one in {s for s, _ in begins})
        gaps = [later - sooner for sooner, later in itertools.pairwise(first)]
        each = len(tournament.contenders) if tournament.node_level else 1
        return statistics.median(gaps) * each if gaps else None
    blocks = [
        (ran[sooner], begins[later] - begins[sooner])
        for sooner, later in itertools.pairwise(measured_blocks(laps))
        if later[0] == sooner[0] and later in begins and sooner in begins
    ]
    # Where contenders were dropped, further blocks are as short as the latest ones.
    return statistics.median(gap for number, gap in blocks if number == blocks[-1][0]) if blocks else None
