"""Measuring the machine: control groups of both versions, processors, locked memory."""

from __future__ import annotations

import resource
from pathlib import Path

import psutil
import pytest

from paddock.cars import largest_heap, machine, this_machine

LIMIT = 2**31


def write(path: Path, text: str) -> None:
    """A file of a made-up control group, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def test_this_machine_is_possible() -> None:
    """The real measurement lies within what the operating system says of the whole machine."""
    found = this_machine()
    assert 0 < found.memory_bytes <= psutil.virtual_memory().total
    assert 1 <= found.processors <= psutil.cpu_count()


def test_measuring_changes_no_limit() -> None:
    """Trying whether the limit on locked memory can be lifted leaves it as it was."""
    before = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    this_machine()
    assert resource.getrlimit(resource.RLIMIT_MEMLOCK) == before


def test_memory_limit_of_version_2(tmp_path: Path) -> None:
    """The lowest limit on the way to the root holds, not only our own group's; "max" is none."""
    write(tmp_path / "a" / "b" / "memory.max", "max")
    write(tmp_path / "a" / "memory.max", str(LIMIT))
    write(tmp_path / "memory.max", str(2 * LIMIT))
    assert machine.cgroup_memory_limit(tmp_path, "0::/a/b\n") == LIMIT
    assert machine.cgroup_memory_limit(tmp_path, "0::/\n") == 2 * LIMIT


def test_memory_limit_inside_a_container(tmp_path: Path) -> None:
    """The group's path is the host's and missing here: the root of what is mounted still counts."""
    write(tmp_path / "memory" / "memory.limit_in_bytes", str(LIMIT))
    assert machine.cgroup_memory_limit(tmp_path, "4:memory:/docker/0123\n1:cpu:/\n0::/\n") == LIMIT


def test_no_memory_limit(tmp_path: Path) -> None:
    """No control groups at all, or none with a limit, is no limit."""
    assert machine.cgroup_memory_limit(tmp_path, "") is None
    assert machine.cgroup_memory_limit(tmp_path, "0::/a\n") is None


@pytest.mark.parametrize(("text", "expected"), [("100000 100000", 1), ("150000 100000", 2), ("max 100000", None)])
def test_processor_quota_of_version_2(tmp_path: Path, text: str, expected: int | None) -> None:
    """A quota counts as whole processors, rounded up as the JVM rounds it."""
    write(tmp_path / "pod" / "cpu.max", text)
    assert machine.cgroup_processors(tmp_path, "0::/pod\n") == expected


@pytest.mark.parametrize(("quota", "expected"), [("200000", 2), ("-1", None)])
def test_processor_quota_of_version_1(tmp_path: Path, quota: str, expected: int | None) -> None:
    """Version 1 has two files, the controller may share its mount, and -1 is no quota."""
    write(tmp_path / "cpu" / "pod" / "cpu.cfs_quota_us", quota)
    write(tmp_path / "cpu" / "pod" / "cpu.cfs_period_us", "100000")
    assert machine.cgroup_processors(tmp_path, "3:cpu,cpuacct:/pod\n") == expected


def test_limits_reach_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's limits replace the machine's own figures."""
    write(tmp_path / "membership", "0::/")
    write(tmp_path / "memory.max", str(2**28))
    write(tmp_path / "cpu.max", "50000 100000")
    monkeypatch.setattr(machine, "CGROUPS", tmp_path)
    monkeypatch.setattr(machine, "MEMBERSHIP", tmp_path / "membership")
    found = this_machine()
    assert (found.memory_bytes, found.processors) == (2**28, 1)


@pytest.mark.parametrize(
    ("hard", "refused", "expected"),
    [(resource.RLIM_INFINITY, False, None), (65536, True, 65536), (65536, False, None)],
)
def test_locked_memory(monkeypatch: pytest.MonkeyPatch, hard: int, refused: bool, expected: int | None) -> None:
    """No limit, a limit that stays, and a limit that this process may lift (and puts back)."""
    limits = [(1024, hard)]

    def setrlimit(_which: int, values: tuple[int, int]) -> None:
        if refused:
            raise ValueError("not allowed to raise maximum limit")
        limits.append(values)

    monkeypatch.setattr(resource, "getrlimit", lambda _which: limits[0])
    monkeypatch.setattr(resource, "setrlimit", setrlimit)
    assert this_machine().locked_memory_limit == expected
    assert limits[-1] == (1024, hard)


def test_largest_heap() -> None:
    """Four fifths of the memory."""
    assert largest_heap(machine.Machine(10 * 2**30, 2, None)) == 8 * 2**30
