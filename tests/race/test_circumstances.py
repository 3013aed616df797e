"""What is recorded of the machine, of Paddock and of the corpus, so that results of two are not taken for one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from paddock import __version__, paths
from paddock.corpora.record import FROM_IMPORT, FROM_RECIPE, CorpusRecord
from paddock.race.circumstances import (
    CIRCUMSTANCES,
    circumstances,
    corpus_text,
    file_system,
    paddock_version,
    processor_model,
    with_short_checksums,
)


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


def a_record(origin: str, name: str, seed: int) -> CorpusRecord:
    """A corpus of 2,000 documents."""
    return CorpusRecord(Path("x.json"), name, "apache", origin, "", 1, 2000, 1, seed, "0123456789abcdef" * 4, "", 0, {})


def test_a_corpus_is_told_by_what_decides_it() -> None:
    """A recipe with its seed, an import without; neither has what Rally would split its tags at."""
    made, brought = corpus_text(a_record(FROM_RECIPE, "apache", 0)), corpus_text(a_record(FROM_IMPORT, "ours", 0))
    assert made == f"recipe apache seed 0 with 2000 documents sha256 {'0123456789abcdef' * 4}"
    assert brought.startswith("import ours with 2000")
    assert not set(",:'") & set(made + brought)
    assert with_short_checksums(made).endswith("sha256 0123456789ab")
    assert with_short_checksums("commit 0123456789ab, 12 laps") == "commit 0123456789ab, 12 laps"


def test_a_checkout_tells_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a repository, the commit and whether a file differs from it; elsewhere the version alone."""
    monkeypatch.setattr(paths, "PROJECT", tmp_path)
    assert paddock_version() == __version__

    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-m", "one")
    clean = paddock_version()
    assert clean.startswith(f"{__version__} (commit ")
    assert "changes" not in clean
    (tmp_path / "file").write_text("two")
    assert paddock_version() == clean.replace(")", " with changes)")
