"""Laps by real shippers in a real race: each document counted once, beside those of Rally's own clients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from paddock import paths
from paddock.errors import MachineError
from paddock.limits import Here, Limits, plan_limits, try_out
from paddock.race.shippers import programs
from tests.races.test_races import race

pytestmark = pytest.mark.race

# Cores, and bytes: 10,000 parsed documents are 0.05 s of a core's time to rsyslog, and it wants them at once.
QUOTA, FEEDS, MEMORY = 0.02, 0.05, 256 << 20
# Seconds: of a quota, and in which the kernel counts processor time.
PERIOD, TICK = 0.1, 0.02
CAPS = {"shipper_limit_cpu_quota": QUOTA, "shipper_limit_memory": "256m", "generator_limit_cpu_quota": FEEDS}


def caps_hold() -> bool:
    """Whether this machine lets us make such groups."""
    try:
        try_out(plan_limits(Limits(quota=QUOTA, memory_bytes=MEMORY), paths.races_folder(), "capped"))
    except MachineError:
        return False
    return True


def groups_of(race_id: str) -> list[Path]:
    """Those that are still there."""
    return [one for tree in Here().trees.values() for one in tree.top.rglob(f"paddock-{race_id}-*")]


def look_at_the_capped(shipper: dict[str, Any], seconds: float) -> None:
    """By its own figures it used no more than its quota, though it wanted more; and the kernel says the same."""
    # The kernel deals quotas out in slices to each processor, and counts processes in ticks. Without limits it is twice
    # as much as that in half a second.
    assert shipper["cpu_seconds"] <= 1.2 * QUOTA * (seconds + PERIOD) + TICK
    assert shipper["limits"]["throttled_seconds"] > 0
    assert (shipper["limits"]["cpu_quota"], shipper["limits"]["memory_bytes"]) == (QUOTA, MEMORY)
    assert shipper["peak_memory_bytes"] <= MEMORY
    assert str(MEMORY) in shipper["limits"]["files"].values()
    feeds = shipper["generator_limits"]
    assert shipper["generator_cpu_seconds"] <= FEEDS * (shipper["generator_seconds"] + PERIOD) + TICK
    assert (feeds["cpu_quota"], feeds["memory_bytes"]) == (FEEDS, None)


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
    if caps_hold():
        parsing.append({"name": "rsyslog, capped", "shipper": "rsyslog", "shipper_parsing": "json", **CAPS})
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
        if not level.endswith(", capped"):
            assert (shipper["limits"], shipper["generator_limits"]) == (None, None)
            continue
        look_at_the_capped(shipper, lap["seconds"])
        tags = json.loads(Path(finished["race-file"]).read_text())["user-tags"]
        assert tags["limits"].startswith(f"shipper of {level}: 0.02 cores of time (quota v")
    folder = f"races/{finished['race-id']}/shippers"
    assert not any(folder in " ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"]))
    assert groups_of(finished["race-id"]) == []
