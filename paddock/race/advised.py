"""What Elastic advises on the size of shards, of a race whose data tells something of it."""

from __future__ import annotations

from collections.abc import Iterator

from paddock.advice import SMALLEST_SHARD, IndexShape, fitting_documents, shard_sizes
from paddock.corpora.record import FROM_RECIPE
from paddock.plain_values import known
from paddock.race.race_results import growth
from paddock.race.summary import RaceRecord
from paddock.tracks import copies_of_shards


def shard_advice(record: RaceRecord) -> Iterator[str]:
    """Sentences; none of a benchmark's small index, whose shards are no log of anybody's.

    Where the corpus is the user's own log, or the data grew, bytes per document tell how many of them a shard should
    hold. Of an index that is as large as a shard should be at least, the shards themselves are looked at.
    """
    documents, each = known(record.summary.race.documents_counted), known(record.summary.race.bytes_per_document)
    if record.test_mode or not documents or not each:
        return
    params = record.race.get("track-params") or {}
    # Of what may have rolled over nobody knows what is in which of its indices.
    if documents * each >= SMALLEST_SHARD and not (params.get("data_stream") or params.get("rollover")):
        number, _ = copies_of_shards(params)
        one, held = int(documents * each / number), int(documents / number)
        yield from shard_sizes([IndexShape("The index of this race", (one,) * number, (held,) * number)])
    is_own = bool(record.summary.corpus) and not record.summary.corpus.startswith(f"{FROM_RECIPE} ")
    if is_own or growth(record.race):
        yield fitting_documents(each)
