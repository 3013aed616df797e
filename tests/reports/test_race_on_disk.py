"""From a race on disk to its report on the command line; and the journal that the report of a paced load needs."""

from __future__ import annotations

import json

import pytest

from paddock.client_options import ClientOptions
from paddock.files import write_json
from paddock.race.options import PreparedRace
from paddock.race.run import LOAD_JOURNAL, _with_journal
from paddock.rally.request import RaceRequest, race_file
from paddock.rally.run import race_records
from paddock.reports.origins import RaceRecord
from paddock.tracks import load_track
from tests.command_line import one_sentence, run_here
from tests.reports import races


def keep(record: RaceRecord) -> str:
    """Put a race where Rally and Paddock would; returns its id."""
    write_json(race_file(record.race_id), record.race)
    write_json(race_records(record.race_id) / "summary.json", record.summary)
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
    told = _with_journal(PreparedRace(request, track, ClientOptions(), 1000, 0, ()), race_records("one"))
    journal = told.track_params.get(LOAD_JOURNAL)
    assert (journal.rsplit("/", 1)[-1] if journal else None) == named
    assert {name: value for name, value in told.track_params.items() if name != LOAD_JOURNAL} == {
        name: value for name, value in params.items() if name != LOAD_JOURNAL
    }
