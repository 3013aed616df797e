"""The block challenges as Rally's own loader and driver see them: every lap planned, warm-up marked, docs in step."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from shared.lap_plan import Lap
from shared.levels import FACTORS

from paddock import tracks
from paddock.errors import FileError
from paddock.paths import TRACKS
from tests.tracks.lap_client import FakeElasticsearch, corpus
from tests.tracks.rendered import build

ALL_TRACKS = tracks.track_names()
DEFAULT_LEVELS = {
    "refresh-interval": ["1s", "5s", "30s"],
    "translog-flush": ["request", "async", "30s", "64mb"],
    "store-type": ["hybridfs", "mmapfs", "niofs"],
    "shards": ["1", "2", "4"],
    "replicas": ["0", "1"],
    "bulk-size": ["500", "1000", "3000", "5000"],
    "bulk-clients": ["1", "2", "4", "8"],
    "mapping-cost": ["full", "track", "keywords", "no-doc-values", "nothing-indexed", "nothing-stored"],
    "shipper": ["rally"],
    "settings": ["track", "for-throughput"],
    "index-mode": ["standard", "logsdb"],
    "codec-and-sort": [
        *("default", "best_compression", "default by @timestamp desc", "best_compression by @timestamp desc"),
    ],
}
# Challenges are shared by all tracks: each of them once, and each track with one of them.
EVERY_ONE = [("apache", factor) for factor in DEFAULT_LEVELS] + [
    (name, "settings") for name in ALL_TRACKS if name != "apache"
]


def built(name: str, factor: str, params: dict[str, Any], test_mode: bool = False) -> Any:
    """Rally's track with a block challenge selected."""
    return build(tracks.load_track(name), params, factor, test_mode)


def planned(rally_track: Any) -> list[Lap]:
    """The laps of the selected challenge, from Rally's own parameter source."""
    from esrally.track import loader

    (task,) = rally_track.selected_challenge.schedule
    source = loader.operation_parameters(rally_track, task).partition(0, task.clients)
    found = []
    while True:
        try:
            found.append(source.params()["lap"])
        except StopIteration:
            return found


def test_every_factor_has_a_challenge() -> None:
    """A factor without a challenge could not be raced."""
    assert set(FACTORS) == set(DEFAULT_LEVELS)


@pytest.mark.parametrize("test_mode", [False, True])
@pytest.mark.parametrize(("name", "factor"), EVERY_ONE)
def test_defaults(name: str, factor: str, test_mode: bool) -> None:
    """With nothing given: three warm-up blocks, five that count, every level once in each; in test mode as well."""
    found = planned(built(name, factor, {}, test_mode))
    levels = DEFAULT_LEVELS[factor]
    assert len(found) == 8 * len(levels)
    for block in range(1, 9):
        laps = [lap for lap in found if lap.block == block]
        assert sorted(lap.level for lap in laps) == sorted(levels)
        assert {lap.warm_up for lap in laps} == {block <= 3}
    assert {lap.count for lap in found} == {1000 if test_mode else 200_000}
    assert {lap.index for lap in found} == {f"paddock-{name}-lap"}


@pytest.mark.parametrize("factor", DEFAULT_LEVELS)
def test_levels_really_differ(factor: str) -> None:
    """Two levels of a factor are never the same load into the same index."""
    found = planned(built("apache", factor, {"warmup_blocks": 0, "blocks": 1}))
    shapes = {json.dumps([lap.body, lap.bulk_size, lap.clients], sort_keys=True) for lap in found}
    assert len(shapes) == len(found)


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_readmes_list_the_levels(name: str) -> None:
    """The table of block challenges in each README has the levels that are raced by default."""
    text = (TRACKS / name / "README.md").read_text(encoding="utf-8").split("## Challenges")[1]
    listed = {
        factor: levels.split(", ")
        for factor, levels in re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| ([^|]+?) \|$", text, re.MULTILINE)
        if factor in FACTORS
    }
    assert listed == DEFAULT_LEVELS


def test_levels_can_be_dropped_in_every_block_challenge(tmp_path: Path) -> None:
    """The parameter reaches the plan, which Rally hands to its worker."""
    (tmp_path / "dropped").write_text('["30s"]')
    found = planned(built("apache", "refresh-interval", {"lap_dropped_file": str(tmp_path / "dropped")}))
    assert {lap.level for lap in found} == {"1s", "5s"}
    assert len(found) == 8 * 2


def test_parameters_reach_the_plan() -> None:
    """Every parameter of the block challenges is found in the laps; the track's own parameters hold for all levels."""
    params = {
        "levels": ["2s", {"name": "large", "bulk_size": 4000}],
        "lap_order": ["large", "2s"],
        "warmup_blocks": 1,
        "blocks": 1,
        "lap_documents": 3000,
        "freshness_probe": True,
        "lap_searches": 7,
        "lap_force_merge": True,
        "lap_read_back": 9,
        "lap_journal": "/laps.jsonl",
        "bulk_size": 250,
        "bulk_indexing_clients": 5,
        "number_of_shards": 2,
        "index_settings": {"codec": "best_compression"},
        "cluster_health": "yellow",
    }
    track = tracks.load_track("apache")
    tracks.check_parameters(track, params)
    found = planned(build(track, params, "refresh-interval"))
    assert [(lap.level, lap.bulk_size, lap.first_document) for lap in found] == [
        *(("large", 4000, 0), ("2s", 250, 0), ("large", 4000, 3000), ("2s", 250, 3000)),
    ]
    assert {(lap.clients, lap.count, lap.freshness_probe, lap.health) for lap in found} == {(5, 3000, True, "yellow")}
    assert {str(lap.journal) for lap in found} == {"/laps.jsonl"}
    assert {(lap.searches, lap.force_merge, lap.read_back) for lap in found} == {(7, True, 9)}
    settings = found[1].body["settings"]
    assert settings["index.number_of_shards"] == 2
    assert settings["index.codec"] == "best_compression"
    assert settings["index.refresh_interval"] == "2s"


@pytest.mark.parametrize(("name", "factor"), EVERY_ONE)
def test_searches_are_the_tracks_own_queries(name: str, factor: str) -> None:
    """A lap knows every query of its track, as its file has it, whichever block challenge is raced; by default none."""
    files = [path.read_text(encoding="utf-8") for path in (TRACKS / name / "operations").glob("*.json")]
    expected = {query["name"]: query["body"] for query in map(json.loads, files)}
    found = planned(built(name, factor, {"lap_searches": 3}))
    for lap in found:
        assert {query.name: query.params["body"] for query in lap.queries} == expected
    assert {(lap.searches, lap.queries) for lap in planned(built(name, factor, {}))} == {(0, ())}


def test_levels_that_sort_differ_in_their_order_alone() -> None:
    """On a track that takes any field, each lap maps those that some lap sorts by."""
    first, second = planned(built("logs", "codec-and-sort", {"levels": ["default", "default by status"], "blocks": 1}))[
        :2
    ]
    assert first.body["mappings"] == second.body["mappings"]
    assert first.body["mappings"]["properties"]["status"]["type"] == "keyword"


def test_the_plan_reaches_a_worker() -> None:
    """Rally sends the whole track to its workers as a pickle, and a worker plans from that."""
    rally_track = pickle.loads(pickle.dumps(built("apache", "shards", {"lap_searches": 3})))  # noqa: S301  our own
    assert len(planned(rally_track)[0].queries) == 7


def test_small_corpus_means_small_laps() -> None:
    """By default a lap is never larger than the corpus."""
    found = planned(built("apache", "shards", {"corpus_documents": 5000}))
    assert {lap.count for lap in found} == {5000}


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"levels": ["1s"]}, "a number of shards must be"),
        ({"levels": 5}, "has no len|cannot be rendered|must be a JSON list"),
        ({"lap_order": [1]}, "each of the levels 1, 2, 4 once"),
        ({"lap_journal": "laps.jsonl"}, "must be an absolute path"),
        ({"lap_documents": 1_000_001}, "lap_documents is 1000001"),
    ],
)
def test_wrong_plans_are_refused_before_a_race(params: dict[str, Any], sentence: str) -> None:
    """Rally's loader asks the parameter source, whose sentence reaches the user."""
    with pytest.raises(FileError, match=sentence):
        built("apache", "shards", params)


@pytest.mark.parametrize("warmup_blocks", [0, 2])
def test_rallys_driver_runs_the_plan(tmp_path: Path, warmup_blocks: int) -> None:
    """Rally's own schedule and executor run every lap once, in order; its samples mark the warm-up as the journal."""
    from esrally.driver import driver, runner
    from esrally.metrics import SampleType
    from esrally.track import loader
    from shared.lap import RunLap

    journal = tmp_path / "laps.jsonl"
    params = {"levels": ["1s", "9s"], "warmup_blocks": warmup_blocks, "blocks": 2, "lap_journal": str(journal)}
    params |= {"corpus_documents": 40, "bulk_size": 15, "bulk_indexing_clients": 2}
    rally_track = built("apache", "refresh-interval", params)
    (documents,) = corpus(tmp_path, [40])
    rally_track.corpora[0].documents[0].document_file = documents.document_file
    runner.register_runner("lap", RunLap(), async_runner=True)
    (task,) = rally_track.selected_challenge.schedule
    samples: list[tuple[Any, ...]] = []

    class Sampler:
        def add(self, *sample: Any) -> None:
            samples.append(sample)

    async def race() -> None:
        allocation = driver.TaskAllocation(task, client_index_in_task=0, global_client_index=0, total_clients=1)
        schedule = driver.schedule_for(allocation, loader.operation_parameters(rally_track, task))
        behaviour = task.error_behavior("abort")
        clients = {"default": FakeElasticsearch()}
        stop = threading.Event()
        await driver.AsyncExecutor(0, task, schedule, clients, Sampler(), stop, stop, behaviour)()

    try:
        asyncio.run(race())
    finally:
        runner.remove_runner("lap")
    records = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [record["lap"] for record in records] == list(range(1, 2 * (warmup_blocks + 2) + 1))
    assert [record["void"] for record in records] == [None] * len(records)
    assert [sample[2] is SampleType.Warmup for sample in samples] == [record["warm_up"] for record in records]
    # Rally's throughput of a sample and its service time are those of the lap.
    for sample, record in zip(samples, records, strict=True):
        assert sample[9] == pytest.approx(40 / record["seconds"])
        assert sample[7] == pytest.approx(record["seconds"], abs=1e-6)
