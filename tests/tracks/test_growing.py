"""Growing data: what every step adds, and that each query is measured at every size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from esrally.track import track as rally_track
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.growth import GrownDocuments, GrowthDocuments, added_documents

from paddock import tracks
from tests.tracks import paced_race

ALL_TRACKS = tracks.track_names()
FILES = (60, 41)
DOCUMENTS = sum(FILES)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Rally track with numbered documents in two files, the second of them with action lines."""
    folder = tmp_path_factory.mktemp("corpus")
    plain, with_actions = folder / "a.json", folder / "b.json"
    plain.write_text("".join(f'{{"n":{number}}}\n' for number in range(60)), encoding="utf-8")
    lines = "".join(f'{{"index":{{"_index":"logs"}}}}\n{{"n":{number}}}\n' for number in range(60, DOCUMENTS))
    with_actions.write_text(lines, encoding="utf-8")
    sets = [
        rally_track.Documents("bulk", str(plain), number_of_documents=60, target_index="logs"),
        rally_track.Documents(
            "bulk", str(with_actions), includes_action_and_meta_data=True, number_of_documents=41, target_index="logs"
        ),
    ]
    return rally_track.Track("logs", corpora=[rally_track.DocumentCorpus("logs", sets)])


def added(track: Any, params: dict[str, Any], clients: int, workers: int) -> list[int]:
    """The numbers of all documents that one step sends."""
    sent = []
    for worker in range(workers):
        source = GrowthDocuments(track, {"bulk-size": 7, **params})
        mine = [client for client in range(clients) if client * workers // clients == worker]
        for client in mine:
            partition = source.partition(client, clients)
        while mine:
            try:
                lines = partition.params()["body"].decode().splitlines()
            except StopIteration:
                break
            sent += [json.loads(line)["n"] for line in lines[1::2]]
    return sent


@given(
    steps=st.lists(st.integers(1, 20), min_size=1, max_size=5, unique=True).map(sorted),
    clients=st.integers(1, 6),
    workers=st.integers(1, 3),
    count=st.one_of(st.none(), st.integers(60, DOCUMENTS)),
)
@settings(max_examples=40, deadline=None)
def test_steps_add_up_to_the_first_documents(
    numbers: Any, steps: list[int], clients: int, workers: int, count: int | None
) -> None:
    """Whatever steps and clients are: after each step just the expected first documents are there, each once."""
    params = {"growth-steps": steps, "first-documents": count, "corpus-documents": DOCUMENTS}
    seen: list[int] = []
    for step in steps:
        this = {**params, "growth-step": step}
        before, after = added_documents(DOCUMENTS, this)
        new = added(numbers, this, clients, workers)
        assert sorted(new) == list(range(before, after))
        seen += new
        expected = GrownDocuments(numbers, this).params()["expected"]
        assert len(seen) == expected == (count or DOCUMENTS) * step // steps[-1]
    assert sorted(seen) == list(range(count or DOCUMENTS))


@pytest.mark.parametrize("test_mode", [False, True])
@pytest.mark.parametrize("name", ALL_TRACKS)
def test_every_query_at_every_size(name: str, test_mode: bool) -> None:
    """By default four sizes up to the whole corpus: load, rest, then all queries, each with a name of its own."""
    built = paced_race.built(name, "growing-data", {}, test_mode)
    track = tracks.load_track(name)
    searches = next(one for one in track.challenges if one.name == "ingest-and-search").tasks
    queries = [task for task in searches if (track.folder / "operations" / f"{task}.json").exists()]
    names = [leaf.name for entry in built.selected_challenge.schedule for leaf in entry]
    assert names[0] == "fresh-index"
    assert names[1:] == [
        name
        for step in (1, 2, 4, 8)
        for name in (f"bulk-to-{step}x", f"settle-at-{step}x", *(f"{query}-at-{step}x" for query in queries))
    ]
    sizes = [paced_race.source(built, f"settle-at-{step}x").params()["expected"] for step in (1, 2, 4, 8)]
    in_corpus = next(one.default for one in track.parameters if one.name == "corpus_documents")
    whole = 1000 if test_mode else in_corpus
    assert sizes == [whole // 8, whole // 4, whole // 2, whole]
    for step, size in zip((1, 2, 4, 8), sizes, strict=True):
        task = paced_race.leaf(built, f"{queries[0]}-at-{step}x")
        assert task.meta_data["query"] == queries[0]
        assert task.meta_data["growth-step"] == step
        assert task.operation.params["cache"] is False
        assert (task.warmup_iterations, task.iterations) == ((1, 1) if test_mode else (50, 100))
        if not test_mode:
            assert task.meta_data["documents"] == size
            assert paced_race.leaf(built, f"bulk-to-{step}x").meta_data == {"growth-step": step, "documents": size}


@pytest.mark.parametrize(
    ("params", "sizes"),
    [
        ({"growth_steps": [1, 10]}, [100_000, 1_000_000]),
        ({"growth_steps": [3]}, [1_000_000]),
        ({"document_count": 80_001}, [10_000, 20_000, 40_000, 80_001]),
        ({"ingest_percentage": 0.0101}, [12, 25, 50, 101]),
    ],
)
def test_what_race_json_is_told_is_what_is_checked(params: dict[str, Any], sizes: list[int]) -> None:
    """The template's own arithmetic agrees with that of the parameter sources."""
    built = paced_race.built("apache", "growing-data", params)
    steps = params.get("growth_steps", [1, 2, 4, 8])
    for step, size in zip(steps, sizes, strict=True):
        assert paced_race.leaf(built, f"top-paths-at-{step}x").meta_data["documents"] == size
        assert paced_race.source(built, f"settle-at-{step}x").params()["expected"] == size


@pytest.mark.parametrize(
    ("steps", "available", "sentence"),
    [
        ([2, 1], 100, r"ascending whole numbers such as \[1,2,4,8\]"),
        ([1, 1], 100, "ascending"),
        ([0, 1], 100, "ascending"),
        ([1.5, 3], 100, "ascending"),
        ([True], 100, "ascending"),
        ("1,2", 100, "ascending"),
        ([], 100, "ascending"),
        ([1, 2, 4, 8], 4, "4 documents are too few .* the step to 1 adds none"),
    ],
)
def test_nonsense_is_refused(steps: Any, available: int, sentence: str) -> None:
    """In the name of the track's parameter."""
    step = steps[0] if steps else 1
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        added_documents(available, {"growth-steps": steps, "growth-step": step})


def test_rally_loads_one_step_after_the_other(tmp_path: Path) -> None:
    """Rally's own executors index each step's documents and no others."""
    params = {"corpus_documents": 80, "bulk_size": 7, "bulk_indexing_clients": 3}
    track = paced_race.with_documents(paced_race.built("apache", "growing-data", params), tmp_path, 80)
    begin = 0
    for step, end in ((1, 10), (2, 20), (4, 40), (8, 80)):
        index, samples = paced_race.run(track, f"bulk-to-{step}x")
        assert sorted(json.loads(line)["n"] for line in index.documents) == list(range(begin, end))
        assert sum(sample.ops for sample in samples) == end - begin
        begin = end
