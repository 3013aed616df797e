"""Access logs become documents of the track apache."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddock.imports.shape import track_shape
from tests.imports.samples import ANY_SHAPE, BROWSER, ERRORS, USUAL, parsed

APACHE = track_shape("apache")


def document(line: str, format: str = "apache-combined") -> dict[str, Any]:  # noqa: A002
    """The only document of a line."""
    result = parsed(format, [line], APACHE)
    assert result.bad == []
    found: dict[str, Any] = json.loads(result.data)
    return found


def test_a_usual_line_has_the_fields_of_the_track() -> None:
    """In the order of the track's own documents; what is missing is left out, not null."""
    assert list(document(USUAL).items()) == [
        ("@timestamp", "2026-01-05T09:00:00.000Z"),
        ("clientip", "203.0.113.9"),
        ("method", "GET"),
        ("path", "/shop/lamp"),
        ("query", "colour=red"),
        ("status", 200),
        ("bytes", 5120),
        ("referrer", "https://shop.example/"),
        ("http_version", "1.1"),
        ("user_agent", BROWSER),
    ]
    bare = document('2001:db8::7 - bob [05/Jan/2026:10:00:00 +0000] "HEAD / HTTP/2.0" 304 - "-" "-"')
    assert bare == {
        "@timestamp": "2026-01-05T10:00:00.000Z", "clientip": "2001:db8::7", "user": "bob", "method": "HEAD",
        "path": "/", "status": 304, "http_version": "2.0",
    }  # fmt: skip


def test_the_common_format_ends_after_the_bytes() -> None:
    """And is none of the others."""
    common = USUAL.partition(' "https')[0]
    assert "user_agent" not in document(common, "apache-common")
    assert parsed("apache-combined", [common], APACHE).bad[0][1] == "not the format apache-combined"
    assert parsed("apache-common", [USUAL], APACHE).bad[0][1] == "not the format apache-common"


def test_nginx_may_have_more_behind() -> None:
    """Further fields have no place in the track apache: counted, and kept elsewhere."""
    line = USUAL + ' "-" 0.004 upstream1'
    result = parsed("nginx", [line, USUAL], APACHE)
    assert (result.documents, result.left_out) == (2, {"extra": 1})
    kept = json.loads(parsed("nginx", [line], ANY_SHAPE).data)
    assert kept["extra"] == '"-" 0.004 upstream1'
    assert kept["message"] == "GET /shop/lamp?colour=red HTTP/1.1"


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("-", {}),
        ("", {}),
        (r"\x16\x03\x01", {"path": "\x16\x03\x01"}),
        ("GET /old", {"method": "GET", "path": "/old"}),
        (r"GET /a\"b\\c HTTP/1.0", {"method": "GET", "path": '/a"b\\c', "http_version": "1.0"}),
        (r"GET /caf\xc3\xa9 HTTP/1.1", {"method": "GET", "path": "/café", "http_version": "1.1"}),
        (r"GET /caf\xe9 HTTP/1.1", {"method": "GET", "path": "/café", "http_version": "1.1"}),
        ("GET /a?b?c HTTP/1.1", {"method": "GET", "path": "/a", "query": "b?c", "http_version": "1.1"}),
        ("M-SEARCH * HTTP/1.1", {"method": "M-SEARCH", "path": "*", "http_version": "1.1"}),
        ("two words more", {"path": "two words more"}),
    ],
)
def test_unusual_requests_are_kept(request_text: str, expected: dict[str, str]) -> None:
    """Scanners' bytes, escapes, old protocols: an event each."""
    line = f'203.0.113.9 - - [05/Jan/2026:10:00:00 +0000] "{request_text}" 400 226 "-" "-"'
    found = document(line)
    for name in ("@timestamp", "clientip", "status", "bytes"):
        del found[name]
    assert found == expected


def test_users_with_spaces_and_idents() -> None:
    """A user may have a space; an ident has no place in the track and is counted."""
    result = parsed(
        "apache-combined",
        ['203.0.113.9 me bob jones [05/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"'],
        APACHE,
    )
    assert json.loads(result.data)["user"] == "bob jones"
    assert result.left_out == {"ident": 1}


def test_bad_lines_have_their_number_and_a_reason() -> None:
    """Cut off, of another log, an impossible date, a client without an address."""
    result = parsed("apache-combined", [USUAL, *ERRORS, USUAL], APACHE)
    assert result.documents == 2
    assert [(line, reason) for line, reason, _ in result.bad] == [
        (2, "not the format apache-combined"),
        (3, "not the format apache-combined"),
        (4, "the time cannot be read"),
        (5, "'clientip' is no ip, as the track apache has it"),
    ]
    assert [text for _, _, text in result.bad] == list(ERRORS)


def test_latin1_is_read_and_counted() -> None:
    """Bytes that are no UTF-8 become the characters of Latin-1, line by line."""
    latin = USUAL.replace("lamp", "caf\udce9")
    utf8 = USUAL.replace("lamp", "café")
    result = parsed("apache-combined", [USUAL, latin, utf8], APACHE)
    paths = [json.loads(line)["path"] for line in result.data.splitlines()]
    assert paths == ["/shop/lamp", "/shop/café", "/shop/café"]
    assert result.not_utf8 == 1
