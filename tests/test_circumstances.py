"""What is recorded of the machine, so that results from two of them are not taken for one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.circumstances import CIRCUMSTANCES, circumstances, file_system, processor_model


def test_this_machine_has_all_of_them(tmp_path: Path) -> None:
    """A race with a node of its own records everything; against another cluster the disk is not ours to tell."""
    here = circumstances(tmp_path / "not-made-yet")
    assert set(here) == set(CIRCUMSTANCES)
    assert int(here["cores"]) >= 1
    assert set(CIRCUMSTANCES) - set(circumstances(None)) == {"file system"}


def test_the_model_is_read_from_the_kernels_text() -> None:
    """The first model name counts, its blanks are made one; ARM kernels give none."""
    text = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Some   CPU @ 2.60GHz: fast\n\nmodel name\t: Other\n"
    assert processor_model(text) == "Some CPU @ 2.60GHz: fast"
    assert processor_model("processor\t: 0\nBogoMIPS\t: 243.75\n") == ""


def test_the_innermost_mount_tells_the_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk mounted inside another one is the one that holds the folder."""

    class Partition:
        def __init__(self, mountpoint: str, fstype: str) -> None:
            self.mountpoint, self.fstype = mountpoint, fstype

    outer, inner = tmp_path / "a", tmp_path / "a" / "disk"
    mounted = [Partition(str(inner), "xfs"), Partition(str(outer), "ext4")]
    monkeypatch.setattr("psutil.disk_partitions", lambda **_: mounted)
    assert file_system(inner / "data") == "xfs"
    assert file_system(outer / "data") == "ext4"
    assert file_system(tmp_path) == ""
