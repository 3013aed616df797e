"""Inspections as a whole: of documents, access logs and plain text."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock.command_line.corpora import corpus_inspect
from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe
from paddock.corpora.template_log import size_weights
from paddock.errors import FileError, UsageError
from paddock.inspection import Inspection, inspect, recipe_sizes, render


def log(tmp_path: Path, lines: list[str]) -> str:
    """A file with these lines."""
    file = tmp_path / "log"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus of the recipe apache."""
    file = tmp_path_factory.mktemp("corpus") / "apache.json"
    write_corpus(load_recipe("apache"), 12_000, 1, file)
    return str(file)


def test_a_corpus(apache: str) -> None:
    """Lines, bytes, fields with shares and varieties, times and order agree with the documents themselves."""
    found = inspect(apache)
    text = Path(apache).read_bytes()
    documents = [json.loads(line) for line in text.splitlines()]
    assert (found.kind, found.lines, found.bytes, found.whole) == ("JSON documents", 12_000, len(text), True)
    assert found.misfits == found.empty_lines == found.undecodable_lines == 0
    fields = {field.name: field for field in found.fields}
    assert set(fields) == {name for document in documents for name in document}
    for name, field in fields.items():
        values = [document[name] for document in documents if name in document]
        assert (field.share, field.distinct) == (len(values) / 12_000, len(set(values)))
    assert fields["status"].types == ("integer",)
    assert found.time
    assert (found.time.where, found.time.share, found.time.steps_back) == ("@timestamp", 1.0, 0)
    assert found.time.first < found.time.last


def test_it_says_how_addresses_rank_among_the_orders(apache: str) -> None:
    """Whoever sorts an index by the field that ranks well would be refused where its type is ip."""
    text = render(inspect(apache))
    assert "clientip" in text.partition("sorted by")[2]
    assert "No index is sorted by a field of the type ip: clientip ranks here as a keyword" in text


def test_a_corpus_as_combined_log(apache: str) -> None:
    """Its documents become lines that are an access log, in the same number and with the same requests."""
    found = inspect(apache, combined=True)
    assert (found.kind, found.lines, found.misfits) == ("access log", 12_000, 0)
    fields = {field.name: field for field in found.fields}
    documents = [json.loads(line) for line in Path(apache).read_bytes().splitlines()]
    requests = {(one["method"], one["path"], one.get("query"), one["http_version"]) for one in documents}
    assert fields["request"].distinct == len(requests)
    assert fields["client"].distinct == len({one["clientip"] for one in documents})
    assert found.time
    assert found.time.steps_back == 0
    assert found.compression.first_10000_lines
    assert found.compression.first_10000_lines > 5


def test_a_number_of_lines(apache: str) -> None:
    """The first 5,000; the rest is not read, and that is said."""
    found = inspect(apache, lines=5000)
    assert (found.lines, found.whole) == (5000, False)
    assert found.terms.growth[-1] == (5000, found.terms.unique)
    assert "--lines 0" in render(found)
    assert inspect(apache, lines=12_000).whole
    assert inspect(apache, lines=0).lines == 12_000


def test_the_text_of_a_field(tmp_path: Path) -> None:
    """Only that field's text counts; documents without it are told apart."""
    documents = [{"message": f"order {n % 7} done", "other": "x" * 50} for n in range(100)] + [{"other": "y"}]
    found = inspect(log(tmp_path, [json.dumps(document) for document in documents]), field="message")
    assert (found.lines, found.misfits, found.lengths.most) == (100, 1, len("order 0 done"))
    assert found.terms.unique == 9


def test_times_are_no_terms(tmp_path: Path) -> None:
    """Neither of plain lines nor of documents: an index keeps them as dates."""
    plain = [f"2026-01-05T10:{n // 60:02d}:{n % 60:02d}.{n:03d}Z same words" for n in range(900)]
    assert inspect(log(tmp_path, plain)).terms.unique == 2
    documents = [json.dumps({"@timestamp": line[:24], "message": line[25:]}) for line in plain]
    assert inspect(log(tmp_path, documents)).terms.unique == 2


def test_nested_documents_and_lists(tmp_path: Path) -> None:
    """Leaves have dotted names, and each element of a list is a value of one document."""
    lines = [json.dumps({"a": {"b": n}, "tags": ["x", "y", str(n)], "none": None, "empty": {}}) for n in range(10)]
    found = {field.name: field for field in inspect(log(tmp_path, lines)).fields}
    assert {name: (field.share, field.distinct) for name, field in found.items()} == {
        "a.b": (1.0, 10),
        "tags": (1.0, 12),
        "none": (1.0, 1),
        "empty": (1.0, 1),
    }


def test_more_fields_than_are_listed(tmp_path: Path) -> None:
    """A field per document is a mapping explosion: 200 are listed, the others counted."""
    found = inspect(log(tmp_path, [json.dumps({f"key{n}": n}) for n in range(350)]))
    assert (len(found.fields), found.further_fields) == (200, 150)


def test_lines_that_are_something_else(tmp_path: Path) -> None:
    """Empty lines, lines of another kind and lines that are no UTF-8 are each counted."""
    file = tmp_path / "log"
    file.write_bytes(b'{"message":"a"}\n\n   \nno json\n{"message":"caf\xe9"}\r\n{"message":3}')
    found = inspect(str(file))
    assert (found.lines, found.empty_lines, found.misfits, found.undecodable_lines) == (4, 2, 1, 1)


def test_random_letters_are_told_from_language(tmp_path: Path) -> None:
    """Letters by chance hardly compress and bring new terms with every document, a small vocabulary does neither."""
    chance = random.Random(3)
    words = ["".join(chance.choices(string.ascii_lowercase, k=9)) for _ in range(300)]
    language = inspect(log(tmp_path, [" ".join(chance.choices(words, k=20)) for _ in range(10_000)]))
    lines = [" ".join("".join(chance.choices(string.ascii_lowercase, k=9)) for _ in range(20)) for _ in range(10_000)]
    noise = inspect(log(tmp_path, lines))
    assert language.compression.everything > 1.5 * noise.compression.everything
    assert (language.terms.heaps_exponent, language.terms.unique) == (pytest.approx(0, abs=0.01), 300)
    assert noise.terms.heaps_exponent == pytest.approx(1, abs=0.01)
    assert noise.terms.per_million_documents == pytest.approx(20_000_000, rel=0.05)
    assert not noise.terms.per_million_measured
    assert noise.terms.per_token_of_250_kilobytes == pytest.approx(1, abs=0.001)


@given(st.lists(st.text(string.ascii_letters + " 0123456789.", max_size=30).map(lambda text: f"x {text}"), min_size=1))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=30, deadline=None
)
def test_terms_only_grow(tmp_path: Path, lines: list[str]) -> None:
    """Along the growth curve neither documents nor terms become fewer, and it ends with all of them."""
    found = inspect(log(tmp_path, lines * 60))
    documents, terms = zip(*found.terms.growth, strict=True)
    assert list(documents) == sorted(set(documents))
    assert list(terms) == sorted(terms)
    assert found.terms.growth[-1] == (len(lines) * 60, found.terms.unique)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=60))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=30, deadline=None
)
def test_sizes_are_a_recipe_s(tmp_path: Path, lengths: list[int]) -> None:
    """What is printed is YAML that a recipe's sizes can be; its range is that of the lines with their ends."""
    found = inspect(log(tmp_path, ["x" * length for length in lengths]))
    weights = size_weights(yaml.safe_load(recipe_sizes(found))["size"])
    assert (min(weights), max(weights)) == (min(lengths) + 1, max(lengths) + 1)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"field": "message", "combined": True}, UsageError),
        ({"lines": -1}, UsageError),
        ({"field": "message"}, FileError),
        ({"combined": True}, FileError),
    ],
)
def test_what_cannot_be_inspected_gets_a_sentence(options: dict, error: type, tmp_path: Path) -> None:
    """Options that contradict one another, and files that have nothing of what is asked for."""
    with pytest.raises(error, match=r"\w+"):
        inspect(log(tmp_path, ["plain text"]), **options)


def test_empty_lines_only_get_a_sentence(tmp_path: Path) -> None:
    """Such a file is not empty, but nothing can be said of it."""
    with pytest.raises(FileError, match="nothing but empty lines"):
        inspect(log(tmp_path, ["", "", " "]))


def test_the_command_prints_tables_or_json(apache: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal gets tables, machines get every figure."""
    corpus_inspect.body(None, apache, lines=2000)
    text = capsys.readouterr().out
    assert "zstd -3" in text
    assert "clientip" in text
    corpus_inspect.body(None, apache, lines=2000, json=True)
    values = json.loads(capsys.readouterr().out)
    assert values["lines"] == 2000
    assert set(values) == set(Inspection.__dataclass_fields__)
