"""The part of a report on two factors at once: heat maps of mean and spread, and lines over each factor.

Where a study has published figures for the same cells, its maps and lines stand beside those measured here.
"""

from __future__ import annotations

from collections.abc import Mapping

from paddock.reports import figures, numbers
from paddock.reports.document import Section
from paddock.reports.figures import Grid
from paddock.reports.grid_plots import Layer, heat_plot, line_plot
from paddock.tournaments.model import Published, Result

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
