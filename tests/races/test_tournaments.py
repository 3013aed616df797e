"""Small tournaments on real Elasticsearch: identical contenders, and a known effect."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from paddock.tournaments.store import find_tournament
from tests.command_line import run_paddock

pytestmark = pytest.mark.race


def a_tournament(folder: Path, name: str, contenders: str, baseline: str, challenge: str, more: str = "") -> Path:
    """A tournament file of short laps; verdicts need at least 6 blocks."""
    file = folder / f"{name}.yml"
    file.write_text(
        f"description: A test\nquestion: Does it work?\ntrack: apache\nchallenge: {challenge}\n"
        f"baseline: {baseline}\ncontenders: {contenders}\nlap_documents: 20000\nwarmup_blocks: 3\n"
        f"blocks: 10\nstarts: 1\nbudget_minutes: 10\nstop_early: false\ncontrol: false\n{more}"
    )
    return file


def hold(file: Path, *words: str) -> dict:
    """Hold it and return the result as --json prints it."""
    finished = run_paddock("tournament", str(file), "--json", *words)
    assert finished.returncode == 0, finished.stderr[-3000:]
    return json.loads(finished.stdout)["result"]


def verdicts(result: dict) -> dict[str, str]:
    """Contender -> verdict in the metric of the tournament."""
    return {each["contender"]: each["verdict"] for each in result["main"]["verdicts"]}


def test_identical_contenders_get_no_winner(tmp_path: Path) -> None:
    """A/A: equivalent or undecided. The method errs once in twenty times, so a finding must come back twice."""
    file = a_tournament(tmp_path, "identical", "[{name: A}, {name: B}]", "A", "settings")
    first = verdicts(hold(file))
    if first["B"] in ("faster", "slower"):
        again = verdicts(hold(file))
        assert again["B"] != first["B"], f"identical contenders differ, twice: {again}"
    else:
        assert first["B"] in ("equivalent", "undecided")


def test_a_known_effect_is_found_reported_and_dropped(tmp_path: Path) -> None:
    """Nothing stored is far faster than two that are alike: it gets no further laps while the race goes on.

    Report files lie where they are said to.
    """
    contenders = "[{name: A}, {name: B}, {name: nothing, level: {mapping: nothing-stored}}]"
    file = a_tournament(tmp_path, "dropping", contenders, "A", "settings")
    text = file.read_text().replace("blocks: 10", "blocks: 20").replace("lap_documents: 20000", "lap_documents: 10000")
    file.write_text(text.replace("stop_early: false", "margin: 0.005"))
    result = hold(file)
    history = find_tournament(result["id"]).history()
    pairs = history.dropped["nothing"]
    (verdict,) = (one for one in result["main"]["verdicts"] if one["contender"] == "nothing")
    assert (verdict["verdict"], verdict["pairs"], verdict["dropped"]) == ("faster", pairs, True)
    counted = Counter(lap["contender"] for lap in result["laps"] if not lap["warmup"])
    assert counted["nothing"] in (pairs, pairs + 1)
    assert counted["A"] == counted["B"] > counted["nothing"]
    assert [lap["void"] for lap in result["laps"] if lap["void"]] == []
    assert [one.outcome for one in history.attempts] == ["done"]
    assert verdict["low"] > 1
    folder = find_tournament(result["id"]).folder
    for name in ("report.html", "report.md", "laps.csv", "junit.xml", "result.json"):
        assert (folder / name).stat().st_size > 500
    page = (folder / "report.html").read_text()
    assert "<svg" in page
    assert "nothing" in page
    listed = run_paddock("results")
    assert result["id"] in listed.stdout
    assert run_paddock("report", result["id"]).returncode == 0
