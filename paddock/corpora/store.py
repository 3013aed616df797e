"""The corpora on disk, where Rally looks for them: found, made, checked.

A corpus is finished when its record stands beside it; the record is written last. Whoever makes one holds the
folder's lock, and data appears under its name only when it is whole, so a killed generation leaves nothing
that looks finished.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from paddock.corpora.generate import GENERATOR_VERSION, Written, write_corpus
from paddock.corpora.recipe import Recipe, load_recipe
from paddock.corpora.record import (
    CORPUS_PREFIX,
    RECORD_ENDING,
    CorpusRecord,
    corpus_file,
    first_thousand_file,
    load_record,
    offset_file,
    record_file,
    save_record,
)
from paddock.errors import CorpusError, MachineError, UsageError
from paddock.files import checksum, replacing, require_room
from paddock.locks import locked
from paddock.paths import data_folder

# Called with a description and the number of documents; gives a function that takes those done since its last call.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]

TEST_MODE_DOCUMENTS = 1000  # what Rally's test mode expects in the -1k file
LARGEST_SEED = 2**63 - 1


def find_corpus(recipe: str, documents: int | None = None, seed: int | None = None) -> CorpusRecord | None:
    """The corpus if it is there and made from the recipe as it is now, else None; None means the recipe's own numbers.

    The data is read only if its modification time is not the recorded one.

    :raises UsageError: if there is no such recipe, or the numbers cannot be meant.
    :raises CorpusError: if the data is not what the record says.
    """
    return _find(*_wanted(recipe, documents, seed))


def ensure_corpus(
    recipe: str,
    documents: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> CorpusRecord:
    """The corpus, made if it is missing or its recipe has changed; ``force`` makes it anew in any case.

    Safe in several processes at once: one makes it, the others wait.

    :raises UsageError: if there is no such recipe, or the numbers cannot be meant.
    :raises CorpusError: if there is data but not what its record says.
    :raises MachineError: if the disk is full or cannot be written to.
    """
    wanted, count, used_seed = _wanted(recipe, documents, seed)
    file = corpus_file(wanted.name, count, used_seed, wanted.seed)
    if not force:
        try:
            found = _find(wanted, count, used_seed)
        except CorpusError:
            found = None  # perhaps another process is just replacing it; its lock tells
        if found:
            return found
    with _writing_errors(file), locked(file.with_name(".lock"), "another process that makes this corpus"):
        found = None if force else _find(wanted, count, used_seed)
        return found or _make(wanted, count, used_seed, file, progress)


def verify_corpus(record: CorpusRecord) -> None:
    """Read the whole corpus and compare it with its record.

    :raises CorpusError: if it is not what the record says.
    """
    if not record.file.exists():
        raise CorpusError(f"{record.file} is missing: {_remedy(record)}.")
    if record.file.stat().st_size != record.bytes or checksum(record.file) != record.sha256:
        raise _differs(record)
    thousand_file = first_thousand_file(record.file)
    with record.file.open("rb") as data:
        first = b"".join(itertools.islice(data, TEST_MODE_DOCUMENTS))
    if not thousand_file.exists() or thousand_file.read_bytes() != first:
        raise CorpusError(f"{thousand_file} is not the first 1,000 documents of {record.file.name}: {_remedy(record)}.")


def list_corpora() -> list[CorpusRecord]:
    """All finished corpora in Rally's data folder, by file name."""
    root = data_folder(CORPUS_PREFIX).parent
    records = (load_record(path) for path in sorted(root.glob(f"{CORPUS_PREFIX}*/*{RECORD_ENDING}")))
    return [record for record in records if record and record.file.exists()]


def _wanted(name: str, documents: int | None, seed: int | None) -> tuple[Recipe, int, int]:
    """The recipe and the numbers to use."""
    recipe = load_recipe(name)
    count = recipe.documents if documents is None else documents
    used_seed = recipe.seed if seed is None else seed
    if count < TEST_MODE_DOCUMENTS:
        raise UsageError(
            f"A corpus of {count} documents is too small: Rally's test mode takes the first "
            f"{TEST_MODE_DOCUMENTS:,}, so ask for at least as many."
        )
    if not 0 <= used_seed <= LARGEST_SEED:
        raise UsageError(f"The seed {used_seed} is out of range: take one from 0 to {LARGEST_SEED}.")
    return recipe, count, used_seed


def _find(recipe: Recipe, documents: int, seed: int) -> CorpusRecord | None:
    file = corpus_file(recipe.name, documents, seed, recipe.seed)
    record = load_record(record_file(file))
    if record is None or not file.exists() or not first_thousand_file(file).exists():
        return None
    made_for = (record.recipe_checksum, record.generator_version, record.documents, record.seed)
    if made_for != (recipe.checksum, GENERATOR_VERSION, documents, seed):
        return None
    status = file.stat()
    if status.st_size != record.bytes:
        raise _differs(record)
    if status.st_mtime_ns != record.modified_ns:
        if checksum(file) != record.sha256:
            raise _differs(record)
        record = dataclasses.replace(record, modified_ns=status.st_mtime_ns)
        with _writing_errors(file):
            save_record(record)
    return record


def _make(recipe: Recipe, documents: int, seed: int, file: Path, progress: Progress | None) -> CorpusRecord:
    """Make the corpus: test file, data, offsets, and the record last. The caller holds the lock."""
    thousand_file = first_thousand_file(file)
    for old in (record_file(file), offset_file(file), offset_file(thousand_file)):
        old.unlink(missing_ok=True)
    for left_over in file.parent.glob(f".{file.stem}*.part"):
        left_over.unlink(missing_ok=True)
    with replacing(thousand_file) as temporary:
        sample = write_corpus(recipe, TEST_MODE_DOCUMENTS, seed, temporary, threads=1)
    # Documents differ in length, so some per cent more than the first ones suggest.
    needed = sample.bytes * documents // TEST_MODE_DOCUMENTS * 11 // 10
    require_room(file.parent, needed, f"The corpus {file.name}")
    with replacing(file) as temporary:
        written = _write(recipe, documents, seed, temporary, progress)
    _write_offsets(file, written)
    record = CorpusRecord(
        file=file,
        recipe=recipe.name,
        recipe_checksum=recipe.checksum,
        generator_version=GENERATOR_VERSION,
        documents=documents,
        bytes=written.bytes,
        seed=seed,
        sha256=written.sha256,
        made_at=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        modified_ns=file.stat().st_mtime_ns,
    )
    save_record(record)
    return record


def _write(recipe: Recipe, documents: int, seed: int, file: Path, progress: Progress | None) -> Written:
    shown = progress(f"Making {documents:,} documents of '{recipe.name}'", documents) if progress else nullcontext()
    with shown as advance:
        before = 0

        def report(done: int) -> None:
            nonlocal before
            if advance:
                advance(done - before)
            before = done

        return write_corpus(recipe, documents, seed, file, progress=report)


def _write_offsets(file: Path, written: Written) -> None:
    """Rally's table of line offsets; written after the data, because Rally distrusts an older one."""
    with replacing(offset_file(file)) as temporary:
        lines = (f"{line};{offset}\n" for line, offset in written.line_offsets)
        temporary.write_text("".join(lines), encoding="ascii")


def _differs(record: CorpusRecord) -> CorpusError:
    return CorpusError(f"{record.file} is not the file that its record describes: {_remedy(record)}.")


def _remedy(record: CorpusRecord) -> str:
    """The command that makes the corpus again."""
    command = f"./inv corpus.generate {record.recipe} --documents {record.documents}"
    if "-seed" in record.file.stem:
        command += f" --seed {record.seed}"
    return f"make it again with '{command} --force'"


@contextmanager
def _writing_errors(file: Path) -> Iterator[None]:
    """A full or forbidden disk as a sentence."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"The corpus {file} cannot be written ({error.strerror}): "
            f"free some space there, check who owns the folder, or set RALLY_HOME to another folder."
        ) from None
