"""The parts of a report on two factors at once: heat maps of mean and spread, and lines over each factor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from paddock.reports import figures, numbers
from paddock.reports.document import Plot, Section, Table
from paddock.reports.figures import Grid
from paddock.reports.plots import canvas
from paddock.reports.plots.grid import heat_map, lines
from paddock.tournaments.model import Result

_READING = "The stronger the colour, the higher the figure; empty cells were not measured or have no lap that counts."


def grid_sections(result: Result) -> list[Section]:
    """A section for each grid of the tournament; none if its contenders have no coordinates."""
    return [_section(result, grid, number) for number, grid in enumerate(figures.grids(result), 1)]


def _section(result: Result, grid: Grid, number: int) -> Section:
    metric = figures.label(result.main.metric)
    means = {name: absolute.mean for name, absolute in figures.absolutes(result.main).items()}
    spreads, spread_title = _spreads(result)
    where = f", {grid.others}" if grid.others else ""
    plots = [_heat(grid, means, f"Mean {metric}{where}", f"mean-{number}")]
    if spreads:
        plots.append(_heat(grid, spreads, f"{spread_title}{where}", f"sd-{number}"))
    ratios = figures.ratios(result)
    plots.append(_heat(grid, ratios, f"Ratio to {result.tournament.baseline}{where}", f"ratio-{number}", numbers.ratio))
    for along, by in ((grid.across, grid.down), (grid.down, grid.across)):
        plots.append(_lines(grid, means, along, by, f"Mean {metric} over {along}, a line per {by}{where}", number))
    return Section(f"{grid.across} x {grid.down}{where}", plots=tuple(plots))


def _spreads(result: Result) -> tuple[dict[str, float], str]:
    """Standard deviations between laps; between seconds where there are not two laps of each contender."""
    known = figures.absolutes(result.main)
    if known and all(absolute.laps > 1 for absolute in known.values()):
        spread = {name: absolute.sd for name, absolute in known.items()}
        return spread, f"Standard deviation between laps, {figures.label(result.main.metric)}"
    seconds = {name: figures.second_spread(figures.counting_laps(result, name)) for name in known}
    return {name: sd for name, sd in seconds.items() if sd is not None}, "Standard deviation between seconds, docs/s"


def _value(grid: Grid, values: Mapping[str, float], column: Any, row: Any) -> float | None:
    value = values.get(figures.cell(grid, column, row) or "")
    return value if value is not None and math.isfinite(value) else None


def _table(grid: Grid, values: Mapping[str, float], caption: str, text: Any) -> Table:
    rows = tuple((str(row), *(text(_value(grid, values, column, row)) for column in grid.columns)) for row in grid.rows)
    headers = (f"{grid.down} \\ {grid.across}", *(str(column) for column in grid.columns))
    return Table(caption, headers, rows, tuple(range(1, len(headers))))


def _heat(grid: Grid, values: Mapping[str, float], title: str, name: str, text: Any = numbers.figure) -> Plot:
    def plot(width: int) -> Any:
        if width > canvas.NARROW:
            return heat_map(
                grid.across, grid.down, grid.columns, grid.rows, lambda x, y: _value(grid, values, x, y), text, width
            )
        # On a phone the longer factor goes down.
        return heat_map(
            grid.down, grid.across, grid.rows, grid.columns, lambda x, y: _value(grid, values, y, x), text, width
        )

    description = _extremes(grid, values, text)
    wide, narrow = canvas.draw(f"heat-{name}", title, description, plot)
    return Plot(f"heat-{name}", title, description, wide, narrow, _table(grid, values, title, text), _READING)


def _extremes(grid: Grid, values: Mapping[str, float], text: Any) -> str:
    """Where the highest and the lowest figures are, in words."""
    placed = [
        (value, column, row)
        for column in grid.columns
        for row in grid.rows
        if (value := _value(grid, values, column, row)) is not None
    ]
    if not placed:
        return "No cell has a figure."
    low, high = min(placed, key=lambda one: one[0]), max(placed, key=lambda one: one[0])
    return (
        f"{len(grid.columns)} values of {grid.across} by {len(grid.rows)} values of {grid.down}. "
        f"Highest: {text(high[0])} at {grid.across} {high[1]}, {grid.down} {high[2]}. "
        f"Lowest: {text(low[0])} at {grid.across} {low[1]}, {grid.down} {low[2]}."
    )


def _lines(grid: Grid, values: Mapping[str, float], along: str, by: str, title: str, number: int) -> Plot:
    first = along == grid.across
    along_values, by_values = (grid.columns, grid.rows) if first else (grid.rows, grid.columns)

    def value(one: Any, member: Any) -> float | None:
        return _value(grid, values, one, member) if first else _value(grid, values, member, one)

    parts = []
    for member in by_values:
        known = [(value(one, member), one) for one in along_values]
        rates = [(rate, one) for rate, one in known if rate is not None]
        if rates:
            (begin, first_value), (best, best_value) = rates[0], max(rates, key=lambda pair: pair[0])
            parts.append(
                f"{by} {member}: {numbers.figure(begin)} at {along} {first_value}, "
                f"highest {numbers.figure(best)} at {best_value}."
            )
    description = " ".join(parts) or "No cell has a figure."
    name = f"lines-{'across' if first else 'down'}-{number}"
    wide, narrow = canvas.draw(
        name, title, description, lambda width: lines(along, by, along_values, by_values, value, width)
    )
    return Plot(name, title, description, wide, narrow, _table(grid, values, title, numbers.figure))
