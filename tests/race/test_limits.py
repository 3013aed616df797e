"""Races whose cars limit the node: started by us inside its limits, and recorded; others are Rally's as before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.cars import Machine
from paddock.errors import MachineError, UsageError
from paddock.limits import Here
from paddock.race import RaceOptions
from paddock.race.circumstances import cars_of
from paddock.race.clusters import ClusterOptions
from paddock.race.options import PreparedRace, prepare
from paddock.rally.request import printable

CORES = {"limit_cores": 1}


@pytest.fixture(autouse=True)
def no_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has affinity alone, as every machine has."""
    monkeypatch.setattr("paddock.race.clusters.Here", lambda memory_bytes: Here({}, memory_bytes=memory_bytes))


def prepared(*cars: str, **options: object) -> PreparedRace:
    """Without fetching or making anything."""
    return prepare(RaceOptions(car=cars or ("1gheap",), **options), fetch=False)


def test_a_node_with_limits_is_started_by_us() -> None:
    """Rally would start it outside of them; cars, what is changed of them and the limits are recorded."""
    race = prepared("512mheap", "limit-1-core", car_params={"allow_mmap": "false"}).request
    (cluster,) = race.clusters
    last = sorted(os.sched_getaffinity(0))[-1]
    assert (race.engine, len(cluster.nodes), cluster.cars) == (None, 1, ("512mheap", "limit-1-core"))
    assert cluster.limits is not None
    assert race.circumstances["limits"] == cluster.limits.text == f"core {last} (affinity)"
    assert race.user_tags["cars"] == "512mheap, limit-1-core"
    assert race.user_tags["car parameters"] == "allow_mmap=false"
    assert "(affinity)" not in printable(race)


def test_nodes_that_share_a_core_are_said() -> None:
    """Two machines of one core would have two."""
    (note,) = [one for one in prepared("512mheap", "limit-1-core", nodes=2).notes if one.startswith("All 2 nodes")]
    assert "are held to the same core " in note
    assert not [one for one in prepared("512mheap", "limit-1-core").notes if one.startswith("All ")]


def test_whoever_repeats_it_is_told_of_the_limits() -> None:
    """The printed command starts a node that is held to nothing."""
    (note,) = [one for one in prepared(car_params=CORES).notes if "printed command" in one]
    assert note.startswith("'1gheap' is held to core ")
    assert "plain Rally runs, holds its node to nothing" in note


@pytest.mark.parametrize("cars", [("1gheap",), ("i5-2520m", "no-limits")])
def test_without_limits_the_node_is_rallys(cars: tuple[str, ...]) -> None:
    """As it always was, with nothing of limits in the records."""
    race = prepared(*cars).request
    assert race.provisions
    assert race.clusters == ()
    assert {"limits", "cars"} & {*race.circumstances, *race.user_tags} == set()


def test_an_existing_cluster_has_no_limits_of_ours() -> None:
    """Its node is somebody else's."""
    with pytest.raises(UsageError, match="--car-params would build a node, and --target-hosts races against one"):
        prepared(target_hosts="127.0.0.1:9", car_params=CORES)


def test_a_limit_that_cannot_be_held_stops_the_race() -> None:
    """Before anything is started; memory has nothing but control groups."""
    with pytest.raises(MachineError, match=r"limit_memory is a limit of '1gheap,limit-memory-2g' that cannot be held"):
        prepared("1gheap", "limit-memory-2g")


def test_a_profile_larger_than_the_machine_stops_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of a container counts, as it does for the heap."""
    with pytest.raises(MachineError, match=r"is limited to 5000 cores \(limit_cores\), and this machine has"):
        prepared(car_params={"limit_cores": 5000})
    monkeypatch.setattr("paddock.cars.this_machine", lambda: Machine(3 << 30, 2, None))
    with pytest.raises(MachineError, match=r"4.0 GiB of memory \(limit_memory\), and this machine has 3.0 GiB"):
        prepared("1gheap", "limit-memory-4g")


def test_clusters_have_limits_of_their_own() -> None:
    """Each cluster's are told by its name."""
    asked = [ClusterOptions("default"), ClusterOptions("small", car_params=CORES)]
    race = prepare(RaceOptions(challenge="settings"), False, asked).request
    assert [cluster.limits is None for cluster in race.clusters] == [True, False]
    assert race.circumstances["limits"].startswith("small: core ")
    assert "cars" not in race.user_tags  # a tournament's journal has those of several


def test_a_race_tells_its_cars_whoever_started_its_node() -> None:
    """Rally calls them external where it has not started them."""
    assert cars_of({"car": ["1gheap", "gc-z"]}) == "1gheap, gc-z"
    assert cars_of({"car": ["external"], "user-tags": {"cars": "m1-small"}}) == "m1-small"
    assert cars_of({"car": "external", "user-tags": None}) == "external"
    assert cars_of({}) == ""


def test_no_group_is_made_by_looking(tmp_path: Path) -> None:
    """--dry-run plans, and tries nothing."""
    groups = Path("/sys/fs/cgroup")
    before = sorted(groups.glob("*/paddock-*"))
    prepared(car_params=CORES)
    assert sorted(groups.glob("*/paddock-*")) == before
