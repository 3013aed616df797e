"""Paced loads: which documents are sent, when, and what Rally makes of it."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from esrally.metrics import SampleType
from esrally.track import track as rally_track
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.pace import read_pace
from shared.paced_documents import ExpectedPacedDocuments, PacedDocuments, pace_of, repeated
from shared.paced_schedule import PacedSchedule

from paddock import tracks
from paddock.errors import FileError, UsageError
from tests.tracks import paced_race
from tests.tracks.rendered import build

ALL_TRACKS = tracks.track_names()
DOCUMENTS = 57


def phases(*rates: tuple[float, float]) -> list[dict[str, Any]]:
    """Phases of so many seconds at so many documents per second."""
    return [{"name": f"p{number}", "seconds": one, "throughput": rate} for number, (one, rate) in enumerate(rates)]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Rally track with a corpus of numbered documents."""
    path = tmp_path_factory.mktemp("corpus") / "numbers.json"
    path.write_text("".join(f'{{"n":{number}}}\n' for number in range(DOCUMENTS)), encoding="utf-8")
    documents = rally_track.Documents("bulk", str(path), number_of_documents=DOCUMENTS, target_index="logs")
    return rally_track.Track("logs", corpora=[rally_track.DocumentCorpus("logs", [documents])])


def parameters(**changes: Any) -> dict[str, Any]:
    """Parameters of the operation: 60 documents in 6 s."""
    usual = {"phases": phases((6, 10)), "arrivals": "even", "corpus-documents": DOCUMENTS, "bulk-size": 1000}
    return {**usual, "documents-in-a-bulk": 4, **changes}


def shares(track: Any, params: dict[str, Any], clients: int, workers: int = 1) -> list[list[list[int]]]:
    """The bulks of every client, each a list of the documents' numbers."""
    found = []
    for worker in range(workers):
        source = PacedDocuments(track, params)
        mine = [source.partition(client, clients) for client in range(worker, clients, workers)]
        for share in mine:
            bulks = []
            while True:
                try:
                    lines = share.params()["body"].decode().splitlines()
                except StopIteration:
                    break
                bulks.append([json.loads(line)["n"] for line in lines[1::2]])
            assert share.issued == sum(map(len, bulks))
            found.append(bulks)
    return found


@given(
    seconds=st.floats(0.1, 50), rate=st.floats(1, 40), clients=st.integers(1, 9), bulk=st.integers(1, 70),
    workers=st.integers(1, 3),
)  # fmt: skip
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_exactly_the_documents_that_are_due(
    numbers: Any, seconds: float, rate: float, clients: int, bulk: int, workers: int
) -> None:
    """Whatever clients, processes and sizes are: as many as are due and expected, none twice as often as another."""
    params = parameters(phases=phases((seconds, rate)), **{"documents-in-a-bulk": bulk})
    due = round(seconds * rate)
    if due < 1:
        with pytest.raises(exceptions.InvalidSyntax, match="not a single document is due"):
            PacedDocuments(numbers, params)
        return
    sent = [number for share in shares(numbers, params, clients, workers) for one in share for number in one]
    assert len(sent) == due == ExpectedPacedDocuments(numbers, params).params()["expected"]
    often = [sent.count(number) for number in range(DOCUMENTS)]
    assert max(often) - min(often) <= 1
    assert often == sorted(often, reverse=True)


@given(
    parts=st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.1, 1e5)), min_size=1, max_size=5), share=st.floats(0, 1)
)
def test_due_is_the_inverse_of_the_rate(parts: list[tuple[float, float]], share: float) -> None:
    """At the moment at which a number of documents is due, the rates before it have added up to that number."""
    pace = read_pace(phases(*parts)) if sum(one * rate for one, rate in parts) >= 1 else None
    if pace is None:
        return
    wanted = share * sum(one * rate for one, rate in parts)
    moment = pace.due(wanted)
    reached = sum(min(max(moment - one.begin, 0), one.seconds) * one.rate for one in pace.phases)
    assert reached == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert pace.phase_at(moment).begin <= moment + 1e-9


def test_beyond_the_end_the_last_phase_goes_on() -> None:
    """Random arrivals may be later than planned."""
    pace = read_pace(phases((2, 10), (3, 1)))
    assert (pace.documents, pace.due(23), pace.due(25)) == (23, 5, 7)
    assert (pace.phase_at(99).name, pace.phase_at(2).name, pace.phase_at(2.01).name) == ("p1", "p0", "p1")


def moments(track: Any, params: dict[str, Any], clients: int) -> list[list[float]]:
    """When each client's bulks are due, by the scheduler as Rally uses it."""
    source, found = PacedDocuments(track, params), []
    for client in range(clients):
        schedule = PacedSchedule(rally_track.Task("paced-bulk", rally_track.Operation("paced-bulk", "bulk")))
        schedule.parameter_source = share = source.partition(client, clients)
        due: list[float] = []
        while True:
            at = schedule.next(due[-1] if due else 0)
            try:
                share.params()
            except StopIteration:
                break
            due.append(at)
        found.append(due)
    return found


def test_clients_take_turns(numbers: Any) -> None:
    """40 documents a second in bulks of 4 are a bulk every 0.1 s, from the clients in turn; a bulk is due when full."""
    params = parameters(phases=phases((1.2, 40)))
    found = moments(numbers, params, 3)
    assert found[0] == pytest.approx([0.1, 0.4, 0.7, 1.0])
    assert found[1] == pytest.approx([0.2, 0.5, 0.8, 1.1])
    assert found[2] == pytest.approx([0.3, 0.6, 0.9, 1.2])


def test_a_peak_brings_bulks_closer_together(numbers: Any) -> None:
    """Ten times the rate is a tenth of the distance, from the first bulk of the peak on."""
    (found,) = moments(numbers, parameters(phases=phases((1, 8), (1, 40), (1, 8))), 1)
    assert found == pytest.approx([0.5, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.5, 3])


def test_poisson_arrivals_are_independent_and_repeatable(numbers: Any) -> None:
    """Their distances are exponential (as large a deviation as mean), their rate is kept, and races have the same."""
    params = parameters(phases=phases((250, 40)), arrivals="poisson")
    found = moments(numbers, params, 2)
    assert found == moments(numbers, params, 2)
    every = sorted(moment for due in found for moment in due)
    gaps = [second - first for first, second in itertools.pairwise(every)]
    assert every[-1] == pytest.approx(250, rel=0.1)  # three standard deviations
    assert statistics.stdev(gaps) == pytest.approx(statistics.mean(gaps), rel=0.1)
    assert found[0] != found[1]


def test_rally_runs_it(tmp_path: Path) -> None:
    """Rally's executor sends every bulk when it is due, counts latency from then on, and marks warm-up and phase."""
    journal = tmp_path / "load.jsonl"
    params = {"target_throughput": 200, "time_period": 1, "warmup_time_period": 1, "bulks_per_second": 20}
    params |= {"corpus_documents": 90, "bulk_indexing_clients": 3, "load_journal": str(journal)}
    track = paced_race.with_documents(paced_race.built("apache", "paced", params), tmp_path, 90)
    index, samples = paced_race.run(track, "paced-bulk")
    assert len(index.documents) == 400 == sum(sample.ops for sample in samples)
    schedule, *lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert schedule["documents"] == 400
    assert [(one["name"], one["begin"], one["end"], one["rate"]) for one in schedule["phases"]] == [
        ("warm-up", 0, 1, 200),
        ("paced", 1, 2, 200),
    ]
    assert sum(line["documents"] for line in lines) == 400
    assert max(line["due"] for line in lines) <= 2 + 1e-6
    for sample, line in zip(samples, lines, strict=True):
        # Rally stops its clock before, we after the answer has been read.
        assert line["answered"] - line["due"] == pytest.approx(sample.latency, abs=0.05)
        assert sample.latency >= sample.service_time
        assert sample.meta_data["phase"] == line["phase"] == ("warm-up" if line["due"] <= 1 else "paced")
    assert sum(sample.sample_type is SampleType.Normal for sample in samples) in range(15, len(samples) - 15)


def test_late_bulks_are_sent_all_the_same(tmp_path: Path) -> None:
    """A server that answers too slowly makes bulks late, not fewer; Rally's latency shows it, its service time not."""
    params = {"target_throughput": 2000, "time_period": 1, "warmup_time_period": 0, "bulks_per_second": 1000}
    params |= {"corpus_documents": 500, "bulk_indexing_clients": 1}
    track = paced_race.with_documents(paced_race.built("apache", "paced", params), tmp_path, 500)
    index, samples = paced_race.run(track, "paced-bulk")
    assert len(index.documents) == 2000
    assert samples[-1].latency > 1  # a thousand bulks of at least 5 ms each, one after another
    assert statistics.median(sample.service_time for sample in samples) < 0.5


def test_failed_bulks_are_in_the_journal(tmp_path: Path) -> None:
    """A refused bulk counts no documents and is marked."""
    journal = tmp_path / "load.jsonl"
    params = {"target_throughput": 100, "time_period": 1, "warmup_time_period": 0, "corpus_documents": 50}
    params |= {"load_journal": str(journal), "bulk_indexing_clients": 1, "error_level": "non-fatal"}
    track = paced_race.with_documents(paced_race.built("apache", "paced", params), tmp_path, 50)
    refused = [{"index": {"status": 429, "error": {"reason": "full", "type": "x"}}}] * 10
    paced_race.run(track, "paced-bulk", lambda number, documents: refused[:documents] if number == 3 else None)
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()][1:]
    assert [line["success"] for line in lines].count(False) == 1


@pytest.mark.parametrize("name", ALL_TRACKS)
@pytest.mark.parametrize(
    ("params", "documents", "seconds", "bulk"),
    [
        ({"target_throughput": 5000}, 350_000, 70, 500),
        ({"target_throughput": 50_000, "time_period": 5, "warmup_time_period": 0}, 250_000, 5, 1000),
        ({"event_period": 0.02, "time_period": 600}, 30_500, 610, 5),
        ({"target_gb_per_day": 86.4, "corpus_bytes": 50_000, "corpus_documents": 100}, 140_000, 70, 200),
        ({"target_throughput": 3, "bulk_size": 1}, 210, 70, 1),
    ],
)
def test_rates_and_sizes(name: str, params: dict[str, Any], documents: int, seconds: float, bulk: int) -> None:
    """Docs/s, GB a day and a period are the same thing; race.json is told, and expects, what is sent."""
    built = paced_race.built(name, "paced", params)
    task = paced_race.leaf(built, "paced-bulk")
    assert task.meta_data["scheduled-documents"] == documents
    assert task.meta_data["scheduled-seconds"] == seconds
    source = paced_race.source(built, "paced-bulk")
    assert (source.pace.documents, source.bulk_size) == (documents, bulk)
    settle = paced_race.source(built, "settle").params()
    assert (settle["expected"], settle["enforce"], settle["wait-for-merges"]) == (documents, True, True)
    assert (task.schedule, task.clients) == ("paced", 8)


@pytest.mark.parametrize(("name", "rate"), [("apache", 1028.61), ("app-logs", 663.27)])
def test_by_default_200_machines(name: str, rate: float) -> None:
    """30 GB a day, by the mean size of the track's own documents."""
    source = paced_race.source(paced_race.built(name, "paced", {}), "paced-bulk")
    assert [phase.rate for phase in source.pace.phases] == pytest.approx([rate, rate], abs=0.01)


@pytest.mark.parametrize("challenge", ["paced", "burst"])
def test_test_mode_is_short(challenge: str) -> None:
    """Rally's test mode has 1,000 documents: the rates stay, the time shrinks, and the count is still exact."""
    built = paced_race.built("apache", challenge, {}, test_mode=True)
    pace = paced_race.source(built, "paced-bulk").pace
    assert pace.documents == 1000 == paced_race.source(built, "settle").params()["expected"]
    assert pace.phases[-1].rate == pytest.approx(1000, rel=0.05)
    assert pace.phases[-1].end < 2


def test_a_small_corpus_is_repeated_in_full_time() -> None:
    """Fewer documents than are due do not mean test mode."""
    params = {"phases": phases((10, 100)), "corpus-documents": 300}
    assert pace_of(300, params).documents == 1000
    assert pace_of(200, params).documents == 200


def test_document_count_is_what_is_repeated(numbers: Any) -> None:
    """Only the selected documents are sent, as often as needed."""
    (share,) = shares(numbers, parameters(**{"first-documents": 25}), 1)
    assert [number for bulk in share for number in bulk] == [*range(25), *range(25), *range(10)]
    assert len(repeated(numbers.corpora, 25, 50)) == 2


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"target_throughput": 5, "event_period": 1}, "exclude each other"),
        ({"target_gb_per_day": 5, "event_period": 1}, r"event_period \(1\) and target_gb_per_day \(5\) exclude"),
        ({"target_throughput": 0.001}, "not a single document is due"),
        ({"arrivals": "late"}, "arrivals must be even or poisson"),
        ({"load_journal": "load.jsonl"}, "load_journal must be an absolute path"),
        ({"load_journal": "/nowhere/at/all/load.jsonl"}, "in a folder that exists"),
        ({"target_throughput": 0}, "throughput of the phase 'warm-up' must be above 0"),
        ({"document_count": 2_000_000}, "the corpus has 1000000 documents"),
    ],
)
def test_nonsense_is_refused_before_a_race(params: dict[str, Any], sentence: str) -> None:
    """Plain Rally users get a sentence in the names of the track's parameters."""
    with pytest.raises(FileError, match=sentence):
        build(tracks.load_track("apache"), params, "paced")


def test_two_rates_are_refused_at_once() -> None:
    """./inv race says so before anything is started."""
    with pytest.raises(UsageError, match="target_throughput and event_period exclude each other"):
        tracks.check_parameters(tracks.load_track("apache"), {"target_throughput": 5, "event_period": 1})


@pytest.mark.parametrize("bad", [[], 7, [{"name": "x", "seconds": math.inf, "throughput": 1}], phases((1, -1))])
def test_impossible_phases(bad: Any) -> None:
    """Phases that cannot be run are refused, in the words of the challenge."""
    with pytest.raises(exceptions.InvalidSyntax, match="phase"):
        read_pace(bad)


def test_the_schedule_needs_its_documents() -> None:
    """Used with Rally's own parameter source the schedule would not know what is due."""
    paced = PacedSchedule(rally_track.Task("load", rally_track.Operation("load", "bulk")))
    with pytest.raises(exceptions.InvalidSyntax, match="'load' needs the parameter source 'paced-documents'"):
        paced.parameter_source = object()
    with pytest.raises(exceptions.RallyAssertionError, match="has not told"):
        paced.next(0)
