"""What the peers have in common: pools, texts and times like those of Paddock's documents, on request."""

from __future__ import annotations

import bisect
import io
import itertools
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.likeness import profile_of, read_sample, require_likeness, write_profile
from benchmarks.paddock_worker import generate
from benchmarks.peers import json_dumps, provided
from benchmarks.peers.protocol import BLOCK, TIME_FIELD, LongText, Profile, read_profile, serve, time_texts
from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe


def own_lines(recipe: str, documents: int, tmp_path: Path) -> list[bytes]:
    """Documents of Paddock's."""
    file = tmp_path / "own.json"
    write_corpus(load_recipe(recipe), documents, 1, file)
    return file.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("recipe", ["apache", "logs-structured"])
def test_a_peer_makes_documents_like_ours(recipe: str, tmp_path: Path) -> None:
    """From the profile of Paddock's documents: valid, in order, same fields, about the same size and variety."""
    model, documents = read_sample("paddock", own_lines(recipe, 4000, tmp_path))
    profile = profile_of(documents)
    assert (profile.text is None) == (recipe == "apache")
    make = json_dumps.begin(profile, 1)
    lines = b"".join(make(block) for block in range(4)).splitlines(keepends=True)
    sample, _ = read_sample("json", lines)
    require_likeness(sample, model)
    assert sample.documents == 4 * BLOCK
    # The same seed gives the same bytes, another seed others.
    assert json_dumps.begin(profile, 1)(2) == make(2)
    assert json_dumps.begin(profile, 2)(2) != make(2)


def test_libraries_provide_values(tmp_path: Path) -> None:
    """Fields that a library has are its; fields that are sometimes absent stay so; times are the profile's."""
    _, documents = read_sample("paddock", own_lines("apache", 2000, tmp_path))
    profile = profile_of(documents)

    def providers(seed: int) -> tuple[dict[str, Any], Any]:
        return {"clientip": lambda: f"10.0.0.{seed % 7}", "referrer": lambda: "http://here/"}, None

    lines = provided.begin_with(providers, profile, 1, json.dumps)(0).splitlines()
    made = [json.loads(line) for line in lines]
    assert len(made) == BLOCK
    assert {one["clientip"] for one in made} == {f"10.0.0.{1_000_003 % 7}"}
    assert {one.get("referrer") for one in made} == {None, "http://here/"}
    assert [one[TIME_FIELD] for one in made] == list(time_texts(profile, 0))


def test_a_profile_survives_its_file(tmp_path: Path) -> None:
    """Peers read what was measured."""
    _, documents = read_sample("paddock", own_lines("logs-structured", 1000, tmp_path))
    profile = profile_of(documents)
    write_profile(profile, tmp_path / "profile.json")
    assert read_profile(tmp_path / "profile.json") == profile
    assert {pool.field for pool in profile.pools} == {"level", "logger", "thread", "host"}
    assert all(sum(pool.weights) == 1000 for pool in profile.pools)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=20, max_size=60),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.integers(0, 99),
)
def test_texts_are_whole_lines_of_about_the_size(lines: list[str], sizes: list[int], seed: int) -> None:
    """A text is a stretch of the lines, longer than a wanted size by no more than a line."""
    lines = [f"{number} {line}" for number, line in enumerate(lines)]
    text = LongText("message", tuple(lines), tuple(sizes)).slicer()(random.Random(seed))
    joined = "\n".join(lines)
    ends = {-1, len(joined), *itertools.accumulate(len(line) + 1 for line in lines)}
    begin = joined.index(text)
    assert begin in ends
    assert begin + len(text) + 1 in ends
    assert min(sizes) <= len(text) + 1 <= max(sizes) + max(map(len, lines)) + 1


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=30, max_size=60))
def test_escaped_texts_are_the_texts(lines: list[str]) -> None:
    """What a peer puts into JSON unseen is valid and made of the lines."""
    whole = LongText("message", tuple(lines), (10,))
    text = json.loads(f'"{whole.escaped().slicer()(random.Random(1))}"')
    assert text in "\n".join(lines)


def test_times_follow_the_profile() -> None:
    """Rendered by the millisecond, one after another, across blocks."""
    profile = Profile(1_767_607_199_990, 0.7, (), None)
    texts = [*time_texts(profile, 0), *time_texts(profile, 1)]
    assert (texts[0], texts[15]) == ("2026-01-05T09:59:59.990Z", "2026-01-05T10:00:00.000Z")
    assert texts == sorted(texts)
    assert len(texts) == 2 * BLOCK
    assert bisect.bisect_left(texts, "2026-01-05T10:00:01.000Z") == 1443


def test_requests_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two workers share blocks between them, to a file or into nothing, and report what they made."""
    write_profile(Profile(0, 1.0, (), None), tmp_path / "profile.json")
    requests = [{"documents": 2500, "file": None}, {"documents": 2500, "file": str(tmp_path / "out")}]
    for worker in (0, 1):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(one) + "\n" for one in requests)))
        share = ["--worker", str(worker), "--workers", "2"]
        monkeypatch.setattr(sys, "argv", ["peer", str(tmp_path / "profile.json"), *share])
        serve("1.2.3", lambda profile, seed: lambda number: b"%d\n" % number * BLOCK)
        version, memory, disk = map(json.loads, capsys.readouterr().out.splitlines())
        assert version == {"version": "1.2.3"}
        blocks = [0, 2] if worker == 0 else [1]
        assert memory["documents"] == disk["documents"] == BLOCK * len(blocks)
        assert (tmp_path / "out").read_bytes() == b"".join(b"%d\n" % block * BLOCK for block in blocks)
        assert memory["bytes"] == disk["bytes"] == (tmp_path / "out").stat().st_size


@pytest.mark.parametrize("threads", [1, 3])
def test_our_own_speed_is_of_the_documents_that_are_written(threads: int, tmp_path: Path) -> None:
    """What is made in memory has as many bytes as the corpus of that seed."""
    recipe = load_recipe("apache")
    written = write_corpus(recipe, 34_567, 4, tmp_path / "data")
    assert generate(recipe, 34_567, 4, threads) == written.bytes
