"""What the tracks make in a cluster carries a mark, and only what carries it is deleted or replaced.

The cluster may be somebody's own, with data under the same name. Indices, templates, lifecycle policies and pipelines
all have ``_meta``, which Elasticsearch keeps and does nothing with; what a killed race has left is known by it, too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Any

import elasticsearch
from esrally import exceptions

KEY, MAKER = "made_by", "paddock"
_PATIENCE = 600  # seconds for deleting an index


class SomebodyElses(exceptions.RallyAssertionError):
    """Something of that name is in the cluster, and the tracks have not made it: nothing was changed."""


def marked(made: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping, a policy or a pipeline with the mark in its ``_meta``."""
    return {**made, "_meta": {**(made.get("_meta") or {}), KEY: MAKER}}


async def delete_own(es: Any, name: str, data_stream: bool = False) -> None:
    """Delete the index, all those of the alias, or the data stream of that name if there are any.

    One request if there is none; one more for each that there is.

    :raises SomebodyElses: it is not ours, or the name is a pattern.
    """
    _check_name(name)
    # Of a data stream this tells the mappings of all its indices.
    mappings = await _found(es.indices.get_mapping(index=name))
    if not mappings:
        return
    if not all(is_ours(index.get("mappings")) for index in mappings.values()):
        raise await _refusal(es, "data stream" if data_stream else "index", name)
    patient = es.options(ignore_status=404, request_timeout=_PATIENCE)
    if data_stream:
        await patient.indices.delete_data_stream(name=name)
        return
    for index in mappings:  # those of an alias that rolls over, else the one of that name
        await patient.indices.delete(index=index)


async def put_pipelines(es: Any, pipelines: Mapping[str, Mapping[str, Any]] | None) -> None:
    """Make the node's ingest pipelines what they are to be; one request for all, and one for each.

    :param pipelines: definitions by name, each with its ``processors``; an index uses the one that its setting
        index.default_pipeline names.
    :raises SomebodyElses: one of them is there and is not ours.
    """
    if not pipelines:
        return
    for name in pipelines:
        _check_name(name)
    known = await _found(es.ingest.get_pipeline(id=",".join(pipelines)))
    for name in pipelines:
        if name in known and not is_ours(known[name]):
            raise await _refusal(es, "ingest pipeline", name)
    for name, definition in pipelines.items():
        made = marked(definition)
        await es.ingest.put_pipeline(id=name, meta=made.pop("_meta"), **made)


async def put_lifecycle(es: Any, name: str, policy: Mapping[str, Any]) -> None:
    """Make the lifecycle policy what it is to be.

    :raises SomebodyElses: there is one of that name that is not ours.
    """
    known = await _found(es.ilm.get_lifecycle(name=name))
    if name in known and not is_ours(known[name].get("policy")):
        raise await _refusal(es, "lifecycle policy", name)
    await es.ilm.put_lifecycle(name=name, policy=marked(policy))


async def put_template(es: Any, name: str, **definition: Any) -> None:
    """Make the index template what it is to be.

    :raises SomebodyElses: there is one of that name that is not ours.
    """
    known = await _found(es.indices.get_index_template(name=name))
    if not all(is_ours(one.get("index_template")) for one in known.get("index_templates", ())):
        raise await _refusal(es, "index template", name)
    await es.indices.put_index_template(name=name, meta={KEY: MAKER}, **definition)


def _check_name(name: str) -> None:
    """Refuse what Elasticsearch would take for more than one name."""
    if not name or name == "_all" or any(sign in name for sign in "*?,") or name.startswith("-"):
        raise SomebodyElses(
            f"'{name}' is no name of one index or pipeline, and what it may match is not the track's: give it a plain "
            f"name."
        )


def is_ours(made: Any) -> bool:
    """Whether what has this ``_meta`` was made by the tracks."""
    meta = made.get("_meta") if isinstance(made, Mapping) else None
    return isinstance(meta, Mapping) and meta.get(KEY) == MAKER


async def _found(asking: Awaitable[Any]) -> Mapping[str, Any]:
    """The answer; nothing if there is no such thing."""
    try:
        answer: Mapping[str, Any] = await asking
    except elasticsearch.NotFoundError:
        return {}
    return answer


async def _refusal(es: Any, kind: str, name: str) -> SomebodyElses:
    where = "the cluster"
    with suppress(elasticsearch.ApiError, elasticsearch.TransportError, KeyError, TypeError):
        where = f"the cluster '{(await es.info())['cluster_name']}'"
    return SomebodyElses(
        f"The {kind} '{name}' is in {where} already, and no race of these tracks has made it (its _meta lacks "
        f"{KEY}: {MAKER}), so it was left as it is. If nobody needs it, delete it yourself and race again; else race "
        f"against another cluster."
    )
