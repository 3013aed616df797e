"""Access logs become documents of the track apache, quickly or line by line."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.imports.parsing import BlockParser
from paddock.imports.shape import track_shape
from tests.imports.samples import ANY_SHAPE, BROWSER, ERRORS, USUAL, access_log, parsed

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


ODD = st.sampled_from([*ERRORS, "", "\r", USUAL + "\r", USUAL.replace("lamp", 'l\\"mp'), USUAL.replace("- -", "me -"),
                       USUAL.replace("200 5120", "20 5120"), USUAL.replace("HTTP/1.1", ""),
                       USUAL.replace("red", "\udce9"),
                       USUAL.replace("203.0.113.9", "2001:db8::1"), USUAL.replace("203.0.113.9", "1.2.3"),
                       USUAL.replace("203.0.113.9", "999.1.1.1"), USUAL.replace("?colour=red", "?"),
                       USUAL.replace("Mozilla", "Mo\tzilla"), USUAL.replace("+0100", "+01"), USUAL.replace(BROWSER, ""),
                       USUAL.replace("05/Jan", "04/Jan"),
                       USUAL.replace("5120", "-").replace("- -", "- bob")])  # fmt: skip


def assert_both_ways_agree(format: str, lines: list[str], key: bytes | None) -> None:  # noqa: A002
    """In bulk and line by line: the same bytes, bad lines, numbers, times and counts."""
    quick = parsed(format, lines, APACHE, key)
    slow = parsed(format, lines, APACHE, key, quick=False)
    assert quick.data == slow.data
    assert quick == slow
    assert quick.lines == quick.documents + quick.blank + len(quick.bad)


@pytest.mark.parametrize("key", [None, b"k" * 32])
@pytest.mark.parametrize("format", ["apache-common", "apache-combined", "nginx"])
@given(data=st.data())
def test_the_quick_ways_write_the_same_documents(format: str, key: bytes | None, data: st.DataObject) -> None:  # noqa: A002
    """Compiled code and the regular expression, on usual and unusual lines in any order."""
    lines = data.draw(st.lists(st.one_of(st.sampled_from(access_log(30)), ODD), max_size=12))
    if format == "apache-common":
        lines = [line.partition(' "https')[0].partition(' "-" "')[0] for line in lines]
    assert_both_ways_agree(format, lines, key)


@pytest.mark.parametrize("key", [None, b"k" * 32])
@settings(max_examples=400)
@given(
    st.sampled_from(access_log(14)),
    st.integers(0, 250),
    st.integers(0, 3),
    st.text('"\\-[]:/ .?0159ab%é\t', max_size=3),
)
def test_one_wrong_character_does_not_fool_them(key: bytes | None, line: str, at: int, gone: int, new: str) -> None:
    """Usual lines with a few characters left out or put in, anywhere."""
    assert_both_ways_agree("apache-combined", [USUAL, line[:at] + new + line[at + gone :], USUAL], key)


SYSLOG = [
    "Jan  1 10:00:00 web-1 sshd[411]: Accepted password for bob from 203.0.113.9 port 22",
    '<30>Dec 31 23:59:59 web-1 kernel: said "x" and user alice',
    '<30>Dec 31 23:59:59 web-1 kernel: said "x" and "user" alice, "password":"hunter2 x"',
    'Dec 31 23:59:59 web-1 app: {"password":"hunter2',
    "2024-05-01T12:34:56.123456+02:00 web-1 cron[7]: (bob) CMD (run)",
    "Jan  1 10:00:01 web-1 last message repeated 3 times",
    "Feb 29 10:00:01 web-1 sudo:  bob : TTY=pts/0",
]
LOG4J = [
    "2024-05-01 12:34:56,789 INFO  [main] org.example.Service - ready: 7",
    "2024-05-01 12:34:57.7 [w-1] WARN  org.example.Service - user bob is gone",
    "24/05/01 12:34:58 INFO org.example.Service: ready",
    "2024-05-01T12:34:56Z ERROR [main] org.example.Service: failed",
    "[2024-05-01T12:34:56,789][INFO ][o.e.n.Node      ] [node-1] [x] started",
    "[2024-05-01 12:34:56,789] INFO [Controller 0]: text (kafka.controller.Controller)",
    "2024-05-01 12:34:56,789 INFO [main] .example.Service - a name begins with no dot",
    "01-May-2024 12:34:56.789 INFO [main] org.example.Service.run text",
    "\tat org.example.Service(Service.java:7)", "java.lang.Error: x", "",
]  # fmt: skip


@pytest.mark.parametrize("key", [None, b"k" * 32])
@pytest.mark.parametrize(("format", "lines"), [("syslog", SYSLOG), ("log4j", LOG4J)])
@settings(max_examples=150)
@given(data=st.data())
def test_other_formats_agree_too(
    format: str,  # noqa: A002
    lines: list[str],
    key: bytes | None,
    data: st.DataObject,
) -> None:
    """Syslog and log4j in any order, with a few characters left out or put in, in zones of half hours."""
    zone = data.draw(st.sampled_from(["UTC", "Asia/Kolkata", "Australia/Lord_Howe"]))
    drawn = data.draw(st.lists(st.sampled_from(lines), min_size=1, max_size=8))
    at, gone = data.draw(st.integers(0, 90)), data.draw(st.integers(0, 3))
    new = data.draw(st.text(' "\\-[]:/.?059abTZ+é\t\r\xa0', max_size=3))
    changed = data.draw(st.integers(0, len(drawn) - 1))
    drawn[changed] = drawn[changed][:at] + new + drawn[changed][at + gone :]
    track = track_shape("syslog" if format == "syslog" else "logs")
    quick = parsed(format, drawn, track, key, zone=zone)
    slow = parsed(format, drawn, track, key, quick=False, zone=zone)
    assert quick.data == slow.data
    assert quick == slow


@pytest.mark.parametrize("line", ["<992>Jan  1 10:00:00 web-1 app: x", "<30>Jan  1 10:00:99 web-1 app: x"])
def test_bad_lines_assume_nothing(line: str) -> None:
    """The year and the zone of lines that are none are not told as assumed."""
    track = track_shape("syslog")
    assert parsed("syslog", [line], track).assumed == parsed("syslog", [line], track, quick=False).assumed


@pytest.mark.parametrize(("format", "line"), [("syslog", SYSLOG[0]), ("log4j", LOG4J[0]), ("apache-combined", USUAL)])
def test_usual_lines_are_not_handed_back(format: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: A002
    """Speed rests on it: no line of a thousand is parsed by itself."""
    monkeypatch.setattr(BlockParser, "_slow", None)
    track = track_shape({"syslog": "syslog", "log4j": "logs"}.get(format, "apache"))
    assert parsed(format, [line] * 1000, track).documents == 1000


@settings(max_examples=400)
@given(st.one_of(st.ip_addresses().map(str), st.ip_addresses(v=6).map(lambda each: each.exploded),
                 st.text("0129af:.", min_size=1, max_size=12), st.lists(st.sampled_from(["0", "1", "ffff", ""]),
                 min_size=3, max_size=9).map(":".join)))  # fmt: skip
def test_addresses_are_told_from_others(address: str) -> None:
    """What the compiled code takes for an address is one."""
    assert_both_ways_agree("apache-combined", [USUAL.replace("203.0.113.9", address)], None)


@given(st.datetimes(datetime.datetime(1969, 1, 1), datetime.datetime(2400, 1, 1)), st.integers(-1500, 1500))
def test_times_of_any_day_are_converted(moment: datetime.datetime, minutes: int) -> None:
    """Leap years, zones, the turn of days; also days that no month has."""
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    time = f"{moment:%d/%b/%Y:%H:%M:%S} {sign}{minutes // 60:02d}{minutes % 60:02d}"
    late = "31" + time[2:]
    lines = [USUAL.replace("05/Jan/2026:10:00:00 +0100", each) for each in (time, late, time)]
    assert_both_ways_agree("apache-combined", lines, None)
