"""What a tournament says of the circumstances under which it was held."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.limits import Here
from paddock.limits.layout import Tree
from paddock.race import RaceOptions
from paddock.race.clusters import ClusterOptions
from paddock.race.options import prepare
from paddock.tournaments.laps import Attempt
from paddock.tournaments.notes import recorded_circumstances, settings_in_force
from paddock.tournaments.races import race_circumstances
from paddock.tournaments.store import History
from tests.limits.layouts import group

CODEC = {"index.codec": "default"}


def an_attempt(*laps: tuple[str, dict[str, str | list[str]] | None], **circumstances: str) -> Attempt:
    """A race with these laps: contender and what the node said of the index."""
    attempt = Attempt(1, 1, "r", "esrally race", 0, 0.0, None, 0.0, circumstances=circumstances)
    for block, (name, settings) in enumerate(laps, 1):
        attempt.add({"block": block, "position": 1, "warm_up": False, "level": name, "settings": settings})
    return attempt


def test_settings_are_those_the_node_told() -> None:
    """What all contenders have is told once, what is one's own beside its name; a lap without any is skipped."""
    history = History(
        attempts=[
            an_attempt(
                ("1s", {**CODEC, "index.refresh_interval": "1s"}),
                ("30s", {**CODEC, "index.refresh_interval": "30s", "index.priority": "2"}),
                ("30s", None),
            )
        ]
    )
    assert settings_in_force(history) == {
        "index settings in force": "index.codec: default",
        "index settings in force, 1s": "index.refresh_interval: 1s",
        "index settings in force, 30s": "index.priority: 2, index.refresh_interval: 30s",
    }
    assert settings_in_force(History(attempts=[an_attempt(("1s", None))])) == {}


def test_a_setting_may_be_a_list() -> None:
    """The fields that an index is sorted by, as Elasticsearch tells them."""
    ordered = {"index.sort.field": ["log.logger", "@timestamp"], "index.sort.order": ["asc", "desc"]}
    history = History(attempts=[an_attempt(("plain", CODEC), ("sorted", {**CODEC, **ordered}))])
    assert settings_in_force(history) == {
        "index settings in force": "index.codec: default",
        "index settings in force, sorted": "index.sort.field: log.logger,@timestamp, index.sort.order: asc,desc",
    }


def test_contenders_that_do_not_differ_in_settings_are_not_listed() -> None:
    """Bulk sizes on one index: its settings are told once."""
    history = History(attempts=[an_attempt(("100", CODEC), ("5000", CODEC))])
    assert settings_in_force(history) == {"index settings in force": "index.codec: default"}


def test_starts_that_differ_are_all_told() -> None:
    """Two Javas in one tournament are both named; the machine comes from its beginning."""
    history = History(
        {"circumstances": {"cores": 2}}, [an_attempt(Java="21"), an_attempt(Java="17"), an_attempt(Java="21")]
    )
    assert recorded_circumstances(history) == {"Java": "21; 17", "cores": "2"}


def test_limits_of_nodes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has which, and nothing where nobody has any."""
    monkeypatch.setattr("paddock.race.clusters.Here", lambda memory_bytes: Here({}, memory_bytes=memory_bytes))
    core = sorted(os.sched_getaffinity(0))[-1]
    on = {"default": ("free", "control"), "small": ("small",)}
    found = {}
    for cars in (("1gheap",), ("1gheap", "limit-1-core")):
        asked = [ClusterOptions("default"), ClusterOptions("small", cars)]
        race = prepare(RaceOptions(challenge="settings"), False, asked)
        found[cars] = race_circumstances(race, {}, {}, on).get("limits")
    assert list(found.values()) == [None, f"free, control: none; small: core {core} (affinity)"]


def test_limits_of_shippers_are_said_beside_the_contenders_that_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contenders may differ in them; each is a group of its own."""
    trees = {"cpu": Tree(1, tmp_path / "cpu", group(tmp_path / "cpu", 1))}
    monkeypatch.setattr("paddock.race.shippers.Here", lambda memory_bytes: Here(trees, (0, 1), memory_bytes))
    levels = [{"name": name, "shipper_limit_cpu_quota": cores} for name, cores in (("a", 0.5), ("b", 1))]
    params = {"shipper": "rsyslog", "levels": levels}
    race = prepare(RaceOptions(challenge="settings", params=params), False, [ClusterOptions("default")])
    assert race_circumstances(race, {}, {}, {"default": ("a", "b")})["limits of shippers"] == (
        "shipper of a: 0.5 cores of time (quota v1); shipper of b: 1 cores of time (quota v1)"
    )
