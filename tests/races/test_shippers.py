"""Laps by real shippers in a real race: each document counted once, beside those of Rally's own clients."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest

from paddock.race.shippers import programs
from tests.races.test_races import race

pytestmark = pytest.mark.race


def test_shippers_race_rallys_own_clients(tmp_path: Path) -> None:
    """Every lap counts, its record says what ran and what that used, and nothing of a shipper is left."""
    there = [name for name in ("rsyslog", "syslog-ng") if programs()[name].missing() is None]
    if not there:
        pytest.skip("neither rsyslog nor syslog-ng is installed")
    tmp_path.chmod(0o777)
    journal = tmp_path / "laps.jsonl"
    from_files = [{"name": f"{name}, file", "shipper": name, "shipper_input": "file"} for name in there]
    # What a strict mapping of Elasticsearch takes; and two queues, into an index that stores nothing.
    parsing = [
        {"name": "rsyslog, lines", "shipper": "rsyslog", "shipper_parsing": "lines"},
        {"name": "rsyslog, places", "shipper": "rsyslog", "shipper_parsing": "places"},
        {
            "name": "rsyslog, bare",
            "shipper": "rsyslog",
            "mapping": "nothing-stored",
            "shipper_main_queue_size": 20_000,
            "shipper_main_workers": 2,
        },
    ]
    own = [*from_files, *(parsing if "rsyslog" in there else ())]
    told = {
        "levels": ["rally", *there, *own],
        "bulk_size": 500,
        "bulk_indexing_clients": 2,
        "warmup_blocks": 0,
        "blocks": 1,
        "lap_documents": 10_000,
        "freshness_probe": True,
        "lap_journal": str(journal),
    }
    finished = race("--challenge", "shipper", "--documents", "100000", "--params", json.dumps(told))
    assert finished["error-rates"] == {}
    laps = {lap["level"]: lap for lap in map(json.loads, journal.read_text().splitlines())}
    assert set(laps) == {"rally", *there, *(one["name"] for one in own)}
    for level, lap in laps.items():
        assert lap["void"] is None
        assert (lap["documents_sent"], lap["documents_acknowledged"], lap["documents_counted"]) == (10_000,) * 3
        assert sum(lap["documents_per_second"]) == 10_000
        assert lap["bulks"] >= 20
        if level == "rally":
            assert "shipper" not in lap
            continue
        shipper = lap["shipper"]
        assert (shipper["name"], shipper["batch"], shipper["workers"]) == (level.partition(",")[0], 500, 2)
        assert (shipper["generated"], shipper["counted"], shipper["lost"], shipper["duplicates"]) == (
            10_000,
            10_000,
            0,
            0,
        )
        assert shipper["bytes"] > 10_000 * 100
        assert shipper["peak_memory_bytes"] > 2**20
        assert 0 < shipper["generator_seconds"] <= lap["seconds"]
    folder = f"races/{finished['race-id']}/shippers"
    assert not any(folder in " ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"]))
