"""The cost in money: of a tournament's contenders, with what each saves, and of a race's documents."""

from __future__ import annotations

import math

from paddock import numbers
from paddock.costs import ContenderCost, Cost, Prices
from paddock.race.costs import cost_figures
from paddock.race.summary import Missing, RaceRecord
from paddock.reports.document import Section, Table
from paddock.tournaments.model import Result

_HEADING = "Cost"
_CAUTION = (
    "Money is as right as the prices, and as production is like what was measured: a processor that is paid for and "
    "idle costs as much as a busy one, which is not in here."
)


def tournament_costs(result: Result) -> Section | None:
    """What a million documents and a month cost with each contender; None without prices."""
    prices = result.prices
    if prices is None:
        return None
    if not result.costs:
        text = "Something that has a price was not measured in any lap, so there is no cost."
        return Section(_HEADING, (*prices.assumptions, text))
    table = cost_table(result, prices, parts=len(prices.priced) > 1)
    texts = (
        *prices.assumptions,
        "What is saved is the ratio of laps that belong together, of the baseline's mean, so that the machine's drift "
        "is not in it; where the interval holds 0, nothing is proven to be saved.",
        _CAUTION,
    )
    return Section(_HEADING, texts, tables=(table,))


def cost_table(result: Result, prices: Prices, parts: bool) -> Table:
    """The costs of all contenders.

    :param parts: whether also what is paid for processors, storage and so on, each by itself.
    """
    baseline, monthly = result.tournament.baseline, prices.millions_per_month is not None
    paid_for = prices.priced if parts else ()
    heads = ["contender", "all /M docs", *(("a month", "saves a month") if monthly else ("saves /M docs",))]
    rows = []
    for one in result.costs:
        cells = [one.contender, numbers.money(one.million.total)]
        if monthly:
            cells.append(numbers.money(one.month.total if one.month else None))
        each = (numbers.money(one.million.parts[part]) for part in paid_for)
        rows.append((*cells, _saved(one, prices, baseline), *each, str(one.laps)))
    heads += [f"{part} /M docs" for part in paid_for]
    caption = f"Cost in {prices.currency}: means of the laps; what is saved against {baseline}, with its interval"
    return Table(caption, (*heads, "laps"), tuple(rows), tuple(range(1, len(heads) + 1)))


def _saved(one: ContenderCost, prices: Prices, baseline: str) -> str:
    """What it saves, and the ends of its interval: of a month, or of a million documents."""
    if one.contender == baseline:
        return "baseline"
    if one.saved is None:
        return numbers.NOTHING
    amounts = Cost({"saved": one.saved}), Cost({"low": one.saved_low}), Cost({"high": one.saved_high})
    saved, low, high = (
        (month.total if (month := amount.of_month(prices)) is not None else amount.total) for amount in amounts
    )
    if not math.isfinite(low):
        return f"{numbers.money(saved)} (no interval)"
    return f"{numbers.money(saved)} ({numbers.money(low)} to {numbers.money(high)})"


def race_costs(record: RaceRecord) -> Section | None:
    """What the race's documents cost; None without prices."""
    if record.prices is None:
        return None
    figures = cost_figures(record)
    rows = tuple((one.name, one.text, one.note) for one in figures)
    reasons = tuple(dict.fromkeys(one.figure.reason for one in figures if isinstance(one.figure, Missing)))
    one_race = "One race says what it cost once; a tournament says what is cheaper."
    texts = (*record.prices.assumptions, one_race, _CAUTION, *reasons)
    return Section(_HEADING, texts, tables=(Table("Cost of the documents", ("figure", "value", "note"), rows, (1,)),))
