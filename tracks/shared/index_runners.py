"""What is done around a load: a fresh index before it, and proof that all documents are in an index at rest after it.

Each is one task: between two tasks Rally pauses for up to six seconds (its workers look for an ended task every five,
and a second passes before the next one), so that several short ones take longer than what they do.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import elasticsearch
from esrally import exceptions
from esrally.track.params import ParamSource

from shared.corpora import documents_to_index
from shared.lap_figures import wait_for_merges
from shared.ownership import delete_own, marked, put_lifecycle, put_pipelines, put_template

_PATIENCE = 600  # seconds for refreshing an index
_HEALTH_PATIENCE = 60  # seconds until an index is allocated
_MERGE_PATIENCE = 3600  # seconds: the last merges of a large index have much to write


class TracksIndex(ParamSource):
    """Adds ``body``, settings and mapping as the track has them, to the parameters of ``fresh-index``.

    An index has them itself, a data stream has a template with them.
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        name = params.get("index")
        bodies = {index.name: index.body for index in track.indices}
        bodies |= {template.name: template.content for template in track.composable_templates}
        if name not in bodies:
            there = " and ".join(f"'{one}'" for one in bodies) or "none"
            raise exceptions.InvalidSyntax(
                f"the operation 'fresh-index' asks for the index {name!r}, but the track '{track.name}' has {there}: "
                f'set "index" to the name of one that stands below "indices" in its track.json.'
            )
        self._body = bodies[name] or {}

    def params(self) -> dict[str, Any]:
        """The parameters of one call."""
        return {**self._params, "body": self._body}


class FreshIndex:
    """Deletes the index or data stream if there is one of the tracks', creates it, and waits until it is allocated.

    Parameters of the operation: ``index``; ``body`` (from :class:`TracksIndex`); ``pipelines`` (as
    :func:`shared.ownership.put_pipelines`); ``data-stream`` (whether it is one); ``lifecycle`` (its policy, None for
    none); ``rolls-over`` (whether ``index`` is an alias, behind which the first index is made); and those of
    :class:`WaitForHealth`.
    """

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Do it once.

        :raises exceptions.RallyTaskAssertionError: if Elasticsearch refuses the index, or it is not healthy in time.
        :raises shared.ownership.SomebodyElses: if what is there under that name is not the tracks'.
        """
        index, body = params["index"], params["body"]
        try:
            await put_pipelines(es, params.get("pipelines"))
            await delete_own(es, index, bool(params.get("data-stream")))
            if params.get("data-stream"):
                await _new_data_stream(es, index, body, params.get("lifecycle"))
            else:
                made = {**body, "mappings": marked(body.get("mappings") or {})}
                if params.get("rolls-over"):
                    made["aliases"] = {index: {"is_write_index": True}}
                await es.indices.create(index=first_of_alias(index) if params.get("rolls-over") else index, **made)
        except elasticsearch.ApiError as error:
            raise exceptions.RallyTaskAssertionError(
                f"Elasticsearch refused to create the index '{index}': {_reason(error)}. "
                f"Change the track parameter that sets this."
            ) from error
        return await WaitForHealth()(es, params)

    def __repr__(self) -> str:
        return "fresh-index"


def first_of_alias(alias: str) -> str:
    """The name of the first index behind an alias that rolls over; Elasticsearch counts on from it by itself."""
    return f"{alias}-000001"


async def _new_data_stream(es: Any, name: str, body: Mapping[str, Any], lifecycle: Mapping[str, Any] | None) -> None:
    """A data stream, whose indices are made after a template of its name, and its lifecycle policy."""
    template = {**body, "mappings": marked(body.get("mappings") or {})}
    if lifecycle is not None:
        await put_lifecycle(es, name, lifecycle)
        template["settings"] = {**body.get("settings", {}), "index.lifecycle.name": name}
    # A priority above those of the templates that Elastic's own distribution brings (100 to 200).
    await put_template(es, name, index_patterns=[name], data_stream={}, template=template, priority=500)
    await es.indices.create_data_stream(name=name)


class WaitForHealth:
    """Waits until an index is allocated as asked, for measuring half-allocated shards is worthless.

    Parameters: ``index``; ``status`` ("green", "yellow"); ``timeout`` (seconds, 60 by default).
    """

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Wait.

        :raises exceptions.RallyTaskAssertionError: if the time is over.
        """
        index, status, timeout = params["index"], params["status"], params.get("timeout", _HEALTH_PATIENCE)
        deadline = time.monotonic() + timeout
        while True:
            # Elasticsearch answers 408 with the health as it is when its own timeout is over: no error to us.
            health = await es.options(ignore_status=408).cluster.health(
                index=index, wait_for_status=status, wait_for_no_relocating_shards=True, timeout="5s"
            )
            if not health["timed_out"]:
                return {"weight": 1, "unit": "ops", "success": True, "cluster-status": health["status"]}
            if time.monotonic() >= deadline:
                raise exceptions.RallyTaskAssertionError(
                    f"The index '{index}' is {health['status']} after {timeout} s, but {status} was asked for "
                    f"({health['unassigned_shards']} shards unassigned, {health['relocating_shards']} relocating): "
                    f"replicas need a second node (number_of_replicas, cluster_health); "
                    f"a full disk keeps shards out, too."
                )


class ExpectedDocuments(ParamSource):
    """Adds ``expected``, the number of documents that the bulk task sends once, to the parameters of ``settle``."""

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in track.corpora)
        self._expected = documents_to_index(available, params)

    def params(self) -> dict[str, Any]:
        """The parameters of one call."""
        return {**self._params, "expected": self._expected}


class Settle:
    """Refreshes an index, counts its documents, and waits until no merge runs any more.

    Parameters of the operation: ``index``; ``expected`` (documents; None for as many as Elasticsearch says that it has
    indexed, where a clock ends the load); ``enforce`` (false: a wrong count is only reported, because the challenge
    replaces documents, repeats the corpus or tolerates errors); ``wait-for-merges`` (whether to).

    :param merge_patience: seconds for the merges.
    """

    def __init__(self, merge_patience: float = _MERGE_PATIENCE) -> None:
        self.logger = logging.getLogger(__name__)
        self._merge_patience = merge_patience

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Do it once.

        :raises exceptions.RallyTaskAssertionError: if the count is wrong and ``enforce`` is set, or merges do not end.
        """
        index, expected = params["index"], params["expected"]
        await es.options(request_timeout=_PATIENCE).indices.refresh(index=index)
        if expected is None:
            stats = await es.indices.stats(index=index, metric="indexing")
            expected = stats["_all"]["primaries"]["indexing"]["index_total"]
        counted = (await es.count(index=index))["count"]
        if counted != expected:
            problem = _wrong_count(index, expected, counted)
            if params["enforce"]:
                raise exceptions.RallyTaskAssertionError(problem)
            self.logger.warning("%s", problem)
        if params["wait-for-merges"] and await wait_for_merges(es, index, self._merge_patience) is None:
            raise exceptions.RallyTaskAssertionError(
                f"Merges of the index '{index}' still run after {self._merge_patience:g} s, so that what follows would "
                f"be measured beside them: index fewer documents, or set wait_for_merges to false."
            )
        return {"weight": 1, "unit": "ops", "success": True, "expected": expected, "counted": counted}

    def __repr__(self) -> str:
        return "settle"


def _reason(error: elasticsearch.ApiError) -> str:
    """Elasticsearch's own words, without the JSON around them."""
    try:
        reason = str(error.body["error"]["reason"])
    except (KeyError, TypeError):
        reason = str(error)
    return reason.rstrip(".")


def _wrong_count(index: str, expected: int, counted: int) -> str:
    difference = f"{expected - counted} are missing" if counted < expected else f"{counted - expected} are too many"
    return (
        f"The index '{index}' has {counted} documents, but {expected} were sent: {difference}. "
        f"This race does not count; look for bulk errors in its results, and for the cause in the log of the node."
    )
