"""The writer: what comes in is on disk, byte for byte, with checksum and offsets, whatever the file system takes."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.corpora import writer
from paddock.corpora.writer import CorpusWriter, Written

BLOCKS = st.lists(st.lists(st.binary(max_size=3000).map(lambda line: line.replace(b"\n", b" ") + b"\n"), max_size=12))


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buffers of two pages, so that a few kilobytes fill several; offsets every 5 lines."""
    monkeypatch.setattr(writer, "_BUFFER_BYTES", 8192)
    monkeypatch.setattr(writer, "LINES_PER_OFFSET", 5)


def write(file: Path, blocks: list[list[bytes]]) -> Written:
    """Write the blocks from one buffer that is overwritten after each."""
    with CorpusWriter(file) as target:
        for lines in blocks:
            block = bytearray(b"".join(lines))
            target.write(memoryview(block), len(lines))
            block[:] = b"x" * len(block)
        return target.finish()


def expected(blocks: list[list[bytes]]) -> tuple[bytes, Written]:
    """The same, worked out line by line."""
    lines = [line for block in blocks for line in block]
    data = b"".join(lines)
    offsets = tuple((count, len(b"".join(lines[:count]))) for count in range(5, len(lines) + 1, 5))
    return data, Written(len(data), len(lines), hashlib.sha256(data).hexdigest(), offsets)


@given(BLOCKS)
def test_what_is_written_is_what_came_in(blocks: list[list[bytes]]) -> None:
    """Blocks of any size, empty and longer than a buffer, give the file, checksum and offsets that they should."""
    data, wanted = expected(blocks)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data")
        assert write(file, blocks) == wanted
        assert file.read_bytes() == data


LINES = [[b"a" * 700 + b"\n"] * 20, [b"b" * 5000 + b"\n"] * 13]


def test_a_file_that_is_there_is_replaced(tmp_path: Path) -> None:
    """Nothing of longer older data stays behind."""
    file = tmp_path / "data"
    file.write_bytes(b"old" * 100_000)
    write(file, LINES)
    assert file.read_bytes() == expected(LINES)[0]


def refusing_at_open(path: Any, flags: int, *others: Any) -> int:
    """os.open of a file system without O_DIRECT."""
    if flags & os.O_DIRECT:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return real_open(path, flags, *others)


def refusing_to_write(handle: int, data: Any) -> int:
    """os.write of a file system that takes O_DIRECT for opening and nothing more."""
    if writer.fcntl.fcntl(handle, writer.fcntl.F_GETFL) & os.O_DIRECT:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return real_write(handle, data)


def writing_in_parts(handle: int, data: Any) -> int:
    """os.write that takes a third at a time; what is left over then no longer fits O_DIRECT."""
    if len(data) % 4096 and writer.fcntl.fcntl(handle, writer.fcntl.F_GETFL) & os.O_DIRECT:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return real_write(handle, data[: len(data) // 3 + 1])


real_open, real_write = os.open, os.write


@pytest.mark.parametrize(
    ("function", "stand_in"),
    [("open", refusing_at_open), ("write", refusing_to_write), ("write", writing_in_parts)],
)
def test_a_file_system_without_direct_writing_gets_the_same(function: str, stand_in: Any, tmp_path: Path) -> None:
    """Refused when opening, refused when writing, or written in parts: the file is the same."""
    with mock.patch.object(os, function, stand_in):
        written = write(tmp_path / "data", LINES)
    assert ((tmp_path / "data").read_bytes(), written) == expected(LINES)


def test_a_full_disk_is_an_error() -> None:
    """The error of the writing thread arrives in the caller's, at the latest when it finishes."""
    with pytest.raises(OSError, match="No space left on device"):
        write(Path("/dev/full"), LINES)


def test_errors_other_than_refusals_are_no_reason_to_go_on(tmp_path: Path) -> None:
    """An invalid argument without O_DIRECT is an error, not a loop; so is a file that must not be opened."""
    refused = OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    with (
        mock.patch.object(os, "open", refusing_at_open),
        mock.patch.object(os, "write", side_effect=refused),
        pytest.raises(OSError, match="Invalid argument"),
    ):
        write(tmp_path / "data", LINES)
    with pytest.raises(FileNotFoundError):
        CorpusWriter(tmp_path / "missing" / "data")


def test_a_failing_block_closes_the_file(tmp_path: Path) -> None:
    """Whoever feeds the writer may fail; no thread and no open file is left."""
    file = tmp_path / "data"
    with pytest.raises(KeyError), CorpusWriter(file) as target:
        for lines in LINES:
            target.write(b"".join(lines), len(lines))
        assert str(file) in open_files()
        assert any(thread.name.startswith("write") for thread in threading.enumerate())
        raise KeyError
    assert str(file) not in open_files()
    assert not any(thread.name.startswith(("hash", "write")) for thread in threading.enumerate())


def open_files() -> set[str]:
    """The files that this process has open; a handle may be gone before it is looked at."""
    found = set()
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add(str(handle.readlink()))
    return found
