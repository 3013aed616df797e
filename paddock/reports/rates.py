"""All contenders of a load that goes on in one plot: documents per second over the seconds of their own load."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from paddock import numbers
from paddock.reports import drawing, figures
from paddock.reports.document import Plot, Section, Table
from paddock.tournaments.model import Lap, Result

# Points of a line: more than these are means of several seconds.
_POINTS = 120
_STARTS = 6


def rates_section(result: Result) -> Section | None:
    """Rate over time of all contenders together; None where laps are no slices of a load that goes on."""
    if not result.tournament.growing:
        return None
    starts = sorted({lap.start for lap in result.laps})
    names = figures.contenders(result)
    strung = {(start, name): _strung(result.laps, start, name) for start in starts for name in names}
    longest = max((len(rates) for rates in strung.values()), default=0)
    if longest < 2:
        return None
    step = -(-longest // _POINTS)
    highest = max(rate for rates in strung.values() for rate in (*_means(rates, step), 0.0))
    styles = drawing.series(names, result.tournament.baseline)
    across, up = drawing.linear(0, longest / 60, 5), drawing.linear(0, highest * 1.06 or 1.0, 5)
    drawn = []
    for start in starts[:_STARTS]:
        title = "docs/s" if len(starts) == 1 else f"start {start}, docs/s"
        panel = drawing.Panel(across, up, 240, title, "minutes of a contender's own load")
        for name in names:
            kind, mark = styles[name]
            points = [((at * step + step / 2) / 60, rate) for at, rate in enumerate(_means(strung[start, name], step))]
            panel.line(points, f"{kind} thin")
            for x, y in points[:: max(1, len(points) // 12)]:
                panel.mark(x, y, mark, f"{kind} small", f"{name}: {numbers.figure(y)} docs/s after {x:.1f} min of load")
        drawn.append(panel.html())
    rows = tuple(
        (str(start), name, str(len(rates)), *(numbers.figure(one) for one in _quarters(rates)))
        for (start, name), rates in strung.items()
        if rates
    )
    headers = ("start", "contender", "seconds", "first quarter", "second", "third", "last")
    caption = "Mean docs/s of each quarter of a contender's load, warm-up included"
    table = Table(caption, headers, rows, (0, 2, 3, 4, 5, 6))
    said = " ".join(
        f"{row[1]}{f', start {row[0]}' if len(starts) > 1 else ''}: {row[3]} docs/s in the first quarter, {row[6]} in "
        f"the last."
        for row in rows[: 2 * _STARTS]
    )
    reading = "A contender's slices follow each other without the pauses for others' turns; the warm-up is in it." + (
        f" Each point is the mean of {step} seconds." if step > 1 else ""
    )
    legend = drawing.legend(drawing.series_legend(styles, result.tournament.baseline))
    plot = Plot("rates", "Rate over time, all contenders", said, drawing.panels(drawn, legend), table, reading)
    return Section("Rate over time", plots=(plot,))


def _strung(laps: Sequence[Lap], start: int, name: str) -> list[float]:
    """The whole seconds of a contender's slices of one start, one after the other."""
    mine = [lap for lap in laps if (lap.start, lap.contender) == (start, name) and lap.void is None and lap.rates]
    return [rate for lap in mine for rate in figures.whole_seconds(lap)]


def _means(rates: Sequence[float], step: int) -> list[float]:
    """The mean of so many seconds each; the last one of those that are left."""
    parts = [rates[at : at + step] for at in range(0, len(rates), step)]
    return [sum(part) / len(part) for part in parts]


def _quarters(rates: Sequence[float]) -> list[float | None]:
    """The mean of each quarter; None of one without a second."""
    ends = [round(len(rates) * part / 4) for part in range(5)]
    parts = [rates[begin:end] for begin, end in itertools.pairwise(ends)]
    return [sum(part) / len(part) if part else None for part in parts]
