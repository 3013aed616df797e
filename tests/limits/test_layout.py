"""Which group is ours in which tree, in recorded layouts of both versions, and what is written where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.limits import layout
from paddock.limits.layout import CPU, CPUSET, DISK, MEMORY, Setting, Tree, parent, trees
from tests.limits.layouts import ALL, Layout, container, docker_1, group, systemd, version_1


def found(root: Path, recorded: Layout) -> dict[str, tuple[int, str]]:
    """Version and our own group, below the test's folder, of each controller."""
    known = trees(recorded.membership, recorded.mounts)
    return {name: (tree.version, str(tree.own.relative_to(root))) for name, tree in known.items()}


def test_version_1(tmp_path: Path) -> None:
    """Each controller has a tree, and our group may be deeper in one than in another."""
    assert found(tmp_path, version_1(tmp_path)) == {
        CPU: (1, "cpu"),
        CPUSET: (1, "cpuset"),
        MEMORY: (1, "memory/job/c7"),
        DISK: (1, "blkio"),
    }


def test_version_2(tmp_path: Path) -> None:
    """One tree has all; what only groups above ours can limit is found, too."""
    scope = (2, "user.slice/session-3.scope")
    assert found(tmp_path, systemd(tmp_path)) == {CPU: scope, CPUSET: scope, MEMORY: scope, DISK: scope}
    assert found(tmp_path, systemd(tmp_path, "memory pids"))[CPU] == scope


def test_hybrid(tmp_path: Path) -> None:
    """A controller of version 1 is not in version 2, whose tree has the others."""
    one, other = tmp_path / "one", tmp_path / "unified"
    group(one / "memory", 1)
    group(other, 2, "cpu io")
    mounts = f"1 0 0:1 / {one}/memory rw - cgroup cgroup rw,memory\n2 0 0:2 / {other} rw - cgroup2 cgroup2 rw"
    assert found(tmp_path, Layout("2:memory:/\n0::/\n", mounts)) == {
        MEMORY: (1, "one/memory"),
        CPU: (2, "unified"),
        DISK: (2, "unified"),
    }


def test_containers_see_their_own_groups_only(tmp_path: Path) -> None:
    """The host's path is what is mounted, or lies outside: then the top of the mount is all there is."""
    assert found(tmp_path, docker_1(tmp_path))[MEMORY] == (1, "memory")
    assert found(tmp_path, docker_1(tmp_path))[CPU] == (1, "cpu,cpuacct")
    outside = Layout("0::/../../system.slice\n", container(tmp_path / "c").mounts)
    assert found(tmp_path, outside)[CPU] == (2, "c")


def test_a_mount_may_have_blanks_in_its_name(tmp_path: Path) -> None:
    """The kernel writes them as octal numbers."""
    root = tmp_path / "control groups"
    group(root, 2, ALL)
    recorded = container(root)
    assert found(tmp_path, Layout("0::/\n", recorded.mounts.replace(" groups", "\\040groups")))[CPU] == (
        2,
        "control groups",
    )


@pytest.mark.parametrize("text", ["", "0::/\n", "3:cpuset:/\n"])
def test_without_mounts_there_is_nothing(text: str) -> None:
    """Sandboxes hide /sys; nothing is made up."""
    assert trees(text, "22 27 0:21 / /proc rw - proc proc rw\n") == {}


def place(root: Path, recorded: Layout, *controllers: str) -> tuple[str | None, str]:
    """The group in which one can be made, below the test's folder, or why there is none."""
    above, why = parent(trees(recorded.membership, recorded.mounts)[controllers[0]], set(controllers))
    return (None if above is None else str(above.relative_to(root))), why


def test_groups_are_made_where_version_2_lets_them(tmp_path: Path) -> None:
    """Our own group has processes, so it gives nothing on: the nearest above that has and gives all that is asked."""
    recorded = systemd(tmp_path)
    assert place(tmp_path, recorded, MEMORY) == ("user.slice", "")
    assert place(tmp_path, recorded, CPUSET, CPU) == ("user.slice", "")
    (tmp_path / "user.slice" / "cgroup.procs").write_text("12\n")
    assert place(tmp_path, recorded, CPUSET) == (".", "")


def test_a_group_with_processes_is_told(tmp_path: Path) -> None:
    """As in containers, where everything is in the one group that can be seen."""
    above, why = place(tmp_path, container(tmp_path), CPU)
    assert above is None
    assert why == f"{tmp_path} has processes of its own, and only groups without any give limits on to those below"


def test_no_node_leaves_the_limits_of_its_user(tmp_path: Path) -> None:
    """A slice with a limit is not left for one above it, where the node would have more than its user may."""
    recorded = systemd(tmp_path)
    (tmp_path / "user.slice" / "cgroup.procs").write_text("12\n")
    (tmp_path / "user.slice" / "memory.max").write_text("4294967296\n")
    above, why = place(tmp_path, recorded, CPUSET)
    assert above is None
    assert "user.slice has limits (memory.max) that a node elsewhere would not have" in why
    (tmp_path / "user.slice" / "memory.max").write_text("max\n")
    assert place(tmp_path, recorded, CPUSET) == (".", "")


def test_version_1_makes_them_in_our_own(tmp_path: Path) -> None:
    """So that what limits us limits the node as well; where nothing may be written there, that is told."""
    recorded = version_1(tmp_path)
    assert place(tmp_path, recorded, MEMORY) == ("memory/job/c7", "")
    (tmp_path / "memory" / "job" / "c7" / "cgroup.procs").unlink()
    assert place(tmp_path, recorded, MEMORY) == (None, f"no group can be made in {tmp_path}/memory/job/c7")


def test_the_ways_up_end_at_the_top() -> None:
    """Nothing above what is mounted is a group."""
    tree = Tree(2, Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/a/b"))
    assert [str(one) for one in tree.ways_up] == ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"]


def test_what_is_written() -> None:
    """The files and values of both versions, as the kernel's documents have them."""
    page = os.sysconf("SC_PAGE_SIZE")
    assert layout.cpu_settings(1, "0-1", "0") == [
        Setting("cpuset.mems", "0", "0"),
        Setting("cpuset.cpus", "0-1", "0-1"),
    ]
    assert layout.cpu_settings(2, "0-1", "0") == [Setting("cpuset.cpus", "0-1", "0-1")]
    assert [(one.file, one.text) for one in layout.quota_settings(1, 0.5)] == [
        ("cpu.cfs_period_us", "100000"),
        ("cpu.cfs_quota_us", "50000"),
    ]
    assert [(one.file, one.text) for one in layout.quota_settings(2, 1.25)] == [("cpu.max", "125000 100000")]
    assert [(one.file, one.text, one.needed) for one in layout.memory_settings(2, 3 * page + 1)] == [
        ("memory.max", str(3 * page), True),
        ("memory.swap.max", "0", False),
    ]
    assert [(one.file, one.needed) for one in layout.memory_settings(1, page)] == [
        ("memory.limit_in_bytes", True),
        ("memory.memsw.limit_in_bytes", False),
    ]
    assert [(one.file, one.text) for one in layout.disk_settings(1, "8:0", {"read": 5, "write": 7})] == [
        ("blkio.throttle.read_bps_device", "8:0 5"),
        ("blkio.throttle.write_bps_device", "8:0 7"),
    ]
    (both,) = layout.disk_settings(2, "8:0", {"write": 7})
    assert (both.file, both.text) == ("io.max", "8:0 rbps=max wbps=7 riops=max wiops=max")
