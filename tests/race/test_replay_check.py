"""What is wrong with a replay is said before anything is started, by ./inv race as by its --dry-run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paddock.corpora.record import (
    FROM_IMPORT,
    CorpusRecord,
    Provenance,
    companion_files,
    corpus_file,
    finish_corpus,
    first_thousand_file,
    times_file,
    unfinished,
)
from paddock.corpora.writer import Written
from paddock.errors import FileError, UsageError
from paddock.race import RaceOptions
from paddock.race.replay_check import check_replay, with_query_log
from paddock.tracks import load_track

TRACK = load_track("apache")
REPLAY = next(one for one in TRACK.challenges if one.name == "replay")
OTHER = next(one for one in TRACK.challenges if one.name == "ingest")


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CorpusRecord:
    """Two hours of a log, a document a second but for the last."""
    monkeypatch.setenv("RALLY_HOME", str(tmp_path))
    lines = [
        f'{{"@timestamp":"2026-01-05T{20 + n // 3600}:{n // 60 % 60:02d}:{n % 60:02d}.5Z"}}\n' for n in range(7200)
    ]
    data = "".join(lines).encode()
    with unfinished("apache") as temporary:
        temporary.write_bytes(data)
        written = Written(documents=len(lines), bytes=len(data), sha256="0" * 64, line_offsets=[])
        return finish_corpus(
            temporary, written, corpus_file("apache", "two-hours", 7200), Provenance("two-hours", "apache", FROM_IMPORT)
        )


def parameters(record: CorpusRecord, **more: Any) -> dict[str, Any]:
    """Track parameters that name the corpus."""
    return {"corpus_file": record.file.name, "corpus_documents": record.documents, "corpus_bytes": record.bytes, **more}


def test_a_replay_is_said_to_take_as_long_as_it_does(corpus: CorpusRecord, tmp_path: Path) -> None:
    """At its factor, or in test mode as fast as to end soon; with the queries that were asked within it."""
    log = tmp_path / "queries.jsonl"
    log.write_text("".join(json.dumps({"at": f"2026-01-05T{hour}:00:00Z", "body": {}}) + "\n" for hour in (19, 20, 21)))
    params = parameters(corpus, replay_factor=60, query_log=str(log))
    said = check_replay(TRACK, REPLAY, params, False, corpus)
    assert said is not None
    assert said.startswith("The replay of 7,200 documents and 1 query takes 120 s, 60 times as fast")
    short = check_replay(TRACK, REPLAY, parameters(corpus), True, corpus)
    assert short is not None
    assert short.startswith("The replay of 1,000 documents takes 5 s")
    assert times_file(first_thousand_file(corpus.file)).exists()
    assert {times_file(corpus.file), times_file(first_thousand_file(corpus.file))} <= set(companion_files(corpus.file))


def test_queries_that_ask_of_today_are_told(corpus: CorpusRecord, tmp_path: Path) -> None:
    """Before the race, with the line of the first one; those that are left out do not count."""
    log, today = tmp_path / "queries.jsonl", {"query": {"query_string": {"query": "t:[now-1h TO now]"}}}
    asked = (("20", {}), ("19", today), ("20", today), ("21", today))
    log.write_text("".join(json.dumps({"at": f"2026-01-05T{at}:30:00Z", "body": body}) + "\n" for at, body in asked))
    said = check_replay(TRACK, REPLAY, parameters(corpus, query_log=str(log)), False, corpus)
    assert said is not None
    assert "2 queries have 'now' where it cannot be replaced" in said
    assert "(the first in line 3 of the query log)" in said


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"replay_from": "soon"}, r"^replay_from must be a time such as 2026-01-05T20:00:00Z, but is 'soon'"),
        (
            {"replay_from": "2026-01-05T22:00:00Z"},
            r"^No document of two-hours-7200.json is from 2026-01-05T22:00:00Z to its",
        ),
        (
            {"replay_from": "2025-01-05T20:00:00Z"},
            r"^The replay would wait for 36\d days until the first document is due, because replay_from is so long",
        ),
    ],
)
def test_a_replay_of_nothing_is_refused(corpus: CorpusRecord, params: dict[str, Any], sentence: str) -> None:
    """In a sentence about what the user wrote."""
    with pytest.raises(UsageError, match=sentence):
        check_replay(TRACK, REPLAY, parameters(corpus, **params), False, corpus)


def test_a_query_log_is_read_before_the_corpus_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named from where the user is; a mistake in it has its line."""
    monkeypatch.chdir(tmp_path)
    Path("queries.jsonl").write_text("\n{}\n")
    options = with_query_log(RaceOptions(params={"query_log": "queries.jsonl"}))
    assert options.params == {"query_log": str(tmp_path / "queries.jsonl")}
    with pytest.raises(FileError, match=r"queries\.jsonl:2: the key 'at' is missing"):
        check_replay(TRACK, REPLAY, options.params, False, None)
    assert with_query_log(RaceOptions()).params == {}


def test_other_challenges_are_not_looked_at(corpus: CorpusRecord) -> None:
    """Nothing is said of them, and nothing read."""
    assert check_replay(TRACK, OTHER, {"query_log": "/nowhere"}, False, corpus) is None
    assert not times_file(corpus.file).exists()
