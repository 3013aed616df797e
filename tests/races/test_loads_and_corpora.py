"""Paced loads, growing data and a team's own logs, on real Elasticsearch."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from paddock.corpora.store import ensure_corpus
from paddock.paths import rally_folder
from tests.command_line import run_paddock
from tests.races.test_races import bulk, race

pytestmark = pytest.mark.race


def test_a_burst_is_reported_phase_by_phase(tmp_path: Path) -> None:
    """Every document that is due arrives; the report has the latency of rests and peak against the schedule."""
    params = "rest_throughput:300,peak_throughput:3000,rest_seconds:4,peak_seconds:3,bursts:1,warmup_time_period:2"
    words = ("--challenge", "burst", "--track", "web-events", "--documents", "20000", "--race-id", "a-burst")
    finished = race(*words, "--params", params)
    assert finished["error-rates"] == {}
    assert bulk(finished)["documents"] == 2 * 3000 + 2 * 4 * 300 + 3 * 3000
    assert bulk(finished)["latencies"]["p50"] > 0
    written = run_paddock("report", "a-burst")
    assert written.returncode == 0, written.stderr
    folder = rally_folder() / "paddock" / "races" / "a-burst"
    report = (folder / "report.md").read_text()
    for phase in ("rest-1", "peak-1", "rest-2"):
        assert re.search(rf"{phase} +\|", report), f"{phase} is missing in\n{report}"
    assert "<svg" in (folder / "report.html").read_text()


def test_growing_data_measures_every_query_at_every_size() -> None:
    """Two sizes in one race: as many documents as were asked for at each, all queries at both, and a report of them."""
    words = ("--challenge", "growing-data", "--track", "syslog", "--test-mode", "--race-id", "growing")
    finished = race(*words, "--params", '{"growth_steps": [1, 4]}')
    assert finished["error-rates"] == {}
    loads = {task["name"]: task["documents"] for task in finished["summary"]["bulk_tasks"]}
    assert sum(loads.values()) == 1000
    assert sorted(loads.values()) == [250, 750]
    queries = [task["name"] for task in finished["summary"]["request_tasks"]]
    assert len(queries) == 2 * len({query.rsplit("-at-", 1)[0] for query in queries}) == 16
    assert run_paddock("report", "growing").returncode == 0


def test_an_index_and_scans_are_asked_the_same() -> None:
    """Four questions in two ways at one size: all answers are the same, and there is a report."""
    words = ("--challenge", "log-queries", "--track", "app-logs", "--test-mode", "--race-id", "asked")
    finished = race(*words, "--params", '{"growth_steps": [1], "scan_ways": ["zgrep"]}')
    assert finished["error-rates"] == {}
    journal = rally_folder() / "paddock" / "races" / "asked" / "load.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    answers = {(one["query"], one["number"], one["digest"]) for one in lines if one["kind"] == "log-query"}
    assert len(answers) == 4
    assert {one["way"] for one in lines if one["kind"] == "log-query"} == {"index", "zgrep"}
    assert run_paddock("report", "asked").returncode == 0


def test_a_full_disk_stops_a_load_and_loses_nothing() -> None:
    """A node with a file system of its own: the flood stage stops it, freed space lets it go on, all is found again."""
    words = ("--challenge", "full-disk", "--track", "app-logs", "--documents", "400000", "--race-id", "full")
    # In the 10 s between two looks at the disk comes no more than half of what is left beyond the flood stage.
    params = "target_throughput:4500,full_disk_patience:10"
    finished = race(*words, "--params", params, "--car", "512mheap", "--car-params", "data_size:128m")
    assert finished["error-rates"] == {}
    (line,) = (rally_folder() / "paddock" / "races" / "full" / "load.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert found["stopped"]
    assert found["recovery"] is not None, found
    assert found["taken"] < found["acknowledged"] == found["counted"]
    assert found["lost"] == 0
    assert "paddock-data" not in Path("/proc/mounts").read_text()
    assert run_paddock("report", "full").returncode == 0


def test_own_logs_are_imported_and_raced(tmp_path: Path) -> None:
    """Two rotated access logs with broken lines become a corpus; each of its documents arrives, and is found again."""
    made = ensure_corpus("apache", 1000, 7, None)
    documents = [json.loads(line) for line in made.file.read_text().splitlines()]
    lines = [
        f'{one["clientip"]} - - [05/Jan/2026:08:{number // 60 % 60:02d}:{number % 60:02d} +0100] "{one["method"]} '
        f'{one["path"]} HTTP/1.1" {one["status"]} {one.get("bytes", "-")} "{one.get("referrer", "-")}" '
        f'"{one.get("user_agent", "-")}"\n'
        for number, one in enumerate(documents)
    ]
    lines[10] = "this is no line of an access log\n"
    lines[700] = lines[700][:40] + "\n"
    with gzip.open(tmp_path / "access.log.1.gz", "wt") as older:
        older.writelines(lines[:500])
    (tmp_path / "access.log").write_text("".join(lines[500:]))
    imported = run_paddock(
        *("corpus.import", str(tmp_path / "access.log*"), "--name", "own-web", "--anonymise", "--shift-to-now"),
        "--force",
    )
    assert imported.returncode == 0, imported.stderr
    assert "998" in imported.stdout
    finished = race("--track", "apache", "--corpus", "own-web", "--test-mode")  # which takes up to 1,000 as they are
    assert finished["error-rates"] == {}
    assert bulk(finished)["documents"] == 998
