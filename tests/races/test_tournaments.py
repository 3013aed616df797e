"""Small tournaments on real Elasticsearch: identical contenders, a known effect, and kill -9 with --resume."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from paddock.paths import PROJECT
from paddock.rally.leftovers import RaceProcesses, end
from paddock.tournaments.store import find_tournament, tournament_ids
from tests.command_line import command_line, run_paddock
from tests.machine import own_rallies, wait_until

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


def test_after_kill_9_of_everything_it_resumes_with_the_same_plan(tmp_path: Path) -> None:
    """Wrapper, Rally and node are killed in the middle; --resume finishes, and no lap is lost or counted twice.

    Of contenders that share a node each start is a race of its own, and the laps of the second count as well.
    """
    file = a_tournament(tmp_path, "cut-short", "[{name: A}, {name: B}]", "A", "settings")
    file.write_text(file.read_text().replace("blocks: 10\nstarts: 1", "blocks: 5\nstarts: 2"))
    before = set(tournament_ids())
    process = subprocess.Popen(
        command_line("tournament", str(file), "--seed", "7"),
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: _measured(before) >= 3 or process.poll() is not None)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (tournament_id,) = set(tournament_ids()) - before
    stored = find_tournament(tournament_id)
    plan = stored.schedule()
    (attempt,) = stored.history().attempts
    for left in RaceProcesses(attempt.race_id).all():
        left.kill()
    end(RaceProcesses(attempt.race_id).all())
    resumed = run_paddock("tournament", tournament_id, "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr[-3000:]
    result = json.loads(resumed.stdout)["result"]
    assert stored.schedule() == plan
    counted = [lap for lap in result["laps"] if not lap["warmup"] and lap["void"] is None]
    places = Counter((lap["start"], lap["block"], lap["contender"]) for lap in counted)
    assert len(counted) == 20
    assert set(places.values()) == {1}
    assert [(one.start, one.outcome) for one in stored.history().attempts] == [(1, "cut off"), (1, "done"), (2, "done")]
    assert own_rallies() == []


def _measured(before: set[str]) -> int:
    """Measured laps in the journal of the tournament that has just begun."""
    return sum(
        not record.lap.warmup
        for tournament_id in set(tournament_ids()) - before
        for attempt in find_tournament(tournament_id).history().attempts
        for record in attempt.records
    )
