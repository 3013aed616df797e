"""From written data to a finished corpus, for generated and imported ones alike: whole or not at all."""

from __future__ import annotations

import datetime
import itertools
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.corpora.record import (
    TEST_MODE_DOCUMENTS,
    CorpusRecord,
    companion_files,
    corpus_name,
    first_thousand_file,
    offset_file,
    save_record,
)
from paddock.errors import MachineError, UsageError
from paddock.files import replacing
from paddock.locks import locked
from paddock.paths import data_folder

if TYPE_CHECKING:
    from paddock.corpora.writer import Written

_UNFINISHED = ".unfinished."


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
    """The folder of the track's corpora; its lock is held while the block runs, so no second one within it.

    :raises MachineError: for every OSError in the block, and if the folder cannot be written to.
    """
    folder = data_folder(corpus_name(track))
    with writing_errors(folder), locked(folder / ".lock", "another process that makes a corpus there"):
        yield folder


@contextmanager
def unfinished(track: str) -> Iterator[Path]:
    """A temporary file in the folder of the track's corpora, for ``finish_corpus``; it goes if that is not called.

    Holds the folder's lock (see ``changing``), and removes what killed processes left. SIGTERM ends the block with
    SystemExit, so that it leaves nothing either.

    :raises MachineError: for every OSError in the block, and if the folder cannot be written to.
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

    What was there under the name is replaced. If something fails, nothing is left under it. Fewer than 1,000 documents
    are allowed: Rally's test mode leaves such a corpus as it is.

    :param temporary: from ``unfinished``, whose block this is called in; ``written`` is what it holds.
    :raises UsageError: if there are no documents.
    :raises OSError: if the disk is full.
    """
    if written.documents == 0:
        raise UsageError(f"The corpus '{made.name}' would have no documents: there is nothing to race on.")
    remove_corpus(file)
    try:
        temporary.chmod(0o644)
        temporary.rename(file)
        _write_first_thousand(file)
        _write_offsets(file, written)
        record = CorpusRecord(
            file=file,
            name=made.name,
            track=made.track,
            origin=made.origin,
            recipe_checksum=made.recipe_checksum,
            generator_version=made.generator_version,
            documents=written.documents,
            bytes=written.bytes,
            seed=made.seed,
            sha256=written.sha256,
            made_at=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds"),
            modified_ns=file.stat().st_mtime_ns,
            details=made.details,
        )
        save_record(record)
    except BaseException:
        remove_corpus(file)
        raise
    return record


def remove_corpus(file: Path) -> None:
    """Remove a corpus and everything made from it, the record first; what is missing is no error."""
    for each in (*companion_files(file), file):
        each.unlink(missing_ok=True)


@contextmanager
def writing_errors(place: Path) -> Iterator[None]:
    """A full or forbidden disk as a sentence.

    :raises MachineError: for every OSError.
    """
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"The corpus in {place} cannot be written ({error.strerror}): "
            f"free some space there, check who owns the folder, or set RALLY_HOME to another folder."
        ) from None


def _write_first_thousand(file: Path) -> None:
    """The file for Rally's test mode."""
    with replacing(first_thousand_file(file)) as temporary, file.open("rb") as data, temporary.open("wb") as target:
        target.writelines(itertools.islice(data, TEST_MODE_DOCUMENTS))


def _write_offsets(file: Path, written: Written) -> None:
    """Rally's table of line offsets; written after the data, because Rally distrusts an older one."""
    with replacing(offset_file(file)) as temporary:
        lines = (f"{line};{offset}\n" for line, offset in written.line_offsets)
        temporary.write_text("".join(lines), encoding="ascii")
