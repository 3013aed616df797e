"""Reads a log file line by line, whatever it is compressed with; constant memory."""

from __future__ import annotations

from collections.abc import Iterator

from paddock.errors import FileError
from paddock.imports.sources import open_sources

LONGEST_LINE = 16 << 20


def read_lines(name: str) -> Iterator[bytes]:
    """The lines of a file, with their ends; plain, gzip, bzip2 or zstd by its first bytes; "-" is standard input.

    :raises FileError: if it cannot be read, is empty, no text, broken off, or has a line of more than 16 MiB.
    """
    source = open_sources([name])[0]
    number = 0
    begun: list[bytes] = []  # a line whose end has not come yet
    size = 0
    for piece in source.pieces():
        lines = piece.splitlines(keepends=True) if b"\r" not in piece else _split(piece)
        for line in lines:
            begun.append(line)
            size += len(line)
            if line.endswith(b"\n"):
                number += 1
                yield line if len(begun) == 1 else b"".join(begun)
                begun.clear()
                size = 0
            elif size > LONGEST_LINE:
                raise FileError(
                    source.label, "this line has more than 16 MiB: is it a log with one event per line?", number + 1
                )
    if begun:
        yield b"".join(begun)


def _split(piece: bytes) -> list[bytes]:
    """Lines by line feeds alone: a carriage return within a line does not end it."""
    parts = piece.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])
