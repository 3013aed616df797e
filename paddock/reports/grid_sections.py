"""The part of a report on two factors at once: heat maps of mean and spread, and lines over each factor.

Where a study has published figures for the same cells, its maps and lines stand beside those measured here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddock import numbers
from paddock.reports import figures
from paddock.reports.document import Plot, Section, Table
from paddock.reports.figures import Grid
from paddock.reports.plots.factors import LEFT_OUT, heat_map, lines
from paddock.tournaments.model import Published, Result

NOT_MEASURED = "were not measured or have no lap that counts"


@dataclass(frozen=True)
class Layer:
    """One figure for each contender of a grid.

    :param source: "published" or "measured here", where the two stand side by side; empty where there is one alone.
    :param left_out: contender -> why its figure is not believed; it is not among the values.
    :param missing: why a cell may be empty.
    """

    title: str
    values: Mapping[str, float]
    source: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    text: Callable[[float | None], str] = numbers.figure
    missing: str = NOT_MEASURED

    def value(self, grid: Grid, column: Any, row: Any) -> float | None:
        """The figure in that cell; None if there is none."""
        value = self.values.get(figures.cell(grid, column, row) or "")
        return value if value is not None and math.isfinite(value) else None

    def cell(self, grid: Grid, column: Any, row: Any) -> str:
        """The figure in that cell as text."""
        if figures.cell(grid, column, row) in self.left_out:
            return LEFT_OUT
        return self.text(self.value(grid, column, row))


def heat_plot(grid: Grid, layer: Layer, name: str) -> Plot:
    """A heat map with the figures in its cells; what is left out is marked and explained."""
    left_out = [(x, y) for (x, y), contender in grid.cells.items() if contender in layer.left_out]

    drawn = heat_map(
        *(grid.across, grid.down, grid.columns, grid.rows),
        lambda x, y: layer.value(grid, x, y),
        layer.text,
        left_out,
    )
    marked = [f"{LEFT_OUT} {name}: {layer.left_out[name]}" for name in grid.cells.values() if name in layer.left_out]
    description = " ".join([_extremes(grid, layer), *marked])
    table = _table(grid, layer.title, [("", layer)])
    reading = " ".join([f"The stronger the colour, the higher the figure; empty cells {layer.missing}.", *marked])
    return Plot(f"heat-{name}", layer.title, description, drawn, table, reading)


def line_plot(grid: Grid, layers: Sequence[Layer], along: str, by: str, title: str, name: str) -> Plot:
    """Lines over the factor ``along``, one per value of ``by``; a panel for each layer."""
    first = along == grid.across
    along_values, by_values = (grid.columns, grid.rows) if first else (grid.rows, grid.columns)

    def value_of(layer: Layer) -> Callable[[Any, Any], float | None]:
        return lambda one, member: layer.value(grid, *((one, member) if first else (member, one)))

    description = " ".join(
        _course(layer.source, value_of(layer), along, by, along_values, by_values) for layer in layers
    )
    drawn = lines(along, by, along_values, by_values, [(layer.source, value_of(layer)) for layer in layers])
    table = _table(grid, title, [(layer.source, layer) for layer in layers])
    reading = "Each side has a scale of its own: compare the shapes." if len(layers) > 1 else ""
    return Plot(name, title, description, drawn, table, reading)


def _table(grid: Grid, caption: str, layers: Sequence[tuple[str, Layer]]) -> Table:
    """The figures, a row per value of the factor that goes down; several layers below each other."""
    rows = tuple(
        (f"{row}, {source}" if source else str(row), *(layer.cell(grid, column, row) for column in grid.columns))
        for source, layer in layers
        for row in grid.rows
    )
    headers = (f"{grid.down} \\ {grid.across}", *(str(column) for column in grid.columns))
    if any(LEFT_OUT in row for row in rows):
        caption += f" ({LEFT_OUT} left out)"
    return Table(caption, headers, rows, tuple(range(1, len(headers))))


def _extremes(grid: Grid, layer: Layer) -> str:
    """Where the highest and the lowest figures are, in words."""
    placed = [
        (value, column, row)
        for column in grid.columns
        for row in grid.rows
        if (value := layer.value(grid, column, row)) is not None
    ]
    if not placed:
        return "No cell has a figure."
    low, high = min(placed, key=lambda one: one[0]), max(placed, key=lambda one: one[0])
    return (
        f"{len(grid.columns)} values of {grid.across} by {len(grid.rows)} values of {grid.down}. "
        f"Highest: {layer.text(high[0])} at {grid.across} {high[1]}, {grid.down} {high[2]}. "
        f"Lowest: {layer.text(low[0])} at {grid.across} {low[1]}, {grid.down} {low[2]}."
    )


def _course(
    source: str,
    value: Callable[[Any, Any], float | None],
    along: str,
    by: str,
    along_values: Sequence[Any],
    by_values: Sequence[Any],
) -> str:
    """Each line in words: where it begins and where it is highest."""
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
    said = " ".join(parts) or "No cell has a figure."
    return f"{source[0].upper()}{source[1:]}: {said}" if source else said


PUBLISHED, MEASURED = "published", "measured here"
_NOT_PUBLISHED = "were not published"
_TOO_SHORT = "have laps without two whole seconds in all"


def grid_sections(result: Result) -> list[Section]:
    """A section for each grid of the tournament; none if its contenders have no coordinates."""
    return [_section(result, grid, number) for number, grid in enumerate(figures.grids(result), 1)]


def _section(result: Result, grid: Grid, number: int) -> Section:
    published = result.tournament.published
    cells = set(grid.cells.values())
    with_study = published is not None and bool(cells & set(published.figures))
    where = f", {grid.others}" if grid.others else ""
    metric = figures.label(result.main.metric)
    measured = Layer(
        f"{'Measured mean' if with_study else 'Mean'} {metric}{where}",
        {name: mean for name, mean in figures.means(result.main).items() if name in cells},
        MEASURED if with_study else "",
    )
    maps, means, texts = [(measured, "mean")], [measured], []
    if published is not None and with_study:
        stated, stated_sd = _published_layers(published, cells, where)
        seconds = _between_seconds(result, f"Measured standard deviation between seconds, docs/s{where}")
        maps, means = [(stated, "published-mean"), *maps], [stated, measured]
        if published.sds:
            maps += [(stated_sd, "published-sd"), (seconds, "sd")]
            texts += _spread_texts(stated, stated_sd, measured, seconds) if result.main.metric.unit == "docs/s" else []
    else:
        spreads = _spreads(result, where)
        maps += [(spreads, "sd")] if spreads.values else []
    ratios = Layer(f"Ratio to {result.tournament.baseline}{where}", figures.ratios(result), text=numbers.ratio)
    plots = [heat_plot(grid, layer, f"{name}-{number}") for layer, name in [*maps, (ratios, "ratio")]]
    for along, by, name in ((grid.across, grid.down, "across"), (grid.down, grid.across, "down")):
        title = f"Mean {metric} over {along}, a line per {by}{where}"
        plots.append(line_plot(grid, means, along, by, title, f"lines-{name}-{number}"))
    return Section(f"{grid.across} x {grid.down}{where}", tuple(texts), tuple(plots))


def _published_layers(published: Published, cells: set[str], where: str) -> tuple[Layer, Layer]:
    """The study's means and standard deviations, without those that are left out as misprints."""
    means = {
        name: figure for name, figure in published.figures.items() if name in cells and name not in published.excluded
    }
    left_out = {name: why for name, why in published.excluded.items() if name in cells}
    sds = {name: sd for name, sd in published.sds.items() if name in cells and name not in published.excluded_sds}
    left_out_sds = {name: why for name, why in published.excluded_sds.items() if name in cells}
    return (
        Layer(f"Published mean, {published.unit}{where}", means, PUBLISHED, left_out, missing=_NOT_PUBLISHED),
        Layer(
            f"Published standard deviation, {published.unit}{where}",
            sds,
            PUBLISHED,
            left_out_sds,
            missing=_NOT_PUBLISHED,
        ),
    )


def _spread_texts(means: Layer, sds: Layer, measured: Layer, seconds: Layer) -> list[str]:
    """What share of the mean the standard deviation is, there and here, and where it could not be measured."""
    clauses = [
        f"{low if low == high else f'{low} to {high}'} of the mean as {layer.source}"
        for mean, layer in ((means, sds), (measured, seconds))
        if (shares := _shares(mean.values, layer.values))
        for low, high in [(numbers.share(min(shares)), numbers.share(max(shares)))]
    ]
    texts = [f"The standard deviation between seconds is {' and '.join(clauses)}."] if clauses else []
    short = [name for name in measured.values if name not in seconds.values]
    if short:
        texts.append(
            f"The laps of {numbers.plural(len(short), 'cell')} do not hold two whole seconds in all, so the standard "
            f"deviation between seconds is not known there: more documents per lap would tell."
        )
    return texts


def _shares(means: Mapping[str, float], sds: Mapping[str, float]) -> list[float]:
    return [sd / means[name] for name, sd in sds.items() if means.get(name, 0) > 0]


def _spreads(result: Result, where: str) -> Layer:
    """Standard deviations between laps; between seconds where there are not two laps of each contender."""
    known = figures.absolutes(result.main)
    if known and all(absolute.laps > 1 for absolute in known.values()):
        title = f"Standard deviation between laps, {figures.label(result.main.metric)}{where}"
        return Layer(title, {name: absolute.sd for name, absolute in known.items() if absolute.sd is not None})
    return _between_seconds(result, f"Standard deviation between seconds, docs/s{where}")


def _between_seconds(result: Result, title: str) -> Layer:
    return Layer(title, figures.second_sds(result), MEASURED, missing=_TOO_SHORT)
