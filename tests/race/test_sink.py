"""The sink, asked over real connections: it answers as Elasticsearch does, and keeps nothing."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from paddock.paths import PROJECT
from paddock.race.sink import LARGEST_HEAD, bulk_answer


@pytest.fixture
def port() -> Iterator[int]:
    """A sink of its own process; its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "paddock.race.sink"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=PROJECT
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        assert process.wait(30) == 0  # it ends when whoever started it does
        process.stdout.close()


def a_bulk(documents: int) -> bytes:
    """The body of a bulk."""
    return b"".join(b'{"index":{"_index":"i"}}\n{"number":%d}\n' % number for number in range(documents))


def test_bulks_are_acknowledged_one_by_one(port: int) -> None:
    """As many items as documents, none with an error, on one connection, in either order of sizes."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for documents in (1, 3000, 7, 3000):
        connection.request("PUT", "/_bulk", a_bulk(documents))
        answer = connection.getresponse()
        told = json.loads(answer.read())
        assert (answer.status, answer.headers["X-elastic-product"]) == (200, "Elasticsearch")
        assert told["errors"] is False
        assert [item["index"]["status"] for item in told["items"]] == [201] * documents
    connection.request("POST", "/other/_bulk?refresh=true", a_bulk(2))
    assert len(json.loads(connection.getresponse().read())["items"]) == 2
    connection.close()


def test_answers_are_compressed_where_the_client_takes_that(port: int) -> None:
    """Rally's client does, so that a node's answers to it are compressed."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("PUT", "/_bulk", a_bulk(500), {"Accept-Encoding": "gzip, deflate"})
    answer = connection.getresponse()
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.read()) == bulk_answer(500, False)
    connection.close()


def test_it_says_what_it_is(port: int) -> None:
    """GET and HEAD of the root, by which a client knows Elasticsearch; the kind of answer that was asked for."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    compatible = "application/vnd.elasticsearch+json; compatible-with=8"
    connection.request("GET", "/", headers={"Accept": compatible})
    answer = connection.getresponse()
    assert json.loads(answer.read())["tagline"] == "You Know, for Search"
    assert answer.headers["content-type"].startswith("application/vnd.elasticsearch+json")
    connection.request("HEAD", "/")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"")
    connection.request("GET", "/_cat/indices")
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["status"]) == (404, 404)
    connection.close()


def test_requests_may_come_in_any_pieces(port: int) -> None:
    """A head cut in two, two requests in one piece."""
    body = a_bulk(3)
    request = b"PUT /_bulk HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = client.makefile("rb")
        for pieces in ([request], [request[:10], request[10:50], request[50:]], [request + request]):
            for piece in pieces:
                client.sendall(piece)
            for _ in range(b"".join(pieces).count(b"PUT")):
                length = 0
                while (line := answers.readline()) != b"\r\n":
                    name, _, value = line.partition(b":")
                    length = int(value) if name == b"content-length" else length
                assert len(json.loads(answers.read(length))["items"]) == 3
        answers.close()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"PUT /_bulk HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"PUT /_bulk HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"400"),
        (b"hello\r\n\r\n", b"400"),
        (b"PUT /" + b"x" * (LARGEST_HEAD + 1), b"400"),
    ],
)
def test_what_it_does_not_understand_is_refused(port: int, request_: bytes, status: bytes) -> None:
    """With a status, and the end of the connection; the next one is served."""
    with socket.create_connection(("127.0.0.1", port)) as client, client.makefile("rb") as answers:
        client.sendall(request_)
        assert answers.read().split()[1] == status
    test_bulks_are_acknowledged_one_by_one(port)
