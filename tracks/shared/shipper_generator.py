"""The program that feeds a shipper: lines of the corpus into a TCP connection or a file, as fast as they are taken.

    shipper_generator.py SPECIFICATION

The specification is JSON: ``files`` (path and documents of each), ``file`` (number of the first), ``offset`` (of its
first document, bytes), ``left`` (documents from there to its end), ``count`` (documents in all; after the last file
comes the first one), ``seconds`` (after which it ends; null for when all are handed over), and ``port`` of 127.0.0.1
with ``patience`` (seconds until something listens there), or ``into``, a file that is there.

It says "ready" once it could begin, begins at the line "go" of its input, and says at its end, which a SIGTERM brings
about as well, what it has handed over: a line of JSON with ``generated`` (documents), ``bytes``, ``seconds``,
``cpu_seconds``, and ``problem``, null or why not all were taken.
"""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

_BLOCK = 256 * 1024
_RETRY_SECONDS = 0.02


class Ended(Exception):
    """Somebody wants it to end."""


def blocks(specification: dict[str, Any]) -> Iterator[bytes]:
    """The documents, a line each, in blocks of whole lines."""
    number, offset = specification["file"], specification["offset"]
    left, count = specification["left"], specification["count"]
    files = specification["files"]
    while count:
        with open(files[number][0], "rb") as file:  # noqa: PTH123 - a program that has to start quickly
            file.seek(offset)
            wanted = min(left, count)
            while wanted:
                block = file.read(_BLOCK)
                if not block:
                    raise ValueError(f"{files[number][0]} has fewer documents than it should.")
                block += b"" if block.endswith(b"\n") else file.readline()
                lines = block.count(b"\n") + (not block.endswith(b"\n"))
                if lines > wanted:
                    block = b"".join(block.splitlines(keepends=True)[:wanted])
                    lines = wanted
                yield block if block.endswith(b"\n") else block + b"\n"
                wanted, count = wanted - lines, count - lines
        number, offset = (number + 1) % len(files), 0
        left = files[number][1]


def connected(port: int, patience: float) -> socket.socket:
    """A connection to whoever listens there, once somebody does.

    :raises OSError: if nobody does in so many seconds.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def hand_over(source: Iterator[bytes], send: Callable[[memoryview], int], ends: float, handed: dict[str, Any]) -> None:
    """Give all of it away, and count what was taken: whole documents, and bytes.

    :param ends: by ``time.monotonic``; no block is begun after it.
    """
    for block in source:
        if time.monotonic() >= ends:
            return
        rest = memoryview(block)
        while rest:
            taken = send(rest)
            handed["generated"] += bytes(rest[:taken]).count(b"\n")
            handed["bytes"] += taken
            rest = rest[taken:]


def main(specification: dict[str, Any]) -> None:
    """Feed it."""

    def ended(*_: Any) -> None:
        raise Ended

    signal.signal(signal.SIGTERM, ended)
    handed: dict[str, Any] = {"generated": 0, "bytes": 0, "problem": None}
    send: Callable[[Any], int]
    if "port" in specification:
        connection = connected(specification["port"], specification["patience"])
        send, close = connection.send, connection.close
    else:
        handle = os.open(specification["into"], os.O_WRONLY | os.O_APPEND)
        send, close = lambda data: os.write(handle, data), lambda: os.close(handle)
    source = blocks(specification)
    print("ready", flush=True)  # noqa: T201 - said to who started it
    if sys.stdin.readline() != "go\n":
        return
    began, cpu = time.monotonic(), time.process_time()
    try:
        hand_over(source, send, began + (specification["seconds"] or float("inf")), handed)
    except Ended:
        handed["problem"] = "it was ended before all was taken"
    except (OSError, ValueError) as error:
        handed["problem"] = str(error)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    handed["seconds"], handed["cpu_seconds"] = time.monotonic() - began, time.process_time() - cpu
    print(json.dumps(handed), flush=True)  # noqa: T201 - said to who started it
    # A shipper may drop what it has not read yet of a connection that is closed: it stays open until all is counted.
    sys.stdin.readline()
    close()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
