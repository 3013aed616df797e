"""Two factors at once in a report: heat maps of mean and spread, and lines over each factor.

Where a study has published figures for the same cells, its maps and lines stand beside those measured here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from paddock import numbers
from paddock.reports import figures
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import (
    LONGEST,
    SERIES,
    Panel,
    breakable,
    ink,
    legend,
    linear,
    named,
    panels,
    shape,
    shortened,
)
from paddock.statistics.curves import find_knee, fit_logarithm
from paddock.tournaments.model import Result

# A knee is where a mean is within this share of the highest one.
KNEE = 0.05
# What stands in a cell whose figure is left out.
LEFT_OUT = "†"


@dataclass(frozen=True)
class Grid:
    """Contenders in two dimensions.

    :param across, down: the factors; ``across`` has at least as many values.
    :param cells: (value across, value down) -> name of the contender.
    :param others: what the other factors are in this grid, as text; empty if there are none.
    """

    across: str
    down: str
    columns: tuple[Any, ...]
    rows: tuple[Any, ...]
    cells: Mapping[tuple[Any, Any], str]
    others: str = ""

    def contender(self, column: Any, row: Any) -> str | None:
        """The contender in that cell; None if it was not run."""
        return self.cells.get((_key(column), _key(row)))

    def turned(self) -> Grid:
        """The same with its factors the other way round."""
        cells = {(down, across): name for (across, down), name in self.cells.items()}
        return Grid(self.down, self.across, self.rows, self.columns, cells, self.others)


def grids(result: Result) -> list[Grid]:
    """The grids among the contenders, one for each combination of further factors; none without two factors."""
    placed = [contender for contender in result.tournament.contenders if len(contender.coordinates) > 1]
    names = sorted({factor for contender in placed for factor in contender.coordinates})
    placed = [contender for contender in placed if set(contender.coordinates) == set(names)]
    values = {name: _in_order([contender.coordinates[name] for contender in placed]) for name in names}
    across, down, *further = [*sorted(names, key=lambda name: (-len(values[name]), name)), "", ""]
    if len(values.get(down, ())) < 2:
        return []
    groups: dict[str, dict[tuple[Any, Any], str]] = {}
    for one in placed:
        others = ", ".join(f"{name} {one.coordinates[name]}" for name in further if name)
        place = _key(one.coordinates[across]), _key(one.coordinates[down])
        groups.setdefault(others, {})[place] = one.name
    return [Grid(across, down, values[across], values[down], cells, others) for others, cells in groups.items()]


def _key(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool)) else repr(value)


def _in_order(values: Sequence[Any]) -> tuple[Any, ...]:
    """Each value once: numbers by size, others as they come."""
    once = list({_key(value): value for value in values}.values())
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in once)
    return tuple(sorted(once)) if numeric else tuple(once)


PUBLISHED, MEASURED = "published", "measured here"
NOT_MEASURED = "were not measured or have no lap that counts"
_NOT_PUBLISHED = "were not published"
_TOO_SHORT = "have laps without two whole seconds in all"


@dataclass(frozen=True)
class Layer:
    """One figure for each contender of a grid.

    :param source: PUBLISHED or MEASURED, where the two stand side by side; empty where there is one alone.
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
        value = self.values.get(grid.contender(column, row) or "")
        return value if value is not None and math.isfinite(value) else None

    def known(self, grid: Grid) -> list[tuple[float, Any, Any]]:
        """Its figures with their column and row, column by column."""
        placed = ((self.value(grid, column, row), column, row) for column in grid.columns for row in grid.rows)
        return [(value, column, row) for value, column, row in placed if value is not None]

    def cell(self, grid: Grid, column: Any, row: Any) -> str:
        """The figure in that cell as text."""
        if grid.contender(column, row) in self.left_out:
            return LEFT_OUT
        return self.text(self.value(grid, column, row))


def heat_plot(grid: Grid, layer: Layer, name: str) -> Plot:
    """A cell per contender with its figure: the stronger the colour, the higher; what is left out is explained."""
    known = layer.known(grid)
    values = [value for value, _, _ in known] or [0.0]
    low, span = min(values), (max(values) - min(values)) or 1.0

    def cell(column: Any, row: Any) -> str:
        where = escape(f"{grid.across} {column}, {grid.down} {row}")
        said, figure = escape(layer.cell(grid, column, row)), layer.value(grid, column, row)
        if said == LEFT_OUT:
            return f'<td class="left-out" title="{where}">{LEFT_OUT}</td>'
        if figure is None:
            return f'<td title="{where}">-</td>'
        strength = f"{100 * (0.06 + 0.5 * (figure - low) / span):.0f}%"
        return f'<td class="heat" style="--strength:{strength}" title="{where}: {said}">{said}</td>'

    head = "".join(f"<th>{breakable(text)}</th>" for text in (f"{grid.down} \\ {grid.across}", *map(str, grid.columns)))
    body = "".join(
        f"<tr><th>{breakable(str(row))}</th>{''.join(cell(column, row) for column in grid.columns)}</tr>"
        for row in grid.rows
    )
    drawn = f'<div class="scroll"><table class="map"><tr>{head}</tr>{body}</table></div>'
    marked = [f"{LEFT_OUT} {name}: {layer.left_out[name]}" for name in grid.cells.values() if name in layer.left_out]
    extremes = "No cell has a figure."
    if known:
        bottom, top = min(known, key=lambda one: one[0]), max(known, key=lambda one: one[0])
        extremes = (
            f"{len(grid.columns)} values of {grid.across} by {len(grid.rows)} values of {grid.down}. "
            f"Highest: {layer.text(top[0])} at {grid.across} {top[1]}, {grid.down} {top[2]}. "
            f"Lowest: {layer.text(bottom[0])} at {grid.across} {bottom[1]}, {grid.down} {bottom[2]}."
        )
    reading = " ".join([f"The stronger the colour, the higher the figure; empty cells {layer.missing}.", *marked])
    table = _table(grid, layer.title, [layer])
    return Plot(f"heat-{name}", layer.title, " ".join([extremes, *marked]), drawn, table, reading)


def line_plot(grid: Grid, layers: Sequence[Layer], title: str, name: str, turned: bool = False) -> Plot:
    """Lines over the factor across, one per value of the other; a panel for each layer.

    :param turned: over the factor down instead; the table stays as it is.
    """
    over = grid.turned() if turned else grid
    description = " ".join(_course(over, layer) for layer in layers)
    reading = "Each side has a scale of its own: compare the shapes." if len(layers) > 1 else ""
    return Plot(name, title, description, _lines(over, layers), _table(grid, title, layers), reading)


def _lines(grid: Grid, layers: Sequence[Layer]) -> str:
    """Places across are equally far apart: batch sizes of 16 and 32 can be told apart beside 1,250."""
    found = []
    for layer in layers:
        known = layer.known(grid)
        highest = max((figure for figure, _, _ in known if figure), default=1.0)
        panel = Panel(named(grid.columns), linear(0, highest * 1.06, 5), 240, layer.source, grid.across)
        for number, row in enumerate(grid.rows):
            course = [(at, layer.value(grid, column, row)) for at, column in enumerate(grid.columns)]
            points = [(float(at), figure) for at, figure in course if figure]
            panel.line(points, f"{ink(number)} {('', 'dashed', 'dotted')[number // SERIES % 3]}".strip())
            for at, figure in points:
                hover = f"{grid.across} {grid.columns[round(at)]}, {grid.down} {row}: {figure:,.4g}"
                panel.mark(at, figure, shape(number), f"{ink(number)} small", hover)
        found.append(panel.html())
    rows = [shortened(str(row), LONGEST) for row in grid.rows]
    entries = [(row if number else f"{grid.down} {row}", shape(number), ink(number)) for number, row in enumerate(rows)]
    return panels(found, legend(entries), least=320)


def _table(grid: Grid, caption: str, layers: Sequence[Layer]) -> Table:
    """The figures, a row per value of the factor that goes down; several layers below each other."""
    several = len(layers) > 1
    rows = tuple(
        (f"{row}, {one.source}" if several else str(row), *(one.cell(grid, column, row) for column in grid.columns))
        for one in layers
        for row in grid.rows
    )
    headers = (f"{grid.down} \\ {grid.across}", *(str(column) for column in grid.columns))
    if any(LEFT_OUT in row for row in rows):
        caption += f" ({LEFT_OUT} left out)"
    return Table(caption, headers, rows, tuple(range(1, len(headers))))


def _course(grid: Grid, layer: Layer) -> str:
    """Each line in words: where it begins and where it is highest."""
    parts = []
    for row in grid.rows:
        rates = [(rate, one) for one in grid.columns if (rate := layer.value(grid, one, row)) is not None]
        if rates:
            (begin, first), (best, at) = rates[0], max(rates, key=lambda pair: pair[0])
            parts.append(
                f"{grid.down} {row}: {numbers.figure(begin)} at {grid.across} {first}, "
                f"highest {numbers.figure(best)} at {at}."
            )
    said = " ".join(parts) or "No cell has a figure."
    return f"{layer.source[0].upper()}{layer.source[1:]}: {said}" if layer.source else said


def grid_sections(result: Result) -> list[Section]:
    """A section for each grid of the tournament; none if its contenders have no coordinates."""
    return [_section(result, grid, number) for number, grid in enumerate(grids(result), 1)]


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
        unit = f"{published.unit}{where}"
        stated = _stated(f"Published mean, {unit}", published.figures, published.excluded, cells)
        maps, means = [(stated, "published-mean"), *maps], [stated, measured]
        if published.sds:
            stated_sd = _stated(f"Published standard deviation, {unit}", published.sds, published.excluded_sds, cells)
            seconds = _between_seconds(result, f"Measured standard deviation between seconds, docs/s{where}")
            maps += [(stated_sd, "published-sd"), (seconds, "sd")]
            spreads_of = [(stated, stated_sd), (measured, seconds)]
            if published.counts_warm_up:
                spreads_of.append(_with_warm_up(result, cells, where))
                maps.append((spreads_of[-1][1], "sd-warm-up"))
            texts += _spread_texts(spreads_of, measured, seconds) if result.main.metric.unit == "docs/s" else []
    else:
        spreads = _spreads(result, where)
        maps += [(spreads, "sd")] if spreads.values else []
    ratios = Layer(f"Ratio to {result.tournament.baseline}{where}", figures.ratios(result), text=numbers.ratio)
    plots = [heat_plot(grid, layer, f"{name}-{number}") for layer, name in [*maps, (ratios, "ratio")]]
    for along, by, name in ((grid.across, grid.down, "across"), (grid.down, grid.across, "down")):
        title = f"Mean {metric} over {along}, a line per {by}{where}"
        plots.append(line_plot(grid, means, title, f"lines-{name}-{number}", turned=name == "down"))
    curves = [text for layer in means for text in _curve_texts(grid, layer)]
    return Section(f"{grid.across} x {grid.down}{where}", tuple(texts), tuple(plots), items=tuple(curves))


def _with_warm_up(result: Result, cells: set[str], where: str) -> tuple[Layer, Layer]:
    """Means and standard deviations with the laps of the warm-up, as a study has them that counted its own."""
    laps = [lap for lap in figures.laps_with_warm_up(result) if lap.contender in cells]
    rates: dict[str, list[float]] = {}
    for lap in laps:
        rates.setdefault(lap.contender, []).append(lap.docs_per_second)
    source = "measured here with the warm-up"
    means = {name: sum(of) / len(of) for name, of in rates.items()}
    title = f"Measured standard deviation between seconds, warm-up included, docs/s{where}"
    return (
        Layer(f"Measured mean, warm-up included, docs/s{where}", means, source),
        Layer(title, figures.second_sds(result, warm_up=True), source, missing=_TOO_SHORT),
    )


def _curve_texts(grid: Grid, layer: Layer) -> list[str]:
    """The knee, and the logarithm through the line with least of the other factor; none unless both are numbers."""
    if not all(isinstance(one, (int, float)) for one in (*grid.columns, *grid.rows)):
        return []
    who = f"{layer.source[0].upper()}{layer.source[1:]}: " if layer.source else ""
    texts = []
    knee = find_knee({(column, row): value for value, column, row in layer.known(grid)}, KNEE)
    if knee is not None:
        near = "; ".join(f"{grid.across} {column} with {grid.down} {row}" for column, row in knee.near)
        texts.append(
            f"{who}within {numbers.margin(KNEE)} of the highest mean ({numbers.figure(knee.highest)} at {grid.across} "
            f"{knee.best[0]:g}, {grid.down} {knee.best[1]:g}) with least: {near}."
        )
    for one in (grid, grid.turned()):
        line = [(float(column), layer.value(one, column, one.rows[0])) for column in one.columns]
        fitted = fit_logarithm([(x, y) for x, y in line if y is not None])
        if fitted is not None:
            texts.append(
                f"{who}at {one.down} {one.rows[0]} the mean follows {numbers.figure(fitted.offset)} "
                f"{'+' if fitted.slope >= 0 else '-'} {numbers.figure(abs(fitted.slope))} x ln({one.across}), which "
                f"explains {numbers.share(fitted.explained)} of how {numbers.plural(fitted.points, 'mean')} differ."
            )
    return [text[0].upper() + text[1:] for text in texts]


def _stated(title: str, found: Mapping[str, float], excluded: Mapping[str, str], cells: set[str]) -> Layer:
    """A study's figures, without those that are left out as misprints."""
    figures_of = {name: figure for name, figure in found.items() if name in cells and name not in excluded}
    left_out = {name: why for name, why in excluded.items() if name in cells}
    return Layer(title, figures_of, PUBLISHED, left_out, missing=_NOT_PUBLISHED)


def _spread_texts(spreads_of: Sequence[tuple[Layer, Layer]], measured: Layer, seconds: Layer) -> list[str]:
    """What share of the mean the standard deviation is, there and here, and where it could not be measured.

    :param spreads_of: means and standard deviations that belong together.
    """
    clauses = []
    for mean, layer in spreads_of:
        shares = [sd / mean.values[name] for name, sd in layer.values.items() if mean.values.get(name, 0) > 0]
        if shares:
            low, high = numbers.share(min(shares)), numbers.share(max(shares))
            clauses.append(f"{low if low == high else f'{low} to {high}'} of the mean as {layer.source}")
    texts = [f"The standard deviation between seconds is {_listed(clauses)}."] if clauses else []
    short = [name for name in measured.values if name not in seconds.values]
    if short:
        texts.append(
            f"The laps of {numbers.plural(len(short), 'cell')} do not hold two whole seconds in all, so the standard "
            f"deviation between seconds is not known there: more documents per lap would tell."
        )
    return texts


def _listed(clauses: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(clauses[:-1]), clauses[-1]]))


def _spreads(result: Result, where: str) -> Layer:
    """Standard deviations between laps; between seconds where there are not two laps of each contender."""
    known = figures.absolutes(result.main)
    if known and all(absolute.laps > 1 for absolute in known.values()):
        title = f"Standard deviation between laps, {figures.label(result.main.metric)}{where}"
        return Layer(title, {name: absolute.sd for name, absolute in known.items() if absolute.sd is not None})
    return _between_seconds(result, f"Standard deviation between seconds, docs/s{where}")


def _between_seconds(result: Result, title: str) -> Layer:
    return Layer(title, figures.second_sds(result), MEASURED, missing=_TOO_SHORT)
