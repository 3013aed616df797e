"""The store: corpora are made once, found again, checked, and never half there."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paddock.corpora import store
from paddock.corpora.record import CorpusRecord, load_record
from paddock.corpora.store import ensure_corpus, find_corpus, list_corpora, verify_corpus
from paddock.errors import CorpusError, MachineError, UsageError
from paddock.paths import PROJECT, data_folder

DOCUMENTS = 60_000
FOLDER = "paddock-apache"


@pytest.fixture
def record() -> CorpusRecord:
    """A small corpus in this test's own Rally home."""
    return ensure_corpus("apache", DOCUMENTS)


def finished_files() -> set[str]:
    """Everything that looks like a corpus or a part of one."""
    return {path.name for path in data_folder(FOLDER).glob("*") if not path.name.startswith(".")}


def left_overs() -> list[Path]:
    """Temporary files."""
    return list(data_folder(FOLDER).glob(".*.part"))


def test_files_lie_where_rally_looks(record: CorpusRecord) -> None:
    """Data, test-mode file, offsets and record, with the names that Rally expects, and no temporary file."""
    assert record.file == data_folder(FOLDER) / "apache-60000.json"
    assert finished_files() == {
        "apache-60000.json",
        "apache-60000-1k.json",
        "apache-60000.json.offset",
        "apache-60000.record.json",
    }
    assert not left_overs()
    assert (record.documents, record.bytes) == (DOCUMENTS, record.file.stat().st_size)
    first = record.file.read_bytes().splitlines(keepends=True)[:1000]
    assert record.file.with_name("apache-60000-1k.json").read_bytes() == b"".join(first)


def test_rally_accepts_the_offsets(record: CorpusRecord) -> None:
    """Rally's own reader finds the table valid and jumps to the right line with it."""
    io = pytest.importorskip("esrally.utils.io")
    assert io.FileOffsetTable.read_for_data_file(str(record.file)).is_valid()
    assert io.prepare_file_offset_table(str(record.file)) is None
    with record.file.open("rb") as data:
        io.skip_lines(str(record.file), data, 50_007)
        assert data.readline() == record.file.read_bytes().splitlines(keepends=True)[50_007]


def test_a_finished_corpus_is_not_made_again(record: CorpusRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call neither writes nor reads the data."""
    monkeypatch.setattr(store, "write_corpus", None)
    monkeypatch.setattr(store, "checksum", None)
    assert ensure_corpus("apache", DOCUMENTS) == record
    assert find_corpus("apache", DOCUMENTS) == record
    assert load_record(record.file.with_name("apache-60000.record.json")) == record


def test_other_numbers_are_other_corpora(record: CorpusRecord) -> None:
    """Another number of documents or another seed has files of its own; the recipe's own seed needs no naming."""
    other = ensure_corpus("apache", 1000, seed=7)
    assert other.file.name == "apache-1000-seed7.json"
    assert find_corpus("apache", 1000) is None
    assert find_corpus("apache", DOCUMENTS, seed=1) == record
    assert list_corpora() == [other, record]


def test_nothing_is_there_at_first() -> None:
    """A fresh machine has no corpora, and looking for one makes no folder."""
    assert find_corpus("apache") is None
    assert list_corpora() == []
    assert not data_folder(FOLDER).exists()


@pytest.mark.parametrize("changed", [{"recipe_checksum": "0" * 64}, {"generator_version": -1}, {"seed": 2}])
def test_a_changed_recipe_or_generator_makes_it_anew(record: CorpusRecord, changed: dict[str, Any]) -> None:
    """A corpus of an older recipe is replaced without being asked, offsets and all."""
    store.save_record(dataclasses.replace(record, **changed))
    record.file.write_text("older data\n")
    assert find_corpus("apache", DOCUMENTS) is None
    made = ensure_corpus("apache", DOCUMENTS)
    assert made.sha256 == record.sha256
    verify_corpus(made)


@pytest.mark.parametrize("missing", ["apache-60000.json", "apache-60000-1k.json", "apache-60000.record.json"])
def test_a_missing_file_makes_it_anew(record: CorpusRecord, missing: str) -> None:
    """Without one of its files a corpus is not finished."""
    record.file.with_name(missing).unlink()
    assert find_corpus("apache", DOCUMENTS) is None
    assert ensure_corpus("apache", DOCUMENTS).sha256 == record.sha256
    assert len(finished_files()) == 4


@pytest.mark.parametrize("content", ["", "{", "[]", '{"documents": 60000}', '{"file": 1}'])
def test_a_damaged_record_vouches_for_nothing(record: CorpusRecord, content: str) -> None:
    """Half a record is no record."""
    record.file.with_name("apache-60000.record.json").write_text(content)
    assert find_corpus("apache", DOCUMENTS) is None
    assert list_corpora() == []


def test_a_record_with_wrong_types_vouches_for_nothing(record: CorpusRecord) -> None:
    """A number where a text belongs is damage too."""
    path = record.file.with_name("apache-60000.record.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "bytes": str(record.bytes)}))
    assert find_corpus("apache", DOCUMENTS) is None


def damage(file: Path) -> None:
    """Change one byte; the size stays."""
    with file.open("r+b") as data:
        data.seek(1000)
        byte = data.read(1)
        data.seek(1000)
        data.write(bytes([byte[0] ^ 1]))


def test_a_wrong_checksum_is_a_sentence(record: CorpusRecord) -> None:
    """Changed data is named, with the command that makes it again, and that command's effect mends it."""
    damage(record.file)
    remedy = "make it again with './inv corpus.generate apache --documents 60000 --force'"
    for check in (lambda: ensure_corpus("apache", DOCUMENTS), lambda: find_corpus("apache", DOCUMENTS)):
        with pytest.raises(CorpusError) as caught:
            check()
        assert str(caught.value) == f"{record.file} is not the file that its record describes: {remedy}."
    assert ensure_corpus("apache", DOCUMENTS, force=True).sha256 == record.sha256
    verify_corpus(record)


def test_a_wrong_size_is_a_sentence() -> None:
    """Data that was cut off is refused; the remedy names the seed."""
    record = ensure_corpus("apache", 1000, seed=5)
    os.truncate(record.file, record.bytes - 1)
    with pytest.raises(CorpusError, match=r"--documents 1000 --seed 5 --force'\.$"):
        ensure_corpus("apache", 1000, seed=5)


def test_verifying_reads_everything(record: CorpusRecord) -> None:
    """Damage that neither size nor time betrays is found, in the test-mode file too, and a missing file named."""
    verify_corpus(record)
    thousand = record.file.with_name("apache-60000-1k.json")
    damage(thousand)
    with pytest.raises(CorpusError, match=r"apache-60000-1k\.json is not the first 1,000 documents"):
        verify_corpus(record)
    damage(record.file)
    os.utime(record.file, ns=(record.modified_ns, record.modified_ns))
    assert find_corpus("apache", DOCUMENTS) == record
    with pytest.raises(CorpusError, match="is not the file that its record describes"):
        verify_corpus(record)
    record.file.unlink()
    with pytest.raises(CorpusError, match="is missing: make it again with"):
        verify_corpus(record)


def test_a_copied_corpus_is_read_once(record: CorpusRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new modification time with the same bytes is accepted after one look, and remembered."""
    os.utime(record.file)
    found = find_corpus("apache", DOCUMENTS)
    assert found is not None
    assert (found.sha256, found.modified_ns) == (record.sha256, record.file.stat().st_mtime_ns)
    monkeypatch.setattr(store, "checksum", None)
    assert find_corpus("apache", DOCUMENTS) == found


def test_stale_offsets_go(record: CorpusRecord) -> None:
    """Offsets of earlier data, which Rally would believe if they looked newer, do not outlive it."""
    thousand_offsets = record.file.with_name("apache-60000-1k.json.offset")
    offsets = record.file.with_name("apache-60000.json.offset")
    right = offsets.read_text()
    for path in (thousand_offsets, offsets):
        path.write_text("50000;1\n")
    ensure_corpus("apache", DOCUMENTS, force=True)
    assert not thousand_offsets.exists()
    assert offsets.read_text() == right


@pytest.mark.parametrize("documents", [0, 1, 999, -5])
def test_too_few_documents_are_refused(documents: int) -> None:
    """Rally's test mode needs 1,000."""
    with pytest.raises(UsageError, match=r"test mode takes the first 1,000, so ask for at least as many\.$"):
        ensure_corpus("apache", documents)
    assert finished_files() == set()


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_impossible_seeds_are_refused(seed: int) -> None:
    """The range is named."""
    with pytest.raises(UsageError, match=r"out of range: take one from 0 to 9223372036854775807\.$"):
        ensure_corpus("apache", 1000, seed=seed)


def test_unknown_recipes_are_refused() -> None:
    """With the name that was meant."""
    with pytest.raises(UsageError, match=r"Did you mean 'app-logs'\?"):
        ensure_corpus("applogs")


def test_a_full_disk_is_noticed_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says how much is needed and how much there is; nothing that looks finished is left."""
    usage = shutil.disk_usage(Path.home())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100 << 20))
    with pytest.raises(MachineError, match=r"corpus apache-1000000\.json needs 3\d\d MiB in .*only 100 MiB are free"):
        ensure_corpus("apache")
    assert not left_overs()
    assert find_corpus("apache") is None


def test_a_disk_that_fills_up_meanwhile_is_a_sentence(record: CorpusRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operating system's error becomes a sentence, and the half-written file goes away."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store, "write_corpus", full)
    with pytest.raises(MachineError, match=r"cannot be written \(No space left on device\): free some space there"):
        ensure_corpus("apache", DOCUMENTS, force=True)
    assert not left_overs()
    assert find_corpus("apache", DOCUMENTS) is None


def test_progress_adds_up() -> None:
    """What is shown begins with the total and ends when all documents are written."""
    shown: list[Any] = []

    @contextmanager
    def progress(description: str, total: int) -> Iterator[Any]:
        shown.extend([description, total])
        yield shown.append

    ensure_corpus("apache", DOCUMENTS, progress=progress)
    description, total, *steps = shown
    assert "60,000 documents of 'apache'" in description
    assert total == sum(steps) == DOCUMENTS


MAKE = """
import sys, time
from paddock.corpora import store
if len(sys.argv) > 2:
    whole = store.write_corpus
    def slow(*arguments, progress=None, **others):
        def report(done):
            print(done, flush=True)
            time.sleep(float(sys.argv[2]))
        return whole(*arguments, progress=report if progress else None, **others)
    store.write_corpus = slow
print(store.ensure_corpus("apache", int(sys.argv[1])).sha256, flush=True)
"""


def start_making(*arguments: str) -> subprocess.Popen[str]:
    """Another process that makes a corpus; a second argument makes it pause after each block."""
    return subprocess.Popen(
        [sys.executable, "-c", MAKE, str(DOCUMENTS), *arguments], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_generation_leaves_nothing_finished(signal_number: signal.Signals) -> None:
    """Killed in the middle: no data under its name; the next call cleans up and makes it."""
    process = start_making("30")
    assert process.stdout is not None
    with process.stdout as lines:
        assert lines.readline() == "10000\n"
        process.send_signal(signal_number)
        process.wait(timeout=60)
    assert finished_files() <= {"apache-60000-1k.json"}
    assert find_corpus("apache", DOCUMENTS) is None
    assert list_corpora() == []
    assert bool(left_overs()) == (signal_number == signal.SIGKILL)
    verify_corpus(ensure_corpus("apache", DOCUMENTS))
    assert not left_overs()


def test_two_processes_make_it_once() -> None:
    """The second waits for the first and takes what that has made."""
    first = start_making("0.3")
    assert first.stdout is not None
    first_block = first.stdout.readline()
    second = start_making("0")
    first_output, _ = first.communicate(timeout=60)
    second_output, _ = second.communicate(timeout=60)
    assert first_block == "10000\n"
    *blocks, digest = first_output.splitlines()
    assert len(blocks) == 5
    assert second_output.splitlines() == [digest]
