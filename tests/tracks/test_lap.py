"""A lap from its index to its record: what it does in which order, what makes it void, what Rally is told."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any, ClassVar

import elasticsearch
import pytest
from esrally import exceptions
from shared.lap import RunLap
from shared.lap_figures import _totals
from shared.lap_load import Load
from shared.shipper_settings import ShipperSettings

from tests.tracks.lap_client import BULK_SECONDS, FakeElasticsearch, corpus, lap, meta


def run(client: FakeElasticsearch, tmp_path: Path, merge_timeout: float = 600, **changes: Any) -> dict[str, Any]:
    """Run one lap inside a context of Rally's, as its driver does; returns sample, record and service time."""
    journal = tmp_path / "laps.jsonl"
    params = {"lap": lap(corpus(tmp_path, [40]), journal, **changes)}

    async def call() -> dict[str, Any]:
        with client.new_request_context() as context:
            sample = await RunLap(merge_timeout)({"default": client}, params)
            return {"sample": sample, "service_time": context.request_end - context.request_start}

    result = asyncio.run(call())
    return {**result, "record": json.loads(journal.read_text(encoding="utf-8").splitlines()[-1])}


def test_pipelines_are_there_before_a_laps_index(tmp_path: Path) -> None:
    """A level whose setting default_pipeline names one finds it, in every lap."""
    client = FakeElasticsearch()
    run(client, tmp_path, pipelines={"parse": {"processors": []}})
    names = [name for name in client.names() if name != "options"]
    assert names[:4] == ["get_mapping", "get_pipeline", "put_pipeline", "create"]


def test_a_good_lap(tmp_path: Path) -> None:
    """A fresh index, the load, refresh, count, the end of merges, figures, deletion: in this order and no other."""
    client = FakeElasticsearch()
    result = run(client, tmp_path)
    assert [name for name in client.names() if name != "options"] == [
        *("get_mapping", "create", "health", "actions", "node figures", "actions", "refresh", "count"),
        *("merges", "index figures", "segments", "node figures", "delete"),
    ]
    created = next(request for name, request in client.calls if name == "create")
    assert created["settings"] == {"index.refresh_interval": "1s"}
    assert created["mappings"] == {"dynamic": "strict", "_meta": {"made_by": "paddock"}}
    record = result["record"]
    assert record["void"] is None
    assert (record["lap"], record["block"], record["position"], record["level"]) == (4, 2, 1, "1s")
    assert record["documents_sent"] == record["documents_acknowledged"] == record["documents_counted"] == 25
    assert (record["bulks"], record["errors"], record["rejections"], record["took_ms"]) == (3, 0, 0, 9)
    assert record["settings"] == {"index.refresh_interval": "1s"}
    assert sum(record["documents_per_second"]) == 25
    assert record["latency_ms"]["p50"] >= BULK_SECONDS * 1000
    assert record["index_figures"]["store_bytes"] == 5
    assert record["load_actions"] == {"refreshes": 3, "flushes": 1, "merges": 0}
    assert 0 <= time.monotonic() - record["started_monotonic"] < 600
    assert record["freshness"] is None


def test_a_lap_that_is_merged_and_read_back(tmp_path: Path) -> None:
    """Merged before it is weighed; documents are read again after that, and no figure of the load has them in it."""
    client = FakeElasticsearch()
    client.on_kept = lambda document: {"n": document["n"] + 1} if document["n"] == 6 else document
    record = run(client, tmp_path, first_document=5, force_merge=True, read_back=3)["record"]
    names = [name for name in client.names() if name != "options"]
    assert names[names.index("merges") :] == [
        *("merges", "force merge", "refresh", "index figures", "segments", "node figures"),
        *("bulk with ids", "search", "delete"),
    ]
    assert record["force_merge_seconds"] >= 0
    assert record["read_back"] == {"documents": 3, "same": 2, "fields": {"n": {"documents": 1, "sent": 6, "read": 7}}}
    assert record["documents_sent"] == record["documents_counted"] == 25
    assert record["void"] is None


def test_rallys_sample_is_the_load_alone(tmp_path: Path) -> None:
    """Service time and throughput are the lap's: two bulks in turn and one beside them, not the preparations."""
    result = run(FakeElasticsearch(), tmp_path)
    seconds = result["record"]["seconds"]
    assert result["service_time"] == pytest.approx(seconds, abs=1e-6)
    assert seconds >= 2 * BULK_SECONDS
    sample = result["sample"]
    assert (sample["weight"], sample["unit"], sample["success"]) == (25, "docs", True)
    assert sample["throughput"] == pytest.approx(25 / seconds)


@pytest.mark.parametrize(("clients", "most"), [(1, 1), (2, 2), (8, 3)])
def test_clients_send_at_the_same_time(tmp_path: Path, clients: int, most: int) -> None:
    """As many bulks are in flight as there are clients, or bulks if those are fewer."""
    client = FakeElasticsearch()
    run(client, tmp_path, clients=clients)
    assert client.most_in_flight == most


def test_bulks_are_sent_once(tmp_path: Path) -> None:
    """The client's silent repetitions are off for the load, or rejections would be hidden and documents doubled."""
    client = FakeElasticsearch()
    run(client, tmp_path)
    assert ("options", {"max_retries": 0}) in client.calls


def test_refused_documents_make_a_lap_void(tmp_path: Path) -> None:
    """One document of the second bulk is refused: counted, with its reason, and Rally sees a failed sample."""
    error = {"status": 400, "error": {"reason": "failed to parse"}}

    def on_bulk(number: int, documents: int) -> Any:
        return [{"index": error}] + [{"index": {"status": 201}}] * (documents - 1) if number == 2 else None

    result = run(FakeElasticsearch(on_bulk), tmp_path)
    assert "1 documents were refused" in result["record"]["void"]
    assert "failed to parse" in result["record"]["void"]
    assert result["record"]["errors"] == 1
    assert result["sample"]["success"] is False
    assert result["sample"]["error-description"] == result["record"]["void"]


@pytest.mark.parametrize("whole", [True, False])
def test_rejections_make_a_lap_void(tmp_path: Path, whole: bool) -> None:
    """A busy node may refuse a whole bulk or its documents; both are rejections, and the load goes on."""

    def on_bulk(number: int, documents: int) -> Any:
        if number != 1:
            return None
        if whole:
            raise elasticsearch.ApiError("too many", meta(429), {})
        return [{"index": {"status": 429, "error": {"reason": "rejected execution"}}}] * documents

    result = run(FakeElasticsearch(on_bulk), tmp_path)
    assert result["record"]["rejections"] == 1
    assert result["record"]["errors"] == 10
    assert result["record"]["documents_acknowledged"] == 15
    assert "1 bulks were rejected" in result["record"]["void"]


def test_rejections_only_the_node_knows_of(tmp_path: Path) -> None:
    """What a node has rejected and somebody sent again does not show in the answers."""
    client = FakeElasticsearch()

    def on_bulk(number: int, documents: int) -> Any:
        client.write_rejections = 2

    client.on_bulk = on_bulk
    result = run(client, tmp_path)
    assert result["record"]["node_rejections"] == 2
    assert "2 bulks were rejected" in result["record"]["void"]


def test_missing_documents_make_a_lap_void(tmp_path: Path) -> None:
    """Acknowledged is not indexed: the count decides."""
    client = FakeElasticsearch()
    client.lost = 4
    assert run(client, tmp_path)["record"]["void"] == "25 documents were sent, but the index has 21"


def test_short_corpus_makes_a_lap_void(tmp_path: Path) -> None:
    """A file with fewer documents than it should have is noticed even if all of them arrive."""
    documents = corpus(tmp_path, [40])
    Path(documents[0].document_file).write_text('{"n":0}\n' * 12, encoding="utf-8")
    journal = tmp_path / "laps.jsonl"
    client = FakeElasticsearch()

    async def call() -> None:
        with client.new_request_context():
            await RunLap()({"default": client}, {"lap": lap(documents, journal)})

    asyncio.run(call())
    assert "12 documents were sent instead of 25" in json.loads(journal.read_text(encoding="utf-8"))["void"]


def test_merges_are_waited_for(tmp_path: Path) -> None:
    """The figures are taken, and the next lap begins, only after the last merge, and a moment without one."""
    client = FakeElasticsearch()
    client.merging = 3
    result = run(client, tmp_path)
    assert result["record"]["void"] is None
    assert len([name for name, _ in client.calls if name == "merges"]) == 5
    assert result["record"]["merge_wait_seconds"] >= 0.4


def test_endless_merges_make_a_lap_void(tmp_path: Path) -> None:
    """The wait has an end."""
    client = FakeElasticsearch()
    client.merging = 10_000
    result = run(client, tmp_path, merge_timeout=0.05)
    assert result["record"]["void"] == "merges had not ended after 0.05 s"
    assert result["record"]["merge_wait_seconds"] is None


def test_processor_time_is_never_stale(tmp_path: Path) -> None:
    """Nodes answer with figures from before the question; the lap asks until they have looked again."""
    client = FakeElasticsearch()
    record = run(client, tmp_path)["record"]
    # Asked at 1 s (looked at 0), then at 2 s (still 0) and at 3 s.
    assert record["node_cpu_ms"] == 300
    assert len([name for name, _ in client.calls if name == "node figures"]) == 3


def test_refused_index_makes_a_lap_void(tmp_path: Path) -> None:
    """An impossible setting voids the laps of its level, and nothing is sent."""
    client = FakeElasticsearch()
    client.refuse_index = True
    result = run(client, tmp_path)
    assert "illegal_argument_exception" in result["record"]["void"]
    assert result["record"]["seconds"] is None
    assert result["sample"]["weight"] == 0
    assert result["service_time"] >= 0
    assert client.mappings == {}


def test_lost_node_ends_the_race_with_its_lap_recorded(tmp_path: Path) -> None:
    """The load stops at once, the lap is in the journal, and the sentence names it."""
    client = FakeElasticsearch()

    def on_bulk(number: int, documents: int) -> Any:
        client.gone = True
        raise elasticsearch.ConnectionError("Connection refused")

    client.on_bulk = on_bulk
    with pytest.raises(exceptions.RallyAssertionError, match=r"Lap 4 \(1s\): .*no node answers any more"):
        run(client, tmp_path, clients=1)
    record = json.loads((tmp_path / "laps.jsonl").read_text(encoding="utf-8"))
    assert (record["bulks"], record["errors"], record["documents_acknowledged"]) == (1, 10, 0)
    assert "no node answers any more" in record["void"]


def test_lost_answer_voids_only_its_lap(tmp_path: Path) -> None:
    """A bulk without an answer ends the load, but a node that is still there races on."""

    def on_bulk(number: int, documents: int) -> Any:
        raise elasticsearch.ConnectionTimeout("timed out")

    result = run(FakeElasticsearch(on_bulk), tmp_path, clients=1)
    assert "no answer: timed out" in result["record"]["void"]
    assert result["record"]["documents_sent"] == 10


def test_markers_are_not_counted(tmp_path: Path) -> None:
    """The freshness probe's documents are in the index, but not among the lap's; its requests are not its load."""
    result = run(FakeElasticsearch(), tmp_path, freshness_probe=True)
    assert result["record"]["freshness"]["markers"] >= 1
    assert result["record"]["documents_counted"] == 25
    assert result["record"]["void"] is None
    assert result["service_time"] == pytest.approx(result["record"]["seconds"], abs=1e-6)


def test_the_load_begins_at_its_phase(tmp_path: Path) -> None:
    """The rest comes before the index, the wait between index and load; both are told, neither is part of the load."""
    client, times = FakeElasticsearch(), {}

    def note(name: str, call: Any) -> Any:
        async def noted(**request: Any) -> Any:
            times.setdefault(name, (time.perf_counter(), time.time()))
            return await call(**request)

        return noted

    for name in ("get_mapping", "create", "bulk"):
        setattr(client, name, note(name, getattr(client, name)))
    record = run(client, tmp_path, freshness_probe=True, phase=0.3, rest=0.14, wait=0.06)["record"]
    assert times["create"][0] - times["get_mapping"][0] >= 0.14
    assert times["bulk"][0] - times["create"][0] >= 0.06
    assert (record["refresh_phase"], record["rest_seconds"], record["wait_seconds"]) == (0.3, 0.14, 0.06)
    assert record["started_at"] >= times["create"][1] + 0.06 - 0.001  # rounded to milliseconds


def test_no_journal_no_file(tmp_path: Path) -> None:
    """Without a journal nothing is written anywhere."""
    documents = corpus(tmp_path, [40])
    client = FakeElasticsearch()

    async def call() -> dict[str, Any]:
        with client.new_request_context():
            return await RunLap()({"default": client}, {"lap": lap(documents, None)})

    assert asyncio.run(call())["success"] is True
    assert not list(tmp_path.glob("*.jsonl"))


def test_a_lap_runs_on_the_cluster_of_its_level(tmp_path: Path) -> None:
    """The other cluster of the race is asked for nothing; a cluster that is none of them is named."""
    here, there = FakeElasticsearch(), FakeElasticsearch()
    one = lap(corpus(tmp_path, [40]), tmp_path / "laps.jsonl", cluster="b")

    async def call(clients: dict[str, Any]) -> dict[str, Any]:
        with here.new_request_context():
            return await RunLap()(clients, {"lap": one})

    assert asyncio.run(call({"default": here, "b": there}))["success"] is True
    assert here.calls == []
    assert there.names()
    assert json.loads((tmp_path / "laps.jsonl").read_text())["cluster"] == "b"
    with pytest.raises(exceptions.RallyAssertionError, match="the cluster 'b', but --target-hosts names default only"):
        asyncio.run(call({"default": here}))


def test_new_nodes_are_waited_for(tmp_path: Path) -> None:
    """The first lap after nodes were started anew asks until they answer; no other lap asks."""
    client = FakeElasticsearch()
    answers = iter([False, False, True])

    async def ping() -> bool:
        client.calls.append(("ping", {}))
        return next(answers)

    client.ping = ping  # type: ignore[attr-defined]
    assert run(client, tmp_path, reconnects=True)["record"]["void"] is None
    assert [name for name, _ in client.calls][:4] == ["ping", "ping", "ping", "get_mapping"]


def test_only_pauses_are_time_of_garbage_collection() -> None:
    """ZGC tells of its cycles, too, beside which the node goes on working: with them it would look slow for nothing."""
    collectors = {"ZGC Cycles": {"collection_time_in_millis": 9000}, "ZGC Pauses": {"collection_time_in_millis": 3}}
    node = {"process": {"cpu": {"total_in_millis": 1}}, "jvm": {"gc": {"collectors": collectors}}, "thread_pool": {}}
    assert _totals({"one": node, "two": node})["gc_ms"] == 6


class FakeShipment:
    """A shipper in the place of Rally's clients, which has brought what the client counts; see Shipment."""

    cpu_seconds, generator_cpu_seconds = 0.5, 0.25
    calls: ClassVar[list[str]] = []

    def __init__(self, es: Any, lap: Any) -> None:
        self.es, self.lap = es, lap
        self.calls.clear()

    def __getattr__(self, name: str) -> Any:
        async def called() -> int:
            self.calls.append(name)
            self.es.calls.append((f"shipper {name}", {}))
            return 7

        return called

    async def load(self, probe: Any, problems: list[str]) -> Load:
        self.es.calls.append(("shipper load", {}))
        self.es.on_request_start()
        self.es.on_request_end()
        self.es.documents = [b"{}"] * 20
        return Load(25, 20, first_sent=1.0, last_acknowledged=3.0, acknowledgements=[(2.0, 15), (3.0, 5)])

    def record(self, documents_counted: int | None) -> dict[str, Any]:
        return {"generated": 25, "counted": documents_counted}

    def close(self, keep: bool) -> None:
        self.calls.append(f"close {keep}")


def test_a_shippers_lap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is started before the index is made, and ended before it is counted; loss makes the lap void, in figures."""
    monkeypatch.setattr("shared.lap.Shipment", FakeShipment)
    client = FakeElasticsearch()
    client.write_rejections = 3
    settings = ShipperSettings("rsyslog", 10, 2)
    result = run(client, tmp_path, shipper=settings)
    names = [name for name in client.names() if name != "options"]
    assert names[:3] == ["get_mapping", "shipper prepare", "create"]
    assert names[names.index("shipper load") :][:5] == ["shipper load", "shipper end", "actions", "refresh", "count"]
    record = result["record"]
    assert record["void"] == "rsyslog was given 25 documents, and 20 were counted: 5 were lost (20.00%)"
    assert record["shipper"] == {"generated": 25, "counted": 20}
    assert (record["seconds"], record["bulks"], record["documents_per_second"]) == (2.0, 7, [0, 15, 5])
    assert record["latency_ms"]["p50"] is None
    assert record["driver_cpu_seconds"] >= 0.25
    assert FakeShipment.calls[-1] == "close True"
