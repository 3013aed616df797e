"""Every challenge and every query of every track, raced in test mode: all of it on the default version.

One node serves all races of a version, since a start of its own for each would take hours; in the long form only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.console import progress
from paddock.engine import choose_engine
from paddock.engine.versions import DEFAULT_VERSION, RELEASES, has_index_modes
from paddock.errors import MachineError
from paddock.tracks import load_tracks
from tests.cars.running_node import Node, running_node
from tests.command_line import run_paddock

pytestmark = [pytest.mark.race, pytest.mark.long, pytest.mark.timeout(3600)]

# The oldest, the last but one series that people run, and the newest.
OTHERS = [next(iter(RELEASES)), "8.19.4", list(RELEASES)[-1]]


def everything(version: str) -> Iterator[tuple[str, str]]:
    """Track and challenge: all of them on the default version, elsewhere every challenge and every query once."""
    for track in load_tracks():
        for challenge in track.challenges:
            if challenge.name == "index-mode" and not has_index_modes(version):
                continue
            queries = challenge.name == "ingest-and-search"
            if version == DEFAULT_VERSION or queries or track.name == "app-logs-ecs":
                yield track.name, challenge.name


def problem_of(node: Node, track: str, challenge: str, journal: Path) -> str | None:
    """What goes wrong in a race of this challenge against the node; None if nothing does."""
    short = {"warmup_blocks": 1, "blocks": 1, "lap_read_back": 1, "lap_force_merge": True}
    # The queries are made for the track's own mapping.
    searches = {} if challenge == "mapping-cost" else {"lap_searches": 1}
    params = {"lap_journal": str(journal), **short, **searches}
    target = ("--target-hosts", f"127.0.0.1:{node.port}")
    result = run_paddock(
        *("race", "--json", "--test-mode", "--track", track, "--challenge", challenge, *target),
        *("--params", json.dumps(params)),
    )
    if result.returncode != 0:
        return result.stderr[-2000:]
    errors = json.loads(result.stdout)["error-rates"]
    laps = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    voids = sorted({lap["void"] for lap in laps if lap["void"]})
    if errors or voids:
        return f"{errors} {voids}"
    return None


@pytest.mark.parametrize("version", [DEFAULT_VERSION, *OTHERS])
def test_every_challenge_runs(version: str, tmp_path: Path) -> None:
    """No request fails, every document arrives, no lap is void: on the default, oldest, usual and newest version."""
    try:
        engine = choose_engine(version, None, None, progress)
    except MachineError as error:
        if "whole JDK" not in str(error):
            raise
        pytest.skip(str(error))
    assert engine.archive is not None
    assert engine.java is not None
    problems = {}
    with running_node(engine.archive, engine.java.home, tmp_path / "node", ["1gheap"]) as node:
        for number, (track, challenge) in enumerate(everything(version)):
            problem = problem_of(node, track, challenge, tmp_path / f"{number}.jsonl")
            if problem:
                problems[f"{track} {challenge}"] = problem
    assert problems == {}
