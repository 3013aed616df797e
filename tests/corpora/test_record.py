"""Corpora on disk: written data becomes one whole or not at all, whoever wrote it; tracks are told what they need."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from paddock.corpora import record as records
from paddock.corpora.record import CorpusRecord, load_record, record_file, track_parameters, unfinished
from paddock.corpora.store import list_corpora, verify_corpus
from paddock.errors import MachineError, UsageError
from paddock.paths import data_folder
from tests.corpora.imported import import_corpus


def files() -> set[str]:
    """Everything in the folder but its lock."""
    return {path.name for path in data_folder("paddock-apache").iterdir()} - {".lock"}


def test_an_import_is_a_corpus_like_any_other() -> None:
    """It has all companions, is listed and verified, and its record keeps what the import says of itself."""
    record = import_corpus("shop")
    assert files() == {"shop-1200.json", "shop-1200-1k.json", "shop-1200.json.offset", "shop-1200.record.json"}
    assert (record.origin, record.recipe_checksum, record.seed, record.documents) == ("import", "", 0, 1200)
    assert load_record(record_file(record.file)) == record
    assert record.details == {"sources": ["access.log"], "bad_lines": 3}
    assert list_corpora() == [record]
    assert record.file.stat().st_mode & 0o777 == 0o644
    verify_corpus(record)


def test_rally_takes_the_offsets() -> None:
    """Blocks that do not divide 50,000 lines give Rally's table all the same; it never counts the lines itself."""
    io = pytest.importorskip("esrally.utils.io")
    record = import_corpus("shop", 120_000)
    assert io.prepare_file_offset_table(str(record.file)) is None
    with record.file.open("rb") as data:
        io.skip_lines(str(record.file), data, 100_001)
        assert data.readline() == b'{"message":"line 100001"}\n'


def test_importing_again_replaces_it() -> None:
    """What was made from the earlier data goes, archives too."""
    first = import_corpus("shop")
    archive = first.file.with_name("shop-1200.json.zst")
    archive.write_bytes(b"packed")
    second = import_corpus("shop")
    assert (second.sha256, list_corpora()) == (first.sha256, [second])
    assert not archive.exists()


def test_no_documents_are_no_corpus() -> None:
    """Nothing to race on ends in a sentence and leaves nothing."""
    with pytest.raises(UsageError, match=r"'shop' would have no documents"):
        import_corpus("shop", 0)
    assert files() == set()


def test_few_documents_are_a_corpus() -> None:
    """Rally's test mode leaves corpora of up to 1,000 documents as they are; the -1k file has what there is."""
    record = import_corpus("shop", 7)
    assert record.file.with_name("shop-7-1k.json").read_bytes() == record.file.read_bytes()


@pytest.mark.parametrize("step", ["_write_first_thousand", "_write_offsets", "save_record"])
def test_a_disk_that_is_full_at_the_end_leaves_nothing(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data without its companions would look finished to Rally: it goes too."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(records, step, full)
    with pytest.raises(MachineError, match=r"paddock-apache/shop-1200.*\(No space left on device\)"):
        import_corpus("shop")
    assert files() == set()


@pytest.mark.parametrize("step", ["_write_first_thousand", "_write_offsets", "save_record"])
def test_a_disk_that_is_full_at_the_end_leaves_the_corpus_that_was_to_be_replaced(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither it nor its archive goes before all of the new one is on disk."""
    before = import_corpus("shop")
    before.file.with_name("shop-1200.json.zst").write_bytes(b"packed")
    there = files()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(records, step, full)
    with pytest.raises(MachineError, match="No space left on device"):
        import_corpus("shop")
    assert files() == there
    assert list_corpora() == [before]
    verify_corpus(before)


def test_left_overs_of_killed_processes_go() -> None:
    """The next process that writes there removes them, and its own file when it fails."""
    folder = data_folder("paddock-apache")
    folder.mkdir(parents=True)
    (folder / ".unfinished.abc.part").write_bytes(b"half")
    with pytest.raises(KeyError), unfinished("apache") as temporary:
        assert files() == {temporary.name}
        raise KeyError
    assert files() == set()


def test_the_folder_is_locked_meanwhile() -> None:
    """No second process can write there as long as the block runs."""
    with (
        unfinished("apache") as temporary,
        (temporary.parent / ".lock").open() as lock,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_folder_that_cannot_be_made_is_a_sentence(rally_home: Path) -> None:
    """The place is named."""
    (rally_home / ".rally").write_text("in the way")
    with pytest.raises(MachineError, match=r"paddock-apache/\.lock cannot be opened"), unfinished("apache"):
        pass


def test_the_record_is_named_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it appears, everything that it vouches for is there, and nothing of a corpus that was there before."""
    seen: list[set[str]] = []
    replace = Path.replace

    def look(path: Path, target: Path) -> Path:
        if target.name.endswith(".record.json"):
            seen.append({each.name for each in target.parent.glob("shop*")})
        return replace(path, target)

    import_corpus("shop")
    monkeypatch.setattr(Path, "replace", look)
    import_corpus("shop")
    assert seen == [{"shop-1200.json", "shop-1200-1k.json", "shop-1200.json.offset"}]


def test_tracks_get_file_documents_and_bytes() -> None:
    """The file's name without its folder, because Rally knows the folder."""
    file = Path("/data/paddock-x/x-2000.json")
    record = CorpusRecord(file, "x", "x", "recipe", "c", 1, 2000, 700_000, 3, "s", "t", 1, {})
    assert track_parameters(record) == {
        "corpus_file": "x-2000.json",
        "corpus_documents": 2000,
        "corpus_bytes": 700_000,
    }
