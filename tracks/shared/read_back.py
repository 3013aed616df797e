"""Whether documents come back as they were sent: what an index with synthetic source rebuilds from its columns.

Some documents of a lap are indexed once more under ids of their own, after everything is measured, and read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

_ID = "paddock-read-back-"
# Of a value in the journal; a stack trace is long.
_LONGEST_TEXT = 200


async def read_back(
    es: Any, index: str, sources: Iterable[bytes], most: int, raw: Iterable[bytes] | None = None
) -> dict[str, Any]:
    """Index the first ``most`` of these documents, read them, and compare.

    :param sources: documents as they stand in the corpus, one JSON object each.
    :param raw: the same as they are sent, where an ingest pipeline parses them; None where they are sent so.
    :returns: ``documents`` that were read again, ``same`` (how many came back equal; the order of an object's keys is
        no difference) and ``fields``: by full name how many ``documents`` differ in it, and of the first one what was
        ``sent`` and what was ``read`` (null where there was nothing). A document that a busy node does not take the
        second time is none that was read, nor is one of an index that stores none.
    """
    sent = [json.loads(source) for source in islice(sources, most)]
    bodies = sent if raw is None else [json.loads(source) for source in islice(raw, most)]
    operations = [line for number, one in enumerate(bodies) for line in ({"index": {"_id": f"{_ID}{number}"}}, one)]
    await es.bulk(index=index, operations=operations, refresh=True)
    found = await es.search(index=index, query={"ids": {"values": [f"{_ID}{n}" for n in range(len(sent))]}}, size=most)
    # An index that stores no documents (mapping variant nothing-stored) gives none back.
    read = {hit["_id"]: hit["_source"] for hit in found["hits"]["hits"] if "_source" in hit}
    fields: dict[str, dict[str, Any]] = {}
    same = 0
    for number, document in enumerate(sent):
        if f"{_ID}{number}" not in read:
            continue
        differing = list(differences(document, read[f"{_ID}{number}"]))
        same += not differing
        for name, before, after in differing:
            entry = fields.setdefault(name, {"documents": 0, "sent": short(before), "read": short(after)})
            entry["documents"] += 1
    return {"documents": len(read), "same": same, "fields": fields}


def differences(sent: Mapping[str, Any], read: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The fields whose values differ: full name, value sent, value read; None where a document has none."""
    return differing(fields_of(sent), fields_of(read))


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The same of fields from :func:`fields_of`."""
    for name in {**before, **after}:
        was, became = before.get(name), after.get(name)
        # To Python true is 1, and false is 0, in lists as well.
        if was != became or (not isinstance(was, str) and written(was) != written(became)):
            yield name, was, became


def fields_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Full names and values of all fields of a document, so that what is the same to Elasticsearch is so here.

    ``{"a": {"b": 1}}`` and ``{"a.b": 1.0}`` are, and so are null and nothing; an empty object is a value. A name that
    comes twice (``{"a": {"b": 1}, "a.b": 2}``) has all of its ``values``.
    """
    found: dict[str, list[Any]] = {}
    for name, value in _leaves(document):
        if value is not None:
            found.setdefault(name, []).append(_plain(value))
    return {name: one[0] if len(one) == 1 else {"values": sorted(one, key=written)} for name, one in found.items()}


def written(value: Any) -> str:
    """The same text for whatever is the same, of values from :func:`fields_of` or all of them."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _leaves(document: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [fields_of(one) if isinstance(one, Mapping) else _plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def short(value: Any) -> Any:
    """The value, cut where it is a long text."""
    return f"{value[:_LONGEST_TEXT]}..." if isinstance(value, str) and len(value) > _LONGEST_TEXT else value
