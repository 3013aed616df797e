"""Clusters of a race's own, for real: nodes side by side, killed and started anew while the race runs, and replicas."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from paddock.paths import PROJECT, races_folder
from paddock.rally.leftovers import RaceProcesses, end
from paddock.sampling import read_samples
from paddock.tournaments.store import find_tournament, tournament_ids
from tests.command_line import command_line, run_paddock
from tests.machine import own_rallies, wait_until

pytestmark = pytest.mark.race


def test_two_heaps_side_by_side_after_kill_9(tmp_path: Path) -> None:
    """Laps alternate between nodes that both live, which are others in the second start; nothing of them is left.

    Wrapper, Rally and nodes are killed in the middle of the first start; --resume finishes with the same plan, and no
    lap is lost or counted twice.
    """
    file = tmp_path / "heaps.yml"
    file.write_text(
        "description: A test\nquestion: Does it work?\ntrack: apache\nchallenge: settings\nbaseline: small\n"
        "contenders: [{name: small, cars: [512mheap]}, {name: large, cars: [1gheap]}]\ncontrol: false\n"
        "lap_documents: 20000\nwarmup_blocks: 3\nblocks: 4\nstarts: 2\nbudget_minutes: 10\nstop_early: false\n"
    )
    before = set(tournament_ids())
    process = subprocess.Popen(
        command_line("tournament", str(file), "--seed", "3"),
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: _measured(before) >= 3 or process.poll() is not None)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (tournament_id,) = set(tournament_ids()) - before
    stored = find_tournament(tournament_id)
    plan = stored.schedule()
    (attempt,) = stored.history().attempts
    for left in RaceProcesses(attempt.race_id).all():
        left.kill()
    end(RaceProcesses(attempt.race_id).all())
    resumed = run_paddock("tournament", tournament_id, "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr[-3000:]
    result = json.loads(resumed.stdout)["result"]
    assert stored.schedule() == plan
    assert [(one["contender"], one["pairs"]) for one in result["main"]["verdicts"]] == [("large", 8)]
    assert result["circumstances"]["cars"] == "small: 512mheap; large: 1gheap"
    counted = [lap for lap in result["laps"] if not lap["warmup"] and lap["void"] is None]
    places = Counter((lap["start"], lap["block"], lap["contender"]) for lap in counted)
    assert len(counted) == 16
    assert set(places.values()) == {1}
    attempts = stored.history().attempts
    assert [(one.start, one.outcome) for one in attempts] == [(1, "cut off"), (1, "done"), (2, "done")]
    assert attempts[1].race_id == attempts[2].race_id
    laps = [json.loads(line) for line in stored.lap_journal(attempts[2].race_id).read_text().splitlines()]
    assert [lap["void"] for lap in laps] == [None] * len(laps)
    assert {(lap["level"], lap["cluster"]) for lap in laps} == {("small", "default"), ("large", "large")}
    planned = [name for order in plan[1].orders for name in order]
    assert [lap["level"] for lap in laps[-len(planned) :]] == planned
    # Of both clusters, by the kernel, in both starts; before and after the nodes were started anew they are others.
    samples = read_samples(stored.samples_file(attempts[2].race_id))
    nodes = [node for sample in samples for node in (sample.nodes or {}).values()]
    assert {node.cluster for node in nodes} == {"default", "large"}
    assert all(node.process and node.heap_bytes for node in nodes)
    assert len({key for sample in samples for key in sample.nodes or {}}) == 4
    assert set(result["bottlenecks"]) == {"small", "large"}
    for race_id in {one.race_id for one in attempts}:
        assert RaceProcesses(race_id).all() == []
        assert not list((races_folder() / race_id).glob("**/install"))
    assert own_rallies() == []


def _measured(before: set[str]) -> int:
    """Measured laps in the journal of the tournament that has just begun."""
    return sum(
        not record.lap.warmup
        for tournament_id in set(tournament_ids()) - before
        for attempt in find_tournament(tournament_id).history().attempts
        for record in attempt.records
    )


def test_a_replica_finds_its_second_node() -> None:
    """A race on two nodes waits for green with a replica of every shard, and counts every document."""
    params = json.dumps({"number_of_replicas": 1, "cluster_health": "green"})
    finished = run_paddock("race", "--test-mode", "--json", "--nodes", "2", "--car", "512mheap", "--params", params)
    assert finished.returncode == 0, finished.stderr[-3000:]
    race = json.loads(finished.stdout)
    assert race["error-rates"] == {}
    assert race["summary"]["race"]["documents_counted"] == 1000
