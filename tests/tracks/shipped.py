"""A sink that counts what shippers send, Elasticsearch's client as far as their laps use it, and a shipper to test."""

from __future__ import annotations

import json
import ssl
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from elastic_transport import HttpHeaders
from esrally.client.context import RequestContextHolder
from shared.shipper_programs import Shipper

INDEX = "paddock-test-lap"


class Sink:
    """Takes bulks at a port of its own and keeps their documents, until its ``with`` block ends.

    :param on_bulk: may refuse the documents of a bulk, or keep some, by returning those that it keeps.
    :param on_arrival: is called for each bulk by itself, while others may be under way, before it is taken.
    :param certificate: file with its certificate and the key to it, where it is to speak TLS.
    """

    def __init__(
        self,
        on_bulk: Callable[[list[bytes]], list[bytes]] = lambda documents: documents,
        certificate: Path | None = None,
        on_arrival: Callable[[], object] = lambda: None,
    ) -> None:
        self.documents: list[bytes] = []
        self.paths: list[str] = []
        self.actions: set[str] = set()
        self.headers: list[Mapping[str, str]] = []
        self.sizes: list[int] = []
        self.bytes = 0
        self._on_bulk = on_bulk
        self._lock = threading.Lock()
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer({"status": "green"})

            def do_HEAD(self) -> None:
                self._answer({})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                lines = [line for line in body.split(b"\n") if line]
                on_arrival()
                with sink._lock:
                    sink.paths.append(self.path)
                    sink.headers.append(dict(self.headers))
                    sink.actions |= {action for line in lines[::2] for action in json.loads(line)}
                    sink.sizes.append(len(lines[1::2]))
                    sink.bytes += len(body)
                    kept = sink._on_bulk(lines[1::2])
                    sink.documents += kept
                items = [{"index": {"status": 201}}] * len(lines[1::2])
                self._answer({"took": 1, "errors": False, "items": items})

            def _answer(self, answer: Any) -> None:
                text = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.certificate = certificate
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._server.server_address[1]
        return port

    def __enter__(self) -> Sink:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class SinkClient(RequestContextHolder):
    """Elasticsearch's client for a sink; what the sink has kept is what the index counts."""

    def __init__(self, sink: Sink, authorization: str | None = None) -> None:
        self._sink = sink
        self.indices = self
        self._headers = HttpHeaders({"authorization": authorization} if authorization else {})
        secure = sink.certificate is not None
        context = ssl.create_default_context(cafile=str(sink.certificate)) if secure else None
        node = SimpleNamespace(
            scheme="https" if secure else "http",
            host="localhost" if secure else "127.0.0.1",
            port=sink.port,
            path_prefix="",
            ssl_context=context,
        )
        pool = SimpleNamespace(all=lambda: [SimpleNamespace(config=node)])
        self.transport = SimpleNamespace(node_pool=pool)

    async def stats(self, index: str, metric: str) -> Any:
        """The statistics of the index, as far as a shipper's lap asks for them."""
        assert (index, metric) == (INDEX, "indexing,bulk")
        bulk = {"total_operations": len(self._sink.sizes), "total_size_in_bytes": self._sink.bytes}
        return {"_all": {"primaries": {"indexing": {"index_total": len(self._sink.documents)}, "bulk": bulk}}}


class StandIn(Shipper):
    """A shipper of some lines of Python, which sends what it is given, or fails as a test wants it to.

    :param does: ``dies`` or ``stops`` (it reads nothing more) after so many documents, ``loses`` each so-manieth.
    """

    name = program = "stand-in"
    install = "it is part of the tests"
    files = ("stand-in.json",)
    starts_within = 60.0

    def __init__(self, does: Mapping[str, int] | None = None) -> None:
        self._does = dict(does or {})

    @property
    def path(self) -> str | None:
        return sys.executable

    def render(self, folder: Path, settings: Any, place: Any, fed_by: Mapping[str, Any]) -> dict[str, str]:
        told = {"url": place.urls[0], "index": place.index, "batch": settings.batch, **fed_by, **self._does}
        return {"stand-in.json": json.dumps(told)}

    def check_words(self, folder: Path) -> list[str]:
        return ["-c", "import sys; sys.exit('Error: it never takes one')" if "refuses" in self._does else "pass"]

    def start_words(self, folder: Path) -> list[str]:
        program = Path(__file__).parent.parent / "fakes" / "shipper.py"
        return [str(program), str(folder / "stand-in.json")]
