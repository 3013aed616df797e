"""The groups that hold a shipper's limits: found by what the kernel says of them, of version 1 and 2, and joined."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from hypothesis import given
from hypothesis import strategies as st
from shared.limit_groups import GroupLimits, JoinedGroups, group_limits, limits_in, size_in_bytes
from shared.shipper_process import SHIPPER, Child

from paddock.cars.files import parse_size
from paddock.errors import MachineError
from paddock.limits import Limits, NodeGroups, plan_limits
from tests.machine import wait_until

HALF, MIB_64 = {"limit_cpu_quota": 0.5}, {"limit_memory": 64 << 20}
# A loop that a quota makes wait.
BUSY = ["/bin/sh", "-c", "echo there; while :; do :; done"]


def made_up(folder: Path, **files: str) -> Path:
    """A group as the kernel shows it, two underscores for a point."""
    folder.mkdir(parents=True)
    for name, text in {"cgroup.procs": "", **{name.replace("__", "."): text for name, text in files.items()}}.items():
        (folder / name).write_text(f"{text}\n")
    return folder


def version_2(folder: Path, cpu: str = "max 100000", memory: str = "max") -> Path:
    """One that can hold both."""
    return made_up(folder, cpu__max=cpu, memory__max=memory, cpu__stat="throttled_usec 0", memory__events="oom_kill 0")


def version_1(folder: Path, quota: str) -> Path:
    """One of the controller cpu."""
    return made_up(folder, cpu__cfs_quota_us=quota, cpu__cfs_period_us="100000", cpu__stat="throttled_time 0")


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        ({}, {}),
        ({"cpu__max": "max 100000", "memory__max": "max"}, {}),
        ({"cpu__max": "50000 100000", "memory__max": "67108864"}, HALF | MIB_64),
        ({"cpu__max": "25000 50000"}, HALF),
        ({"cpu__cfs_quota_us": "-1", "cpu__cfs_period_us": "100000"}, {}),
        ({"cpu__cfs_quota_us": "50000", "cpu__cfs_period_us": "100000"}, HALF),
        ({"memory__limit_in_bytes": "9223372036854771712"}, {}),
        ({"memory__limit_in_bytes": "67108864"}, MIB_64),
    ],
)
def test_what_a_group_limits(files: dict[str, str], limits: dict[str, float], tmp_path: Path) -> None:
    """As the kernel writes it, in either version; no limit is none, however it is written."""
    assert limits_in(made_up(tmp_path / "group", **files)) == limits


def test_groups_are_chosen_by_what_they_hold_and_not_by_their_names(tmp_path: Path) -> None:
    """Levels differ in limits, and each finds its own among all; memory is rounded down to whole pages."""
    both = version_2(tmp_path / "a", "50000 100000", "67108864")
    half = version_2(tmp_path / "b", "50000 100000")
    whole, half_1 = version_1(tmp_path / "c", "100000"), version_1(tmp_path / "d", "50000")
    memory_1 = made_up(tmp_path / "e", memory__limit_in_bytes="67108864")
    named = (whole, half, both)
    assert GroupLimits(0.5, (64 << 20) + 1, named).folders() == (both,)
    assert GroupLimits(0.5, None, named).folders() == (half,)
    assert GroupLimits(1.0, None, named).folders() == (whole,)
    assert set(GroupLimits(0.5, 64 << 20, (whole, half_1, memory_1)).folders()) == {half_1, memory_1}
    assert GroupLimits(groups=named).folders() == ()


def test_a_group_with_another_limit_holds_nothing_that_was_asked_for(tmp_path: Path) -> None:
    """What it has more than that would be in the figures, and what it has less in nobody's."""
    both = version_2(tmp_path / "a", "50000 100000", "67108864")
    for limits in (GroupLimits(0.5, None, (both,)), GroupLimits(0.4, 64 << 20, (both,)), GroupLimits(0.5, 1, (both,))):
        with pytest.raises(
            ValueError, match=r"no group that was named has .* and no other limit \(/.* has limit_cpu_q"
        ):
            limits.folders()
    with pytest.raises(ValueError, match=r"has limit_cpu_quota 0.5 and no other limit \(.*/b has no limit\)"):
        GroupLimits(0.5, None, (version_2(tmp_path / "b"),)).folders()
    with pytest.raises(ValueError, match="/c is no control group that is there"):
        GroupLimits(0.5, None, (tmp_path / "c",)).folders()


def read(component: str = "shipper", groups: Any = "/x", **given: Any) -> GroupLimits:
    """What a level says."""
    return group_limits(given, component, groups, "a level")


def test_limits_are_read_from_what_a_level_says() -> None:
    """Each of the shipper's and of the generator's own names; groups are folders with commas between them."""
    told = {"shipper_limit_cpu_quota": 0.5, "generator_limit_cpu_quota": 2, "generator_limit_memory": "64M"}
    assert read(groups="/a, /b", **told) == GroupLimits(0.5, None, (Path("/a"), Path("/b")))
    assert read("generator", **told) == GroupLimits(2.0, 64 << 20, (Path("/x"),))
    assert not read(groups=None)


@pytest.mark.parametrize(
    ("told", "groups", "sentence"),
    [
        ({"shipper_limit_cpu_quota": 0}, "/x", "of the level 'a level' must be cores' worth of time, 0.01 or more"),
        ({"shipper_limit_cpu_quota": "0.5"}, "/x", "such as 0.5, but is '0.5'"),
        ({"shipper_limit_cpu_quota": True}, "/x", "but is True"),
        ({"shipper_limit_cpu_quota": float("nan")}, "/x", "but is nan"),
        ({"shipper_limit_memory": "lots"}, "/x", "such as 512m or 1g, but is 'lots'"),
        ({"shipper_limit_memory": "0m"}, "/x", "a whole number above 0 and a unit"),
        ({"shipper_limit_memory": 0.5}, "/x", "but is 0.5"),
        ({"shipper_limit_cpu_quota": 0.5}, None, "has shipper_limit_cpu_quota, which nobody holds here: race it with"),
        ({"shipper_limit_memory": "64m"}, None, "name its folder with shipper_groups"),
        ({}, "x", "shipper_groups must be absolute paths, but has 'x'"),
        ({}, ["/x"], "must be folders with commas between them, but is"),
    ],
)
def test_what_is_no_limit_or_held_by_nobody_is_refused(told: dict[str, Any], groups: Any, sentence: str) -> None:
    """A sentence each, before anything is started."""
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        read(groups=groups, **told)


@given(st.from_regex(r"[0-9]{1,6}[bkmgtBKMGT]?", fullmatch=True) | st.text(max_size=6))
def test_a_size_is_what_the_variables_of_cars_take_it_for(text: str) -> None:
    """One meaning in the house: what cars refuse is 0 here."""
    try:
        expected = parse_size(text)
    except ValueError:
        expected = 0
    assert size_in_bytes(text) == expected


@pytest.fixture
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Limits], NodeGroups]:
    """Makes real groups, which are removed at the end."""

    def make(limits: Limits) -> NodeGroups:
        try:
            groups = NodeGroups(plan_limits(limits, tmp_path, "x"), f"paddock-test-{tmp_path.name}")
            request.addfinalizer(groups.remove)
            groups.make()
        except MachineError as error:
            pytest.skip(str(error))
        return groups

    return make


def test_a_child_is_in_its_groups_before_it_begins(held: Callable[[Limits], NodeGroups], tmp_path: Path) -> None:
    """It waits there as the kernel makes it; the record has what was read, the waiting, and whoever changes a limit."""
    groups = held(Limits(quota=0.5, memory_bytes=64 << 20))
    joined = JoinedGroups(GroupLimits(0.5, 64 << 20, groups.folders))
    child = Child(BUSY, SHIPPER, tmp_path, tmp_path / "log", groups=joined.folders)
    try:
        wait_until(lambda: child.last_words() == "there")
        assert joined.has(child.process.pid)
        joined.begin()
        began, before = time.monotonic(), child.use().cpu_seconds
        wait_until(lambda: child.use().cpu_seconds >= before + 0.5)
        used = child.use().cpu_seconds - before
        # With what is left of the quota of the period in which that begins, and the tick of the kernel's count.
        assert used <= 0.5 * (time.monotonic() - began + 0.1) + 0.02
        wait_until(lambda: joined.end() == "" and (joined.record() or {})["throttled_seconds"] > 0.2)
        record = joined.record()
        assert record is not None
        assert (record["cpu_quota"], record["memory_bytes"]) == (0.5, 64 << 20)
        assert str(64 << 20) in record["files"].values()
        assert {Path(file).parent for file in record["files"]} == set(groups.folders)
        folder = next(one for one in groups.folders if list(one.glob("memory.*")))
        (file,) = (one for one in (folder / "memory.max", folder / "memory.limit_in_bytes") if one.exists())
        file.write_text(str(48 << 20))
        assert joined.end() == f"{file} says {48 << 20}"
        with pytest.raises(ValueError, match="no group that was named has"):
            JoinedGroups(GroupLimits(0.5, 64 << 20, groups.folders))
    finally:
        child.kill()
    assert not joined.has(child.process.pid)


def test_a_child_that_needs_more_memory_is_ended_and_that_is_told(
    held: Callable[[Limits], NodeGroups], tmp_path: Path
) -> None:
    """By the kernel's count in that group, since the process was to join it."""
    groups = held(Limits(memory_bytes=16 << 20))
    joined = JoinedGroups(GroupLimits(None, 16 << 20, groups.folders))
    assert joined.too_small == ""
    words = ["/bin/sh", "-c", "x=x; while :; do x=$x$x; done"]
    child = Child(words, SHIPPER, tmp_path, tmp_path / "log", groups=joined.folders)
    assert child.process.wait() != 0
    assert joined.too_small == ", because it needed more memory than its limit of 16 MiB"
    assert JoinedGroups(GroupLimits(None, 16 << 20, groups.folders)).too_small == ""
    assert JoinedGroups(GroupLimits()).record() is None


def test_a_group_that_cannot_be_joined_is_told(tmp_path: Path) -> None:
    """By the program that was to join it, as its last words; it does not begin outside of it."""
    child = Child(["true"], SHIPPER, tmp_path, tmp_path / "log", groups=[tmp_path / "gone"])
    assert child.process.wait() == 1
    assert child.last_words().startswith(f"It cannot join the control group {tmp_path}/gone (No such file")
