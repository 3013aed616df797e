"""What the documents of a race cost in money, by the prices that somebody has named."""

from __future__ import annotations

from paddock import numbers
from paddock.costs import PROCESSORS, Cost, Prices, Usage, cost_of
from paddock.plain_values import Missing, known
from paddock.race.replay_check import REPLAY_QUERIES
from paddock.race.summary import NamedFigure, RaceRecord, Summary

_NOT_MEASURED = "Something that has a price was not measured in this race."


def race_cost(summary: Summary, prices: Prices) -> Cost | None:
    """What a million documents cost as this race indexed them; None if something that has a price was not measured.

    Processor time is that of all its loads, bytes those of its indices at the end with their replicas.
    """
    seconds = [known(task.node_cpu_seconds) for task in summary.bulk_tasks]
    documents = [known(task.documents) for task in summary.bulk_tasks]
    indexed = sum(one or 0.0 for one in documents)
    cpu = None
    if indexed and None not in seconds and None not in documents:
        cpu = sum(one or 0.0 for one in seconds) / indexed * 1e6
    whole = summary.race
    size, counted = known(whole.index_bytes), known(whole.documents_counted)
    each = size / counted if size is not None and counted else None
    return cost_of(Usage(cpu, each, known(whole.peak_node_bytes)), prices)


def cost_figures(record: RaceRecord) -> tuple[NamedFigure, ...]:
    """The cost of its documents as every view shows it; nothing without prices."""
    prices = record.prices
    if prices is None:
        return ()
    cost, unit = race_cost(record.summary, prices), prices.currency

    def form(amount: float) -> tuple[str, str]:
        return numbers.money(amount), unit

    if cost is None:
        return (NamedFigure("per million documents", Missing(_NOT_MEASURED), form, short=f"cost {unit}/M docs"),)
    # No counter of a node tells them from the documents beside which they were asked.
    searched = any(task.name == REPLAY_QUERIES for task in record.summary.request_tasks)
    note = "the searches of the query log included" if searched and PROCESSORS in cost.parts else ""
    parts = tuple(
        NamedFigure(f"per million documents, {part}", each, form, note if part == PROCESSORS else "")
        for part, each in cost.parts.items()
    )
    whole = NamedFigure("per million documents", cost.total, form, note, short=f"cost {unit}/M docs")
    month = cost.of_month(prices)
    monthly = (
        () if month is None else (NamedFigure("per month", month.total, form, "once as much is deleted as comes in"),)
    )
    return (*(parts if len(parts) > 1 else ()), whole, *monthly)
