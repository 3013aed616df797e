"""Archives: Rally unpacks them to the right bytes, damaged ones are found, and none is ever half there."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paddock.corpora import archives
from paddock.corpora.archives import ARCHIVE_KINDS, archive_corpus, archives_of, verify_archive
from paddock.corpora.record import CorpusRecord
from paddock.corpora.store import ensure_corpus
from paddock.errors import CorpusError, MachineError, UsageError

DOCUMENTS = 30_000  # 10 MB: several pieces


@pytest.fixture
def record() -> CorpusRecord:
    """A small corpus in this test's own Rally home."""
    return ensure_corpus("apache", DOCUMENTS)


@pytest.mark.parametrize("kind", ARCHIVE_KINDS)
@pytest.mark.parametrize("test_mode", [False, True])
def test_rally_unpacks_the_right_bytes(record: CorpusRecord, kind: str, test_mode: bool) -> None:
    """Rally's own preparation, told of the archive, makes the missing data again, for test mode as well."""
    loader = pytest.importorskip("esrally.track.loader")
    track = pytest.importorskip("esrally.track")
    archive = archive_corpus(record, kind)
    assert archive.name == f"apache-30000.json.{kind}"
    name, documents, size = record.file.name, DOCUMENTS, record.bytes
    if test_mode:
        name, documents = "apache-30000-1k.json", 1000
        size = record.file.with_name(name).stat().st_size
    data = record.file.with_name(name).read_bytes()
    for file in record.file.parent.glob("*.json*"):
        if file.suffix != f".{kind}":
            file.unlink()
    document_set = track.Documents(
        "bulk",
        document_file=name,
        document_archive=f"{name}.{kind}",
        number_of_documents=documents,
        compressed_size_in_bytes=None,
        uncompressed_size_in_bytes=size,
    )
    preparator = loader.DocumentSetPreparator("apache", None, loader.Decompressor())
    preparator.prepare_document_set(document_set, str(record.file.parent))
    assert record.file.with_name(name).read_bytes() == data


@pytest.mark.parametrize("kind", ARCHIVE_KINDS)
def test_an_archive_is_made_once(record: CorpusRecord, kind: str) -> None:
    """One that is there and right is kept; a damaged one is found by verifying and made anew by asking again."""
    assert archives_of(record) == []
    archive = archive_corpus(record, kind)
    assert archives_of(record) == [kind]
    verify_archive(record, kind)
    inode = archive.stat().st_ino
    assert archive_corpus(record, kind) == archive
    assert archive.stat().st_ino == inode
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    archive.write_bytes(data)
    with pytest.raises(CorpusError, match=rf"apache-30000\.json\.{kind} does not hold what apache-30000\.json should"):
        verify_archive(record, kind)
    archive_corpus(record, kind)
    verify_archive(record, kind)


@pytest.mark.parametrize("kind", ARCHIVE_KINDS)
@pytest.mark.parametrize("keep", [0, 1000, 100_000])
def test_an_archive_that_was_cut_off_is_found(record: CorpusRecord, kind: str, keep: int) -> None:
    """As after an interrupted copy."""
    archive = archive_corpus(record, kind)
    os.truncate(archive, keep)
    with pytest.raises(CorpusError, match="does not hold what"):
        verify_archive(record, kind)


def test_both_archives_are_verified(record: CorpusRecord) -> None:
    """The one for test mode counts as well, and so does its source."""
    archive_corpus(record, "zst")
    small = record.file.with_name("apache-30000-1k.json.zst")
    content = small.read_bytes()
    small.unlink()
    with pytest.raises(CorpusError, match=r"1k\.json\.zst does not hold"):
        verify_archive(record, "zst")
    small.write_bytes(content)
    verify_archive(record, "zst")
    record.file.with_name("apache-30000-1k.json").unlink()
    with pytest.raises(CorpusError, match=r"1k\.json\.zst does not hold"):
        verify_archive(record, "zst")


def test_damaged_data_gets_no_archive(record: CorpusRecord) -> None:
    """What is handed on is what the record says, or nothing."""
    with record.file.open("r+b") as data:
        data.seek(5_000_000)
        data.write(b"#")
    with pytest.raises(CorpusError, match=r"apache-30000\.json is not the file that its record describes"):
        archive_corpus(record, "zst")
    assert not list(record.file.parent.glob("apache-30000.json.zst*"))
    assert not list(record.file.parent.glob(".*.part"))


def test_a_new_corpus_has_no_old_archive(record: CorpusRecord) -> None:
    """Rally would believe it."""
    archive = archive_corpus(record, "zst")
    ensure_corpus("apache", DOCUMENTS, force=True)
    assert not archive.exists()
    assert not record.file.with_name("apache-30000-1k.json.zst").exists()


def test_room_is_looked_for_first(record: CorpusRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too small a disk is a sentence before any work; one that fills up meanwhile leaves nothing under the name."""

    def room(folder: Path, needed: int, purpose: str) -> None:
        assert record.bytes // 40 < needed < record.bytes // 3
        raise MachineError(purpose)

    def full(*_: Any) -> Iterator[bytes]:
        yield b"some"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(archives, "require_room", room)
    with pytest.raises(MachineError, match=r"The archive apache-30000\.json\.zst"):
        archive_corpus(record, "zst")
    monkeypatch.setattr(archives, "_as_zst", full)
    with pytest.raises(MachineError, match="No space left on device"):
        archive_corpus(record, "zst")
    assert not record.file.with_name("apache-30000.json.zst").exists()
    assert not list(record.file.parent.glob(".*.part"))


@pytest.mark.parametrize("kind", ARCHIVE_KINDS)
def test_progress_adds_up(record: CorpusRecord, kind: str) -> None:
    """It is counted in bytes of the corpus."""
    shown: list[Any] = []

    @contextmanager
    def progress(description: str, total: int) -> Iterator[Any]:
        shown.extend([description, total])
        yield shown.append

    archive_corpus(record, kind, progress)
    description, total, *steps = shown
    assert description == "Compressing apache-30000.json"
    assert len(steps) > 1
    assert total == sum(steps) == record.bytes


def test_an_unknown_kind_is_a_sentence(record: CorpusRecord) -> None:
    """The kinds that there are follow."""
    with pytest.raises(UsageError, match="zst"):
        archive_corpus(record, "zstd")
