"""Clusters of a race, prepared: those that are there beside each other, nodes of one, and what does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddock.errors import MachineError, UsageError
from paddock.race import LARGEST_PORT, RaceOptions
from paddock.race.clusters import ClusterOptions, prepare_clusters
from paddock.race.options import prepare
from paddock.rally.request import arguments, printable
from tests.sampling.fake_elasticsearch import FakeElasticsearch


def test_somebodys_clusters_are_named_to_rally_and_their_passwords_to_nobody(tmp_path: Path) -> None:
    """Each has its hosts and its client options; no word of Rally's command line holds a secret."""
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"basic_auth_user": "rally", "basic_auth_password": "s3cret"}))
    with FakeElasticsearch() as one, FakeElasticsearch() as other:
        asked = [
            ClusterOptions("default", target_hosts=one.host),
            ClusterOptions("theirs", target_hosts=other.host, client_options=str(secret)),
        ]
        race = prepare(RaceOptions(challenge="settings", documents=1000), True, asked)
    request = race.request
    assert [(cluster.name, cluster.addresses, cluster.nodes) for cluster in request.clusters] == [
        ("default", (one.host,), ()),
        ("theirs", (other.host,), ()),
    ]
    assert not request.starts_nodes
    words = arguments(request)
    assert f"--target-hosts={json.dumps({'default': [one.host], 'theirs': [other.host]})}" in words
    told = {"timeout": 60, **json.loads(secret.read_text())}
    assert request.client_options.private == {"default": {"timeout": 60}, "theirs": told}
    assert "s3cret" not in f"{words} {printable(request)} {request}"


def test_a_race_may_ask_for_several_nodes() -> None:
    """They are one cluster, with the race's own cars, and no node is left to Rally to start."""
    race = prepare(RaceOptions(nodes=3, car=("512mheap",), port=40000), fetch=False)
    (cluster,) = race.request.clusters
    assert [node.http_port for node in cluster.nodes] == [40000, 40001, 40002]
    assert cluster.cars == ("512mheap",)
    assert race.request.engine is None
    assert race.request.starts_nodes
    assert race.request.hosts == "127.0.0.1:40000,127.0.0.1:40001,127.0.0.1:40002"
    with pytest.raises(UsageError, match="--nodes would build a node, and --target-hosts races against one"):
        prepare(RaceOptions(nodes=2, target_hosts="127.0.0.1:9"), fetch=False)


def test_heaps_that_do_not_fit_together_are_told_with_what_would() -> None:
    """Each alone would fit; the sentence adds them up."""
    from paddock import cars

    largest = cars.largest_heap(cars.this_machine()) >> 20
    asked = [ClusterOptions(name, car_params={"heap_size": f"{largest * 2 // 3}m"}) for name in ("default", "b")]
    with pytest.raises(MachineError, match=r"\(1 x .* and 1 x .*\).* use smaller heaps or fewer nodes; .*\(--apart\)"):
        prepare_clusters(asked, "race-1", 39200, fetch=False)


def test_heaps_over_half_of_the_memory_together_are_said() -> None:
    """They fit, so they are raced, with Elastic's advice beside them."""
    from paddock import cars

    half = cars.this_machine().memory_bytes // 2**20 * 3 // 10
    asked = [ClusterOptions(name, car_params={"heap_size": f"{half}m"}) for name in ("default", "b")]
    notes = prepare_clusters(asked, "race-1", 39200, fetch=False).notes
    assert len([note for note in notes if "for the heaps of 2 nodes is more than half of this machine's" in note]) == 1


def test_clusters_have_data_folders_of_their_own(tmp_path: Path) -> None:
    """Below the folder that is named, called after the race; a folder that is none is refused."""
    disk = tmp_path / "disk"
    disk.mkdir()
    asked = [ClusterOptions("default"), ClusterOptions("b", data_path=str(disk))]
    first, second = prepare_clusters(asked, "race-1", 39200, fetch=False).clusters
    assert first.data_path is None
    assert second.data_path == disk / "paddock-race-1"
    assert second.car_params["data_paths"] == str(disk / "paddock-race-1")
    with pytest.raises(UsageError, match="wants a folder that can be written to"):
        prepare_clusters([ClusterOptions("default", data_path="/nowhere")], "race-1", 39200, fetch=False)


def test_the_ports_of_all_nodes_have_to_be_ports() -> None:
    """--port alone is checked for one node only."""
    asked = [ClusterOptions("default", nodes=2), ClusterOptions("b")]
    with pytest.raises(UsageError, match=r"3 nodes take the ports from 65434 to 65436.*choose a smaller --port"):
        prepare_clusters(asked, "race-1", LARGEST_PORT - 1, fetch=False)


def test_nodes_of_a_cluster_have_data_where_it_is_cleared_up(tmp_path: Path) -> None:
    """By the car variable it would be left behind, and another race's of the same place removed."""
    asked = [ClusterOptions("default", car_params={"data_paths": str(tmp_path / "data")}, nodes=2)]
    with pytest.raises(UsageError, match=r"data_paths is for a single node that Rally starts: .* --data-path"):
        prepare_clusters(asked, "race-1", 39200, fetch=False)


def test_whoever_repeats_a_race_is_told_of_its_client_options(tmp_path: Path) -> None:
    """A printed command names a file that is only there while Rally runs, and no password."""
    file = tmp_path / "options.json"
    file.write_text('{"basic_auth_password": "hush"}')
    asked = [
        ClusterOptions("default", target_hosts="a:1", client_options=str(file)),
        ClusterOptions("b", target_hosts="b:1"),
    ]
    prepared = prepare_clusters(asked, "race-1", 39200, fetch=False)
    assert "those of each cluster by its name (default, b)" in prepared.notes[0]
    assert "hush" not in repr(prepared)


def test_a_cluster_of_another_version_than_its_contender_says() -> None:
    """Before anything is started; the one that it says is raced."""
    with FakeElasticsearch() as fake:
        said = ClusterOptions("default", target_hosts=fake.host, version="8.8.2")
        assert prepare_clusters([said], "race-1", 39200, fetch=True).clusters[0].hosts == (fake.host,)
        wrong = ClusterOptions("default", target_hosts=fake.host, version="9.2.4")
        sentence = f"The cluster at {fake.host} is of Elasticsearch 8.8.2, and its contender says 9.2.4: correct"
        with pytest.raises(UsageError, match=sentence):
            prepare_clusters([wrong], "race-1", 39200, fetch=True)
