"""Writing the documents of a corpus to a file, hashed and counted on the way.

Blocks are copied into large aligned buffers; one thread hashes a full buffer while another writes it past the page
cache (O_DIRECT), which takes less of the processors than copying through it. Where a file system refuses that, the same
buffers are written in the ordinary way.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import mmap
import os
import stat
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

LINES_PER_OFFSET = 50_000  # as esrally/utils/io.py notes them

_NEWLINE = ord("\n")
_BUFFER_BYTES = 8 << 20
_BUFFERS = 3  # one is being filled, one hashed and written, and one may wait


@dataclass(frozen=True)
class Written:
    """What was written."""

    bytes: int
    documents: int
    sha256: str
    line_offsets: tuple[tuple[int, int], ...]  # after so many lines (every 50,000), so many bytes


class CorpusWriter:
    """Writes one file, made or emptied: blocks of whole lines in, their checksum and Rally's line offsets out.

    A context manager; what has not been ended with ``finish`` is no corpus, but the file is closed.

    :raises OSError: if the file cannot be written; from any method, perhaps only at the next call.
    """

    def __init__(self, file: Path):
        self._file = _File(file)
        self._digest = hashlib.sha256()
        self._bytes = 0
        self._documents = 0
        self._line_offsets: list[tuple[int, int]] = []
        # One thread each, so that a buffer's turn comes in the order in which it was handed over.
        self._hashing = ThreadPoolExecutor(1, thread_name_prefix="hash")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="write")
        self._handed_over: deque[tuple[memoryview, list[Future[None]]]] = deque()
        # Anonymous memory maps begin at a page, as O_DIRECT wants it.
        self._empty = [memoryview(mmap.mmap(-1, _BUFFER_BYTES)) for _ in range(_BUFFERS)]
        self._buffer = self._empty.pop()
        self._filled = 0

    def write(self, block: memoryview | bytes, documents: int) -> None:
        """Append a block of that many lines; it ends with the end of a line and may be reused once this returns."""
        rest = memoryview(block)
        while rest:
            end = min(self._filled + len(rest), _BUFFER_BYTES)
            taken = end - self._filled
            self._buffer[self._filled : end] = rest[:taken]
            self._filled, rest = end, rest[taken:]
            if end == _BUFFER_BYTES:
                self._hand_over()
                self._buffer = self._empty.pop() if self._empty else self._oldest()
        self._note_offsets(block, documents)
        self._bytes += len(block)
        self._documents += documents

    def finish(self) -> Written:
        """See that everything is on the disk, and say what."""
        self._hand_over()
        while self._handed_over:
            self._oldest()
        self._file.sync()
        return Written(self._bytes, self._documents, self._digest.hexdigest(), tuple(self._line_offsets))

    def __enter__(self) -> CorpusWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for pool in (self._hashing, self._writing):
            pool.shutdown(cancel_futures=True)
        self._file.close()

    def _hand_over(self) -> None:
        """Have what the buffer holds hashed and written."""
        piece = self._buffer[: self._filled]
        work = [self._hashing.submit(self._digest.update, piece), self._writing.submit(self._file.write, piece)]
        self._handed_over.append((self._buffer, work))
        self._filled = 0

    def _oldest(self) -> memoryview:
        """The buffer that was handed over first, when it is done with."""
        buffer, work = self._handed_over.popleft()
        for each in work:
            each.result()
        return buffer

    def _note_offsets(self, block: memoryview | bytes, documents: int) -> None:
        """The positions after every 50,000th line, as far as they fall into this block."""
        before, after = self._documents, self._documents + documents
        wanted = range((before // LINES_PER_OFFSET + 1) * LINES_PER_OFFSET, after + 1, LINES_PER_OFFSET)
        if not wanted:
            return
        if wanted == range(after, after + 1, LINES_PER_OFFSET):  # the block ends there; nothing to search
            self._line_offsets.append((after, self._bytes + len(block)))
            return
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE) + 1
        self._line_offsets += [(line, self._bytes + int(ends[line - before - 1])) for line in wanted]


class _File:
    """A file written from buffers that begin at a page; all but the last fill whole pages."""

    def __init__(self, path: Path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        self._direct = True
        try:
            self._handle = os.open(path, flags | os.O_DIRECT, 0o644)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            self._handle = os.open(path, flags, 0o644)
            self._direct = False

    def write(self, piece: memoryview) -> None:
        """Append the piece."""
        if len(piece) % mmap.PAGESIZE:
            self._write_through_cache()
        while piece:
            try:
                # Partial writes are allowed, and happen just before a disk is full.
                piece = piece[os.write(self._handle, piece) :]
            except OSError as error:
                if error.errno != errno.EINVAL or not self._direct:
                    raise
                self._write_through_cache()

    def sync(self) -> None:
        """Wait until it is all on the disk."""
        if stat.S_ISREG(os.fstat(self._handle).st_mode):
            os.fdatasync(self._handle)

    def close(self) -> None:
        """Close it; what is missing stays missing."""
        os.close(self._handle)

    def _write_through_cache(self) -> None:
        self._direct = False
        fcntl.fcntl(self._handle, fcntl.F_SETFL, fcntl.fcntl(self._handle, fcntl.F_GETFL) & ~os.O_DIRECT)
