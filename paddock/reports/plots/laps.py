"""Laps: in the order of their running above what else the machine did, second by second inside, and pair by pair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import median

from paddock import numbers
from paddock.reports.figures import whole_seconds
from paddock.reports.plots.drawing import (
    Panel,
    Scale,
    counted,
    ink,
    legend,
    linear,
    panels,
    ratios,
    shape,
    shortened,
    stacked,
)
from paddock.tournaments.lap_cautions import disturbed_laps
from paddock.tournaments.model import Lap

# More contenders than there are colours cannot be told apart: then only the baseline keeps its own.
COLOURED = 8
PANELS = 12
# Percent that a strip of disturbances shows at least: a quiet machine is to look quiet.
_STRIP_TOP = 20.0


def in_order(laps: Sequence[Lap], names: Sequence[str], baseline: str) -> str:
    """One panel per start: each lap a mark at its minute; warm-up shaded, void laps crossed out.

    Where the journal tells, a strip below says what else the machine did during each lap.
    """
    starts = sorted({lap.start for lap in laps})[:PANELS]
    watched = [lap for lap in laps if lap.disturbance is not None]
    rates = linear(0, max((lap.docs_per_second for lap in laps), default=1.0) * 1.08 or 1.0)
    highest = max([_STRIP_TOP, *(sum(_parts(lap)) for lap in watched), *(_waiting(lap) or 0.0 for lap in watched)])
    found = []
    for number, start in enumerate(starts):
        own = [lap for lap in laps if lap.start == start]
        first = min(lap.began for lap in own)
        minutes = linear(0, max((lap.began - first + lap.seconds) / 60 for lap in own) * 1.02 or 1, 5)
        title = f"start {start}" if len(starts) > 1 else ""
        title += "" if number else f"{', ' if title else ''}docs/s"
        below = "minutes since the start's first lap"
        panel = Panel(minutes, rates, 190 if len(starts) == 1 else 130, title, "" if watched else below, not watched)
        _draw_laps(panel, own, names, baseline)
        if watched:
            strip = Panel(
                minutes, Scale(0, highest * 1.35, (0, _round(highest)), "{:.0f}".format), 40, "disturbance, %", below
            )
            _draw_disturbance(strip, own, disturbed_laps(laps), highest * 1.2)
            found.append(stacked(panel, strip))
        else:
            found.append(panel.html())
    return panels(found, _legend(names, baseline, bool(watched)), 300 if len(starts) == 1 else 360)


def _draw_laps(panel: Panel, laps: Sequence[Lap], names: Sequence[str], baseline: str) -> None:
    first = min(lap.began for lap in laps)
    minutes = [((lap.began - first) / 60, lap.seconds / 60) for lap in laps]
    # A start that was cut off warms up again when it goes on.
    together = zip(minutes, laps, strict=True)
    for warm, run in itertools.groupby(together, key=lambda one: one[1].warmup):
        if warm:
            times = [time for time, _ in run]
            panel.band(times[0][0], times[-1][0] + times[-1][1])
    for (begin, length), lap in zip(minutes, laps, strict=True):
        kind, mark = _style(lap.contender, names, baseline)
        rate = numbers.figure(lap.docs_per_second)
        hover = f"{lap.contender}, start {lap.start}, block {lap.block}: {rate} docs/s in {lap.seconds:.1f} s"
        if lap.void is not None:
            mark, kind, hover = "cross", "ink", f"{hover}; void: {lap.void}"
        elif lap.warmup:
            kind, hover = f"{kind} hollow", f"{hover}; warm-up"
        panel.mark(begin + length / 2, lap.docs_per_second, mark, kind, hover)


def _draw_disturbance(panel: Panel, laps: Sequence[Lap], far: Sequence[object], height: float) -> None:
    """Percent of the cores that others had during each lap, and of the time that somebody waited for disk or memory."""
    first = min(lap.began for lap in laps)
    outside = [getattr(one, "lap", None) for one in far]
    for lap in laps:
        if lap.disturbance is None:
            continue
        begin, end = (lap.began - first) / 60, (lap.began - first + lap.seconds) / 60
        others, steal = _parts(lap)
        told = f"block {lap.block}, {lap.contender}: others {others:.0f} % of the cores, steal {steal:.0f} %"
        panel.bar(begin, end, 0, others, "muted", told)
        panel.bar(begin, end, others, others + steal, "ink", told)
        if (waiting := _waiting(lap)) is not None:
            panel.line([(begin, waiting), (end, waiting)], "ink thin")
        if lap in outside:
            panel.mark((begin + end) / 2, height, "down", "ink small", f"{told}; far outside")


def _parts(lap: Lap) -> tuple[float, float]:
    """Percent of all cores of the machine that other processes had, and that other machines had."""
    one = lap.disturbance
    return (100 * one.others / one.cores, 100 * one.steal) if one else (0.0, 0.0)


def _waiting(lap: Lap) -> float | None:
    """Percent of the time in which somebody waited for a disk or for memory; None where the kernel does not tell."""
    one = lap.disturbance
    known = [value for value in (one.io_pressure, one.memory_pressure) if value is not None] if one else []
    return 100 * max(known) if known else None


def _round(value: float) -> float:
    step = 10.0 ** math.floor(math.log10(value))
    return math.floor(value / step) * step


def _style(name: str, names: Sequence[str], baseline: str) -> tuple[str, str]:
    if len(names) > COLOURED:
        return (ink(0), "diamond") if name == baseline else ("muted", "circle")
    position = list(names).index(name) if name in names else 0
    return ink(position), shape(position)


def _legend(names: Sequence[str], baseline: str, watched: bool) -> str:
    if len(names) > COLOURED:
        known = [(baseline, "diamond", ink(0)), ("all others", "circle", "muted")]
    else:
        styles = [_style(name, names, baseline) for name in names]
        known = [(shortened(name, 24), mark, kind) for name, (kind, mark) in zip(names, styles, strict=True)]
    known += [("warm-up", "circle", "muted hollow"), ("void", "cross", "ink")]
    if watched:
        known += [
            ("cores: others", "box", "muted"),
            ("cores: steal", "box", "ink"),
            ("waits: disk, memory", "line", "ink thin"),
            ("far outside", "down", "ink small"),
        ]
    return legend(known)


def inside(laps: Sequence[Lap], names: Sequence[str]) -> str:
    """One panel per contender: a thin line per lap (dashed in warm-up), a thick one for the median lap."""
    rates = linear(0, max((rate for lap in laps for rate in lap.rates), default=1.0) * 1.05 or 1.0, 3)
    longest = max((len(whole_seconds(lap)) for lap in laps), default=1)
    seconds = counted(longest)
    found = []
    for number, name in enumerate(list(names)[:PANELS]):
        title = shortened(name, 30) + ("" if number else ", docs/s")
        panel = Panel(seconds, rates, 110, title, "second of the lap")
        own = [lap for lap in laps if lap.contender == name and lap.rates and lap.void is None]
        for lap in own:
            points = [(float(second), rate) for second, rate in enumerate(whole_seconds(lap), 1)]
            panel.line(points, "muted thin faint dashed" if lap.warmup else "muted thin faint")
        middle = _median_line([lap for lap in own if not lap.warmup])
        panel.line(middle, f"{ink(number)} thick")
        for second, rate in middle:
            panel.mark(second, rate, shape(number), f"{ink(number)} small", f"second {second:.0f}: {rate:,.0f} docs/s")
        found.append(panel.html())
    return panels(found, least=240)


def _median_line(laps: Sequence[Lap]) -> list[tuple[float, float]]:
    """The median rate of each second that at least half of the laps reached."""
    every = [whole_seconds(lap) for lap in laps]
    length = round(median(len(rates) for rates in every)) if laps else 0
    return [
        (float(second + 1), median(rates[second] for rates in every if len(rates) > second)) for second in range(length)
    ]


def pair_by_pair(pairs: Mapping[str, Sequence[tuple[str, float]]], margin: float, unit: str) -> str:
    """One panel per contender: the ratio of every pair in the order of their running, and its median.

    :param pairs: contender -> name of the block or start, and its ratio to the baseline.
    """
    every = [value for own in pairs.values() for _, value in own]
    across, up = counted(max(map(len, pairs.values()))), ratios(every, margin, 3)
    found = []
    for number, (name, own) in enumerate(list(pairs.items())[:PANELS]):
        panel = Panel(across, up, 110, shortened(name, 30) + ("" if number else ", ratio"), unit)
        panel.level(1 / (1 + margin), 1 + margin)
        panel.flat(1, "one")
        panel.flat(median(value for _, value in own), "middle")
        for position, (where, value) in enumerate(own, 1):
            panel.mark(position, value, "circle", "series-1", f"{where}: {numbers.ratio(value)}")
        found.append(panel.html())
    return panels(found, least=240)
