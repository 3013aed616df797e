"""A fresh index before a load and an index at rest after it, with a client that answers what it is told to."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import elasticsearch
import pytest
from esrally import exceptions
from esrally.track import track as rally_track
from esrally.track.params import SearchParamSource
from shared.index_runners import FreshIndex, Settle, TracksIndex, WaitForHealth
from shared.registration import register

from paddock import tracks
from paddock.errors import FileError
from tests.tracks.lap_client import FakeElasticsearch, meta
from tests.tracks.rendered import build

BODY = {"settings": {"index.refresh_interval": "1s"}, "mappings": {"dynamic": "strict"}}
FRESH = {"index": "logs", "status": "green", "body": BODY}
OURS = {"dynamic": "strict", "_meta": {"made_by": "paddock"}}


class Unhealthy(FakeElasticsearch):
    """One that answers with these healths one after another, and with the last one again and again."""

    def __init__(self, *answers: dict[str, Any]):
        super().__init__()
        self._answers = list(answers)

    async def health(self, **request: Any) -> dict[str, Any]:
        await super().health(**request)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def health(status: str, timed_out: bool) -> dict[str, Any]:
    """An answer of the health API."""
    return {"status": status, "timed_out": timed_out, "unassigned_shards": 1, "relocating_shards": 0}


def called(runner: Any, index: FakeElasticsearch, params: dict[str, Any]) -> dict[str, Any]:
    """One call of a runner, in a request context as Rally's executor opens it."""

    async def call() -> dict[str, Any]:
        with index.new_request_context():
            result: dict[str, Any] = await runner(index, params)
            return result

    return asyncio.run(call())


def settled(index: FakeElasticsearch, expected: int, patience: float = 5, **changes: Any) -> dict[str, Any]:
    """One call of the runner after a load."""
    params = {"index": "logs", "expected": expected, "enforce": True, "wait-for-merges": True, **changes}
    return called(Settle(patience), index, params)


def test_a_fresh_index_is_deleted_created_and_awaited() -> None:
    """In this order, with the body that the parameter source gives, and its health is recorded with the race."""
    index = FakeElasticsearch()
    index.documents, index.mappings = [b"of an earlier race"], {"logs": OURS}
    assert called(FreshIndex(), index, FRESH)["cluster-status"] == "green"
    assert [name for name in index.names() if name != "options"] == ["get_mapping", "delete", "create", "health"]
    assert ("create", {"index": "logs", **BODY, "mappings": OURS}) in index.calls
    assert ("options", {"ignore_status": 404, "request_timeout": 600}) in index.calls
    assert index.documents == []


PARSING = {"parse": {"processors": [{"json": {"field": "message"}}], "description": "one"}}
ROLLOVER = {"phases": {"hot": {"actions": {"rollover": {"max_primary_shard_docs": 500_000}}}}}


def test_pipelines_are_there_before_the_index_that_uses_them() -> None:
    """An index whose default pipeline does not exist would refuse every document."""
    index = FakeElasticsearch()
    called(FreshIndex(), index, {**FRESH, "pipelines": PARSING})
    names = [name for name in index.names() if name != "options"]
    assert names == ["get_pipeline", "put_pipeline", "get_mapping", "create", "health"]
    assert ("put_pipeline", {"id": "parse", **PARSING["parse"], "meta": {"made_by": "paddock"}}) in index.calls


def test_a_fresh_data_stream_is_made_after_a_template_with_the_tracks_body() -> None:
    """The old one goes, its policy and its template come, then the stream; nothing is done to an index of that name."""
    index = FakeElasticsearch()
    index.mappings = {"logs": OURS}
    called(FreshIndex(), index, {**FRESH, "data-stream": True, "lifecycle": ROLLOVER})
    calls = dict(index.calls)
    assert [name for name in index.names() if name != "options"] == [
        *("get_mapping", "delete_data_stream", "get_lifecycle", "put_lifecycle"),
        *("get_index_template", "put_index_template", "create_data_stream", "health"),
    ]
    mark = {"made_by": "paddock"}
    assert calls["put_lifecycle"] == {"name": "logs", "policy": {**ROLLOVER, "_meta": mark}}
    settings = {**BODY["settings"], "index.lifecycle.name": "logs"}
    template = calls["put_index_template"]
    assert template["template"] == {"mappings": OURS, "settings": settings}
    assert (template["index_patterns"], template["data_stream"], template["meta"]) == (["logs"], {}, mark)
    called(FreshIndex(), index, {**FRESH, "data-stream": True})
    assert dict(index.calls)["put_index_template"]["template"] == {**BODY, "mappings": OURS}


@pytest.mark.parametrize("name", tracks.track_names())
def test_every_track_can_be_a_data_stream(name: str) -> None:
    """Rally accepts it, sends documents with "create", and the runner is given the track's settings and mapping."""
    params = {"data_stream": True, "refresh_interval": "7s", "lifecycle": ROLLOVER, "ingest_pipelines": PARSING}
    built = build(tracks.load_track(name), params, "ingest-and-search")
    leaves = {leaf.name: leaf for entry in built.selected_challenge.schedule for leaf in entry}
    told = TracksIndex(built, leaves["fresh-index"].operation.params).params()
    assert (told["index"], told["data-stream"]) == (f"paddock-{name}-stream", True)
    assert (told["lifecycle"], told["pipelines"]) == (ROLLOVER, PARSING)
    plain = build(tracks.load_track(name), {"refresh_interval": "7s"}, "ingest")
    assert told["body"] == plain.indices[0].body
    (documents,) = built.corpora[0].documents
    assert (documents.target_data_stream, documents.target_index) == (told["index"], None)
    searches = [leaf.operation for leaf in leaves.values() if leaf.operation.type == "search"]
    asked = {SearchParamSource(built, search.params).params()["index"] for search in searches}
    assert asked == {told["index"]}  # else an index of an earlier race would answer, or none


def test_no_lap_can_be_a_data_stream() -> None:
    """A lap has an index of its own; the parameter source says so before one is run."""
    with pytest.raises(FileError, match="every lap has an index of its own"):
        build(tracks.load_track("apache"), {"data_stream": True}, "settings")


@pytest.mark.parametrize("name", tracks.track_names())
def test_the_index_is_the_tracks_own(name: str) -> None:
    """Its parameter source finds the settings and the mapping that Rally's own create-index would send."""
    built = build(tracks.load_track(name), {"refresh_interval": "7s"}, "ingest")
    (fresh,) = [leaf for entry in built.selected_challenge.schedule for leaf in entry if leaf.name == "fresh-index"]
    params = TracksIndex(built, fresh.operation.params).params()
    assert params["index"] == f"paddock-{name}"
    assert params["body"] == built.indices[0].body
    assert params["body"]["settings"]["index.refresh_interval"] == "7s"


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"index": "log"}, "asks for the index 'log', but the track 'web' has 'logs' and 'other': set \"index\""),
        ({}, "asks for the index None, but"),
    ],
)
def test_an_index_that_the_track_lacks(params: dict[str, Any], sentence: str) -> None:
    """Somebody's own track gets a sentence before the race, not a KeyError."""
    track = rally_track.Track("web", indices=[rally_track.Index("logs", BODY), rally_track.Index("other")])
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        TracksIndex(track, params)
    assert TracksIndex(track, {"index": "other"}).params() == {"index": "other", "body": {}}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": {"reason": "unknown setting [index.x]."}}, r"index 'logs': unknown setting \[index.x\]\. Change"),
        ({}, "illegal_argument_exception"),
    ],
)
def test_a_refused_index_is_told_with_the_reason(answer: dict[str, Any], words: str) -> None:
    """Elasticsearch's own words end the race, however it has put them."""

    class Refusing(FakeElasticsearch):
        async def create(self, **request: Any) -> None:
            raise elasticsearch.BadRequestError("illegal_argument_exception", meta(400), answer)

    with pytest.raises(exceptions.RallyTaskAssertionError, match=words):
        called(FreshIndex(), Refusing(), FRESH)


def test_health_waits_until_it_is_reached() -> None:
    """An answer in time is success, after as many as it takes; the request waits for relocations, too."""
    client = Unhealthy(health("red", True), health("yellow", True), health("green", False))
    assert called(WaitForHealth(), client, FRESH)["cluster-status"] == "green"
    requests = [request for name, request in client.calls if name == "health"]
    assert len(requests) == 3
    assert requests[0]["index"] == "logs"
    assert requests[0]["wait_for_status"] == "green"
    assert requests[0]["wait_for_no_relocating_shards"] is True


def test_health_gives_up_with_a_sentence() -> None:
    """An impossible health ends the race and says what it lacks."""
    sentence = r"'logs' is yellow after 0 s, but green was asked for \(1 shards unassigned"
    with pytest.raises(exceptions.RallyTaskAssertionError, match=sentence):
        called(FreshIndex(), Unhealthy(health("yellow", True)), {**FRESH, "timeout": 0})


def test_settling_refreshes_counts_and_waits() -> None:
    """In this order; the merges are waited for as long as they take, and the numbers are recorded with the race."""
    index = FakeElasticsearch()
    index.documents, index.merging = [b"{}"] * 3, 2
    result = settled(index, 3)
    assert result == {"weight": 1, "unit": "ops", "success": True, "expected": 3, "counted": 3}
    assert [name for name in index.names() if name != "options"] == ["refresh", "count", "merges"]
    assert index.merging == 0


def test_settling_without_waiting() -> None:
    """wait_for_merges:false looks at no merge."""
    index = FakeElasticsearch()
    settled(index, 0, **{"wait-for-merges": False})
    assert "merges" not in index.names()


@pytest.mark.parametrize(("there", "difference"), [(7, "3 are missing"), (12, "2 are too many")])
def test_a_wrong_count_ends_the_race(there: int, difference: str) -> None:
    """The sentence names the index, both numbers and the difference."""
    index = FakeElasticsearch()
    index.documents = [b"{}"] * there
    sentence = f"'logs' has {there} documents, but 10 were sent: {difference}"
    with pytest.raises(exceptions.RallyTaskAssertionError, match=sentence):
        settled(index, 10)


def test_a_wrong_count_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Where the count cannot be known it is logged and recorded, and the merges are awaited all the same."""
    index = FakeElasticsearch()
    with caplog.at_level(logging.WARNING):
        assert settled(index, 7, enforce=False)["counted"] == 0
    assert "7 are missing" in caplog.text
    assert "merges" in index.names()


def test_endless_merges_end_the_race() -> None:
    """What follows would be measured beside them."""
    index = FakeElasticsearch()
    index.merging = 10**9
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"still run after 0 s.*wait_for_merges"):
        settled(index, 0, patience=0)


def test_everything_is_registered() -> None:
    """Rally gets what the challenges name, in the form that it demands: classes as sources, async runners."""

    class Registry(SimpleNamespace):
        def register_param_source(self, name: str, source: Any) -> None:
            self.sources[name] = source

        def register_runner(self, name: str, runner: Any, **options: Any) -> None:
            assert options == {"async_runner": True}
            self.runners[name] = runner

        def register_scheduler(self, name: str, scheduler: Any) -> None:
            self.schedulers[name] = scheduler

        def register_track_processor(self, processor: Any) -> None:
            self.processors.append(type(processor).__name__)

    registry = Registry(sources={}, runners={}, schedulers={}, processors=[])
    register(registry)
    assert set(registry.sources) == {
        *("first-documents", "expected-documents", "lap-plan", "paced-documents", "expected-paced-documents"),
        *("growth-documents", "grown-documents", "fresh-index", "log-query", "log-scan", "full-disk"),
        *("sustained-documents", "expected-sustained-documents", "roll-over"),
        *("replay-documents", "replay-queries", "replayed-documents", "proof-plan"),
    }
    assert set(registry.schedulers) == {"paced", "replay"}
    assert {name: repr(runner) for name, runner in registry.runners.items()} == {
        "fresh-index": "fresh-index",
        "full-disk": "full-disk",
        "lap": "lap",
        "log-query": "log-query",
        "log-scan": "log-scan",
        "restore-proof": "restore-proof",
        "settle": "settle",
        "roll-over": "roll-over",
        "bulk": "bulk-index",
        "search": "query",
    }
    assert registry.processors == ["UnpreparedCorpora", "RawDocuments", "LapSecret", "ReplayTimes"]


@pytest.mark.parametrize("challenge", ["ingest", "ingest-and-search", "growing-data", "paced", "burst", "sustained"])
def test_a_load_has_one_task_before_it_and_one_after_it(challenge: str) -> None:
    """Every further task would cost six seconds of Rally's time, whatever it does."""
    tasks = next(one.tasks for one in tracks.load_track("apache").challenges if one.name == challenge)
    assert tasks[0] == "fresh-index"
    assert "bulk" in tasks[1]
    assert tasks[2].startswith("settle")
