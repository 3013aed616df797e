"""A corpus on disk: its files, what is known of it, and how written data becomes one, whole or not at all."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.errors import MachineError, UsageError
from paddock.files import locked, read_record, replacing, write_json
from paddock.paths import data_folder

if TYPE_CHECKING:
    from paddock.corpora.writer import Written

CORPUS_PREFIX = "paddock-"
RECORD_ENDING = ".record.json"

# Count up whenever the same recipe, seed and number of documents give other bytes than before.
GENERATOR_VERSION = 2
TEST_MODE_DOCUMENTS = 1000  # what Rally's test mode expects in the -1k file

FROM_RECIPE = "recipe"
FROM_IMPORT = "import"

ARCHIVE_KINDS = ("zst", "bz2")  # those that Paddock makes; Rally unpacks others as well

_UNFINISHED = ".unfinished."


@dataclass(frozen=True)
class CorpusRecord:
    """A finished corpus; all but ``file`` stands in the record beside it."""

    file: Path
    name: str  # the recipe's, or the one given to the import
    track: str  # the track whose documents these are
    origin: str  # FROM_RECIPE or FROM_IMPORT
    recipe_checksum: str  # sha256; empty for an import
    generator_version: int
    documents: int
    bytes: int
    seed: int  # 0 for an import
    sha256: str
    made_at: str  # ISO 8601, UTC
    modified_ns: int  # the file's modification time when it had this checksum, ns since 1970
    details: dict[str, Any] = field(hash=False)  # of an import: sources, format, options, counts; else empty


def corpus_name(track: str) -> str:
    """What Rally calls a track's corpus; it must be unique among all tracks of a machine."""
    return f"{CORPUS_PREFIX}{track}"


def corpus_file(track: str, name: str, documents: int, seed: int = 0, usual_seed: int = 0) -> Path:
    """The data's file, in the folder where Rally looks; the seed shows only if it is not the recipe's own."""
    suffix = "" if seed == usual_seed else f"-seed{seed}"
    return data_folder(corpus_name(track)) / f"{name}-{documents}{suffix}.json"


def first_thousand_file(file: Path) -> Path:
    """The file with the first 1,000 documents, named as Rally's test mode expects it."""
    return file.with_name(f"{file.stem}-1k.json")


def offset_file(file: Path) -> Path:
    """Rally's table of line offsets for a data file."""
    return file.with_name(f"{file.name}.offset")


def record_file(file: Path) -> Path:
    """The record of a data file."""
    return file.with_name(f"{file.stem}{RECORD_ENDING}")


def times_file(file: Path) -> Path:
    """The table of the documents' times for a data file, which a replay makes (tracks/shared/replay_times.py)."""
    return file.with_name(f"{file.name}.times")


def archive_file(file: Path, kind: str) -> Path:
    """The archive that Rally unpacks where the data file is missing."""
    return file.with_name(f"{file.name}.{kind}")


def companion_files(file: Path) -> list[Path]:
    """Everything made from a data file, which is worthless when the data changes; the record first."""
    thousand = first_thousand_file(file)
    archives = [archive_file(each, kind) for each in (file, thousand) for kind in ARCHIVE_KINDS]
    offsets_and_times = [made(each) for each in (file, thousand) for made in (offset_file, times_file)]
    return [record_file(file), *offsets_and_times, thousand, *archives]


def load_record(path: Path) -> CorpusRecord | None:
    """The record in that file; None if there is none, it is damaged, or an older Paddock wrote it."""
    values = read_record(path)
    # The type "dict[str, Any]" is a dict.
    types = {each.name: str(each.type).partition("[")[0] for each in dataclasses.fields(CorpusRecord)}
    del types["file"]
    if {name: type(value).__name__ for name, value in values.items()} != types:
        return None
    return CorpusRecord(file=path.with_name(f"{path.name.removesuffix(RECORD_ENDING)}.json"), **values)


def save_record(record: CorpusRecord, path: Path | None = None) -> None:
    """Write the record, whole or not at all; beside its data unless another path is given."""
    values = dataclasses.asdict(record)
    del values["file"]
    write_json(path or record_file(record.file), values)


def track_parameters(record: CorpusRecord) -> dict[str, str | int]:
    """The track parameters that make a track read this corpus."""
    return {"corpus_file": record.file.name, "corpus_documents": record.documents, "corpus_bytes": record.bytes}


@dataclass(frozen=True)
class Provenance:
    """Where a corpus comes from: what its record says besides what was written (see CorpusRecord)."""

    name: str
    track: str
    origin: str
    recipe_checksum: str = ""
    generator_version: int = 0
    seed: int = 0
    details: dict[str, Any] = field(default_factory=dict)


@contextmanager
def changing(track: str) -> Iterator[Path]:
    """The folder of the track's corpora, locked while the block runs; raises MachineError for every OSError in it."""
    folder = data_folder(corpus_name(track))
    with writing_errors(folder), locked(folder / ".lock", "another process that makes a corpus there"):
        yield folder


@contextmanager
def unfinished(track: str) -> Iterator[Path]:
    """A temporary file in the folder of the track's corpora, for ``finish_corpus``; it goes if that is not called.

    Holds the folder's lock (see ``changing``, which tells the errors), and removes what killed processes left. SIGTERM
    ends the block with SystemExit, so that it leaves nothing either.
    """
    with changing(track) as folder:
        for left_over in folder.glob(f"{_UNFINISHED}*"):
            left_over.unlink()
        handle, name = tempfile.mkstemp(dir=folder, prefix=_UNFINISHED, suffix=".part")
        os.close(handle)
        temporary = Path(name)
        try:
            with _ended_by_sigterm():
                yield temporary
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM as an exception, which cleans up on its way; only the main thread can have it so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def finish_corpus(temporary: Path, written: Written, file: Path, made: Provenance) -> CorpusRecord:
    """Make a corpus of data that is written: its name, test-mode file, Rally's offsets, and the record last.

    What was there under the name is replaced when all of the new one is written: if something fails, it is still there.
    Fewer than 1,000 documents are allowed: Rally's test mode leaves such a corpus as it is.

    :param temporary: from ``unfinished``, whose block this is called in; ``written`` is what it holds.
    :raises UsageError: if there are no documents.
    :raises OSError: if the disk is full.
    """
    if written.documents == 0:
        raise UsageError(f"The corpus '{made.name}' would have no documents: there is nothing to race on.")
    temporary.chmod(0o644)
    record = CorpusRecord(
        file=file,
        documents=written.documents,
        bytes=written.bytes,
        sha256=written.sha256,
        made_at=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds"),
        modified_ns=temporary.stat().st_mtime_ns,
        **vars(made),
    )
    with ExitStack() as renamed:  # in the opposite order, when all is written: the record last
        save_record(record, renamed.enter_context(replacing(record_file(file))))
        _write_offsets(renamed.enter_context(replacing(offset_file(file))), written)
        _write_first_thousand(renamed.enter_context(replacing(first_thousand_file(file))), temporary)
        remove_corpus(file)
        temporary.rename(file)
    return record


def remove_corpus(file: Path) -> None:
    """Remove a corpus and everything made from it, the record first; what is missing is no error."""
    for each in (*companion_files(file), file):
        each.unlink(missing_ok=True)


@contextmanager
def writing_errors(place: Path) -> Iterator[None]:
    """A full or forbidden disk as a sentence; raises MachineError for every OSError."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"The corpus in {place} cannot be written ({error.strerror}): "
            f"free some space there, check who owns the folder, or set RALLY_HOME to another folder."
        ) from None


def _write_first_thousand(target: Path, file: Path) -> None:
    """The file for Rally's test mode."""
    with file.open("rb") as data, target.open("wb") as first:
        first.writelines(itertools.islice(data, TEST_MODE_DOCUMENTS))


def _write_offsets(target: Path, written: Written) -> None:
    """Rally's table of line offsets; written after the data, because Rally distrusts an older one."""
    target.write_text("".join(f"{line};{offset}\n" for line, offset in written.line_offsets), encoding="ascii")
