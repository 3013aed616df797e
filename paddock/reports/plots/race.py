"""One race: service time over the size of the data, and a paced load over time."""

from __future__ import annotations

from collections.abc import Sequence

from paddock import numbers
from paddock.race.growth import QueryGrowth
from paddock.race.load import Load
from paddock.reports.plots.drawing import (
    Panel,
    Scale,
    legend,
    linear,
    logarithmic,
    panels,
    shortened,
    stacked,
    thousands,
)

_MEDIAN, _P90, _ACKNOWLEDGED = "series-1", "series-2", "series-3"


def over_size(queries: Sequence[QueryGrowth]) -> str:
    """A panel per query with median, 90th percentile, and what would be proportional to the data; both logarithmic."""
    values = [value for one in queries for size in one.sizes for value in (size.median, size.p90) if value]
    documents = sorted({size.documents for one in queries for size in one.sizes})
    up = logarithmic(min(values) / 1.3, max(values) * 1.3, 4)
    across = Scale(documents[0] / 1.25, documents[-1] * 1.25, tuple(map(float, documents)), thousands, True)
    found = []
    for number, query in enumerate(queries):
        title = shortened(query.query, 34) + ("" if number else ", ms")
        panel = Panel(across, up, 130, title, "documents in the index")
        known = [size for size in query.sizes if size.median]
        if known:
            first = known[0]
            rise = [(float(size.documents), (first.median or 0.0) * size.documents / first.documents) for size in known]
            panel.line([(at, value) for at, value in rise if value <= up.high], "muted dotted")
        for name, kind, mark in (("p90", _P90, "square"), ("median", _MEDIAN, "circle")):
            points = [(float(size.documents), value) for size in query.sizes if (value := getattr(size, name))]
            panel.line(points, kind if name == "median" else f"{kind} dashed")
            for at, value in points:
                panel.mark(at, value, mark, f"{kind} small", f"{at:,.0f} documents: {name} {numbers.figure(value)} ms")
        found.append(panel.html())
    entries = [
        ("median", "circle", _MEDIAN),
        ("90th percentile", "square", _P90),
        ("proportional to the data", "line", "muted dotted"),
    ]
    return panels(found, legend(entries), least=260)


def over_time(load: Load) -> str:
    """Latency above, throughput below, peaks shaded."""
    end = max(load.moments[-1].begin + load.moments[-1].seconds, load.phases[-1].end)
    seconds = linear(0, end, 8)
    known = [moment for moment in load.moments if moment.median]
    latencies = [value for moment in known for value in (moment.median, moment.maximum) if value]
    latency = Panel(seconds, logarithmic(min(latencies) / 1.3, max(latencies) * 1.3), 200, "latency, ms", names=False)
    highest = max([moment.acknowledged for moment in load.moments] + [phase.rate for phase in load.phases])
    rates = linear(0, highest * 1.06 or 1.0)
    throughput = Panel(seconds, rates, 130, "docs/s", "seconds since the load began")
    for panel in (latency, throughput):
        for phase in load.phases:
            if phase.is_peak:
                panel.band(phase.begin, phase.end)
            if phase.name == "warm-up":
                panel.upright(phase.end, "middle")
    latency.line([(moment.begin + moment.seconds / 2, moment.maximum or 0.0) for moment in known], f"{_P90} thin")
    latency.line([(moment.begin + moment.seconds / 2, moment.median or 0.0) for moment in known], f"{_MEDIAN} thick")
    due = [(edge, phase.rate) for phase in load.phases for edge in (phase.begin, phase.end)]
    throughput.line(due, "muted dotted")
    acknowledged = [(moment.begin + moment.seconds / 2, moment.acknowledged) for moment in load.moments]
    throughput.line(acknowledged, _ACKNOWLEDGED)
    entries = [
        ("median latency", "line", f"{_MEDIAN} thick"),
        ("largest", "line", f"{_P90} thin"),
        ("acknowledged", "line", _ACKNOWLEDGED),
        ("due", "line", "muted dotted"),
    ]
    if any(phase.is_peak for phase in load.phases):
        entries.append(("peak", "box", "band"))
    return legend(entries) + stacked(latency, throughput)
