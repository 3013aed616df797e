"""Shippers of a race, before it begins: which are asked for, what is not installed, what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import MachineError, UsageError
from paddock.race.shippers import asked, at_hand, check_shippers, pinned, programs
from paddock.tracks import load_track

TRACK = load_track("apache")
CHALLENGES = {challenge.name: challenge for challenge in TRACK.challenges}
RSYSLOG = "shipper-rsyslog"
NONE_INSTALLED = "The shipper rsyslog is not installed"


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any shipper."""
    programs()
    monkeypatch.setattr("shared.shipper_programs.shutil.which", lambda *_, **__: None)


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({}, []),
        ({"shipper": "rally"}, []),
        ({"shipper": "rsyslog"}, ["rsyslog"]),
        ({"levels": ["rsyslog", "rally", "syslog-ng"]}, ["rsyslog", "syslog-ng"]),
        ({"levels": [{"name": "a", "value": "rsyslog", "cluster": "b"}]}, ["rsyslog"]),
        ({"levels": [{"name": "a", "shipper": "vector"}, {"name": "b", "shipper": "rally"}]}, ["vector"]),
        ({"shipper": "rsyslog", "levels": [{"name": "a", "shipper": "rally"}]}, []),
        ({"shipper": "rsyslog", "levels": [{"name": "a", "shipper": "rally"}, {"name": "b"}]}, ["rsyslog"]),
    ],
)
def test_which_shippers_a_race_asks_for(params: dict[str, Any], names: list[str]) -> None:
    """Of the track and of its levels, each once; Rally's own clients are none."""
    assert asked(params) == names


@pytest.mark.parametrize(
    ("params", "cores"),
    [
        ({}, {}),
        ({"shipper": "rsyslog"}, {}),
        ({"shipper": "rsyslog", "shipper_processors": 0, "generator_processors": "1-3"}, {RSYSLOG: 1, "generator": 3}),
        ({"levels": ["rally", "rsyslog"], "shipper_processors": "0,2"}, {RSYSLOG: 2}),
        ({"levels": ["1s", "30s"], "shipper": "rsyslog", "shipper_processors": "0,2"}, {RSYSLOG: 2}),
        ({"levels": ["rally"], "shipper_processors": "0,2"}, {}),
        ({"levels": [{"shipper": "vector", "shipper_processors": 0}, {"shipper": "rally"}]}, {"shipper-vector": 1}),
        ({"levels": [{"shipper": "vector", "shipper_processors": 0}, {"value": "rsyslog"}]}, {"shipper-vector": 1}),
        ({"shipper": "rsyslog", "levels": [{"name": "a", "shipper_processors": 0}, {"name": "b"}]}, {}),
        ({"levels": [{"shipper": "rsyslog", "shipper_processors": one} for one in (0, "0-1")]}, {RSYSLOG: 2}),
    ],
)
def test_what_is_pinned_may_use_its_processors(params: dict[str, Any], cores: dict[str, int]) -> None:
    """At most so many cores; where laps differ the most, and none is said where one of them may use all."""
    assert {one["node"]: one["at most"]["cores"] for one in pinned(params)} == cores


def check(params: dict[str, Any], challenge: str = "shipper", fetch: bool = True) -> list[str]:
    """What is said of a race of small laps."""
    return check_shippers(TRACK, CHALLENGES[challenge], {"lap_documents": 1000, **params}, False, fetch)


@pytest.mark.usefixtures("nothing_installed")
def test_what_is_not_installed_is_refused_with_the_command() -> None:
    """Before a race; a plan says it and goes on."""
    assert check({}) == []
    with pytest.raises(MachineError, match=f"^{NONE_INSTALLED}.*: apt-get install rsyslog rsyslog-elasticsearch\\.$"):
        check({"shipper": "rsyslog"})
    (sentence,) = check({"shipper": "rsyslog"}, fetch=False)
    assert sentence.startswith(NONE_INSTALLED)
    assert at_hand()[0] == {}


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"shipper": "rsyslog", "shipper_queue_size": 10}, "The level 'rsyslog' has a queue of 10 events"),
        ({"shipper": "syslog-ng", "shipper_input": "imptcp"}, "which syslog-ng does not have: choose from tcp, file"),
        ({"levels": [{"name": "a", "shipper": "rsylog"}]}, "must be one of rally, rsyslog, .* but is 'rsylog'"),
        ({"levels": [{"name": "a", "shipper": ["x"]}]}, r"must be one of rally, .* but is \['x'\]"),
        ({"levels": [{"name": "a", "shipper": {"x": 1}}]}, r"must be one of rally, .* but is {'x': 1}"),
        ({"levels": {"a": 1}}, "Levels must be a JSON list with at least one level"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(params: dict[str, Any], sentence: str) -> None:
    """By the track's own code, in a sentence that begins as one."""
    with pytest.raises(UsageError, match=sentence):
        check(params, fetch=False)


@pytest.mark.parametrize("name", [name for name in programs() if name != "rsyslog"])
def test_what_a_shipper_cannot_is_refused_only_where_it_is_asked_for(name: str) -> None:
    """Defaults of settings that it does not have are nothing that anybody has asked of it."""
    check({"shipper": name}, fetch=False)
    with pytest.raises(UsageError, match=f"but {name} passes documents through as they are: leave it out"):
        check({"shipper": name, "shipper_parsing": "json"}, fetch=False)


def test_a_level_that_parses_no_lines_has_nothing_to_search() -> None:
    """Its documents have none of the fields that the track's queries ask for."""
    with pytest.raises(UsageError, match="The level 'rsyslog' parses no lines, so that its documents have none of"):
        check({"shipper": "rsyslog", "shipper_parsing": "lines", "lap_searches": 3}, fetch=False)
    check({"shipper": "rsyslog", "shipper_parsing": "places", "lap_searches": 3}, fetch=False)


def test_lines_of_syslog_are_of_the_track_syslog() -> None:
    """Other documents are no such lines; and a slice of so many seconds has no number of them."""
    with pytest.raises(UsageError, match="lines of syslog, which the track's documents are no such: race the"):
        check({"shipper": "rsyslog", "shipper_parsing": "syslog"}, fetch=False)


def test_a_challenge_without_laps_has_no_shipper() -> None:
    """Rather than to leave it out in silence."""
    with pytest.raises(UsageError, match="challenge 'ingest' is sent by Rally's own clients, and shipper is rsyslog"):
        check({"shipper": "rsyslog"}, "ingest")
