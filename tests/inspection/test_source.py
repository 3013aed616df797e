"""Reading lines: every compression, every line end, and a sentence for what is no log."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock.errors import FileError
from paddock.inspection import lines as source
from paddock.inspection.lines import read_lines

TEXT = b"".join(b"line %d of a log %x\n" % (number, random.Random(number).getrandbits(64)) for number in range(50_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("kind", PACKERS)
def test_every_compression_gives_the_same_lines(kind: str, tmp_path: Path) -> None:
    """Known by its first bytes, not its name; two archives one behind the other are one log."""
    file = tmp_path / "log.txt"
    pack = PACKERS[kind]
    file.write_bytes(pack(TEXT[:1_000_003]) + pack(TEXT[1_000_003:]))
    assert list(read_lines(str(file))) == TEXT.splitlines(keepends=True)


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=30), min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=50)
def test_only_line_feeds_end_lines(tmp_path: Path, texts: list[str]) -> None:
    """Carriage returns, form feeds and Unicode's line separators stay inside; the last line may lack its end."""
    content = "begin\n" + "\n".join(texts)
    file = tmp_path / "log"
    file.write_bytes(content.encode())
    try:
        lines = list(read_lines(str(file)))
    except FileError as error:  # full of control characters
        assert "binary" in str(error)
        return
    assert b"".join(lines) == content.encode()
    assert [line.rstrip(b"\n").decode() for line in lines] == content.removesuffix("\n").split("\n")


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "zstd"])
def test_a_broken_off_archive_is_no_short_log(kind: str, tmp_path: Path) -> None:
    """What is there is read, then comes the sentence."""
    file = tmp_path / "log"
    packed = PACKERS[kind](TEXT)
    file.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FileError, match="ends in the middle"):
        list(read_lines(str(file)))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (bytes(range(256)) * 100, "binary"),
        ("log\n".encode("utf-16"), "UTF-16"),
        (gzip.compress(TEXT)[:1000] + b"x" * 5000, "damaged"),
    ],
)
def test_what_is_no_log_gets_a_sentence(content: bytes, sentence: str, tmp_path: Path) -> None:
    """Empty, binary, in another encoding, damaged."""
    file = tmp_path / "log"
    file.write_bytes(content)
    with pytest.raises(FileError, match=sentence):
        list(read_lines(str(file)))


def test_a_folder_and_a_missing_file_get_a_sentence(tmp_path: Path) -> None:
    """Both are named."""
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(FileError, match=str(path)):
            list(read_lines(str(path)))


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line longer than 16 MiB ends the reading; with its number."""
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)
    file = tmp_path / "log"
    file.write_bytes(b"short\n" + b"x" * (3 << 20))
    with pytest.raises(FileError, match=r"log:2: this line has more than"):
        list(read_lines(str(file)))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash reads what is piped in, compressed as well."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT))))
    assert list(read_lines("-")) == TEXT.splitlines(keepends=True)
