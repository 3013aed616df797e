"""A stream of bytes cut into blocks of whole lines and, where events have several lines, of whole events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from paddock.imports.times import YearRule

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
) -> Iterator[Block | LongLine]:
    """Cut a source into blocks of about ``size`` bytes.

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
        if len(data) - end > LONGEST_LINE:
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
