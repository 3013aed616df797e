"""Replays: which documents and queries are sent, when, by whom, and how late that is said to be."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from esrally.track import loader
from esrally.track import track as rally_track
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.replay_clock import LEAD, ReplayClock
from shared.replay_plan import bulk_beginnings
from shared.replay_source import ReplayDocuments, ReplaySchedule

from paddock import tracks
from paddock.errors import FileError, UsageError
from paddock.paths import TRACKS
from paddock.race import replay_check
from paddock.race.replay import read_replay
from tests.tracks import paced_race
from tests.tracks.lap_client import FakeElasticsearch
from tests.tracks.rendered import build
from tests.tracks.replayed import START, query_log, track, written

DOCUMENTS, QUERIES = "replay-documents", "replay-queries"


def lines_of(journal: Path, kind: str) -> list[dict[str, Any]]:
    """The lines of a journal of that kind."""
    found = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    return [line for line in found if line["kind"] == kind]


def numbers_in(index: FakeElasticsearch) -> list[int]:
    """The numbers of the documents in the order in which they arrived."""
    return [json.loads(line)["n"] for line in index.documents]


def processes(built: Any, clients: int, workers: int) -> list[list[tuple[float, list[int]]]]:
    """What each process of a load driver sends: when it is due, and the documents' numbers."""
    found = []
    task = paced_race.leaf(built, DOCUMENTS)
    task.clients = clients
    for worker in range(workers):
        source = loader.operation_parameters(built, task)
        ours = [source.partition(client, clients) for client in range(worker, clients, workers)]
        sent = []
        for client in itertools.cycle(ours):
            try:
                client.number = source.take()
            except StopIteration:
                break
            body = client.params()["body"].decode().splitlines()
            sent.append((source.due[client.number], [json.loads(line)["n"] for line in body[1::2]]))
        found.append(sent)
    return found


@given(
    times=st.lists(st.floats(0, 5), min_size=1, max_size=60),
    factor=st.sampled_from([0.5, 1, 60]),
    clients=st.integers(1, 9),
    workers=st.integers(1, 3),
    bulk=st.integers(1, 12),
    parts=st.sampled_from([1, 3, 10]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[*HealthCheck])
def test_every_document_once_when_it_is_due(
    tmp_path: Path, times: list[float], factor: float, clients: int, workers: int, bulk: int, parts: float
) -> None:
    """However many clients and processes there are: each once, in order, with the last of its bulk, in time."""
    params = {"replay_factor": factor, "bulk_size": bulk, "bulks_per_second": parts}
    built = track(tmp_path, [*times, 0.0015], **params)  # one time that is no whole second
    each = processes(built, clients, min(workers, clients))
    sent = [one for process in each for one in process]
    assert sorted(number for _, numbers in sent for number in numbers) == list(range(len(times) + 1))
    exact = [round(time * 1e6) // 1000 * 1000 for time in [*times, 0.0015]]
    origin = min(exact)
    seconds = [(one - origin) / factor / 1e6 for one in exact]
    for due, numbers in sent:
        assert len(numbers) <= bulk
        assert due == pytest.approx(max(seconds[number] for number in numbers))
        assert due - min(seconds[number] for number in numbers) <= 1 / parts + 1e-9
    for process in each:
        in_order = [seconds[number] for _, numbers in process for number in numbers]
        assert in_order == sorted(in_order)


@given(due=st.lists(st.floats(0, 100), min_size=1, max_size=80), most=st.integers(1, 7), parts=st.floats(0.01, 1000))
def test_bulks_have_all_documents_and_none_is_empty(due: list[float], most: int, parts: float) -> None:
    """Whatever the times are, as floating point makes them."""
    beginnings = bulk_beginnings(array("d", sorted(due)), most, parts)
    sizes = [end - begin for begin, end in itertools.pairwise(beginnings)]
    assert sum(sizes) == len(due)
    assert all(1 <= size <= most for size in sizes)


def test_documents_of_whole_seconds_are_spread_over_them(tmp_path: Path) -> None:
    """Four documents of one second come a quarter of a second apart, at 2 times the pace an eighth; in file order."""
    built = track(tmp_path, [0, 0, 3, 0, 0], replay_factor=2, bulk_size=1)
    (sent,) = processes(built, 1, 1)
    assert sent == [(0, [0]), (0.125, [1]), (0.25, [3]), (0.375, [4]), (1.5, [2])]
    with_fractions = track(tmp_path, [0, 0, 3.5, 0, 0], replay_factor=2, bulk_size=4)
    (sent,) = processes(with_fractions, 1, 1)
    assert sent == [(0, [0, 1, 3, 4]), (1.75, [2])]


def test_the_schedule_of_documents_and_queries_is_kept(tmp_path: Path) -> None:
    """Rally sends each in time, by its own clock, and counts latency from then; the journal has the same figures."""
    journal, log = tmp_path / "load.jsonl", query_log(tmp_path, [-1, 0.55, 2, 2.001, 99])
    times = [0, 0.01, 0.5, 1.2, 1.21, 1.22, 4.05]
    built = track(tmp_path, times, load_journal=str(journal), query_log=str(log), warmup_time_period=1)
    index, samples = paced_race.run(built, DOCUMENTS, beside=QUERIES)
    assert numbers_in(index) == list(range(7))
    bulks, queries = (lines_of(journal, kind) for kind in ("bulk", "query"))
    assert [(one["due"], one["first"], one["documents"]) for one in bulks] == [
        (0.01, 0, 2), (0.5, 0.5, 1), (1.22, 1.2, 3), (4.05, 4.05, 1)
    ]  # fmt: skip
    assert [one["due"] for one in queries] == [0.55, 2, 2.001]
    for one in (*bulks, *queries):
        assert one["sent"] == pytest.approx(one["due"], abs=1e-6)
    assert len(samples) == 7
    for sample in samples:
        assert 0 <= sample.latency < 0.02
    asked = [request for name, request in index.calls if name == "query"]
    assert [one["path"] for one in asked] == ["/paddock-apache/_search"] * 3
    (plan,) = lines_of(journal, "replay")
    assert (plan["documents"], plan["bulks"], plan["asked"]) == (7, 4, {"seconds": 1, "due": [3, 3, 0, 0, 1]})
    (asked_plan,) = lines_of(journal, "replay-queries")
    assert (asked_plan["queries"], asked_plan["left_out"], asked_plan["of_today"]) == (3, 2, 0)
    replay = read_replay(journal)
    assert replay is not None
    assert [(one.name, one.items) for one in replay.streams] == [("documents", 4), ("queries", 2)]
    assert [(one.name, one.items) for one in replay.warm_up] == [("documents", 3), ("queries", 1)]


@pytest.mark.parametrize(("body", "params"), [({"track_total_hits": False}, {}), ({}, {"track_total_hits": "false"})])
def test_hits_that_nobody_counted_are_not_known(tmp_path: Path, body: dict[str, Any], params: dict[str, Any]) -> None:
    """Rally says 0 of them, which would be taken for a query that finds nothing."""
    journal, log = tmp_path / "load.jsonl", query_log(tmp_path, [0.5, 0.6])
    first, second = (json.loads(line) for line in log.read_text().splitlines())
    first |= {"body": {**first["body"], **body}, "params": params}
    log.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    paced_race.run(track(tmp_path, [0, 1], load_journal=str(journal), query_log=str(log)), DOCUMENTS, beside=QUERIES)
    assert [one["hits"] is None for one in lines_of(journal, "query")] == [True, False]


class SlowSearches(FakeElasticsearch):
    """Answers the first search after 3 s, all others at once."""

    async def perform_request(self, method: str, path: str, params: Any, body: Any, headers: Any = None) -> Any:
        if body["size"] == 0:
            self.on_request_start()
            await asyncio.sleep(3)
        return await super().perform_request(method, path, params, body, headers)


@pytest.mark.parametrize(("clients", "late"), [(1, [3, 2.9, 2.8]), (2, [3, 0, 0])])
def test_a_slow_answer_delays_others_only_where_nobody_is_free(tmp_path: Path, clients: int, late: list[float]) -> None:
    """One client: what is due meanwhile is late by all that it waited. Two: the other one asks it in time."""
    journal, log = tmp_path / "load.jsonl", query_log(tmp_path, [0.1, 0.2, 0.3])
    params = {"load_journal": str(journal), "query_log": str(log), "replay_query_clients": clients}
    built = track(tmp_path, [0, 0.5], **params)
    _, samples = paced_race.run(built, DOCUMENTS, beside=QUERIES, index=SlowSearches())
    answers = sorted(lines_of(journal, "query"), key=lambda line: line["due"])
    assert [one["answered"] - one["due"] for one in answers] == pytest.approx(late, abs=0.01)
    latencies = sorted((sample.latency for sample in samples if sample.ops_unit == "ops"), reverse=True)
    assert latencies == pytest.approx(late, abs=0.01)
    replay = read_replay(journal)
    assert replay is not None
    assert replay.furthest == pytest.approx(max(one["sent"] - one["due"] for one in answers), abs=1e-6)
    assert (replay.furthest > 2) is (clients == 1)


def test_bulks_that_take_too_long_are_late_and_none_is_skipped(tmp_path: Path) -> None:
    """400 bulks a second to one client that manages 200: all are sent, and the last is a second late."""
    journal = tmp_path / "load.jsonl"
    params = {"bulk_indexing_clients": 1, "bulk_size": 1, "load_journal": str(journal)}
    built = track(tmp_path, [number / 400 for number in range(400)], **params)
    index, samples = paced_race.run(built, DOCUMENTS)
    assert numbers_in(index) == list(range(400))
    assert samples[-1].latency == pytest.approx(1, abs=0.1)
    replay = read_replay(journal)
    assert replay is not None
    assert replay.behind == pytest.approx(1, abs=0.1)
    assert replay.streams[0].service.maximum < 20
    assert replay.streams[0].latency.maximum == pytest.approx(1000, abs=100)


def test_a_part_of_the_log(tmp_path: Path) -> None:
    """From a time up to and without another, the wait before the first document included; or the file's beginning."""
    bounds = {"replay_from": "2026-01-05T20:00:01Z", "replay_until": "2026-01-05T21:00:03+01:00"}
    built = track(tmp_path, [0, 3, 2.5, 1.5, 2.999], **bounds)
    (sent,) = processes(built, 1, 1)
    assert sent == [(pytest.approx(0.5), [3]), (pytest.approx(1.5), [2]), (pytest.approx(1.999), [4])]
    assert paced_race.source(built, "settle").params()["expected"] == 3
    (sent,) = processes(track(tmp_path, [2, 1, 0.5], document_count=2, bulk_size=1), 1, 1)
    assert [numbers for _, numbers in sent] == [[1], [0]]


def test_refused_documents_are_counted(tmp_path: Path) -> None:
    """A bulk with refused documents says how many were indexed."""
    journal = tmp_path / "load.jsonl"
    built = track(tmp_path, [0, 0.5, 0.51], load_journal=str(journal), error_level="non-fatal")
    refused = [{"index": {"status": 201}}, {"index": {"status": 429, "error": {"reason": "full", "type": "x"}}}]
    paced_race.run(built, DOCUMENTS, lambda number, documents: refused if number == 2 else None)
    assert [(one["documents"], one["indexed"], one["success"]) for one in lines_of(journal, "bulk")] == [
        (1, 1, True),
        (2, 1, False),
    ]


def test_processes_agree_on_the_beginning() -> None:
    """Another process is told the same moment by the same clock, whoever asks first; it waits until it is decided."""
    ours = ReplayClock("secret of this test")
    ours.lead()
    program = (
        "from shared.replay_clock import ReplayClock; clock = ReplayClock('secret of this test');"
        "print(clock.began, clock.began_at)"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=TRACKS, stdout=subprocess.PIPE, text=True) as other:
        began, began_at = ours.began, ours.began_at
        told = other.communicate(timeout=60)[0].split()
    assert [float(one) for one in told] == [began, began_at]
    assert ours.began == began


def test_the_beginning_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the process that has the first client; a race's sources in one process share one clock."""
    clock = ReplayClock.of("another secret")
    assert ReplayClock.of("another secret") is clock
    clock.lead()
    monkeypatch.setattr("time.perf_counter", lambda: 5.0)
    assert clock.began == 5.0 + LEAD == 5.0 + replay_check.LEAD
    monkeypatch.setattr("time.perf_counter", lambda: 9.0)
    assert clock.began == 5.0 + LEAD


def test_without_a_first_client_nothing_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """On another machine nobody answers, and a sentence says so."""
    monkeypatch.setattr("shared.replay_clock.PATIENCE", 0.2)
    with pytest.raises(exceptions.RallyAssertionError, match="race it with one load driver host"):
        _ = ReplayClock("nobody knows it").began


def test_test_mode_is_short(tmp_path: Path) -> None:
    """Rally's test mode has 1,000 documents of whatever time: they are sent in some seconds, with a few queries."""
    log = query_log(tmp_path, [-5, 1, 10**7])
    built = paced_race.built("apache", "replay", {"query_log": str(log)}, test_mode=True)
    path = written(tmp_path, [number * 60.5 for number in range(1000)])
    built.corpora[0].documents[0].document_file = str(path)
    source = paced_race.source(built, DOCUMENTS)
    assert source.due[-1] == pytest.approx(5)
    queries = paced_race.source(built, QUERIES)
    assert len(queries.due) == 3
    assert 0 <= queries.due[0] <= queries.due[-1] <= 5


@pytest.mark.parametrize(
    ("times", "params", "sentence"),
    [
        (
            [1, 2],
            {"replay_from": "2027-01-01"},
            "No document of archive.json is from 2027-01-01 to its end: its times are ",
        ),
        ([1, 2], {"queries": [5]}, "None of the 1 queries of the query log was asked while the documents were logged"),
    ],
)
def test_a_replay_of_nothing_is_refused(
    tmp_path: Path, times: Sequence[float], params: dict[str, Any], sentence: str
) -> None:
    """Before anything is sent, with the times that there are."""
    if "queries" in params:
        params = {"query_log": str(query_log(tmp_path, params["queries"]))}
    built = track(tmp_path, times, **params)
    with pytest.raises(exceptions.RallyError, match=sentence):
        paced_race.run(built, DOCUMENTS, beside=QUERIES if "query_log" in params else None)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"replay_factor": 0}, "replay_factor must be above 0"),
        ({"replay_from": "then"}, "replay_from must be a time such as 2026-01-05T20:00:00Z, but is 'then'"),
        ({"replay_until": "2026-02-30"}, "replay_until must be a time"),
        ({"replay_from": "2026-01-02", "replay_until": "2026-01-01"}, "must be before replay_until"),
        ({"proof": "some"}, "proof must be all or sample or none"),
        ({"proof_documents": 0}, "proof_documents must be a whole number"),
        ({"failed_proof": "ignore"}, "failed_proof must be abort or report"),
        ({"bulk_size": 0}, "bulk-size must be above 0"),
        ({"load_journal": "load.jsonl"}, "load_journal must be an absolute path"),
        ({"query_log": "queries.jsonl"}, "query_log must be an absolute path"),
    ],
)
def test_nonsense_is_refused_before_a_race(params: dict[str, Any], sentence: str) -> None:
    """Plain Rally users get a sentence in the names of the track's parameters."""
    with pytest.raises(FileError, match=sentence):
        build(tracks.load_track("apache"), params, "replay")


def test_a_broken_query_log_is_named_as_a_file_with_its_line(tmp_path: Path) -> None:
    """Not as a mistake of the track."""
    path = tmp_path / "queries.jsonl"
    path.write_text("{}\n")
    with pytest.raises(FileError) as raised:
        build(tracks.load_track("apache"), {"query_log": str(path)}, "replay")
    assert (raised.value.path, raised.value.line) == (path, 1)


def test_a_factor_of_zero_is_refused_at_once() -> None:
    """./inv race says so before anything is started."""
    with pytest.raises(UsageError, match="replay_factor must be more than 0"):
        tracks.check_parameters(tracks.load_track("apache"), {"replay_factor": 0})


@pytest.mark.parametrize("name", tracks.track_names())
def test_every_track_can_be_replayed(name: str) -> None:
    """With and without queries, with and without a proof; only what no proof counts is counted by settle."""
    plain = paced_race.built(name, "replay", {})
    tasks = [leaf.name for entry in plain.selected_challenge.schedule for leaf in entry]
    assert tasks == ["fresh-index", DOCUMENTS, "settle", "restore-proof"]
    unproved = paced_race.built(name, "replay", {"proof": "none"})
    assert [leaf.name for entry in unproved.selected_challenge.schedule for leaf in entry] == tasks[:3]
    enforced = [paced_race.leaf(one, "settle").operation.params["enforce"] for one in (plain, unproved)]
    assert enforced == [False, True]


def test_a_data_stream_is_only_appended_to(tmp_path: Path) -> None:
    """Its bulks create documents, and its queries ask the stream."""
    built = track(tmp_path, [0], data_stream=True, query_log=str(query_log(tmp_path, [0])))
    source = paced_race.source(built, DOCUMENTS)
    assert source.due
    assert source.request(0)["body"].startswith(b'{"create":{"_index":"paddock-apache-stream"}}\n')
    queries = paced_race.source(built, QUERIES)
    assert queries.due
    assert queries.request(0)["index"] == "paddock-apache-stream"


def test_the_schedule_needs_its_source() -> None:
    """Used with Rally's own parameter source the schedule would not know what is due."""
    schedule = ReplaySchedule(rally_track.Task("load", rally_track.Operation("load", "bulk")))
    with pytest.raises(exceptions.InvalidSyntax, match="'load' needs the parameter source 'replay-documents'"):
        schedule.parameter_source = object()
    with pytest.raises(exceptions.RallyAssertionError, match="has not told"):
        schedule.next(0)


def test_several_files_have_no_order(tmp_path: Path) -> None:
    """A track with two files of documents is refused."""
    built = track(tmp_path, [0])
    built.corpora[0].documents.append(built.corpora[0].documents[0])
    params = paced_race.leaf(built, DOCUMENTS).operation.params
    with pytest.raises(exceptions.InvalidSyntax, match="has 2 files of documents, and a replay takes one"):
        ReplayDocuments(built, params)


def test_times_are_absolute(tmp_path: Path) -> None:
    """The archive knows when its documents were logged."""
    source = paced_race.source(track(tmp_path, [1, 2]), DOCUMENTS)
    assert (source.archive.origin, source.archive.last) == (START + 1_000_000, START + 2_999_999)


def test_the_plan_counts_the_queries_that_ask_of_today(tmp_path: Path) -> None:
    """Of those that are sent."""
    body = {"query": {"query_string": {"query": "t:[now-1h TO now]"}}}
    log = query_log(tmp_path, [0.5, 1, 60], body=body)
    source = paced_race.source(track(tmp_path, [0, 2], query_log=str(log)), QUERIES)
    source.partition(0, 1)
    assert (source.plan()["of_today"], source.plan()["left_out"]) == (2, 1)
