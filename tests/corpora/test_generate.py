"""Generation: the same bytes always, in any number of threads, and as many as the tracks say."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe
from paddock.corpora.writer import Written
from paddock.paths import PROJECT, TRACKS

RECIPES = ("apache", "app-logs")

# Bytes and SHA-256 of the first 20,000 documents with seed 1. If these change, so must GENERATOR_VERSION.
GOLDEN = {
    "apache": (6802128, "d34e05cc7f94f8e99f3fa351860212faa4dd125b72ab83f7a9ea8ceab3cfbf27"),
    "app-logs": (10463700, "3dd4d31b4e12ee8043e4112cdcb1ee148eec21ecefc6766f6c9c00a7b82259b1"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_bytes_are_those_of_every_other_machine(name: str, tmp_path: Path) -> None:
    """The corpus is the published one: no library, processor or Python version changes a byte."""
    written = write_corpus(load_recipe(name), 20_000, 1, tmp_path / "data")
    assert (written.bytes, written.sha256) == GOLDEN[name]


@pytest.mark.parametrize("name", RECIPES)
def test_threads_change_nothing(name: str, tmp_path: Path) -> None:
    """One thread, three and seven write the same file, though the last block is not full."""
    recipe = load_recipe(name)
    files = [tmp_path / str(threads) for threads in (1, 3, 7)]
    results = {write_corpus(recipe, 123_456, 5, file, threads=int(file.name)) for file in files}
    assert len(results) == 1
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()


def test_hash_seeds_change_nothing(tmp_path: Path) -> None:
    """Python's randomised hashes of strings, which order sets, do not reach the data."""
    digests = set()
    for hash_seed in ("1", "2"):
        program = (
            "import sys; from pathlib import Path; from paddock.corpora.generate import write_corpus; "
            "from paddock.corpora.recipe import load_recipe; "
            "[print(write_corpus(load_recipe(name), 1000, 1, Path(sys.argv[1])).sha256) for name in sys.argv[2:]]"
        )
        arguments = [sys.executable, "-c", program, str(tmp_path / "data"), *RECIPES]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        digests.add(subprocess.run(arguments, cwd=PROJECT, env=environment, capture_output=True, check=True).stdout)
    assert len(digests) == 1


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_reported_is_what_is_written(name: str, tmp_path: Path) -> None:
    """Bytes, documents, checksum and line offsets are those of the file; progress rises to the whole."""
    seen: list[int] = []
    file = tmp_path / "data"
    written = write_corpus(load_recipe(name), 120_000, 1, file, progress=seen.append)
    data = file.read_bytes()
    assert written.bytes == len(data)
    assert written.documents == data.count(b"\n") == 120_000
    assert written.sha256 == hashlib.sha256(data).hexdigest()
    assert seen == list(range(10_000, 120_001, 10_000))
    assert [line for line, _ in written.line_offsets] == [50_000, 100_000]
    for line, offset in written.line_offsets:
        assert data[:offset].count(b"\n") == line
        assert data[offset - 1 : offset + 1] == b"\n{"


def test_fewer_documents_are_a_beginning_of_more(tmp_path: Path) -> None:
    """So the test-mode file is really the corpus's first 1,000 documents."""
    recipe = load_recipe("apache")
    for documents in (1000, 25_000):
        write_corpus(recipe, documents, 1, tmp_path / str(documents))
    assert (tmp_path / "25000").read_bytes().startswith((tmp_path / "1000").read_bytes())


def test_other_seeds_give_other_documents(tmp_path: Path) -> None:
    """Of 1,000 documents, hardly one is the same under another seed; the largest seed works."""
    recipe = load_recipe("app-logs")
    lines = []
    for seed in (0, 1, 2**63 - 1):
        write_corpus(recipe, 1000, seed, tmp_path / str(seed))
        lines.append(set((tmp_path / str(seed)).read_bytes().splitlines()))
    assert not lines[0] & lines[1]
    assert not lines[1] & lines[2]


def test_blocks_are_not_alike(tmp_path: Path) -> None:
    """The block's number is part of the key: no block repeats the events of another."""
    write_corpus(load_recipe("apache"), 20_000, 1, tmp_path / "data")
    requests = [line[40:] for line in (tmp_path / "data").read_bytes().splitlines()]
    assert requests[:100] != requests[10_000:10_100]


@pytest.mark.parametrize("name", RECIPES)
def test_memory_does_not_grow_with_the_corpus(name: str) -> None:
    """Ten times the documents (1,000,000) take no more memory, and never 400 MB."""
    small, large = (peak_memory(name, documents) for documents in (100_000, 1_000_000))
    assert large < small + 20_000
    assert large < 400_000


def peak_memory(name: str, documents: int) -> int:
    """The most memory, in KiB, that a process of its own needs to write the documents.

    From the kernel's own line: getrusage would count the memory of the process that started this one.
    """
    program = (
        "from pathlib import Path; from paddock.corpora.generate import write_corpus; "
        "from paddock.corpora.recipe import load_recipe; "
        f"write_corpus(load_recipe({name!r}), {documents}, 1, Path('/dev/null')); "
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    return int(subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def default_corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    """Both corpora as a first race makes them, only not on disk."""
    return {name: write_corpus(load_recipe(name), 1_000_000, 1, Path(os.devnull)) for name in RECIPES}


@pytest.mark.parametrize("name", RECIPES)
def test_tracks_know_the_size_of_their_default_corpus(name: str, default_corpora: dict[str, Written]) -> None:
    """Plain Rally needs the exact size: it compares it with the file's and would download otherwise."""
    text = (TRACKS / name / "track.json").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"(corpus_\w+)\s*\|\s*default\(\s*\"?([^\")\s]+)", text))
    assert defaults["corpus_file"] == f"{name}-1000000.json"
    assert int(defaults["corpus_documents"]) == default_corpora[name].documents
    assert int(defaults["corpus_bytes"]) == default_corpora[name].bytes
