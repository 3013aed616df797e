"""The inputs of an import: files, pipes or standard input, plain or compressed, as streams cut into blocks.

What is no regular file (a pipe, <(...), a FIFO) can be opened only once: its beginning is kept to be looked at. Blocks
are whole lines and, where events have several lines, whole events.
"""

from __future__ import annotations

import bz2
import io
import re
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from paddock.errors import FileError, UsageError
from paddock.imports.text import BYTE_ORDER_MARK
from paddock.imports.times import YearRule

STDIN = "-"
_PIECE = 256 << 10
# A compressed piece may unfold a thousandfold, and all of that is in memory at once.
_COMPRESSED_PIECE = 64 << 10
_ZSTD_SKIPPABLE = tuple(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60))
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 4096
# What is refused, with the command that writes what is in it to standard output.
_PACKED = {
    b"\xfd7zXZ\0": ("xz data", "xz -dc"),
    b"PK\x03\x04": ("a zip archive", "unzip -p"),
    b"\x04\x22\x4d\x18": ("lz4 data", "lz4 -dc"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "7z e -so"),
    b"\x1f\x9d": ("data of compress", "uncompress -c"),
}
_TAR, _TAR_OPTIONS = slice(257, 262), {"": "", "gzip": "z", "bzip2": "j", "zstd": " --zstd -"}
_HEAD = 1 << 20  # of a pipe, to find its format


@dataclass(frozen=True)
class Source:
    """One input.

    :param label: what the user called it.
    :param path: None for a pipe.
    :param modified: seconds since 1970 UTC: the file's modification time, or now.
    :param compression: "gzip", "bzip2", "zstd" or "".
    :param size: bytes as it lies on disk; 0 for a pipe.
    :param pipe: the open pipe, which can be read once, and ``head``, what was read of it to look at.
    :param returns: whether lines end with carriage returns alone, which become line feeds.
    """

    label: str
    path: Path | None
    modified: float
    compression: str
    size: int
    pipe: AbstractContextManager[IO[bytes]] = field(default=nullcontext(io.BytesIO()), repr=False)
    head: bytes = field(default=b"", repr=False)
    returns: bool = False

    def pieces(self, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
        """The decompressed contents in pieces.

        :param advance: is told how many bytes have been read from the disk since its last call.
        :raises FileError: if it cannot be read, or its compressed data is damaged or cut off.
        """
        size = _COMPRESSED_PIECE if self.compression else _PIECE
        try:
            with self.path.open("rb") if self.path else self.pipe as stream:
                yield from self._contents(_raw_pieces(self.head, stream, size, advance))
        except OSError as error:
            raise FileError(self.label, f"this cannot be read: {error.strerror or error}.") from None

    def first_pieces(self) -> Iterator[bytes]:
        """As ``pieces``, but of a pipe what was read of it, which can still be read."""
        return self.pieces() if self.path else self._contents(_raw_pieces(self.head, io.BytesIO()))

    def _contents(self, raw: Iterator[bytes]) -> Iterator[bytes]:
        plain = _without_mark(_decompressed(raw, self) if self.compression else raw)
        return (piece.replace(b"\r", b"\n") for piece in plain) if self.returns else plain

    def beginning(self, lines: int, most_bytes: int = 1 << 20) -> bytes:
        """The first lines, whole ones if they are not too long; a pipe can still be read from its start.

        :raises FileError: as ``pieces``.
        """
        data = b""
        try:
            for piece in self.first_pieces():
                data += piece
                if data.count(b"\n") >= lines or len(data) >= most_bytes:
                    break
            else:
                return data
        except FileError:
            # The head of a pipe ends somewhere; so may a file, but not before there is something to look at.
            if not data:
                raise
        whole, _, begun = data[:most_bytes].rpartition(b"\n")
        return b"".join(line + b"\n" for line in (whole or begun).split(b"\n")[:lines])


def open_sources(names: list[str]) -> list[Source]:
    """The inputs of these names, in this order, each looked at.

    :raises UsageError: if there are none, or one is named twice.
    :raises FileError: if one does not exist, is a folder, closed, empty, binary or in UTF-16.
    """
    if not names:
        raise UsageError("There is nothing to import: name one or more log files, or - for standard input.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageError(f"{twice} is named twice: its events would be in the corpus twice.")
    return [_looked_at(_standard_input() if name == STDIN else _file(name)) for name in names]


def _file(name: str) -> Source:
    path = Path(name).expanduser()
    if path.is_dir():
        raise FileError(name, "this is a folder: name the log files in it.")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            pipe = path.open("rb")
            return _pipe(name, pipe, pipe.read(_HEAD))
        with path.open("rb") as stream:
            first = stream.read(_LOOKED_AT)
    except FileNotFoundError:
        raise FileError(name, "this file does not exist: check its name.") from None
    except OSError as error:
        raise FileError(name, f"this cannot be read: {error.strerror}.") from None
    return Source(name, path, status.st_mtime, _compression(first), status.st_size)


def _standard_input() -> Source:
    # Python has none where it was closed before the start.
    if sys.stdin is None or sys.stdin.closed:  # type: ignore[unreachable,unused-ignore]
        raise FileError("standard input", "this is closed: pipe a log into the import, or name a file instead of '-'.")
    # It is not ours to close.
    return _pipe("standard input", nullcontext(sys.stdin.buffer), sys.stdin.buffer.read(_HEAD))


def _pipe(label: str, pipe: AbstractContextManager[IO[bytes]], head: bytes) -> Source:
    return Source(label, None, time.time(), _compression(head), 0, pipe, head)


def _compression(first: bytes) -> str:
    if first.startswith(b"\x1f\x8b"):
        return "gzip"
    if first.startswith(b"BZh"):
        return "bzip2"
    if first.startswith((b"\x28\xb5\x2f\xfd", *_ZSTD_SKIPPABLE)):
        return "zstd"
    return ""


def _looked_at(source: Source) -> Source:
    """Refuse what is no log, by what it begins with; find out how its lines end."""
    first = source.beginning(1, _LOOKED_AT)[:_LOOKED_AT]
    if not first:
        raise FileError(source.label, "this is empty: there is nothing in it.")
    if first[_TAR] == b"ustar":
        kind, unpack = "a tar archive", f"tar -xO{_TAR_OPTIONS[source.compression]}f"
    else:
        kind, unpack = next((said for begin, said in _PACKED.items() if first.startswith(begin)), ("", ""))
    if kind:
        raise FileError(
            source.label, f"this is {kind}: unpack it on the way, '{unpack} FILE | ./inv corpus.import - --name NAME'."
        )
    if first.startswith(_UTF16_MARKS):
        raise FileError(source.label, "this is UTF-16: convert it first, with 'iconv -f UTF-16 -t UTF-8'.")
    # Logs have a control character now and then; executables, images and archives are full of them.
    controls = sum(byte < 32 and byte not in b"\t\n\r\x1b\x0b\x0c" for byte in first)
    if controls > len(first) // 20 or b"\0\0\0\0" in first[:64]:
        raise FileError(source.label, "this is binary data, no log: name text files, plain, .gz, .bz2 or .zst.")
    if b"\r" in first:
        piece = next(source.first_pieces())
        return replace(source, returns=b"\n" not in piece and b"\r" in piece.rstrip(b"\r"))
    return source


def _without_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    begin = b""
    for piece in pieces:
        begin += piece
        if len(begin) >= len(BYTE_ORDER_MARK):
            break
    yield begin.removeprefix(BYTE_ORDER_MARK)
    yield from pieces


def _raw_pieces(
    head: bytes, stream: IO[bytes], size: int = _PIECE, advance: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    piece = head or stream.read(size)
    while piece:
        yield piece
        if advance:
            advance(len(piece))
        piece = stream.read(size)


def _decompressed(raw: Iterator[bytes], source: Source) -> Iterator[bytes]:
    """Decompress one or more streams, one behind the other, as logrotate and pigz leave them."""
    import zstandard

    new: dict[str, Callable[[], Any]] = {
        "gzip": lambda: zlib.decompressobj(wbits=31),
        "bzip2": bz2.BZ2Decompressor,
        "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
    }
    machine = None
    try:
        for piece in raw:
            rest = piece
            while rest:
                if machine is None:
                    rest = rest.lstrip(b"\0")  # tapes and block devices pad with zeros
                    if not rest:
                        break
                    machine = new[source.compression]()
                out = machine.decompress(rest)
                rest = machine.unused_data if machine.eof else b""
                if machine.eof:
                    machine = None
                if out:
                    yield out
    except (zlib.error, OSError, ValueError, EOFError, zstandard.ZstdError) as error:
        raise FileError(
            source.label, f"the {source.compression} data is damaged ({error}): copy the file again."
        ) from None
    if machine is not None:
        raise FileError(
            source.label,
            f"the {source.compression} data ends in the middle: copy the file again, or import what can be read of "
            f"it through a pipe, for example 'zcat FILE | ./inv corpus.import - ...'.",
        )


BLOCK_BYTES = 4 << 20
LONGEST_LINE = 1 << 20  # bytes; a longer line is set aside, so that memory stays constant
KEPT_OF_LONG_LINES = 1000


@dataclass(frozen=True)
class Block:
    """Whole lines of one source.

    :param line: the number of its first line, from 1.
    :param lines: how many it has; the last of a file may have no end of line.
    """

    source: str
    line: int
    lines: int
    data: bytes
    years: YearRule


@dataclass(frozen=True)
class LongLine:
    """A line that is longer than LONGEST_LINE (``size`` bytes): only its beginning is kept."""

    source: str
    line: int
    size: int
    beginning: bytes


def blocks(
    pieces: Iterable[bytes],
    source: str,
    years: YearRule,
    start: re.Pattern[bytes] | None = None,
    size: int = BLOCK_BYTES,
    longest: int = LONGEST_LINE,
) -> Iterator[Block | LongLine]:
    """Cut a source into blocks of about ``size`` bytes; longer lines than ``longest`` bytes become no part of them.

    :param start: matches the first line of an event; blocks then begin with one, wherever there is one.
    """
    number = 1
    waiting: list[bytes] = []
    held = 0
    skipped, beginning = 0, b""  # of a line that is too long, until its end comes
    for arrived in pieces:
        piece = arrived
        if skipped:
            end = piece.find(b"\n") + 1
            skipped += end - 1 if end else len(piece)
            if not end:
                continue
            yield LongLine(source, number, skipped, beginning)
            number += 1
            skipped, piece = 0, piece[end:]
        waiting.append(piece)
        held += len(piece)
        if held < size:
            continue
        data = b"".join(waiting)
        end = data.rfind(b"\n") + 1
        if len(data) - end > longest:
            skipped, beginning = len(data) - end, data[end : end + KEPT_OF_LONG_LINES]
            cut, data = end, data[:end]
        else:
            cut = _last_event(data, end, start) if start else end
        if cut:
            block = _block(source, number, data[:cut], years)
            yield block
            number += block.lines
        waiting, held = [data[cut:]], len(data) - cut
    data = b"".join(waiting)
    if data:
        yield _block(source, number, data, years)
    if skipped:
        yield LongLine(source, number, skipped, beginning)


def _block(source: str, number: int, data: bytes, years: YearRule) -> Block:
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return Block(source, number, lines, data, years)


def _last_event(data: bytes, end: int, start: re.Pattern[bytes]) -> int:
    """Where the last event begins that begins before ``end``; ``end`` if that is far away, 0 to wait for more."""
    line = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
    while end - line <= LONGEST_LINE:
        if line == 0 or start.match(data, line):
            return line
        line = data.rfind(b"\n", 0, line - 1) + 1
    return end
