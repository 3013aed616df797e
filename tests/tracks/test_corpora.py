"""The corpora of a load: what Rally still has to prepare, and which documents are sent, by Rally's own reader."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from esrally import config, exceptions
from esrally.track import loader
from esrally.track import track as rally_track
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import corpora
from shared.corpora import FirstDocuments, UnpreparedCorpora, documents_to_index
from shared.index_runners import ExpectedDocuments

from paddock import tracks
from paddock.corpora.store import ensure_corpus
from paddock.paths import TRACKS
from tests.tracks.rendered import build

DOCUMENTS = 101


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Rally track with a corpus of two files, 60 and 41 documents, numbered through."""
    folder = tmp_path_factory.mktemp("corpus")
    document_sets = []
    for name, first, last in (("a.json", 0, 60), ("b.json", 60, DOCUMENTS)):
        path = folder / name
        path.write_text(
            "".join(json.dumps({"number": number}) + "\n" for number in range(first, last)), encoding="utf-8"
        )
        document_sets.append(
            rally_track.Documents("bulk", str(path), number_of_documents=last - first, target_index="logs")
        )
    return rally_track.Track("logs", corpora=[rally_track.DocumentCorpus("logs", document_sets)])


def indexed(track: Any, params: dict[str, Any], clients: int, workers: int) -> list[int]:
    """The numbers of all documents that ``clients`` clients on ``workers`` processes send, as Rally divides them."""
    numbers = []
    for worker in range(workers):
        source = FirstDocuments(track, {"bulk-size": 7, **params})
        mine = [client for client in range(clients) if client * workers // clients == worker]
        for client in mine:
            partition = source.partition(client, clients)
        while mine:
            try:
                lines = partition.params()["body"].decode().splitlines()
            except StopIteration:
                break
            numbers += [json.loads(line)["number"] for line in lines[1::2]]
    return numbers


@given(
    count=st.integers(1, DOCUMENTS), clients=st.integers(1, 9), workers=st.integers(1, 4), bulk_size=st.integers(1, 120)
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_exactly_that_many_whatever_the_clients(
    corpus: Any, count: int, clients: int, workers: int, bulk_size: int
) -> None:
    """Each document counted is sent once, whatever bulk size, clients and worker processes are."""
    numbers = indexed(corpus, {"first-documents": count, "bulk-size": bulk_size}, clients, workers)
    assert len(numbers) == len(set(numbers)) == count
    assert set(numbers) == set(range(count))


@given(percentage=st.floats(0.01, 100), clients=st.integers(1, 5))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_share_is_rounded_up_to_a_document(corpus: Any, percentage: float, clients: int) -> None:
    """A percentage selects the first documents, too, and the check expects just as many."""
    params = {"first-percentage": percentage}
    numbers = indexed(corpus, params, clients, 1)
    assert set(numbers) == set(range(math.ceil(DOCUMENTS * percentage / 100)))
    assert ExpectedDocuments(corpus, params).params()["expected"] == len(numbers)


def test_rally_still_sees_whole_files(corpus: Any) -> None:
    """Rally checks line counts of the corpora that a parameter source names; those must stay the files'."""
    source = FirstDocuments(corpus, {"bulk-size": 7, "first-documents": 5})
    assert [documents.number_of_documents for documents in source.corpora[0].documents] == [60, 41]
    assert [documents.number_of_documents for documents in corpus.corpora[0].documents] == [60, 41]


def test_looping_begins_again_at_the_first_document(corpus: Any) -> None:
    """With a time period the selected documents, not the whole corpus, are repeated."""
    source = FirstDocuments(corpus, {"bulk-size": 4, "first-documents": 6, "looped": True}).partition(0, 1)
    bodies = [source.params()["body"].decode().splitlines()[1::2] for _ in range(5)]
    numbers = [json.loads(line)["number"] for body in bodies for line in body]
    assert numbers == [0, 1, 2, 3, 4, 5] * 2 + [0, 1, 2, 3]


def test_test_mode_has_fewer() -> None:
    """Rally's test mode leaves 1,000 documents: asking for more of the whole corpus is no mistake then."""
    assert documents_to_index(1000, {"first-documents": 200_000, "corpus-documents": 1_000_000}) == 1000
    assert documents_to_index(1000, {}) == 1000


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"first-documents": 5, "first-percentage": 5}, r"document_count \(5\) and ingest_percentage \(5\) exclude"),
        ({"first-documents": 11, "corpus-documents": 10}, "document_count is 11, but the corpus has 10 documents"),
        ({"first-documents": 0}, "whole number from 1 on, but is 0"),
        ({"first-documents": "5"}, "whole number from 1 on, but is '5'"),
        ({"first-documents": True}, "whole number from 1 on, but is True"),
        ({"first-percentage": 0}, "above 0 and at most 100, but is 0"),
        ({"first-percentage": 100.1}, "above 0 and at most 100, but is 100.1"),
        ({"first-percentage": "half"}, "above 0 and at most 100, but is 'half'"),
    ],
)
def test_nonsense_is_refused(params: dict[str, Any], sentence: str) -> None:
    """Plain Rally users get a sentence as well, in the names of the track's parameters."""
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        documents_to_index(10, params)


@pytest.fixture
def prepared(tmp_path: Path) -> tuple[Any, Path, Callable[[], list[str]]]:
    """A track with a corpus in Rally's data folder, that corpus's file, and what its preparation still does.

    Registered through Rally's own registry, which injects what the preparation needs.
    """
    rally_home = tmp_path / "rally"
    configuration = config.Config()
    configuration.add(config.Scope.application, "benchmarks", "local.dataset.cache", str(rally_home))
    configuration.add(config.Scope.application, "track", "track.path", str(TRACKS / "apache"))
    for name in ("include.tasks", "exclude.tasks"):
        configuration.add(config.Scope.application, "track", name, None)
    configuration.add(config.Scope.application, "system", "offline.mode", True)
    configuration.add(config.Scope.application, "track", "test.mode.enabled", False)
    file = rally_home / "paddock-apache" / "apache-1000000.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"n":1}\n' * 50_001, encoding="utf-8")
    built = build(
        tracks.load_track("apache"), {"corpus_documents": 50_001, "corpus_bytes": file.stat().st_size}, "ingest"
    )

    def prepare() -> list[str]:
        registry = loader.TrackProcessorRegistry(configuration)
        registry.register_track_processor(UnpreparedCorpora())
        own = [one for one in registry.processors if one not in registry.required_processors]
        assert [type(one) for one in own] == [UnpreparedCorpora]
        done = []
        for function, arguments in own[0].on_prepare_track(built, str(rally_home)):
            function(**arguments)
            done.append(arguments["document_set"].document_file)
        return done

    return built, file, prepare


def test_rally_prepares_what_is_not_ready_and_nothing_twice(prepared: Any) -> None:
    """A file without its offsets, or with older ones, is prepared by Rally's own code; after that there is nothing."""
    _, file, prepare = prepared
    offsets = Path(f"{file}.offset")
    assert prepare() == [file.name]
    assert offsets.read_text().splitlines() == [f"50000;{50_000 * 8}"]
    assert prepare() == []
    os.utime(offsets, (0, 0))
    assert prepare() == [file.name]
    assert prepare() == []


def test_a_generated_corpus_is_ready() -> None:
    """What ./inv corpus.generate leaves behind costs no race any preparation: size and offsets are right."""
    made = ensure_corpus("apache", 1000, 5, None)
    documents = rally_track.Documents(
        "bulk", made.file.name, number_of_documents=1000, uncompressed_size_in_bytes=made.bytes, target_index="logs"
    )
    assert corpora._ready(documents, ["/nowhere", str(made.file.parent)])
    made.file.write_bytes(b"{}\n")
    assert not corpora._ready(documents, ["/nowhere", str(made.file.parent)])


def test_a_file_that_is_not_what_the_track_says(prepared: Any) -> None:
    """It is left to Rally, which refuses it in its own words."""
    built, file, prepare = prepared
    prepare()
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(exceptions.DataError, match="does not have the expected"):
        prepare()
    file.unlink()
    with pytest.raises(exceptions.DataError, match="no base URL"):
        prepare()
    assert built.corpora[0].documents[0].document_file == file.name
