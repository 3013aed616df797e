"""A scan of gzipped JSON lines: reads every document, parses it, and keeps what was asked for. A program of its own.

    python scan_program.py '{"query": "latest-25", "text": "ERROR", "field": "level", "values": ["ERROR"]}' FILE.gz ...

It needs nothing but Python. Documents are written as they were read, newest first; of 15 minutes a line each with their
beginning in UTC and how many documents they have; of a number the number.
"""

from __future__ import annotations

import gzip
import heapq
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_TIME, _LATEST = "@timestamp", 25


def documents(files: Sequence[str]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Every line and the document in it."""
    for name in files:
        with gzip.open(name) as file:
            for line in file:
                yield line, json.loads(line)


def texts(value: Any) -> Iterator[str]:
    """All texts in a document, whatever they are nested in."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def valued(document: Any, field: str) -> Any:
    """The value of a field whose name has dots, which are part of the name or lead into objects."""
    if not isinstance(document, dict):
        return None
    if field in document:
        return document[field]
    first, dot, rest = field.partition(".")
    return valued(document.get(first), rest) if dot else None


def singles(value: Any) -> Iterator[Any]:
    """The values of a field, as an index has them: those of a list one by one, and no objects."""
    if isinstance(value, list):
        for part in value:
            yield from singles(part)
    elif not isinstance(value, dict):
        yield value


def quarter(time: str) -> str:
    """The beginning of the 15 minutes: of 2026-01-05T00:51:13.2Z it is 2026-01-05T00:45."""
    return f"{time[:14]}{int(time[14:16]) // 15 * 15:02d}"


def matching(asked: Mapping[str, Any], files: Sequence[str]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The documents that are asked for."""
    field, word = asked["field"], asked["text"]
    by_text = asked["query"].startswith("text-") or not field
    encoded, values = json.dumps(word, ensure_ascii=False)[1:-1].encode(), set(asked["values"])
    for line, document in documents(files):
        # A word that is not in the line is in none of its texts.
        if (
            (encoded in line and any(word in text for text in texts(document)))
            if by_text
            else any(one in values for one in singles(valued(document, field)))
        ):
            yield line, document


def main(arguments: Sequence[str]) -> None:
    """Scan, and write what was found to stdout."""
    asked, files = json.loads(arguments[0]), arguments[1:]
    found = matching(asked, files)
    out = sys.stdout.buffer
    if asked["query"] == "text-count":
        out.write(b"%d\n" % sum(1 for _ in found))
    elif asked["query"] == "text-hits":
        for line, _ in sorted(found, key=lambda one: one[1][_TIME], reverse=True):
            out.write(line)
    elif asked["query"] == "latest-25":
        for line, _ in heapq.nlargest(_LATEST, found, key=lambda one: one[1][_TIME]):
            out.write(line)
    else:
        counted = Counter(quarter(document[_TIME]) for _, document in found)
        out.writelines(f"{begin} {number}\n".encode() for begin, number in sorted(counted.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
