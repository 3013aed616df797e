"""Contenders from a tournament file, as they are listed or as the cells of a grid, and a published study's figures."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddock.errors import FileError
from paddock.tournaments.model import Contender, Published


def listed(entries: Sequence[Mapping[str, Any]]) -> tuple[Contender, ...]:
    """The contenders that a file lists one by one."""
    return tuple(
        Contender(
            entry["name"],
            entry.get("level"),
            tuple(entry["cars"]) if "cars" in entry else None,
            entry.get("track_params", {}),
        )
        for entry in entries
    )


def cells(factors: Sequence[Mapping[str, Any]], cars: Sequence[str]) -> tuple[Contender, ...]:
    """One contender for every combination of the factors' values, the last factor changing fastest.

    :param factors: name, what it sets, values.
    :param cars: the tournament's own, to which a factor that sets cars adds its value.
    """
    values = [[(factor, value) for value in factor["values"]] for factor in factors]
    return tuple(_cell(combination, cars) for combination in itertools.product(*values))


def cell_name(coordinates: Mapping[str, Any]) -> str:
    """The name of the contender with these coordinates: "bulk size 500, clients 2"."""
    return ", ".join(f"{factor} {value}" for factor, value in coordinates.items())


def level_object(contender: Contender) -> Any:
    """The contender as the block challenges want a level: a plain value that is its own name, or an object."""
    if contender.level is None:
        return {"name": contender.name}
    if isinstance(contender.level, Mapping):
        return {"name": contender.name, **contender.level}
    return contender.level


def differs_at_the_node(contender: Contender) -> bool:
    """Whether it needs a race of its own."""
    return contender.cars is not None or bool(contender.track_params)


def _cell(combination: Sequence[tuple[Mapping[str, Any], Any]], cars: Sequence[str]) -> Contender:
    coordinates = {factor["name"]: value for factor, value in combination}
    level: dict[str, Any] = {}
    settings = {factor["set"]: value for factor, value in combination if factor["set"].startswith("index.")}
    if settings:
        level["settings"] = settings
    level |= {factor["set"]: value for factor, value in combination if factor["set"] in _LEVEL_KEYS}
    own_cars = tuple(_cars(combination))
    return Contender(
        cell_name(coordinates), level or None, (*cars, *own_cars) if own_cars else None, coordinates=coordinates
    )


_LEVEL_KEYS = ("bulk_size", "clients", "mapping")


def _cars(combination: Sequence[tuple[Mapping[str, Any], Any]]) -> Iterator[str]:
    for factor, value in combination:
        if factor["set"] == "cars":
            yield from (name.strip() for name in str(value).split(",") if name.strip())


def read_published(path: Path, content: Mapping[str, Any], names: Iterable[str]) -> Published:
    """What the tournament file says under "published".

    :param path: the tournament file; a table lies beside it.
    :param names: every contender of the file; exclusions must be among them.
    :raises FileError: if the table cannot be read, lacks a column, or a name is no contender.
    """
    known = set(names)
    figures: dict[str, float] = dict(content.get("figures", {}))
    sds: dict[str, float] = {}
    if "table" in content:
        figures, sds = _read_table(path.with_name(content["table"]["file"]), content["table"])
    for name in (*figures, *content.get("excluded", {}), *content.get("excluded_sds", {})):
        if name not in known:
            raise FileError(path, f"published names '{name}', which is no contender of this tournament: correct it.")
    excluded_sds = content.get("excluded_sds", {})
    return Published(
        source=content["source"],
        unit=content["unit"],
        figures=figures,
        deviations=tuple(content.get("deviations", ())),
        excluded=content.get("excluded", {}),
        sds={name: sd for name, sd in sds.items() if name not in excluded_sds},
        excluded_sds=excluded_sds,
    )


def narrowed(published: Published, names: Iterable[str]) -> Published:
    """The figures of these contenders alone, for a tournament that runs only some."""
    kept = set(names)

    def only(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name in kept}

    return Published(
        published.source,
        published.unit,
        only(published.figures),
        published.deviations,
        only(published.excluded),
        only(published.sds),
        only(published.excluded_sds),
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
