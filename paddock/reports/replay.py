"""A replay in the report of its race: rates asked and reached, latency against the schedule, and the restore proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paddock import numbers
from paddock.race.replay import NAMED, Lateness, Proof, Replay, ReplayPoint, Stream
from paddock.race.replay_sentences import decisions, told
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import Panel, legend, linear, logarithmic, stacked

_ASKED, _REACHED, _MEDIAN, _LATEST = "muted dotted", "series-3", "series-1 thick", "series-2 thin"


def replay_sections(replay: Replay) -> list[Section]:
    """What it was like, and what the proof found."""
    plots = [_plot("documents", "docs/s", replay.documents)]
    if replay.queries:
        plots.append(_plot("queries", "queries/s", replay.queries))
    found = [
        Section(
            "Replay against its own times",
            (
                "Latency counts from when something was due by the recorded times, whenever a client got round to "
                "sending "
                "it. A document is due together with the last one of its bulk; what failed counts as well.",
            ),
            facts=tuple(told(replay)[:5]),
            plots=tuple(plots),
            tables=(_streams(replay),),
            items=tuple(decisions(replay)),
            shown=len(decisions(replay)) or 1,
        )
    ]
    if replay.proof:
        found.append(_proof_section(replay.proof))
    return found


def replay_headline(replay: Replay) -> Iterator[str]:
    """What it came to, in a sentence or two."""
    for one in replay.streams:
        if one.kind != NAMED:
            yield (
                f"At {replay.factor:g} times the recorded pace latency of {one.name} was "
                f"{numbers.figure(one.latency.p50)} ms in the median, {numbers.figure(one.latency.p99)} ms in the 99th "
                f"percentile and {numbers.figure(one.latency.maximum)} ms at most."
            )
    if replay.proof:
        yield replay.proof.sentence


def _plot(name: str, unit: str, points: Sequence[ReplayPoint]) -> Plot:
    headers = ("second", f"{unit} asked", f"{unit} reached", "median latency ms", "largest ms")
    rows = tuple(
        (f"{one.begin:.0f}", *map(numbers.figure, (one.asked, one.reached, one.latency, one.latest))) for one in points
    )
    length = points[0].seconds
    table = Table(f"{name}, every {'second' if length == 1 else f'{length:.0f} s'}", headers, rows, (0, 1, 2, 3, 4))
    known = [one.latest for one in points if one.latest is not None]
    description = (
        f"At most {numbers.figure(max(one.asked for one in points))} {unit} were asked for and "
        f"{numbers.figure(max(one.reached for one in points))} reached; the largest latency was "
        f"{numbers.figure(max(known, default=None))} ms."
    )
    reading = (
        "Latency is drawn when something was due, what was reached when it was answered. Where less is reached than "
        "asked, requests wait."
    )
    return Plot(
        f"replay-{name}", f"{name.capitalize()} over time", description, _over_time(unit, points), table, reading
    )


def _over_time(unit: str, points: Sequence[ReplayPoint]) -> str:
    """Rates above, latency below."""
    end = points[-1].begin + points[-1].seconds
    seconds = linear(0, end, 8)
    highest = max([one.asked for one in points] + [one.reached for one in points])
    rates = Panel(seconds, linear(0, highest * 1.06 or 1.0), 150, unit, names=False)
    rates.line(_steps(points), _ASKED)
    rates.line([(one.begin + one.seconds / 2, one.reached) for one in points], _REACHED)
    late = [(one, one.latency, one.latest) for one in points if one.latency and one.latest]
    entries = [("asked", "line", _ASKED), ("reached", "line", _REACHED)]
    shown = [rates]
    if late:
        values = [value for _, *both in late for value in both]
        panel = Panel(
            seconds,
            logarithmic(min(values) / 1.3, max(values) * 1.3),
            150,
            "latency, ms",
            "seconds since the replay began",
        )
        panel.line([(one.begin + one.seconds / 2, latest) for one, _, latest in late], _LATEST)
        panel.line([(one.begin + one.seconds / 2, median) for one, median, _ in late], _MEDIAN)
        entries += [("median latency", "line", _MEDIAN), ("largest", "line", _LATEST)]
        shown.append(panel)
    for one in points:
        until = one.begin + one.seconds
        when = f"second {one.begin:.0f}" + (f" to {until:.0f}" if one.seconds > 1 else "")
        reached = f"{numbers.figure(one.reached)} of {numbers.figure(one.asked)} {unit}"
        waited = f"median {numbers.figure(one.latency)} ms, largest {numbers.figure(one.latest)} ms"
        for panel, text in zip(shown, (reached, waited), strict=False):
            panel.box("touch", (one.begin, until), hover=f"{when}: {text}")
    return legend(entries) + stacked(*shown)


def _steps(points: Sequence[ReplayPoint]) -> list[tuple[float, float]]:
    return [(edge, one.asked) for one in points for edge in (one.begin, one.begin + one.seconds)]


def _streams(replay: Replay) -> Table:
    every = (*replay.streams, *replay.warm_up)
    recorded = any(one.recorded for one in every)
    headers = (
        *("", "number", "requests", "failed", "latency p50 ms", "p95", "p99", "largest"),
        *("service p50 ms", "p99", "sent late p99 ms", "largest"),
        *(("recorded p50 ms", "p99") if recorded else ()),
    )
    rows = [_row(one, one.label, recorded) for one in replay.streams]
    rows += [_row(one, f"{one.name}, first {replay.warmup:g} s", recorded) for one in replay.warm_up]
    caption = "Latency from when something was due, service time from when it was sent, and how late it was sent"
    return Table(caption, headers, tuple(rows), tuple(range(1, len(headers))))


def _row(one: Stream, name: str, recorded: bool) -> tuple[str, ...]:
    def of(times: Lateness | None, *parts: str) -> tuple[str, ...]:
        return tuple(numbers.figure(getattr(times, part, None)) for part in parts)

    return (
        name,
        *(f"{number:,}" for number in (one.items, one.requests, one.failed)),
        *of(one.latency, "p50", "p95", "p99", "maximum"),
        *of(one.service, "p50", "p99"),
        *of(one.delay, "p99", "maximum"),
        *(of(one.recorded, "p50", "p99") if recorded else ()),
    )


def _proof_section(proof: Proof) -> Section:
    counts = (
        ("sent", proof.documents),
        ("in the index", proof.counted),
        ("read back", proof.compared),
        ("missing", proof.missing),
        ("changed", proof.changed),
        ("never sent", proof.unexpected),
    )
    tables = [Table("Documents", ("what", "number"), tuple((name, f"{number:,}") for name, number in counts), (1,))]
    if proof.fields:
        rows = tuple(
            (name, f"{one['documents']:,}", _value(one["sent"]), _value(one["read"]))
            for name, one in proof.fields.items()
        )
        tables.append(Table("Fields that differ", ("field", "documents", "sent, of the first", "read"), rows, (1,)))
    if proof.parts:
        rows = tuple((one["from"], one["until"], f"{one['sent']:,}", f"{one['read']:,}") for one in proof.parts)
        tables.append(Table("Times with another number", ("from", "until", "sent", "in the index"), rows, (2, 3)))
    return Section("Restore proof", (proof.sentence,), tables=tuple(tables), items=tuple(_examples(proof)))


def _examples(proof: Proof) -> Iterator[str]:
    for one in proof.examples:
        when = f" of {one['at']}" if one["at"] else ""
        identity = f" (_id {one['id']})" if one["id"] else ""
        if one["kind"] == "changed":
            fields = "; ".join(
                f"{name}: {_value(two['sent'])} became {_value(two['read'])}" for name, two in one["fields"].items()
            )
            yield f"Changed{when}{identity}: {fields}."
        else:
            word = "Missing" if one["kind"] == "missing" else "Never sent"
            yield f"{word}{when}{identity}: {one['document']}"


def _value(value: object) -> str:
    return "nothing" if value is None else str(value)
