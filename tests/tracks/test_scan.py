"""Scans and questions of the challenge log-queries: all ways give the same answer, which is the right one."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from esrally.track import track as rally_track
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.log_queries import LATEST, PER_15_MINUTES, QUERIES, TEXT_COUNT, TEXT_HITS, Asked, AskIndex, LogQueryPlan
from shared.scan import WAYS, RunScan, ScanPlan, check_programs, scan, scan_answer
from shared.scan_files import scanned_files

from paddock import tracks
from tests.tracks import paced_race
from tests.tracks.lap_client import FakeElasticsearch

STEPS = {"growth-steps": [1, 2], "growth-step": 2}
ASKED = {"text": "ERROR", "field": "level", "values": ["ERROR", "FATAL (1)"], "shown": ["@timestamp", "message"]}


def corpus(folder: Path, documents: list[dict[str, Any]], actions: bool = False) -> Any:
    """A Rally track with these documents."""
    action = '{"index":{}}\n' if actions else ""
    file = folder / "logs.json"
    lines = (f"{action}{json.dumps(one, separators=(',', ':'), ensure_ascii=False)}\n" for one in documents)
    file.write_text("".join(lines), encoding="utf-8")
    found = rally_track.Documents(
        "bulk", str(file), includes_action_and_meta_data=actions, number_of_documents=len(documents), target_index="x"
    )
    return rally_track.Track("logs", corpora=[rally_track.DocumentCorpus("logs", [found])])


def document(minute: int, level: str, message: str, field: str = "level") -> dict[str, Any]:
    """A log event; the field of its level may have dots."""
    time = f"2026-01-05T{minute // 60:02d}:{minute % 60:02d}:01.5Z"
    return {"@timestamp": time, field: level, "message": message, "source": {"file": "a.java"}}


LEVELS = st.sampled_from(["INFO", "ERROR", "FATAL (1)", "FATAL 1"])
MESSAGES = st.sampled_from(
    ["all well", "an ERROR in here", 'quoted "ERROR"', "no error", "ERRORS", '"level":"ERROR"', ""]
)


def answers(track: Any, params: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """What every way answers to every question."""
    found = {}
    for query in QUERIES:
        for way in WAYS:
            plan = ScanPlan(track, {**STEPS, "query": query, "way": way, "warmup-iterations": 0, **params})
            found[query, way] = scan_answer(query, scan(plan.command).output)
    return found


@given(
    told=st.lists(st.tuples(LEVELS, MESSAGES), min_size=2, max_size=60), field=st.sampled_from(["level", "log.level"])
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_scans_find_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, str]], field: str
) -> None:
    """Zgrep's pipes and the program find the documents that a look at each of them finds, newest first."""
    made = [document(7 * number, level, message, field) for number, (level, message) in enumerate(told)]
    found = answers(corpus(tmp_path_factory.mktemp("scan"), made), {**ASKED, "field": field})
    texts = [one["@timestamp"] for one in reversed(made) if "ERROR" in one["message"] + one[field]]
    errors = [one["@timestamp"] for one in reversed(made) if one[field] in ASKED["values"]]
    # A message may hold what looks like a field to grep: in JSON its quotes are escaped, so it is not taken for one.
    quarters = Counter(f"{time[:14]}{int(time[14:16]) // 15 * 15:02d}" for time in errors)
    for way in WAYS:
        assert found[TEXT_COUNT, way].number == len(texts)
        assert found[TEXT_HITS, way].items == tuple(texts)
        assert found[LATEST, way].items == tuple(errors[:25])
        assert found[PER_15_MINUTES, way].items == tuple(sorted(f"{at} {number}" for at, number in quarters.items()))
        assert found[PER_15_MINUTES, way].number == len(errors)


def test_numbers_are_told_apart_from_longer_ones(tmp_path: Path) -> None:
    """A status of 500 is no 5000, wherever it stands in the document; without a field the text alone decides."""
    made = [
        {"@timestamp": f"2026-01-05T00:00:0{number}Z", "status": status, "message": "ERROR" if number == 0 else ""}
        for number, status in enumerate((500, 5000, 200, 500))
    ]
    made.append({"@timestamp": "2026-01-05T00:00:09Z", "message": "", "status": 500})
    track = corpus(tmp_path, made)
    found = answers(track, {**ASKED, "field": "status", "values": [500]})
    assert {found[LATEST, way].number for way in WAYS} == {3}
    found = answers(track, {**ASKED, "field": ""})
    assert {found[query, way].number for query in QUERIES for way in WAYS} == {1}


def test_values_in_lists_and_other_numbers_are_found_as_an_index_finds_them(tmp_path: Path) -> None:
    """By the program that parses: any of a list, 500.0 as 500, and nothing of an object."""
    made = [
        {"@timestamp": f"2026-01-05T00:00:0{number}Z", "message": "", "status": status}
        for number, status in enumerate(([200, [500]], 500.0, {"status": 500}, [], None, [501]))
    ]
    found = answers(corpus(tmp_path, made), {**ASKED, "field": "status", "values": [500]})
    assert found[LATEST, "json"].items == ("2026-01-05T00:00:01Z", "2026-01-05T00:00:00Z")


@pytest.mark.parametrize("actions", [False, True])
def test_files_hold_the_documents_of_their_steps(tmp_path: Path, actions: bool) -> None:
    """Each step is a file of its own, made once; a new corpus or other steps take their place."""
    made = [document(number, "INFO", str(number)) for number in range(10)]
    track = corpus(tmp_path, made, actions)
    (first,) = scanned_files(track, [4, 10], 4)
    both = scanned_files(track, [4, 10], 10)
    assert both[0] == first
    read = [[json.loads(line) for line in gzip.decompress(one.path.read_bytes()).splitlines()] for one in both]
    assert read == [made[:4], made[4:]]
    assert sum(one.raw_bytes for one in both) == sum(len(json.dumps(one, separators=(",", ":"))) + 1 for one in made)
    before = first.path.stat().st_mtime_ns
    assert scanned_files(track, [4, 10], 10) == both
    assert first.path.stat().st_mtime_ns == before
    (first.path.parent / "half.unfinished").write_bytes(b"")
    (whole,) = scanned_files(track, [10], 10)
    assert [path.name for path in whole.path.parent.iterdir()] == [whole.path.name]
    again = corpus(tmp_path, list(reversed(made)), actions)
    (anew,) = scanned_files(again, [10], 10)
    assert json.loads(gzip.decompress(anew.path.read_bytes()).splitlines()[0]) == made[-1]


def test_what_cannot_be_scanned_is_said(tmp_path: Path) -> None:
    """A compressed corpus, a missing program, a scan that fails, and nonsense: a sentence each."""
    track = corpus(tmp_path, [document(1, "INFO", "x")] * 3)
    track.corpora[0].documents[0].document_file += ".zst"
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"logs\.json\.zst is compressed.*corpus_file"):
        scanned_files(track, [3], 3)
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"cannot be made in .*No such file"):
        track.corpora[0].documents[0].document_file = str(tmp_path / "gone" / "logs.json")
        scanned_files(track, [3], 3)
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match=r'no-such-zgrep is not on the PATH.*scan_ways:\["json"\]'
    ):
        check_programs(["sh", "no-such-zgrep"])
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"x" * 99999)[:30])
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"scan by sh has failed: .*unexpected end of file"):
        scan(["sh", "-c", 'zgrep -h "$@" | tac', "sh", "x", str(broken)])
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"no-such-program cannot be run"):
        scan(["no-such-program"])
    with pytest.raises(exceptions.InvalidSyntax, match="scan_ways may name zgrep and json, but has 'jq'"):
        ScanPlan(track, {**STEPS, **ASKED, "query": LATEST, "way": "jq"})


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"text": ""}, "log_query_text must be a word"),
        ({"text": "a\nb"}, "in one line"),
        ({"values": []}, "log_query_values must be a JSON list of the values that 'level' has in errors"),
        ({"values": "ERROR"}, "JSON list"),
        ({"values": [None]}, "JSON list"),
        ({"field": 5}, "JSON list"),
    ],
)
def test_nonsense_is_refused(changed: dict[str, Any], sentence: str) -> None:
    """In the names of the track's parameters."""
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        Asked.of({**ASKED, **changed})


class Answering(FakeElasticsearch):
    """An index that gives its hits in pages of two."""

    def __init__(self, times: list[str]):
        super().__init__()
        self.times, self.scrolled = times, 0
        self.cleared: list[str] = []

    def return_raw_response(self) -> None:  # type: ignore[override]
        pass

    async def clear_scroll(self, scroll_id: str) -> None:
        await self._called("clear_scroll")
        self.cleared.append(scroll_id)

    async def perform_request(self, method: str, path: str, params: Any, body: Any, headers: Any = None) -> Any:
        await self._called("perform_request", path=path, body=body)
        if "aggs" in body:
            found: dict[str, Any] = {
                "aggregations": {"quarters": {"buckets": [{"key_as_string": "q", "doc_count": 3}]}}
            }
        else:
            page = self.times[self.scrolled : self.scrolled + 2] if body.get("size") != 0 else []
            self.scrolled += 2
            hits = [{"_source": {"@timestamp": one}} for one in page]
            found = {"hits": {"total": {"value": len(self.times)}, "hits": hits}}
        text = {"_scroll_id": "an-id=="} if (params and "scroll" in params) or "scroll" in path else {}
        whole = {**text, "timed_out": False, "_shards": {"failed": 0}, **found}
        return io.BytesIO(json.dumps(whole, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    ("query", "number", "items"), [(TEXT_COUNT, 5, 0), (TEXT_HITS, 5, 5), (LATEST, 2, 2), (PER_15_MINUTES, 3, 1)]
)
def test_an_index_is_asked_and_the_journal_says_what_came(tmp_path: Path, query: str, number: int, items: int) -> None:
    """All pages of all hits, the scroll closed; warm-up is marked, and the first line tells races apart."""
    journal, client = tmp_path / "load.jsonl", Answering(["e", "d", "c", "b", "a"])
    params = {**STEPS, **ASKED, "growth-step": 1, "query": query, "warmup-iterations": 1, "journal": str(journal)}
    plan = LogQueryPlan(
        corpus(tmp_path, [document(1, "INFO", "x")] * 4), {**params, "index": "x", "request-timeout": 60}
    )

    async def ask() -> None:
        for _ in range(2):
            client.scrolled = 0
            with client.new_request_context():
                assert (await AskIndex()(client, plan.params()))["hits"] == number

    asyncio.run(ask())
    begin, *lines = [json.loads(line) for line in journal.read_text().splitlines()]
    if query == TEXT_COUNT:
        assert begin["kind"] == "log-queries"
    else:
        lines.insert(0, begin)
    assert [(one["warm_up"], one["number"], one["items"], one["documents"]) for one in lines] == [
        (True, number, items, 2),
        (False, number, items, 2),
    ]
    assert client.cleared == (["an-id=="] * 2 if query == TEXT_HITS else [])


def test_a_scan_is_journalled_with_what_it_read(tmp_path: Path) -> None:
    """Time and processor time of the processes, bytes of the files, and the answer."""
    journal = tmp_path / "load.jsonl"
    params = {**STEPS, **ASKED, "query": LATEST, "way": "zgrep", "warmup-iterations": 0, "journal": str(journal)}
    plan = ScanPlan(corpus(tmp_path, [document(one, "ERROR", "x") for one in range(30)]), params)
    client = FakeElasticsearch()

    async def run() -> None:
        with client.new_request_context() as context:
            await RunScan()(client, plan.params())
            assert context.request_end > context.request_start

    asyncio.run(run())
    (line,) = [json.loads(one) for one in journal.read_text().splitlines()]
    assert (line["way"], line["number"], line["documents"], line["warm_up"]) == ("zgrep", 25, 30, False)
    assert line["seconds"] > 0
    assert line["cpu_seconds"] > 0
    assert line["read_bytes"] == sum(one.path.stat().st_size for one in plan.files)
    assert line["raw_bytes"] == (tmp_path / "logs.json").stat().st_size


@pytest.mark.parametrize("name", tracks.track_names())
def test_every_track_asks_the_four_questions_in_every_way(name: str) -> None:
    """At each size a load, then each question in every way; the fields are those of the mapping."""
    built = paced_race.built(name, "log-queries", {"growth_steps": [1, 4]})
    names = [leaf.name for entry in built.selected_challenge.schedule for leaf in entry]
    asked = [f"{query}-by-{way}" for way in ("index", "zgrep", "json") for query in QUERIES]
    steps = [[f"bulk-to-{step}x", f"settle-at-{step}x", *(f"{one}-at-{step}x" for one in asked)] for step in (1, 4)]
    assert names == ["fresh-index", *steps[0], *steps[1]]
    task = paced_race.leaf(built, "latest-25-by-zgrep-at-4x")
    assert (task.warmup_iterations, task.iterations, task.clients) == (1, 6, 1)
    plan = paced_race.source(built, "latest-25-by-index-at-4x")
    assert plan.asked.shown[0] == "@timestamp"
    mapped = json.dumps(built.indices[0].body)
    assert all(f'"{one.rpartition(".")[2]}"' in mapped for one in plan.asked.shown)


def test_the_parameters_say_what_is_asked() -> None:
    """Words, field and values of one's own logs; the scans that are asked for, as often."""
    mine = {"log_query_text": "timed out", "log_query_field": "", "scan_ways": ["json"], "scan_iterations": 2}
    built = paced_race.built("syslog", "log-queries", mine)
    plan = paced_race.source(built, "latest-25-by-index-at-8x")
    assert (plan.asked.text, plan.asked.field) == ("timed out", None)
    scans = [leaf for entry in built.selected_challenge.schedule for leaf in entry if "scan" in leaf.tags]
    assert {(leaf.operation.params["way"], leaf.iterations) for leaf in scans} == {("json", 2)}
