"""Variants of a track's mapping, from everything indexed to nothing stored: what each part of a mapping costs.

Twins are a field's multi-fields; doc values are the columns that sorting and aggregations read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Definition = dict[str, Any]

# Lucene takes terms of up to 32,766 bytes, and a character of UTF-8 has up to four.
_LONGEST_KEYWORD = 8191


def _full(field: Definition) -> Definition:
    """Texts as Elasticsearch maps them by itself: words to search for, and a twin to group by."""
    if field["type"] in ("text", "keyword"):
        return {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}
    return field


def _no_twins(field: Definition) -> Definition:
    return {name: value for name, value in field.items() if name != "fields"}


def _keywords(field: Definition) -> Definition:
    if field["type"] == "text":
        return {"type": "keyword", "ignore_above": _LONGEST_KEYWORD}
    return _no_twins(field)


def _no_doc_values(field: Definition) -> Definition:
    single = _no_twins(field)
    return single if field["type"] == "text" else {**single, "doc_values": False}


def _doc_values_only(field: Definition) -> Definition:
    return {**_no_twins(field), "index": False}


_FIELDS: dict[str, Callable[[Definition], Definition]] = {
    "full": _full,
    "track": lambda field: field,
    "no-twins": _no_twins,
    "keywords": _keywords,
    "no-doc-values": _no_doc_values,
    "doc-values-only": _doc_values_only,
}
_WHOLE: dict[str, dict[str, Any]] = {
    "nothing-indexed": {"enabled": False},
    "nothing-stored": {"enabled": False, "_source": {"enabled": False}},
}
VARIANTS = (*_FIELDS, *_WHOLE)


def mapping_variant(name: str, mappings: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping of a track in one of its variants.

    :param name: one of :data:`VARIANTS`; "track" is the mapping as it is.
    :param mappings: the track's mapping; left alone.
    """
    if name in _WHOLE:
        return _WHOLE[name]
    variant = {**mappings, "properties": _changed(mappings.get("properties", {}), _FIELDS[name])}
    if "dynamic_templates" in mappings:
        variant["dynamic_templates"] = [
            {title: {**template, "mapping": _FIELDS[name](template["mapping"])} for title, template in entry.items()}
            for entry in mappings["dynamic_templates"]
        ]
    return variant


def _changed(properties: Mapping[str, Any], change: Callable[[Definition], Definition]) -> dict[str, Any]:
    return {
        name: {**field, "properties": _changed(field["properties"], change)} if "properties" in field else change(field)
        for name, field in properties.items()
    }
