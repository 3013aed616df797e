"""Contenders held apart, or all on one node: each start has the node that its contender is said to be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock.chains import ChainOptions
from paddock.chains.files import read_chain
from paddock.errors import UsageError
from paddock.race import RaceOptions
from paddock.tournaments import TournamentOptions
from paddock.tournaments.checks import check_target
from paddock.tournaments.command import load_result
from paddock.tournaments.files import read_tournament
from paddock.tournaments.races import race_options
from paddock.tournaments.schedule import make_schedule
from paddock.tournaments.store import Stored, find_tournament
from tests.tournaments.conftest import hold

Write = Callable[..., Path]
NODE = {"car_params": {"processors": 1}, "java": "21", "engine": "official", "data_path": "/disk"}


def races(file: Path, options: TournamentOptions) -> dict[str, RaceOptions]:
    """The race of the first start of every contender."""
    tournament = read_tournament(file, options)
    schedule = make_schedule(tournament, 1)
    return {start.contenders[0]: race_options(tournament, [start], options, Stored("id")) for start in schedule}


@pytest.mark.parametrize(
    ("changes", "options"),
    [({}, TournamentOptions(apart=True)), ({"track_params": {"bulk_size": 500}}, TournamentOptions())],
)
def test_a_contender_held_apart_has_all_that_makes_its_node(
    definition: Write, changes: dict[str, Any], options: TournamentOptions
) -> None:
    """Otherwise the same node would be compared with itself, under two names."""
    contenders = [{"name": "a"}, {"name": "b", **NODE, **changes}]
    found = races(definition(challenge="settings", contenders=contenders, baseline="a"), options)
    assert (found["a"].car_params, found["a"].java, found["a"].engine, found["a"].data_path) == ({}, None, None, None)
    b = found["b"]
    assert {"car_params": b.car_params, "java": b.java, "engine": b.engine, "data_path": b.data_path} == NODE


def test_contenders_that_share_a_node_have_the_one_that_they_name(definition: Write) -> None:
    """One node for all is Rally's to start: as all of them say that it is."""
    contenders = [{"name": "a", **NODE}, {"name": "b", "level": {"bulk_size": 500}, **NODE}]
    found = races(definition(challenge="settings", contenders=contenders, baseline="a"), TournamentOptions())["a"]
    assert (found.car_params, found.java, found.engine, found.data_path) == tuple(NODE.values())


def test_clusters_that_are_there_are_raced_apart_too(definition: Write) -> None:
    """No node of ours is started in their place."""
    contenders = [{"name": one, "target_hosts": f"{one}:9200", "client_options": f"{one}.json"} for one in "ab"]
    file = definition(challenge="settings", contenders=contenders, baseline="a")
    for options in (TournamentOptions(), TournamentOptions(apart=True)):
        for name, race in races(file, options).items():
            assert (race.target_hosts, race.client_options) == (f"{name}:9200", str(file.parent / f"{name}.json"))


def test_what_a_file_names_lies_beside_it(definition: Write, tmp_path: Path) -> None:
    """From wherever it is read, and in the file of a chain's step, too, which lies elsewhere."""
    contenders = [{"name": "a"}, {"name": "b", "data_path": "disks/b"}, {"name": "c", "data_path": "/disks/c"}]
    file = definition(challenge="settings", contenders=contenders, baseline="a")
    paths = [str(tmp_path / "disks/b"), "/disks/c"]
    assert [one.data_path for one in read_tournament(file).contenders[1:]] == paths
    chain = tmp_path / "chains" / "disks.yml"
    chain.parent.mkdir()
    told = {"question": "?", "budget_minutes": 60, "steps": [{"tournament": str(file)}]}
    chain.write_text(yaml.safe_dump(told))
    (step,) = read_chain(str(chain), ChainOptions())[0].steps
    assert [one["data_path"] for one in step.content["contenders"][1:]] == paths


def test_clusters_of_several_nodes_are_not_held_apart(definition: Write) -> None:
    """Whoever asks for them."""
    contenders = [{"name": "a"}, {"name": "b", "nodes": 2}]
    options = TournamentOptions(apart=True)
    tournament = read_tournament(definition(challenge="settings", contenders=contenders, baseline="a"), options)
    with pytest.raises(UsageError, match="have clusters of 2 nodes, and one that is held apart has a single node"):
        check_target(tournament, options)


def test_a_journal_from_before_there_were_clusters_is_of_nodes_apart(
    fake_laps: Callable[..., None], definition: Write
) -> None:
    """It has only its options and the copy of its file, which says the same of contenders side by side today."""
    heaps = [{"name": "small", "cars": ["512mheap"]}, {"name": "large", "cars": ["2gheap"]}]
    file = definition(challenge="settings", contenders=heaps, baseline="small", starts=3, blocks=3, control=None)
    result = hold(file, apart=True)
    journal = find_tournament(result.id).journal
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    del lines[0]["tournament"]
    for name in ("apart", "control", "no_control"):
        del lines[0]["options"][name]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = load_result(result.id)
    assert again.tournament == result.tournament
    assert again.main == result.main


def test_what_shares_a_node_is_not_held_apart(fake_laps: Callable[..., None], definition: Callable[..., Path]) -> None:
    """--apart would change nothing, and somebody would believe that it had."""
    with pytest.raises(UsageError, match="share a node, so there is nothing to hold apart: leave --apart out"):
        hold(definition(), apart=True)
