"""Documents that cannot be compared are found before anything is measured."""

from __future__ import annotations

import dataclasses
import json

import pytest

from benchmarks.likeness import read_sample, require_likeness
from benchmarks.model import Sample
from paddock.errors import CorpusError

MODEL = Sample("paddock", 1000, 300.0, {"@timestamp": 1000, "path": 200})


def line(second: int) -> bytes:
    """A document."""
    return json.dumps({"@timestamp": f"2026-01-05T10:00:{second:02d}.000Z", "path": f"/{second % 3}"}).encode() + b"\n"


def test_a_sample_is_measured() -> None:
    """Documents, mean size with line ends, different values."""
    lines = [line(second) for second in range(10)]
    sample, documents = read_sample("x", lines)
    assert sample == Sample("x", 10, float(len(lines[0])), {"@timestamp": 10, "path": 3})
    assert documents[4]["path"] == "/1"


@pytest.mark.parametrize("bad", [b"{\n", b"[]\n", b'{"path":"/"}\n', b'{"@timestamp":"soon"}\n', line(0)])
def test_bad_documents_are_named(bad: bytes) -> None:
    """No JSON, no object, no time, or an earlier one: with the document's number."""
    with pytest.raises(CorpusError, match="Document 3 of the generator x"):
        read_sample("x", [line(1), line(2), bad])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"bytes_per_document": 200.0}, "200 bytes each, not 300"),
        ({"bytes_per_document": 400.0}, "400 bytes each"),
        ({"distinct": {"@timestamp": 1000}}, "fields are only in one of them: path"),
        ({"distinct": {"@timestamp": 1000, "path": 200, "more": 1}}, "more"),
        ({"distinct": {"@timestamp": 1000, "path": 99}}, "path has 99 values, not 200"),
    ],
)
def test_unlike_documents_are_refused(change: dict, sentence: str) -> None:
    """Smaller or larger ones, other fields, fewer values: speed would be bought with them."""
    with pytest.raises(CorpusError, match=sentence):
        require_likeness(dataclasses.replace(MODEL, generator="x", **change), MODEL)


def test_like_documents_are_accepted() -> None:
    """Up to 30 % in size, and half the values."""
    for size, values in ((220.0, 100), (380.0, 9000)):
        require_likeness(Sample("x", 1000, size, {"@timestamp": 700, "path": values}), MODEL)
