"""Laps as slices of a load into an index of each level's own: it is kept, only its growth is the lap's."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from shared.lap import RunLap
from shared.lap_plan import LapPlan

from tests.tracks.lap_client import BULK_SECONDS, FakeElasticsearch, corpus, lap
from tests.tracks.test_lap_plan import laps, plan


class Growing(FakeElasticsearch):
    """Keeps documents by index, and says how much has been merged in all."""

    def __init__(self) -> None:
        super().__init__()
        self.merged = 0

    async def exists(self, index: str) -> bool:
        await self._called("exists", index=index)
        return index in self.mappings

    async def count(self, index: str, query: Any = None) -> dict[str, int]:
        if query is None:
            return await super().count(index)
        return {"count": len(set(query["ids"]["values"]) & set(self.markers))}

    async def stats(self, metric: str, index: str | None = None) -> dict[str, Any]:
        answer = await super().stats(metric, index)
        if index is not None and metric.startswith("segments"):
            self.merged += 10
            answer["_all"]["total"]["merges"]["total_size_in_bytes"] = self.merged
        return answer


def run_all(client: FakeElasticsearch, journal: Path, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run calls one after the other by one runner; returns the journal's lines."""

    async def call() -> None:
        runner = RunLap(600)
        for params in calls:
            with client.new_request_context():
                await runner({"default": client}, params)

    asyncio.run(call())
    return [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]


def growing(tmp_path: Path, **changes: Any) -> Any:
    """A lap of 25 documents into a growing index."""
    return lap(corpus(tmp_path, [40]), tmp_path / "laps.jsonl", grows=True, **changes)


def test_an_index_is_kept_from_lap_to_lap_of_a_start(tmp_path: Path) -> None:
    """Made once, counted each time by what it gained; a new start has a fresh one, and in the end it is deleted."""
    client, first = Growing(), growing(tmp_path)
    calls = [{"lap": first}, {"lap": replace(first, number=5)}, {"lap": replace(first, number=6, start=2)}]
    lines = run_all(client, tmp_path / "laps.jsonl", [*calls, {"sweep": (("default", first.index, None),)}])
    assert [line["void"] for line in lines] == [None, None, None]
    assert [line["documents_counted"] for line in lines] == [25, 25, 25]
    assert [line["documents_before"] for line in lines] == [0, 25, 0]
    names = [name for name, _ in client.calls if name in ("create", "delete")]
    assert names == ["create", "delete", "create", "delete"]
    assert not client.mappings


def test_only_the_growth_is_the_laps(tmp_path: Path) -> None:
    """What was merged before a lap is none of its figures; the size is that of the whole index."""
    client, first = Growing(), growing(tmp_path)
    before, after = run_all(client, tmp_path / "laps.jsonl", [{"lap": first}, {"lap": replace(first, number=5)}])
    assert before["index_figures"]["merge_bytes"] == 10
    assert after["index_figures"]["merge_bytes"] == 10
    assert after["index_figures"]["store_bytes"] == before["index_figures"]["store_bytes"] == 5


def test_merges_are_waited_for_no_longer_than_the_slice_took(tmp_path: Path) -> None:
    """Throttled ones may take ten times as long: the lap counts, and tells that they went on; those that end do not."""
    client, first = Growing(), growing(tmp_path)
    client.merging = 10_000
    (line,) = run_all(client, tmp_path / "laps.jsonl", [{"lap": first}])
    assert (line["void"], line["merges_go_on"]) == (None, True)
    assert line["merge_wait_seconds"] == pytest.approx(line["seconds"], abs=0.001)
    client.merging = 0
    lines = run_all(client, tmp_path / "laps.jsonl", [{"lap": replace(first, number=5)}])
    assert lines[-1]["merges_go_on"] is False


def test_an_index_that_is_gone_is_made_anew(tmp_path: Path) -> None:
    """Somebody deleted it between two laps: the next one does not fail for it, and says that it began with nothing."""
    client, first = Growing(), growing(tmp_path)

    async def call() -> None:
        runner = RunLap(600)
        for number in (4, 5):
            with client.new_request_context():
                await runner({"default": client}, {"lap": replace(first, number=number)})
                client.mappings.clear()
                client.documents = []

    asyncio.run(call())
    lines = [json.loads(line) for line in (tmp_path / "laps.jsonl").read_text().splitlines()]
    assert [(line["void"], line["documents_before"]) for line in lines] == [(None, 0), (None, 0)]


def test_a_void_lap_keeps_the_index_and_the_next_one_counts_rightly(tmp_path: Path) -> None:
    """Refused documents make one slice void; what it did send is there before the next one, which counts."""
    client, first = Growing(), growing(tmp_path)
    refused = {"index": {"status": 400, "error": {"reason": "no"}}}
    client.on_bulk = lambda number, documents: [refused] * documents if number == 2 else None
    lines = run_all(client, tmp_path / "laps.jsonl", [{"lap": first}, {"lap": replace(first, number=5)}])
    assert "documents were refused" in lines[0]["void"]
    assert (lines[1]["void"], lines[1]["documents_before"], lines[1]["documents_counted"]) == (None, 15, 25)
    assert "delete" not in client.names()


def test_markers_of_earlier_laps_are_neither_documents_nor_in_the_way(tmp_path: Path) -> None:
    """Each lap's probe has ids of its own, because the index still has those before; counts leave all of them out."""
    client, first = Growing(), growing(tmp_path, freshness_probe=True)
    lines = run_all(client, tmp_path / "laps.jsonl", [{"lap": first}, {"lap": replace(first, number=5)}])
    assert [line["void"] for line in lines] == [None, None]
    assert len(set(client.all_markers)) == len(client.all_markers) >= 2
    assert [line["documents_counted"] for line in lines] == [25, 25]


def test_a_slice_ends_with_its_time(tmp_path: Path) -> None:
    """The corpus is begun again until then; nobody waits for a number of documents, which would take for ever."""
    client = Growing()
    one = growing(tmp_path, count=10**12, seconds=20 * BULK_SECONDS)
    (line,) = run_all(client, tmp_path / "laps.jsonl", [{"lap": one}])
    assert line["void"] is None
    assert line["documents"] is None
    assert line["slice_seconds"] == 20 * BULK_SECONDS
    assert line["seconds"] >= BULK_SECONDS
    assert line["documents_sent"] == line["documents_counted"] > 0


def test_each_level_has_an_index_of_its_own_and_the_last_call_deletes_them(tmp_path: Path) -> None:
    """Whether the plan comes to its end or is stopped; a plan of fresh indices has no such call."""
    stop = tmp_path / "stop"
    source = plan(tmp_path, growing=True, stop_file=str(stop))
    found = [source.params()["lap"] for _ in range(6)]
    assert {(one.level, one.index) for one in found} == {("1s", "paddock-test-lap-1"), ("30s", "paddock-test-lap-2")}
    swept = (("default", "paddock-test-lap-1", None), ("default", "paddock-test-lap-2", None))
    assert source.params() == {"sweep": swept}
    with pytest.raises(StopIteration):
        source.params()
    stopped = plan(tmp_path, growing=True, stop_file=str(stop))
    stopped.params()
    stopped.params()
    stop.touch()
    assert stopped.params() == {"sweep": swept}
    with pytest.raises(StopIteration):
        stopped.params()
    unbegun = plan(tmp_path, growing=True, stop_file=str(stop))
    with pytest.raises(StopIteration):
        unbegun.params()
    assert {one.index for one in laps(plan(tmp_path))} == {"paddock-test-lap"}


def test_slices_of_a_block_begin_with_the_same_document(tmp_path: Path) -> None:
    """Spread over the corpus from block to block, whatever a slice gets through."""
    source = plan(tmp_path, growing=True, seconds=2)
    found = [source.params()["lap"] for _ in range(6)]
    assert [one.first_document for one in found] == [0, 0, 16, 16, 33, 33]
    assert {(one.seconds, one.count) for one in found} == {(2.0, 10**12)}


def test_test_mode_ends_a_slice_with_the_corpus(tmp_path: Path) -> None:
    """50 of a million documents are left: a slice sends no more than those."""
    source = plan(tmp_path, growing=True, seconds=2, corpus_documents=10**6)
    assert source.params()["lap"].count == 50


def test_a_slice_may_be_longer_than_the_corpus(tmp_path: Path) -> None:
    """Which it then begins again."""
    assert plan(tmp_path, growing=True, documents=120).params()["lap"].count == 120


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seconds": 5}, "set lap_growing, too"),
        ({"growing": True, "seconds": 0}, "lap_seconds must be above 0, but is 0"),
        ({"growing": True, "seconds": "5s"}, "lap_seconds must be above 0, but is '5s'"),
        (
            {"growing": True, "seconds": 5, "levels": [{"name": "f", "shipper": "rsyslog", "shipper_input": "file"}]},
            "the level 'f' reads a file, which takes as much as the disk does in lap_seconds",
        ),
        ({"growing": True, "force_merge": True}, "lap_growing excludes"),
        ({"growing": True, "read_back": 5}, "lap_growing excludes"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """Before the first lap."""
    with pytest.raises(exceptions.InvalidSyntax, match=words):
        plan(tmp_path, **changes)


def test_the_plan_is_rallys(tmp_path: Path) -> None:
    """Its share done goes from 0 to 1 whether or not a last call follows."""
    source: LapPlan = plan(tmp_path, growing=True)
    assert source.percent_completed == 0
    for _ in range(6):
        source.params()
    assert source.percent_completed == 1


def test_time_based_indices(tmp_path: Path) -> None:
    """A level with blocks_per_index writes to a new index after so many blocks; all of them are deleted at the end."""
    source = plan(tmp_path, growing=True, levels=["1s", {"name": "30s", "blocks_per_index": 2}])
    found = [source.params()["lap"] for _ in range(6)]
    assert [one.index for one in found if one.level == "30s"] == [
        f"paddock-test-lap-2-00000{number}" for number in (1, 1, 2)
    ]
    assert {one.index for one in found if one.level == "1s"} == {"paddock-test-lap-1"}
    swept = [index for _, index, _ in source.params()["sweep"]]
    assert swept == ["paddock-test-lap-1", "paddock-test-lap-2-000001", "paddock-test-lap-2-000002"]
    with pytest.raises(exceptions.InvalidSyntax, match="'30s' has blocks_per_index, and every lap has a fresh index"):
        plan(tmp_path, levels=["1s", {"name": "30s", "blocks_per_index": 2}])


def test_settings_of_the_node_are_no_level(tmp_path: Path) -> None:
    """The index buffer, above all: refused before the first lap, with where it is set."""
    level = {"name": "large", "settings": {"indices.memory.index_buffer_size": "30%"}}
    with pytest.raises(exceptions.InvalidSyntax, match=r"is a setting of the node.*cars/README\.md"):
        plan(tmp_path, levels=["1s", level], order=["1s", "large"])
