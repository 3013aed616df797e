"""The parameter source for the first documents: which and how many, read from files by Rally's own reader."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from esrally import exceptions
from esrally.track import track as rally_track
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.document_count import ExpectedDocuments
from shared.first_documents import FirstDocuments
from shared.selection import documents_to_index

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
