"""The levels of a factor: what a block challenge compares, from the short form in which a user writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from esrally import exceptions

from shared.mapping_variants import VARIANTS
from shared.shipper_settings import KEYS as SHIPPER_KEYS

_DURATION = re.compile(r"[0-9]+(nanos|micros|ms|s|m|h|d)")
_KEYS = {
    *("name", "settings", "bulk_size", "clients", "mapping", "mode", "codec", "sort", "value", "cluster"),
    *("blocks_per_index", "pipeline"),
    *SHIPPER_KEYS,
}
# Beginnings of settings that a node has from its start on, whatever its indices are.
_OF_THE_NODE = ("indices.", "node.", "thread_pool.", "bootstrap.", "cluster.", "path.")
# What Rally calls the cluster of --target-hosts, unless that names several.
DEFAULT_CLUSTER = "default"

# Index modes as index settings. In mode logsdb Elasticsearch chooses the codec, the store type's default and the order
# by itself; a codec of the track's would stand in its way, so it is taken away (None). Synthetic source, rebuilt from
# columns instead of stored, is a level of its own because Elastic's own distribution asks for a subscription.
MODES: Mapping[str, Mapping[str, Any]] = {
    "standard": {"index.mode": "standard"},
    "logsdb": {"index.mode": "logsdb", "index.mapping.source.mode": "stored", "index.codec": None},
    "logsdb-synthetic": {"index.mode": "logsdb", "index.mapping.source.mode": "synthetic", "index.codec": None},
}
# Types of fields that Elasticsearch sorts an index by.
_SORTABLE = {"keyword", "date", "date_nanos", "boolean", "long", "integer", "short", "byte", "double", "float"}
CODECS = ("default", "best_compression")
UNSORTED = "unsorted"


@dataclass(frozen=True)
class Level:
    """One level: what differs from the track's parameters; None where nothing does.

    :param settings: index settings by full names, with "index."; None takes one of the track's away.
    :param bulk_size: documents per bulk.
    :param clients: bulks in flight at the same time.
    :param mapping: name of a mapping variant.
    :param cluster: which of the clusters of Rally's --target-hosts has its laps.
    :param blocks_per_index: where indices grow: after so many blocks it writes to a new one, as time-based indices are;
        None for one that grows on.
    :param shipper: what sends its laps, and how it is set, by :data:`shared.shipper_settings.KEYS`.
    :param pipeline: name of the ingest pipeline that parses its documents on the node; None where they come parsed.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    bulk_size: int | None = None
    clients: int | None = None
    mapping: str | None = None
    cluster: str = DEFAULT_CLUSTER
    blocks_per_index: int | None = None
    shipper: Mapping[str, Any] = field(default_factory=dict)
    pipeline: str | None = None


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


def _shipper(value: Any) -> dict[str, Any]:
    return {"shipper": value}


def _mapping(value: Any) -> dict[str, Any]:
    return {"mapping": value}


def _mode(value: Any) -> dict[str, Any]:
    return {"mode": value}


def _codec_and_sort(value: Any) -> dict[str, Any]:
    """Understands a codec, and behind "by" the fields to sort by: "best_compression by host, @timestamp desc"."""
    codec, _, fields = str(value).partition(" by ")
    return {"codec": codec.strip(), "sort": fields.strip() or None}


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
    "index-mode": _mode,
    "codec-and-sort": _codec_and_sort,
    "shipper": _shipper,
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
        plain = {name: inner for name, inner in value.items() if name != "value"}
        return _from_object({**_meaning(factor, value["value"]), **plain} if "value" in value else value)
    return _from_object({"name": str(value), **_meaning(factor, value)})


def _meaning(factor: str, value: Any) -> dict[str, Any]:
    """What a plain value of this factor sets."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise exceptions.InvalidSyntax(f"levels must hold texts, whole numbers or JSON objects, but one is {value!r}.")
    return FACTORS[factor](value)


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
    if of_node := sorted(key for key in settings if key.startswith(_OF_THE_NODE)):
        raise exceptions.InvalidSyntax(
            f"'{of_node[0]}' in the settings of the level '{name}' is a setting of the node, the same for all of its "
            f"indices and fixed when it starts: no lap can change it. It is a matter of the car, as the mixins "
            f"index-buffer-10 to -40 are (cars/README.md)."
        )
    mapping = value.get("mapping")
    if mapping is not None and mapping not in VARIANTS:
        raise exceptions.InvalidSyntax(
            f"the mapping of the level '{name}' must be one of {', '.join(VARIANTS)}, but is {mapping!r}."
        )
    cluster = value.get("cluster", DEFAULT_CLUSTER)
    if not isinstance(cluster, str) or not cluster:
        raise exceptions.InvalidSyntax(
            f"the cluster of the level '{name}' must be a name that --target-hosts has, but is {cluster!r}."
        )
    pipeline = value.get("pipeline")
    if pipeline is not None and (not isinstance(pipeline, str) or not pipeline):
        raise exceptions.InvalidSyntax(
            f"the pipeline of the level '{name}' must be the name of one of ingest-pipelines/, but is {pipeline!r}."
        )
    return Level(
        name=name,
        settings={
            **_choice(name, "mode", value.get("mode"), MODES),
            **_choice(name, "codec", value.get("codec"), {codec: {"index.codec": codec} for codec in CODECS}),
            **_sorting(name, value.get("sort")),
            **{key if key.startswith("index.") else f"index.{key}": inner for key, inner in settings.items()},
        },
        bulk_size=_whole_or_none(f"the bulk_size of the level '{name}'", value.get("bulk_size")),
        clients=_whole_or_none(f"the clients of the level '{name}'", value.get("clients")),
        mapping=mapping,
        cluster=cluster,
        blocks_per_index=_whole_or_none(f"the blocks_per_index of the level '{name}'", value.get("blocks_per_index")),
        shipper={key: value[key] for key in SHIPPER_KEYS if value.get(key) is not None},
        pipeline=pipeline,
    )


def _choice(level: str, key: str, value: Any, choices: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The settings that one word stands for."""
    if value is None:
        return {}
    if not isinstance(value, str) or value not in choices:
        raise exceptions.InvalidSyntax(
            f"the {key} of the level '{level}' must be one of {', '.join(choices)}, but is {value!r}."
        )
    return choices[value]


def _sorting(level: str, value: Any) -> dict[str, Any]:
    """The settings of an index whose segments are sorted by those fields, ascending unless "desc" follows a name."""
    if value is None or value == UNSORTED:
        return {}
    fields = value if isinstance(value, list) else str(value).split(",")
    words = [field.split() if isinstance(field, str) else [] for field in fields]
    if not words or not all(len(one) == 1 or (len(one) == 2 and one[1] in ("asc", "desc")) for one in words):
        raise exceptions.InvalidSyntax(
            f"the sort of the level '{level}' must be a JSON list of fields, each with asc or desc behind it if need "
            f'be, such as ["host", "@timestamp desc"], but is {value!r}.'
        )
    return {"index.sort.field": [one[0] for one in words], "index.sort.order": [(*one, "asc")[1] for one in words]}


def sorted_by(level: Level) -> tuple[str, ...]:
    """The fields by which the level sorts its index."""
    fields = level.settings.get("index.sort.field") or ()
    return (fields,) if isinstance(fields, str) else tuple(fields)


def sorting_mappings(level: Level, mappings: Mapping[str, Any], others: Iterable[str] = ()) -> Mapping[str, Any]:
    """The mapping with every field that the level sorts by, refused before a lap is run if one cannot be sorted by.

    An index can be sorted by fields only that its mapping names. Where the mapping takes any field, one that it does
    not name is taken for a text, and becomes what it would when the first document comes. If documents bring something
    else there, numbers for example, that is another mapping than theirs: so all levels get it.

    :param mappings: of the index, as the level has them; left alone.
    :param others: fields by which other levels sort.
    :raises exceptions.InvalidSyntax: if there is no such field, or it keeps no column (doc values).
    """
    there = dict(_columns(mappings.get("properties", {})))
    takes_any = mappings.get("dynamic") in (None, True, "true") and mappings.get("enabled", True)
    added = {}
    for one in dict.fromkeys((*sorted_by(level), *others)):
        if one not in there and takes_any:
            added[one] = _brought_by_documents(one, mappings)
            there |= _columns({one: added[one]})
        if one in sorted_by(level) and not there.get(one):
            problem = "keeps no column to sort by" if one in there else "does not exist in the track's index"
            raise exceptions.InvalidSyntax(
                f"the level '{level.name}' sorts by the field '{one}', which {problem}: name one of "
                f"{', '.join(name for name, sortable in there.items() if sortable) or 'those of another track'}."
            )
    return {**mappings, "properties": {**mappings.get("properties", {}), **added}} if added else mappings


def _brought_by_documents(name: str, mappings: Mapping[str, Any]) -> Mapping[str, Any]:
    """How a text is mapped whose field the mapping does not name: by the first dynamic template that fits."""
    last = name.rpartition(".")[2]
    for template in (one for entry in mappings.get("dynamic_templates", ()) for one in entry.values()):
        if template.get("match_mapping_type", "*") in ("string", "*") and fnmatchcase(last, template.get("match", "*")):
            definition: Mapping[str, Any] = template["mapping"]
            return definition
    return {"type": "keyword", "ignore_above": 1024}


def _columns(properties: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, bool]]:
    """Every field by its full name, and whether an index can be sorted by it."""
    for name, definition in properties.items():
        if "properties" in definition:
            yield from _columns(definition["properties"], f"{above}{name}.")
        else:
            yield f"{above}{name}", definition["type"] in _SORTABLE and definition.get("doc_values", True)
            yield from _columns(definition.get("fields", {}), f"{above}{name}.")


def _whole_or_none(what: str, value: Any) -> int | None:
    return None if value is None else _whole(what, value)


def _whole(what: str, value: Any, minimum: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise exceptions.InvalidSyntax(f"{what} must be a whole number from {minimum} on, but is {value!r}.")
    return value
