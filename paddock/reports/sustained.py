"""How a long load held: its seconds as plots, when the rate began to fluctuate and the trend after it as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from paddock import numbers
from paddock.race.over_time import RATE, OverTime
from paddock.race.sustained import SustainedLoad
from paddock.reports.document import Section, Table
from paddock.reports.drawing import Panel, Scale
from paddock.reports.over_time import shown, time_plot
from paddock.statistics.sustained import CONFIDENCE, LongRun, Trend

_MOST_ROWS = 40
# What stands side by side before and after the onset: column, what it is called, and its unit.
_COMPARED = (
    ("documents", "docs/s"),
    ("node_cores", "cores of the nodes"),
    ("driver_cores", "cores of the load driver"),
    ("gc_share", "garbage collection, share of time"),
    ("heap_mib", "heap in use, MiB"),
    ("written_mib", "written, MiB/s"),
    ("merging_threads", "merging threads"),
    ("merge_throttled", "merging threads made to wait"),
    ("throttled", "indexing made to wait, share of time"),
    ("flushes", "flushes per second"),
    ("refreshes", "refreshes per second"),
    ("segments", "segments"),
    ("steal_percent", "steal, %"),
)


def sustained_section(load: SustainedLoad) -> Section:
    """The sentences, the plots over time, and what was different before and after."""
    sentences = tuple(run_in_sentences(load.run))
    marked = [("end of the warm-up", "line", "muted dashed")]
    if load.run.trend:
        marked.append(("trend", "line", "muted thick"))
    if load.run.onset:
        marked.append(("onset of fluctuation, interval", "box", "band"))
    plot = time_plot(
        load.seconds,
        "sustained",
        "The load second by second",
        long=True,
        mark=lambda panel, scale: _mark_findings(panel, load, scale),
        further=marked,
    )
    reading = (
        "The warm-up ends at the dashed line, and is left out of what is said. "
        "The straight line is the trend, dashed where it may as well be chance. Where the rate begins to fluctuate, "
        f"the shaded band is the interval of when. {plot.reading}"
    )
    used = plot.table
    plot = replace(plot, description=" ".join(sentences), reading=reading, table=_rows(load.seconds))
    return Section("How the load held", sentences, plots=(plot,), tables=(used, _compared(load)))


def run_in_sentences(run: LongRun) -> Iterator[str]:
    """The rate, the onset of its fluctuation and its trend, in plain sentences."""
    yield (
        f"From second {run.begin:.0f} to {run.end:.0f} the load has {numbers.figure(run.rate)} docs/s on average; its "
        f"seconds lie {numbers.share(run.fluctuation, 1)} from the level around them on average."
    )
    if run.onset:
        onset = run.onset
        yield (
            f"The rate begins to fluctuate after {_at(onset.at)} (interval at {numbers.confidence(CONFIDENCE)}: "
            f"{_at(onset.earliest)} to {_at(onset.latest)}): before, a second lies "
            f"{numbers.share(onset.before, 1)} from the level around it, from then on {numbers.share(onset.after, 1)}."
        )
    elif run.p_value is None:
        yield "The load is too short to tell whether it began to fluctuate."
    else:
        yield (
            f"There is no time from which on it fluctuates more than before that noise alone would not have (p = "
            f"{numbers.p_value(run.p_value)}), or it does so by less than a quarter more."
        )
    if run.trend:
        yield _trend_sentence(run.trend, "From then on" if run.onset else "In this time")
    else:
        yield "What follows is too short for a trend."


def _trend_sentence(trend: Trend, when: str) -> str:
    span = f"{_percent(trend.low)} to {_percent(trend.high)}"
    for_how_long = f"within {numbers.duration(trend.end - trend.begin)}"
    if not trend.seen:
        return f"{when} there is no trend to be seen: {for_how_long} anything from {span} is possible."
    verb = "falls" if trend.change < 0 else "rises"
    return f"{when} it {verb} by {_percent(abs(trend.change), sign=False)} {for_how_long} (interval: {span})."


def sustained_headline(load: SustainedLoad) -> str:
    """What came of it, in one or two sentences."""
    run = load.run
    rate = f"{numbers.figure(run.rate)} docs/s over {numbers.duration(run.end - run.begin)}"
    began = f"; they begin to fluctuate after {_at(run.onset.at)}" if run.onset else ", without an onset of fluctuation"
    if run.trend is None:
        return f"{rate}{began}."
    return f"{rate}{began}. {_trend_sentence(run.trend, 'From then on' if run.onset else 'In this time')}"


def sustained_as_json(load: SustainedLoad) -> dict[str, Any]:
    """For programs: what the rate says, and the stretches; the seconds are in a file of their own."""
    return {"run": asdict(load.run), "stretches": [asdict(stretch) for stretch in load.stretches]}


def _at(second: float) -> str:
    return f"{second:.0f} s" if second < 600 else f"{second / 60:.1f} min"


def _percent(share: float, sign: bool = True) -> str:
    return f"{100 * share:{'+' if sign else ''}.1f} %"


def _rows(seconds: OverTime) -> Table:
    """Means of equal numbers of seconds, a row each, of all that the plot shows."""
    length = max(1, math.ceil(seconds.number / _MOST_ROWS))
    told = [one for each in shown(seconds, long=True) for one in each if one.column]
    rows = tuple(
        (f"{begin}", *(numbers.figure(one.mean((begin, begin + length))) for one in told))
        for begin in range(0, seconds.number, length)
    )
    headers = ("second", *(one.column.replace("_", " ") for one in told))
    caption = f"Every {'second' if length == 1 else f'{length} s'} of the load, means"
    return Table(caption, headers, rows, tuple(range(len(headers))))


def _mark_findings(panel: Panel, load: SustainedLoad, scale: Scale) -> None:
    run = load.run
    if run.onset:
        panel.box("band", (run.onset.earliest, run.onset.latest))
        panel.upright(run.onset.at, "one")
    panel.upright(run.begin, "middle")
    if run.trend and (rate := load.seconds.whole(RATE)) is not None:
        mean = rate.mean((run.trend.begin, run.trend.end)) or 0.0
        first = 2 * mean / (2 + run.trend.change)
        ends = [(run.trend.begin, first), (run.trend.end, first * (1 + run.trend.change))]
        kind = "muted thick" if run.trend.seen else "muted dashed"
        panel.line([(at, min(value, scale.high)) for at, value in ends], kind)


def _compared(load: SustainedLoad) -> Table:
    rows = tuple(
        (text, *(numbers.figure(stretch.means.get(name)) for stretch in load.stretches))
        for name, text in _COMPARED
        if any(stretch.means.get(name) is not None for stretch in load.stretches)
    )
    headers = ("mean of", *(f"{one.name} (s {one.begin:.0f} to {one.end:.0f})" for one in load.stretches))
    return Table("What else was different", headers, rows, (1, 2))
