"""When a race says something of the size of shards: not of a benchmark's small index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from paddock.race.advised import shard_advice
from paddock.race.summary import RaceRecord
from tests.reports import races


def a_race(documents: float, each: float, corpus: str = "", **params: Any) -> RaceRecord:
    """A plain race into an index of so many documents of so many bytes."""
    record = races.plain()
    whole = replace(record.summary.race, documents_counted=documents, bytes_per_document=each)
    race: Mapping[str, Any] = {**record.race, "track-params": params}
    return replace(record, summary=replace(record.summary, race=whole, corpus=corpus), race=race)


def test_a_benchmarks_own_corpus_says_nothing() -> None:
    """A million synthetic documents in three small shards are nobody's log."""
    assert list(shard_advice(a_race(1e6, 139, "recipe apache seed 1 with 1000000 documents", number_of_shards=3))) == []


def test_the_users_own_log_tells_how_many_documents_a_shard_should_hold() -> None:
    """So does data that grew; test mode measures nothing."""
    own = a_race(1e6, 500, "import our-shop with 1000000 documents")
    (sentence,) = shard_advice(own)
    assert "at 500 bytes a document such a shard holds 21.5 to 107 million documents" in sentence
    assert len(list(shard_advice(races.growing()))) == 1
    assert list(shard_advice(replace(own, race={**own.race, "user-tags": {"test-mode": "true"}}))) == []


@pytest.mark.parametrize(
    ("gibibytes", "params", "words"),
    [
        (60, {}, "has a shard of 60.0 GiB"),
        (60, {"number_of_shards": 2}, ""),
        (60, {"index_settings": {"index.number_of_shards": 2}}, ""),
        (60, {"rollover": {"max_primary_shard_size": "5gb"}}, ""),
        (60, {"number_of_shards": 12}, "12 primary shards of 5.0 GiB each"),
        (60, {"data_stream": True}, ""),
        (9, {"number_of_shards": 3}, ""),
    ],
)
def test_an_index_as_large_as_a_real_one_is_looked_at(gibibytes: int, params: dict[str, Any], words: str) -> None:
    """Whatever is in it; a data stream and an alias may have rolled over, so nobody knows what its shards hold."""
    each = 4096
    found = list(shard_advice(a_race(gibibytes * 2**30 / each, each, **params)))
    assert [words in sentence for sentence in found] == ([True] if words else [])
