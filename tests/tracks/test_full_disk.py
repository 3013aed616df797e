"""The challenge full-disk: stops, goes on, finds everything again, puts settings back, and leaves others alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import elasticsearch
import pytest
from esrally import exceptions
from shared.full_disk import FullDisk, FullDiskPlan, size_in_bytes
from shared.ownership import SomebodyElses

from paddock import tracks
from tests.tracks import paced_race
from tests.tracks.lap_client import FakeElasticsearch, meta

DOCUMENTS, FULL_AT = 60, 25
BLOCKED = {"type": "cluster_block_exception", "reason": "disk usage exceeded flood-stage watermark"}


class SmallDisk(FakeElasticsearch):
    """A node whose disk takes so many documents until the ballast is deleted.

    :param forgets: documents that are acknowledged and not kept.
    """

    def __init__(self, forgets: frozenset[int] = frozenset(), stays_full: bool = False):
        super().__init__()
        self.there: dict[str, Any] = {}
        self.settings: list[dict[str, Any]] = []
        self.stored: set[str] = set()
        self.full_at: float = FULL_AT
        self.forgets, self.stays_full = forgets, stays_full
        self.rerouted = 0

    async def get_mapping(self, index: str, **_: Any) -> Any:
        await self._called("get_mapping")
        found = self.there if index == "*" else {name: one for name, one in self.there.items() if name == index}
        if not found and index != "*":
            raise elasticsearch.NotFoundError("none", meta(404), {})
        return {name: {"mappings": one} for name, one in found.items()}

    async def create(self, index: str, mappings: Any, **_: Any) -> None:
        self.there[index] = mappings

    async def delete(self, index: str) -> None:
        del self.there[index]
        if index.endswith("-ballast") and not self.stays_full:
            self.full_at = float("inf")

    async def get_settings(self, **_: Any) -> Any:
        return {"persistent": {"cluster.info.update.interval": "45s"}}

    async def put_settings(self, persistent: dict[str, Any]) -> None:
        self.settings.append(persistent)

    async def stats(self, **_: Any) -> Any:
        disk = {"total_in_bytes": 1_000_000, "available_in_bytes": 400_000}
        return {"nodes": {"a": {"fs": {"data": [disk]}}, "b": {"fs": {"data": [disk]}}}}

    async def forcemerge(self, **_: Any) -> None:
        pass

    async def health(self, **_: Any) -> Any:
        return {"timed_out": False, "status": "green"}

    async def reroute(self, **_: Any) -> None:
        self.rerouted += 1

    async def bulk(self, index: str, body: bytes = b"", operations: Any = (), **_: Any) -> Any:
        await self._called("bulk")
        if index.endswith("-ballast"):
            return {}
        items = []
        for line in body.splitlines()[::2]:
            identity = json.loads(line)["index"]["_id"]
            if len(self.stored) >= self.full_at and identity not in self.stored:
                items.append({"index": {"status": 429, "error": BLOCKED}})
            else:
                self.stored.add(identity)
                items.append({"index": {"status": 201}})
        return {"items": items}

    async def refresh(self, **_: Any) -> None:
        pass

    async def count(self, index: str, **_: Any) -> Any:
        return {"count": len(self.stored) - len(self.forgets)}

    async def mget(self, ids: list[str], **_: Any) -> Any:
        return {"docs": [{"found": one in self.stored and int(one) not in self.forgets} for one in ids]}


def raced(folder: Path, client: SmallDisk, **params: Any) -> dict[str, Any]:
    """The one operation, run in no time; what the journal says."""
    journal = folder / "load.jsonl"
    told = {"corpus_documents": DOCUMENTS, "bulk_size": 7, "bulk_indexing_clients": 2, "load_journal": str(journal)}
    built = paced_race.built("apache", "full-disk", {**told, **params})
    track = paced_race.with_documents(built, folder, DOCUMENTS)
    plan: FullDiskPlan = paced_race.source(track, "full-disk")

    async def run() -> None:
        with client.new_request_context():
            await FullDisk()(client, plan.params())

    loop = paced_race.InNoTime()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("time.perf_counter", loop.time)
        try:
            loop.run_until_complete(run())
        finally:
            loop.close()
    (line,) = [json.loads(one) for one in journal.read_text().splitlines()]
    return dict(line)


def test_a_full_disk_stops_the_load_and_lets_it_go_on(tmp_path: Path) -> None:
    """25 of 60 documents are taken, others refused in the node's words; without the ballast more are taken."""
    client = SmallDisk()
    line = raced(tmp_path, client)
    assert (line["offered"], line["stopped"], line["freed"], line["recovered_by"]) == (DOCUMENTS, True, True, "itself")
    assert line["taken"] == FULL_AT
    (refusal,) = line["refusals"]
    assert (refusal["status"], refusal["kind"], refusal["reason"]) == (429, BLOCKED["type"], BLOCKED["reason"])
    assert line["taken_before_refusal"] <= FULL_AT
    assert line["recovery"] < 1
    assert line["acknowledged"] == line["counted"] > FULL_AT
    assert line["lost"] == 0
    # What was set is put back to what it was, and of the tracks' indices only the one with the documents is left.
    assert client.settings[-1]["cluster.info.update.interval"] == "45s"
    assert client.settings[-1]["cluster.routing.allocation.disk.watermark.flood_stage"] is None
    assert list(client.there) == ["paddock-apache"]


def test_a_disk_that_is_large_enough(tmp_path: Path) -> None:
    """Everything is taken, nothing refused, nothing to recover from."""
    client = SmallDisk()
    client.full_at = DOCUMENTS
    line = raced(tmp_path, client)
    assert (line["taken"], line["stopped"], line["refusals"], line["recovery"]) == (DOCUMENTS, False, [], None)
    assert client.stored == {str(number) for number in range(DOCUMENTS)}


def test_a_disk_that_stays_full(tmp_path: Path) -> None:
    """After half of the patience shards are asked for anew; nothing is taken, and that is said."""
    client = SmallDisk(stays_full=True)
    line = raced(tmp_path, client, full_disk_patience=5)
    assert (line["recovery"], line["recovered_by"], client.rerouted) == (None, None, 1)


def test_a_document_that_is_lost_ends_the_race(tmp_path: Path) -> None:
    """An acknowledged document that is not there is an error, and the settings are put back all the same."""
    client = SmallDisk(frozenset({3}))
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match=r"1 of \d+ acknowledged documents are not in the index"
    ):
        raced(tmp_path, client)
    assert json.loads((tmp_path / "load.jsonl").read_text())["lost"] == 1
    assert client.settings[-1]["cluster.info.update.interval"] == "45s"


class DeadShard(SmallDisk):
    """A node whose only shard does not come back."""

    async def count(self, index: str, **_: Any) -> Any:
        raise elasticsearch.ApiError("search_phase_execution_exception", meta(503), {"error": "all shards failed"})

    async def mget(self, ids: list[str], **_: Any) -> Any:
        return {"docs": [{"error": {"type": "no_shard_available_action_exception"}} for _ in ids]}


def test_a_shard_that_stays_dead_has_lost_everything(tmp_path: Path) -> None:
    """The journal says so, that nobody could count included; whoever reads it may have the race come to its end."""
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"25 of 25 acknowledged .* could not be looked for"):
        raced(tmp_path, DeadShard(stays_full=True))
    line = json.loads((tmp_path / "load.jsonl").read_text())
    assert (line["acknowledged"], line["counted"], line["lost"]) == (25, None, 25)
    (tmp_path / "reported").mkdir()
    assert raced(tmp_path / "reported", DeadShard(stays_full=True), failed_proof="report")["lost"] == 25


class NoMaster(SmallDisk):
    """A node that has not even room for the state of its cluster once its disk is full."""

    async def delete(self, index: str) -> None:
        if len(self.stored) >= FULL_AT:
            raise elasticsearch.ApiError("master_not_discovered_exception", meta(503), {"error": "no master"})
        await super().delete(index)


def test_a_disk_that_is_full_to_its_last_byte(tmp_path: Path) -> None:
    """Nothing can be deleted: the race comes to its figures all the same, which say so."""
    line = raced(tmp_path, NoMaster())
    assert (line["stopped"], line["freed"], line["recovery"], line["lost"]) == (True, False, None, 0)


class LateMaster(SmallDisk):
    """A node that has a master again after a while."""

    deletions = 0

    async def delete(self, index: str) -> None:
        self.deletions += 1
        if self.deletions < 5:
            raise elasticsearch.ApiError("master_not_discovered_exception", meta(503), {"error": "no master"})
        await super().delete(index)


def test_space_is_freed_once_there_is_a_master(tmp_path: Path) -> None:
    """An administrator would try again, too; recovery counts from the moment at which space is free."""
    line = raced(tmp_path, LateMaster())
    assert (line["stopped"], line["freed"], line["recovered_by"], line["lost"]) == (True, True, "itself", 0)
    assert line["recovery"] < 1


class Particular(SmallDisk):
    """A node of which document 3 is not as its mapping has it."""

    async def bulk(self, index: str, body: bytes = b"", operations: Any = (), **_: Any) -> Any:
        answer = await super().bulk(index, body, operations)
        for item, line in zip(answer.get("items", ()), body.splitlines()[::2], strict=False):
            if json.loads(line)["index"]["_id"] == "3":
                self.stored.discard("3")
                error = {"type": "document_parsing_exception", "reason": "failed to parse field [status]"}
                item["index"] = {"status": 400, "error": error}
        return answer


def test_a_document_that_no_node_takes_is_not_sent_again(tmp_path: Path) -> None:
    """It stops nothing, on a disk that is large enough as on one that becomes full."""
    client = Particular()
    client.full_at = DOCUMENTS
    line = raced(tmp_path, client)
    assert (line["taken"], line["stopped"], line["lost"]) == (DOCUMENTS - 1, False, 0)
    assert [(one["status"], one["documents"]) for one in line["refusals"]] == [(400, 1)]
    (tmp_path / "full").mkdir()
    line = raced(tmp_path / "full", Particular())
    assert (line["stopped"], line["recovered_by"], line["lost"]) == (True, "itself", 0)


def test_watermarks_make_room_where_no_file_system_is_small(tmp_path: Path) -> None:
    """The flood stage is so many bytes away, and the ballast brings the disk back above the high watermark."""
    client = SmallDisk()
    assert raced(tmp_path, client, full_disk_room="100kb")["room"] == 102400
    marks = client.settings[1]
    sizes = [
        int(marks[f"cluster.routing.allocation.disk.watermark.{one}"][:-1]) for one in ("flood_stage", "high", "low")
    ]
    assert sizes[0] == 400_000 - 102_400
    assert sizes == sorted(sizes)
    assert sizes[1] < sizes[0] + 102_400
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match=r"full_disk_room is 1048576 bytes, of which twice .* than 400000"
    ):
        raced(tmp_path, SmallDisk(), full_disk_room="1mb")


class LargeDisk(SmallDisk):
    """A node on somebody's own disk."""

    async def stats(self, **_: Any) -> Any:
        return {"nodes": {"a": {"fs": {"data": [{"total_in_bytes": 10**12, "available_in_bytes": 10**11}]}}}}


def test_a_disk_of_somebodys_machine_is_not_filled(tmp_path: Path) -> None:
    """Of a terabyte 40 % would be written before the load begins; nothing is, and what was set is put back."""
    client = LargeDisk()
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match=r"has 931 GiB, which is too much to fill: .* data_size"
    ):
        raced(tmp_path, client)
    assert client.there == {}
    assert client.settings[-1]["cluster.info.update.interval"] == "45s"
    with pytest.raises(exceptions.RallyTaskAssertionError, match="no more than 100000000000 are free"):
        raced(tmp_path, LargeDisk(), full_disk_room="60gb")


def test_indices_of_others_are_left_alone(tmp_path: Path) -> None:
    """A full disk would stop them, too: nothing is changed."""
    client = SmallDisk()
    client.there["somebodys"] = {"properties": {}}
    with pytest.raises(SomebodyElses, match=r"'somebodys' is in the cluster.*takes a cluster without any"):
        raced(tmp_path, client)
    assert client.settings == []


def test_nonsense_is_refused() -> None:
    """A room that is no size."""
    with pytest.raises(exceptions.InvalidSyntax, match="full_disk_room must be a size such as 500mb, but is 'much'"):
        size_in_bytes("much")
    assert size_in_bytes("2mb") == 2 << 20


@pytest.mark.parametrize("name", tracks.track_names())
def test_every_track_can_fill_a_disk(name: str) -> None:
    """One operation, once, without a warm-up."""
    task = paced_race.leaf(paced_race.built(name, "full-disk", {}), "full-disk")
    assert (task.warmup_iterations, task.iterations, task.clients) == (0, 1, 1)
