"""What a published study found, as a tournament file has it under "published": figures, ratios, words, deviations."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paddock.errors import FileError


@dataclass(frozen=True)
class PublishedMetric:
    """What a study found in one metric beside that of the verdict.

    :param metric: the name of the metric here that it is compared with.
    :param unit: of the figures, in the study's words.
    :param figures: contender name -> figure; ``ratios`` where ratios to its baseline are all that was published.
    :param said: the study's own words, where they say more than the figures.
    """

    metric: str
    unit: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    said: str = ""


@dataclass(frozen=True)
class Published:
    """Figures of a published study.

    :param figures: contender name -> figure; the unit is in ``unit``. Empty where only ``ratios`` were published.
    :param deviations: what differs from the study's own setup, a sentence each.
    :param excluded: contender name -> why its figure is left out of comparisons (a misprint, say).
    :param sds: contender name -> published standard deviation, in the same unit; empty where none were published.
    :param excluded_sds: contender name -> why its standard deviation is left out of ``sds``.
    :param ratios: contender name -> ratio to the baseline of the tournament, as the study's figures or words give it.
    :param others: what it found in further metrics.
    :param statements: what it found that is no figure here, a sentence each.
    :param counts_warm_up: whether its figures include its warm-up: those measured are then shown with and without.
    """

    source: str
    unit: str
    figures: Mapping[str, float]
    deviations: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    sds: Mapping[str, float] = field(default_factory=dict)
    excluded_sds: Mapping[str, str] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    others: tuple[PublishedMetric, ...] = ()
    statements: tuple[str, ...] = ()
    counts_warm_up: bool = False

    def ratios_to(self, baseline: str) -> dict[str, float]:
        """What it claims of the metric of the verdict; empty if it has no usable figure for the baseline."""
        return claimed(self.figures, self.ratios, baseline, self.excluded)


def claimed(
    figures: Mapping[str, float], ratios: Mapping[str, float], baseline: str, excluded: Iterable[str] = ()
) -> dict[str, float]:
    """Ratios to the baseline: those that were published as such, and those of figures to the baseline's own."""
    left_out = set(excluded)
    found = {name: ratio for name, ratio in ratios.items() if name not in left_out}
    reference = figures.get(baseline)
    if reference and baseline not in left_out:
        found |= {name: figure / reference for name, figure in figures.items() if name not in left_out}
    return found


def cell_name(coordinates: Mapping[str, Any]) -> str:
    """The name of the contender with these coordinates: "bulk size 500, clients 2"."""
    return ", ".join(f"{factor} {value}" for factor, value in coordinates.items())


def read_published(path: Path, content: Mapping[str, Any], names: Iterable[str], metrics: Iterable[str]) -> Published:
    """What the tournament file says under "published".

    :param path: the tournament file; a table lies beside it.
    :param names: every contender of the file; what is published, or excluded, must be among them.
    :param metrics: the names of all metrics.
    :raises FileError: if the table cannot be read, lacks a column, or a name is no contender or metric.
    """
    known, measured = set(names), set(metrics)
    figures: dict[str, float] = dict(content.get("figures", {}))
    sds: dict[str, float] = {}
    if "table" in content:
        figures, sds = _read_table(path.with_name(content["table"]["file"]), content["table"])
    excluded_sds, others = content.get("excluded_sds", {}), content.get("others", ())
    named = [*figures, *content.get("ratios", {}), *content.get("excluded", {}), *excluded_sds]
    for one in others:
        named += [*one.get("figures", {}), *one.get("ratios", {})]
        if one["metric"] not in measured:
            problem = f"published has figures in the metric '{one['metric']}', which is none: tournaments/README.md"
            raise FileError(path, f"{problem} lists them.")
    for name in named:
        if name not in known:
            raise FileError(path, f"published names '{name}', which is no contender of this tournament: correct it.")
    for one in (content, *others):
        if both := set(one.get("ratios", {})) & set(figures if one is content else one.get("figures", {})):
            problem = f"published has both a figure and a ratio of '{min(both)}', and figures tell ratios"
            raise FileError(path, f"{problem}: leave one of them out.")
    return Published(
        source=content["source"],
        unit=content["unit"],
        figures=figures,
        deviations=tuple(content.get("deviations", ())),
        excluded=content.get("excluded", {}),
        sds={name: sd for name, sd in sds.items() if name not in excluded_sds},
        excluded_sds=excluded_sds,
        ratios=content.get("ratios", {}),
        others=tuple(PublishedMetric(**one) for one in others),
        statements=tuple(content.get("statements", ())),
        counts_warm_up=content.get("counts_warm_up", False),
    )


def narrowed(published: Published, names: Iterable[str]) -> Published:
    """What it says of these contenders alone, for a tournament that runs only some."""
    kept = set(names)

    def only(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name in kept}

    return replace(
        published,
        figures=only(published.figures),
        excluded=only(published.excluded),
        sds=only(published.sds),
        excluded_sds=only(published.excluded_sds),
        ratios=only(published.ratios),
        others=tuple(replace(one, figures=only(one.figures), ratios=only(one.ratios)) for one in published.others),
    )


def _read_table(path: Path, table: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """Figures and standard deviations by contender; ``columns`` says which column holds which factor."""
    figures: dict[str, float] = {}
    sds: dict[str, float] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                name = cell_name({factor: row[column] for factor, column in table["columns"].items()})
                figures[name] = float(row[table["figure"]])
                if "sd" in table:
                    sds[name] = float(row[table["sd"]])
    except OSError as error:
        raise FileError(path, f"this table of published figures cannot be read ({error.strerror}).") from None
    except KeyError as error:
        raise FileError(path, f"this table has no column {error}: name one that it has.") from None
    except (ValueError, TypeError) as error:
        raise FileError(path, f"this table holds something else than numbers: {error}.") from None
    return figures, sds
