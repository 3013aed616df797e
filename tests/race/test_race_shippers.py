"""Shippers of a race, before it begins: which are asked for, what is not installed, what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddock.errors import MachineError, UsageError
from paddock.limits import Here
from paddock.limits.layout import Tree
from paddock.race import RaceOptions
from paddock.race.options import prepare
from paddock.race.shippers import asked, at_hand, check_shippers, limited_programs, pinned, programs
from paddock.rally.request import printable
from paddock.tracks import load_track
from tests.limits.layouts import group

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
        ({"shipper": "rsyslog", "shipper_limit_cpu_quota": 0.5, "shipper_processors": "0-1"}, {RSYSLOG: 0.5}),
        ({"levels": [{"shipper": "rsyslog", "generator_limit_cpu_quota": one} for one in (0.5, 2)]}, {"generator": 2}),
        ({"levels": [{"shipper": "rsyslog", "shipper_limit_memory": "64m"}]}, {}),
    ],
)
def test_what_is_pinned_may_use_its_processors(params: dict[str, Any], cores: dict[str, int]) -> None:
    """At most so many cores; where laps differ the most, and none is said where one of them may use all."""
    assert {one["node"]: one["at most"]["cores"] for one in pinned(params)} == cores


QUOTA, MEMORY = "shipper_limit_cpu_quota", "shipper_limit_memory"
HALF = {"shipper": "rsyslog", QUOTA: 0.5}


def tree(root: Path, controller: str) -> Tree:
    """One of version 1, in which groups can be made."""
    return Tree(1, root / controller, group(root / controller, 1))


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Tree]:
    """Of the machine on which limits are planned; 2 processors and 4 GiB."""
    found = {controller: tree(tmp_path, controller) for controller in ("cpu", "memory")}
    monkeypatch.setattr("paddock.race.shippers.Here", lambda memory_bytes: Here(found, (0, 1), 4 << 30))
    return found


def test_each_limit_has_its_groups(trees: dict[str, Tree]) -> None:
    """Levels with the same limits share them, for one shipper runs at a time; what feeds them has others."""
    levels = [
        {"name": "a", **HALF},
        {"name": "b", **HALF, "generator_limit_cpu_quota": 0.5},
        {"name": "c", "shipper": "rsyslog", QUOTA: 1},
        {"name": "d", "shipper": "rsyslog"},
        {"name": "e", "shipper": "rally"},
    ]
    held = limited_programs({"levels": levels, MEMORY: "64m"}, False, False)
    assert [(one.component, one.plan.who, one.plan.text) for one in held] == [
        ("shipper", "shipper of a, b", "0.5 cores of time (quota v1), memory 64 MiB (v1)"),
        ("generator", "generator of b", "0.5 cores of time (quota v1)"),
        ("shipper", "shipper of c", "1 cores of time (quota v1), memory 64 MiB (v1)"),
        ("shipper", "shipper of d", "memory 64 MiB (v1)"),
    ]
    assert limited_programs({"shipper": "rsyslog"}, False, False) == ()


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({QUOTA: 3}, r"^'shipper of rsyslog' is limited to 3 cores' time \(shipper_limit_cpu_quota\), and .* 2 cores"),
        (
            {MEMORY: "8g"},
            r"limited to .* of memory \(shipper_limit_memory\), .*: take a smaller limit, or leave its",
        ),
    ],
)
def test_a_machine_that_is_too_small_is_told(params: dict[str, Any], sentence: str, trees: dict[str, Tree]) -> None:
    """By the names of the shipper's parameters; no mixin of cars would help."""
    with pytest.raises(MachineError, match=sentence) as told:
        limited_programs({"shipper": "rsyslog", **params}, False, False)
    assert "no-limits" not in str(told.value)


def test_where_groups_are_forbidden_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the race, and in its plan; processors are held by affinity all the same."""
    monkeypatch.setattr("paddock.race.shippers.Here", lambda memory_bytes: Here({}, (0, 1), memory_bytes))
    with pytest.raises(MachineError, match=r"^shipper_limit_cpu_quota is a limit of 'shipper of rsyslog' that cannot"):
        prepare(RaceOptions(challenge="shipper", params=HALF), fetch=False)
    pinned_only = {"shipper": "rsyslog", "shipper_processors": "0"}
    assert prepare(RaceOptions(challenge="shipper", params=pinned_only), fetch=False).request.limited == ()


def test_a_limit_without_a_shipper_is_no_limit_of_anything() -> None:
    """Rather than to leave it out in silence, in any challenge."""
    for challenge in ("shipper", "ingest", "refresh-interval"):
        with pytest.raises(UsageError, match=r"^generator_limit_memory is for laps that a shipper sends, and none"):
            check({"generator_limit_memory": "64m"}, challenge)


def test_groups_of_the_users_own_hold_what_is_asked_for_or_are_refused(tmp_path: Path, trees: dict[str, Tree]) -> None:
    """No others are made then; where the load is driven elsewhere nobody looks, and nobody makes any."""
    own = group(tmp_path / "own", 1, cpu__cfs_quota_us="50000", cpu__cfs_period_us="100000")
    assert limited_programs({**HALF, "shipper_groups": str(own)}, False, False) == ()
    with pytest.raises(UsageError, match=r"^The limits of the shipper of 'rsyslog' cannot be held: no group that was "):
        limited_programs({**HALF, QUOTA: 1, "shipper_groups": str(own)}, False, False)
    assert limited_programs({**HALF, QUOTA: 1, "shipper_groups": "/elsewhere"}, True, False) == ()
    with pytest.raises(UsageError, match="make one there, and name its folder with shipper_groups"):
        limited_programs(HALF, True, False)
    with pytest.raises(UsageError, match=r"^Shipper_groups must be absolute paths, but has 'own'"):
        prepare(RaceOptions(challenge="shipper", params={**HALF, "shipper_groups": "own"}), fetch=False)
    left_out = {**HALF, "shipper_groups": None}
    assert len(prepare(RaceOptions(challenge="shipper", params=left_out), fetch=False).request.limited) == 1


@pytest.mark.parametrize(
    ("hosts", "elsewhere"), [("localhost", False), ("127.0.0.1,10.0.0.2", False), ("10.0.0.2", True)]
)
def test_limits_are_held_where_the_first_client_runs(hosts: str, elsewhere: bool, trees: dict[str, Tree]) -> None:
    """Which runs the laps, and so the shippers."""
    options = RaceOptions(challenge="shipper", params=HALF, rally_args=f"--load-driver-hosts={hosts}")
    if elsewhere:
        with pytest.raises(UsageError, match="would have to be held where the load is driven"):
            prepare(options, fetch=False)
    else:
        assert len(prepare(options, fetch=False).request.limited) == 1


def test_a_race_says_what_will_hold_its_shippers(trees: dict[str, Tree]) -> None:
    """In its notes and in its tag, beside the limits of its node; the printed command names no groups."""
    options = RaceOptions(challenge="shipper", params=HALF, car=("1gheap", "limit-1-core"))
    race = prepare(options, fetch=False)
    (note,) = [one for one in race.notes if one.startswith("Control groups that Paddock makes for the race hold the ")]
    assert "hold the shipper of rsyslog to 0.5 cores of time (quota v1). A printed command wants groups" in note
    assert race.request.circumstances["limits"].endswith("; shipper of rsyslog: 0.5 cores of time (quota v1)")
    assert race.request.circumstances["limits"].startswith("core ")
    assert "shipper_groups" not in printable(race.request)
    alone = prepare(RaceOptions(challenge="shipper", params=HALF), fetch=False).request
    assert alone.circumstances["limits"] == "shipper of rsyslog: 0.5 cores of time (quota v1)"


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
