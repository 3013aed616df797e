"""Levels that are parsed on the node: what is put there, what their index has, what is sent and read back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from shared.lap import RunLap
from shared.lap_plan import LapPlan
from shared.pipelines import read_pipelines
from shared.raw_documents import make_raw_file

from tests.tracks.lap_client import FakeElasticsearch, corpus, lap, track_with
from tests.tracks.test_lap_plan import PARAMS

DEFINITION = {"processors": [{"json": {"field": "message", "add_to_root": True}}]}
FILE = {"name": "json", "sent": "text", "pipeline": DEFINITION}
PLACES = {"name": "places", "sent": "line", "pipeline": DEFINITION, "fields": {"geoip": {"type": "object"}}}


def planned(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    """The laps of the first block, by their level."""
    params = {**PARAMS, "factor": "parsing", "order": None, "track-pipelines": [FILE, PLACES], **changes}
    source = LapPlan(track_with(corpus(tmp_path, [50])), params)
    return {one.level: one for one in (source.params()["lap"] for _ in params["levels"])}


def test_a_level_brings_its_pipeline_its_setting_and_its_fields(tmp_path: Path) -> None:
    """And what comes parsed has none of them; pipelines of the race stay beside."""
    laps = planned(tmp_path, levels=["parsed", "json", {"name": "geo", "pipeline": "places"}], pipelines={"mine": {}})
    assert laps["parsed"].sent is None
    assert laps["parsed"].pipelines == {"mine": {}}
    assert "index.default_pipeline" not in laps["parsed"].body["settings"]
    assert laps["json"].sent == "text"
    assert laps["json"].pipelines == {"mine": {}, "paddock-test-json": DEFINITION}
    assert laps["json"].body["settings"]["index.default_pipeline"] == "paddock-test-json"
    assert laps["json"].body["mappings"] == laps["parsed"].body["mappings"]
    assert laps["geo"].sent == "line"
    assert laps["geo"].body["mappings"]["properties"].keys() == {"n", "geoip"}
    assert [Path(one.document_file).name for one in laps["json"].documents_sent] == ["documents-0.text-1.json"]


def test_a_pipeline_that_the_track_lacks_is_refused_with_those_it_has(tmp_path: Path) -> None:
    """When the track is loaded, before a node is started."""
    with pytest.raises(exceptions.InvalidSyntax, match="by the pipeline 'xml', and this track has json, places: name"):
        planned(tmp_path, levels=["xml"])
    with pytest.raises(exceptions.InvalidSyntax, match="and this track has none"):
        planned(tmp_path, levels=["json"], **{"track-pipelines": []})
    with pytest.raises(exceptions.InvalidSyntax, match="of the level 'a' must be the name of one of the track's"):
        planned(tmp_path, levels=[{"name": "a", "pipeline": 3}])


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([FILE, FILE], "'json' needs a name of its own"),
        ([{**FILE, "name": ""}], "'' needs a name of its own"),
        ([{**FILE, "send": "line"}], "'json' has 'send'"),
        ([{**FILE, "sent": "csv"}], "'json' has to be sent line or text, not 'csv'"),
        ([{**FILE, "pipeline": []}], "'json' needs a pipeline with a list of processors"),
        ([{**FILE, "pipeline": {"processors": {}}}], "'json' needs a pipeline with a list of processors"),
    ],
)
def test_a_wrong_file_is_refused(files: list[dict[str, Any]], problem: str) -> None:
    """With what a file has to have."""
    with pytest.raises(exceptions.InvalidSyntax, match=f"the pipeline {problem}: a file of pipelines/ has name"):
        read_pipelines(files)


class Parsing(FakeElasticsearch):
    """A node that parses what it is sent, as the pipeline json does."""

    def __init__(self) -> None:
        super().__init__()
        self.on_kept = lambda document: json.loads(document["original"])


def test_a_lap_sends_raw_documents_and_reads_parsed_ones_back(tmp_path: Path) -> None:
    """Each of its documents once; what is compared with the corpus is what the node made of them."""
    documents = corpus(tmp_path, [40])
    make_raw_file(documents[0].document_file, "text")
    client, journal = Parsing(), tmp_path / "laps.jsonl"
    one = lap(documents, journal, sent="text", read_back=5, pipelines={"paddock-test-json": DEFINITION})

    async def call() -> None:
        with client.new_request_context():
            await RunLap()({"default": client}, {"lap": one})

    deleted: list[bytes] = []
    client.on_bulk = lambda number, count: None
    original = client.delete

    async def delete(index: str) -> None:
        deleted.extend(client.documents)
        await original(index)

    client.delete = delete  # type: ignore[method-assign]
    asyncio.run(call())
    record = json.loads(journal.read_text().splitlines()[-1])
    assert record["void"] is None
    assert record["read_back"] == {"documents": 5, "same": 5, "fields": {}}
    assert sorted(json.loads(json.loads(line)["original"])["n"] for line in deleted) == list(range(25))
    assert "put_pipeline" in client.names()
