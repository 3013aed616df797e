"""From the laps of a tournament to its result, by the pure statistics of paddock.statistics."""

from __future__ import annotations

import itertools
import math
import statistics as numbers
from collections.abc import Mapping, Sequence

from paddock.statistics import verdicts as judging
from paddock.statistics.description import describe
from paddock.statistics.starts import Units
from paddock.tournaments.journal import FAILED_RACES, INTERRUPTED, History
from paddock.tournaments.lap_cautions import driver_loads, hides_differences
from paddock.tournaments.laps import laps_of, void_starts
from paddock.tournaments.model import (
    EQUIVALENT,
    FASTER,
    SLOWER,
    UNDECIDED,
    Absolute,
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
    Cut,
    direction,
    figure,
    find_cut,
    measured_blocks,
    sequential_units,
    units,
    unmeasured,
)

_WORDS = {
    judging.Outcome.BETTER: FASTER,
    judging.Outcome.WORSE: SLOWER,
    judging.Outcome.EQUIVALENT: EQUIVALENT,
    judging.Outcome.UNDECIDED: UNDECIDED,
}


def analyse(history: History, tournament: Tournament) -> Result:
    """The result of a tournament, finished or not; the same journal always gives the same result."""
    laps = laps_of(history, tournament)
    stopped = history.stopped or INTERRUPTED
    # Whoever watches a tournament and stops it may have been led by what they saw, as the evidence is that ends one; a
    # race may have failed because of what a contender did. At node level a failed start is a pair less, and no end.
    looked = stopped == INTERRUPTED or bool(history.decided) or (stopped == FAILED_RACES and not tournament.node_level)
    cut = Cut(()) if looked else find_cut(laps, tournament)
    metrics = [metric for metric in METRICS.values() if metric == tournament.metric or _measured(laps, metric)]
    results = {
        metric.name: judge_metric(
            laps, tournament, metric, cut, looked, history.decided if metric == tournament.metric else None
        )
        for metric in metrics
    }
    return Result(
        id=history.header["id"],
        tournament=tournament,
        seed=history.header["seed"],
        began=history.header["at"],
        seconds=history.elapsed,
        main=results.pop(tournament.metric.name),
        others=tuple(results.values()),
        laps=laps,
        notes=all_notes(history, tournament, laps, cut, stopped, looked),
        circumstances=recorded_circumstances(history),
        commands=tuple(attempt.command for attempt in history.attempts),
        efficiency=efficiency(laps),
        stopped=stopped,
        void_starts=tuple(VoidStart(number, reason) for number, reason in void_starts(history, tournament).items()),
    )


def judge_metric(
    laps: Sequence[Lap],
    tournament: Tournament,
    metric: Metric,
    cut: Cut | None = None,
    looked: bool = False,
    until: Mapping[str, int] | None = None,
) -> MetricResult:
    """Verdicts and absolute figures in one metric.

    :param cut: blocks to leave out at the front of each start.
    :param looked: whether the data may have chosen the number of blocks, because the evidence ended the tournament, or
        somebody who saw it: then the e-process gives the verdicts, because the signed-rank test is not valid there.
    :param until: contender -> pairs at which the evidence ended the tournament; None for all of them.
    """
    pairs = sequential_units(laps, tournament, metric) if looked else units(laps, tournament, metric, cut)
    seconds = _seconds_per_unit(laps, tournament, pairs)
    found: Sequence[judging.Verdict]
    if looked:
        found = [
            judging.judge_early(
                name,
                of.differences[: (until or {}).get(name)],
                len(pairs),
                direction(metric),
                tournament.margin,
                ALPHA,
                seconds,
            )
            for name, of in pairs.items()
        ]
    else:
        found = judging.judge(
            {name: of.differences for name, of in pairs.items()},
            direction(metric),
            tournament.margin,
            ALPHA,
            seconds,
        )
    loads, missing = driver_loads(laps), unmeasured(laps, tournament, metric)
    verdicts = []
    for one in found:
        of, two = pairs[one.contender], (one.contender, tournament.baseline)
        hidden = hides_differences(metric, loads, *two)
        verdicts.append(_verdict(one, of, hidden, max(missing.get(name, 0.0) for name in two)))
    return MetricResult(metric, tuple(verdicts), _absolutes(laps, tournament, metric, missing))


def efficiency(laps: Sequence[Lap]) -> float | None:
    """Seconds of load / seconds from the first lap's begin to the last one's end; None with fewer than two laps.

    Warm-up laps are load, void laps are not. Breaks are no part of the time.
    """
    timed = [lap for lap in laps if lap.seconds > 0]
    if len(timed) < 2:
        return None
    wall = max(lap.began + lap.seconds for lap in timed) - min(lap.began for lap in timed)
    return min(1.0, sum(lap.seconds for lap in timed if lap.void is None) / wall) if wall > 0 else None


def _verdict(found: judging.Verdict, pairs: Units, hidden: bool, missing: float) -> Verdict:
    """The verdict as results have it.

    :param hidden: whether the load driver hides differences: then two that look alike are undecided.
    :param missing: share of laps without a figure, of whichever contender has more of them.
    """
    word, decide = _WORDS[found.outcome], _what_would_decide(found, pairs)
    if missing > MOST_UNMEASURED:
        decide = (
            f"{100 * missing:.0f} % of the laps of one of the two have no figure here, and which ones depends on what "
            f"is measured, so the others are no fair sample: longer laps (lap_documents) would have one."
        )
    if hidden and word == EQUIVALENT:
        word, decide = UNDECIDED, "The load driver was the limit, so that alike says little: larger bulks would tell."
    return Verdict(
        contender=found.contender,
        verdict=word,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        confidence=found.confidence,
        pairs=found.n,
        p_value=found.adjusted_p,
        scope=pairs.scope.value,
        decide=decide,
        negligible=word in (FASTER, SLOWER) and judging.mostly_within(found.low, found.high, found.margin),
    )


def _what_would_decide(found: judging.Verdict, pairs: Units) -> str:
    if found.outcome is not judging.Outcome.UNDECIDED:
        return ""
    needed = found.needed
    if needed is None:
        return f"More {pairs.unit}s: one pair alone says nothing about how much they vary."
    goal = "a difference" if needed.goal == "difference" else "that the two are equivalent"
    units = f"{needed.more:,} more {pairs.unit}{'' if needed.more == 1 else 's'}"
    minutes = f", {max(1, math.ceil(needed.seconds / 60)):,} min," if needed.seconds is not None else ""
    return f"About {units}{minutes} would probably show {goal}, if the estimate of now is the truth."


def _absolutes(
    laps: Sequence[Lap], tournament: Tournament, metric: Metric, missing: Mapping[str, float]
) -> tuple[Absolute, ...]:
    rows = []
    for contender in tournament.contenders:
        mine = [figure(lap, metric) for lap in laps if lap.contender == contender.name and not lap.warmup]
        if missing.get(contender.name, 0.0) > MOST_UNMEASURED:
            mine = []
        found = describe(mine)
        rows.append(Absolute(contender.name, found.mean, found.sd, found.median, found.n))
    return tuple(rows)


def _measured(laps: Sequence[Lap], metric: Metric) -> bool:
    return any(figure(lap, metric) is not None for lap in laps if not lap.warmup)


def _seconds_per_unit(laps: Sequence[Lap], tournament: Tournament, pairs: dict[str, Units]) -> float | None:
    """Wall time of a block, or of a start of every contender where starts are the unit; None if unknown."""
    begins: dict[tuple[int, int], float] = {}
    for lap in laps:
        if lap.seconds > 0:
            key = (lap.start, lap.block)
            begins[key] = min(lap.began, begins.get(key, lap.began))
    by_start = tournament.node_level or any(of.unit == "start" for of in pairs.values())
    if by_start:
        first = sorted(min(at for (start, _), at in begins.items() if start == one) for one in {s for s, _ in begins})
        gaps = [later - sooner for sooner, later in itertools.pairwise(first)]
        each = len(tournament.contenders) if tournament.node_level else 1
        return numbers.median(gaps) * each if gaps else None
    blocks = measured_blocks(laps)
    gaps = [
        begins[later] - begins[sooner]
        for sooner, later in itertools.pairwise(blocks)
        if later[0] == sooner[0] and later in begins and sooner in begins
    ]
    return numbers.median(gaps) if gaps else None
