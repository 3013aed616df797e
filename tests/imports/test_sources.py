"""Inputs: compressed or not, and everything that is no log."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from paddock.errors import FileError, UsageError
from paddock.imports.sources import STDIN, open_sources
from tests.imports.samples import access_log

TEXT = "".join(f"{line}\n" for line in access_log(3000)).encode()
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def contents(path: Path) -> bytes:
    """All of a file, decompressed."""
    [source] = open_sources([str(path)])
    return b"".join(source.pieces())


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_contents_are_told_by_their_first_bytes(tmp_path: Path, compression: str) -> None:
    """Whatever the file is called; several streams one behind the other are one."""
    path = tmp_path / "log.txt"
    half = TEXT.index(b"\n", len(TEXT) // 2) + 1
    path.write_bytes(b"".join(map(COMPRESSIONS[compression], (TEXT[:half], TEXT[half:]))))
    assert open_sources([str(path)])[0].compression == compression
    assert contents(path) == TEXT


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch, compression: str) -> None:
    """Its beginning can be looked at, and is still there afterwards."""
    data = COMPRESSIONS[compression](TEXT * 20)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    [source] = open_sources([STDIN])
    assert source.beginning(10) == b"".join(TEXT.splitlines(keepends=True)[:10])
    assert b"".join(source.pieces()) == TEXT * 20


def test_progress_is_told_in_bytes_on_disk(tmp_path: Path) -> None:
    """All of them, compressed as they are."""
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(TEXT))
    read: list[int] = []
    for _ in open_sources([str(path)])[0].pieces(read.append):
        pass
    assert sum(read) == path.stat().st_size


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    """Windows' editors leave one."""
    path = tmp_path / "log.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT)
    assert contents(path) == TEXT
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + TEXT))
    assert contents(path) == TEXT


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "zstd"])
def test_truncated_archives_are_sentences(tmp_path: Path, compression: str) -> None:
    """Never a silent end of the data."""
    whole = COMPRESSIONS[compression](TEXT)
    path = tmp_path / "log"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(FileError, match=rf"the {compression} data ends in the middle: copy the file again"):
        contents(path)


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "zstd"])
def test_damaged_archives_are_sentences(tmp_path: Path, compression: str) -> None:
    """With what the decompressor says."""
    data = bytearray(COMPRESSIONS[compression](TEXT))
    middle = len(data) // 2
    data[middle : middle + 200] = bytes(200)
    path = tmp_path / "log"
    path.write_bytes(data)
    with pytest.raises(FileError, match=rf"the {compression} data (is damaged|ends in the middle)"):
        contents(path)


def test_padding_behind_an_archive_is_nothing(tmp_path: Path) -> None:
    """Zeros from a tape; anything else is damage."""
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(TEXT) + bytes(1000))
    assert contents(path) == TEXT
    path.write_bytes(gzip.compress(TEXT) + b"rubbish")
    with pytest.raises(FileError, match="gzip data is damaged"):
        contents(path)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "this is empty: there is nothing in it"),
        (gzip.compress(b"", mtime=0), "this is empty"),
        (bytes(range(256)) * 100, "this is binary data, no log"),
        (b"\x7fELF\x02\x01\x01" + bytes(500), "this is binary data"),
        (gzip.compress(bytes(range(256)) * 100, mtime=0), "this is binary data"),
        (TEXT.decode().encode("utf-16"), "this is UTF-16: convert it first, with 'iconv"),
    ],
)
def test_what_is_no_log_is_a_sentence(tmp_path: Path, data: bytes, sentence: str) -> None:
    """Named with its file."""
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileError, match=rf"file: {sentence}"):
        open_sources([str(path)])


def test_names_that_cannot_be_read_are_sentences(tmp_path: Path) -> None:
    """A folder, a file that is not there, one named twice, none."""
    log = tmp_path / "log"
    log.write_bytes(TEXT)
    for names, sentence in (
        ([str(tmp_path)], "this is a folder: name the log files in it"),
        ([str(tmp_path / "none")], "this file does not exist"),
        ([str(log), str(log)], "is named twice"),
        ([], "nothing to import"),
    ):
        with pytest.raises(UsageError, match=sentence):
            open_sources(names)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_fifo_is_opened_once(tmp_path: Path, compression: str) -> None:
    """Nothing is lost of what can be read only once, and nothing waits for a second writer."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(COMPRESSIONS[compression](TEXT * 5)))
    writer.start()
    [source] = open_sources([str(path)])
    assert source.beginning(3) == b"".join(TEXT.splitlines(keepends=True)[:3])
    assert b"".join(source.pieces()) == TEXT * 5
    writer.join()


def test_closed_standard_input_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has no object for it then."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError, match="standard input: this is closed: pipe a log into the import"):
        open_sources([STDIN])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"one\rtwo\rthree\r", b"one\ntwo\nthree\n"),
        (b"one\rtwo", b"one\ntwo"),
        (b"one\r", b"one\r"),
        (b"a\rb\nc\r\nd\n", b"a\rb\nc\r\nd\n"),
    ],
)
def test_carriage_returns_end_lines_only_where_nothing_else_does(tmp_path: Path, data: bytes, expected: bytes) -> None:
    """Old Macs' files; a carriage return within a line stays."""
    path = tmp_path / "log"
    path.write_bytes(data)
    assert contents(path) == expected


def _tar(mode: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name in ("a.log", "b.log"):
            entry = tarfile.TarInfo(name)
            entry.size = len(TEXT)
            archive.addfile(entry, io.BytesIO(TEXT))
    return packed.getvalue()


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", TEXT)
        archive.writestr("b.log", TEXT)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("packed", "files"),
    [
        (lzma.compress(TEXT), 1),
        (_zip(), 2),
        (_tar("w:"), 2),
        (_tar("w:gz"), 2),
        (_tar("w:bz2"), 2),
        (zstandard.ZstdCompressor().compress(_tar("w:")), 2),
    ],
    ids=["xz", "zip", "tar", "tgz", "tbz", "tar.zst"],
)
def test_other_archives_come_with_the_command_that_unpacks_them(tmp_path: Path, packed: bytes, files: int) -> None:
    """The very command writes the log, where its program is installed."""
    path = tmp_path / "log"
    path.write_bytes(packed)
    with pytest.raises(FileError, match=r"unpack it on the way, '.* FILE \| \./inv corpus\.import - --name") as refused:
        open_sources([str(path)])
    program, *words = shlex.split(str(refused.value).partition("way, '")[2].partition(" FILE")[0])
    if shutil.which(program) and (program != "tar" or "--zstd" not in words or shutil.which("zstd")):
        done = subprocess.run([program, *words, str(path)], capture_output=True, check=True)
        assert done.stdout == TEXT * files
