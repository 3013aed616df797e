"""Elasticsearch's client as far as laps use it, with Rally's real request contexts, and laps to run with it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import elasticsearch
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig
from esrally.client.context import RequestContextHolder
from esrally.track import track as rally_track
from shared.lap_plan import Lap

BULK_SECONDS = 0.005


def meta(status: int) -> ApiResponseMeta:
    """What the transport says of an answer."""
    return ApiResponseMeta(status, "1.1", HttpHeaders(), 0.0, NodeConfig("http", "localhost", 9200))


class RawAnswer(io.BytesIO):
    """An answer that Rally's bulk runner has asked for unread."""

    meta = meta(200)


class FakeElasticsearch(RequestContextHolder):
    """One node with one index in memory; `on_bulk` may change or refuse the answer to the nth bulk, from 1."""

    def __init__(self, on_bulk: Callable[[int, int], Any] | None = None):
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.indices = self.cluster = self.nodes = self.ingest = self.ilm = self
        self.documents: list[bytes] = []
        self.markers: list[str] = []
        self.all_markers: list[str] = []
        self.searchable: list[str] = []
        self.merging = 0
        self.node_clock = 0
        self.lost = 0
        self.gone = False
        self.refuse_index = False
        self.write_rejections = 0
        self.in_flight = self.most_in_flight = 0
        self._bulks = 0
        self.on_search: Callable[[int, dict[str, Any]], Any] = lambda number, request: None
        self.on_findings: Callable[[dict[str, Any]], Any] = lambda request: None
        # Mappings by the name of the index; "made" says what else is there, by kind and name, as the cluster tells it.
        self.mappings: dict[str, Any] = {}
        self.made: dict[tuple[str, str], Any] = {}
        self.kept: dict[str, Any] = {}
        self.on_kept: Callable[[Any], Any] = lambda document: document
        self._searches = 0
        self.on_bulk: Callable[[int, int], Any] = on_bulk or (lambda number, documents: None)

    def names(self) -> list[str]:
        """The calls in their order, without repetitions."""
        names = [name for name, _ in self.calls]
        return [name for number, name in enumerate(names) if number == 0 or names[number - 1] != name]

    def options(self, **options: Any) -> FakeElasticsearch:
        self.calls.append(("options", options))
        return self

    async def _called(self, name: str, /, **request: Any) -> None:
        self.calls.append((name, request))
        self.on_request_start()
        await asyncio.sleep(0)
        self.on_request_end()
        if self.gone:
            raise elasticsearch.ConnectionError("Connection refused")

    async def get_mapping(self, index: str) -> dict[str, Any]:
        await self._called("get_mapping", index=index)
        if index not in self.mappings:
            raise elasticsearch.NotFoundError("index_not_found_exception", meta(404), {})
        return {index: {"mappings": self.mappings[index]}}

    async def delete(self, index: str) -> None:
        await self._called("delete", index=index)
        self.documents, self.markers, self.searchable = [], [], []
        self.mappings.pop(index, None)

    async def create(self, index: str, settings: Any, mappings: Any) -> None:
        await self._called("create", index=index, settings=settings, mappings=mappings)
        if self.refuse_index:
            raise elasticsearch.BadRequestError("illegal_argument_exception", meta(400), {})
        self.mappings[index] = mappings

    async def _get(self, kind: str, names: str) -> dict[str, Any]:
        await self._called(f"get_{kind}", names=names)
        found = {name: made for (one, name), made in self.made.items() if one == kind and name in names.split(",")}
        if not found:
            raise elasticsearch.NotFoundError("resource_not_found_exception", meta(404), {})
        return found

    async def get_pipeline(self, id: str) -> dict[str, Any]:  # noqa: A002 - the client's name
        return await self._get("pipeline", id)

    async def get_lifecycle(self, name: str) -> dict[str, Any]:
        return await self._get("lifecycle", name)

    async def get_index_template(self, name: str) -> dict[str, Any]:
        found = await self._get("index_template", name)
        return {"index_templates": [{"name": one, "index_template": made} for one, made in found.items()]}

    async def put_pipeline(self, **request: Any) -> None:
        await self._called("put_pipeline", **request)

    async def put_lifecycle(self, **request: Any) -> None:
        await self._called("put_lifecycle", **request)

    async def put_index_template(self, **request: Any) -> None:
        await self._called("put_index_template", **request)

    async def delete_data_stream(self, **request: Any) -> None:
        await self._called("delete_data_stream", **request)
        self.documents = []
        self.mappings.pop(request["name"], None)

    async def create_data_stream(self, **request: Any) -> None:
        await self._called("create_data_stream", **request)

    async def exists(self, index: str) -> bool:
        return True

    async def get_settings(self, index: str, flat_settings: bool) -> dict[str, Any]:
        return {index: {"settings": {"index.uuid": "x", "index.refresh_interval": "1s"}}}

    async def health(self, **request: Any) -> dict[str, Any]:
        await self._called("health", **request)
        return {"timed_out": False, "status": "green"}

    async def refresh(self, index: str) -> None:
        await self._called("refresh", index=index)

    async def count(self, index: str, query: Any = None) -> dict[str, int]:
        await self._called("count")
        markers = len(self.markers)
        return {"count": markers if query else len(self.documents) - self.lost + markers}

    async def index(self, index: str, id: str, document: Any, op_type: str, pipeline: str) -> None:  # noqa: A002 - the client's name
        assert pipeline == "_none"  # a marker is nothing that the index's pipeline could parse
        await self._called("marker")
        self.markers.append(id)
        self.all_markers.append(id)

    async def search(self, query: Any, **request: Any) -> dict[str, Any]:
        await self._called("search")
        asked = query["ids"]["values"]
        if any(one in self.kept for one in asked):
            return {"hits": {"hits": [{"_id": one, "_source": self.kept[one]} for one in asked if one in self.kept]}}
        return {"hits": {"hits": [{"_id": name} for name in self.searchable if name in asked]}}

    async def forcemerge(self, index: str, max_num_segments: int) -> None:
        await self._called("force merge", index=index, max_num_segments=max_num_segments)

    async def bulk(self, **request: Any) -> RawAnswer | None:
        """A bulk of the load, or documents that a lap gives ids to; `on_kept` may change what is kept of one."""
        if "operations" not in request:
            return await self._bulk(**request)
        await self._called("bulk with ids", index=request["index"], refresh=request["refresh"])
        lines = request["operations"]
        for action, document in zip(lines[::2], lines[1::2], strict=True):
            self.kept[action["index"]["_id"]] = self.on_kept(document)
        return None

    async def _bulk(self, params: Any, body: bytes) -> RawAnswer:
        assert "raw_response" in self.request_context.get()
        self._bulks += 1
        number = self._bulks
        lines = body.split(b"\n")[1::2]
        self.in_flight += 1
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        self.on_request_start()
        await asyncio.sleep(BULK_SECONDS)
        self.on_request_end()
        self.in_flight -= 1
        if self.gone:
            raise elasticsearch.ConnectionError("Connection refused")
        items = self.on_bulk(number, len(lines))
        if items is None:
            self.documents += lines
            items = [{"index": {"status": 201}}] * len(lines)
        errors = any(item["index"]["status"] > 299 for item in items)
        return RawAnswer(json.dumps({"took": 3, "errors": errors, "items": items}).encode())

    async def perform_request(self, method: str, path: str, params: Any, body: Any, headers: Any = None) -> Any:
        """What Rally's search runner calls; `on_search` may refuse or change the answer to the nth search, from 1.

        What a search finds is asked for in an answer that is read; then `on_findings` may do so.
        """
        request = {"method": method, "path": path, "params": dict(params), "body": body, "headers": headers}
        timed = "raw_response" in self.request_context.get()
        self._searches += timed
        await self._called("query" if timed else "findings", **request)
        answer = {
            "took": 2,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"total": {"value": len(self.documents), "relation": "eq"}, "hits": []},
        }
        if not timed:
            return {**answer, **(self.on_findings(request) or {})}
        changed = self.on_search(self._searches, request) or {}
        return RawAnswer(json.dumps({**answer, **changed}).encode())

    async def info(self, metric: str | None = None) -> dict[str, Any]:
        """A node on another machine; or what answers at the root."""
        if metric is None:
            return {"cluster_name": "theirs"}
        return {"nodes": {"one": {"ip": "192.0.2.1", "process": {"id": 1}}}}

    async def stats(self, metric: str, index: str | None = None) -> dict[str, Any]:
        if index is None:
            return self._node_stats()
        if metric == "refresh,flush,merge":
            return self._actions()
        await self._called("merges" if metric == "merge" else "index figures", index=index)
        current = self.merging
        self.merging = max(0, self.merging - 1)
        times = {"total": 1, "total_time_in_millis": 2}
        merges = {**times, "current": current, "total_size_in_bytes": 3, "total_throttled_time_in_millis": 4}
        sizes = {"translog": {"size_in_bytes": 6}, "segments": {"count": 7}}
        return {"_all": {"total": {**sizes, "merges": merges, "refresh": times, "flush": times}}}

    def _actions(self) -> dict[str, Any]:
        """A fresh index has been refreshed once; every bulk refreshes it again, every other one flushes it."""
        self.calls.append(("actions", {}))
        refreshes, flushes = {"total": 1 + self._bulks}, {"total": self._bulks // 2}
        return {"_all": {"primaries": {"refresh": refreshes, "flush": flushes, "merges": {"total": 0}}}}

    async def segments(self, index: str) -> dict[str, Any]:
        """Two shards, one of them with a replica: 5 bytes in all."""
        await self._called("segments", index=index)
        primary, replica = {"segments": {"_0": {"size_in_bytes": 1}}}, {"segments": {"_0": {"size_in_bytes": 1}}}
        other = {"segments": {"_0": {"size_in_bytes": 2}, "_1": {"size_in_bytes": 1}}}
        return {"indices": {index: {"shards": {"0": [primary, replica], "1": [other]}}}}

    def _node_stats(self) -> dict[str, Any]:
        """Figures of the last time that the node has looked: every third question."""
        self.calls.append(("node figures", {}))
        self.node_clock += 1000
        looked = self.node_clock // 3000 * 3000
        node = {
            "timestamp": self.node_clock,
            "process": {"timestamp": looked, "cpu": {"total_in_millis": looked // 10}},
            "jvm": {"timestamp": looked, "gc": {"collectors": {"young": {"collection_time_in_millis": 0}}}},
            "thread_pool": {"write": {"rejected": self.write_rejections}},
        }
        return {"nodes": {"one": node}}


def corpus(folder: Path, sizes: list[int]) -> tuple[rally_track.Documents, ...]:
    """Files with numbered documents, counted through all of them."""
    found, first = [], 0
    for number, size in enumerate(sizes):
        path = folder / f"documents-{number}.json"
        path.write_text("".join(f'{{"n":{first + line}}}\n' for line in range(size)), encoding="utf-8")
        first += size
        found.append(
            rally_track.Documents(
                source_format="bulk", document_file=str(path), number_of_documents=size, target_index="elsewhere"
            )
        )
    return tuple(found)


def lap(documents: tuple[Any, ...], journal: Path | None, **changes: Any) -> Lap:
    """A lap of 25 documents in bulks of 10 by two clients."""
    values: dict[str, Any] = {
        "number": 4,
        "start": 1,
        "ready_file": None,
        "reconnects": False,
        "block": 2,
        "position": 1,
        "warm_up": False,
        "level": "1s",
        "cluster": "default",
        "index": "paddock-test-lap",
        "body": {"settings": {"index.refresh_interval": "1s"}, "mappings": {"dynamic": "strict"}},
        "health": "green",
        "documents": documents,
        "first_document": 0,
        "count": 25,
        "bulk_size": 10,
        "clients": 2,
        "freshness_probe": False,
        "phase": None,
        "rest": 0.0,
        "wait": 0.0,
        "pipelines": None,
        "force_merge": False,
        "read_back": 0,
        "searches": 0,
        "queries": (),
        "client_options": None,
        "journal": journal,
    }
    return Lap(**{**values, **changes})


def track_with(documents: tuple[Any, ...], settings: dict[str, Any] | None = None) -> Any:
    """Rally's track as far as a plan looks at it."""
    body = {
        "settings": {"index.number_of_replicas": 0, "index.refresh_interval": "1s", **(settings or {})},
        "mappings": {"dynamic": "strict", "properties": {"n": {"type": "integer"}}},
    }
    corpora = [rally_track.DocumentCorpus("numbers", list(documents))]
    return SimpleNamespace(corpora=corpora, indices=[SimpleNamespace(body=body)])
