"""The compiled machine reads lines as their patterns say, times as the clock does, and writes JSON."""

from __future__ import annotations

import datetime
import ipaddress
import json
import re
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.imports import reading
from paddock.imports.formats.layouts import CAPITALS, LAYOUTS, NAME, PATTERNS, TEXT
from paddock.imports.formats.patterns import expanded
from paddock.imports.reading import LayoutReader
from paddock.imports.shape import Shape, track_shape
from paddock.imports.text import decoded
from paddock.imports.times import Clock
from tests.imports.samples import ANY_SHAPE, BROWSER, NEW_YEAR_2026, USUAL, access_log, parsed

SAMPLES = {
    "apache-common": [USUAL.partition(' "https')[0], '2001:db8::1 - - [05/Jan/2026:10:00:00 +0100] "-" 408 -'],
    "apache-combined": [
        USUAL, *access_log(3), USUAL.replace("- -", "me bob jones"), f"www.shop.example:443 {USUAL}",
        USUAL.replace("203.0.113.9", "::ffff:192.0.2.1"), USUAL.replace("lamp", r"l\"am\xc3p"),
    ],
    "nginx": [USUAL, f'{USUAL} "-" 0.004', USUAL + USUAL],
    "kubernetes-cri": ["2024-05-01T12:34:56.789012345Z stderr F ready: 7"],
    "containerd": ['time="2024-05-01T12:34:56.7Z" level=info msg="say \\"x\\"" id=7',
                   "time=2024-05-01T12:34:56Z level=w msg=x"],
    "haproxy": ["May  1 12:34:56 lb haproxy[17]: ::1:33317 [01/May/2024:12:34:56.789] web app/s1 10/0/30 200 2750 - x"],
    "apache-error": ["[Wed May 01 12:34:56.789123 2024] [core:error] [pid 35:tid 43] [client 192.0.2.7:12] AH1: x",
                     "[Wed May 01 12:34:56 2024] [notice] ok"],
    "openstack": ["nova-api.log.1 2024-05-01 12:34:56.789 25746 INFO nova.osapi.wsgi [req-1 u p - - -] done"],
    "hdfs": ["240501 123456 148 INFO dfs.DataNode$PacketResponder: block blk_38 terminating"],
    "android": ["05-01 12:34:56.789  1702  2395 D WindowManager: frozen: no", "05-01 12:34:56.789 2 3 I a:b: x"],
    "windows-cbs": ["2024-05-01 12:34:56, Info                  CBS    Loaded Servicing Stack"],
    "postgresql": ["2024-05-01 12:34:56.789 UTC [1234] bob@shop LOG:  statement: select 1",
                   "2024-05-01 12:34:56.789 CEST [1234] ERROR:  x"],
    "klog": ["I0501 12:34:56.789012    1234 server.go:12] text"],
    "rally": ["2024-05-01 12:34:56,789 -not-actor-/PID:1234 esrally.racecontrol INFO text"],
    "syslog": [
        "Jan  1 10:00:00 web-1 sshd[411]: Accepted password for bob from 203.0.113.9 port 22",
        '<30>Dec 31 23:59:59 web-1 kernel: said "x" and user alice',
        '<30>Dec 31 23:59:59 web-1 kernel: said "x" and "user" alice, "password":"hunter2 x"',
        'Dec 31 23:59:59 web-1 app: {"password":"hunter2',
        "2024-05-01T12:34:56.123456+02:00 web-1 cron[7]: (bob) CMD (run)",
        "Jan  1 10:00:01 web-1 last message repeated 3 times", "Feb 29 10:00:01 web-1 sudo:  bob : TTY=pts/0",
        '<165>1 2003-10-11T22:14:15.003Z m.example su 7 ID47 [x@1 a="\\"]" b="2"][y@1] said',
        "<0>1 2003-10-11T22:14:15-07:00 - - - - -",
    ],
    "log4j": [
        "2024-05-01 12:34:56,789 INFO  [main] org.example.Service - ready: 7",
        "2024-05-01 12:34:57.7 [w-1] WARN  org.example.Service - user bob is gone",
        "24/05/01 12:34:58 INFO org.example.Service: ready", "2024-05-01T12:34:56Z ERROR [main] org.example.S: failed",
        "[2024-05-01T12:34:56,789][INFO ][o.e.n.Node      ] [node-1] [x] started",
        "[2024-05-01 12:34:56,789] INFO [Controller 0]: text (kafka.controller.Controller)",
        "2024-05-01 12:34:56,789 INFO [main] .example.Service - a name begins with no dot",
        "2024-05-01 12:34:56,789 - org.example.Service - INFO - ready",
        "2024-05-01T12:34:56.789Z  INFO 17 --- [shop] [           main] org.example.Service  : ready: 7",
        "01-May-2024 12:34:56.789 INFO [main] org.example.Service.run text",
    ],
}  # fmt: skip
CHANGES = st.tuples(st.integers(0, 120), st.integers(0, 3), st.text(' "\\-[]:/.?059abTZ+é\t\r<', max_size=3))


def changed(line: str, change: tuple[int, int, str]) -> str:
    """A line with a few characters left out or put in."""
    at, gone, new = change
    return line[:at] + new + line[at + gone :]


def without_trying_again(pattern: str) -> str:
    """A pattern for Python's own machine, in which loops and groups keep what they took; groups have numbers."""
    begins, out = ["("], ["(?>"]
    tokens = re.finditer(r"\[(?:\\.|[^\]\\])*\]|\\.|\(\?P<(\w+)>|\(\?[:=!]|\(\?i:|[()*+?|]|\{\d+(?:,\d*)?\}|.", pattern)
    for number, token in enumerate(tokens):
        if token[1]:
            out.append(f"(?P<{token[1]}_{number}>(?>")
        elif token[0] == ")":
            out.append("))" if begins.pop() != "(" else ")")
            continue
        elif token[0] in ("(?:", "(?i:"):
            out.append("(?>" if token[0] == "(?:" else "(?>(?i:")
        elif re.fullmatch(r"[*+?]|\{.*\}", token[0]):
            out.append(f"{token[0]}+")
        else:
            out.append(token[0])
        if token[0].startswith("("):
            begins.append(token[0] if token[1] or token[0] == "(?i:" else "(")
    return f"{''.join(out)})"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no loops that keep what they took")
@pytest.mark.parametrize("format", list(LAYOUTS))
@settings(max_examples=100)
@given(data=st.data())
def test_lines_are_taken_apart_as_their_pattern_says(format: str, data: st.DataObject) -> None:  # noqa: A002
    """Python's own regular expressions find the same fields in the same lines, whatever these are."""
    layout = LAYOUTS[format]
    line = changed(data.draw(st.sampled_from(SAMPLES[format])), data.draw(CHANGES)).replace("\r", "")
    result = parsed(format, [line])
    found = re.fullmatch(without_trying_again(expanded(layout.pattern, PATTERNS)), line, re.ASCII)
    if result.further or not line.strip() or (not line.isascii() and "\\w" in layout.pattern):
        return
    if found is None:
        assert result.documents == 0
        assert result.bad[0][1] in (f"not the format {format}", "two records on one line", *(layout.wrong or ()))
        return
    if result.bad:
        assert result.bad[0][1] in ("the time cannot be read", "no time", "a priority above 191")
        return
    document = json.loads(result.data)
    fields: dict[str, Any] = {}
    for name, text in found.groupdict().items():
        if text is not None:
            fields[name.rpartition("_")[0]] = text
    for name in (name for name, how in layout.fields.items() if how in (TEXT, NAME, CAPITALS) and name != "syslogtag"):
        text = fields.get(name, "").strip(" " if layout.fields[name] == NAME else "")
        expected = text.upper() if layout.fields[name] == CAPITALS else text
        if "\\" not in line and not (text == "-" or text == ""):
            assert document[name] == expected
    if "\\" not in line:
        assert document["message"] == fields.get("message", "")


@pytest.mark.parametrize("key", [None, b"k" * 32])
@pytest.mark.parametrize("format", list(LAYOUTS))
@settings(max_examples=25)
@given(data=st.data())
def test_every_line_is_counted_once(format: str, key: bytes | None, data: st.DataObject) -> None:  # noqa: A002
    """Usual and unusual lines in any order, with blank ones, returns and traces: documents, bad, joined or blank."""
    others = ["", "\r", " ", "\tat org.example.Service(Service.java:7)", "java.lang.Error: x", "caf\udce9 x"]
    drawn = data.draw(st.lists(st.sampled_from([*SAMPLES[format], *others]), min_size=1, max_size=8))
    place = data.draw(st.integers(0, len(drawn) - 1))
    drawn[place] = changed(drawn[place], data.draw(CHANGES))
    for shape in (ANY_SHAPE, track_shape(LAYOUTS[format].track)):
        result = parsed(format, drawn, shape, key)
        counted = result.documents + result.joined + result.blank + len(result.bad)
        assert result.lines + result.further == counted
        documents = [json.loads(line) for line in result.data.split(b"\n")[:-1]]
        assert len(documents) == result.documents
        assert all(next(iter(document)) == "@timestamp" for document in documents)


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\r\udc80")), st.booleans())
def test_any_text_comes_out_as_it_went_in(text: str, latin: bool) -> None:
    """Whatever JSON has to escape; a line that is no UTF-8 beside it changes nothing."""
    lines = [f"Jan  1 10:00:00 web-1 app: .{text}", *(["Jan  1 10:00:00 web-1 app: caf\udce9"] if latin else [])]
    messages = [json.loads(line)["message"] for line in parsed("syslog", lines).data.split(b"\n")[:-1]]
    assert messages == [f".{text}", "café"][: len(lines)]


@pytest.mark.parametrize("format", ["syslog", "log4j", "apache-combined"])
def test_usual_lines_are_not_handed_back(format: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: A002
    """Speed rests on it: Python looks at none of a thousand lines."""
    for name in ("_mended", "_parts", "_reason"):
        monkeypatch.setattr(LayoutReader, name, None)
    track = track_shape(LAYOUTS[format].track)
    assert parsed(format, [SAMPLES[format][0]] * 1000, track).documents == 1000


def test_texts_keep_the_spaces_around_them() -> None:
    """A user agent may end with one; what a layout fills up with spaces is told by its field."""
    line = USUAL.replace(BROWSER, f"  {BROWSER}  ")
    assert json.loads(parsed("apache-combined", [line]).data)["user_agent"] == f"  {BROWSER}  "
    elastic = json.loads(parsed("log4j", [SAMPLES["log4j"][4]]).data)
    assert (elastic["logger"], elastic["node"]) == ("o.e.n.Node", "node-1")


def test_documents_are_fitted_to_tracks_that_are_not_theirs() -> None:
    """Types that only Python judges, and a strict track that has some of the fields: as each line by itself."""
    shape = Shape("odd", True, {"status": {"type": "boolean"}, "path": {"type": "keyword"}})
    result = parsed("apache-combined", [USUAL], shape)
    assert json.loads(result.data) == {"@timestamp": "2026-01-05T09:00:00.000Z", "path": "/shop/lamp", "status": 200}
    assert result.left_out["clientip"] == 1
    small = Shape("small", False, {"bytes": {"type": "byte"}})
    assert parsed("apache-combined", [USUAL], small).bad[0][1] == "'bytes' is no byte, as the track small has it"


@settings(max_examples=200)
@given(
    st.one_of(
        st.ip_addresses().map(str),
        st.ip_addresses(v=6).map(lambda each: each.exploded),
        st.text("0129af:.", min_size=1, max_size=12),
        st.lists(st.sampled_from(["0", "1", "ffff", "", "1.2.3.4"]), min_size=3, max_size=9).map(":".join),
    )
)
def test_addresses_are_told_from_others(address: str) -> None:
    """What the compiled code takes for an address is one."""
    try:
        ipaddress.ip_address(address)
        known = True
    except ValueError:
        known = False
    line = USUAL.replace("203.0.113.9", address)
    assert parsed("apache-combined", [line], track_shape("apache")).documents == known


# How times look, as strftime writes them.
LOOKS = {
    "clf": ["%d/%b/%Y:%H:%M:%S"],
    "bsd": ["%b %e %H:%M:%S", "%b %-d %H:%M:%S", "%b %e %Y %H:%M:%S", "%b %-d %Y %H:%M:%S"],
    "zoned": ["%Y-%m-%dT%H:%M:%S"],
    "iso": ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"],
    "log4j": ["%Y-%m-%d %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%y/%m/%d %H:%M:%S", "%d-%b-%Y %H:%M:%S", "%d %b %Y %H:%M:%S"],
    "ctime": ["%a %b %e %H:%M:%S"],
    "android": ["%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S"],
    "klog": ["%m%d %H:%M:%S"],
}
_FORMAT_OF = {"clf": "apache-common", "bsd": "syslog", "zoned": "syslog", "iso": "rally", "log4j": "log4j",
              "ctime": "apache-error", "android": "android", "klog": "klog"}  # fmt: skip


@pytest.mark.parametrize(("name", "looks"), [(name, form) for name, forms in LOOKS.items() for form in forms])
@settings(max_examples=40)
@given(
    moment=st.datetimes(datetime.datetime(1969, 1, 1), datetime.datetime(2060, 1, 1)),
    zone=st.sampled_from(["UTC", "Asia/Kolkata", "Australia/Lord_Howe", "Europe/Berlin", "Africa/Monrovia"]),
    fraction=st.sampled_from(["", ".7", ",789", ".123456789"]),
    offset=st.sampled_from(["Z", "+0530", "-08:00", " +0100", " GMT"]),
)
def test_times_are_read_as_the_clock_reads_them(
    name: str, looks: str, moment: datetime.datetime, zone: str, fraction: str, offset: str
) -> None:
    """Leap years, zones, hours in which clocks are changed, times before 1970, missing years."""
    behind = {"zoned": offset.replace(" GMT", "Z").strip(), "ctime": f" {moment:%Y}"}.get(name, "")
    behind = offset if name in ("clf", "iso", "log4j") else behind
    time = moment.strftime(looks) + fraction + behind
    line = {
        "clf": f'192.0.2.1 - - [{time}] "-" 408 -', "bsd": f"{time} h a: b", "zoned": f"{time} h a: b",
        "iso": f"{time} actor/PID:7 a INFO b", "log4j": f"{time} INFO b", "ctime": f"[{time}] [error] b",
        "android": f"{time} 1 2 D a: b", "klog": f"I{time} 7 a.go:1] b",
    }[name]  # fmt: skip
    clock = Clock(zone)
    clock.follow(NEW_YEAR_2026)
    expected = clock.milliseconds(time)
    result = parsed(_FORMAT_OF[name], [line, line], zone=zone)
    assert (result.documents, result.times.first, result.times.last) == (2, expected, expected)
    assert result.assumed == clock.assumed


@pytest.mark.parametrize("line", ["<992>Jan  1 10:00:00 web-1 app: x", "<30>Jan  1 10:00:99 web-1 app: x"])
def test_bad_lines_assume_nothing(line: str) -> None:
    """The year and the zone of lines that are none are not told as assumed."""
    result = parsed("syslog", [line], track_shape("syslog"))
    assert (len(result.bad), result.assumed) == (1, set())


def test_a_time_in_any_form_is_read_once_per_text() -> None:
    """Access logs may have other times in their brackets, and a form may be given."""
    lines = [USUAL.replace("05/Jan/2026:10:00:00 +0100", time) for time in ("1767603600.5", "1767603600.5", "soon")]
    assert parsed("apache-combined", lines).times.last == 1767603600500
    assert parsed("apache-combined", lines).bad[0][1] == "the time cannot be read"
    given_form = [USUAL.replace("05/Jan/2026:10:00:00 +0100", "05.01.2026 10:00")]
    assert parsed("apache-combined", given_form, time_format="%d.%m.%Y %H:%M").times.last == 1767607200000


def test_a_line_cut_off_behind_a_second_time_takes_no_longer_than_others() -> None:
    """Looking for a second record on a line is linear: brackets without an end used to double the work per letter."""
    time = "2024-05-01 12:34:56,789"
    line = f"{time} INFO a.b: x{time} [" + 100_000 * "a"
    result = parsed("log4j", [line, f"{time} INFO a.b: x{time} [w] INFO c: y"])
    assert (result.documents, result.further) == (3, 1)


def test_further_lines_behind_a_logger_stay_with_the_message() -> None:
    """Kafka names the logger at the end of the first line; what follows is the message's."""
    lines = ["[2024-05-01 12:34:56,789] ERROR failed (kafka.server.Log)", "\tname = 7\r", "java.lang.Error: x"]
    document = json.loads(parsed("log4j", lines).data)
    assert document["message"] == "failed\n\tname = 7"
    assert (document["logger"], document["stack_trace"]) == ("kafka.server.Log", "java.lang.Error: x")


@pytest.mark.parametrize("usual", [0, 30_000, 45_000])
def test_lines_that_grow_the_most_have_room(usual: int) -> None:
    """Every byte is escaped, in the request and in its path; nothing is written beyond the output's end."""
    control = USUAL.replace("lamp", 1_040_000 * "\x01")
    lines = [*([USUAL] * usual), control, USUAL]
    documents = parsed("apache-combined", lines).data.split(b"\n")
    assert len(documents) == usual + 3
    assert json.loads(documents[usual])["path"].count("\x01") == 1_040_000
    assert documents[usual + 1] == parsed("apache-combined", [USUAL]).data[:-1]


def test_a_user_without_a_name_is_left_out() -> None:
    """Apache writes two quotes for one, mostly beside a 401."""
    unnamed = USUAL.replace("- -", '- ""')
    assert parsed("apache-combined", [unnamed]).data == parsed("apache-combined", [USUAL]).data


def test_haproxy_has_no_status_where_it_passes_bytes_on() -> None:
    """In its TCP mode the bytes follow the timers, and three digits of them are no status."""
    line = "May  1 12:34:56 lb haproxy[17]: 192.0.2.1:33 [01/May/2024:12:34:56.789] db pg/one 0/0/5 {} -- 1/1/0/0/0 0/0"
    data = parsed("haproxy", [line.format(212), line.format("200 +212")]).data
    documents = [json.loads(each) for each in data.splitlines()]
    assert [(each.get("status"), each["bytes"]) for each in documents] == [(None, 212), (200, 212)]


def test_an_empty_line_behind_two_records_on_a_line_is_counted() -> None:
    """The last line of an event that is taken apart belongs to the last record."""
    first, second = (f"2024-05-01 12:34:56,789 INFO a.b: {text}" for text in "xy")
    result = parsed("log4j", [first + second, "", first])
    assert (result.lines, result.documents, result.joined, result.further) == (3, 3, 1, 1)
    assert json.loads(result.data.splitlines()[1])["message"] == "y\n"


def test_many_records_on_a_line_are_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them is bad, and each needs its text: to cut all of them anew for each took quadratic time."""
    cut: list[int] = []

    def counted(data: bytes) -> str:
        cut.append(len(data))
        return decoded(data)

    monkeypatch.setattr(reading, "decoded", counted)
    line = 1000 * "x192.0.2.1 - - [01/Jan/2024:00:00:00 "
    result = parsed("apache-combined", [line])
    assert (len(result.bad), result.further) == (1001, 1000)
    assert sum(cut) < 3 * len(line)
