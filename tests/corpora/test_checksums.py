"""Whole files, byte by byte: the corpora of templates are the same on every machine, in any number of threads."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe, recipe_names
from paddock.paths import TRACKS

# Bytes and SHA-256 of the first 10,000 documents with the seeds 1 and 7. If these change, so must GENERATOR_VERSION.
CHECKSUMS: dict[tuple[str, int], tuple[int, str]] = {
    ("logs", 1): (
        27553535,
        "6f75e8f11936cbbcc90f220374e5cec92cca5bf338421d7661bcbd978411ff99",
    ),
    ("logs", 7): (
        27629050,
        "538479b6790572718767d319e63704d3d67cc0016da57e8c21ca533c4dc38892",
    ),
    ("logs-empirical", 1): (
        2072660,
        "58b0778bfa06f41236493610588d889b47916b0db9bd733845fc23e1be3a57de",
    ),
    ("logs-empirical", 7): (
        2092147,
        "caf589813bc79168ebd6a0db947c03e50e5a6ebe1dba235d34b70f446e5a78f4",
    ),
    ("logs-exponential", 1): (
        131657547,
        "b9026b9d93b2c61b6b6acfd8c0d74470f9ccf3e5ef58c114194cf132f47a59fc",
    ),
    ("logs-exponential", 7): (
        131170083,
        "b787ba7d2bb3bcca9a707b3cf1f1cc67528a4212dbf3312b114a2cd559867dd8",
    ),
    ("logs-fixed", 1): (
        20000000,
        "ad7e8670998d21c406b4b2e80ae721876aa8427138a12391a2cd369282733a9c",
    ),
    ("logs-fixed", 7): (
        20000000,
        "9750cd1b826cd6f040b93036dcbb655644fa8ca2f24ebbcfe71aefd3510803fa",
    ),
    ("logs-structured", 1): (
        27687029,
        "7fb50d55fbbff19b605d520a15ab7b4e78016ec53736a01bfbb965c00de30310",
    ),
    ("logs-structured", 7): (
        27592533,
        "6925be1ad16f8151c7d68f0a0e3d5342950d43fbec4538136b1acd4b9a688344",
    ),
    ("logs-structured-empirical", 1): (
        3342089,
        "c1bc9020df6239bfda78fe7a5bf20f0b9dc6c02a6012b78365c8783a2be9c15a",
    ),
    ("logs-structured-empirical", 7): (
        3354376,
        "ccb704ab2746c8654e5caaaf3803ca781dafc29460c1f8f69717eb6708af1907",
    ),
    ("logs-structured-exponential", 1): (
        132213337,
        "e3da1c7a592029a73f0c3b77509d749693f315f539b23b47f8cc122cea2e4932",
    ),
    ("logs-structured-exponential", 7): (
        132039418,
        "90a62bbf4b0b564eb94c501212805e132c64d0e6423fff9aeba66ae768fc9c37",
    ),
    ("logs-structured-fixed", 1): (
        20000000,
        "a390bdf974246b9069ba834739c7ec417f636558cbbcd54dde8d02b7156af760",
    ),
    ("logs-structured-fixed", 7): (
        20000000,
        "e244b128bd6cf32945165e972e2fb20b8e95c5eee9972c7939d84ba37d19dc45",
    ),
    ("syslog", 1): (
        2064638,
        "da6cb9a3b4c87bdf4991ab4caf33438f53998115be94c1bdc722e4d5889c3aa7",
    ),
    ("syslog", 7): (
        2067413,
        "12bb119607e88e6f677fa41c03e56c489c506f221b885bb5a5082ab2625c962c",
    ),
    ("web-events", 1): (
        2505446,
        "ca52ab20f0cd73a7678944341b0c2b57fca527a22c6dc41674d9ecda4405e5b9",
    ),
    ("web-events", 7): (
        2504599,
        "f53034761a373bc2fef390c6d05c6e625e72ee5719fedb24261060f0a44b0418",
    ),
}
OLDER_MODELS = {"apache", "app-logs"}  # test_generate.py has theirs


def test_every_recipe_has_its_checksums() -> None:
    """A new recipe is not forgotten here."""
    assert {name for name, _ in CHECKSUMS} == set(recipe_names()) - OLDER_MODELS


@pytest.mark.parametrize(("name", "seed"), sorted(CHECKSUMS))
def test_files_are_those_of_every_other_machine(name: str, seed: int, tmp_path: Path) -> None:
    """No library, processor or Python version changes a byte, and a seed is a seed everywhere."""
    written = write_corpus(load_recipe(name), 10_000, seed, tmp_path / "data")
    assert (written.bytes, written.sha256) == CHECKSUMS[name, seed]


@pytest.mark.parametrize("name", ["web-events", "syslog", "logs", "logs-structured-empirical"])
def test_threads_change_nothing(name: str, tmp_path: Path) -> None:
    """One thread and three write the same file, though the last block is not full."""
    recipe = load_recipe(name)
    files = [tmp_path / str(threads) for threads in (1, 3)]
    results = {write_corpus(recipe, 23_456, 5, file, threads=int(file.name)) for file in files}
    assert len(results) == 1
    assert files[0].read_bytes() == files[1].read_bytes()


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


@pytest.mark.parametrize("name", ["logs", "syslog", "web-events"])
def test_tracks_know_the_size_of_their_default_corpus(name: str) -> None:
    """Plain Rally needs the exact size: it compares it with the file's and would download otherwise."""
    recipe = load_recipe(name)
    written = write_corpus(recipe, recipe.documents, recipe.seed, Path(os.devnull))
    text = (TRACKS / name / "track.json").read_text(encoding="utf-8")
    files = set(re.findall(r"corpus_file \| default\(\"([^\"]+)\"\)", text))
    documents = set(re.findall(r"corpus_documents \| default\((\d+)\)", text))
    size = set(re.findall(r"corpus_bytes \| default\((\d+)\)", text))
    assert (files, documents, size) == (
        {f"{name}-{recipe.documents}.json"},
        {str(written.documents)},
        {str(written.bytes)},
    )
