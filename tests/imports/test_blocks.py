"""Streams cut into blocks: nothing lost, lines and events whole, memory bounded."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from paddock.imports import sources as cutting
from paddock.imports.sources import Block, LongLine, blocks
from paddock.imports.times import YearRule

YEARS = YearRule(0.0)


def cut(data: bytes, piece: int, size: int, start: re.Pattern[bytes] | None = None) -> list[Block | LongLine]:
    """The blocks of data that arrives in pieces."""
    pieces = [data[at : at + piece] for at in range(0, len(data), piece)]
    return list(blocks(pieces, "x", YEARS, start, size))


@given(st.lists(st.text("ab\r é", max_size=20)), st.booleans(), st.integers(1, 50), st.integers(1, 60))
def test_blocks_are_the_whole_stream(lines: list[str], ended: bool, piece: int, size: int) -> None:
    """Put together they are what came in; each but the last ends with a line; numbers go on."""
    data = "\n".join(lines).encode() + (b"\n" if ended and lines else b"")
    found = cut(data, piece, size)
    assert b"".join(block.data for block in found) == data
    line = 1
    for block in found:
        assert block.line == line
        assert block.lines == len(block.data.decode().split("\n")) - block.data.endswith(b"\n")
        line += block.lines
    assert all(block.data.endswith(b"\n") for block in found[:-1])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(1, 50), st.integers(20, 90))
def test_events_are_not_cut(further: list[int], piece: int, size: int) -> None:
    """Every block begins with the first line of an event, however many lines events have."""
    data = b"".join(b"E%d\n" % number + b" more\n" * count for number, count in enumerate(further))
    found = cut(data, piece, size, re.compile(b"E"))
    assert b"".join(block.data for block in found) == data
    assert all(block.data.startswith(b"E") for block in found)


def test_long_lines_are_not_kept(monkeypatch: object) -> None:
    """Ten megabytes without an end: its number, its size, its beginning; the lines around it are there."""
    size = 10 << 20
    data = b"one\ntwo\n" + b"x" * size + b"\nfour\n"
    found = cut(data, 256 << 10, 4 << 20)
    assert [(item.line, item.data) for item in found if isinstance(item, Block)] == [(1, b"one\ntwo\n"), (4, b"four\n")]
    [long_line] = [item for item in found if isinstance(item, LongLine)]
    assert (long_line.line, long_line.size, long_line.beginning) == (3, size, b"x" * cutting.KEPT_OF_LONG_LINES)


def test_a_long_line_may_be_the_last() -> None:
    """Without an end of line, and alone."""
    found = cut(b"x" * (9 << 20), 1 << 20, 4 << 20)
    assert [(item.line, item.size) for item in found if isinstance(item, LongLine)] == [(1, 9 << 20)]
    assert len(found) == 1
