"""How a long load held: its seconds as plots, when the rate began to fluctuate and the trend after it as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from paddock import numbers
from paddock.race.seconds import Seconds
from paddock.race.sustained import SustainedLoad
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import Panel, Scale, legend, linear, stacked
from paddock.statistics.sustained import CONFIDENCE, LongRun, Trend

_MOST_POINTS, _MOST_ROWS = 300, 40
# Panels: title, height, and the columns that each has; those of which nothing is known are left out.
_PANELS: tuple[tuple[str, int, tuple[tuple[str, str], ...]], ...] = (
    ("docs/s", 150, (("documents", "docs/s"),)),
    ("cores", 80, (("node_cores", "nodes"), ("driver_cores", "load driver"))),
    ("memory, MiB", 80, (("node_memory_mib", "nodes, resident"), ("heap_mib", "heap in use"))),
    ("garbage collection, share of time", 60, (("gc_share", "all collectors"),)),
    ("written towards disks, MiB/s", 80, (("written_mib", "nodes"),)),
    (
        "merging threads",
        80,
        (("merging_threads", "at work"), ("merge_throttled", "made to wait"), ("throttled", "indexing made to wait")),
    ),
    ("segments", 60, (("segments", "all indices"),)),
    ("translog to be flushed, MiB", 60, (("translog_mib", "all indices"),)),
)
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
    rows, length = _rows(load.seconds, _MOST_ROWS)
    shown = [name for _, _, columns in _PANELS for name, _ in columns if load.seconds.known(name)]
    headers = ("second", *(name.replace("_", " ") for name in shown))
    cells = tuple((f"{begin:.0f}", *(numbers.figure(row[name]) for name in shown)) for begin, row in rows)
    caption = f"Every {'second' if length == 1 else f'{length} s'} of the load, means"
    table = Table(caption, headers, cells, tuple(range(len(headers))))
    sentences = tuple(run_in_sentences(load.run))
    reading = (
        "The warm-up ends at the dashed line, and is left out of what is said. "
        "The straight line is the trend, dashed where it may as well be chance. Where the rate begins to fluctuate, "
        "the shaded band is the interval of when."
    )
    plot = Plot("sustained", "The load second by second", " ".join(sentences), _over_time(load), table, reading)
    return Section("How the load held", sentences, plots=(plot,), tables=(_compared(load),))


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


def _rows(seconds: Seconds, most: int) -> tuple[list[tuple[float, dict[str, float | None]]], int]:
    """Means of equal numbers of seconds, at most so many, with where they begin; and how many seconds each has."""
    length = max(1, math.ceil(seconds.number / most))
    begins = range(0, seconds.number, length)
    return [
        (float(begin), {name: seconds.mean(name, begin, begin + length) for name in seconds.columns})
        for begin in begins
    ], length


def _over_time(load: SustainedLoad) -> str:
    rows, length = _rows(load.seconds, _MOST_POINTS)
    across = linear(0, load.seconds.number, 8)
    shown = [
        (title, height, columns)
        for title, height, of in _PANELS
        if (columns := [(name, text) for name, text in of if load.seconds.known(name)])
    ]
    panels = []
    for number, (title, height, columns) in enumerate(shown):
        last = number == len(shown) - 1
        told = [row[name] for _, row in rows for name, _ in columns]
        scale = linear(0, max((value for value in told if value is not None), default=0.0) * 1.06 or 1.0, 3)
        panel = Panel(across, scale, height, _titled(title, columns), "seconds of the load" if last else "", names=last)
        if title == "docs/s":
            _mark_findings(panel, load, scale)
        for place, (name, _) in enumerate(columns):
            points = [(begin + length / 2, value) for begin, row in rows if (value := row[name]) is not None]
            panel.line(points, f"series-{place + 1} thin" if title == "docs/s" else f"series-{place + 1}")
        for begin, row in rows:
            when = f"second {begin:.0f}" + (f" to {begin + length:.0f}" if length > 1 else "")
            figures = ", ".join(f"{text} {numbers.figure(row[name])}" for name, text in columns)
            panel.box("touch", (begin, begin + length), hover=f"{when}: {figures}")
        panels.append(panel)
    names = [("first line of a panel", "line", "series-1"), ("second", "line", "series-2")]
    if any(len(columns) > 2 for _, _, columns in shown):
        names.append(("third", "line", "series-3"))
    if load.run.trend:
        names.append(("trend", "line", "series-2 thick"))
    if load.run.onset:
        names.append(("onset of fluctuation, interval", "box", "band"))
    return legend(names) + stacked(*panels)


def _titled(title: str, columns: Sequence[tuple[str, str]]) -> str:
    return title if len(columns) == 1 else f"{title}: {', '.join(text for _, text in columns)}"


def _mark_findings(panel: Panel, load: SustainedLoad, scale: Scale) -> None:
    run = load.run
    if run.onset:
        panel.box("band", (run.onset.earliest, run.onset.latest))
        panel.upright(run.onset.at, "one")
    panel.upright(run.begin, "middle")
    if run.trend and (mean := load.seconds.mean("documents", run.trend.begin, run.trend.end)) is not None:
        first = 2 * mean / (2 + run.trend.change)
        ends = [(run.trend.begin, first), (run.trend.end, first * (1 + run.trend.change))]
        kind = "series-2 thick" if run.trend.seen else "series-2 dashed"
        panel.line([(at, min(value, scale.high)) for at, value in ends], kind)


def _compared(load: SustainedLoad) -> Table:
    rows = tuple(
        (text, *(numbers.figure(stretch.means.get(name)) for stretch in load.stretches))
        for name, text in _COMPARED
        if load.seconds.known(name)
    )
    headers = ("mean of", *(f"{one.name} (s {one.begin:.0f} to {one.end:.0f})" for one in load.stretches))
    return Table("What else was different", headers, rows, (1, 2))
