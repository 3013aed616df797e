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
from paddock.corpora.recipe import load_recipe, recipe_names
from paddock.paths import PROJECT, TRACKS

RECIPES = ("apache", "app-logs")

# Recipe, seed, number of documents, their bytes and SHA-256. If these change, so must GENERATOR_VERSION.
CHECKSUMS = [
    line.split()
    for line in """\
apache 1 20000 6802128 d34e05cc7f94f8e99f3fa351860212faa4dd125b72ab83f7a9ea8ceab3cfbf27
app-logs 1 20000 10463700 3dd4d31b4e12ee8043e4112cdcb1ee148eec21ecefc6766f6c9c00a7b82259b1
apache-ecs 1 10000 4328265 f776d5883ba731d025ea004c846ca28f817f02c41c0cd4f8fd45380d384e1c45
apache-ecs 7 10000 4381302 e5ee173d736ee4da0f951e217d3722c6c80fd56064c83b648a00cc958e347e76
app-logs-ecs 1 10000 5712313 3d103d89696cfe4b209460cb77254742b9dfda3d7b43d164fe6ee166046b1ba4
app-logs-ecs 7 10000 5761255 be031e7da98b92c90fbda1b7f8311858cdf33d8a6314486966b1b0a85196e92f
logs 1 10000 27553535 6f75e8f11936cbbcc90f220374e5cec92cca5bf338421d7661bcbd978411ff99
logs 7 10000 27629050 538479b6790572718767d319e63704d3d67cc0016da57e8c21ca533c4dc38892
logs-empirical 1 10000 2072660 58b0778bfa06f41236493610588d889b47916b0db9bd733845fc23e1be3a57de
logs-empirical 7 10000 2092147 caf589813bc79168ebd6a0db947c03e50e5a6ebe1dba235d34b70f446e5a78f4
logs-exponential 1 10000 131657547 b9026b9d93b2c61b6b6acfd8c0d74470f9ccf3e5ef58c114194cf132f47a59fc
logs-exponential 7 10000 131170083 b787ba7d2bb3bcca9a707b3cf1f1cc67528a4212dbf3312b114a2cd559867dd8
logs-fixed 1 10000 20000000 ad7e8670998d21c406b4b2e80ae721876aa8427138a12391a2cd369282733a9c
logs-fixed 7 10000 20000000 9750cd1b826cd6f040b93036dcbb655644fa8ca2f24ebbcfe71aefd3510803fa
logs-structured 1 10000 27687029 7fb50d55fbbff19b605d520a15ab7b4e78016ec53736a01bfbb965c00de30310
logs-structured 7 10000 27592533 6925be1ad16f8151c7d68f0a0e3d5342950d43fbec4538136b1acd4b9a688344
logs-structured-empirical 1 10000 3342089 c1bc9020df6239bfda78fe7a5bf20f0b9dc6c02a6012b78365c8783a2be9c15a
logs-structured-empirical 7 10000 3354376 ccb704ab2746c8654e5caaaf3803ca781dafc29460c1f8f69717eb6708af1907
logs-structured-exponential 1 10000 132213337 e3da1c7a592029a73f0c3b77509d749693f315f539b23b47f8cc122cea2e4932
logs-structured-exponential 7 10000 132039418 90a62bbf4b0b564eb94c501212805e132c64d0e6423fff9aeba66ae768fc9c37
logs-structured-fixed 1 10000 20000000 a390bdf974246b9069ba834739c7ec417f636558cbbcd54dde8d02b7156af760
logs-structured-fixed 7 10000 20000000 e244b128bd6cf32945165e972e2fb20b8e95c5eee9972c7939d84ba37d19dc45
syslog 1 10000 2064638 da6cb9a3b4c87bdf4991ab4caf33438f53998115be94c1bdc722e4d5889c3aa7
syslog 7 10000 2067413 12bb119607e88e6f677fa41c03e56c489c506f221b885bb5a5082ab2625c962c
web-events 1 10000 2505446 ca52ab20f0cd73a7678944341b0c2b57fca527a22c6dc41674d9ecda4405e5b9
web-events 7 10000 2504599 f53034761a373bc2fef390c6d05c6e625e72ee5719fedb24261060f0a44b0418
""".splitlines()
]


def test_every_recipe_has_its_checksums() -> None:
    """A new recipe is not forgotten here."""
    assert {name for name, *_ in CHECKSUMS} == set(recipe_names())


@pytest.mark.parametrize(("name", "seed", "documents", "size", "digest"), CHECKSUMS)
def test_bytes_are_those_of_every_other_machine(
    name: str, seed: str, documents: str, size: str, digest: str, tmp_path: Path
) -> None:
    """The corpus is the published one: no library, processor or Python version changes a byte, nor what a seed is."""
    written = write_corpus(load_recipe(name), int(documents), int(seed), tmp_path / "data")
    assert (written.bytes, written.sha256) == (int(size), digest)


@pytest.mark.parametrize(
    ("name", "documents", "threads"),
    [
        *((name, 123_456, (1, 3, 7)) for name in RECIPES),
        *((name, 23_456, (1, 3)) for name in ("web-events", "syslog", "logs", "logs-structured-empirical")),
    ],
)
def test_threads_change_nothing(name: str, documents: int, threads: tuple[int, ...], tmp_path: Path) -> None:
    """One thread and several write the same file, though the last block is not full."""
    recipe = load_recipe(name)
    files = [tmp_path / str(number) for number in threads]
    results = {write_corpus(recipe, documents, 5, file, threads=int(file.name)) for file in files}
    assert len(results) == 1
    assert len({file.read_bytes() for file in files}) == 1


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
    """Bytes, documents, checksum and line offsets are those of the file; the steps add up to the whole."""
    seen: list[int] = []
    file = tmp_path / "data"
    written = write_corpus(load_recipe(name), 120_000, 1, file, advance=seen.append)
    data = file.read_bytes()
    assert written.bytes == len(data)
    assert written.documents == data.count(b"\n") == 120_000
    assert written.sha256 == hashlib.sha256(data).hexdigest()
    assert seen == [10_000] * 12
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


def test_the_first_thousand_of_a_large_corpus_are_the_small_one(tmp_path: Path) -> None:
    """Blocks of documents of prescribed size are smaller; a corpus is still the beginning of a larger one."""
    recipe = load_recipe("logs")
    for documents in (1000, 1500, 3000):
        write_corpus(recipe, documents, 1, tmp_path / str(documents))
    whole = (tmp_path / "3000").read_bytes()
    for documents in (1000, 1500):
        part = (tmp_path / str(documents)).read_bytes()
        assert part.count(b"\n") == documents
        assert whole.startswith(part)


@pytest.mark.parametrize("name", [*RECIPES, "logs", "syslog", "web-events"])
def test_tracks_know_the_size_of_their_default_corpus(name: str) -> None:
    """Plain Rally needs the exact size: it compares it with the file's and would download otherwise."""
    recipe = load_recipe(name)
    written = write_corpus(recipe, recipe.documents, recipe.seed, Path(os.devnull))
    text = (TRACKS / name / "track.json").read_text(encoding="utf-8")
    defaults = set(re.findall(r"(corpus_\w+)\s*\|\s*default\(\s*\"?([^\")\s]+)", text))
    assert defaults == {
        ("corpus_file", f"{name}-{recipe.documents}.json"),
        ("corpus_documents", str(written.documents)),
        ("corpus_bytes", str(written.bytes)),
    }
