"""The tracks as Rally's own loader sees them: every challenge, with defaults, in test mode, with every parameter."""

from __future__ import annotations

import errno
import json
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from esrally.track.params import SearchParamSource
from shared import registration

from paddock import paths, tracks
from paddock.errors import FileError, UsageError
from paddock.paths import PROJECT
from paddock.tracks import load_track, parameters_of_others, track_names
from paddock.tracks.rendering import challenges_naming
from tests.tracks.rendered import build, render

DENSE: dict[str, Any] = {
    "number_of_shards": 3,
    "number_of_replicas": 1,
    "refresh_interval": "30s",
    "store_type": "niofs",
    "codec": "best_compression",
    "translog_durability": "async",
    "translog_sync_interval": "10s",
    "translog_flush_threshold_size": "1gb",
    "merge_max_thread_count": 1,
    "index_settings": {"queries.cache.enabled": False, "index.number_of_shards": 2},
    "cluster_health": "green",
    "corpus_file": "other-5000.json",
    "corpus_documents": 5000,
    "corpus_bytes": 123456,
    "document_count": 4000,
    "bulk_size": 500,
    "bulk_indexing_clients": 2,
    "target_throughput": 5000,
    "warmup_time_period": 3,
    "time_period": 20,
    "conflicts": "random",
    "conflict_probability": 10,
    "on_conflict": "update",
    "recency": 0.5,
    "error_level": "non-fatal",
    "wait_for_merges": False,
    "force_merge_max_segments": 1,
    "lap_order_seed": 7,
    "warmup_blocks": 1,
    "blocks": 2,
    "lap_documents": 300,
    "freshness_probe": True,
    "lap_stop_file": "/nowhere/stop",
    "lap_dropped_file": "/nowhere/dropped",
    "search_clients": 2,
    "search_warmup_iterations": 5,
    "search_iterations": 7,
    "search_target_throughput": 3,
    "arrivals": "poisson",
    "bulks_per_second": 4,
    "rest_throughput": 500,
    "peak_throughput": 2500.5,
    "rest_seconds": 2,
    "peak_seconds": 1.5,
    "bursts": 3,
    "growth_steps": [1, 3, 9],
    "replay_factor": 60,
    "replay_from": "2026-01-05T20:00:00Z",
    "replay_until": "2026-01-05T21:00:00Z",
    "replay_query_clients": 3,
    "proof": "sample",
    "proof_documents": 50,
    "failed_proof": "report",
}
SPARSE = [
    {},
    {"ingest_percentage": 12.5},
    {"document_count": 700},
    {"refresh_interval": None, "target_throughput": None},
]
ALL_TRACKS = tracks.track_names()
CHALLENGES = [
    *("bulk-clients", "bulk-size", "burst", "codec-and-sort", "full-disk", "growing-data", "index-mode", "ingest"),
    *("ingest-and-search", "log-queries", "mapping-cost", "paced", "refresh-interval", "replay", "replicas"),
    *("settings", "shards", "shipper", "store-type", "sustained", "translog-flush"),
]

TRACK_NAMES = ["apache", "apache-ecs", "app-logs", "app-logs-ecs", "logs", "syslog", "web-events"]


def task(rally_track: Any, name: str) -> Any:
    """A task of the selected challenge by its name."""
    found = [leaf for entry in rally_track.selected_challenge.schedule for leaf in entry if leaf.name == name]
    return found[0] if found else None


def test_all_tracks_are_listed_with_their_challenges() -> None:
    """The lists of ./inv tracks and ./inv challenges come from the files: names, descriptions, one default each."""
    loaded = tracks.load_tracks()
    assert [track.name for track in loaded] == TRACK_NAMES
    for track in loaded:
        assert track.description
        assert sorted(challenge.name for challenge in track.challenges) == CHALLENGES
        assert [challenge.name for challenge in track.challenges if challenge.default] == ["ingest"]
        assert all(challenge.description for challenge in track.challenges)
        loads = {"bulk", "laps", "paced-bulk", "sustained-bulk", "bulk-to-1x", "replay-documents", "full-disk"}
        assert all(loads & set(challenge.tasks) for challenge in track.challenges)


@pytest.mark.parametrize("test_mode", [False, True])
@pytest.mark.parametrize("params", [*SPARSE, DENSE], ids=["defaults", "share", "count", "none", "dense"])
@pytest.mark.parametrize("name", ALL_TRACKS)
def test_rally_accepts_every_challenge(name: str, params: dict[str, Any], test_mode: bool) -> None:
    """Rally's schema, its Track and all parameter sources accept what is rendered, in test mode too."""
    track = tracks.load_track(name)
    tracks.check_parameters(track, params)
    specification = render(track, params, test_mode=test_mode)
    assert {challenge["name"] for challenge in specification["challenges"]} == set(CHALLENGES)


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_parameters_reach_the_index_and_the_load(name: str) -> None:
    """Every parameter of the dense set is found where it takes effect, and index_settings wins."""
    built = build(tracks.load_track(name), DENSE, "ingest-and-search")
    assert built.indices[0].body["settings"] == {
        "index.number_of_shards": 2,
        "index.number_of_replicas": 1,
        "index.refresh_interval": "30s",
        "index.store.type": "niofs",
        "index.codec": "best_compression",
        "index.translog.durability": "async",
        "index.translog.sync_interval": "10s",
        "index.translog.flush_threshold_size": "1gb",
        "index.merge.scheduler.max_thread_count": 1,
        "index.queries.cache.enabled": False,
    }
    documents = built.corpora[0].documents[0]
    assert (documents.document_file, documents.number_of_documents, documents.uncompressed_size_in_bytes) == (
        "other-5000.json",
        5000,
        123456,
    )
    bulk = task(built, "bulk")
    assert (bulk.clients, bulk.warmup_time_period, bulk.time_period) == (2, 3, 20)
    assert (bulk.target_throughput.value, bulk.target_throughput.unit) == (5000, "docs/s")
    assert bulk.ignore_response_error_level == "non-fatal"
    expected = {"bulk-size": 500, "looped": True, "conflicts": "random", "conflict-probability": 10}
    expected |= {"on-conflict": "update", "recency": 0.5, "first-documents": 4000}
    assert expected.items() <= bulk.operation.params.items()
    assert task(built, "fresh-index").operation.params["status"] == "green"
    assert task(built, "settle").operation.params["wait-for-merges"] is False
    assert task(built, "force-merge").operation.params["max-num-segments"] == 1
    search = task(built, "latest-errors")
    assert (search.clients, search.warmup_iterations, search.iterations) == (2, 5, 7)
    assert search.target_throughput.value == 3


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_plain_ingest_uses_rallys_own_bulk(name: str) -> None:
    """By default nothing of ours is in the measured path, ids are Elasticsearch's, and the count is enforced."""
    built = build(tracks.load_track(name), {}, "ingest")
    bulk = task(built, "bulk").operation
    assert bulk.param_source is None
    assert "conflicts" not in bulk.params
    assert "looped" not in bulk.params
    assert task(built, "settle").operation.params["enforce"] is True


@pytest.mark.parametrize("params", [{"conflicts": "random"}, {"time_period": 5}, {"error_level": "non-fatal"}])
def test_count_is_only_reported_where_it_cannot_be_known(params: dict[str, Any]) -> None:
    """Replaced documents, a repeated corpus and tolerated errors make the count differ without anything being wrong."""
    built = build(tracks.load_track("apache"), params, "ingest")
    assert task(built, "settle").operation.params["enforce"] is False


@pytest.mark.parametrize(("replicas", "status"), [(0, "green"), (1, "yellow")])
def test_health_follows_the_replicas(replicas: int, status: str) -> None:
    """One node can never be green with replicas, so the default does not ask for it."""
    built = build(tracks.load_track("apache"), {"number_of_replicas": replicas}, "ingest")
    assert task(built, "fresh-index").operation.params["status"] == status


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_searches_do_real_work(name: str) -> None:
    """Every query is sent past the request cache, with a client-side timeout, to the track's own index."""
    built = build(tracks.load_track(name), {}, "ingest-and-search")
    searches = [
        leaf for entry in built.selected_challenge.schedule for leaf in entry if leaf.operation.type == "search"
    ]
    assert len(searches) >= 7
    for search in searches:
        params, asked = search.operation.params, SearchParamSource(built, search.operation.params).params()
        assert (params["cache"], params["request-timeout"], asked["index"]) == (False, 60, f"paddock-{name}")
        assert search.iterations >= 100


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_every_query_operation_is_raced(name: str) -> None:
    """A query added to the folder but not to the list at the top of track.json would silently never run."""
    track = tracks.load_track(name)
    specification = render(track, {})
    files = {path.stem for path in (track.folder / "operations").glob("*.json")}
    challenge = next(one for one in specification["challenges"] if one["name"] == "ingest-and-search")
    raced = {entry["operation"] for entry in challenge["schedule"] if isinstance(entry["operation"], str)}
    assert raced == files == {operation["name"] for operation in specification["operations"]}


def test_unknown_track_names_the_nearest() -> None:
    """A misspelt track ends in a sentence with the right name in it."""
    with pytest.raises(UsageError, match=r"no track 'apach'\. Did you mean 'apache'.*\./inv tracks"):
        tracks.load_track("apach")


def test_parameter_that_rally_would_refuse() -> None:
    """Rally fails a race for a parameter that no template uses; rendering says so first."""
    with pytest.raises(UsageError, match="does not use the parameter bulk_sise"):
        render(tracks.load_track("apache"), {"bulk_sise": 5})


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"document_count": 5, "ingest_percentage": 5}, "exclude each other"),
        ({"document_count": 2_000_000}, "the corpus has 1000000 documents"),
        ({"bulk_size": 0}, "'bulk-size' must be positive"),
        ({"bulk_size": None}, "Rally refuses this track: int"),
        ({"target_throughput": "fast"}, "invalid target throughput"),
        ({"search_target_throughput": "fast"}, "invalid target throughput"),
        ({"error_level": "non-fatal", "conflicts": "some"}, "Unknown 'conflicts' setting"),
    ],
)
def test_parameter_sources_are_asked(params: dict[str, Any], sentence: str) -> None:
    """What only a parameter source can refuse is refused before a race, too."""
    with pytest.raises(FileError, match=sentence):
        render(tracks.load_track("apache"), params)


def test_parameters_of_other_challenges_are_told() -> None:
    """Of a template, of a part that it collects and of the index; what no challenge names is another's to refuse."""
    track = load_track("apache")
    (told,) = parameters_of_others(track, "ingest", ["replay_factor", "refresh_interval", "conflicts", "nobody"])
    assert told == (
        "The challenge 'ingest' does not look at the track parameter replay_factor, which is there for the challenge "
        "replay."
    )
    (told,) = parameters_of_others(track, "replay", ["target_throughput", "replay_factor", "document_count"])
    assert told.endswith("target_throughput, which is there for the challenge full-disk and ingest and 3 others.")
    assert not parameters_of_others(track, "settings", ["lap_documents", "levels", "bulk_size", "index_settings"])


@pytest.mark.parametrize("name", track_names())
def test_every_challenge_is_a_file_of_its_name(name: str) -> None:
    """By which the parameters that it looks at are known."""
    known = challenges_naming(load_track(name).folder, ["bulk_size"])["bulk_size"]
    assert known == {one.name for one in load_track(name).challenges}


def test_folder_without_a_track_is_no_track(tracks_copy: Path) -> None:
    """`shared` lies beside the tracks and must not be listed as one."""
    assert tracks.track_names(tracks_copy) == TRACK_NAMES


def test_a_track_is_read_anew_when_a_file_of_it_changes(tmp_path: Path) -> None:
    """What is known of a track is kept, and never outlives a change of it; a broken file is an error at once."""
    shutil.copytree(paths.TRACKS, tmp_path / "tracks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(paths.TRACKS.parent / "challenges", tmp_path / "challenges")
    first = tracks.load_track("apache", tmp_path / "tracks")
    assert tracks.load_track("apache", tmp_path / "tracks") == first
    challenge = tmp_path / "challenges" / "ingest.json"
    whole = challenge.read_text()
    challenge.write_text(whole.replace('"ingest"', '"take-in"'))
    changed = {one.name for one in tracks.load_track("apache", tmp_path / "tracks").challenges}
    assert "take-in" in changed
    assert "take-in" not in {one.name for one in first.challenges}
    challenge.write_text("{")
    with pytest.raises(FileError):
        tracks.load_track("apache", tmp_path / "tracks")


@pytest.fixture
def kept(rally_home: Path) -> Path:
    """The file in which the track apache is kept."""
    tracks.load_track("apache")
    return paths.state_folder() / "tracks" / "apache.json"


DAMAGES: list[Any] = [
    lambda kept: kept.pop("track"),
    lambda kept: kept.update(track=None),
    lambda kept: kept["track"].update(challenges=5),
    lambda kept: kept["track"].update(challenges=[]),
]


@pytest.mark.parametrize("damage", DAMAGES, ids=["without", "null", "another type", "plausible"])
def test_a_kept_track_that_was_damaged_is_read_anew(kept: Path, damage: Any) -> None:
    """What is kept is believed only as it was written, however plausible it looks."""
    whole = json.loads(kept.read_text())
    changed = json.loads(kept.read_text())
    damage(changed)
    kept.write_text(json.dumps(changed))
    assert sorted(one.name for one in tracks.load_track("apache").challenges) == CHALLENGES
    assert json.loads(kept.read_text()) == whole


def test_a_full_disk_keeps_no_track_from_being_known(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list and a dry run need no room."""
    kept.unlink()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("paddock.files.os.fsync", full)
        assert tracks.load_track("apache").name == "apache"
    assert not kept.exists()


def test_what_an_editor_leaves_beside_a_track_is_no_part_of_it(tracks_copy: Path) -> None:
    """A broken link, by which an editor locks a file, and a folder with a file's name."""
    (tracks_copy / "apache" / ".#track.json").symlink_to("me@here.4711")
    (tracks_copy / "apache" / "sub.json").mkdir()
    assert tracks.load_track("apache", tracks_copy).name == "apache"


def test_another_rally_is_named_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the Rally that the project pins nothing is said; under another one a sentence, in one process only."""
    monkeypatch.setenv("PADDOCK_OTHER_RALLY_SAID", "")  # and forgotten after the test
    registration.mention_other_rally(metadata.version("esrally"))
    assert capsys.readouterr().out == ""
    for _ in range(3):
        registration.mention_other_rally("2.12.0")
    said = capsys.readouterr().out
    assert said.count("made for Rally 2.13.0 and are tested with it; this is Rally 2.12.0.") == 1
    assert f"esrally=={registration.MADE_FOR}" in (PROJECT / "pyproject.toml").read_text()
