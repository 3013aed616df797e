"""Control groups as machines have them, recorded: what the kernel says of ours and of mounts, and the files below."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ALL = "cpuset cpu io memory pids"


@dataclass(frozen=True)
class Layout:
    """The texts of /proc/self/cgroup and /proc/self/mountinfo, the mounts below a folder of the test's."""

    membership: str
    mounts: str


def group(
    folder: Path, version: int, controllers: str = "", given_on: str = "", processes: str = "", **files: str
) -> Path:
    """A made-up group; one of version 2 is not the machine's topmost unless ``cgroup.type`` is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"cgroup.procs": processes, **{name.replace("__", "."): text for name, text in files.items()}}
    if version == 2:
        texts |= {"cgroup.controllers": controllers, "cgroup.subtree_control": given_on, "cgroup.type": "domain"}
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n")
    return folder


def version_1(root: Path) -> Layout:
    """A micro VM whose memory alone is in a group below the top; version 2 is there, with nothing of use."""
    for controller in ("cpuset", "cpu", "memory", "blkio"):
        group(root / controller, 1)
    (root / "cpuset" / "cpuset.mems").write_text("0\n")
    group(root / "memory" / "job" / "c7", 1)
    group(root / "unified", 2, "hugetlb")
    mounts = [f"3{i} 31 0:3{i} / {root}/{one} rw - cgroup cgroup rw,{one}" for i, one in enumerate(("cpu", "cpuset"))]
    mounts += [f"35 31 0:35 / {root}/memory rw - cgroup cgroup rw,memory"]
    mounts += [f"38 31 0:38 / {root}/blkio rw - cgroup cgroup rw,blkio"]
    mounts += [f"41 31 0:41 / {root}/unified rw,relatime - cgroup2 cgroup2 rw"]
    return Layout("9:name=systemd:/\n7:blkio:/\n4:memory:/job/c7\n3:cpuset:/\n1:cpu:/\n0::/\n", "\n".join(mounts))


def systemd(root: Path, given_on: str = ALL) -> Layout:
    """Version 2 alone: a session of a user below slices, each of which gives on what it has."""
    group(root, 2, ALL, given_on)
    (root / "cgroup.type").unlink()
    group(root / "user.slice", 2, given_on, "memory pids")
    group(root / "user.slice" / "session-3.scope", 2, "memory pids", "", "4242")
    mounts = f"25 24 0:22 / /sys rw - sysfs sysfs rw\n30 25 0:26 / {root} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
    return Layout("0::/user.slice/session-3.scope\n", mounts)


def container(root: Path) -> Layout:
    """A container with a group namespace of its own: all of its processes are in what looks like the top."""
    group(root, 2, ALL, "", "1\n17")
    return Layout("0::/\n", f"612 611 0:26 / {root} rw,nosuid - cgroup2 cgroup rw")


def docker_1(root: Path) -> Layout:
    """A container of version 1: the host's paths, mounted from the container's own group; two controllers share one."""
    for name in ("cpu,cpuacct", "cpuset", "memory", "blkio"):
        group(root / name, 1)
    (root / "cpuset" / "cpuset.mems").write_text("0-1\n")
    lines = "5:cpu,cpuacct:/docker/f00\n4:cpuset:/docker/f00\n3:memory:/docker/f00\n2:blkio:/docker/f00\n"
    mounts = [
        f"7{i} 70 0:2{i} /docker/f00 {root!s}/{name} rw - cgroup cgroup rw,{name}"
        for i, name in enumerate(("cpu,cpuacct", "cpuset", "memory", "blkio"))
    ]
    return Layout(lines, "\n".join(mounts))
