"""What is recorded of Paddock and of the corpus."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from paddock import __version__, paths
from paddock.circumstances import corpus_text, paddock_version, with_short_checksums
from paddock.corpora.record import FROM_IMPORT, FROM_RECIPE, CorpusRecord


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
