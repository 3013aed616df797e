"""Bursts: rest, peak, rest, in one task, so that what a peak leaves behind is seen in the rest after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shared.load_journal import append_bulk, append_schedule
from shared.pace import read_pace

from paddock import tracks
from paddock.errors import FileError
from paddock.race.load import read_load
from tests.tracks import paced_race
from tests.tracks.lap_client import BULK_SECONDS
from tests.tracks.rendered import render

ALL_TRACKS = tracks.track_names()


def rates(built: Any) -> list[tuple[str, float, float]]:
    """Name, seconds and rate of the phases of a burst."""
    return [(phase.name, phase.seconds, phase.rate) for phase in paced_race.source(built, "paced-bulk").pace.phases]


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_by_default_two_peaks_between_three_rests(name: str) -> None:
    """The warm-up goes as fast as a peak; bulks are those of a tenth of a second at rest."""
    built = paced_race.built(name, "burst", {})
    assert rates(built) == [
        ("warm-up", 10, 10_000),
        ("rest-1", 30, 1000),
        ("peak-1", 30, 10_000),
        ("rest-2", 30, 1000),
        ("peak-2", 30, 10_000),
        ("rest-3", 30, 1000),
    ]
    task = paced_race.leaf(built, "paced-bulk")
    assert task.meta_data == {"scheduled-documents": 790_000, "scheduled-seconds": 160.0, "warmup-seconds": 10.0}
    source = paced_race.source(built, "paced-bulk")
    assert (source.pace.documents, source.bulk_size) == (790_000, 100)
    assert paced_race.source(built, "settle").params()["expected"] == 790_000


def test_parameters_shape_the_profile() -> None:
    """Rates, lengths and the number of peaks are all for the user to say."""
    params = {"rest_throughput": 50, "peak_throughput": 75.5, "rest_seconds": 1.5, "peak_seconds": 2, "bursts": 1}
    built = paced_race.built("apache", "burst", {**params, "warmup_time_period": 0, "bulks_per_second": 2})
    assert rates(built) == [("rest-1", 1.5, 50), ("peak-1", 2, 75.5), ("rest-2", 1.5, 50)]
    assert paced_race.source(built, "paced-bulk").bulk_size == 25


def test_a_peak_is_felt_after_it(tmp_path: Path) -> None:
    """A peak at twice of what the server can take: latency rises in it, and falls again only some time after it.

    The client needs 5 ms for a bulk, so 200 bulks a second at most.
    """
    journal = tmp_path / "load.jsonl"
    params = {"rest_throughput": 20, "peak_throughput": 400, "rest_seconds": 1, "peak_seconds": 0.5, "bursts": 1}
    params |= {"bulk_size": 1, "bulk_indexing_clients": 1, "warmup_time_period": 0, "corpus_documents": 100}
    params |= {"load_journal": str(journal)}
    track = paced_race.with_documents(paced_race.built("apache", "burst", params), tmp_path, 100)
    _, samples = paced_race.run(track, "paced-bulk")
    assert sum(sample.ops for sample in samples) == 240
    phases = {sample.meta_data["phase"]: [] for sample in samples}
    for sample in samples:
        phases[sample.meta_data["phase"]].append(sample.latency)
    assert list(phases) == ["rest-1", "peak-1", "rest-2"]
    assert [len(found) for found in phases.values()] == [20, 200, 20]
    assert max(phases["rest-1"]) < max(phases["peak-1"])
    assert max(phases["peak-1"]) > 0.4  # 200 bulks in 0.5 s take at least 1 s
    assert phases["rest-2"][0] > 0.3  # it waits behind those of the peak
    assert phases["rest-2"][-1] == pytest.approx(BULK_SECONDS)
    load = read_load(journal)
    assert load is not None
    assert (load.scheduled_documents, [phase.bulks for phase in load.phases]) == (240, [20, 200, 20])
    assert [phase.name for phase in load.phases] == list(phases)


@pytest.mark.parametrize("bursts", [0, "many"])
def test_nonsense_is_refused(bursts: Any) -> None:
    """No peak is no burst; the command line says so, and what is no number cannot be rendered."""
    track = tracks.load_track("apache")
    with pytest.raises(Exception, match="bursts must be"):
        tracks.check_parameters(track, {"bursts": bursts})
    if isinstance(bursts, str):
        with pytest.raises(FileError, match="cannot be rendered"):
            render(track, {"bursts": bursts})


def test_the_journal_is_appended_to(tmp_path: Path) -> None:
    """A second race with the same journal takes nothing away; lines say which race they belong to."""
    journal = tmp_path / "load.jsonl"
    pace = read_pace([{"name": "paced", "seconds": 2, "throughput": 5}])
    for began in (1000.0, 2000.0):
        append_schedule(journal, began, pace)
        append_bulk(
            journal, began=began, client=3, phase="paced", due=0.2, sent=0.25, answered=0.3, documents=1, success=True
        )
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [(line["kind"], line["began"]) for line in lines] == [
        *(("schedule", 1000.0), ("bulk", 1000.0), ("schedule", 2000.0), ("bulk", 2000.0)),
    ]
    assert lines[0]["documents"] == 10
    assert lines[1] == {
        "kind": "bulk",
        "began": 1000.0,
        "client": 3,
        "phase": "paced",
        "due": 0.2,
        "sent": 0.25,
        "answered": 0.3,
        "documents": 1,
        "success": True,
    }
