"""Single laps in a report: throughput over time, what else the machine did, second by second, pair by pair, void."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import median

from paddock import numbers
from paddock.reports import drawing, figures
from paddock.reports.document import Plot, Section, Table
from paddock.reports.figures import whole_seconds
from paddock.tournaments.cautions import disturbed_laps
from paddock.tournaments.model import Lap, Result, Tournament
from paddock.tournaments.pairing import Pair

PANELS = 12
# Percent that a strip of disturbances shows at least: a quiet machine is to look quiet.
_STRIP_TOP = 20.0
# Of more contenders than these, pairs are shown when they are asked for.
_UNFOLDED = 6
_DISTURBANCE_HEADERS = ("others, cores", "steal", "waiting: CPU", "disk", "memory")


def throughput_section(result: Result) -> Section:
    """All laps in their order, with what else the machine did."""
    heading = "Throughput over time"
    if not result.laps:
        return Section(heading, ("No lap was run.",))
    starts = len({lap.start for lap in result.laps})
    title = "Laps in the order of their running"
    if starts > PANELS:
        title += f" (the first {PANELS} of {starts} starts)"
    parts = []
    for name in figures.contenders(result):
        rates = [lap.docs_per_second for lap in figures.counting_laps(result, name)]
        if rates:
            lowest, highest = numbers.figure(min(rates)), numbers.figure(max(rates))
            parts.append(f"{name}: {numbers.plural(len(rates), 'lap')} between {lowest} and {highest} docs/s.")
        else:
            parts.append(f"{name}: no lap counts.")
    warmup = sum(lap.warmup for lap in result.laps)
    parts.append(
        f"Of {numbers.plural(len(result.laps), 'lap')} in all, {warmup} belong to the warm-up (shaded, hollow) "
        f"and {len(figures.void_laps(result))} are void (crossed)."
    )
    seen = [lap.disturbance for lap in figures.counting_laps(result) if lap.disturbance is not None]
    if seen:
        taken, far = sorted(100 * one.taken for one in seen), len(disturbed_laps(result.laps))
        elsewhere = any(one.nodes_elsewhere for one in seen)
        where = "the load driver's machine" if elsewhere else "the machine of load driver and nodes"
        parts.append(
            f"Disturbance: others had {median(taken):.0f} % of the cores of {where} during the median lap that counts, "
            f"{taken[-1]:.0f} % at most; {numbers.plural(far, 'lap')} {'lies' if far == 1 else 'lie'} far outside."
        )
    return Section(heading, plots=(Plot("laps", title, " ".join(parts), _in_order(result), _lap_table(result)),))


def _in_order(result: Result) -> str:
    """One panel per start: each lap a mark at its minute; warm-up shaded, void laps crossed out.

    Where the journal tells, a strip below says what else the machine did during each lap.
    """
    laps, control = result.laps, result.tournament.control
    contenders = drawing.series(figures.contenders(result), result.tournament.baseline)
    twin = {control.name: ("muted", "square")} if control is not None else {}
    styles = {**contenders, **twin}
    starts = sorted({lap.start for lap in laps})[:PANELS]
    watched = [lap for lap in laps if lap.disturbance is not None]
    rates = drawing.linear(0, max(lap.docs_per_second for lap in laps) * 1.08 or 1.0)
    highest = max([_STRIP_TOP, *(sum(_taken(lap)) for lap in watched), *(_waiting(lap) or 0.0 for lap in watched)])
    finest = 10.0 ** math.floor(math.log10(highest))
    percent = drawing.Scale(0, highest * 1.35, (0, math.floor(highest / finest) * finest), "{:.0f}".format)
    found = []
    for number, start in enumerate(starts):
        own = [lap for lap in laps if lap.start == start]
        first = min(lap.began for lap in own)
        times = [((lap.began - first) / 60, (lap.began - first + lap.seconds) / 60) for lap in own]
        minutes = drawing.linear(0, max(end for _, end in times) * 1.02 or 1, 5)
        title = ", ".join([f"start {start}"] * (len(starts) > 1) + ["docs/s"] * (number == 0))
        below = "minutes since the start's first lap"
        height = 190 if len(starts) == 1 else 130
        panel = drawing.Panel(minutes, rates, height, title, "" if watched else below, not watched)
        _draw_laps(panel, own, times, styles)
        if watched:
            strip = drawing.Panel(minutes, percent, 40, "disturbance, %", below)
            _draw_disturbance(strip, own, times, [one.lap for one in disturbed_laps(laps)], highest * 1.2)
            found.append(drawing.stacked(panel, strip))
        else:
            found.append(panel.html())
    entries = [
        *drawing.series_legend(contenders, result.tournament.baseline),
        *((name, mark, kind) for name, (kind, mark) in twin.items()),
        ("warm-up", "circle", "muted hollow"),
        ("void", "cross", "ink"),
    ]
    if watched:
        entries += [
            ("cores: others", "box", "muted"),
            ("cores: steal", "box", "ink"),
            ("waits: disk, memory", "line", "ink thin"),
            ("far outside", "down", "ink small"),
        ]
    return drawing.panels(found, drawing.legend(entries), 300 if len(starts) == 1 else 360)


_Times = Sequence[tuple[float, float]]  # minutes at which each lap began and ended


def _draw_laps(panel: drawing.Panel, laps: Sequence[Lap], times: _Times, styles: Mapping[str, tuple[str, str]]) -> None:
    # A start that was cut off warms up again when it goes on.
    for warm, run in itertools.groupby(zip(times, laps, strict=True), key=lambda one: one[1].warmup):
        if warm:
            warming = [time for time, _ in run]
            panel.box("band", (warming[0][0], warming[-1][1]))
    for (begin, end), lap in zip(times, laps, strict=True):
        kind, mark = styles.get(lap.contender, (drawing.ink(0), drawing.shape(0)))
        rate = numbers.figure(lap.docs_per_second)
        hover = f"{lap.contender}, start {lap.start}, block {lap.block}: {rate} docs/s in {lap.seconds:.1f} s"
        if lap.void is not None:
            mark, kind, hover = "cross", "ink", f"{hover}; void: {lap.void}"
        elif lap.warmup:
            kind, hover = f"{kind} hollow", f"{hover}; warm-up"
        panel.mark((begin + end) / 2, lap.docs_per_second, mark, kind, hover)


def _draw_disturbance(
    panel: drawing.Panel, laps: Sequence[Lap], times: _Times, far: Sequence[Lap], height: float
) -> None:
    """Percent of the cores that others had during each lap, and of the time that somebody waited for disk or memory."""
    for (begin, end), lap in zip(times, laps, strict=True):
        if lap.disturbance is None:
            continue
        others, steal = _taken(lap)
        told = f"block {lap.block}, {lap.contender}: others {others:.0f} % of the cores, steal {steal:.0f} %"
        panel.box("muted", (begin, end), (0, others), told)
        panel.box("ink", (begin, end), (others, others + steal), told)
        if (waiting := _waiting(lap)) is not None:
            panel.line([(begin, waiting), (end, waiting)], "ink thin")
        if lap in far:
            panel.mark((begin + end) / 2, height, "down", "ink small", f"{told}; far outside")


def _taken(lap: Lap) -> tuple[float, float]:
    """Percent of all cores of the machine that other processes had, and that other machines had."""
    one = lap.disturbance
    return (100 * one.others / one.cores, 100 * one.steal) if one else (0.0, 0.0)


def _waiting(lap: Lap) -> float | None:
    """Percent of the time in which somebody waited for a disk or for memory; None where the kernel does not tell."""
    one = lap.disturbance
    known = [value for value in (one.io_pressure, one.memory_pressure) if value is not None] if one else []
    return 100 * max(known) if known else None


def _lap_table(result: Result) -> Table:
    """Every lap in the order of their running; where the journal tells, with what else the machine did meanwhile."""
    headers = ("start", "block", "position", "contender", "documents", "seconds", "docs/s", "lap")
    further = _DISTURBANCE_HEADERS if any(lap.disturbance is not None for lap in result.laps) else ()
    rows: list[tuple[str, ...]] = []
    for lap in result.laps:
        counts = "void" if lap.void is not None else "warm-up" if lap.warmup else "counts"
        place = (str(lap.start), str(lap.block), str(lap.position), lap.contender, f"{lap.documents:,}")
        rows.append((*place, f"{lap.seconds:.2f}", numbers.figure(lap.docs_per_second), counts))
        if (one := lap.disturbance) is not None:
            shares = (one.steal, one.cpu_pressure, one.io_pressure, one.memory_pressure)
            rows[-1] += (f"{one.others:.2f}", *(numbers.share(share, 1) for share in shares))
        else:
            rows[-1] += (numbers.NOTHING,) * len(further)
    right = (0, 1, 2, 4, 5, 6, *range(len(headers), len(headers) + len(further)))
    return Table("All laps", (*headers, *further), tuple(rows), right)


def seconds_section(result: Result) -> Section | None:
    """The seconds inside the laps; None if no lap has any."""
    if not any(lap.rates for lap in result.laps):
        return None
    names = figures.contenders(result)
    title = "Second by second inside the laps"
    if len(names) > PANELS:
        title += f" (the first {PANELS} of {len(names)} contenders)"
    rows = []
    for name in names:
        own = [lap for lap in figures.counting_laps(result, name) if lap.rates]
        rates = [rate for lap in own for rate in whole_seconds(lap)]
        told = [sum(rates) / len(rates), figures.second_spread(own), min(rates), max(rates)] if rates else [None] * 4
        rows.append((name, str(len(own)), str(len(rates)), *map(numbers.figure, told)))
    caption = "One-second rates of the laps that count, each lap's last second left out"
    headers = ("contender", "laps", "seconds", "mean docs/s", "sd", "lowest", "highest")
    description = (
        "Documents indexed in each second of each lap: a thin line per lap (dashed in the warm-up), a thick one for "
        "the median of the laps that count. "
    ) + " ".join(
        f"{row[0]}: mean {row[3]} docs/s, standard deviation {row[4]} between seconds." for row in rows[:PANELS]
    )
    table = Table(caption, headers, tuple(rows), tuple(range(1, 7)))
    plot = Plot("inside", title, description, _inside(result.laps, names[:PANELS]), table)
    return Section("Second by second", plots=(plot,), folded=True)


def _inside(laps: Sequence[Lap], names: Sequence[str]) -> str:
    """One panel per contender: a thin line per lap (dashed in warm-up), a thick one for the median lap."""
    rates = drawing.linear(0, max(rate for lap in laps for rate in (*lap.rates, 0.0)) * 1.05 or 1.0, 3)
    seconds = drawing.counted(max(len(whole_seconds(lap)) for lap in laps))
    found = []
    for number, name in enumerate(names):
        title = drawing.shortened(name, drawing.LONGEST) + ("" if number else ", docs/s")
        panel = drawing.Panel(seconds, rates, 110, title, "second of the lap")
        own = [lap for lap in laps if lap.contender == name and lap.rates and lap.void is None]
        for lap in own:
            points = [(float(second), rate) for second, rate in enumerate(whole_seconds(lap), 1)]
            panel.line(points, "muted thin faint dashed" if lap.warmup else "muted thin faint")
        middle = _median_line([whole_seconds(lap) for lap in own if not lap.warmup])
        kind, shape = drawing.ink(number), drawing.shape(number)
        panel.line(middle, f"{kind} thick")
        for second, rate in middle:
            panel.mark(second, rate, shape, f"{kind} small", f"second {second:.0f}: {rate:,.0f} docs/s")
        found.append(panel.html())
    return drawing.panels(found, least=240)


def _median_line(laps: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """The median rate of each second that at least half of the laps reached."""
    length = round(median(map(len, laps))) if laps else 0
    return [(float(at + 1), median(rates[at] for rates in laps if len(rates) > at)) for at in range(length)]


def _counted(lap: Lap) -> str:
    counted = numbers.NOTHING if lap.counted is None else f"{lap.counted:,}"
    return f"{counted} / {lap.documents:,}"


def void_section(result: Result) -> Section:
    """Laps and starts that do not count, with their reasons."""
    void = figures.void_laps(result)
    if not void:
        return Section("Void laps", ("No lap was void.",))
    text = "These laps count nowhere: a block without a lap of both the baseline and the contender is no pair."
    table = Table(
        f"Void laps: {len(void)}",
        ("start", "block", "contender", "counted / sent", "reason"),
        tuple((str(lap.start), str(lap.block), lap.contender, _counted(lap), lap.void or "") for lap in void),
        (0, 1, 3),
    )
    starts = figures.void_starts(result).items()
    items = tuple(f"Start {start} is void as a whole: {reason}" for start, reason in starts)
    return Section("Void laps", (text,), tables=(table,), items=items)


def pairs_section(result: Result) -> Section | None:
    """The ratio of every pair; None without any."""
    pairs, tournament = figures.pairs(result), result.tournament
    if not pairs:
        return None
    unit = "pair of starts" if tournament.node_level else "block"
    title = f"Ratio to {tournament.baseline} in every {unit}"
    if len(pairs) > PANELS:
        title += f" (the first {PANELS} of {len(pairs)} contenders)"
    table = Table(
        f"Ratio of {figures.label(result.main.metric)} of every pair",
        ("contender", "pair", "ratio"),
        tuple((name, _where(one, tournament), numbers.ratio(one.ratio)) for name, own in pairs.items() for one in own),
        (2,),
    )
    description = "Each mark is a contender divided by the baseline; the line is their median. " + " ".join(
        f"{name}: {numbers.plural(len(own), 'pair')} between {numbers.ratio(min(pair.ratio for pair in own))} and "
        f"{numbers.ratio(max(pair.ratio for pair in own))}."
        for name, own in pairs.items()
    )
    reading = "In the order of their running; the dashed line is their median."
    plot = Plot("pairs", title, description, _pair_by_pair(pairs, tournament, unit), table, reading)
    return Section("Pair by pair", plots=(plot,), folded=len(pairs) > _UNFOLDED)


def _where(pair: Pair, tournament: Tournament) -> str:
    if pair.block is None:
        return f"starts {pair.start}"
    return f"block {pair.block}" if tournament.starts == 1 else f"start {pair.start}, block {pair.block}"


def _pair_by_pair(pairs: Mapping[str, Sequence[Pair]], tournament: Tournament, unit: str) -> str:
    """One panel per contender: the ratio of every pair and their median.

    A pair stands at its block's own number, or at that of its group of starts; blocks of several starts one after the
    other, because their numbers begin anew.
    """
    numbered = tournament.node_level or tournament.starts == 1
    places = {
        name: [(pair.start if pair.block is None else pair.block) if numbered else at for at, pair in enumerate(own, 1)]
        for name, own in pairs.items()
    }
    every = [place for own in places.values() for place in own]
    across = drawing.counted(max(every), min(every) if numbered else 1)
    up = drawing.ratios([pair.ratio for own in pairs.values() for pair in own], tournament.margin, 3)
    found = []
    for number, (name, own) in enumerate(list(pairs.items())[:PANELS]):
        title = drawing.shortened(name, drawing.LONGEST) + ("" if number else ", ratio")
        panel = drawing.Panel(across, up, 110, title, unit if numbered else "pairs, start by start")
        panel.box("band", up=(1 / (1 + tournament.margin), 1 + tournament.margin))
        panel.flat(1, "one")
        panel.flat(median(pair.ratio for pair in own), "middle")
        for place, pair in zip(places[name], own, strict=True):
            hover = f"{_where(pair, tournament)}: {numbers.ratio(pair.ratio)}"
            panel.mark(place, pair.ratio, "circle", "series-1", hover)
        found.append(panel.html())
    return drawing.panels(found, least=240)
