"""A tournament over a corpus of one's own: its track, and the orders that its documents suggest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.imports import ImportOptions
from paddock.imports.run import import_corpus
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import find_file, read_tournament

SORTS = ["unsorted", "@timestamp desc"]


def sorts(**options: Any) -> tuple[str, list[str]]:
    """The track of the tournament disk, and the orders that it compares."""
    tournament = read_tournament(find_file("disk"), TournamentOptions(**options))
    return tournament.track, list(dict.fromkeys(one.coordinates["sort"] for one in tournament.contenders))


def test_orders_come_from_the_corpus() -> None:
    """Fields that the track's mapping can be sorted by, the best first; the same for every call."""
    track, found = sorts()
    assert (track, found[:2]) == ("app-logs-ecs", SORTS)
    assert found[2:] == ["log.origin.file.line,@timestamp desc", "log.logger,@timestamp desc"]


def test_a_text_is_sorted_by_its_twin() -> None:
    """What makes an access log smallest is the program of the client, a text that only its keyword can sort."""
    track, found = sorts(corpus="apache")
    assert (track, found[:3]) == ("apache", [*SORTS, "user_agent.keyword,@timestamp desc"])


def test_an_order_that_the_file_lists_is_not_there_twice(tmp_path: Path) -> None:
    """The next best one comes instead."""
    text = find_file("disk").read_text().replace("[unsorted,", '["log.logger,@timestamp desc", unsorted,')
    file = tmp_path / "listed.yml"
    file.write_text(text)
    found = [one.coordinates["sort"] for one in read_tournament(file).contenders]
    assert len(set(found)) == 5
    assert len(found) == 5 * 4


def test_a_corpus_of_another_track_brings_its_track() -> None:
    """The challenges are the same for all tracks; a corpus that nobody has is refused as ever."""
    track, found = sorts(corpus="syslog")
    assert (track, found) == ("syslog", [*SORTS, "syslogtag,@timestamp desc", "facility,@timestamp desc"])
    assert read_tournament(find_file("refresh-interval"), TournamentOptions(corpus="syslog")).track == "syslog"
    with pytest.raises(UsageError, match="nobody's"):
        sorts(corpus="nobody's")


def test_orders_can_be_had(tmp_path: Path) -> None:
    """Not by a name that cannot be written as an order, nor by what the track's index does not map to a column."""
    log = tmp_path / "odd.json"
    names = ("user agent", "a,b", "stack_trace", "größe", "component")
    lines = [
        {"time": f"2026-01-01T00:{number // 60 % 60:02d}:{number % 60:02d}Z", "message": f"line {number}"}
        | {name: f"{name} of no use {number * 7919 % 5}" * 9 for name in names}
        for number in range(1500)
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_corpus(ImportOptions((str(log),), "odd"))
    track, found = sorts(corpus="odd")
    assert (track, found[:2]) == ("logs", SORTS)
    assert sorted(found[2:]) == ["component,@timestamp desc", "größe,@timestamp desc"]
