"""The challenge sustained: as many documents as asked for, one growing index or several behind an alias."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import elasticsearch
import pytest
from esrally import exceptions
from esrally.track import track as rally_track
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.index_runners import FreshIndex, Settle
from shared.ownership import delete_own
from shared.sustained import ExpectedSustainedDocuments, RolledIndex, RollOver, SustainedDocuments

from paddock import tracks
from paddock.errors import UsageError
from paddock.tracks import check_parameters
from tests.tracks.lap_client import FakeElasticsearch, corpus, meta
from tests.tracks.rendered import build

DOCUMENTS = 50
OURS = {"dynamic": "strict", "_meta": {"made_by": "paddock"}}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Rally track with numbered documents in two files."""
    folder = tmp_path_factory.mktemp("corpus")
    return rally_track.Track("logs", corpora=[rally_track.DocumentCorpus("logs", list(corpus(folder, [30, 20])))])


def sent(track: Any, params: dict[str, Any], clients: int) -> list[int]:
    """The numbers of all documents that the clients of one worker send."""
    source = SustainedDocuments(track, {"bulk-size": 7, **params})
    partition = next(iter([source.partition(client, clients) for client in range(clients)]))
    found = []
    while True:
        try:
            lines = partition.params()["body"].decode().splitlines()
        except StopIteration:
            return found
        found += [json.loads(line)["n"] for line in lines[1::2]]


@given(count=st.integers(1, 3 * DOCUMENTS + 7), clients=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_exactly_as_many_documents_as_asked_for(numbers: Any, count: int, clients: int) -> None:
    """The corpus is begun again as often as it takes; no document comes twice as often as another before that."""
    params = {"documents": count, "corpus-documents": DOCUMENTS}
    found = Counter(sent(numbers, params, clients))
    assert found.total() == count == ExpectedSustainedDocuments(numbers, params).params()["expected"]
    assert {found[number] for number in range(DOCUMENTS)} <= {count // DOCUMENTS, count // DOCUMENTS + 1}


def test_test_mode_ends_with_the_corpus(numbers: Any) -> None:
    """Rally has left 50 documents of a million: a billion is no mistake then, and none is sent twice."""
    params = {"documents": 10**9, "corpus-documents": 10**6}
    assert len(sent(numbers, params, 2)) == DOCUMENTS
    assert ExpectedSustainedDocuments(numbers, params).params()["expected"] == DOCUMENTS


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"documents": 0}, "must be a whole number from 1 on, but is 0"),
        ({"documents": True}, "must be a whole number from 1 on, but is True"),
        ({"documents": 5, "time-period": 60}, "sustained_documents .5. and time_period .60. exclude each other"),
    ],
)
def test_what_cannot_be_meant_is_refused(numbers: Any, params: dict[str, Any], words: str) -> None:
    """Before anything is sent, with the parameter's name."""
    with pytest.raises(exceptions.InvalidSyntax, match=words):
        SustainedDocuments(numbers, {"bulk-size": 7, "corpus-documents": DOCUMENTS, **params})


class _Rolling(FakeElasticsearch):
    """A cluster with indices behind an alias."""

    def __init__(self, behind: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.behind = {name: {"mappings": OURS} for name in behind}
        self.conditions: list[Any] = []

    async def get_mapping(self, index: str) -> dict[str, Any]:
        await self._called("get_mapping", index=index)
        if not self.behind:
            raise elasticsearch.NotFoundError("index_not_found_exception", meta(404), {})
        return self.behind

    async def create(self, index: str, settings: Any, mappings: Any, aliases: Any = None) -> None:
        await self._called("create", index=index, settings=settings, mappings=mappings, aliases=aliases)

    async def rollover(self, alias: str, conditions: Any, settings: Any, mappings: Any) -> dict[str, Any]:
        await self._called("rollover", alias=alias, conditions=conditions, settings=settings, mappings=mappings)
        if "max_nonsense" in conditions:
            raise elasticsearch.BadRequestError("x_content_parse_exception", meta(400), {})
        return {"rolled_over": True}


BODY = {"settings": {"index.number_of_shards": 1}, "mappings": {"dynamic": "strict"}}


def called(runner: Any, es: FakeElasticsearch, params: dict[str, Any]) -> dict[str, Any]:
    """Call a runner as Rally does."""

    async def call() -> dict[str, Any]:
        with es.new_request_context():
            result: dict[str, Any] = await runner(es, params)
            return result

    return asyncio.run(call())


def test_the_first_index_behind_an_alias() -> None:
    """All indices of an earlier race go, each by its name: an alias cannot be deleted. The first one takes writes."""
    es = _Rolling(("logs-000001", "logs-000002"))
    called(FreshIndex(), es, {"index": "logs", "body": BODY, "status": "green", "rolls-over": True})
    assert [request["index"] for name, request in es.calls if name == "delete"] == ["logs-000001", "logs-000002"]
    (created,) = [request for name, request in es.calls if name == "create"]
    assert created["index"] == "logs-000001"
    assert created["aliases"] == {"logs": {"is_write_index": True}}
    assert created["mappings"] == OURS


def test_an_alias_with_an_index_of_somebody_elses_is_left_alone() -> None:
    """One index without our mark behind it, and nothing is deleted."""
    es = _Rolling(("logs-000001",))
    es.behind["theirs"] = {"mappings": {}}
    with pytest.raises(exceptions.RallyAssertionError, match="so it was left as it is"):
        asyncio.run(_with_context(es, delete_own(es, "logs")))
    assert "delete" not in es.names()


async def _with_context(es: FakeElasticsearch, call: Any) -> Any:
    with es.new_request_context():
        return await call


def test_rolling_over() -> None:
    """Elasticsearch is asked with the conditions, and given the track's body with our mark for the new index."""
    es = _Rolling()
    params = {"index": "logs", "conditions": {"max_age": "1m"}, "body": BODY}
    assert called(RollOver(), es, params)["rolled-over"] is True
    assert ("rollover", {"alias": "logs", **params, "settings": BODY["settings"], "mappings": OURS}) != es.calls[-1]
    name, request = es.calls[-1]
    assert (name, request["alias"], request["conditions"]) == ("rollover", "logs", {"max_age": "1m"})
    assert (request["settings"], request["mappings"]) == (BODY["settings"], OURS)
    with pytest.raises(exceptions.RallyTaskAssertionError, match="Change the track parameter rollover"):
        called(RollOver(), es, {**params, "conditions": {"max_nonsense": 1}})


@pytest.mark.parametrize(("indexed", "lost"), [(25, 0), (25, 1)])
def test_a_load_that_a_clock_ends_is_counted_too(indexed: int, lost: int) -> None:
    """As many documents have to be found as Elasticsearch says it has indexed; one less and the race ends."""
    es = FakeElasticsearch()
    es.documents, es.lost = [b"{}"] * 25, lost

    async def stats(metric: str, index: str | None = None) -> dict[str, Any]:
        if metric == "indexing":
            return {"_all": {"primaries": {"indexing": {"index_total": indexed}}}}
        return await FakeElasticsearch.stats(es, metric, index)

    es.stats = stats  # type: ignore[method-assign]
    params = {"index": "logs", "expected": None, "enforce": True, "wait-for-merges": True}
    if lost:
        with pytest.raises(exceptions.RallyTaskAssertionError, match="1 are missing"):
            called(Settle(), es, params)
    else:
        assert called(Settle(), es, params)["counted"] == 25


def leaves(params: dict[str, Any], test_mode: bool = False) -> dict[str, Any]:
    """The tasks of the challenge as Rally has them."""
    built = build(tracks.load_track("apache"), params, "sustained", test_mode)
    return {leaf.name: leaf for entry in built.selected_challenge.schedule for leaf in entry}


def test_the_challenge_by_time() -> None:
    """Ten minutes unless somebody says otherwise, the corpus repeated; ten seconds in test mode."""
    bulk = leaves({})["sustained-bulk"]
    assert (bulk.time_period, bulk.warmup_time_period, bulk.operation.params["looped"]) == (600, 10, True)
    assert leaves({"time_period": 1800})["sustained-bulk"].time_period == 1800
    assert leaves({}, test_mode=True)["sustained-bulk"].time_period == 10
    assert "roll-over" not in leaves({})


def test_the_challenge_by_size() -> None:
    """No clock ends it."""
    bulk = leaves({"sustained_documents": 5_000_000})["sustained-bulk"]
    assert bulk.time_period is None
    assert bulk.operation.params["documents"] == 5_000_000
    assert bulk.operation.param_source == "sustained-documents"


def test_the_challenge_rolls_over_beside_the_load() -> None:
    """Once a second, for as long as the bulks run: they end it, and the runner is given the track's body."""
    built = build(tracks.load_track("apache"), {"rollover": {"max_age": "1m"}, "refresh_interval": "7s"}, "sustained")
    (parallel,) = [entry for entry in built.selected_challenge.schedule if hasattr(entry, "tasks")]
    found = {task.name: task for task in parallel.tasks}
    assert found["sustained-bulk"].completes_parent
    assert not found["roll-over"].completes_parent
    assert found["roll-over"].target_throughput.value == 1
    source = RolledIndex(built, found["roll-over"].operation.params)
    assert not source.infinite
    told = source.params()
    assert (told["conditions"], told["index"]) == ({"max_age": "1m"}, "paddock-apache")
    assert told["body"]["settings"]["index.refresh_interval"] == "7s"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"sustained_documents": 5, "time_period": 5}, "exclude each other"),
        ({"rollover": {"max_age": "1m"}, "data_stream": True}, "rolls over as its lifecycle says"),
        ({"rollover": {"max_age": {"deep": 1}}}, "rollover"),
        ({"lap_seconds": 5}, "no effect without lap_growing"),
    ],
)
def test_contradictions_are_refused_before_a_race(params: dict[str, Any], words: str) -> None:
    """By ./inv race, in one sentence."""
    with pytest.raises(UsageError, match=words):
        check_parameters(tracks.load_track("apache"), params)


def test_more_documents_than_the_corpus_are_no_mistake_where_indices_grow(tmp_path: Path) -> None:
    """A slice may begin the corpus again."""
    check_parameters(tracks.load_track("apache"), {"lap_growing": True, "lap_documents": 10**7})
    with pytest.raises(UsageError, match="lap_documents is 10000000"):
        check_parameters(tracks.load_track("apache"), {"lap_documents": 10**7})
