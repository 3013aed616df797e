"""The disk below a folder, of recorded mounts."""

from __future__ import annotations

from pathlib import Path

from paddock.limits.disks import Disk, disk_of


def kernel(root: Path) -> Path:
    """/sys/dev/block of a machine with a disk, its partition, and a volume of the device mapper."""
    disk = root / "devices" / "pci" / "block" / "sda"
    (disk / "sda2").mkdir(parents=True)
    (disk / "dev").write_text("8:0\n")
    (disk / "sda2" / "dev").write_text("8:2\n")
    (disk / "sda2" / "partition").write_text("2\n")
    volume = root / "devices" / "virtual" / "block" / "dm-0"
    volume.mkdir(parents=True)
    (volume / "dev").write_text("253:0\n")
    listed = root / "dev" / "block"
    listed.mkdir(parents=True)
    for number, folder in (("8:0", disk), ("8:2", disk / "sda2"), ("253:0", volume)):
        (listed / number).symlink_to(folder)
    return listed


def mounts(root: Path) -> str:
    """The root on a partition, the data on a volume, a memory file system and an overlay in it."""
    return (
        f"1 0 8:2 / / rw - ext4 /dev/sda2 rw\n2 1 253:0 / {root}/data rw - xfs /dev/mapper/data rw\n"
        f"3 1 0:23 / {root}/shm rw - tmpfs tmpfs rw\n4 1 0:45 / {root}/o rw - overlay overlay rw,lowerdir=/l\n"
    )


def test_the_disk_of_a_partition_is_limited(tmp_path: Path) -> None:
    """Limits are a whole disk's; a folder that is still to be made counts as the one above it."""
    listed = kernel(tmp_path / "sys")
    assert disk_of(tmp_path / "not" / "yet", mounts(tmp_path), listed) == Disk("8:0", "sda")


def test_volumes_are_disks(tmp_path: Path) -> None:
    """The innermost mount counts."""
    (tmp_path / "data" / "node").mkdir(parents=True)
    assert disk_of(tmp_path / "data" / "node", mounts(tmp_path), kernel(tmp_path / "sys")) == Disk("253:0", "dm-0")


def test_what_has_no_disk_says_so(tmp_path: Path) -> None:
    """Memory, and the layers of a container."""
    listed = kernel(tmp_path / "sys")
    for name, kind in (("shm", "tmpfs"), ("o", "overlay")):
        (tmp_path / name).mkdir()
        told = disk_of(tmp_path / name, mounts(tmp_path), listed)
        assert told == f"{tmp_path / name} lies on {kind}, which has no disk of its own that could be limited"
