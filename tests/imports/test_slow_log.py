"""Search slow logs become query logs: those that nodes of 7.17, 8.8 and 9.2 have written, and any other lines.

The files in slow_logs/ are what nodes with their own logging wrote of the same thirteen searches, thresholds at 0: as
JSON, and as text (7.17 writes both; the others had a plain pattern added).
"""

from __future__ import annotations

import gzip
import json
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import FileError, UsageError
from paddock.imports import QueryImportOptions
from paddock.imports.queries import QueryImport, import_queries
from paddock.imports.slow_log import NoSlowLine, SlowLine, read_slow_line, searches, stream_of

LOGS = Path(__file__).parent / "slow_logs"
VERSIONS = ("7.17.28", "8.8.2", "9.2.4")
UTC = timezone.utc


def converted(folder: Path, *files: Path | str, **options: Any) -> tuple[QueryImport, list[dict[str, Any]]]:
    """What became of the files, and the lines of the query log."""
    target = folder / "queries.jsonl"
    found = import_queries(QueryImportOptions(tuple(map(str, files)), str(target), **{"force": True, **options}))
    return found, [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("form", ["json", "log"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_slow_log_of_a_real_node(tmp_path: Path, version: str, form: str) -> None:
    """Lines of three shards and two phases are one search; what was asked comes out whole, brackets and quotes too."""
    found, queries = converted(tmp_path, LOGS / f"{version}.{form}.gz")
    assert (found.written, found.bad, found.others, found.hidden) == (11, 0, 0, 4)
    asked = queries[0]["body"]["query"]["match"]["m"]["query"]
    assert asked == "hello], id[7], source[x]"
    assert queries[0]["hits"] == 20
    assert 10 < queries[0]["took_ms"] < 1000
    assert queries[1]["name"] == "dash"
    # The same twice is twice; the second page of a scroll is one more; only those that asked two indices lack hits.
    assert queries[2]["body"] == queries[3]["body"]
    assert [number for number, one in enumerate(queries) if "hits" not in one] == [6]
    assert found.without_point == 2
    assert not any("pit" in one["body"] or "search_after" in one["body"] for one in queries)
    moments = [one["at"] for one in queries]
    assert moments == sorted(moments)


@pytest.mark.parametrize("version", VERSIONS)
def test_text_and_json_say_the_same(tmp_path: Path, version: str) -> None:
    """To the microsecond."""
    forms = [converted(tmp_path, LOGS / f"{version}.{form}.gz")[1] for form in ("json", "log")]
    assert forms[0] == forms[1]


def test_a_shipper_may_have_made_objects_of_it(tmp_path: Path) -> None:
    """Filebeat's documents have nested names, and what was asked perhaps as an object."""
    with gzip.open(LOGS / "9.2.4.json.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    nested = []
    for line in lines:
        whole: dict[str, Any] = {}
        for name, value in line.items():
            *above, last = name.split(".")
            at = whole
            for part in above:
                at = at.setdefault(part, {})
            at[last] = value
        nested.append(whole)
    path = tmp_path / "shipped.json"
    path.write_text("".join(json.dumps(line) + "\n" for line in nested))
    assert converted(tmp_path, path)[1] == converted(tmp_path, LOGS / "9.2.4.json.gz")[1]


def test_indices_are_chosen(tmp_path: Path) -> None:
    """By name or pattern; those of the system only if they are named."""
    file = LOGS / "8.8.2.json.gz"
    found, queries = converted(tmp_path, file, index=(".hidden-*",))
    assert (found.written, found.elsewhere) == (2, 50)
    assert len(queries) == 2
    assert "Left out: 50 lines of other indices." in found.render()
    both, _ = converted(tmp_path, file, index=("logs-a", ".hidden-b"))
    assert set(both.indices) == {"logs-a", ".hidden-b", ".hidden-b,logs-a"}
    assert "All of them will ask the one index of the race" in both.render()


def test_lines_of_something_else_are_left_out(tmp_path: Path) -> None:
    """A cut line is counted with its place, one of another log is passed over, and the rest is there."""
    lines = gzip.decompress((LOGS / "7.17.28.log.gz").read_bytes()).decode().splitlines()
    path = tmp_path / "mixed.log"
    path.write_text(
        "\n".join([*lines[:6], lines[6][:-200], "", "[2026-11-22T13:15:28,764][INFO ][o.e.n.Node] started", "x"])
    )
    found, queries = converted(tmp_path, path)
    assert (len(queries), found.bad, found.others) == (1, 1, 2)
    assert (
        f"1 line that cannot be read, the first at {path}:7 (it is cut off, or in no form that Elasticsearch writes)"
        in found.render()
    )


def json_line(**changes: Any) -> str:
    """A line as 7.17 writes it, with these changes."""
    said = {
        "type": "index_search_slowlog",
        "timestamp": "2026-01-05T20:00:00,100+00:00",
        "component": "i.s.s.query",
        "message": "[logs][0]",
        "took": "10ms",
        "took_millis": "10",
        "total_hits": "5 hits",
        "stats": "[]",
        "search_type": "QUERY_THEN_FETCH",
        "total_shards": "1",
        "source": '{"size":1}',
    }
    return json.dumps({**said, **changes})


@pytest.mark.parametrize(
    "bad",
    [
        "[2026-01-05T20:00:00,100][TRACE][i.s.s.query              ] [n] [logs][0] took[1.2.3ms], took_millis[], "
        'total_hits[1 hits], stats[], search_type[QUERY_THEN_FETCH], total_shards[1], source[{"size":1}], id[], ',
        "[2026-01-05T20:00:00,100][TRACE][i.s.s.query              ] [n] [logs][0] took[1ms], took_millis[1], "
        "total_hits[1 hits], stats[], search_type[QUERY_THEN_FETCH], total_shards[1], source[" + "[" * 100_000,
        json_line(took="1.2.3ms", took_millis=""),
        json_line(took="", took_millis="\N{SUPERSCRIPT TWO}"),
        json_line(took="", took_millis="9" * 5000),
        json_line(took="9" * 400 + "d"),
        json_line(total_shards="\N{SUPERSCRIPT TWO}"),
        json_line(message="[logs][" + "9" * 5000 + "]"),
        json_line(source="[" * 100_000),
        '{"type":"index_search_slowlog","source":' + "[" * 100_000,
        json_line(source='{"size":1e999}'),
        json_line(source='{"query":{"term":{"user":"\\ud800"}}}'),
        json_line(stats="[\ud800]"),
        json_line(timestamp="0001-01-01T00:00:00,000+14:00"),
        json_line(timestamp="9999-12-31T23:59:59,999-14:00"),
    ],
)
def test_a_line_that_no_node_writes_does_not_end_the_import(tmp_path: Path, bad: str) -> None:
    """It is counted with its place, and what is good is written; so is what a query log can hold."""
    path = tmp_path / "slow.json"
    path.write_text(json_line() + "\n" + bad + "\n", encoding="utf-8")
    found, queries = converted(tmp_path, path)
    assert (found.written, found.bad, found.others) == (1, 1, 0), found
    assert f"the first at {path}:2 (" in found.render()
    assert queries[0]["at"] == "2026-01-05T20:00:00.090000Z"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("form", ["json", "log"])
@given(data=st.data())
def test_any_damage_to_a_line_is_noticed_or_does_no_harm(version: str, form: str, data: st.DataObject) -> None:
    """Cut anywhere, or with any piece put in: it is understood, passed over or refused, and nothing else happens."""
    lines = gzip.decompress((LOGS / f"{version}.{form}.gz").read_bytes()).decode().splitlines()
    line = data.draw(st.sampled_from(lines))
    at = data.draw(st.integers(0, len(line)))
    damaged = line[:at] + data.draw(
        st.sampled_from(["", line[at + 1 :], "\\" + line[at:], '"' + line[at:], "]" + line[at:]])
    )
    try:
        found = read_slow_line(damaged, UTC)
    except NoSlowLine as error:
        assert str(error)
    else:
        assert found is None or isinstance(found, SlowLine)


def line(
    began: int, shard: int, fetch: bool = False, key: str = "a", took: int = 1000, index: str = "logs"
) -> SlowLine:
    """A line that began then, in microseconds."""
    return SlowLine(began, began + took, (index, shard, fetch), {}, 1, 2, "", key, True)


def test_lines_are_put_together_by_what_and_when() -> None:
    """Two users who ask the same at once are two; so is one who asks again later; shards and phases are not."""
    at_once = [line(0, 0), line(5, 0), line(7, 1), line(9, 1), line(2000, 0, fetch=True)]
    assert [len(one.places) for one in searches(at_once)] == [3, 2]
    assert [one.began for one in searches([line(0, 0), line(3_000_000, 1)])] == [0, 3_000_000]
    assert len(searches([line(0, 0), line(0, 1, key="b")])) == 2
    whole = searches([line(0, 0), line(0, 1)])[0]
    assert (whole.found, searches([line(0, 0)])[0].found) == (2, None)


@given(
    st.lists(st.tuples(st.integers(0, 5_000_000), st.integers(0, 2), st.booleans(), st.sampled_from("ab")), max_size=30)
)
def test_no_line_is_lost_or_counted_twice(given_lines: list[Any]) -> None:
    """Whatever the lines are: each is part of exactly one search, none twice the same shard and phase."""
    found = searches([line(at, shard, fetch, key) for at, shard, fetch, key in given_lines])
    assert sum(len(one.places) for one in found) == len(given_lines)
    assert [one.began for one in found] == sorted(one.began for one in found)


def test_times_of_text_have_the_zone_that_is_said(tmp_path: Path) -> None:
    """Two hours further east it was two hours earlier."""
    file = LOGS / "7.17.28.log.gz"
    (plain, _), (east, _) = converted(tmp_path, file), converted(tmp_path, file, zone="+02:00")
    assert plain.first - east.first == timedelta(hours=2) // timedelta(microseconds=1)
    assert f"The times of {plain.lines} lines have no zone and were taken for UTC (--zone)." in plain.render()
    assert "were taken for +02:00 (--zone)." in east.render()
    assert "--zone" not in converted(tmp_path, LOGS / "9.2.4.json.gz")[0].render()


def test_backing_indices_belong_to_their_stream() -> None:
    """So that --index may name the stream."""
    assert stream_of(".ds-logs-web-2026.01.05-000012") == "logs-web"
    assert stream_of("logs-web") == "logs-web"


def test_what_cannot_be_done_is_a_sentence(tmp_path: Path) -> None:
    """No output, one that is there, no folder for it, no line of a slow log, no such file."""
    file, target = str(LOGS / "9.2.4.json.gz"), tmp_path / "queries.jsonl"
    with pytest.raises(UsageError, match="The query log needs a file: add --output"):
        import_queries(QueryImportOptions((file,)))
    target.write_text("mine")
    with pytest.raises(UsageError, match=r"--output would overwrite .*--force"):
        import_queries(QueryImportOptions((file,), str(target)))
    assert target.read_text() == "mine"
    with pytest.raises(FileError, match="there is no folder for this file"):
        import_queries(QueryImportOptions((file,), str(tmp_path / "no" / "queries.jsonl")))
    with pytest.raises(FileError, match="there is no line of a search slow log for what was asked, in 53 lines"):
        converted(tmp_path, file, index=("elsewhere",))
    assert target.read_text() == "mine"
    with pytest.raises(FileError, match="this file does not exist"):
        converted(tmp_path, tmp_path / "missing")
