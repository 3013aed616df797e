"""The store: corpora are made once, found again, checked, and never half there."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paddock.corpora import store
from paddock.corpora.record import CorpusRecord, load_record
from paddock.corpora.store import ensure_corpus, ensure_named, find_named, list_corpora, verify_corpus
from paddock.errors import CorpusError, MachineError, UsageError
from paddock.paths import PROJECT, data_folder
from tests.corpora.imported import import_corpus
from tests.machine import PATIENCE

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
    monkeypatch.setattr("paddock.corpora.generate.write_corpus", None)
    monkeypatch.setattr(store, "checksum", None)
    assert ensure_corpus("apache", DOCUMENTS) == record
    assert find_named("apache", None, DOCUMENTS) == record
    assert load_record(record.file.with_name("apache-60000.record.json")) == record


def test_other_numbers_are_other_corpora(record: CorpusRecord) -> None:
    """Another number of documents or another seed has files of its own; the recipe's own seed needs no naming."""
    other = ensure_corpus("apache", 1000, seed=7)
    assert other.file.name == "apache-1000-seed7.json"
    assert find_named("apache", None, 1000) is None
    assert find_named("apache", None, DOCUMENTS, seed=1) == record
    assert list_corpora() == [other, record]


def test_nothing_is_there_at_first() -> None:
    """A fresh machine has no corpora, and looking for one makes no folder."""
    assert find_named("apache") is None
    assert list_corpora() == []
    assert not data_folder(FOLDER).exists()


@pytest.mark.parametrize("changed", [{"recipe_checksum": "0" * 64}, {"generator_version": -1}, {"seed": 2}])
def test_a_changed_recipe_or_generator_makes_it_anew(record: CorpusRecord, changed: dict[str, Any]) -> None:
    """A corpus of an older recipe is replaced without being asked, offsets and all."""
    store.save_record(dataclasses.replace(record, **changed))
    record.file.write_text("older data\n")
    assert find_named("apache", None, DOCUMENTS) is None
    made = ensure_corpus("apache", DOCUMENTS)
    assert made.sha256 == record.sha256
    verify_corpus(made)


def test_a_corpus_of_an_older_paddock_is_made_anew(record: CorpusRecord) -> None:
    """A record without today's fields vouches for nothing, but it is no error either."""
    path = record.file.with_name("apache-60000.record.json")
    values = json.loads(path.read_text())
    older = {name: value for name, value in values.items() if name not in ("name", "track", "origin", "details")}
    path.write_text(json.dumps({**older, "recipe": "apache"}))
    assert find_named("apache", None, DOCUMENTS) is None
    assert list_corpora() == []
    made = ensure_corpus("apache", DOCUMENTS)
    assert (made.sha256, list_corpora()) == (record.sha256, [made])


@pytest.mark.parametrize("missing", ["apache-60000.json", "apache-60000-1k.json", "apache-60000.record.json"])
def test_a_missing_file_makes_it_anew(record: CorpusRecord, missing: str) -> None:
    """Without one of its files a corpus is not finished."""
    record.file.with_name(missing).unlink()
    assert find_named("apache", None, DOCUMENTS) is None
    assert ensure_corpus("apache", DOCUMENTS).sha256 == record.sha256
    assert len(finished_files()) == 4


@pytest.mark.parametrize("content", ["", "{", "[]", '{"documents": 60000}', '{"file": 1}'])
def test_a_damaged_record_vouches_for_nothing(record: CorpusRecord, content: str) -> None:
    """Half a record is no record."""
    record.file.with_name("apache-60000.record.json").write_text(content)
    assert find_named("apache", None, DOCUMENTS) is None
    assert list_corpora() == []


def test_a_record_with_wrong_types_vouches_for_nothing(record: CorpusRecord) -> None:
    """A number where a text belongs is damage too."""
    path = record.file.with_name("apache-60000.record.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "bytes": str(record.bytes)}))
    assert find_named("apache", None, DOCUMENTS) is None


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
    for check in (lambda: ensure_corpus("apache", DOCUMENTS), lambda: find_named("apache", None, DOCUMENTS)):
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
    assert find_named("apache", None, DOCUMENTS) == record
    with pytest.raises(CorpusError, match="is not the file that its record describes"):
        verify_corpus(record)
    record.file.unlink()
    with pytest.raises(CorpusError, match="is missing: make it again with"):
        verify_corpus(record)


def test_a_copied_corpus_is_read_once(record: CorpusRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new modification time with the same bytes is accepted after one look, and remembered."""
    os.utime(record.file)
    found = find_named("apache", None, DOCUMENTS)
    assert found is not None
    assert (found.sha256, found.modified_ns) == (record.sha256, record.file.stat().st_mtime_ns)
    monkeypatch.setattr(store, "checksum", None)
    assert find_named("apache", None, DOCUMENTS) == found


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


def test_a_track_without_a_name_means_its_own_recipe(record: CorpusRecord) -> None:
    """Seed and number of documents count as for the recipe; what is missing is made only if that is asked for."""
    assert find_named("apache", None, DOCUMENTS) == find_named("apache", "apache", DOCUMENTS) == record
    assert find_named("apache", None, 1000) is None
    made = ensure_named("apache", None, 1000, 7)
    assert (made.documents, made.seed) == (1000, 7)
    assert ensure_named("apache", "apache", 1000, 7) == made


def test_imports_are_found_by_name() -> None:
    """The latest of several, unless the number of documents says which."""
    larger, smaller = import_corpus("shop", 2000), import_corpus("shop", 1200)
    assert find_named("apache", "shop") == ensure_named("apache", "shop") == smaller
    assert find_named("apache", "shop", 2000) == larger
    with pytest.raises(UsageError, match="'shop' has 2,000 and 1,200 documents, not 1,500"):
        find_named("apache", "shop", 1500)
    with pytest.raises(UsageError, match="'shop' was imported, so it has no seed"):
        find_named("apache", "shop", seed=3)


def test_an_import_may_have_the_name_of_another_track_s_recipe() -> None:
    """It is the track that decides which is meant; without the import, the recipe's track is named."""
    with pytest.raises(UsageError, match="'app-logs' has documents of the track 'app-logs', not of 'apache'"):
        find_named("apache", "app-logs")
    imported = import_corpus("app-logs")
    assert find_named("apache", "app-logs") == imported


def test_a_name_that_is_nothing_is_a_sentence() -> None:
    """The track's recipes and imports are what it could have been."""
    import_corpus("webshop")
    with pytest.raises(UsageError, match="'webshop'"):
        find_named("apache", "websop")
    with pytest.raises(UsageError, match="corpus 'webshop'"):
        find_named("app-logs", "webshop")


def test_a_name_of_several_tracks_is_nobody_s() -> None:
    """Nothing is picked where a corpus's name does not tell the track; all of them are said."""
    for track in ("apache", "logs"):
        import_corpus("shop", track=track)
    import_corpus("web", track="logs")
    assert (store.track_of("web"), store.track_of("nothing")) == ("logs", None)
    with pytest.raises(UsageError, match=r"several tracks are called 'shop' \(apache, logs\): say which with --track"):
        store.track_of("shop")
    with pytest.raises(UsageError, match="of the track 'apache' and 'logs', not of 'syslog'"):
        find_named("syslog", "shop")


def test_a_record_with_another_number_of_documents_is_found_out() -> None:
    """Rally would be told of documents that are not there, though every byte is as it was."""
    record = dataclasses.replace(import_corpus("shop"), documents=1300)
    with pytest.raises(CorpusError, match="has 1,200 documents, and its record says 1,300"):
        verify_corpus(record)


def test_a_changed_import_is_not_used() -> None:
    """It cannot be made from a recipe, so the remedy is another."""
    imported = import_corpus("shop")
    damage(imported.file)
    for check in (lambda: find_named("apache", "shop"), lambda: verify_corpus(imported)):
        with pytest.raises(
            CorpusError, match=r"import it again with './inv corpus\.import', as shop-1200\.record\.json"
        ):
            check()


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
    with pytest.raises(UsageError, match="Did you mean 'app-logs'"):
        ensure_corpus("applogs")


def test_a_full_disk_is_noticed_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says how much is needed and how much there is; nothing that looks finished is left."""
    usage = shutil.disk_usage(Path.home())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100 << 20))
    with pytest.raises(MachineError, match=r"corpus apache-1000000\.json needs 3\d\d MiB in .*only 100 MiB are free"):
        ensure_corpus("apache")
    assert not left_overs()
    assert find_named("apache") is None


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
import os, select, sys
from paddock.corpora import generate, store
if "stepwise" in sys.argv:
    whole, unfinished = generate.write_corpus, store.unfinished
    def stepwise(*arguments, advance=None, **others):
        def report(done):
            print(done, flush=True)
            # A signal that comes just before a read would not end it.
            while not select.select([0], [], [], 0.1)[0]:
                pass
            os.read(0, 1)
        return whole(*arguments, advance=report if "threads" not in others else None, **others)
    def announced(track):
        print("at the lock", flush=True)
        return unfinished(track)
    generate.write_corpus, store.unfinished = stepwise, announced
print(store.ensure_corpus("apache", int(sys.argv[1])).sha256, flush=True)
"""


KILL_AT_THE_END = """
import os, signal
from pathlib import Path
replace = Path.replace
def killed(path, target):
    if target.name.endswith(".record.json"):
        os.kill(os.getpid(), signal.SIGKILL)
    replace(path, target)
Path.replace = killed
"""


@pytest.fixture
def stepwise() -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts other processes that make a corpus: each says what it does, and after a block waits for a line."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        words = [sys.executable, "-c", MAKE, str(DOCUMENTS), "stepwise"]
        started.append(subprocess.Popen(words, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def next_line(process: subprocess.Popen[str]) -> str:
    """What the process says next, as soon as it does."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_generation_leaves_nothing_finished(
    signal_number: signal.Signals, stepwise: Callable[[], subprocess.Popen[str]]
) -> None:
    """Killed in the middle: no data under its name; the next call cleans up and makes it."""
    process = stepwise()
    assert [next_line(process), next_line(process)] == ["at the lock", "10000"]
    process.send_signal(signal_number)
    assert process.wait(PATIENCE) == -signal_number
    assert finished_files() == set()
    assert find_named("apache", None, DOCUMENTS) is None
    assert list_corpora() == []
    assert bool(left_overs()) == (signal_number == signal.SIGKILL)
    verify_corpus(ensure_corpus("apache", DOCUMENTS))
    assert not left_overs()


def test_killed_before_the_record_is_not_finished() -> None:
    """Even with all the data under its name, a corpus without its record is made again."""
    result = subprocess.run([sys.executable, "-c", KILL_AT_THE_END + MAKE, str(DOCUMENTS)], cwd=PROJECT, check=False)
    assert result.returncode == -signal.SIGKILL
    assert finished_files() == {"apache-60000.json", "apache-60000-1k.json", "apache-60000.json.offset"}
    assert find_named("apache", None, DOCUMENTS) is None
    assert list_corpora() == []
    verify_corpus(ensure_corpus("apache", DOCUMENTS))


# The disk's size is looked at beforehand; here it fills up although there seemed to be room.
WITHOUT_ROOM = """
import resource, sys
from paddock.corpora import store
from paddock.errors import MachineError
store.require_room = lambda *_: None
if sys.argv[1] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, 10_000_000))
try:
    store.ensure_corpus("apache", 60_000, force=True)
except MachineError as error:
    print(error)
print(sorted(path.name for path in store.corpus_file("apache", "apache", 1).parent.iterdir()))
"""


@pytest.mark.parametrize("how", ["limit", "file system"])
def test_a_disk_that_fills_up_meanwhile_is_a_sentence(how: str, rally_home: Path) -> None:
    """The kernel's refusal in the middle becomes a sentence, and nothing of the corpus is left."""
    command = [sys.executable, "-c", WITHOUT_ROOM, how]
    reason = "File too large"
    if how == "file system":
        reason = "No space left on device"
        in_namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
        mount = f"mount -t tmpfs -o size=10m tmpfs '{rally_home}'"
        if subprocess.run([*in_namespace, mount], capture_output=True, check=False).returncode:
            pytest.skip("this machine lets no ordinary user mount a small file system")
        command = [*in_namespace, f'{mount} && exec "$@"', "sh", *command]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    sentence, left = result.stdout.splitlines()
    assert f"paddock-apache cannot be written ({reason}): free some space there" in sentence
    assert left == "['.lock']"


def test_two_processes_make_it_once(stepwise: Callable[[], subprocess.Popen[str]]) -> None:
    """The second waits for the first and takes what that has made."""
    first = stepwise()
    assert [next_line(first), next_line(first)] == ["at the lock", "10000"]
    second = stepwise()
    assert next_line(second) == "at the lock"
    *blocks, digest = first.communicate("\n" * 6)[0].splitlines()
    assert len(blocks) == 5
    assert second.communicate()[0].splitlines() == [digest]
