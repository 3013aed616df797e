"""By which means limits are held, in recorded layouts, and the sentence where one cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.errors import MachineError
from paddock.limits import Limits, NodeGroups, plan_limits
from paddock.limits.disks import Disk
from paddock.limits.layout import trees
from paddock.limits.plan import Here, Plan
from tests.limits.layouts import Layout, container, systemd, version_1

ALL_LIMITS = Limits(cores=1, quota=0.5, memory_bytes=2 << 30, read_bytes=20 << 20, write_bytes=10 << 20)


@pytest.fixture(autouse=True)
def disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that every folder lies on."""
    monkeypatch.setattr("paddock.limits.plan.disk_of", lambda _: Disk("8:0", "sda"))


def here(recorded: Layout, cpus: tuple[int, ...] = (0, 1, 2, 5)) -> Here:
    """A machine of 8 GiB."""
    return Here(trees(recorded.membership, recorded.mounts), cpus, 8 << 30)


def planned(limits: Limits, machine: Here) -> Plan:
    """For the car x."""
    return plan_limits(limits, Path("/data"), "x", machine)


def written(plan: Plan, root: Path) -> dict[str, list[str]]:
    """The files of its groups, below the test's folder, with their texts."""
    return {
        str(group.parent.relative_to(root)): [f"{one.file} {one.text}" for one in group.settings]
        for group in plan.groups
    }


def test_everything_in_version_1(tmp_path: Path) -> None:
    """A group in each tree; which writes the kernel counts is said."""
    plan = planned(ALL_LIMITS, here(version_1(tmp_path)))
    assert written(plan, tmp_path) == {
        "cpuset": ["cpuset.mems 0", "cpuset.cpus 5"],
        "cpu": ["cpu.cfs_period_us 100000", "cpu.cfs_quota_us 50000"],
        "memory/job/c7": ["memory.limit_in_bytes 2147483648", "memory.memsw.limit_in_bytes 2147483648"],
        "blkio": ["blkio.throttle.read_bps_device 8:0 20971520", "blkio.throttle.write_bps_device 8:0 10485760"],
    }
    assert plan.text == (
        "core 5 (cpuset v1), 0.5 cores of time (quota v1), memory 2.0 GiB (v1), reads from sda 20 MiB/s (v1), "
        "writes to sda 10 MiB/s (v1; synced and direct ones only)"
    )


def test_everything_in_version_2(tmp_path: Path) -> None:
    """One group has all, and what was given on so far is no matter where it can be."""
    plan = planned(ALL_LIMITS, here(systemd(tmp_path)))
    assert written(plan, tmp_path) == {
        "user.slice": [
            "cpuset.cpus 5",
            "cpu.max 50000 100000",
            "memory.max 2147483648",
            "memory.swap.max 0",
            "io.max 8:0 rbps=20971520 wbps=10485760 riops=max wiops=max",
        ]
    }
    assert plan.groups[0].controllers == ("cpu", "cpuset", "io", "memory")
    assert plan.text.endswith("reads from sda 20 MiB/s (v2), writes to sda 10 MiB/s (v2)")
    group = NodeGroups(plan, "paddock-r-n")
    said = group.make()
    assert (tmp_path / "user.slice" / "cgroup.subtree_control").read_text() == "+cpu +cpuset +io"
    folder = tmp_path / "user.slice" / "paddock-r-n"
    assert said[f"{folder}/cpu.max"] == "50000 100000"
    assert f"{folder}/memory.swap.max" not in said  # this kernel counts no swap


def test_writes_need_the_controller_of_memory(tmp_path: Path) -> None:
    """Without it version 2 knows not whose the pages are that are written back."""
    plan = planned(Limits(write_bytes=1 << 20), here(systemd(tmp_path)))
    assert plan.groups[0].controllers == ("io", "memory")


def test_affinity_holds_cores_where_no_group_can(tmp_path: Path) -> None:
    """Without control groups, and beside what they can hold."""
    plan = planned(Limits(cores=2), Here({}, (0, 1, 2), 8 << 30))
    assert (plan.by_affinity, plan.cpus, plan.groups) == (True, (1, 2), ())
    assert plan.text == "cores 1-2 (affinity)"
    delegated = systemd(tmp_path, "memory pids")
    (tmp_path / "cgroup.controllers").write_text("memory pids\n")
    partly = planned(Limits(cpus=(0, 2), memory_bytes=1 << 30), here(delegated))
    assert partly.text == "cores 0,2 (affinity), memory 1.0 GiB (v2)"


@pytest.mark.parametrize("user", [0, 1000])
def test_what_cannot_be_held_is_refused(tmp_path: Path, user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names which, why, and what would help, who is root already to root."""
    monkeypatch.setattr("os.geteuid", lambda: user)
    with pytest.raises(MachineError) as told:
        planned(ALL_LIMITS, here(container(tmp_path)))
    assert str(told.value) == (
        "limit_cpu_quota and limit_memory and limit_disk_read and limit_disk_write are limits of 'x' that cannot be "
        f"held here, because {tmp_path} has processes of its own, and only groups without any give limits on to those "
        "below: "
        + (
            "let this container write to a tree of control groups of its own, at /sys/fs/cgroup"
            if user == 0
            else "call ./inv as root (in a container: with a writable /sys/fs/cgroup)"
        )
        + ", or leave all limits out with the mixin no-limits."
    )


def test_without_control_groups_memory_is_no_limit(tmp_path: Path) -> None:
    """Nothing else holds it."""
    with pytest.raises(MachineError, match=r"limit_memory is a .* no control groups for it here \(memory\)"):
        planned(Limits(cores=1, memory_bytes=1 << 30), Here({}, (0,), 8 << 30))


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (Limits(cores=8), r"'x' is limited to 8 cores \(limit_cores\), and this machine has 4 cores .*\(0-2,5\): take"),
        (Limits(cpus=(1, 3, 9)), r"'x' wants the CPUs 1,3,9 \(limit_cpus\), .* \(0-2,5\): 3,9 are not among them"),
        (Limits(quota=4.5), r"'x' is limited to 4.5 cores' time \(limit_cpu_quota\), and this machine has 4 cores"),
        (
            Limits(memory_bytes=16 << 30),
            r"limited to 16.0 GiB of memory \(limit_memory\), and this .* has 8.0 GiB",
        ),
    ],
)
def test_a_profile_larger_than_the_machine_is_refused(tmp_path: Path, limits: Limits, sentence: str) -> None:
    """It would bind nothing, and its name would promise what is not there."""
    with pytest.raises(MachineError, match=sentence):
        planned(limits, here(version_1(tmp_path)))


def test_a_disk_that_is_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With where to go."""
    monkeypatch.setattr("paddock.limits.plan.disk_of", lambda _: "/x lies on tmpfs, which has no disk")
    with pytest.raises(MachineError, match=r"limits its disk \(limit_disk_read\), and /x lies on tmpfs.* --data-path"):
        planned(Limits(read_bytes=1 << 20), here(version_1(tmp_path)))
