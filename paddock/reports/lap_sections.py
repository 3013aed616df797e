"""The parts of a report about single laps: throughput over time, and laps that do not count."""

from __future__ import annotations

from statistics import median

from paddock import numbers
from paddock.reports import figures
from paddock.reports.document import Plot, Section, Table
from paddock.reports.plots import laps
from paddock.tournaments.lap_cautions import disturbed_laps
from paddock.tournaments.model import Disturbance, Lap, Result


def throughput_section(result: Result) -> Section:
    """All laps in their order, with what else the machine did."""
    if not result.laps:
        return Section("Throughput over time", ("No lap was run.",))
    return Section("Throughput over time", plots=(_in_order(result),))


def seconds_section(result: Result) -> Section | None:
    """The seconds inside the laps; None if no lap has any."""
    if not any(lap.rates for lap in result.laps):
        return None
    return Section("Second by second", plots=(_inside(result),), folded=True)


def _in_order(result: Result) -> Plot:
    names, baseline = figures.contenders(result), result.tournament.baseline
    starts = len({lap.start for lap in result.laps})
    title = "Laps in the order of their running"
    if starts > laps.PANELS:
        title += f" (the first {laps.PANELS} of {starts} starts)"
    parts = []
    for name in names:
        rates = [lap.docs_per_second for lap in figures.counting_laps(result, name)]
        if rates:
            lowest, highest = numbers.figure(min(rates)), numbers.figure(max(rates))
            parts.append(f"{name}: {numbers.plural(len(rates), 'lap')} between {lowest} and {highest} docs/s.")
        else:
            parts.append(f"{name}: no lap counts.")
    warmup = sum(1 for lap in result.laps if lap.warmup)
    void = len(figures.void_laps(result))
    parts.append(
        f"Of {numbers.plural(len(result.laps), 'lap')} in all, {warmup} belong to the warm-up (shaded, hollow) "
        f"and {void} are void (crossed)."
    )
    parts += _disturbances(result)
    description = " ".join(parts)
    return Plot("laps", title, description, laps.in_order(result.laps, names, baseline), lap_table(result))


def _disturbances(result: Result) -> list[str]:
    """What else the machine did, in a sentence; none where the journal does not tell."""
    seen = [lap.disturbance for lap in figures.counting_laps(result) if lap.disturbance is not None]
    if not seen:
        return []
    taken = sorted(100 * one.taken for one in seen)
    far = len(disturbed_laps(result.laps))
    where = (
        "the machine of load driver and nodes"
        if not any(one.nodes_elsewhere for one in seen)
        else ("the load driver's machine")
    )
    return [
        f"Disturbance: others had {median(taken):.0f} % of the cores of {where} during the median lap that counts, "
        f"{taken[-1]:.0f} % at most; {numbers.plural(far, 'lap')} {'lies' if far == 1 else 'lie'} far outside."
    ]


_DISTURBANCE_HEADERS = ("others, cores", "steal", "waiting: CPU", "disk", "memory")


def _disturbance_cells(one: Disturbance | None) -> tuple[str, ...]:
    if one is None:
        return (numbers.NOTHING,) * len(_DISTURBANCE_HEADERS)
    pressures = (one.cpu_pressure, one.io_pressure, one.memory_pressure)
    shares = (numbers.NOTHING if share is None else f"{100 * share:.1f} %" for share in (one.steal, *pressures))
    return f"{one.others:.2f}", *shares


def lap_table(result: Result) -> Table:
    """Every lap in the order of their running; where the journal tells, with what else the machine did meanwhile."""
    watched = any(lap.disturbance is not None for lap in result.laps)
    rows = tuple(
        (
            str(lap.start),
            str(lap.block),
            str(lap.position),
            lap.contender,
            f"{lap.documents:,}",
            f"{lap.seconds:.2f}",
            numbers.figure(lap.docs_per_second),
            "void" if lap.void is not None else "warm-up" if lap.warmup else "counts",
            *(_disturbance_cells(lap.disturbance) if watched else ()),
        )
        for lap in result.laps
    )
    headers = ("start", "block", "position", "contender", "documents", "seconds", "docs/s", "lap")
    further = _DISTURBANCE_HEADERS if watched else ()
    right = (0, 1, 2, 4, 5, 6, *range(len(headers), len(headers) + len(further)))
    return Table("All laps", (*headers, *further), rows, right)


def _inside(result: Result) -> Plot:
    names = figures.contenders(result)
    shown = names[: laps.PANELS]
    title = "Second by second inside the laps"
    if len(names) > len(shown):
        title += f" (the first {len(shown)} of {len(names)} contenders)"
    rows = []
    for name in names:
        own = [lap for lap in figures.counting_laps(result, name) if lap.rates]
        seconds = [rate for lap in own for rate in figures.whole_seconds(lap)]
        rows.append(
            (
                name,
                str(len(own)),
                str(len(seconds)),
                numbers.figure(sum(seconds) / len(seconds) if seconds else None),
                numbers.figure(figures.second_spread(own)),
                numbers.figure(min(seconds) if seconds else None),
                numbers.figure(max(seconds) if seconds else None),
            )
        )
    headers = ("contender", "laps", "seconds", "mean docs/s", "sd", "lowest", "highest")
    table = Table(
        "One-second rates of the laps that count, each lap's last second left out",
        headers,
        tuple(rows),
        tuple(range(1, 7)),
    )
    description = (
        "Documents indexed in each second of each lap: a thin line per lap (dashed in the warm-up), a thick one for "
        "the median of the laps that count. "
    ) + " ".join(
        f"{row[0]}: mean {row[3]} docs/s, standard deviation {row[4]} between seconds." for row in rows[: len(shown)]
    )
    return Plot("inside", title, description, laps.inside(result.laps, names), table)


def void_section(result: Result) -> Section:
    """Laps and starts that do not count, with their reasons."""
    void = figures.void_laps(result)
    if not void:
        return Section("Void laps", ("No lap was void.",))
    items = tuple(
        f"Start {start} is void as a whole: {reason}" for start, reason in figures.void_starts(result).items()
    )
    rows = tuple((str(lap.start), str(lap.block), lap.contender, _documents(lap), lap.void or "") for lap in void)
    text = "These laps count nowhere: a block without a lap of both the baseline and the contender is no pair."
    headers = ("start", "block", "contender", "counted / sent", "reason")
    return Section(
        "Void laps", (text,), tables=(Table(f"Void laps: {len(void)}", headers, rows, (0, 1, 3)),), items=items
    )


def _documents(lap: Lap) -> str:
    return f"{lap.counted:,} / {lap.documents:,}"
