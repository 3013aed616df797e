"""Flush thresholds: a plan says which of them its loads do not reach, and is silent about those that they do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from paddock.tournaments.durations import Experience
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.model import Contender
from paddock.tournaments.plan import make_plan, render_plan
from paddock.tournaments.thresholds import unreached_thresholds
from tests.tournaments.test_schedule import a_tournament


def cautions(sizes: dict[str, dict[str, Any]], **changes: Any) -> list[str]:
    """What is said of contenders with these index settings."""
    contenders = tuple(Contender(name, {"settings": settings}) for name, settings in sizes.items())
    tournament = replace(a_tournament(2), contenders=contenders, baseline=next(iter(sizes)), **changes)
    return list(unreached_thresholds(tournament, Experience()))


def test_a_lap_that_is_too_short_for_a_threshold() -> None:
    """A lap of 100,000 documents brings 32 MB: 16mb are reached, 64mb are not."""
    both = {"16mb": {"translog.flush_threshold_size": "16mb"}, "64mb": {"index.translog.flush_threshold_size": "64mb"}}
    (said,) = cautions(both)
    assert "'64mb' flushes its translog at 64mb per shard, and a lap is expected to bring about 32 MB there" in said


@pytest.mark.parametrize(("shards", "said"), [(1, 0), (4, 1)])
def test_each_shard_has_a_translog(shards: int, said: int) -> None:
    """32 MB on four shards are 8 MB each."""
    both = {"a": {"translog.flush_threshold_size": "16mb"}, "b": {}}
    assert len(cautions(both, track_params={"number_of_shards": shards})) == said


def test_a_growing_index_fills_its_translog_from_slice_to_slice() -> None:
    """Thirteen laps of 32 MB reach 256mb, but not within a minute, after which it is flushed by age."""
    both = {"a": {"translog.flush_threshold_size": "256mb"}, "b": {}}
    grown = {"growing": True, "blocks": 10, "warmup_blocks": 3}
    assert len(cautions(both)) == 1
    assert cautions(both, **grown) == []
    (late,) = cautions({"a": {"translog.flush_threshold_size": "4gb"}, "b": {}}, **{**grown, "blocks": 200})
    assert "flushes after a minute anyway" in late
    aged = {"translog.flush_threshold_size": "4gb", "translog.flush_threshold_age": "1h"}
    assert cautions({"a": aged, "b": {}}, **{**grown, "blocks": 200}) == []


def test_where_nobody_differs_nothing_is_said() -> None:
    """The same threshold for all is no comparison; nor is one of a corpus whose documents are not known."""
    same = {"translog.flush_threshold_size": "64gb"}
    assert cautions({"a": same, "b": same}) == []
    assert cautions({"a": same, "b": {}}, corpus="our-shop") == []
    assert len(cautions({"a": same, "b": {}})) == 1


def test_the_plain_levels_of_the_challenge_are_understood() -> None:
    """In translog-flush a size is a threshold, and nothing else is."""
    contenders = (Contender("request", "request"), Contender("1gb", "1gb"), Contender("30s", "30s"))
    tournament = replace(a_tournament(2), challenge="translog-flush", contenders=contenders, baseline="request")
    (said,) = unreached_thresholds(tournament, Experience())
    assert "'1gb' flushes its translog at 1gb" in said


@pytest.mark.parametrize("name", ["translog-flush", "translog-flush-large"])
def test_shipped_tournaments_reach_their_thresholds(name: str) -> None:
    """At full size, by what is guessed before anything has been measured."""
    text = render_plan(make_plan(read_tournament(find_file(name)), 1))
    assert "flushes its translog" not in text
    assert "flushes after a minute" not in text
