"""The searches of a lap: which they are, in which order, what is made of their times, and what makes a lap void."""

from __future__ import annotations

import asyncio
import io
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import elasticsearch
import pytest
from esrally import exceptions
from hypothesis import given
from hypothesis import strategies as st
from shared import lap_searches
from shared.lap_searches import WARM_UP_ROUNDS, Answer, Query, digest, find_queries, overall

from paddock.tournaments.durations import SEARCH_WARM_UP
from tests.tracks.lap_client import FakeElasticsearch, meta
from tests.tracks.test_lap import run

BODY = {"query": {"match_all": {}}}
PARAMS = {"name": "any", "operation-type": "search", "index": "elsewhere", "cache": True, "body": BODY}
QUERIES = (
    Query("cheap", {**PARAMS, "request-timeout": 60, "request-params": {"preference": "_local"}}),
    Query("dear", {**PARAMS, "body": {"size": 0}}),
)


def raced(tmp_path: Path, client: FakeElasticsearch | None = None, **changes: Any) -> dict[str, Any]:
    """A lap with three rounds of two queries, run as Rally does."""
    return run(client or FakeElasticsearch(), tmp_path, **{"searches": 3, "queries": QUERIES, **changes})


def a_track(*operations: Any) -> Any:
    """A track whose challenge has a task for each operation, and a parallel one."""
    leaves = [SimpleNamespace(operation=operation) for operation in operations]
    return SimpleNamespace(challenges=[SimpleNamespace(schedule=[leaves[:1], leaves[1:]])])


def an_operation(name: str, operation_type: str = "search", **params: Any) -> Any:
    """An operation as Rally's loader makes it."""
    return SimpleNamespace(name=name, type=operation_type, params={"body": BODY, **params})


def test_searches_come_last(tmp_path: Path) -> None:
    """Refresh, count, merges and all figures of the load come before the first search; then the index is deleted."""
    client = FakeElasticsearch()
    record = raced(tmp_path, client)["record"]
    assert record["void"] is None
    calls = [name for name, _ in client.calls if name != "options"]
    assert [name for number, name in enumerate(calls) if number == 0 or calls[number - 1] != name] == [
        *("get_mapping", "create", "health", "actions", "node figures", "actions", "refresh", "count"),
        *("merges", "index figures", "segments", "node figures", "query", "findings", "delete"),
    ]


def test_queries_take_turns(tmp_path: Path) -> None:
    """Rounds of all queries, warm-up first, one search at a time, as often as asked."""
    client = FakeElasticsearch()
    raced(tmp_path, client)
    bodies = [request["body"] for name, request in client.calls if name == "query"]
    assert bodies == [BODY, {"size": 0}] * (WARM_UP_ROUNDS + 3)


def test_a_search_is_what_the_track_says(tmp_path: Path) -> None:
    """Only the index is the lap's own, and the request cache off; parameters are the same in every repetition."""
    client = FakeElasticsearch()
    raced(tmp_path, client)
    requests = [request for name, request in client.calls if name == "query"][::2]
    assert {request["path"] for request in requests} == {"/paddock-test-lap/_search"}
    assert all(request["params"] == {"preference": "_local", "request_cache": "false"} for request in requests)
    assert Counter(str(options) for name, options in client.calls if name == "options")["{'request_timeout': 60}"] == 8
    # Asked once more for what it finds, which is not timed.
    (found, _) = [request for name, request in client.calls if name == "findings"]
    assert found["path"] == "/paddock-test-lap/_search"
    assert found["params"] == {"preference": "_local", "request_cache": "false"}
    assert found["body"] == {**BODY, "track_total_hits": True, "_source": False}
    assert ("options", {"max_retries": 0}) in client.calls
    assert QUERIES[0].params == {**PARAMS, "request-timeout": 60, "request-params": {"preference": "_local"}}


def test_the_loads_figures_are_without_the_searches(tmp_path: Path) -> None:
    """Slow searches lengthen neither the lap's seconds nor Rally's service time, and add to no processor time."""
    client = FakeElasticsearch()

    def burn(number: int, request: dict[str, Any]) -> None:
        client.node_clock += 10_000  # a node that is busy for as long
        end = asyncio.get_running_loop().time() + 0.01
        while asyncio.get_running_loop().time() < end:
            pass

    quiet = raced(tmp_path, searches=0, queries=())["record"]
    client.on_search = burn
    result = raced(tmp_path, client)
    record = result["record"]
    assert record["searches"]["seconds"] > 0.15
    assert record["seconds"] < record["searches"]["seconds"]
    assert result["service_time"] == pytest.approx(record["seconds"], abs=1e-6)
    assert record["driver_cpu_seconds"] < 0.1
    assert record["node_cpu_ms"] == quiet["node_cpu_ms"]


def test_the_next_lap_does_not_pay_for_the_searches(tmp_path: Path) -> None:
    """Nodes may answer with figures from before the searches, so a lap that searches waits for fresh ones first."""
    client = FakeElasticsearch()
    client.node_clock = 1000  # the node has looked at 0, and looks again at 3000
    raced(tmp_path, client)
    names = [name for name, _ in client.calls]
    assert names[: names.index("refresh")].count("node figures") == 2


def test_times_are_those_of_the_counted_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Per query median and 90th percentile of service time and took; the warm-up is in none of them."""
    times = {
        "cheap": iter([500.0] * WARM_UP_ROUNDS + [1.0, 2.0, 6.0]),
        "dear": iter([500.0] * WARM_UP_ROUNDS + [50.0] * 3),
    }

    async def ask(es: Any, runner: Any, index: str, query: Query) -> Answer:
        service = next(times[query.name])
        return Answer(service, int(service) - 1, 7)

    monkeypatch.setattr(lap_searches, "_ask", ask)
    record = raced(tmp_path)["record"]["searches"]
    assert (record["rounds"], record["warm_up_rounds"]) == (3, WARM_UP_ROUNDS)
    found = {"timed_hits_min": 7, "timed_hits_max": 7, "hits": 25, "digest": None}
    assert record["queries"] == {
        "cheap": {"p50_ms": 2.0, "p90_ms": 5.2, "p95_ms": 5.6, "took_p50_ms": 1.0, "took_p90_ms": 4.2, **found},
        "dear": {"p50_ms": 50.0, "p90_ms": 50.0, "p95_ms": 50.0, "took_p50_ms": 49.0, "took_p90_ms": 49.0, **found},
    }
    assert record["p50_ms"] == 10.0
    assert record["p90_ms"] == round(math.sqrt(5.2 * 50), 3)
    assert record["p95_ms"] == round(math.sqrt(5.6 * 50), 3)


def test_the_client_measures_and_the_server_tells(tmp_path: Path) -> None:
    """Service time is the client's, took and hits are in the answer."""
    record = raced(tmp_path)["record"]["searches"]
    for figures in record["queries"].values():
        assert 0 < figures["p50_ms"] <= figures["p90_ms"] < 100
        assert (figures["took_p50_ms"], figures["took_p90_ms"], figures["timed_hits_max"]) == (2, 2, 25)


@given(times=st.lists(st.floats(0.5, 1000), min_size=2, max_size=9), slower=st.floats(1.01, 3), which=st.integers(0, 8))
def test_queries_count_alike(times: list[float], slower: float, which: int) -> None:
    """Whichever query becomes slower, the overall figure changes by the same factor."""
    changed = [time * slower if number == which % len(times) else time for number, time in enumerate(times)]
    assert overall(changed) / overall(times) == pytest.approx(slower ** (1 / len(times)))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"timed_out": True}, "the search 'dear' timed out"),
        ({"_shards": {"total": 3, "successful": 1, "skipped": 0, "failed": 2}}, "the search 'dear' failed on 2 shards"),
        (elasticsearch.ConnectionTimeout("timed out"), "the search 'dear' got no answer: timed out"),
        (
            elasticsearch.BadRequestError("no", meta(400), io.BytesIO(b'{"error":\n"no mapping"}')),
            'the search \'dear\' was refused: HTTP status 400, {"error": "no mapping"}',
        ),
    ],
)
@pytest.mark.parametrize("number", [2, 2 * WARM_UP_ROUNDS + 4, None])
def test_a_failed_search_makes_the_lap_void(tmp_path: Path, answer: Any, sentence: str, number: int | None) -> None:
    """Warm-up, timed or asked for what it finds (None): the reason is told, the index goes, the race goes on."""
    client = FakeElasticsearch()

    def on_search(nth: int, request: dict[str, Any]) -> Any:
        if nth == number and isinstance(answer, Exception):
            raise answer
        return answer if nth == number else None

    def on_findings(request: dict[str, Any]) -> Any:
        if request["body"].get("size") == 0 and isinstance(answer, Exception):
            raise answer
        return answer if request["body"].get("size") == 0 else None

    client.on_search = on_search
    if number is None:
        client.on_findings = on_findings
    result = raced(tmp_path, client)
    assert result["record"]["void"].startswith(sentence)
    assert result["record"]["searches"] is None
    assert len([name for name, _ in client.calls if name == "query"]) == (number or 2 * (WARM_UP_ROUNDS + 3))
    assert client.mappings == {}
    assert result["sample"]["success"] is False
    assert result["sample"]["weight"] == 25
    assert result["service_time"] == pytest.approx(result["record"]["seconds"], abs=1e-6)


def test_a_node_lost_while_searching_ends_the_race(tmp_path: Path) -> None:
    """As it does while indexing."""
    client = FakeElasticsearch()

    def on_search(number: int, request: dict[str, Any]) -> None:
        client.gone = True
        raise elasticsearch.ConnectionError("Connection refused")

    client.on_search = on_search
    with pytest.raises(exceptions.RallyAssertionError, match=r"'cheap' got no answer.*no node answers any more"):
        raced(tmp_path, client)


def test_hits_are_exact_whatever_the_timed_searches_tell(tmp_path: Path) -> None:
    """Elasticsearch stops counting at 10,000 unless told not to; and an answer that changes between rounds shows."""
    client = FakeElasticsearch()
    total = {"value": 10_000, "relation": "gte"}
    client.on_search = lambda number, request: {"hits": {"total": {**total, "value": 10_000 - (number == 12)}}}
    client.on_findings = lambda request: {"hits": {"total": {"value": 123_456, "relation": "eq"}, "hits": []}}
    cheap, dear = raced(tmp_path, client)["record"]["searches"]["queries"].values()
    assert (cheap["hits"], cheap["timed_hits_min"], cheap["timed_hits_max"]) == (123_456, 10_000, 10_000)
    assert (dear["hits"], dear["timed_hits_min"], dear["timed_hits_max"]) == (123_456, 9_999, 10_000)


def test_markers_are_not_among_the_findings(tmp_path: Path) -> None:
    """The probe's documents differ in number from lap to lap; queries that match everything would match them, too."""
    client = FakeElasticsearch()
    raced(tmp_path, client, freshness_probe=True)
    for request in (request for name, request in client.calls if name == "findings"):
        query = request["body"]["query"]["bool"]
        assert query["must"] == [{"match_all": {}}]
        assert query["must_not"] == [{"ids": {"values": client.all_markers}}]
    assert client.all_markers


def answered(aggregations: Any = None, sorts: Sequence[Any] = ()) -> dict[str, Any]:
    """An answer with these aggregations, and hits with these sort values."""
    return {"aggregations": aggregations or {}, "hits": {"hits": [{"_id": "x", "sort": sort} for sort in sorts]}}


def terms(*counts: tuple[str, int], error: int = 0, **inside: Any) -> dict[str, Any]:
    """What a terms aggregation answers."""
    buckets = [{"key": key, "doc_count": count, **inside} for key, count in counts]
    return {"doc_count_error_upper_bound": error, "sum_other_doc_count": 0, "buckets": buckets}


def test_the_digest_sees_other_buckets() -> None:
    """Other keys, other numbers and other buckets inside them give another checksum; the order of equals does not."""
    one = digest({}, answered({"a": terms(("x", 2), ("y", 2))}))
    assert one is not None
    assert digest({}, answered({"a": terms(("y", 2), ("x", 2))})) == one
    inner = {"b": {"buckets": {"200": {"doc_count": 1}, "404": {"doc_count": 1}}}}
    other = {"b": {"buckets": {"200": {"doc_count": 2}, "404": {"doc_count": 0}}}}
    different = [
        {"a": terms(("x", 2), ("y", 1))},
        {"a": terms(("x", 2), ("z", 2))},
        {"b": terms(("x", 2), ("y", 2))},
        {"a": terms(("x", 2), ("y", 2), **inner)},
        {"a": terms(("x", 2), ("y", 2), **other)},
    ]
    assert len({one, *(digest({}, answered(each)) for each in different)}) == 6


def test_the_digest_leaves_out_what_may_differ() -> None:
    """Estimates, scores and which of several equal documents is shown: identical indices differ in all of them."""
    aggs = {"a": {"terms": {"field": "x"}}}
    assert digest({"aggs": aggs}, answered({"a": terms(("x", 2), error=1)})) is None
    assert digest({"aggs": aggs}, answered({"a": terms(("x", 2), c=terms(("y", 1), error=-1))})) is None
    assert digest({"aggs": {"a": {"sampler": {}, "aggs": aggs}}}, answered({"a": {"a": terms(("x", 2))}})) is None
    assert digest({}, answered({"a": {"values": {"50.0": 3.1}}, "b": {"value": 12}})) is None
    with_percentiles = [terms(("x", 2), p={"values": {"50.0": value}}) for value in (3.1, 3.2)]
    assert len({digest({}, answered({"a": one})) for one in with_percentiles}) == 1
    assert digest({"sort": ["_score", {"t": "desc"}]}, answered(sorts=[[1.5, 7]])) is None
    assert digest({}, answered(sorts=[None, None])) is None


@pytest.mark.parametrize("sort", [[{"t": "desc"}], {"t": "desc"}, "t:desc", ["t"]])
def test_the_digest_sees_other_hits_by_what_they_are_sorted_by(sort: Any) -> None:
    """However it is asked for; documents with the same value cannot be told apart."""
    one = digest({"sort": sort}, answered(sorts=[[9], [8], [8]]))
    assert one is not None
    assert digest({"sort": sort}, answered(sorts=[[9], [8], [7]])) not in (one, None)


def test_a_void_lap_is_not_searched(tmp_path: Path) -> None:
    """Its figures would not count."""
    client = FakeElasticsearch()
    client.lost = 1
    assert raced(tmp_path, client)["record"]["searches"] is None
    assert "query" not in client.names()


def test_queries_are_found_in_all_challenges() -> None:
    """In the order of the names; other operations and other names stay out."""
    track = a_track(an_operation("bulk", "bulk"), an_operation("a"), an_operation("b", cache=False), an_operation("c"))
    assert find_queries(track, ["b", "a"]) == (Query("b", {"body": BODY, "cache": False}), Query("a", {"body": BODY}))


@pytest.mark.parametrize(
    ("names", "sentence"),
    [(["bulk"], "needs the query 'bulk', and"), (["a", "d"], "needs the query 'd', and"), ([], "needs queries, and")],
)
def test_queries_that_no_challenge_runs_are_refused(names: list[str], sentence: str) -> None:
    """Before anything is started, with what to do."""
    track = a_track(an_operation("bulk", "bulk"), an_operation("a"))
    with pytest.raises(exceptions.InvalidSyntax, match=f"lap_searches {sentence} no challenge.*--include-tasks"):
        find_queries(track, names)


def test_the_plan_of_a_tournament_knows_the_warm_up() -> None:
    """Its guess of a lap's minutes counts as many rounds as a lap runs."""
    assert SEARCH_WARM_UP == WARM_UP_ROUNDS
