"""The journal: nothing lost, nothing counted twice, wherever a crash cuts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock.tournaments import TournamentOptions
from paddock.tournaments.laps import CUT_OFF, DONE, FAILED, Attempt, LapLines, blocks_done, laps_of
from paddock.tournaments.model import Answer, Lap, Markers
from paddock.tournaments.store import Journal, read_journal, stored_options
from tests.tournaments.test_schedule import a_tournament


def a_record(block: int, level: str, position: int = 1, **more: Any) -> dict[str, Any]:
    """A line of the lap runner's journal."""
    values = {
        "lap": 0,
        "block": block,
        "position": position,
        "warm_up": block <= 3,
        "level": level,
        "documents_sent": 1000,
        "documents_counted": 1000,
        "seconds": 2.0,
        "started_at": 100.0,
        "void": None,
    }
    return {**values, **more}


def a_journal(folder: Path) -> Journal:
    """A journal with one start begun."""
    journal = Journal(folder / "journal.jsonl")
    journal.add("tournament", id="x", seed=1)
    journal.add("start", start=1, attempt=1, race_id="x-s001", command="rally", skipped=0)
    return journal


def read_lap(record: dict[str, Any], attempt: Attempt) -> Lap:
    """The lap of one line."""
    attempt.add(record)
    return attempt.records[-1].lap


@given(cut=st.integers(0, 4000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_a_journal_cut_anywhere_can_be_read_and_gone_on_with(tmp_path: Path, cut: int) -> None:
    """Whole lines before the cut stay, half a line is dropped, and what is added then is read again."""
    file = tmp_path / "journal.jsonl"
    file.unlink(missing_ok=True)
    journal = a_journal(tmp_path)
    for block in range(1, 9):
        journal.add("lap", start=1, attempt=1, record=a_record(block, "a"))
    text = file.read_bytes()
    file.write_bytes(text[:cut])
    whole = text[:cut].count(b"\n")
    again = Journal(file)
    if whole >= 2:
        assert len(again.history.attempts[0].records) == whole - 2
        again.add("lap", start=1, attempt=1, record=a_record(99, "a"))
        assert [record.lap.block for record in read_journal(file).attempts[0].records] == [*range(1, whole - 1), 99]


@given(pieces=st.lists(st.integers(1, 60), max_size=40), known=st.integers(0, 5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_a_growing_file_is_read_once(tmp_path: Path, pieces: list[int], known: int) -> None:
    """However the lines arrive, each is handed out once and in order; those known before are left out."""
    file = tmp_path / "laps.jsonl"
    text = b"".join(json.dumps({"lap": number, "text": "ä"}).encode() + b"\n" for number in range(12))
    file.write_bytes(b"")
    lines = LapLines(file, known)
    read, at = [], 0
    for piece in [*pieces, len(text)]:
        with file.open("ab") as growing:
            growing.write(text[at : at + piece])
        at += piece
        read += lines.read()
    assert [lap["lap"] for lap in read] == list(range(known, 12))


def test_a_line_that_a_crash_cut_off_is_passed_over(tmp_path: Path) -> None:
    """The lap runner ends it and goes on; it was no lap."""
    file = tmp_path / "laps.jsonl"
    file.write_text('{"lap": 1}\n{"lap": 2, "se\n{"lap": 3}\n')
    assert [lap["lap"] for lap in LapLines(file).read()] == [1, 3]
    assert LapLines(tmp_path / "none").read() == []


def test_time_is_that_of_a_steady_clock_without_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time of day that is set back by a day and a break of an hour change nothing in how long it has been running."""
    steady, of_day = [100.0], [1_000_000.0]
    monkeypatch.setattr("time.monotonic", lambda: steady[0])
    monkeypatch.setattr("time.time", lambda: of_day[0])
    journal = a_journal(tmp_path)
    steady[0], of_day[0] = 130.0, of_day[0] - 86_400
    journal.add("lap", start=1, attempt=1, record=a_record(1, "a"))
    assert journal.history.elapsed == 30.0
    steady[0] += 3600
    resumed = Journal(tmp_path / "journal.jsonl")
    steady[0] += 7  # until it has been checked that it can go on
    resumed.add("resumed")
    steady[0] += 5
    assert resumed.elapsed == 35.0


def test_a_lap_begins_by_the_steady_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds since the tournament began, whatever the time of day says; by the time of day in journals from before."""
    monkeypatch.setattr("time.monotonic", lambda: 500.0)
    journal = Journal(tmp_path / "journal.jsonl")
    journal.add("tournament", id="x", seed=1)
    begun = {"start": 1, "race_id": "x-s001", "command": "rally", "skipped": 0}
    journal.add("start", attempt=1, monotonic=480.0, **begun)
    record = a_record(4, "a", started_at=-86_400.0, started_monotonic=492.5)
    assert read_lap(record, journal.history.attempts[0]).began == 12.5
    journal.add("start", attempt=2, **begun)
    old = journal.history.attempts[1]
    assert read_lap(a_record(4, "a", started_at=old.at + 3.0), old).began == pytest.approx(3.0)


def test_the_fields_of_a_lap_line_find_their_places(tmp_path: Path) -> None:
    """Units: freshness in milliseconds, processor time per million documents, bytes per document."""
    attempt = a_journal(tmp_path).history.attempts[0]
    record = a_record(
        4,
        "a",
        position=2,
        node_cpu_ms=60,
        driver_cpu_seconds=0.02,
        latency_ms={"p50": 5.0, "p95": 9.0, "p99": None},
        index_figures={"store_bytes": 250_000, "merge_throttled_ms": 2},
        freshness={"p50": 0.4, "p99": None, "markers": 7, "found_seconds": [0.4, 0.5], "waiting_seconds": [0.9]},
        documents_per_second=[600, 400],
        searches={"rounds": 20, "p50_ms": 3.5, "p90_ms": 4.5, "queries": {"any": {"p50_ms": 3.5, "hits": 7}}},
        bulks=20,
        load_actions={"refreshes": 2, "flushes": 0, "merges": 1},
    )
    lap = read_lap(record, attempt)
    assert (lap.start, lap.block, lap.position, lap.contender, lap.warmup) == (1, 4, 2, "a", False)
    assert lap.docs_per_second == 500.0
    assert lap.freshness == {"p50": 400.0, "n": 7.0}
    assert lap.markers == Markers(found=(400.0, 500.0), waiting=(900.0,))
    assert lap.rates == (600.0, 400.0)
    assert dict(lap.prices) == pytest.approx(
        {
            "node CPU s/M docs": 60.0,
            "driver CPU s/M docs": 20.0,
            "bytes/doc": 250.0,
            "throttled s/M docs": 2.0,
            "bulk p50 ms": 5.0,
            "bulk p95 ms": 9.0,
            "query p50 ms": 3.5,
            "query p90 ms": 4.5,
        }
    )
    assert lap.driver_load == 0.01
    assert (lap.bulks, lap.actions, lap.answers) == (
        20,
        {"refreshes": 2, "flushes": 0, "merges": 1},
        {"any": Answer(7)},
    )


def test_a_lap_without_load_is_void(tmp_path: Path) -> None:
    """A lap that never began has no rate, whatever its line says."""
    attempt = a_journal(tmp_path).history.attempts[0]
    lap = read_lap(a_record(4, "a", seconds=None, documents_sent=None, started_at=None), attempt)
    assert lap.void == "nothing was measured"
    uncounted = read_lap(a_record(4, "a", documents_counted=None, void="no node answers any more"), attempt)
    assert uncounted.counted is None
    assert lap.docs_per_second == 0.0


@pytest.mark.parametrize(
    ("outcome", "node_level", "voids", "kept"),
    [
        (DONE, False, [None, None, None, None], 1),
        (CUT_OFF, False, [None, None, None, "the start was cut off in this block"], 1),
        (CUT_OFF, True, ["the start was cut off"] * 4, 0),
        (FAILED, False, [None, None, None, "the race x-s001 failed in this block"], 1),
        (FAILED, True, ["the race x-s001 failed"] * 4, 0),
    ],
)
def test_what_becomes_of_the_laps_of_an_attempt(
    tmp_path: Path, outcome: str, node_level: bool, voids: list[str | None], kept: int
) -> None:
    """The rule for attempts that did not come to their end."""
    journal = a_journal(tmp_path)
    for block, level in ((3, "a"), (4, "a"), (4, "b"), (5, "b")):
        journal.add("lap", start=1, attempt=1, record=a_record(block, level))
    journal.add("end", start=1, attempt=1, outcome=outcome, reason="", circumstances={})
    tournament = a_tournament(2, node_level=node_level)
    assert [lap.void for lap in laps_of(journal.history.attempts, tournament)] == voids
    assert blocks_done(journal.history.attempts, tournament, 1) == kept
    assert journal.history.attempts[0].whole_blocks("ab") == {4}


def test_blocks_of_a_later_attempt_follow_on_those_before(tmp_path: Path) -> None:
    """Its race numbers them from the beginning again; in the tournament they are the ones that were left."""
    journal = a_journal(tmp_path)
    journal.add("start", start=1, attempt=2, race_id="x-s001-2", command="", skipped=4)
    attempt = journal.history.attempts[1]
    assert read_lap(a_record(2, "a"), attempt).block == 2
    assert read_lap(a_record(4, "a"), attempt).block == 8


def test_options_of_an_earlier_version_are_values(tmp_path: Path) -> None:
    """It wrote them as they were typed; whoever goes on with its tournament gets what a command line gives today."""
    journal = Journal(tmp_path / "journal.jsonl")
    typed = {"quick": True, "resume": None, "car": "2gheap,gc-g1", "params": "bulk_size:500", "car_params": None}
    journal.add("tournament", id="x", options={**typed, "seed": None, "port": 39200, "java": "17"})
    assert stored_options(journal.history) == TournamentOptions(
        quick=True, car=("2gheap", "gc-g1"), params={"bulk_size": 500}, java="17"
    )
