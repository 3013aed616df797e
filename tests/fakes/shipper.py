"""Stands in for a shipper: reads lines from TCP or a file, sends them as bulks, and fails as it is told to.

It is told by a file of JSON: ``url``, ``index``, ``batch``, ``port`` or ``file``, after how many documents it ``dies``
or ``stops``, each how-manieth it ``loses`` or sends ``twice``, and how many there are (``of``).
"""

from __future__ import annotations

import json
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def lines_of(told: dict[str, Any]) -> Iterator[bytes]:
    if "port" in told:
        with socket.create_server(("127.0.0.1", told["port"])) as server:
            connection, _ = server.accept()
            yield from connection.makefile("rb")
        return
    with Path(told["file"]).open("rb") as file:
        part = b""
        while True:
            part += file.readline()
            if part.endswith(b"\n"):
                yield part
                part = b""
            else:
                yield b""
                time.sleep(0.01)


def send(told: dict[str, Any], batch: list[bytes]) -> None:
    body = b"".join(b'{"index":{}}\n' + line for line in batch)
    request = urllib.request.Request(f"{told['url']}/{told['index']}/_bulk", body)  # noqa: S310
    request.add_header("Content-Type", "application/x-ndjson")
    urllib.request.urlopen(request).read()  # noqa: S310


def main() -> None:
    told = json.loads(Path(sys.argv[1]).read_text())
    batch: list[bytes] = []
    read = 0
    for line in lines_of(told):
        if line:
            read += 1
            if read == told.get("dies"):
                print("It has had enough.", flush=True)
                sys.exit(3)
            while read == told.get("stops"):
                time.sleep(0.1)
            if read % told.get("loses", sys.maxsize):
                batch.append(line)
            if not read % told.get("twice", sys.maxsize):
                batch.append(line)
        # The last batch is full for the tests, or what there is.
        if batch and (len(batch) >= told["batch"] or not line or read == told.get("of")):
            send(told, batch)
            batch = []


if __name__ == "__main__":
    main()
