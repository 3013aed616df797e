"""The levels of a factor: what a block challenge compares, from the short form in which a user writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from esrally import exceptions

from shared.mapping_variants import VARIANTS

_DURATION = re.compile(r"[0-9]+(nanos|micros|ms|s|m|h|d)")
_KEYS = {"name", "settings", "bulk_size", "clients", "mapping"}


@dataclass(frozen=True)
class Level:
    """One level: what differs from the track's parameters; None where nothing does.

    :param settings: index settings by full names, with "index.".
    :param bulk_size: documents per bulk.
    :param clients: bulks in flight at the same time.
    :param mapping: name of a mapping variant.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    bulk_size: int | None = None
    clients: int | None = None
    mapping: str | None = None


def _refresh_interval(value: Any) -> dict[str, Any]:
    return {"settings": {"index.refresh_interval": str(value)}}


def _translog_flush(value: Any) -> dict[str, Any]:
    """Understands request, async, a time (async with that sync interval) and a size (flush threshold)."""
    text = str(value)
    if text in ("request", "async"):
        return {"settings": {"index.translog.durability": text}}
    if _DURATION.fullmatch(text):
        return {"settings": {"index.translog.durability": "async", "index.translog.sync_interval": text}}
    return {"settings": {"index.translog.flush_threshold_size": text}}


def _store_type(value: Any) -> dict[str, Any]:
    return {"settings": {"index.store.type": str(value)}}


def _shards(value: Any) -> dict[str, Any]:
    return {"settings": {"index.number_of_shards": _whole("a number of shards", value)}}


def _replicas(value: Any) -> dict[str, Any]:
    return {"settings": {"index.number_of_replicas": _whole("a number of replicas", value, minimum=0)}}


def _bulk_size(value: Any) -> dict[str, Any]:
    return {"bulk_size": value}


def _bulk_clients(value: Any) -> dict[str, Any]:
    return {"clients": value}


def _mapping(value: Any) -> dict[str, Any]:
    return {"mapping": value}


def _nothing_but_objects(value: Any) -> dict[str, Any]:
    raise exceptions.InvalidSyntax(
        f'levels of the challenge settings must be JSON objects such as {{"name": "slow", "settings": '
        f'{{"refresh_interval": "30s"}}}}, but one is {value!r}.'
    )


FACTORS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "refresh-interval": _refresh_interval,
    "translog-flush": _translog_flush,
    "store-type": _store_type,
    "shards": _shards,
    "replicas": _replicas,
    "bulk-size": _bulk_size,
    "bulk-clients": _bulk_clients,
    "mapping-cost": _mapping,
    "settings": _nothing_but_objects,
}


def read_levels(factor: str, values: Any) -> tuple[Level, ...]:
    """The levels in the order in which they are given.

    :param factor: name of the factor, which says what a plain value means; JSON objects mean the same in all of them.
    :raises exceptions.InvalidSyntax: if a level cannot be understood, or two have the same name.
    """
    if not isinstance(values, list) or not values:
        raise exceptions.InvalidSyntax(
            f'levels must be a JSON list with at least one level, such as ["1s","30s"], but is {values!r}.'
        )
    levels = tuple(_level(factor, value) for value in values)
    names = [level.name for level in levels]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise exceptions.InvalidSyntax(
            f"levels has '{twice[0]}' more than once: give each a name of its own, "
            f'as in {{"name": "a second one", "settings": {{}}}}.'
        )
    return levels


def _level(factor: str, value: Any) -> Level:
    if isinstance(value, Mapping):
        return _from_object(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise exceptions.InvalidSyntax(f"levels must hold texts, whole numbers or JSON objects, but one is {value!r}.")
    return _from_object({"name": str(value), **FACTORS[factor](value)})


def _from_object(value: Mapping[str, Any]) -> Level:
    strange = sorted(set(value) - _KEYS)
    name = value.get("name")
    if strange or not isinstance(name, str) or not name:
        problem = f"has '{strange[0]}', which means nothing here" if strange else "has no name"
        raise exceptions.InvalidSyntax(f"a level may have {', '.join(sorted(_KEYS))}; {dict(value)!r} {problem}.")
    settings = value.get("settings") or {}
    if not isinstance(settings, Mapping) or any(isinstance(inner, Mapping) for inner in settings.values()):
        raise exceptions.InvalidSyntax(
            f"the settings of the level '{name}' must be a JSON object of full setting names and values."
        )
    mapping = value.get("mapping")
    if mapping is not None and mapping not in VARIANTS:
        raise exceptions.InvalidSyntax(
            f"the mapping of the level '{name}' must be one of {', '.join(VARIANTS)}, but is {mapping!r}."
        )
    return Level(
        name=name,
        settings={key if key.startswith("index.") else f"index.{key}": inner for key, inner in settings.items()},
        bulk_size=_whole_or_none(f"the bulk_size of the level '{name}'", value.get("bulk_size")),
        clients=_whole_or_none(f"the clients of the level '{name}'", value.get("clients")),
        mapping=mapping,
    )


def _whole_or_none(what: str, value: Any) -> int | None:
    return None if value is None else _whole(what, value)


def _whole(what: str, value: Any, minimum: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise exceptions.InvalidSyntax(f"{what} must be a whole number from {minimum} on, but is {value!r}.")
    return value
