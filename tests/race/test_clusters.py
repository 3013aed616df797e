"""The clusters of a race, before anything is started: what cannot be is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.errors import UsageError
from paddock.race import LARGEST_PORT
from paddock.race.clusters import ClusterOptions, prepare_clusters


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
