"""A server that takes what a lap's load sends and keeps nothing: what then limits the load is the driver alone.

It answers as Elasticsearch does, compressed where the client takes that, as cheaply as Python can: it counts lines, and
an answer is made once for every size of a bulk. A program of its own, so that it has a core of its own, as a node has::

    python -m paddock.race.sink

It listens on a free port of the loopback, says which one in a line, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import os
import random
import string
import sys
from typing import cast

# Elasticsearch's own: http.max_initial_line_length and http.max_header_size are of this order.
LARGEST_HEAD = 16 << 10
_BUFFER = 1 << 20
# http.compression_level of Elasticsearch.
_COMPRESSION = 3
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 411: "Length Required"}
_COMPATIBLE = "application/vnd.elasticsearch+json;compatible-with=8"


@functools.lru_cache(maxsize=256)
def bulk_answer(items: int, compressed: bool) -> bytes:
    """The body with which Elasticsearch acknowledges so many new documents of one bulk."""
    chance = random.Random(items)  # noqa: S311 - ids only have to look like those of Elasticsearch
    letters = string.ascii_letters + string.digits + "-_"
    made = [
        {
            "index": {
                "_index": "sink-lap",
                "_id": "".join(chance.choices(letters, k=20)),
                "_version": 1,
                "result": "created",
                "_shards": {"total": 1, "successful": 1, "failed": 0},
                "_seq_no": number,
                "_primary_term": 1,
                "status": 201,
            }
        }
        for number in range(items)
    ]
    return _body({"errors": False, "took": 0, "items": made}, compressed)


@functools.lru_cache(maxsize=2)
def root_answer(compressed: bool) -> bytes:
    """The body of ``GET /``, by which a client knows Elasticsearch."""
    version = {"number": "8.0.0", "build_flavor": "default", "lucene_version": "9.0.0"}
    return _body({"name": "sink", "version": version, "tagline": "You Know, for Search"}, compressed)


def _body(value: object, compressed: bool) -> bytes:
    text = json.dumps(value, separators=(",", ":")).encode()
    return gzip.compress(text, _COMPRESSION, mtime=0) if compressed else text


class Connection(asyncio.BufferedProtocol):
    """One client's connection: request after request, their bodies counted and dropped."""

    def __init__(self) -> None:
        self._buffer = bytearray(_BUFFER)
        self._head = b""
        self._left = 0  # bytes of the body that are still to come
        self._lines = 0
        self._request: tuple[str, str, str, str] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what answers go to."""
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> bytearray:
        """Where the next bytes go; what was there has been counted."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So many bytes have come: the end of one request, and the beginning of another, may be among them."""
        position = 0
        while position < nbytes and self._transport is not None and not self._transport.is_closing():
            if self._request is None:
                position = self._read_head(position, nbytes)
            taken = min(self._left, nbytes - position)
            if taken:
                self._lines += self._buffer.count(b"\n", position, position + taken)
                self._left -= taken
                position += taken
            if self._request is not None and not self._left:
                self._answer(*self._request)
                self._request, self._lines = None, 0

    def _read_head(self, position: int, end: int) -> int:
        """Take the head of a request as far as it has come; returns where what follows it begins."""
        before = len(self._head)
        self._head += self._buffer[position:end]
        length = self._head.find(b"\r\n\r\n")
        if length < 0:
            if len(self._head) > LARGEST_HEAD:
                self._refuse(400)
            return end
        lines = self._head[:length].decode("latin-1").split("\r\n")
        self._head = b""
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        words = lines[0].split()
        if len(words) != 3 or not headers.get("content-length", "0").isdigit():
            self._refuse(400)
        elif "transfer-encoding" in headers:
            self._refuse(411)
        else:
            self._left = int(headers.get("content-length", "0"))
            path = words[1].partition("?")[0]
            self._request = (words[0], path, headers.get("accept-encoding", ""), headers.get("accept", ""))
        return position + length + 4 - before

    def _answer(self, method: str, path: str, encodings: str, accept: str) -> None:
        compressed = "gzip" in encodings
        if path.rpartition("/")[2] == "_bulk" and method in ("POST", "PUT"):
            # A line that says what is done with a document, and the document.
            self._send(200, bulk_answer(self._lines // 2, compressed), compressed, accept)
        elif path == "/" and method in ("GET", "HEAD"):
            self._send(200, root_answer(compressed), compressed, accept, method != "HEAD")
        else:
            self._send(404, b'{"error":"The sink takes bulks only.","status":404}', False, accept, method != "HEAD")

    def _refuse(self, status: int) -> None:
        self._send(status, b"", False, "")
        if self._transport is not None:
            self._transport.close()

    def _send(self, status: int, body: bytes, compressed: bool, accept: str, with_body: bool = True) -> None:
        kind = _COMPATIBLE if "vnd.elasticsearch+json" in accept else "application/json"
        encoding = "content-encoding: gzip\r\n" if compressed else ""
        head = (
            f"HTTP/1.1 {status} {_REASONS[status]}\r\nX-elastic-product: Elasticsearch\r\ncontent-type: {kind}\r\n"
            f"{encoding}content-length: {len(body)}\r\n\r\n"
        )
        if self._transport is not None:
            self._transport.write(head.encode() + (body if with_body else b""))


async def serve() -> None:
    """Serve until the standard input ends; the port is the first line of the standard output."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def look() -> None:
        if not os.read(sys.stdin.fileno(), 1024):
            over.set()

    server = await loop.create_server(Connection, "127.0.0.1", 0)
    loop.add_reader(sys.stdin.fileno(), look)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await over.wait()
    loop.remove_reader(sys.stdin.fileno())
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
