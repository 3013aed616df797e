"""JSON lines, log4j, syslog, regular expressions and grok."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import UsageError
from paddock.imports.detect import fits
from paddock.imports.formats.catalogue import FormatChoice
from paddock.imports.formats.expressions import PATTERNS, compile_grok
from paddock.imports.formats.json_lines import JsonLines
from paddock.imports.parsing import Parsed
from paddock.imports.shape import Shape, track_shape
from paddock.imports.sources import Block
from paddock.imports.text import to_json
from paddock.imports.times import Clock
from tests.imports.samples import ANY_SHAPE, NEW_YEAR_2026, USUAL, parsed


def documents(format: str, *lines: str, **choice: str) -> list[dict[str, Any]]:  # noqa: A002
    """All documents; no line may be bad."""
    result = parsed(format, lines, **choice)
    assert result.bad == []
    return written(result)


def written(result: Parsed) -> list[dict[str, Any]]:
    """The documents of a block."""
    return [json.loads(line) for line in result.data.decode().split("\n")[:-1]]


def reason(format: str, line: str, **choice: str) -> str:  # noqa: A002
    """Why a line is bad."""
    [(_, why, _)] = parsed(format, [line], **choice).bad
    return why


# --- JSON lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"@timestamp":"2024-05-01T12:34:56Z","message":"x"}', {"message": "x"}),
        ('{"t":{"$date":"2024-05-01T14:34:56.000+02:00"},"s":"I","msg":"x"}', {"s": "I", "message": "x"}),
        ('{"__REALTIME_TIMESTAMP":"1714566896000000","MESSAGE":"x"}', {"message": "x"}),
        ('{"level":"info","ts":1714566896,"msg":"x"}', {"level": "info", "message": "x"}),
        ('{"log":"x\\n","stream":"stdout","time":"2024-05-01T12:34:56.0Z"}', {"stream": "stdout", "message": "x\n"}),
        ('{"time":"01/May/2024:12:34:56 +0000","a":{"b":null,"c":[1,null]},"d":null}', {"a": {"c": [1]}}),
    ],
)
def test_json_lines_find_their_time(line: str, expected: dict[str, Any]) -> None:
    """Under the usual names; nulls are left out; the text of the usual names becomes the message."""
    assert documents("json-lines", line) == [{"@timestamp": "2024-05-01T12:34:56.000Z", **expected}]


def test_the_time_field_can_be_named() -> None:
    """At any depth, and only that one counts."""
    line = '{"event":{"at":"2024-05-01 12:00:00","id":7},"time":"2001-01-01T00:00:00Z"}'
    [found] = documents("json-lines", line, time_field="event.at", zone="Europe/Berlin")
    assert found == {"@timestamp": "2024-05-01T10:00:00.000Z", "event": {"id": 7}, "time": "2001-01-01T00:00:00Z"}
    assert reason("json-lines", '{"time":1}', time_field="event.at") == "no field 'event.at'"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("plain text", "not a JSON object"),
        ("[1,2]", "not a JSON object"),
        ('{"time":1714566896,', "not valid JSON"),
        ('{"time":1714566896,"x":NaN}', "not valid JSON"),
        ('{"time":1714566896,"x":' + "[" * 100_000, "nested more than 100 deep"),
        ('{"time":1714566896,"x":' + '{"x":' * 600 + "null" + "}" * 601, "nested more than 100 deep"),
        ('{"time":1714566896,"x":' + '[{"x":' * 50 + "1" + "}]" * 50 + "}", "nested more than 100 deep"),
        ('{"message":"x"}', "no field with a time"),
        ('{"time":"soon"}', "the time cannot be read"),
        ('{"time":1714566896,"_id":"7"}', "Elasticsearch keeps the field _id for itself"),
        ('{"time":1714566896,"":"7"}', "a field name that Elasticsearch refuses"),
        ('{"time":1714566896,"a":{"b..c":"7"}}', "a field name that Elasticsearch refuses"),
        ('{"time":1714566896,"a":[{"b":1},{"":"7"}]}', "a field name that Elasticsearch refuses"),
        ('{"time":1714566896,"a. .b":"7"}', "a field name that Elasticsearch refuses"),
    ],
)
def test_bad_json_has_a_reason(line: str, why: str) -> None:
    """What Elasticsearch or JSON would refuse is set aside here."""
    assert reason("json-lines", line) == why


def test_half_a_surrogate_pair_does_not_end_the_import() -> None:
    """JSON can say it, UTF-8 cannot."""
    assert documents("json-lines", r'{"time":1714566896,"message":"a\ud83d b"}')[0]["message"] == "a\ufffd b"


JSON = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**60), 2**60), st.text(st.characters(exclude_categories=("Cs",)))),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.from_regex(r"[a-z]{2,5}", fullmatch=True), inner)),
    max_leaves=10,
)


@given(st.dictionaries(st.from_regex(r"f[a-z]{1,5}", fullmatch=True), JSON))
def test_any_json_comes_out_as_it_went_in(fields: dict[str, Any]) -> None:
    """But for the time, which comes first."""
    [found] = documents("json-lines", to_json({**fields, "@timestamp": 1714566896}).decode())
    assert found == {"@timestamp": "2024-05-01T12:34:56.000Z", **fields}
    assert next(iter(found)) == "@timestamp"


# Texts of JSON as they may stand in a log, and what is none: numbers that no long or double holds, half surrogate
# pairs, bytes that are no UTF-8, names twice.
UNUSUAL = st.recursive(
    st.one_of(
        st.sampled_from(
            ("null", "true", "-0", "-0.0", "1e5", "1E+22", "1e16", "9223372036854775808", "18446744073709551615",
             "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "123456789012345678901.5", "1e308",
             "1e400", "NaN", "-Infinity", "01", "1.", '"\\ud800"', '"\\ude00\\ud83d"', '"\\ud83d\\ude00"',
             '"\\u0000\\/"', '"\x7f\u2028"', '"a\tb"', '"\udcff\udc80"', '"\ufeff"', '"e+ null } {"', "{}{}",
             "[1,]", "")
        ),
        st.integers().map(str),
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.text(st.characters(exclude_categories=("Cs",))).map(lambda text: to_json(text).decode()),
    ),
    lambda inner: st.one_of(
        st.lists(inner).map(lambda values: f"[{','.join(values)}]"),
        st.lists(st.tuples(st.sampled_from(("a", "b", "message", "_id", "a..b", "timestamp", "")), inner)).map(
            lambda members: "{" + " , ".join(f'"{name}": {value}' for name, value in members) + "}"
        ),
    ),
    max_leaves=8,
)  # fmt: skip
STRICT = Shape("strict", strict=True, properties={"message": {"type": "text"}, "n": {"type": "long"}})


@pytest.mark.parametrize("shape", [ANY_SHAPE, STRICT, track_shape("logs")], ids=["any", "strict", "logs"])
@given(lines=st.lists(st.tuples(UNUSUAL, UNUSUAL, st.sampled_from(("", "\r", " ", " x", '{"time":2}'))), min_size=1))
def test_json_is_read_as_the_standard_library_reads_it(shape: Shape, lines: list[tuple[str, str, str]]) -> None:
    """The quick decoder makes no difference: the same documents, bad lines, counts and kinds, whatever the lines."""
    texts = [f'{{"time":1714566896,"n":{first},"message":{second}}}{end}' for first, second, end in lines]
    texts += [f"{first}{end}" for first, _, end in lines if "\n" not in first]
    quick, slow = parsed("json-lines", texts, shape), parsed("json-lines", texts, shape, quick=False)
    assert replace(quick, data=b"") == replace(slow, data=b"")
    # repr: 1 is not 1.0, and 0.0 is not -0.0
    assert repr(written(quick)) == repr(written(slow))


def test_usual_json_takes_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nested, with nulls, numbers of 64 bits and texts of any language; only what is unusual is parsed line by line."""
    one_by_one: list[str] = []
    event = JsonLines.event
    monkeypatch.setattr(JsonLines, "event", lambda self, line: one_by_one.append(line) or event(self, line))
    usual = '{"ts":1714566896,"a":{"b":[1,null]},"message":"größer","n":18446744073709551615,"f":0.5}'
    rounded = '{"ts":1714566896,"n":18446744073709551616}'
    assert parsed("json-lines", [usual, rounded, usual]).documents == 3
    assert one_by_one == [rounded]


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("key", [None, bytes(32)])
def test_deeply_nested_nulls_do_not_end_the_import(begin: str, end: str, key: bytes | None) -> None:
    """As deep as JSON is taken nulls are left out as well; deeper it is bad, anonymised or not, whoever calls."""
    lines = [f'{{"time":1714566896,"x":{begin * deep}null{end * deep}}}' for deep in (99, 100, 300, 600, 1200)]
    found = parsed("json-lines", lines, key=key)
    assert (found.documents, {why for _, why, _ in found.bad}) == (1, {"nested more than 100 deep"})


def test_processes_that_read_json_start_without_numba() -> None:
    """It would take each of them longer to load than to parse ten megabytes."""
    check = "import sys, paddock.imports.parsing; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


# --- log4j ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2024-05-01 12:34:56,789 INFO  [main] org.example.Service - ready: 7", {"thread": "main"}),
        ("2024-05-01 12:34:56.789 [main] INFO  org.example.Service - ready: 7", {"thread": "main"}),
        ("2024-05-01 12:34:56,789 INFO org.example.Service: ready: 7", {}),
        ("2024-05-01 12:34:56,789 INFO [main] org.example.Service: ready: 7", {"thread": "main"}),
        ("2024-05-01T12:34:56.789Z  INFO 17 --- [shop] [           main] org.example.Service  : ready: 7",
         {"thread": "main", "application": "shop", "pid": 17}),
        ("2024-05-01 12:34:56.789  INFO 17 --- [main] org.example.Service : ready: 7", {"thread": "main", "pid": 17}),
        ("[2024-05-01T12:34:56,789][INFO ][org.example.Service      ] [node-1] ready: 7", {"node": "node-1"}),
        ("[2024-05-01 12:34:56,789] INFO ready: 7 (org.example.Service)", {}),
        ("01-May-2024 12:34:56.789 INFO [main] org.example.shop.Service ready: 7",
         {"thread": "main", "logger": "org.example.shop.Service"}),
        ("2024-05-01 12:34:56,789 - org.example.Service - INFO - ready: 7", {}),
        ("2024-05-01 12:34:56,789 - INFO  [worker[id=1]/0:0] - ready: 7",
         {"thread": "worker[id=1]/0:0", "logger": None}),
    ],
)  # fmt: skip
def test_usual_layouts_are_taken_apart(line: str, expected: dict[str, Any]) -> None:
    """log4j, logback, Hadoop, Spring Boot, Elasticsearch, Kafka, Tomcat, ZooKeeper."""
    [found] = documents("log4j", line)
    wanted = {"@timestamp": "2024-05-01T12:34:56.789Z", "level": "INFO", "message": "ready: 7",
              "logger": "org.example.Service", **expected}  # fmt: skip
    assert found == {name: value for name, value in wanted.items() if value is not None}


TRACE = (
    "org.example.OrderException: order 7 failed",
    "\tat org.example.Orders.place(Orders.java:42)",
    "\t... 12 more",
    "Caused by: java.io.IOException: closed",
    "\tat org.example.Line.read(Line.java:7)",
)


def test_stack_traces_are_joined() -> None:
    """Further lines belong to the message, from the first one on that looks like a trace to the trace."""
    lines = ["2024-05-01 12:34:56,789 ERROR [w-1] o.e.Orders - failed", "while packing", "", *TRACE,
             "2024-05-01 12:34:57,000 INFO  [w-1] o.e.Orders - next"]  # fmt: skip
    result = parsed("log4j", lines)
    first, second = map(json.loads, result.data.splitlines())
    assert first["message"] == "failed\nwhile packing\n"
    assert first["stack_trace"] == "\n".join(TRACE)
    assert "stack_trace" not in second
    assert (result.lines, result.documents, result.joined, result.bad) == (9, 2, 7, [])


def test_further_lines_belong_to_their_event() -> None:
    """PostgreSQL's statements, and a traceback in Rally's own log."""
    [found] = documents(
        "postgresql", "2024-05-01 12:34:56.789 UTC [1] STATEMENT:  select 1", "\tfrom t", "\twhere 1 = 1"
    )
    assert found["message"] == "select 1\n\tfrom t\n\twhere 1 = 1"
    trace = ["Traceback (most recent call last):", '  File "a.py", line 7, in b', "OSError: gone"]
    [found] = documents("rally", "2024-05-01 12:34:56,789 actor/PID:7 esrally.actor ERROR failed", *trace)
    assert (found["message"], found["stack_trace"]) == ("failed", "\n".join(trace))


def test_lines_before_the_first_event_are_bad() -> None:
    """A trace whose event is in an older file, all of it together."""
    result = parsed("log4j", [*TRACE, "2024-05-01 12:34:57,000 INFO  [w-1] o.e.Orders - next"])
    assert [line for line, _, _ in result.bad] == [1, 2, 3, 4, 5]
    assert {why for _, why, _ in result.bad} == {"no time at the beginning"}
    assert result.documents == 1


def test_a_time_without_a_level_is_no_event() -> None:
    """Named by what it lacks."""
    assert reason("log4j", "2024-05-01 12:34:57,000 something happened") == "no level after the time"


# --- syslog ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Dec 31 23:59:59 web-1 sshd[411]: session opened",
         {"@timestamp": "2025-12-31T23:59:59.000Z", "host": "web-1", "syslogtag": "sshd[411]:",
          "message": "session opened"}),
        ("<30>Jan  1 00:00:01 web-1 kernel: [ 7.0] eth0: up",
         {"@timestamp": "2026-01-01T00:00:01.000Z", "host": "web-1", "severity": "info", "facility": "daemon",
          "syslogtag": "kernel:", "message": "[ 7.0] eth0: up"}),
        ("Jan  1 00:00:01 web-1 last message repeated 3 times",
         {"@timestamp": "2026-01-01T00:00:01.000Z", "host": "web-1", "message": "last message repeated 3 times"}),
        ("2024-05-01T12:34:56.123456+02:00 web-1 cron[7]: done",
         {"@timestamp": "2024-05-01T10:34:56.123Z", "host": "web-1", "syslogtag": "cron[7]:", "message": "done"}),
        ("May  1 2024 12:34:56 asa-1 %ASA-6-302013: Built",
         {"@timestamp": "2024-05-01T12:34:56.000Z", "host": "asa-1", "syslogtag": "%ASA-6-302013:",
          "message": "Built"}),
        ("2024-05-01T14:34:56+0200 web-1 app[7]: up",
         {"@timestamp": "2024-05-01T12:34:56.000Z", "host": "web-1", "syslogtag": "app[7]:", "message": "up"}),
        ('<165>1 2003-10-11T22:14:15.003Z m.example su 7 ID47 [x@1 a="\\"]" b="2"][y@1] \ufeffsaid',
         {"@timestamp": "2003-10-11T22:14:15.003Z", "host": "m.example", "severity": "notice", "facility": "local4",
          "syslogtag": "su[7]:", "msgid": "ID47", "structured_data": '[x@1 a="\\"]" b="2"][y@1]', "message": "said"}),
        ("<0>1 2003-10-11T22:14:15-07:00 - - - - -",
         {"@timestamp": "2003-10-12T05:14:15.000Z", "severity": "emerg", "facility": "kern", "message": ""}),
    ],
)  # fmt: skip
def test_both_rfcs_are_syslog(line: str, expected: dict[str, Any]) -> None:
    """With and without priority, process, structured data; years from the file's time; "-" is left out."""
    assert documents("syslog", line) == [expected]


def test_times_of_rfc3164_are_of_the_given_zone() -> None:
    """Which the log does not say."""
    [found] = documents("syslog", "Jul  1 12:00:00 web-1 a: b", zone="America/New_York")
    assert found["@timestamp"] == "2025-07-01T16:00:00.000Z"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hello", "not the format syslog"),
        ("<192>1 2003-10-11T22:14:15Z h a - - - x", "a priority above 191"),
        ("<30>1 - h a - - - x", "no time"),
        ("2026-01-05T10:00:00.123456Z 0 [Note] InnoDB: started", "not the format syslog"),
        ("Feb 30 12:00:00 web-1 a: b", "the time cannot be read"),
    ],
)
def test_bad_syslog_has_a_reason(line: str, why: str) -> None:
    """A sentence's worth each."""
    assert reason("syslog", line) == why


# --- regular expressions and grok -----------------------------------------------------------------


def test_named_groups_become_fields() -> None:
    """In Python's and in other languages' spelling; groups that matched nothing are left out."""
    for opening in ("?P<", "?<"):
        format = rf"regex=({opening}time>\S+ \S+) ({opening}code>\d+)? ?({opening}message>.*)"  # noqa: A001
        assert documents(format, "2024-05-01 12:34:56 7 ok", "2024-05-01 12:34:56 ok") == [
            {"@timestamp": "2024-05-01T12:34:56.000Z", "code": "7", "message": "ok"},
            {"@timestamp": "2024-05-01T12:34:56.000Z", "message": "ok"},
        ]
        assert reason(format, "nonsense") == "does not match the regex pattern"


def test_grok_patterns_become_fields() -> None:
    """Types, nested fields, inline groups, patterns within patterns."""
    format = r"grok=%{SYSLOGBASE} %{LOGLEVEL:level} took %{NUMBER:took:float} ms, %{INT:[http][status]:int}(?<rest>.*)"  # noqa: A001
    [found] = documents(format, "Jan  1 10:00:00 web-1 app[7]: WARN took 1.5 ms, 200!")
    assert found == {
        "@timestamp": "2026-01-01T10:00:00.000Z", "host": "web-1", "program": "app", "pid": "7", "level": "WARN",
        "took": 1.5, "http.status": 200, "rest": "!",
    }  # fmt: skip


def test_grok_reads_access_logs() -> None:
    """The combination that everybody knows."""
    line = '203.0.113.9 - bob [05/Jan/2026:10:00:00 +0100] "GET /x HTTP/1.1" 200 - "-" "curl/8"'
    [found] = documents("grok=%{COMBINEDAPACHELOG}", line)
    assert found["clientip"] == "203.0.113.9"
    assert (found["status"], found["method"], found["user_agent"]) == (200, "GET", '"curl/8"')
    assert "bytes" not in found


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("IPV4", "203.0.113.255", "203.0.113.256"), ("IPV6", "2001:db8::1", "2001:db8:zz::1"),
        ("UUID", "123e4567-e89b-12d3-a456-426614174000", "123e4567"), ("MAC", "00:1b:44:11:3a:b7", "00:1b:44"),
        ("HOSTNAME", "web-1.shop.example", "web 1"), ("EMAILADDRESS", "a.b@shop.example", "a.b"),
        ("TIMESTAMP_ISO8601", "2024-05-01T12:34:56.789+02:00", "12:34"),
        ("HTTPDATE", "05/Jan/2026:10:00:00 +0100", "05/Jan"),
        ("SYSLOGTIMESTAMP", "Jan  5 10:00:00", "Foo 5 10:00:00"), ("LOGLEVEL", "warn", "loud"),
        ("WORD", "abc_1", "a-b"),
        ("NUMBER", "-1.5", "1.5.2"), ("QS", '"a \\" b"', '"a'), ("URI", "https://bob@shop.example:8080/a?b=c", "shop"),
        ("PATH", "/var/log/a.log", "var"), ("JAVACLASS", "org.example.Service$1", "1.a"), ("INT", "-7", "7.5"),
        ("DATE_EU", "31.12.2024", "12"), ("GREEDYDATA", "any thing", None), ("MONTHDAY", "31", "32"),
    ],
)  # fmt: skip
def test_grok_patterns_match_what_they_are_called(name: str, right: str, wrong: str | None) -> None:
    """One that is right and one that is not."""
    import re

    source, _ = compile_grok(f"%{{{name}:field}}")
    found = re.fullmatch(source, right)
    assert found is not None
    assert found["group0"] == right
    assert wrong is None or re.fullmatch(source, wrong) is None


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_every_grok_pattern_compiles(name: str) -> None:
    """And names no other that is not there."""
    FormatChoice(f"grok=%{{TIMESTAMP_ISO8601:time}} %{{{name}:field}}").build()


@pytest.mark.parametrize(
    ("format", "sentence"),
    [
        ("regex=(?P<time>.*", r"cannot be compiled"),
        ("regex=(?P<message>.*)", r"no field for a time among message: add one such as \(\?P<timestamp>"),
        ("regex", r"--format regex needs its expression"),
        ("grok=%{WROD:time}", r"no grok pattern 'WROD'. Did you mean WORD"),
        ("grok=%{WORD:time:date}", r"type 'date': use int, float or string"),
        ("grok=%{WORD:time} %{", r"is no %\{PATTERN:field\}"),
        ("apache", r"no format 'apache'. Did you mean 'apache-"),
        ("json=x", r"no format 'json=x'"),
    ],
)
def test_formats_that_cannot_be_meant_are_sentences(format: str, sentence: str) -> None:  # noqa: A002
    """Before any file is read."""
    with pytest.raises(UsageError, match=sentence):
        FormatChoice(format).build()


def test_a_time_field_is_for_formats_with_fields() -> None:
    """An access log has one time."""
    with pytest.raises(UsageError, match="--time-field is for json-lines, regex and grok"):
        FormatChoice("nginx", time_field="t").build()


# --- formats of one layout ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "line", "expected"),
    [
        ("kubernetes-cri", "2024-05-01T12:34:56.789012345Z stderr F ready: 7",
         {"stream": "stderr", "logtag": "F", "message": "ready: 7"}),
        ("containerd", 'time="2024-05-01T12:34:56.789012345Z" level=info msg="say \\"x\\"" id=7 ns=k8s',
         {"level": "INFO", "fields": "id=7 ns=k8s", "message": 'say "x"'}),
        ("containerd", 'time="2024-05-01T14:34:56.789+02:00" level=warning msg=ready',
         {"level": "WARNING", "message": "ready"}),
        ("haproxy", "May  1 12:34:56 lb haproxy[17]: 192.0.2.2:33317 [01/May/2024:12:34:56.789] web app/s1 "
         '10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /index.html HTTP/1.1"',
         {"host": "lb", "pid": 17, "client": "192.0.2.2", "client_port": 33317, "frontend": "web", "backend": "app",
          "server": "s1", "timers": "10/0/30/69/109", "status": 200, "bytes": 2750,
          "message": '- - ---- 1/1/1/1/0 0/0 "GET /index.html HTTP/1.1"'}),
        ("apache-error", "[Wed May 01 12:34:56.789123 2024] [core:error] [pid 35:tid 43] [client 192.0.2.7:12] AH1: x",
         {"module": "core", "level": "ERROR", "pid": 35, "thread": "43", "client": "192.0.2.7:12",
          "message": "AH1: x"}),
        ("openstack", "nova-api.log.1 2024-05-01 12:34:56.789 25746 INFO nova.osapi.wsgi [req-1 u p - - -] done",
         {"file": "nova-api.log.1", "pid": 25746, "level": "INFO", "logger": "nova.osapi.wsgi",
          "request": "req-1 u p - - -", "message": "done"}),
        ("android", "05-01 12:34:56.789  1702  2395 D WindowManager: frozen: no",
         {"@timestamp": "2025-05-01T12:34:56.789Z", "pid": 1702, "thread": "2395", "level": "DEBUG",
          "logger": "WindowManager", "message": "frozen: no"}),
        ("postgresql", "2024-05-01 12:34:56.789 UTC [1234] bob@shop LOG:  statement: select 1",
         {"pid": 1234, "user": "bob", "database": "shop", "level": "LOG", "message": "statement: select 1"}),
        ("postgresql", "2024-05-01 12:34:56.789 UTC [1234] ERROR:  syntax error at or near \"x\"",
         {"pid": 1234, "level": "ERROR", "message": 'syntax error at or near "x"'}),
        ("klog", "W0501 12:34:56.789012    1234 server.go:12] ready: 7",
         {"@timestamp": "2025-05-01T12:34:56.789Z", "level": "WARNING", "thread": "1234", "logger": "server.go:12",
          "message": "ready: 7"}),
        ("rally", "2024-05-01 12:34:56,789 -not-actor-/PID:1234 esrally.racecontrol INFO ready: 7",
         {"actor": "-not-actor-", "pid": 1234, "logger": "esrally.racecontrol", "level": "INFO",
          "message": "ready: 7"}),
    ],
)  # fmt: skip
def test_formats_of_one_layout(format: str, line: str, expected: dict[str, Any]) -> None:  # noqa: A002
    """Each as its program writes it."""
    assert documents(format, line) == [{"@timestamp": "2024-05-01T12:34:56.789Z", **expected}]


@pytest.mark.parametrize(
    ("format", "line", "expected"),
    [
        ("apache-error", "[Wed May 01 12:34:56 2024] [notice] workerEnv.init() ok /etc/workers2.properties",
         {"level": "NOTICE", "message": "workerEnv.init() ok /etc/workers2.properties"}),
        ("hdfs", "240501 123456 148 INFO dfs.DataNode$PacketResponder: block blk_38 terminating",
         {"thread": "148", "level": "INFO", "logger": "dfs.DataNode$PacketResponder",
          "message": "block blk_38 terminating"}),
        ("windows-cbs", "2024-05-01 12:34:56, Info                  CBS    Loaded Servicing Stack",
         {"level": "INFO", "logger": "CBS", "message": "Loaded Servicing Stack"}),
        ("json-lines", '{"@timestamp":"2024-05-01T12:34:56Z","log.level":"INFO","message":"x","log.logger":"o.e.S",'
         '"process.thread.name":"main","error.stack_trace":"y"}',
         {"level": "INFO", "logger": "o.e.S", "thread": "main", "stack_trace": "y", "message": "x"}),
        ("json-lines", '{"@timestamp":"2024-05-01T12:34:56Z","@version":"1","message":"x","logger_name":"o.e.S",'
         '"thread_name":"main","level":"INFO","level_value":20000}',
         {"@version": "1", "level": "INFO", "level_value": 20000, "logger": "o.e.S", "thread": "main",
          "message": "x"}),
        ("json-lines", '{"instant":{"epochSecond":1714566896,"nanoOfSecond":0},"loggerName":"o.e.S","message":"x"}',
         {"logger": "o.e.S", "message": "x"}),
    ],
)  # fmt: skip
def test_formats_of_whole_seconds(format: str, line: str, expected: dict[str, Any]) -> None:  # noqa: A002
    """The same, without a fraction; Java's layouts in JSON have the names of the track logs."""
    assert documents(format, line) == [{"@timestamp": "2024-05-01T12:34:56.000Z", **expected}]


@pytest.mark.parametrize("format", ["kubernetes-cri", "haproxy"])
def test_lines_that_are_nearly_syslog_are_told_apart(format: str) -> None:  # noqa: A002
    """Syslog would take them too; the more exact format comes first."""
    lines = {
        "kubernetes-cri": "2024-05-01T12:34:56.789Z stdout F ready: 7",
        "haproxy": "May  1 12:34:56 lb haproxy[17]: 192.0.2.2:33 [01/May/2024:12:34:56.789] web app/s1 1/0/3 200 2 -",
    }
    sample = Block("x", 1, 1, lines[format].encode(), NEW_YEAR_2026)
    assert fits(FormatChoice("auto"), sample)[0].format == format


def test_kafka_keeps_the_form_of_its_messages() -> None:
    """What stands in brackets before the text is the message's own prefix, no thread."""
    [found] = documents("log4j", "[2024-05-01 12:34:56,789] INFO [Controller 0]: text (kafka.controller.Controller)")
    assert (found["message"], found["logger"]) == ("[Controller 0]: text", "kafka.controller.Controller")
    assert "thread" not in found


@pytest.mark.parametrize(
    ("format", "first", "second"),
    [
        ("json-lines", '{"time":1,"message":"}{"}', '{"time":2,"message":"b"}'),
        ("log4j", "2024-05-01 12:34:56,789 INFO o.e.S: a", "2024-05-01 12:34:56,790 WARN [main] o.e.S - b"),
        ("syslog", "Jan  1 10:00:00 web-1 app[7]: a", "Jan  1 10:00:01 web-1 app[7]: b"),
        ("apache-combined", USUAL, USUAL.replace("lamp", "chair")),
        ("nginx", USUAL, USUAL.replace("lamp", "chair")),
    ],
)  # fmt: skip
def test_two_records_on_one_line_are_two_events(format: str, first: str, second: str) -> None:  # noqa: A002
    """Where the end of a line was lost; the same documents as on two lines, the same line's number."""
    apart, together = parsed(format, [first, second]), parsed(format, [first + second])
    assert together.data == apart.data
    assert (together.lines, together.further, together.documents, together.bad) == (1, 1, 2, [])


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("syslog", "Jan  1 10:00:00 web-1 cron[7]: mail: Jan  1 10:00:01 web-1 app[7]: b"),
        ("log4j", '2024-05-01 12:34:56,789 INFO o.e.S: got "2024-05-01 12:34:56,790 WARN o.e.S: b"'),
        ("json-lines", '{"time":1,"message":"{\\"a\\":1}{\\"b\\":2}"}'),
    ],
)
def test_a_quoted_record_is_part_of_its_message(format: str, line: str) -> None:  # noqa: A002
    """An event that tells of another one stays whole."""
    assert parsed(format, [line]).documents == 1


def test_nginx_does_not_swallow_a_second_record() -> None:
    """What stands behind the user agent may be many things, but not another request."""
    assert reason("nginx", f"{USUAL} 0.004{USUAL}") == "two records on one line"


def test_virtual_hosts_before_the_client() -> None:
    """Apache's vhost_combined."""
    [found] = documents("apache-combined", f"www.shop.example:443 {USUAL}")
    assert (found["vhost"], found["clientip"]) == ("www.shop.example:443", "203.0.113.9")


_A_LOG4J_TIME = "2026-01-05 10:00:00,000"


@pytest.mark.parametrize(
    ("format", "begin", "piece"),
    [
        ("apache-combined", "203.0.113.9 - bob", " ["),
        ("log4j", f"{_A_LOG4J_TIME} INFO x{_A_LOG4J_TIME}", " "),
        ("log4j", f"{_A_LOG4J_TIME} INFO ", "a."),
        ("log4j", f"[{_A_LOG4J_TIME}][INFO ][", " "),
        ("log4j", f"[{_A_LOG4J_TIME}] INFO", " "),
        ("android", "03-17 16:13:38.811  1702  2395 D", " "),
        ("openstack", "", ".log"),
        ("json-lines", '{"time":"', "10:10:10 "),
    ],
)
def test_no_format_is_worse_than_linear(format: str, begin: str, piece: str) -> None:  # noqa: A002
    """A line of 300 kB of one piece: a quadratic expression takes minutes, a linear one a moment."""
    began = time.process_time()
    end = '\\n"}' if format == "json-lines" else "!"
    result = parsed(format, [begin + piece * (300_000 // len(piece)) + end])
    assert time.process_time() - began < 30
    assert result.lines == result.documents + len(result.bad)


def test_many_objects_on_one_line_take_linear_time() -> None:
    """Each is looked at once; three megabytes of them would take minutes otherwise."""
    began = time.process_time()
    assert len(JsonLines(Clock()).records(" {} {}" * 500_000)) == 1_000_000
    assert time.process_time() - began < 60
