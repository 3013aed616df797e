"""Clusters of a race's own, for real: nodes side by side and started anew while the race runs, and replicas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddock.paths import races_folder
from paddock.rally.leftovers import RaceProcesses
from paddock.tournaments.store import find_tournament
from tests.command_line import run_paddock

pytestmark = pytest.mark.race


def test_two_heaps_side_by_side_in_two_starts(tmp_path: Path) -> None:
    """Laps alternate between nodes that both live, which are others in the second start; nothing of them is left."""
    file = tmp_path / "heaps.yml"
    file.write_text(
        "description: A test\nquestion: Does it work?\ntrack: apache\nchallenge: settings\nbaseline: small\n"
        "contenders: [{name: small, cars: [512mheap]}, {name: large, cars: [1gheap]}]\ncontrol: false\n"
        "lap_documents: 20000\nwarmup_blocks: 3\nblocks: 4\nstarts: 2\nbudget_minutes: 10\nstop_early: false\n"
    )
    finished = run_paddock("tournament", str(file), "--json", "--seed", "3")
    assert finished.returncode == 0, finished.stderr[-3000:]
    result = json.loads(finished.stdout)["result"]
    assert [(one["contender"], one["pairs"]) for one in result["main"]["verdicts"]] == [("large", 8)]
    assert result["circumstances"]["cars"] == "small: 512mheap; large: 1gheap"
    stored = find_tournament(result["id"])
    attempts = stored.history().attempts
    assert [(one.start, one.outcome) for one in attempts] == [(1, "done"), (2, "done")]
    assert len({one.race_id for one in attempts}) == 1
    laps = [json.loads(line) for line in stored.lap_journal(attempts[0].race_id).read_text().splitlines()]
    assert [lap["void"] for lap in laps] == [None] * 28
    assert {(lap["level"], lap["cluster"]) for lap in laps} == {("small", "default"), ("large", "large")}
    planned = [name for start in stored.schedule() for order in start.orders for name in order]
    assert [lap["level"] for lap in laps] == planned
    assert RaceProcesses(attempts[0].race_id).all() == []
    assert not list((races_folder() / attempts[0].race_id).glob("**/install"))


def test_a_replica_finds_its_second_node() -> None:
    """A race on two nodes waits for green with a replica of every shard, and counts every document."""
    params = json.dumps({"number_of_replicas": 1, "cluster_health": "green"})
    finished = run_paddock("race", "--test-mode", "--json", "--nodes", "2", "--car", "512mheap", "--params", params)
    assert finished.returncode == 0, finished.stderr[-3000:]
    race = json.loads(finished.stdout)
    assert race["error-rates"] == {}
    assert race["summary"]["race"]["documents_counted"] == 1000
