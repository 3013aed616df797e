"""Contenders from a tournament file: as they are listed, or as the cells of a grid of factors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paddock.tournaments.model import Contender


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
