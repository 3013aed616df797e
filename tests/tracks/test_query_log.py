"""Recorded query logs: what is read, what is refused with its line, and what becomes of "now"."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.query_log import BadQueryLog, RecordedQuery, asks_of_today, at_its_time, read_query_log

from paddock.imports import QueryImportOptions
from paddock.imports.queries import import_queries
from tests.tracks.replayed import START, query_log

AT = "2026-01-05T20:00:01.250Z"
GOOD = {"at": AT, "body": {}}


def test_queries_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Each with all that the log says of it; lines without anything are passed over."""
    path = query_log(tmp_path, [3, 1], name="a.jsonl", took_ms=1.5, hits=7, params={"request_cache": True})
    path.write_text(path.read_text() + "\n  \n" + json.dumps(GOOD), encoding="utf-8")
    found = read_query_log(path, "logs")
    assert [(one.line, one.at - START) for one in found] == [(2, 1_000_000), (5, 1_250_000), (1, 3_000_000)]
    assert (found[0].took_ms, found[0].hits, found[0].params, found[0].name) == (
        1.5,
        7,
        {"request_cache": True},
        "query",
    )
    assert (found[1].took_ms, found[1].hits) == (None, None)


@pytest.mark.parametrize("index", ["logs", "lo*", "_all", "logs,l*s", "*"])
def test_patterns_may_mean_the_index(tmp_path: Path, index: str) -> None:
    """As an application asks for its own."""
    assert len(read_query_log(query_log(tmp_path, [1], index=index), "logs")) == 1


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", r"queries.jsonl:2: this line is no JSON \("),
        ("[]", "queries.jsonl:2: this line is no object"),
        ({**GOOD, "query": {}}, "queries.jsonl:2: 'query' is no key of a query log, which has at, body"),
        ({"at": AT}, "queries.jsonl:2: the key 'body' is missing: the body of the search"),
        ({**GOOD, "at": "yesterday"}, "queries.jsonl:2: 'yesterday' is no time such as"),
        ({**GOOD, "at": 5}, "queries.jsonl:2: 5 is no time"),
        ({**GOOD, "body": "x"}, "queries.jsonl:2: 'body' must be an object"),
        ({**GOOD, "took_ms": -1}, "queries.jsonl:2: 'took_ms' must be a number from 0 on"),
        ({**GOOD, "hits": 1.5}, "queries.jsonl:2: 'hits' must be a number"),
        ({**GOOD, "params": {"a": []}}, "queries.jsonl:2: the parameter 'a' must be"),
        ({**GOOD, "index": "other"}, "queries.jsonl:2: the index 'other' is none of this race, which has 'logs' alone"),
        ({**GOOD, "index": "logs,audit-*"}, r"queries.jsonl:2: the index 'audit-\*' is none"),
        ('{"at": "' + AT + '", "body": {"boost": NaN}}', "queries.jsonl:2: this line is no JSON"),
        ('{"at": "' + AT + '", "body": {"boost": 1e999}}', "queries.jsonl:2: this line has a number that is too large"),
        ({**GOOD, "took_ms": 10**400}, "queries.jsonl:2: this line has a number that is too large"),
        ({**GOOD, "name": "\ud800"}, "queries.jsonl:2: this line has half a character"),
        ({**GOOD, "\ud800": 1}, "queries.jsonl:2: this line has half a character"),
        (
            '{"at": "' + AT + '", "body": ' + '{"a":' * 900 + "1" + "}" * 901,
            "queries.jsonl:2: this line is nested more than 200 deep",
        ),
        ({**GOOD, "at": "9999-12-31T23:59:59-10:00"}, "queries.jsonl:2: '9999-12-31T23:59:59-10:00' is no time"),
    ],
)
def test_a_broken_line_is_refused_with_its_place(tmp_path: Path, line: Any, sentence: str) -> None:
    """One sentence, file and line, whatever is wrong."""
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps(GOOD) + "\n" + (line if isinstance(line, str) else json.dumps(line)) + "\n")
    with pytest.raises(BadQueryLog, match=sentence) as raised:
        read_query_log(path, "logs")
    assert (raised.value.line, raised.value.path) == (2, path)


def test_files_that_are_no_query_log(tmp_path: Path) -> None:
    """One that is missing, empty or named from somewhere."""
    (tmp_path / "empty").write_text("\n")
    for path, sentence in (
        (tmp_path / "missing", "cannot be read: No such file"),
        (tmp_path / "empty", "has no line"),
        (Path("queries.jsonl"), "must be an absolute path"),
    ):
        with pytest.raises(BadQueryLog, match=sentence):
            read_query_log(path, "logs")


@given(st.binary(max_size=60))
def test_any_line_is_read_or_refused_with_a_sentence(line: bytes) -> None:
    """No line whatever ends in another exception."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "queries.jsonl"
        path.write_bytes(line.replace(b"\n", b""))
        with pytest.raises(BadQueryLog):
            read_query_log(path, "logs")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"gte": "now-15m", "lt": "now"}, {"gte": f"{AT}||-15m", "lt": AT}),
        ({"from": "now-1d/d", "to": None}, {"from": f"{AT}||-1d/d", "to": None}),
        ({"gte": "2026-01-01", "boost": 1.0}, {"gte": "2026-01-01", "boost": 1.0}),
        ({"gte": "now-15m", "format": "epoch_millis"}, {"gte": "now-15m", "format": "epoch_millis"}),
        ({"gte": 5}, {"gte": 5}),
        ({"gte": "nowak", "lt": "now-playing"}, {"gte": "nowak", "lt": "now-playing"}),
        ({"gte": "now+1h-2d/M", "lt": "now-h"}, {"gte": f"{AT}||+1h-2d/M", "lt": f"{AT}||-h"}),
    ],
)
def test_now_is_when_the_query_was_asked(asked: dict[str, Any], expected: dict[str, Any]) -> None:
    """In the bounds of ranges, however deep they are, and nowhere else; the query itself is not changed."""

    def body(bounds: dict[str, Any]) -> dict[str, Any]:
        return {
            "query": {"bool": {"filter": [{"range": {"@timestamp": bounds}}, {"match": {"message": "now-15m"}}]}},
            "aggs": {
                "recent": {
                    "filter": {"range": {"@timestamp": bounds}},
                    "aggs": {"r": {"range": {"field": "x", "ranges": [{"to": 5}]}}},
                }
            },
        }

    query = body(asked)
    assert at_its_time(query, START + 1_250_000) == body(expected)
    assert query == body(asked)


SINCE, UNTIL = f"{AT}||-1h", AT
HOUR = {"fixed_interval": "1h", "field": "@timestamp"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"query": {"range": {"to": {"gte": "now-1h"}}}}, {"query": {"range": {"to": {"gte": SINCE}}}}),
        (
            {
                "aggs": {
                    "r": {"date_range": {"field": "t", "ranges": [{"from": "now-1h", "key": "recent"}, {"to": "now"}]}}
                }
            },
            {
                "aggs": {
                    "r": {"date_range": {"field": "t", "ranges": [{"from": SINCE, "key": "recent"}, {"to": UNTIL}]}}
                }
            },
        ),
        *(
            (
                {"aggs": {"h": {"date_histogram": {**HOUR, name: {"min": "now-1h", "max": "now"}}}}},
                {"aggs": {"h": {"date_histogram": {**HOUR, name: {"min": SINCE, "max": UNTIL}}}}},
            )
            for name in ("extended_bounds", "hard_bounds")
        ),
        (
            {"query": {"distance_feature": {"field": "@timestamp", "origin": "now", "pivot": "1h"}}},
            {"query": {"distance_feature": {"field": "@timestamp", "origin": UNTIL, "pivot": "1h"}}},
        ),
        (
            {"aggs": {"range": {"filter": {"range": {"date_range": {"lt": "now"}}}, "aggs": {"x": {}}}}},
            {"aggs": {"range": {"filter": {"range": {"date_range": {"lt": UNTIL}}}, "aggs": {"x": {}}}}},
        ),
        (
            {"aggs": {"range": {"aggs": {"to": {"filter": {"range": {"t": {"to": "now"}}}}}}}},
            {"aggs": {"range": {"aggs": {"to": {"filter": {"range": {"t": {"to": UNTIL}}}}}}}},
        ),
    ],
)
def test_now_is_replaced_wherever_it_bounds_a_time(body: dict[str, Any], expected: dict[str, Any]) -> None:
    """A field may have the name of a bound, an aggregation that of a range; then nothing asks of today any more."""
    query = RecordedQuery(1, START + 1_250_000, body)
    assert at_its_time(body, query.at) == expected
    assert not asks_of_today(query)


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        ({"query": {"query_string": {"query": "status:500 AND @timestamp:[now-15m TO now]"}}}, True),
        ({"query": {"query_string": {"query": "@timestamp:>=now-1h"}}}, True),
        ({"query": {"query_string": {"query": "it happens now"}}}, False),
        ({"query": {"range": {"@timestamp": {"gte": "now-15m", "format": "epoch_millis"}}}}, True),
        ({"aggs": {"r": {"date_range": {"field": "t", "format": "MM-yyyy", "ranges": [{"to": "now/M"}]}}}}, True),
        (
            {"aggs": {"h": {"date_histogram": {**HOUR, "format": "HH", "hard_bounds": {"min": "now-1h"}}}}},
            True,
        ),
        ({"query": {"function_score": {"gauss": {"@timestamp": {"origin": "now", "scale": "1h"}}}}}, True),
        ({"query": {"match": {"message": "now"}}}, False),
        ({"query": {"range": {"user": {"gte": "nowak"}}}}, False),
    ],
)
def test_queries_that_ask_of_today_are_known(body: dict[str, Any], asks: bool) -> None:
    """Where now cannot be replaced it stays, and is found; words of a text are none."""
    query = RecordedQuery(1, START, body)
    assert at_its_time(body, START) == body
    assert asks_of_today(query) is asks
    assert asks_of_today(RecordedQuery(1, START, {}, params={"q": "t:[now-1h TO now]"}))


def test_what_is_made_of_a_slow_log_is_read(tmp_path: Path) -> None:
    """By the track as ./inv queries.import has written it."""
    slow_log = Path(__file__).parents[1] / "imports" / "slow_logs" / "9.2.4.json.gz"
    import_queries(QueryImportOptions((str(slow_log),), str(tmp_path / "queries.jsonl")))
    found = read_query_log(tmp_path / "queries.jsonl", "paddock-apache")
    assert len(found) == 11
    assert (found[0].hits, found[1].name, found[2].name) == (20, "dash", "query")
