"""What Elasticsearch refuses is sent once, by replay and sustained loads: seen by a server that counts requests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import elasticsearch
import pytest
from esrally.client.factory import EsClientFactory
from shared.sent_once import SEND_ONCE, BulkOnce, QueryOnce

from paddock import tracks
from tests.tracks import paced_race, replayed
from tests.tracks.lap_client import corpus
from tests.tracks.rendered import build

# Of Rally's own factory of clients and its bulks.
pytestmark = pytest.mark.filterwarnings("ignore:The '(maxsize|body)' parameter:DeprecationWarning")

BULK = {"body": b'{"index":{}}\n{}\n', "action-metadata-present": True, "bulk-size": 1, "unit": "docs"}
SEARCH = {"operation-type": "search", "index": "logs", "body": {}, "request-params": {}, "detailed-results": True}


class Busy:
    """A server that refuses the first request (429), or cuts its connection, and takes all others."""

    def __init__(self, cuts: bool) -> None:
        self.cuts = cuts
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = next(
                    (int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0
                )
                await reader.readexactly(length)
                self.requests += 1
                if self.requests == 1 and self.cuts:
                    return
                writer.write(self._answer(refused=self.requests == 1))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        finally:
            writer.close()

    def _answer(self, refused: bool) -> bytes:
        body = b'{"took":1,"errors":false,"items":[],"timed_out":false,"hits":{"total":{"value":0},"hits":[]}}'
        body = b'{"error":{"type":"es_rejected_execution_exception"},"status":429}' if refused else body
        status = b"429 Too Many Requests" if refused else b"200 OK"
        head = b"HTTP/1.1 %s\r\nX-Elastic-Product: Elasticsearch\r\nContent-Type: application/json\r\n" % status
        return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def asked(runner: Any, params: dict[str, Any], cuts: bool = False, times: int = 1) -> tuple[int, Exception | None]:
    """How many requests a busy server gets when Rally's client runs that, and what the last one ends with."""
    busy = Busy(cuts)

    async def run() -> Exception | None:
        error: Exception | None = None
        server = await asyncio.start_server(busy.serve, "127.0.0.1", 0)
        host = {"host": "127.0.0.1", "port": server.sockets[0].getsockname()[1]}
        factory = EsClientFactory([host], {"timeout": 60}, distribution_version="9.2.4")
        es = factory.create_async(client_id=0)
        try:
            for _ in range(times):
                error = None
                with es.new_request_context() as context:
                    try:
                        await runner(es, params)
                    except (elasticsearch.ApiError, elasticsearch.TransportError) as raised:
                        error = raised
                    assert context.request_end is not None
        finally:
            await es.close()
            server.close()
            await server.wait_closed()
        return error

    error = asyncio.run(run())
    return busy.requests, error


@pytest.mark.parametrize(
    ("runner", "params", "cuts"), [(BulkOnce, BULK, False), (BulkOnce, BULK, True), (QueryOnce, SEARCH, False)]
)
def test_what_is_refused_or_lost_is_sent_once(runner: Any, params: dict[str, Any], cuts: bool) -> None:
    """And is an error, where Rally's own runner says that nothing happened."""
    requests, error = asked(runner(), {**params, SEND_ONCE: True}, cuts)
    assert requests == 1
    assert isinstance(error, elasticsearch.TransportError if cuts else elasticsearch.ApiError)
    assert asked(runner(), params, cuts) == (2, None)


def test_the_next_request_is_sent_as_ever() -> None:
    """The same client goes on, after one that failed."""
    assert asked(BulkOnce(), {**BULK, SEND_ONCE: True}, times=3) == (3, None)


def test_a_replay_asks_for_it(tmp_path: Path) -> None:
    """For its documents and its queries."""
    log = replayed.query_log(tmp_path, [0.5])
    built = replayed.track(tmp_path, [0, 1], query_log=str(log))
    for task in ("replay-documents", "replay-queries"):
        client = paced_race.source(built, task).partition(0, 1)
        client.number = client.source.take()
        assert client.params()[SEND_ONCE] is True


@pytest.mark.parametrize("params", [{}, {"sustained_documents": 50}])
def test_a_sustained_load_asks_for_it(tmp_path: Path, params: dict[str, Any]) -> None:
    """Whether a clock or a number ends it: Rally hands the parameter of the operation on."""
    built = build(tracks.load_track("apache"), {"corpus_documents": 100, **params}, "sustained")
    built.corpora[0].documents[0].document_file = corpus(tmp_path, [100])[0].document_file
    assert paced_race.source(built, "sustained-bulk").partition(0, 1).params()[SEND_ONCE] is True
