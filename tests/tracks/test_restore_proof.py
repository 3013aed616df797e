"""The restore proof: what is missing, changed or too many in an index is found, and what is the same is not."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import restore_proof
from shared.replay_times import MILLISECOND, time_of
from shared.restore_differences import Differences
from shared.restore_proof import RestoreProof

from tests.tracks import paced_race
from tests.tracks.replayed import document, track


class Index:
    """An index that answers what the proof asks, page by page."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        self.documents = [(f"id-{number}", one) for number, one in enumerate(documents)]
        self.indices = self
        self.stored = True
        self.open: dict[str, list[Any]] = {}
        self.refreshed = False

    def options(self, **_: Any) -> Index:
        return self

    async def refresh(self, index: str) -> None:
        self.refreshed = True

    async def count(self, index: str) -> dict[str, int]:
        assert self.refreshed
        return {"count": len(self.documents)}

    async def search(
        self, size: int, index: str = "", aggs: Any = None, query: Any = None, pit: Any = None, **request: Any
    ) -> dict[str, Any]:
        if aggs is not None:
            assert index
            interval = aggs["parts"]["date_histogram"]["fixed_interval"]
            return {"aggregations": {"parts": {"buckets": self._parts(int(interval[:-2]))}}}
        found = self.open[pit["id"]]
        if query is not None:
            moment = query["range"]["@timestamp"]["gte"]
            found = [one for one in found if self._at(one[1]) == moment]
        placed = [([self._at(one), place], identity, one) for place, (identity, one) in enumerate(found)]
        after = request.get("search_after", [-(2**63), 0])
        hits = [
            {"_id": identity, "sort": sort, **({"_source": copy.deepcopy(one)} if self.stored else {})}
            for sort, identity, one in sorted(placed, key=lambda one: one[0])
            if sort > after
        ]
        return {"pit_id": pit["id"], "hits": {"hits": hits[:size]}}

    async def open_point_in_time(self, index: str, keep_alive: str) -> dict[str, str]:
        self.open[f"point-{len(self.open)}"] = list(self.documents)
        return {"id": f"point-{len(self.open) - 1}"}

    async def close_point_in_time(self, id: str) -> None:  # noqa: A002 - the client's name
        del self.open[id]
        self.open[f"closed {id}"] = []

    def _at(self, one: dict[str, Any]) -> int:
        at = time_of(one)
        return 2**63 - 1 if at is None else at // MILLISECOND

    def _parts(self, length: int) -> list[dict[str, int]]:
        keys = [self._at(one) // length * length for _, one in self.documents if time_of(one) is not None]
        return [{"key": key, "doc_count": keys.count(key)} for key in sorted(set(keys))]


@pytest.fixture(autouse=True)
def pages_of_five(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that documents are on several."""
    monkeypatch.setattr(restore_proof, "_PAGE", 5)
    monkeypatch.setattr(restore_proof, "_READ_AT_ONCE", 3)


def proved(built: Any, index: Index, journal: Path, most: int = 100_000) -> dict[str, Any]:
    """What the proof writes down, which does not end the race."""
    journal.unlink(missing_ok=True)
    params = {**paced_race.source(built, "restore-proof").params(), "journal": str(journal), "failed-proof": "report"}
    answer = asyncio.run(RestoreProof(most)(index, params))
    told = json.loads(journal.read_text(encoding="utf-8"))
    assert answer["proof-passed"] is told["passed"] is (told["problem"] is None)
    assert all(name.startswith("closed") for name in index.open)
    return told


TIMES = [0, 0.5, 0.5, 0.5, 1, 1.2505, 1.2507, 2, 3, None, 2.5, 90]


@pytest.mark.parametrize("proof", ["all", "sample"])
def test_the_same_documents_pass(tmp_path: Path, proof: str) -> None:
    """In another order, with dots for braces, nulls left out, and whole numbers with a point."""
    documents = [document(number, at) for number, at in enumerate(TIMES)]
    documents[3] |= {"n": 3.0, "user": None}
    built = track(tmp_path, TIMES, proof=proof)
    told = proved(built, Index(documents[::-1]), tmp_path / "load.jsonl")
    assert told["passed"], told
    assert (told["documents"], told["counted"]) == (12, 12)
    # What has no time cannot be asked for by it, and is compared only where all are.
    assert told["compared"] == (12 if proof == "all" else 11)
    assert (told.get("sampled"), told.get("undated")) == ((None, None) if proof == "all" else (11, 1))
    assert (told["missing"], told["changed"], told["unexpected"], told["stopped"]) == (0, 0, 0, False)


@pytest.mark.parametrize("proof", ["all", "sample"])
def test_each_kind_of_difference_is_told(tmp_path: Path, proof: str) -> None:
    """One document is gone, one has another value, one came twice; the report can show which."""
    times = [number / 4 for number in range(40)]
    documents = [document(number, at) for number, at in enumerate(times)]
    documents[20]["path"] = "/changed"
    documents[21]["n"] = True if documents[21]["n"] == 1 else "21"
    del documents[7]
    documents += [document(30, 7.5)]
    told = proved(track(tmp_path, times, proof=proof), Index(documents), tmp_path / "load.jsonl")
    assert (told["missing"], told["changed"], told["unexpected"]) == (1, 2, 1)
    assert told["counted"] == told["documents"] == 40
    assert told["fields"] == {
        "path": {"documents": 1, "sent": "/articles/20", "read": "/changed"},
        "n": {"documents": 1, "sent": 21, "read": "21"},
    }
    by_kind = {one["kind"]: one for one in told["examples"]}
    assert by_kind["missing"]["at"] == "2026-01-05T20:00:01.750Z"
    assert '"n": 7' in by_kind["missing"]["document"]
    assert by_kind["unexpected"]["id"] is not None
    assert told["problem"].startswith(
        "The restore proof of the index 'paddock-apache' failed: 1 of those compared are "
    )
    assert "2 read back otherwise than they were sent (in path, n); 1 were never sent" in told["problem"]
    if proof == "sample":
        assert [(one["sent"], one["read"]) for one in told["parts"]] == [(4, 3), (4, 5)]
        assert told["sampled"] == 40


@given(
    times=st.lists(st.one_of(st.none(), st.integers(0, 6), st.floats(0, 6)), min_size=2, max_size=25).filter(
        lambda times: any(time is not None for time in times)
    ),
    data=st.data(),
)
@settings(deadline=None, max_examples=80, suppress_health_check=[*HealthCheck])
def test_any_damage_is_found_and_no_other(tmp_path: Path, times: list[Any], data: st.DataObject) -> None:
    """Deleted, changed in value or time, sent twice: the proof of all fails exactly where something was done."""
    documents = [document(number, at) for number, at in enumerate(times)]
    victim = data.draw(st.integers(0, len(times) - 1))
    damage = data.draw(st.sampled_from(["none", "delete", "change", "move", "twice"]))
    damaged = copy.deepcopy(documents)
    if damage == "delete":
        del damaged[victim]
    elif damage == "change":
        damaged[victim]["path"] = "/other"
    elif damage == "move":
        damaged[victim]["@timestamp"] = "2026-01-05T19:59:59.999Z"
    elif damage == "twice":
        damaged.append(copy.deepcopy(documents[victim]))
    told = proved(track(tmp_path, times), Index(damaged), tmp_path / "load.jsonl")
    expected = {
        "none": (0, 0, 0),
        "delete": (1, 0, 0),
        "change": (0, 1, 0),
        "move": (0, 1, 0),
        "twice": (0, 0, 1),
    }
    assert (told["missing"], told["changed"], told["unexpected"]) == expected[damage], told
    assert told["passed"] is (damage == "none")


def test_a_sample_sees_all_of_its_milliseconds_and_no_more(tmp_path: Path) -> None:
    """Two documents drawn of twenty: the one that was changed is found as often as it is drawn, and the counts hold."""
    times = [number / 10 for number in range(20)]
    documents = [document(number, at) for number, at in enumerate(times)]
    documents[12]["path"] = "/changed"
    built = track(tmp_path, times, proof="sample", proof_documents=2)
    found = [proved(built, Index(documents), tmp_path / "load.jsonl") for _ in range(150)]
    assert {told["compared"] for told in found} == {2}
    failed = sum(not told["passed"] for told in found)
    assert 0 < failed < 150  # each with a probability of a tenth: none in one of ten million runs


def test_many_differences_end_the_comparison(tmp_path: Path) -> None:
    """What a pipeline changed in every document is told by its field, without reading all of a large index."""
    times = [number / 10 for number in range(200)]
    documents = [{**document(number, at), "added": 1} for number, at in enumerate(times)]
    told = proved(track(tmp_path, times), Index(documents), tmp_path / "load.jsonl", most=20)
    assert told["stopped"]
    assert told["compared"] < 30
    assert list(told["fields"]) == ["added"]
    assert told["problem"].endswith("; the rest was not compared.")


@pytest.mark.parametrize("at", [2.0, None])
def test_many_documents_of_one_time_or_none_are_no_differences(tmp_path: Path, at: float | None) -> None:
    """They may be in any order in the index; only what is left behind a time counts as differing."""
    times = [1.0, *[at] * 100, 3.0]
    documents = [document(number, one) for number, one in enumerate(times)]
    built = track(tmp_path, times)
    told = proved(built, Index(documents[::-1]), tmp_path / "load.jsonl", most=20)
    assert (told["passed"], told["compared"]) == (True, 102), told
    documents[50]["path"] = "/changed"
    told = proved(built, Index(documents[::-1]), tmp_path / "load.jsonl", most=20)
    assert (told["changed"], told["missing"], told["unexpected"], told["stopped"]) == (1, 0, 0, False)


def test_whole_numbers_that_come_back_with_a_point_are_no_differences(tmp_path: Path) -> None:
    """However many they are."""
    times = [number / 10 for number in range(200)]
    documents = [{**document(number, at), "n": float(number)} for number, at in enumerate(times)]
    told = proved(track(tmp_path, times), Index(documents), tmp_path / "load.jsonl", most=20)
    assert (told["passed"], told["compared"]) == (True, 200), told


def test_an_index_that_lost_most_is_not_read_for_ever(tmp_path: Path) -> None:
    """What was sent before the first document of the index is missing, and soon too much."""
    times = [number / 10 for number in range(200)]
    told = proved(track(tmp_path, times), Index([document(199, 19.9)]), tmp_path / "load.jsonl", most=20)
    assert told["stopped"]
    assert 20 < told["missing"] < 30


class ReadsZones(Index):
    """An index that knows the names of zones, as Elasticsearch does and Paddock does not."""

    def _at(self, one: dict[str, Any]) -> int:
        named = str(one.get("@timestamp")).endswith("Europe/Paris")
        return 1_767_643_201_000 if named else super()._at(one)


@pytest.mark.parametrize("proof", ["all", "sample"])
def test_times_that_elasticsearch_alone_can_read_are_no_differences(tmp_path: Path, proof: str) -> None:
    """They come in the middle of the index, and are documents without a time in the archive."""
    times = [0, *[1.0 if number % 3 else None for number in range(100)], 2]
    documents = [document(number, at) for number, at in enumerate(times)]
    for one in documents:
        one.setdefault("@timestamp", "2026-01-05T21:00:01Europe/Paris")
    built = track(tmp_path, times, proof=proof)
    path = Path(built.corpora[0].documents[0].document_file)
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    told = proved(built, ReadsZones(documents), tmp_path / "load.jsonl", most=20)
    assert told["passed"], told
    documents[4]["path"] = "/changed"  # of a document that has no time to us
    told = proved(built, ReadsZones(documents), tmp_path / "load.jsonl", most=20)
    assert told["changed"] == (proof == "all")
    assert told.get("undated") == (None if proof == "all" else 34)


def test_an_index_that_stores_nothing_cannot_be_proved(tmp_path: Path) -> None:
    """Its documents are counted, and a sentence says what else to ask for."""
    index = Index([document(0, 1)])
    index.stored = False
    told = proved(track(tmp_path, [1]), index, tmp_path / "load.jsonl")
    assert "the index stores no documents, so none can be read back (set proof to none)" in told["problem"]


def test_a_proof_that_fails_ends_the_race(tmp_path: Path) -> None:
    """With plain Rally; the journal has it as well."""
    built = track(tmp_path, [0, 1])
    params = paced_race.source(built, "restore-proof").params()
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match="has 1 documents, and 2 were sent; 1 of those compared"
    ):
        asyncio.run(RestoreProof()(Index([document(0, 0)]), params))
    assert str(RestoreProof()) == "restore-proof"


def test_a_changed_document_is_paired_with_the_nearest() -> None:
    """Of several of the same millisecond, and of another time only if most of it is the same."""
    found = Differences(100)
    for number in (1, 2):
        found.sent(5, {"a": number, "b": number, "c": number})
    found.read(5, "x", {"a": 2, "b": 2, "c": 9})
    found.read(5, "y", {"a": 1, "b": 8, "c": 1})
    told = found.told()
    assert told["changed"] == 2
    assert {name: one["documents"] for name, one in told["fields"].items()} == {"b": 1, "c": 1}
    stranger = Differences(100)
    stranger.sent(5, {"a": 1, "b": 1})
    stranger.read(6, "x", {"c": 1, "d": 1})
    assert (stranger.told()["missing"], stranger.told()["unexpected"], stranger.told()["changed"]) == (1, 1, 0)


def test_ten_thousand_changed_documents_are_told_in_time() -> None:
    """Looking for pairs among many does not compare each with each."""
    found = Differences(100_000)
    for number in range(10_000):
        found.sent(number // 100, {"a": number, "b": 1})
        found.read(number // 100, "x", {"a": number, "b": 2})
    told = found.told()
    assert told["missing"] + told["changed"] == told["unexpected"] + told["changed"] == 10_000
