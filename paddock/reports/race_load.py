"""The part of a race's report on a paced load: latency against the schedule, over time and by phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from paddock import numbers
from paddock.race.load import NORMAL, Load, LoadPhase
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import Panel, legend, linear, logarithmic, stacked

_MEDIAN, _LARGEST, _ACKNOWLEDGED = "series-1", "series-2", "series-3"


def load_section(load: Load) -> Section:
    """Latency against the schedule, over time and by phase."""
    headers = ("second", "median latency ms", "largest ms", "docs/s acknowledged")
    rows = tuple(
        (f"{one.begin:.0f}", *map(numbers.figure, (one.median, one.maximum, one.acknowledged))) for one in load.moments
    )
    length = load.moments[0].seconds
    table = Table(f"Every {'second' if length == 1 else f'{length:.0f} s'} of the load", headers, rows, (0, 1, 2, 3))
    description = " ".join(_phase_in_words(phase) for phase in load.phases)
    reading = (
        "A bulk's latency counts from when it was due and is drawn there; the warm-up ends at the dashed line. "
        "Where fewer documents are acknowledged than due, bulks wait."
    )
    plot = Plot("load", "Latency and throughput over time", description, _over_time(load), table, reading)
    items = tuple(_recoveries(load.phases))
    return Section("Latency against the schedule", plots=(plot,), tables=(_phases(load),), items=items)


def _over_time(load: Load) -> str:
    """Latency above, throughput below, peaks shaded."""
    end = max(load.moments[-1].begin + load.moments[-1].seconds, load.phases[-1].end)
    seconds = linear(0, end, 8)
    known = [(one.begin + one.seconds / 2, one.median, one.maximum or 0.0) for one in load.moments if one.median]
    latencies = [value for _, *both in known for value in both if value]
    latency = Panel(seconds, logarithmic(min(latencies) / 1.3, max(latencies) * 1.3), 200, "latency, ms", names=False)
    highest = max([moment.acknowledged for moment in load.moments] + [phase.rate for phase in load.phases])
    throughput = Panel(seconds, linear(0, highest * 1.06 or 1.0), 130, "docs/s", "seconds since the load began")
    for panel in (latency, throughput):
        for phase in load.phases:
            if phase.is_peak:
                panel.box("band", (phase.begin, phase.end))
            if phase.name == "warm-up":
                panel.upright(phase.end, "middle")
    latency.line([(at, maximum) for at, _, maximum in known], f"{_LARGEST} thin")
    latency.line([(at, middle) for at, middle, _ in known], f"{_MEDIAN} thick")
    throughput.line([(edge, phase.rate) for phase in load.phases for edge in (phase.begin, phase.end)], "muted dotted")
    throughput.line([(one.begin + one.seconds / 2, one.acknowledged) for one in load.moments], _ACKNOWLEDGED)
    for moment in load.moments:
        until = moment.begin + moment.seconds
        when = f"second {moment.begin:.0f}" + (f" to {until:.0f}" if moment.seconds > 1 else "")
        planned = next((one for one in load.phases if one.begin <= moment.begin < one.end), None)
        due_then = f" of {numbers.figure(planned.rate)} due ({planned.name})" if planned else ""
        waited = f"median {numbers.figure(moment.median)} ms, largest {numbers.figure(moment.maximum)} ms"
        latency.box("touch", (moment.begin, until), hover=f"{when}: {waited}")
        acknowledged = f"{numbers.figure(moment.acknowledged)} docs/s acknowledged{due_then}"
        throughput.box("touch", (moment.begin, until), hover=f"{when}: {acknowledged}")
    entries = [
        ("median latency", "line", f"{_MEDIAN} thick"),
        ("largest", "line", f"{_LARGEST} thin"),
        ("acknowledged", "line", _ACKNOWLEDGED),
        ("due", "line", "muted dotted"),
    ]
    if any(phase.is_peak for phase in load.phases):
        entries.append(("peak", "box", "band"))
    return legend(entries) + stacked(latency, throughput)


def _phases(load: Load) -> Table:
    headers = (
        *("phase", "docs/s due", "bulks", "failed", "latency p50 ms", "p90", "p95", "p99", "largest"),
        *("processing p50 ms", "p95", "p99"),
    )
    rows = tuple(
        (
            phase.name,
            numbers.figure(phase.rate),
            f"{phase.bulks:,}",
            f"{phase.failed:,}",
            *(numbers.figure(getattr(phase.latency, name, None)) for name in ("p50", "p90", "p95", "p99", "maximum")),
            *(numbers.figure(getattr(phase.processing, name, None)) for name in ("p50", "p95", "p99")),
        )
        for phase in load.phases
    )
    caption = "Phases; latency from when a bulk was due, processing from when it was sent"
    return Table(caption, headers, rows, tuple(range(1, len(headers))))


def _phase_in_words(phase: LoadPhase) -> str:
    if phase.latency is None:
        return f"{phase.name}: no bulk."
    return (
        f"{phase.name}: {numbers.figure(phase.rate)} docs/s due, latency {numbers.figure(phase.latency.p50)} ms in the "
        f"median, {numbers.figure(phase.latency.maximum)} ms at most."
    )


def _recoveries(phases: Sequence[LoadPhase]) -> Iterator[str]:
    for phase, after in pairwise(phases):
        if not phase.is_peak:
            continue
        if phase.recovery is None:
            left = after.end - after.begin
            yield f"After {phase.name} latency does not come back to normal within the {left:g} s left."
        elif phase.recovery == 0:
            yield f"After {phase.name} latency is back to normal at once."
        else:
            yield f"After {phase.name} latency is back to normal {phase.recovery:.0f} s later."
    if any(phase.is_peak for phase in phases):
        yield (
            f"Normal is a second whose median latency is at most {NORMAL:g} times that of the second half of the first "
            "rest."
        )
