"""A small Elasticsearch on loopback that gives real answers (folder answers/, from 8.8.2) and can misbehave."""

from __future__ import annotations

import copy
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

ANSWERS = Path(__file__).parent / "answers"
NODE = "SigBnKcnQnaMSNRqwSE3MQ"


def answer(name: str) -> dict[str, Any]:
    """One of the recorded answers."""
    value: dict[str, Any] = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    return value


class FakeElasticsearch:
    """Serves until it is stopped.

    ``answers`` may be changed at any time; ``statuses`` maps a kind of question to an HTTP status other than 200,
    ``delays`` to seconds before the answer, ``raw`` to a body that is sent as it is. With a ``certificate`` (its key
    in the same file) it speaks TLS.
    """

    def __init__(self, port: int = 0, certificate: Path | None = None):
        self.answers = {
            name: answer(name)
            for name in (
                "node_stats",
                "heaps",
                "index_stats",
                "segments",
                "node_information",
                "version",
                "index_settings",
            )
        }
        self.answers["ingest"] = {"nodes": {}}
        self.statuses: dict[str, int] = {}
        self.delays: dict[str, float] = {}
        self.raw: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.methods: set[str] = set()
        self.authorizations: set[str | None] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    def index_documents(self, index: str, amount: int) -> None:
        """Let the counters of an index grow."""
        changed = copy.deepcopy(self.answers["index_stats"])
        changed["indices"][index]["primaries"]["indexing"]["index_total"] += amount
        self.answers["index_stats"] = changed

    def delete_index(self, index: str, kinds: tuple[str, ...] = ("index_stats", "segments")) -> None:
        """Take an index out of those answers."""
        for kind in kinds:
            changed = copy.deepcopy(self.answers[kind])
            del changed["indices"][index]
            self.answers[kind] = changed

    def stop(self) -> None:
        """Close the port, as a node that dies does."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> FakeElasticsearch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _handler(fake: FakeElasticsearch) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind = _kind(urlsplit(self.path).path)
            fake.asked.append(kind)
            fake.methods.add(self.command)
            fake.authorizations.add(self.headers.get("authorization"))
            time.sleep(fake.delays.get(kind, 0))
            body = fake.raw.get(kind) or json.dumps(fake.answers[kind]).encode()
            try:
                self.send_response(fake.statuses.get(kind, 200))
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                # The sampler has given up waiting, as it is meant to.
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            """Not into the output of the tests."""

    return Handler


def _kind(path: str) -> str:
    kinds = {
        "/_nodes/stats/breaker": "heaps",
        "/_nodes/stats": "node_stats",
        "/_nodes/ingest": "ingest",
        "/_stats": "index_stats",
        "/_segments": "segments",
        "/_settings": "index_settings",
    }
    found = next((kind for part, kind in kinds.items() if part in path), None)
    return found or ("node_information" if path.startswith("/_nodes/") else "version")
