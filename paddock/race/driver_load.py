"""The load of a lap, sent to a sink: by Rally's own client, in a process in which nothing else is done.

A program of its own, as a worker of Rally's is; it is told what to do in JSON and says in JSON what came of it::

    python -m paddock.race.driver_load '{"port": 9, "file": "...", "documents": 1000000, ...}'
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

INDEX = "sink-lap"
# More than any machine sends in the seconds that it has.
_WITHOUT_END = 10**12


@dataclass(frozen=True)
class Order:
    """What is to be sent.

    :param port: of the sink, on the loopback.
    :param file: the corpus, with ``documents`` in it; it begins anew after the last one.
    :param warm_up: seconds of load that do not count, then ``rounds`` of ``seconds`` each.
    """

    port: int
    file: str
    documents: int
    bulk_size: int
    clients: int
    version: str
    warm_up: float
    seconds: float
    rounds: int


@dataclass(frozen=True)
class Round:
    """What came of one round.

    :param seconds: from the first bulk sent to the last one answered.
    :param bytes: of the bulks' bodies.
    :param cpu_seconds: that this process used, of all of its threads.
    """

    documents: int
    bulks: int
    bytes: int
    seconds: float
    cpu_seconds: float


async def send(order: Order) -> list[Round]:
    """Send what was ordered; the warm-up is left out.

    :raises RuntimeError: if the sink did not acknowledge everything.
    """
    from esrally.client import EsClientFactory
    from esrally.track.track import Documents

    # As in Rally: its default client options, and what it knows of the cluster.
    factory = EsClientFactory([{"host": "127.0.0.1", "port": order.port}], {"timeout": 60}, order.version, "default")
    es = factory.create_async(client_id=0)
    corpus = Documents("bulk", document_file=order.file, number_of_documents=order.documents)
    try:
        if order.warm_up:
            await _round(es, corpus, order, order.warm_up)
        return [await _round(es, corpus, order, order.seconds) for _ in range(order.rounds)]
    finally:
        await es.close()


async def _round(es: Any, corpus: Any, order: Order, seconds: float) -> Round:
    from shared.lap_documents import bulks
    from shared.lap_load import index_documents

    sizes: list[int] = []
    before = os.times()
    all_bulks = bulks([corpus], 0, _WITHOUT_END, order.bulk_size, INDEX)
    load = await index_documents(es, _for(all_bulks, seconds, sizes), order.clients)
    after = os.times()
    if load.errors or load.seconds is None or load.documents_acknowledged != load.documents_sent:
        raise RuntimeError(f"The sink refused documents: {'; '.join(load.reasons) or 'no reason given'}.")
    spent = after.user + after.system - before.user - before.system
    return Round(load.documents_acknowledged, load.bulks, sum(sizes), load.seconds, spent)


def _for(all_bulks: Iterator[tuple[int, bytes]], seconds: float, sizes: list[int]) -> Iterator[tuple[int, bytes]]:
    """The bulks of so many seconds, and how large each was."""
    ends = time.perf_counter() + seconds
    for documents, body in all_bulks:
        sizes.append(len(body))
        yield documents, body
        if time.perf_counter() > ends:
            return


if __name__ == "__main__":
    told = asyncio.run(send(Order(**json.loads(sys.argv[1]))))
    sys.stdout.write(json.dumps([asdict(one) for one in told]) + "\n")
