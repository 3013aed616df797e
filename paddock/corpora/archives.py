"""Compressed archives of a corpus, to hand on: Rally unpacks one where the data is missing.

Beside ``apache-1000000.json`` come ``apache-1000000.json.zst`` and ``apache-1000000-1k.json.zst``, the latter for
Rally's test mode. A track takes the archive with ``corpus_file: apache-1000000.json.zst``.
"""

from __future__ import annotations

import bz2
import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import zstandard

from paddock.corpora.record import ARCHIVE_KINDS, CorpusRecord, archive_file, changing, first_thousand_file
from paddock.corpora.store import Progress
from paddock.errors import CorpusError, UsageError
from paddock.files import checksum, replacing, require_room

_PIECE_BYTES = 4 << 20
_ZSTD_LEVEL = 3


def check_kind(kind: str) -> None:
    """See that there is such a kind of archive, before any work; raises UsageError if there is not."""
    if kind not in ARCHIVE_KINDS:
        raise UsageError(f"--archive takes zst, or bz2 for older Rallies, not '{kind}'.")


def archive_corpus(record: CorpusRecord, kind: str, progress: Progress | None = None) -> Path:
    """Compress the corpus and its first 1,000 documents beside the data; an archive that is there and right is kept.

    :param kind: "zst", or "bz2" (many times slower) for an older Rally that does not know the other.
    :returns: the data's archive.
    :raises UsageError: if there is no such kind.
    :raises CorpusError: if the data is not what its record says.
    :raises MachineError: if the disk is too small or cannot be written to.
    """
    check_kind(kind)
    archive = archive_file(record.file, kind)
    with changing(record.track):
        try:
            verify_archive(record, kind)
        except CorpusError:
            thousand = first_thousand_file(record.file)
            thousand_archive = archive_file(thousand, kind)
            _compress(thousand, thousand_archive, None)
            # Longer texts shrink no worse than short ones, but the first documents may be unlike the others.
            needed = record.bytes * thousand_archive.stat().st_size // thousand.stat().st_size * 12 // 10
            require_room(archive.parent, needed, f"The archive {archive.name}")
            shown = progress(f"Compressing {record.file.name}", record.bytes) if progress else nullcontext()
            with shown as advance:
                _compress(record.file, archive, record.sha256, advance)
    return archive


def archives_of(record: CorpusRecord) -> list[str]:
    """The kinds of archives that lie beside the corpus."""
    return [kind for kind in ARCHIVE_KINDS if archive_file(record.file, kind).exists()]


def verify_archive(record: CorpusRecord, kind: str) -> None:
    """Unpack the archives to nowhere; raises CorpusError if one is missing, damaged or holds something else."""
    thousand = first_thousand_file(record.file)
    first = checksum(thousand) if thousand.exists() else ""
    for file, wanted in ((thousand, first), (record.file, record.sha256)):
        archive = archive_file(file, kind)
        digest = hashlib.sha256()
        try:
            with zstandard.open(archive, "rb") if kind == "zst" else bz2.open(archive) as unpacked:
                for piece in iter(partial(unpacked.read, _PIECE_BYTES), b""):
                    digest.update(piece)
            fits = digest.hexdigest() == wanted
        except (OSError, EOFError, ValueError, zstandard.ZstdError):
            fits = False
        if not fits:
            raise CorpusError(
                f"{archive} does not hold what {file.name} should: delete it, or make it again from the corpus."
            )


def _compress(source: Path, archive: Path, sha256: str | None, advance: Callable[[int], None] | None = None) -> None:
    """Compress a file, whole or not at all; ``sha256`` is what the file must have, None: anything."""
    digest = hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        with source.open("rb", buffering=0) as data:
            for piece in iter(partial(data.read, _PIECE_BYTES), b""):
                digest.update(piece)
                yield piece
                if advance:
                    advance(len(piece))

    with replacing(archive) as temporary:
        packed = _as_zst(pieces(), source.stat().st_size) if archive.suffix == ".zst" else _as_bz2(pieces())
        with temporary.open("wb") as target:
            target.writelines(packed)
        if sha256 not in (None, digest.hexdigest()):
            raise CorpusError(f"{source} is not the file that its record describes, so there is no archive of it.")


def _as_zst(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """One frame (Rally reads no further), compressed by the library's own threads."""
    threads = len(os.sched_getaffinity(0))
    stream = zstandard.ZstdCompressor(level=_ZSTD_LEVEL, threads=threads, write_checksum=True).compressobj(size=size)
    yield from map(stream.compress, pieces)
    yield stream.flush()


def _as_bz2(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A stream for each piece, one after the other as pbzip2 does it, so that all processors can work."""
    threads = len(os.sched_getaffinity(0))
    running: deque[Future[bytes]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="bz2") as pool:
        for piece in pieces:
            running.append(pool.submit(bz2.compress, piece))
            if len(running) > threads:
                yield running.popleft().result()
        for future in running:
            yield future.result()
