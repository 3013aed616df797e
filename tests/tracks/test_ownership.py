"""What the tracks have not made themselves is neither deleted nor replaced, whatever it is called."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import elasticsearch
import pytest
from esrally import exceptions
from shared.index_runners import FreshIndex
from shared.lap import RunLap
from shared.ownership import SomebodyElses, delete_own, marked

from tests.tracks.lap_client import FakeElasticsearch, corpus, lap, meta

MARK = {"made_by": "paddock"}
FRESH = {"index": "logs", "status": "green", "body": {"settings": {}, "mappings": {"dynamic": "strict"}}}
CHANGING = {"delete", "delete_data_stream", "create", "create_data_stream", "bulk with ids", "marker"} | {
    f"put_{kind}" for kind in ("pipeline", "lifecycle", "index_template")
}


def stopped(cluster: FakeElasticsearch, params: dict[str, Any]) -> str:
    """What `fresh-index` says when it stops; nothing was changed in the cluster until then."""

    async def call() -> None:
        with cluster.new_request_context():
            await FreshIndex()(cluster, params)

    with pytest.raises(SomebodyElses) as error:
        asyncio.run(call())
    assert isinstance(error.value, exceptions.RallyAssertionError)
    return str(error.value)


@pytest.mark.parametrize("meta", [None, {}, {"made_by": "somebody"}, {"paddock": True}])
@pytest.mark.parametrize("stream", [False, True])
def test_an_index_or_stream_without_the_mark_is_left_alone(meta: Any, stream: bool) -> None:
    """The sentence names it and its cluster, and says what to do."""
    cluster = FakeElasticsearch()
    cluster.mappings = {"logs": {} if meta is None else {"_meta": meta}}
    said = stopped(cluster, {**FRESH, "data-stream": stream})
    what = "data stream" if stream else "index"
    assert said.startswith(f"The {what} 'logs' is in the cluster 'theirs' already, and no race of these tracks has")
    assert "delete it yourself" in said
    assert CHANGING.isdisjoint(cluster.names())


def test_one_foreign_index_of_a_stream_is_enough() -> None:
    """Somebody may have added an index of theirs to a data stream."""

    class Mixed(FakeElasticsearch):
        async def get_mapping(self, index: str) -> dict[str, Any]:
            return {".ds-logs-1": {"mappings": {"_meta": MARK}}, ".ds-logs-2": {"mappings": {}}}

    assert "data stream 'logs'" in stopped(Mixed(), {**FRESH, "data-stream": True})


@pytest.mark.parametrize(
    ("kind", "there", "what"),
    [
        ("pipeline", {"processors": []}, "ingest pipeline 'logs'"),
        ("lifecycle", {"policy": {"phases": {}}}, "lifecycle policy 'logs'"),
        ("index_template", {"index_patterns": ["logs"]}, "index template 'logs'"),
    ],
)
def test_nothing_of_somebody_elses_is_replaced(kind: str, there: dict[str, Any], what: str) -> None:
    """A pipeline, a policy and a template of the same name each stop the race; with the mark they are made anew."""
    params = {**FRESH, "data-stream": True, "lifecycle": {"phases": {}}, "pipelines": {"logs": {"processors": []}}}
    cluster = FakeElasticsearch()
    cluster.made[kind, "logs"] = there
    assert f"The {what} is in the cluster 'theirs' already" in stopped(cluster, params)
    assert f"put_{kind}" not in cluster.names()
    assert "create_data_stream" not in cluster.names()
    cluster.made[kind, "logs"] = {"policy": {"_meta": MARK}} if kind == "lifecycle" else {**there, "_meta": MARK}

    async def call() -> None:
        with cluster.new_request_context():
            await FreshIndex()(cluster, params)

    asyncio.run(call())
    assert f"put_{kind}" in cluster.names()


@pytest.mark.parametrize("name", ["", "*", "logs-*", "a,b", "_all", "-logs", "log?"])
def test_no_pattern_is_ever_deleted(name: str) -> None:
    """Elasticsearch would take each for more than one index; it is not even asked."""
    cluster = FakeElasticsearch()
    with pytest.raises(SomebodyElses, match="is no name of one index"):
        asyncio.run(delete_own(cluster, name))
    assert cluster.calls == []


def test_the_mark_leaves_what_is_there() -> None:
    """Another team's own notes in a mapping stay, and its mapping is not changed."""
    mapping = {"dynamic": "strict", "_meta": {"version": 3}}
    assert marked(mapping) == {"dynamic": "strict", "_meta": {"version": 3, **MARK}}
    assert mapping["_meta"] == {"version": 3}


def test_a_foreign_index_of_the_laps_name_stops_the_race(tmp_path: Path) -> None:
    """Before anything of the lap; the lap is in the journal with the sentence, and no other lap is tried."""
    cluster = FakeElasticsearch()
    cluster.mappings = {"paddock-test-lap": {"_meta": {"owner": "billing"}}}
    journal = tmp_path / "laps.jsonl"

    async def call() -> None:
        with cluster.new_request_context():
            await RunLap()({"default": cluster}, {"lap": lap(corpus(tmp_path, [40]), journal)})

    with pytest.raises(SomebodyElses, match="'paddock-test-lap' is in the cluster 'theirs' already"):
        asyncio.run(call())
    assert CHANGING.isdisjoint(cluster.names())
    assert cluster.mappings == {"paddock-test-lap": {"_meta": {"owner": "billing"}}}
    assert "was left as it is" in json.loads(journal.read_text())["void"]


def test_what_appears_while_a_lap_is_prepared_is_left_alone(tmp_path: Path) -> None:
    """Somebody makes an index of that name between our look and our own: the void lap clears nothing up."""

    class Contested(FakeElasticsearch):
        async def create(self, index: str, settings: Any, mappings: Any) -> None:
            await self._called("create")
            self.mappings[index] = {"_meta": {"owner": "billing"}}
            raise elasticsearch.BadRequestError("resource_already_exists_exception", meta(400), {})

    cluster, journal = Contested(), tmp_path / "laps.jsonl"

    async def call() -> None:
        with cluster.new_request_context():
            await RunLap()({"default": cluster}, {"lap": lap(corpus(tmp_path, [40]), journal)})

    asyncio.run(call())
    assert "delete" not in cluster.names()
    assert json.loads(journal.read_text())["void"]


def test_what_a_late_bulk_has_made_anew_is_the_races_own(tmp_path: Path) -> None:
    """Without the mark, under the name of an index that this race made before: the next lap begins all the same."""
    cluster, journal = FakeElasticsearch(), tmp_path / "laps.jsonl"
    run_lap = RunLap()

    async def call() -> None:
        with cluster.new_request_context():
            await run_lap({"default": cluster}, {"lap": lap(corpus(tmp_path, [40]), journal)})

    asyncio.run(call())
    cluster.mappings = {"paddock-test-lap": {"properties": {"message": {"type": "text"}}}}
    asyncio.run(call())
    assert [json.loads(line)["void"] for line in journal.read_text().splitlines()] == [None, None]
