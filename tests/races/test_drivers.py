"""A lap's load sent by two processes of real Rally to a real Elasticsearch."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.races.test_races import race

pytestmark = pytest.mark.race


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="Rally has one process for each core, and here is one")
def test_two_processes_send_one_lap(tmp_path: Path) -> None:
    """One record per lap with every document; both processes sent their share of it, and Rally counted it once."""
    tmp_path.chmod(0o777)
    journal = tmp_path / "laps.jsonl"
    told = {
        "levels": ["1s", {"name": "small bulks", "bulk_size": 300, "clients": 3}],
        "driver_processes": 2,
        "warmup_blocks": 1,
        "blocks": 2,
        "lap_documents": 20_000,
        "freshness_probe": True,
        "lap_journal": str(journal),
    }
    finished = race("--challenge", "refresh-interval", "--documents", "100000", "--params", json.dumps(told))
    assert finished["error-rates"] == {}
    laps = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [lap["lap"] for lap in laps] == [1, 2, 3, 4, 5, 6]
    for lap in laps:
        assert lap["void"] is None
        assert (lap["documents_sent"], lap["documents_acknowledged"], lap["documents_counted"]) == (20_000,) * 3
        first, second = lap["drivers"]
        small = lap["level"] == "small bulks"
        assert (first["clients"], second["clients"]) == ((2, 1) if small else (4, 4))
        assert first["documents"] + second["documents"] == 20_000
        assert min(first["documents"], second["documents"]) >= 20_000 // 4
        assert min(first["cpu_seconds"], second["cpu_seconds"]) > 0
        assert sum(one["bulks"] for one in lap["drivers"]) == lap["bulks"] == (67 if small else 20)
        assert max(first["seconds"], second["seconds"]) <= lap["seconds"] + 0.001
        assert sum(lap["documents_per_second"]) == 20_000
