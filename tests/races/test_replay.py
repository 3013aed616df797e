"""A replay on real Elasticsearch: an imported log, queries of its slow log, a proof that holds and one that must not.

Both races use one node; the second one asks what a node of 9.2 has written into its slow log.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from paddock.console import progress
from paddock.engine import choose_engine
from paddock.engine.versions import DEFAULT_VERSION
from paddock.paths import rally_folder
from tests.cars.running_node import running_node
from tests.command_line import one_sentence, run_paddock
from tests.machine import PATIENCE, wait_until
from tests.races.test_races import race

pytestmark = pytest.mark.race

INDEX = "paddock-apache"
SLOW_LOG = Path(__file__).parents[1] / "imports" / "slow_logs" / "9.2.4.json.gz"
DOCUMENTS = 600


def log(folder: Path) -> Path:
    """An access log of five minutes, two lines a second, the second half before the first."""
    lines = [
        f"192.0.2.{number % 200} - - [05/Jan/2026:20:{number // 120:02d}:{number // 2 % 60:02d} +0000] "
        f'"GET /articles/{number} HTTP/1.1" 200 {1000 + number} "-" "test"\n'
        for number in range(DOCUMENTS)
    ]
    path = folder / "access.log"
    path.write_text("".join(lines[DOCUMENTS // 2 :] + lines[: DOCUMENTS // 2]))
    return path


def asked(port: int, method: str, path: str, body: Any = None) -> Any:
    """What the node answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - our own node
        return json.load(answer)


def damage(port: int) -> None:
    """Delete one document and change another one, as soon as all are there."""

    def all_there() -> bool:
        try:
            asked(port, "POST", f"/{INDEX}/_refresh")
            return asked(port, "GET", f"/{INDEX}/_count")["count"] == DOCUMENTS
        except OSError:  # the index is just being made
            return False

    wait_until(all_there)
    first, second = asked(port, "GET", f"/{INDEX}/_search?size=2")["hits"]["hits"]
    asked(port, "DELETE", f"/{INDEX}/_doc/{first['_id']}")
    asked(port, "PUT", f"/{INDEX}/_doc/{second['_id']}", {**second["_source"], "bytes": 1})


def test_a_log_is_replayed_and_proved(tmp_path: Path) -> None:
    """Every document comes in its time and reads back; a deleted and a changed one are found, and end the race so."""
    imported = run_paddock("corpus.import", str(log(tmp_path)), "--name", "replayed", "--force")
    assert imported.returncode == 0, imported.stderr
    engine = choose_engine(DEFAULT_VERSION, None, None, progress)
    assert engine.archive is not None
    assert engine.java is not None
    with running_node(engine.archive, engine.java.home, tmp_path / "node", ["512mheap"]) as node:
        words = ("--corpus", "replayed", "--challenge", "replay", "--target-hosts", f"127.0.0.1:{node.port}")
        params = {"replay_factor": 60, "warmup_time_period": 1}
        finished = race(*words, "--params", json.dumps(params))
        replay = finished["replay"]
        assert (replay["scheduled"], replay["indexed"], replay["disordered"]) == (DOCUMENTS, DOCUMENTS, DOCUMENTS // 2)
        assert replay["due"] == pytest.approx(5, abs=0.2)
        assert replay["ended"] >= replay["due"]
        assert (replay["proof"]["counted"], replay["proof"]["compared"]) == (DOCUMENTS, DOCUMENTS)
        assert replay["proof"]["problem"] is None

        recorded = tmp_path / "queries.jsonl"
        converted = run_paddock("queries.import", str(SLOW_LOG), "--output", str(recorded))
        assert converted.returncode == 0, converted.stderr
        found = [json.loads(line) for line in recorded.read_text().splitlines()]
        for number, one in enumerate(found):  # they were asked in another year
            one["at"] = f"2026-01-05T20:0{1 + number // 4}:0{number % 4}Z"
        recorded.write_text("".join(json.dumps(one) + "\n" for one in found))

        asked(node.port, "DELETE", f"/{INDEX}")
        vandal = threading.Thread(target=damage, args=(node.port,))
        vandal.start()
        params |= {"query_log": str(recorded)}
        failed = run_paddock("race", *words, "--params", json.dumps(params), "--race-id", "damaged")
        vandal.join(PATIENCE)
    assert failed.returncode == 5, failed.stderr
    sentence = one_sentence(failed)
    assert (
        f"has {DOCUMENTS - 1} documents, and {DOCUMENTS} were sent; 1 of those compared are missing; 1 read back"
        in sentence
    )
    assert "11 of 11 queries" in " ".join(failed.stdout.split())
    report = run_paddock("report", "damaged", "--json")
    proof = json.loads(report.stdout)["replay"]["proof"]
    assert (proof["missing"], proof["changed"], proof["unexpected"]) == (1, 1, 0)
    assert proof["fields"]["bytes"]["read"] == 1
    page = (rally_folder() / "paddock" / "races" / "damaged" / "report.html").read_text()
    assert "Restore proof" in page
    assert "docs/s" in page
