"""From a race on disk to its report on the command line; and the journal that the report of a paced load needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.files import write_json
from paddock.race.options import PreparedRace
from paddock.race.run import LOAD_JOURNAL, _with_journal
from paddock.race.summary import RaceRecord
from paddock.rally.outcome import race_file
from paddock.rally.request import RaceRequest
from paddock.rally.run import race_records
from paddock.reports.write import write_report
from paddock.tracks import load_track
from tests.command_line import one_sentence, run_here
from tests.reports import races
from tests.reports.results import decided


def keep(record: RaceRecord) -> str:
    """Put a race where Rally and Paddock would; returns its id."""
    write_json(race_file(record.race_id), record.race)
    write_json(race_records(record.race_id) / "summary.json", record.as_json())
    return record.race_id


def test_the_report_of_a_race() -> None:
    """./inv report RACE-ID writes the page beside the race's records and says what the race came to."""
    race_id = keep(races.growing())
    result = run_here("report", race_id)
    assert result.returncode == 0, result.stderr
    assert "2 of 3 queries become slower" in result.stdout
    assert {path.name for path in race_records(race_id).iterdir()} >= {"report.html", "report.md", "report.json"}
    assert str(race_records(race_id) / "report.html") in result.stdout
    machine = json.loads(run_here("report", race_id, "--json").stdout)
    assert [one["query"] for one in machine["growth"]] == list(races.QUERIES)


def test_samples_of_another_version_are_left_out() -> None:
    """The race has its report all the same, as it had before samples were drawn."""
    race_id = keep(races.plain())
    (race_records(race_id) / "samples.jsonl").write_text('{"kind": "sample", "what": 1}\n')
    result = run_here("report", race_id)
    assert result.returncode == 0, result.stderr


def test_the_latest_race_and_the_beginning_of_an_id() -> None:
    """The word latest means the race where no tournament is later; a beginning is enough where one id alone has it."""
    race_id = keep(races.growing())
    assert "2 of 3 queries become slower" in run_here("report", "latest").stdout
    assert "2 of 3 queries become slower" in run_here("report", race_id[:3]).stdout
    other = keep(replace(races.plain(), race_id=f"{race_id[:3]}x"))
    result = run_here("compare", race_id, race_id[:3])
    assert one_sentence(result).startswith(f"2 ids begin with '{race_id[:3]}' ({race_id}, {other}): write more")
    assert result.returncode == 2
    assert "2 races side by side" in run_here("compare", race_id, other).stdout


def test_a_result_of_another_machine_is_compared(tmp_path: Path) -> None:
    """Its result.json is enough; one that is missing or something else gets a sentence with its path."""
    race_id = keep(races.plain())
    there = write_report(decided(), tmp_path)["json"]
    text = run_here("compare", race_id, str(there)).stdout
    assert "1 tournament and 1 race side by side" in text
    assert "flush 2gb / flush 512mb, docs/s" in text
    assert f"{tmp_path}/none.json: there is no such file" in one_sentence(
        run_here("compare", race_id, f"{tmp_path}/none.json")
    )
    (tmp_path / "other.json").write_text("{}")
    assert "This is no tournament result" in one_sentence(run_here("compare", race_id, f"{tmp_path}/other.json"))


def test_an_unknown_id_is_named() -> None:
    """The sentence knows races and tournaments alike."""
    keep(races.plain())
    result = run_here("report", "f5696e04")
    assert result.returncode == 2
    assert "There is no race or tournament with the id 'f5696e04'. Did you mean 'f5696e03'" in one_sentence(result)


@pytest.mark.parametrize(
    ("challenge", "params", "named"),
    [
        ("burst", {}, "load.jsonl"),
        ("paced", {"target_throughput": 5}, "load.jsonl"),
        ("paced", {LOAD_JOURNAL: "/mine.jsonl"}, "mine.jsonl"),
        ("ingest", {}, None),
        ("growing-data", {}, None),
    ],
)
def test_paced_loads_are_written_down(challenge: str, params: dict[str, object], named: str | None) -> None:
    """Only they have something to write, and only where the user has not said where."""
    track = load_track("apache")
    request = RaceRequest("one", track.folder, challenge, ("1gheap",), None, params)
    told = _with_journal(PreparedRace(request, track, 1000, 0, ()), race_records("one"))
    journal = told.track_params.get(LOAD_JOURNAL)
    assert (journal.rsplit("/", 1)[-1] if journal else None) == named
    assert {name: value for name, value in told.track_params.items() if name != LOAD_JOURNAL} == {
        name: value for name, value in params.items() if name != LOAD_JOURNAL
    }
