"""A replay's journal: quantiles over documents and not over bulks, what was asked and reached, the proof in words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.race.load import read_load
from paddock.race.replay import Replay, lateness, read_replay
from paddock.race.replay_sentences import decisions, render_replay, told
from paddock.reports.replay import replay_headline

PLAN = {
    "kind": "replay",
    "began": 1000.0,
    "from": "2026-01-05T20:00:00.000Z",
    "until": "2026-01-05T20:05:00.000Z",
    "factor": 60,
    "documents": 1000,
    "without_time": 2,
    "disordered": 3,
    "whole_seconds": True,
    "bulks": 4,
    "clients": 8,
    "warmup_seconds": 1,
    "seconds": 4.5,
    "asked": {"seconds": 1, "due": [100, 0, 100, 700, 100]},
}
ASKED = {"kind": "replay-queries", "began": 1000.002, "queries": 3, "left_out": 1, "clients": 8}
ASKED |= {"asked": {"seconds": 1, "due": [1, 0, 0, 0, 2]}}
PROOF: dict[str, Any] = {
    "kind": "proof",
    "mode": "all",
    "documents": 1000,
    "counted": 1000,
    "compared": 1000,
    "missing": 0,
    "changed": 0,
    "unexpected": 0,
    "fields": {},
    "examples": [],
    "parts": [],
    "stopped": False,
    "seconds": 2.5,
    "passed": True,
    "problem": None,
}


def bulk(due: float, sent: float, answered: float, documents: int, indexed: int | None = None) -> dict[str, Any]:
    """A line of the journal."""
    times = {"due": due, "sent": sent, "answered": answered, "first": due, "took": 3}
    done = documents if indexed is None else indexed
    return {"kind": "bulk", "began": 1000.001, "documents": documents, "indexed": done, "success": True, **times}


def query(name: str, due: float, sent: float, answered: float, **more: Any) -> dict[str, Any]:
    """The same of a query."""
    times = {"due": due, "sent": sent, "answered": answered}
    return {"kind": "query", "began": 1000.0, "name": name, "line": 1, "success": True, **times, **more}


LINES = [
    PLAN,
    ASKED,
    bulk(0.5, 0.5, 0.6, 100),
    bulk(2.0, 2.0, 2.010, 100),
    bulk(3.0, 3.0, 3.030, 700),
    bulk(4.5, 4.6, 4.9, 100, 90),
    query("a", 0.9, 0.9, 0.95),
    query("a", 4.0, 4.0, 4.002, recorded_ms=7),
    query("b", 4.1, 5.1, 6.1, recorded_ms=9),
    PROOF,
]


def read(folder: Path, lines: list[dict[str, Any]]) -> Replay:
    """What is read of a journal with these lines."""
    path = folder / "load.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"kind": "bulk", "beg', encoding="utf-8")
    found = read_replay(path)
    assert found is not None
    assert read_load(path) is None
    return found


def test_what_a_journal_comes_to(tmp_path: Path) -> None:
    """Worked out by hand: 900 documents after the warm-up, of which 700 were 30 ms late and 100 400 ms."""
    found = read(tmp_path, LINES)
    documents, queries, first, second = found.streams
    assert (documents.items, documents.requests, documents.failed) == (900, 3, 10)
    latency = (documents.latency.p50, documents.latency.p95, documents.latency.p99, documents.latency.maximum)
    assert latency == pytest.approx((30, 400, 400, 400))
    assert (documents.delay.p50, documents.delay.maximum) == pytest.approx((0, 100))
    assert documents.service.maximum == pytest.approx(300)
    assert (queries.items, first.name, first.items, second.name, second.items) == (2, "a", 1, "b", 1)
    assert (queries.latency.p50, queries.latency.maximum) == pytest.approx((2, 2000))
    assert queries.recorded is not None
    assert queries.recorded.maximum == 9
    assert [(one.name, one.items) for one in found.warm_up] == [("documents", 100), ("queries", 1)]
    assert (found.answered, found.indexed, found.furthest) == (1000, 990, pytest.approx(1.0))
    assert (found.due, found.ended, found.behind) == (4.5, 6.1, pytest.approx(1.6))
    assert [(one.asked, one.reached) for one in found.documents] == [
        (100, 100),
        (0, 0),
        (100, 100),
        (700, 700),
        (100, 90),
    ]
    assert [(one.asked, one.reached) for one in found.queries] == [(1, 1), *[(0, 0)] * 3, (2, 1), (0, 0), (0, 1)]
    assert found.queries[4].latest == pytest.approx(2000)


def test_only_the_last_race_of_a_journal_counts(tmp_path: Path) -> None:
    """Whoever names one journal for several races gets the figures of the last one, and not the proof of another."""
    earlier = [
        {**line, "began": 1.0} if "began" in line else {**line, "problem": "failed", "passed": False} for line in LINES
    ]
    assert read(tmp_path, [*earlier, *LINES]) == read(tmp_path, LINES)
    assert read(tmp_path, [*earlier, *LINES[:-1]]).proof is None


def test_lines_that_came_before_the_plan_count(tmp_path: Path) -> None:
    """Another process may be the first to write."""
    assert read(tmp_path, [LINES[1], LINES[6], LINES[0], *LINES[2:6], *LINES[7:]]) == read(tmp_path, LINES)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 20)), min_size=1, max_size=30))
def test_quantiles_are_those_of_single_documents(bulks: list[tuple[float, int]]) -> None:
    """As if each document had a line of its own: the smallest value that is not exceeded by enough of them."""
    found = lateness([late for late, _ in bulks], [documents for _, documents in bulks])
    each = sorted(late for late, documents in bulks for _ in range(documents))
    for share, value in ((50, found.p50), (95, found.p95), (99, found.p99), (100, found.maximum)):
        assert value == each[math.ceil(share * len(each) / 100) - 1]


def test_what_was_decided_is_told(tmp_path: Path) -> None:
    """Each in a sentence; nothing where nothing had to be."""
    assert len(decisions(read(tmp_path, LINES))) == 4
    told_of_today = decisions(read(tmp_path, [PLAN, {**ASKED, "of_today": 2}, *LINES[2:]]))
    assert any(one.startswith("2 queries have 'now'") for one in told_of_today)
    some = [query("a", 4.0, 4.0, 4.1, hits=0, recorded_hits=7), query("b", 4.1, 4.1, 4.2, hits=3, recorded_hits=9)]
    (lost,) = (one for one in decisions(read(tmp_path, [*LINES[:6], *some])) if "found nothing" in one)
    assert lost.startswith("1 of 2 queries found nothing here and had found documents when they were recorded (a):")
    nobody_knows = [query("a", 4.0, 4.0, 4.1, hits=0), query("b", 4.1, 4.1, 4.2, hits=None)]
    told_of_all = decisions(read(tmp_path, [*LINES[:6], *nobody_knows]))
    assert any(one.startswith("None of the 1 queries found anything") for one in told_of_all)
    plain = {**PLAN, "without_time": 0, "disordered": 0, "whole_seconds": False}
    assert decisions(read(tmp_path, [plain, *LINES[2:6]])) == []


def test_a_terminal_shows_the_replay_and_its_proof(tmp_path: Path) -> None:
    """Lines no wider than the terminal, with the rates, the latencies and the proof's figures."""
    text = render_replay(read(tmp_path, LINES), 80)
    assert max(map(len, text.splitlines())) <= 80
    for part in ("p99 400", "1.00 s at most when sending", "1,000 of 1,000 documents, 990 indexed", "proof passed"):
        assert part in " ".join(text.split()), text
    names = [name for name, _ in told(read(tmp_path, LINES))]
    assert names[:5] == ["replayed", "sent", "rate asked", "rate reached", "behind"]


def test_queries_may_have_the_names_of_streams(tmp_path: Path) -> None:
    """One that is called "queries" is not counted twice, nor taken for all of them; nor is "documents"."""
    renamed = {"a": "queries", "b": "documents"}
    lines = [{**line, "name": renamed[line["name"]]} if "name" in line else line for line in LINES]
    found = read(tmp_path, lines)
    assert [(one.kind, one.name, one.items) for one in found.streams] == [
        ("documents", "documents", 900),
        ("queries", "queries", 2),
        ("named", "documents", 1),
        ("named", "queries", 1),
    ]
    facts = told(found)
    assert ("sent", "1,000 of 1,000 documents, 990 indexed; 3 of 3 queries") in facts
    assert len({name for name, _ in facts if name.startswith("latency of")}) == 4
    assert len(list(replay_headline(found))) == 3  # documents, queries, and the proof


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "The restore proof passed: 1,000 documents were sent and are in the index, and each of them reads back"),
        (
            {"sampled": 300},
            "300 of them, drawn at random, read back as they were sent, so at most 0.99 % of all differ",
        ),
        ({"sampled": 1}, "1 of them, drawn at random, read back as they were sent, so at most 95.0 % of all differ"),
        (
            {"sampled": 300, "undated": 700},
            "so at most 0.99 % of those that have a time differ, with 95 % confidence; 700 more that were drawn",
        ),
        ({"sampled": 0, "undated": 5}, "0 of them, drawn at random, read back as they were sent, so at most 100 % of"),
        ({"sampled": 1000}, "1,000 of them, drawn at random, read back as they were sent, which are all"),
        ({"problem": "The restore proof failed: it did."}, "The restore proof failed: it did."),
    ],
)
def test_the_proof_in_words(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    """What a sample proves is said with it."""
    proof = read(tmp_path, [*LINES[:-1], {**PROOF, **changes}]).proof
    assert proof is not None
    assert sentence in proof.sentence


def test_no_journal_is_no_replay(tmp_path: Path) -> None:
    """Nor is the journal of a paced load."""
    assert read_replay(tmp_path / "missing") is None
    (tmp_path / "load.jsonl").write_text('{"kind": "schedule", "began": 5}\n')
    assert read_replay(tmp_path / "load.jsonl") is None
