"""A load that goes on, and slices of one, on a real Elasticsearch: indices behind an alias, indices that grow."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from paddock.console import progress
from paddock.engine import choose_engine
from paddock.engine.versions import DEFAULT_VERSION
from paddock.paths import rally_folder
from tests.cars.running_node import running_node
from tests.command_line import run_paddock

pytestmark = pytest.mark.race


def test_indices_that_roll_over_and_indices_that_grow(tmp_path: Path) -> None:
    """One node, two races: every document of the first is counted; slices of the second are kept, and then gone."""
    engine = choose_engine(DEFAULT_VERSION, None, None, progress)
    assert engine.archive is not None
    assert engine.java is not None
    journal = tmp_path / "laps.jsonl"
    with running_node(engine.archive, engine.java.home, tmp_path / "node", ["1gheap"]) as node:
        target = ("--json", "--documents", "20000", "--target-hosts", f"127.0.0.1:{node.port}")
        params = {"sustained_documents": 150_000, "rollover": {"max_docs": 20_000}, "warmup_time_period": 0}
        words = ("--challenge", "sustained", "--race-id", "rolling", "--params", json.dumps(params))
        finished = run_paddock("race", *target, *words)
        assert finished.returncode == 0, finished.stderr[-3000:]
        race = json.loads(finished.stdout)
        assert race["error-rates"] == {}
        assert race["summary"]["race"]["documents_counted"] == 150_000
        behind = node.get("/_alias/paddock-apache")
        assert len(behind) >= 2
        assert [name for name in behind if not name.startswith("paddock-apache-00000")] == []
        with (rally_folder() / "paddock" / "races" / "rolling" / "series.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows
        assert 0 < sum(float(row["documents"]) for row in rows) <= 150_000
        slices = {
            "levels": ["1s", {"name": "5s", "value": "5s", "blocks_per_index": 2}],
            "lap_growing": True,
            "lap_seconds": 2,
            "warmup_blocks": 1,
            "blocks": 2,
            "freshness_probe": True,
            "lap_journal": str(journal),
        }
        words = ("--challenge", "refresh-interval", "--params", json.dumps(slices))
        finished = run_paddock("race", *target, *words)
        assert finished.returncode == 0, finished.stderr[-3000:]
        left = node.get("/_cat/indices/paddock-*?format=json")
    laps = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [lap["void"] for lap in laps] == [None] * 6
    assert all(2 <= lap["seconds"] < 10 for lap in laps)
    ones = [lap for lap in laps if lap["level"] == "1s"]
    assert ones[0]["documents_before"] == 0
    assert ones[1]["documents_before"] >= ones[0]["documents_counted"]
    fives = [lap for lap in laps if lap["level"] == "5s"]
    assert [lap["documents_before"] > 0 for lap in fives] == [False, True, False]
    assert [one["index"] for one in left if "-lap" in one["index"]] == []
