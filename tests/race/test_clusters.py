"""Clusters of a race, prepared: those that are there beside each other, nodes of one, and what does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddock.errors import MachineError, UsageError
from paddock.race import RaceOptions
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
    assert request.client_options.private == {"default": {"timeout": 60}, "theirs": json.loads(secret.read_text())}
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
    with pytest.raises(MachineError, match=r"\(1 x .* and 1 x .*\).* use smaller heaps or fewer nodes; .* --apart"):
        prepare_clusters(asked, "race-1", 39200, fetch=False)


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
