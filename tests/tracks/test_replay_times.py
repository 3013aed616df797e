"""The times of documents: read as Elasticsearch reads them, put in order, kept beside the corpus."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import replay_times
from shared.replay_times import read_time, time_text, times_of

from tests.tracks.replayed import START, written


@given(
    moment=st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)),
    minutes=st.integers(-14 * 60, 14 * 60),
    digits=st.integers(0, 6),
)
def test_times_are_read_as_python_reads_them(moment: datetime, minutes: int, digits: int) -> None:
    """Any moment in any zone, with any number of digits behind the second."""
    zone = timezone(timedelta(minutes=minutes))
    fraction = f"{moment.microsecond:06d}"[:digits]
    aware = moment.replace(microsecond=int(fraction.ljust(6, "0")), tzinfo=zone)
    text = f"{moment:%Y-%m-%dT%H:%M:%S}{'.' if fraction else ''}{fraction}{aware:%z}"
    expected = (aware - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)
    assert read_time(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T00:00:01", 1_000_000),
        ("1970-01-01T00:01", 60_000_000),
        ("1970-01-02", 86_400_000_000),
        ("1970-01-01T02", 7_200_000_000),
        ("1970-01-01T02+01", 3_600_000_000),
        ("1970-01-02T", 86_400_000_000),
        ("1970-02", 31 * 86_400_000_000),
        ("1971", 365 * 86_400_000_000),
        ("1970-01-01T00:00:01UTC", 1_000_000),
        ("1970-01-01T01:00:00.5+01:00", 500_000),
        ("1970-01-01T00:00:00.123456789Z", 123_456),
        *(
            (text, None)
            for text in (
                *("", "now", "1970-13-01", "1970-02-30T00:00:00Z", "1970-01-01T24:00:00Z", "0000-01-01"),
                *("9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+10:00", "12", "1970T.5"),
            )
        ),
        ("1970-01-01T00:00:00Zulu", None),
    ],
)
def test_forms_of_a_time(text: str, expected: int | None) -> None:
    """What is no time is none, and no other."""
    assert read_time(text) == expected


def test_a_time_is_written_as_it_is_read() -> None:
    """In milliseconds, which is what Elasticsearch keeps."""
    assert time_text(START + 1_234_567) == "2026-01-05T20:00:01.234Z"
    assert read_time(time_text(START)) == START
    for text in ("0001-01-01T00:00:00.000Z", "0999-05-05T10:00:00.000Z", "9999-12-31T23:59:59.999Z"):
        at = read_time(text)
        assert at is not None
        assert time_text(at) == text


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 50)), min_size=1, max_size=40).filter(
        lambda times: any(time is not None for time in times)
    )
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_documents_are_put_in_order_and_found_again(tmp_path: Path, times: list[int | None]) -> None:
    """Whatever the order in the file and whichever have no time: all are there, by time and then by place."""
    path = written(tmp_path, times)
    path.with_name(f"{path.name}.times").unlink(missing_ok=True)
    found = times_of(path, len(times))
    lines = path.read_bytes().splitlines(keepends=True)
    # One without a time goes with the one before it; those at the beginning with the first there is.
    effective: list[int] = []
    for time in times:
        before = effective[-1] if effective else next(one for one in times if one is not None)
        effective.append(before if time is None else time)
    order = sorted(range(len(times)), key=lambda number: effective[number])
    with path.open("rb") as file:
        assert found.lines(file, 0, len(times)) == [lines[number] for number in order]
        assert found.lines(file, 1, len(times)) == [lines[number] for number in order[1:]]
    assert list(found.when) == [START + 1_000_000 * effective[number] for number in order]
    assert found.without == times.count(None)
    known = [time for time in times if time is not None]
    assert found.disordered == sum(time < max(known[: number + 1]) for number, time in enumerate(known))
    assert found.whole_seconds


def test_the_table_is_kept_until_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process reads no document again; another file of the same name does not get the times of the first."""
    path = written(tmp_path, [3, 1, 2.5])
    first = times_of(path, 3)

    def refuse(*_: Any) -> Any:
        raise AssertionError("the documents are read again")

    with monkeypatch.context() as patched:
        patched.setattr(replay_times, "_read", refuse)
        assert times_of(path, 3) == first
    assert not first.whole_seconds
    written(tmp_path, [1, 2, 3])
    os.utime(path, ns=(1, 1))
    assert list(times_of(path, 3).when) == [START + second * 1_000_000 for second in (1, 2, 3)]
    path.with_name(f"{path.name}.times").write_bytes(b"damaged")
    assert times_of(path, 3).disordered == 0


def test_a_time_further_inside_is_none(tmp_path: Path) -> None:
    """Only the document's own field counts, wherever it stands among the others; texts that look like it do not."""
    path = tmp_path / "archive.json"
    documents = [
        {"message": '"@timestamp":"2026-01-05T20:00:09Z"', "@timestamp": "2026-01-05T20:00:02Z"},
        {"event": {"@timestamp": "2026-01-05T20:00:01Z"}},
        {"@timestamp": 5},
    ]
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in documents), encoding="utf-8")
    found = times_of(path, 3)
    assert list(found.when) == [START + 2_000_000] * 3
    assert found.without == 2


@pytest.mark.parametrize(
    ("times", "documents", "sentence"),
    [([1, 2], 3, "has 2 documents, and the track says 3"), ([None, None], 2, "No document of .* has a time")],
)
def test_files_that_cannot_be_replayed(tmp_path: Path, times: list[Any], documents: int, sentence: str) -> None:
    """They are named with what is wrong."""
    with pytest.raises(exceptions.DataError, match=sentence):
        times_of(written(tmp_path, times), documents)
