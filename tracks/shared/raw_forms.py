"""Documents before somebody parses them: the line of a log, or JSON as text, in one field alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?Z")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# What Apache writes behind a backslash; other control characters as \xhh.
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_STRANGE = re.compile(r'["\\\x00-\x1f\x7f]')


def access_line(document: Mapping[str, Any]) -> str:
    """The request as Apache logs it in the format "combined", with milliseconds.

    :param document: of the track apache.
    :raises KeyError: if a field is missing that every line has; ValueError if its time cannot be written.
    """
    if (time := _TIME.fullmatch(document["@timestamp"])) is None:
        raise ValueError(document["@timestamp"])
    year, month, day, clock, fraction = time.groups("0")
    query = f"?{document['query']}" if "query" in document else ""
    request = f"{document['method']} {document['path']}{query} HTTP/{document['http_version']}"
    return (
        f"{document['clientip']} - {document.get('user', '-')} "
        f"[{day}/{_MONTHS[int(month) - 1]}/{year}:{clock}.{fraction.ljust(3, '0')} +0000] "
        f'"{_quoted(request)}" {document["status"]} {document.get("bytes", "-")} '
        f'"{_quoted(document.get("referrer", "-"))}" "{_quoted(document.get("user_agent", "-"))}"'
    )


def _quoted(text: str) -> str:
    return _STRANGE.sub(lambda found: _ESCAPED.get(found[0], f"\\x{ord(found[0]):02x}"), text)


def _line(document: bytes) -> str:
    return access_line(json.loads(document))


def _text(document: bytes) -> str:
    return document.decode("utf-8").rstrip("\n")


# What the _meta of a pipeline may name as "sent": the one field that is sent, and what is in it. A text is in another
# field than a line, because documents have messages of their own, and what is parsed out of it may be called "message".
FORMS: Mapping[str, tuple[str, Callable[[bytes], str]]] = {"line": ("message", _line), "text": ("original", _text)}


def raw_documents(documents: Iterable[bytes], form: str) -> Iterator[bytes]:
    """The documents in that form, one JSON object with a newline each; errors as those of the form."""
    field, write = FORMS[form]
    for document in documents:
        yield json.dumps({field: write(document)}, ensure_ascii=False).encode("utf-8") + b"\n"
