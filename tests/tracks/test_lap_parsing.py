"""Levels that are parsed on the node: what is put there, what their index has, what is sent and read back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from shared.lap import RunLap
from shared.lap_parsing import pipelines_of, read_pipelines
from shared.lap_plan import LapPlan
from shared.levels import read_levels
from shared.raw_documents import make_raw_file

from tests.tracks.lap_client import FakeElasticsearch, corpus, lap, track_with
from tests.tracks.test_lap_plan import PARAMS

PARSED = {"name": "parsed"}
JSON = {"name": "json", "pipeline": "json"}
GEOIP = {"name": "geo", "pipeline": "geoip"}


def planned(tmp_path: Path, *levels: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The laps of the first block, by their level."""
    params = {**PARAMS, "factor": "settings", "order": None, "levels": list(levels), **changes}
    source = LapPlan(track_with(corpus(tmp_path, [50])), params)
    return {one.level: one for one in (source.params()["lap"] for _ in levels)}


def test_a_level_brings_its_pipeline_its_setting_and_its_fields(tmp_path: Path) -> None:
    """And what comes parsed has none of them; pipelines of the race stay beside."""
    laps = planned(tmp_path, PARSED, JSON, GEOIP, pipelines={"mine": {}})
    assert laps["parsed"].sent is None
    assert laps["parsed"].pipelines == {"mine": {}}
    assert "index.default_pipeline" not in laps["parsed"].body["settings"]
    assert laps["parsed"].documents_sent == laps["parsed"].documents
    assert laps["json"].sent == "text"
    assert laps["json"].pipelines == {"mine": {}, "paddock-test-json": read_pipelines()["json"].definition}
    assert laps["json"].body["settings"]["index.default_pipeline"] == "paddock-test-json"
    assert laps["json"].body["mappings"] == laps["parsed"].body["mappings"]
    assert laps["geo"].sent == "line"
    assert laps["geo"].body["mappings"]["properties"].keys() == {"n", "geoip"}
    assert [Path(one.document_file).name for one in laps["json"].documents_sent] == ["documents-0.text-1.json"]


def test_an_index_that_stores_nothing_gets_no_fields(tmp_path: Path) -> None:
    """Its mapping is not enabled, and Elasticsearch refuses fields in it."""
    laps = planned(tmp_path, {**GEOIP, "mapping": "nothing-stored"}, {**PARSED, "mapping": "nothing-stored"})
    assert laps["geo"].body["mappings"] == laps["parsed"].body["mappings"]


def test_what_cannot_be_parsed_so_is_refused(tmp_path: Path) -> None:
    """When the track is loaded, before a node is started."""
    with pytest.raises(exceptions.InvalidSyntax, match=r"by the pipeline 'xml', and there are geoip, grok, json: name"):
        planned(tmp_path, {"name": "a", "pipeline": "xml"})
    with pytest.raises(exceptions.InvalidSyntax, match="of the level 'a' must be the name of one of ingest-pipelines/"):
        planned(tmp_path, {"name": "a", "pipeline": 3})
    both = {"name": "a", "pipeline": "json", "shipper": "rsyslog", "shipper_parsing": "json"}
    with pytest.raises(exceptions.InvalidSyntax, match=r"by its shipper \(shipper_parsing: json\) and by the pipeline"):
        planned(tmp_path, both)
    assert planned(tmp_path, {**both, "shipper_parsing": "none"})["a"].sent == "text"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is no JSON: "),
        ("[]", "is no ingest pipeline: it needs a list of processors"),
        ('{"processors": {}, "_meta": {"sent": "line"}}', "is no ingest pipeline"),
        ('{"processors": []}', "is not what it has to be: it has sent (line or text)"),
        ('{"processors": [], "_meta": {"sent": "csv"}}', "is not what it has to be"),
        ('{"processors": [], "_meta": {"sent": "line", "fields": []}}', "is not what it has to be"),
        ('{"processors": [], "_meta": {"sent": "line", "send": 1}}', "has 'send': it has sent"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    """By its name, with what it has to have; where no level names a pipeline, none is read."""
    (tmp_path / "mine.json").write_text(content)
    with pytest.raises(exceptions.InvalidSyntax) as refused:
        pipelines_of(read_levels("settings", [JSON]), tmp_path)
    assert f"{tmp_path / 'mine.json'} {problem}" in str(refused.value)
    assert pipelines_of(read_levels("settings", [PARSED]), tmp_path) == {}


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
    pipelines = {"paddock-test-json": read_pipelines()["json"].definition}
    one = lap(documents, journal, sent="text", read_back=5, pipelines=pipelines)

    async def call() -> None:
        with client.new_request_context():
            await RunLap()({"default": client}, {"lap": one})

    deleted: list[bytes] = []
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
    (put,) = (request for name, request in client.calls if name == "put_pipeline")
    assert put["meta"] == {"sent": "text", "made_by": "paddock"}
