"""From options to a request: what the corpus, the cars and the engine add to it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from esrally.utils import opts

from paddock import cars
from paddock.command_line.doctor import BAD, examine
from paddock.engine import Engine
from paddock.engine.versions import Java, embedded_java
from paddock.errors import MachineError, UsageError
from paddock.imports import ImportOptions
from paddock.imports.run import import_corpus
from paddock.paths import PROJECT
from paddock.race import RaceOptions
from paddock.race.circumstances import circumstances
from paddock.race.clusters import check_java_options
from paddock.race.options import prepare
from paddock.race.summary import in_test_mode
from paddock.rally.request import arguments
from tests.sampling.fake_elasticsearch import FakeElasticsearch


def prepared(**options: object) -> object:
    """Prepared without fetching or making anything."""
    return prepare(RaceOptions(**options), fetch=False)


def test_the_defaults_are_a_race_of_apache_with_one_gigabyte() -> None:
    """./inv race alone: the track's default challenge, the embedded engine, no parameters."""
    race = prepared()
    assert race.request.track.name == "apache"
    assert race.request.challenge == "ingest"
    assert race.request.cars == ("1gheap",)
    assert race.request.engine.kind == "embedded"
    assert race.request.track_params == {}


def test_a_race_with_a_corpus_that_is_there_loads_no_generator() -> None:
    """Numeric libraries and the generator's compiler take a second to load: only who makes a corpus waits for them."""
    code = (
        "import sys; from paddock.race.options import RaceOptions, prepare; prepare(RaceOptions(), fetch=False); "
        "print({'numpy', 'numba', 'scipy'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ran.stdout == "set()\n", ran.stderr


def test_what_race_json_does_not_say_stands_in_the_user_tags() -> None:
    """Engine, Java and test mode are recorded; the user's own tags come on top."""
    request = prepared(user_tags={"ticket": 7, "engine": "mine"}, test_mode=True).request
    tags = request.user_tags
    assert tags["ticket"] == "7"
    assert tags["engine"] == "mine"
    assert tags["java"].startswith("21")
    assert tags["test-mode"] == "true"
    (given,) = [one for one in arguments(request) if one.startswith("--user-tags=")]
    assert in_test_mode({"user-tags": opts.to_dict(given.removeprefix("--user-tags="))})
    assert not in_test_mode({"user-tags": {"ticket": True}})


def test_the_machine_is_recorded_as_tournaments_do_it(tmp_path: Path) -> None:
    """The same names and texts, the file system being that of the node's data; none of it for a node elsewhere."""
    assert prepared(data_path=str(tmp_path)).request.circumstances == circumstances(tmp_path)
    assert "file system" not in prepared(target_hosts="es1:9200").request.circumstances


def test_elsewhere_than_on_linux_the_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is prepared on another system, and the doctor says the same."""
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    with pytest.raises(MachineError, match=r"Races need Linux, and this is Darwin: .*virtual one or a container"):
        prepared()
    software = examine()[0]
    assert (software.state, "Races need Linux" in software.text) == (BAD, True)


def test_a_data_path_becomes_a_folder_of_its_own(tmp_path: Path) -> None:
    """Rally deletes the data path, so it is never the folder that the user named."""
    request = prepared(data_path=str(tmp_path), race_id="r1").request
    assert request.data_path == tmp_path / "paddock-r1"
    assert request.car_params["data_paths"] == str(tmp_path / "paddock-r1")


def test_the_disk_of_this_machine_is_not_filled(tmp_path: Path) -> None:
    """A race that fills disks is told which: a file system of the node's own, a room, or a folder."""
    asked = RaceOptions(challenge="full-disk")
    with pytest.raises(UsageError, match=r"fills the disk that a node has its data on, .* data-256m .* full_disk_room"):
        prepare(asked, fetch=False)
    for more in (
        {"car": ("1gheap", "data-256m")},
        {"car_params": {"data_size": "128m"}},
        {"params": {"full_disk_room": "500mb"}},
        {"data_path": str(tmp_path)},
    ):
        assert prepare(replace(asked, **more), fetch=False).request.challenge == "full-disk"


def test_a_corpus_of_another_size_is_told_to_the_track(rally_home: Path) -> None:
    """A corpus that differs from the track's default comes with file, documents and bytes."""
    with FakeElasticsearch() as cluster:
        race = prepare(RaceOptions(documents=2000, target_hosts=cluster.host))
    assert race.request.track_params["corpus_file"] == "apache-2000.json"
    assert race.request.track_params["corpus_documents"] == 2000
    assert race.request.track_params["corpus_bytes"] == race.corpus_bytes > 0


def imported_corpus(folder: Path) -> None:
    """A corpus of three documents, imported under the name our-web."""
    log = folder / "access.log"
    log.write_text('203.0.113.9 - - [05/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 7\n' * 3)
    import_corpus(ImportOptions((str(log),), "our-web"))


def test_an_imported_corpus_can_be_raced_on(tmp_path: Path) -> None:
    """--corpus: its file, documents and bytes go to the track."""
    imported_corpus(tmp_path)
    race = prepared(corpus="our-web")
    assert race.request.track_params["corpus_file"] == "our-web-3.json"
    assert race.request.track_params["corpus_documents"] == 3
    assert race.corpus_bytes == race.request.track_params["corpus_bytes"] > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"corpus": "our-wep"}, r"no corpus 'our-wep'\. Did you mean 'our-web'\? \./inv corpora"),
        ({"corpus": "our-web", "seed": 7}, r"was imported, so it has no seed"),
        ({"corpus": "our-web", "documents": 5000}, r"has 3 documents, not 5,000"),
        ({"corpus": "our-web", "track": "app-logs"}, r"The corpus 'our-web' has documents of the track 'apache'"),
        (
            {"corpus": "our-web", "params": {"corpus_file": "other.jsonl"}},
            r"--corpus and the track parameter corpus_file",
        ),
    ],
)
def test_a_corpus_that_cannot_be_meant_is_refused(tmp_path: Path, options: dict[str, object], sentence: str) -> None:
    """Unknown names with the nearest ones; numbers that an imported corpus has not; two corpora at once."""
    imported_corpus(tmp_path)
    with pytest.raises(UsageError, match=sentence):
        prepared(**options)


def test_another_recipe_of_the_track_can_be_named() -> None:
    """Before it is made, its file and number of documents are what the command line shows."""
    race = prepared(track="logs", corpus="logs-fixed", documents=2000)
    assert race.request.track_params == {"corpus_file": "logs-fixed-2000.json", "corpus_documents": 2000}


@pytest.mark.parametrize("nodes", [1, 2])
def test_many_shards_for_the_heap_are_said(nodes: int) -> None:
    """By the shards that a node holds, replicas included; at the limit nothing is said."""
    shards = {"number_of_shards": 10 * nodes // 2, "number_of_replicas": 1}
    assert not [note for note in prepared(car=("512mheap",), params=shards, nodes=nodes).notes if "per GB" in note]
    more = {**shards, "number_of_shards": shards["number_of_shards"] + 1}
    (note,) = [note for note in prepared(car=("512mheap",), params=more, nodes=nodes).notes if "per GB" in note]
    assert note.startswith(f"A node holds {10 + 2 // nodes} shards with a heap of 512 MiB")


def test_a_corpus_too_large_for_its_shards_is_said() -> None:
    """Where all of it gets into one index; not of laps, of a part of it, or in test mode."""
    large = {"corpus_file": "logs.json", "corpus_documents": 400_000_000, "corpus_bytes": 120 * 2**30}
    words = "advises 10 to 50 GB each, and number_of_shards 3 would"

    def said(params: dict[str, object], **options: object) -> bool:
        return any(words in note for note in prepared(params={**large, **params}, **options).notes)

    assert said({})
    assert said({}, nodes=2)
    assert not said({"number_of_shards": 3})
    assert not said({"document_count": 1000})
    assert not said({}, challenge="refresh-interval")
    assert not said({}, test_mode=True)


def test_an_existing_cluster_needs_no_engine() -> None:
    """--target-hosts: nothing to provision, Rally's external car."""
    race = prepared(target_hosts="es1:9200")
    assert race.request.engine is None
    assert not race.request.provisions


PIPELINE = {"parse": {"processors": []}}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"data_stream": True}, "data_stream would use"),
        ({"data_stream": True, "ingest_pipelines": PIPELINE}, "data_stream and ingest_pipelines would use"),
    ],
)
def test_what_only_elastics_distribution_has_is_refused_on_the_embedded_one(params: dict, words: str) -> None:
    """Before anything is fetched, with the two ways to have it; a cluster of one's own may be anything."""
    with pytest.raises(UsageError, match=f"{words}: race Elastic's own distribution with --engine official or"):
        prepared(track="apache", params=params)
    assert (
        prepared(track="apache", params=params, target_hosts="es1:9200").request.track_params.items() >= params.items()
    )
    assert prepared(track="apache", params={"data_stream": False}).request.track_params["data_stream"] is False


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"challenge": "settings", "params": {"data_stream": True}}, "'settings' runs laps, each with an index of its"),
        (
            {"params": {"lifecycle": {"phases": {}}}},
            "lifecycle has no effect without data_stream: add data_stream:true",
        ),
        ({"params": {"data_stream": True, "conflicts": "random"}}, "A data stream only appends, and conflicts would"),
        ({"params": {"ingest_pipelines": "parse"}}, "ingest_pipelines must be a JSON object, but is 'parse'"),
        ({"params": {"ingest_pipelines": {"parse": []}}}, "pipeline 'parse' must be a JSON object with a list of proc"),
        ({"params": {"ingest_pipelines": {"parse": {"processors": {}}}}}, "'parse' must be a JSON object with a list"),
        (
            {"params": {"ingest_pipelines": {"parse": {"processors": [], "id": "parse"}}}},
            "pipeline 'parse' has 'id', and may have _meta, description, on_failure, processors, version",
        ),
        (
            {"params": {"data_stream": True, "lifecycle": {"policy": {"phases": {}}}}},
            "lifecycle must be the policy itself, a JSON object with its phases",
        ),
    ],
)
def test_what_no_data_stream_can_do_is_refused(options: dict, sentence: str) -> None:
    """Contradictions are told before a node is started."""
    with pytest.raises(UsageError, match=sentence):
        prepared(track="apache", target_hosts="es1:9200", **options)


def test_a_collector_that_the_java_lacks_is_told_in_its_own_words(tmp_path: Path) -> None:
    """Where the JVM has no ZGC, the car is refused with what the JVM says."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'Unrecognized VM option UseZGC'; exit 1\n")
    java.chmod(0o755)
    engine = Engine("embedded", "8.8.2", None, Java(tmp_path, "21.0.1", "--java"))
    combination = cars.combine(["1gheap", "gc-z"], cars.load_cars())
    with pytest.raises(UsageError, match=r"refuses what the cars '1gheap,gc-z' ask .*Unrecognized VM option UseZGC"):
        check_java_options(engine, combination)


@pytest.mark.parametrize("collector", ["gc-g1", "gc-parallel", "gc-z"])
def test_the_embedded_jre_has_every_collector(collector: str) -> None:
    """All three mixins work on the Java that comes with the dependencies."""
    engine = Engine("embedded", "8.8.2", None, embedded_java())
    check_java_options(engine, cars.combine(["512mheap", collector], cars.load_cars()))
