"""The report of a replay: its plots, the figures that the terminal has too, and a proof with what differs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddock.race.summary import RaceRecord
from paddock.reports.document import render_html, render_markdown
from paddock.reports.race_report import RaceFindings, build_race_report, find_out, race_report_as_json
from tests.race.test_replay import LINES, PROOF
from tests.reports import races

FAILED = {
    **PROOF,
    "counted": 999,
    "missing": 1,
    "changed": 1,
    "passed": False,
    "problem": "The restore proof failed: 1 is missing.",
    "fields": {"path": {"documents": 1, "sent": "/a", "read": None}},
    "parts": [{"from": "2026-01-05T20:00:00.000Z", "until": "2026-01-05T20:01:00.000Z", "sent": 5, "read": 4}],
    "examples": [
        {"kind": "changed", "at": None, "id": "x1", "fields": {"path": {"sent": "/a", "read": None}}},
        {"kind": "missing", "at": "2026-01-05T20:00:00.000Z", "id": None, "document": '{"n": "<b>"}'},
    ],
}


def findings(folder: Path, proof: dict[str, Any] = PROOF) -> RaceFindings:
    """What is found of a replay whose journal lies where Paddock puts it."""
    races.write(folder / "load.jsonl", iter([*LINES[:-1], proof]))
    plain: RaceRecord = races.plain()
    return find_out(replace(plain, race={**plain.race, "track-params": {}}), folder)


def test_the_headline_and_the_figures(tmp_path: Path) -> None:
    """Latency of both and the proof come first; all streams have their rows, those of the warm-up among them."""
    report = build_race_report(findings(tmp_path))
    assert "At 60 times the recorded pace latency of documents was 30.0 ms in the median" in report.verdict
    assert "The restore proof passed" in report.verdict
    text = render_markdown(report)
    for row in ("| documents | 900 | 3 | 10 |", "| queries | 2 | 2 | 0 |", "| documents, first 1 s | 100 |"):
        assert row in text, text
    page = render_html(report)
    assert page.count('class="plot" role="img"') == 2
    for hover in ("second 3: 700 of 700 docs/s", "second 4: median 1,001 ms, largest 2,000 ms"):
        assert hover in page


def test_a_failed_proof_shows_what_differs(tmp_path: Path) -> None:
    """Fields, times and documents, with nothing of them taken for HTML."""
    found = findings(tmp_path, FAILED)
    text = render_markdown(build_race_report(found))
    for part in ("| path | 1 | /a | nothing |", "Changed (\\_id x1): path: /a became nothing.", "| missing | 1 |"):
        assert part in text, text
    assert "Missing of 2026-01-05T20:00:00.000Z" in text
    assert "<b>" not in render_html(build_race_report(found))
    value = json.loads(json.dumps(race_report_as_json(found)))
    assert value["replay"]["proof"]["problem"] == FAILED["problem"]
    assert value["replay"]["behind"] == pytest.approx(1.6)


def test_other_races_have_none(tmp_path: Path) -> None:
    """Their JSON says so."""
    assert race_report_as_json(find_out(races.plain(), tmp_path))["replay"] is None
