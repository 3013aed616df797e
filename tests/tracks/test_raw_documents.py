"""Documents before they are parsed: lines as Apache writes them, and the files that laps send in the corpus's place."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from esrally import exceptions
from esrally.utils import io
from shared.lap_parsing import read_pipelines
from shared.raw_documents import RawDocuments, as_sent, make_raw_file, raw_file
from shared.raw_forms import FORMS, access_line, raw_documents

from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe
from paddock.imports.formats import expressions

REQUEST: dict[str, Any] = {
    "@timestamp": "2026-01-05T15:31:44.126Z",
    "clientip": "2001:db8::1",
    "method": "GET",
    "path": "/a",
    "status": 200,
    "http_version": "1.1",
}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, '2001:db8::1 - - [05/Jan/2026:15:31:44.126 +0000] "GET /a HTTP/1.1" 200 - "-" "-"'),
        (
            {"user": "bob7", "query": "x=1", "bytes": 0, "referrer": "https://b/", "user_agent": 'a "b" \\ \n\x01'},
            '2001:db8::1 - bob7 [05/Jan/2026:15:31:44.126 +0000] "GET /a?x=1 HTTP/1.1" 200 0 "https://b/" '
            '"a \\"b\\" \\\\ \\n\\x01"',
        ),
        ({"@timestamp": "2025-12-31T23:59:59Z"}, '[31/Dec/2025:23:59:59.000 +0000] "GET'),
        ({"@timestamp": "2025-12-31T23:59:59.5Z"}, '[31/Dec/2025:23:59:59.500 +0000] "GET'),
    ],
)
def test_a_request_as_apache_logs_it(more: dict[str, Any], line: str) -> None:
    """A hyphen for what is absent, a nought for an empty body, a backslash before what would end a text."""
    assert line in access_line({**REQUEST, **more})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 requests of the recipe."""
    path = tmp_path_factory.mktemp("corpus") / "apache-3000.json"
    write_corpus(load_recipe("apache"), 3000, 1, path)
    return path


def grok_of_the_track() -> tuple[str, dict[str, str]]:
    """Expression and definitions of the pipeline."""
    options = read_pipelines()["grok"].definition["processors"][0]["grok"]
    return options["patterns"][0], options["pattern_definitions"]


def test_the_expression_of_the_track_takes_lines_apart_again(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds in a line is what the generator says of the request, in every field and in no other.

    By the grok of our own imports, which needs no Elasticsearch; the server's own is asked in test_ingest_pipelines.py.
    """
    expression, definitions = grok_of_the_track()
    for name, definition in definitions.items():
        monkeypatch.setitem(expressions.PATTERNS, name, definition)
    source, captures = expressions.compile_grok(expression)
    documents = corpus.read_bytes().splitlines()
    for document, raw in zip(documents, raw_documents(documents, "line"), strict=True):
        match = re.fullmatch(source, json.loads(raw)["message"])
        assert match is not None, raw
        groups = {name: text for name, text in match.groupdict().items() if text is not None}
        found = {captures[name].field: captures[name].convert(text) for name, text in groups.items()}
        moment = datetime.strptime(found.pop("time"), "%d/%b/%Y:%H:%M:%S.%f %z")
        found["@timestamp"] = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
        assert found == json.loads(document)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_has_as_many_documents_in_the_same_order(corpus: Path, form: str) -> None:
    """One field, a document on each line, with Rally's table of offsets and the corpus's time."""
    make_raw_file(str(corpus), form)
    written = Path(raw_file(str(corpus), form))
    documents = corpus.read_bytes().splitlines()
    field, write = FORMS[form]
    assert [json.loads(line) for line in written.read_bytes().splitlines()] == [
        {field: write(document)} for document in documents
    ]
    assert io.FileOffsetTable.read_for_data_file(str(written)).is_valid()
    assert written.stat().st_mtime_ns == corpus.stat().st_mtime_ns
    if form == "text":
        assert [json.loads(line)["original"].encode() for line in written.read_bytes().splitlines()] == documents


def waiting(folder: Path, *pipelines: str | None, name: str = "corpus.json") -> list[str]:
    """The forms that are still to be made before a race of levels that these parse."""
    levels = [{"name": f"level {number}", "pipeline": one} for number, one in enumerate(pipelines)]
    laps = {"factor": "settings", "levels": levels}
    task = [SimpleNamespace(operation=SimpleNamespace(param_source="lap-plan", params=laps))]
    others = [SimpleNamespace(operation=SimpleNamespace(param_source="fresh-index", params={}))]
    documents = SimpleNamespace(document_file=name)
    track = SimpleNamespace(
        name="apache",
        selected_challenge_or_default=SimpleNamespace(schedule=[others, task]),
        corpora=[SimpleNamespace(name="numbers", documents=[documents])],
    )
    processor = RawDocuments()
    processor.cfg = SimpleNamespace(opts=lambda *names, **_: str(folder) if "test.path.override" in names else None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("shared.raw_documents.loader.data_dir", lambda *_: [str(folder)])
        return [arguments["form"] for _, arguments in processor.on_prepare_track(track, str(folder))]


def test_files_are_made_for_what_is_sent_and_once(tmp_path: Path) -> None:
    """None for levels that come parsed; anew where the corpus is another."""
    corpus = tmp_path / "corpus.json"
    corpus.write_text(json.dumps(REQUEST) + "\n")
    assert waiting(tmp_path, None) == []
    assert waiting(tmp_path, None, "grok", "geoip", "json") == ["line", "text"]
    make_raw_file(str(corpus), "line")
    assert waiting(tmp_path, None, "grok") == []
    os.utime(corpus, ns=(1, corpus.stat().st_mtime_ns + 1))
    assert waiting(tmp_path, None, "grok") == ["line"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            {"@timestamp": REQUEST["@timestamp"], "message": "x"},
            "has no field 'method', so no line can be made of it",
        ),
        ({**REQUEST, "@timestamp": "yesterday"}, "has what cannot be written so: yesterday"),
    ],
)
def test_documents_of_another_kind_are_refused_by_their_number(
    tmp_path: Path, document: dict[str, Any], problem: str
) -> None:
    """And nothing is left that could be taken for a file of lines."""
    corpus = tmp_path / "corpus.json"
    corpus.write_text(f"{json.dumps(REQUEST)}\n{json.dumps(document)}\n")
    with pytest.raises(exceptions.DataError, match=f"^Document 2 of {corpus} {problem}"):
        make_raw_file(str(corpus), "line")
    assert list(tmp_path.glob("*corpus*")) == [corpus]


def test_a_lap_that_comes_parsed_sends_the_corpus_itself() -> None:
    """The documents of the others are the same sets with another file; the track's own stay as they are."""
    own = SimpleNamespace(document_file="/data/apache-1k.json", number_of_documents=1000)
    assert as_sent([own], None) == (own,)
    (sent,) = as_sent([own], "line")
    assert (sent.document_file, sent.number_of_documents) == (raw_file("/data/apache-1k.json", "line"), 1000)
    assert own.document_file == "/data/apache-1k.json"
