"""Runs esrally under a terminal of its own, so that it reports its progress, and ends it when the user wants to."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from paddock.errors import Interrupted
from paddock.files import writing
from paddock.rally import orphans
from paddock.rally.command import OPTIONS_VARIABLE
from paddock.rally.privileges import Identity
from paddock.rally.processes import MARK

# How long Rally may take to stop the node and its actors after Ctrl-C.
INTERRUPT_SECONDS = 60.0


def run_rally(
    words: list[str],
    mark: str,
    identity: Identity,
    environment: Mapping[str, str],
    output: Path,
    on_text: Callable[[str], None],
    on_tick: Callable[[], None] = lambda: None,
) -> int:
    """Run esrally to its end and return its exit code.

    :param words: the program and its arguments.
    :param mark: what tells its processes from those of other races: the race's folder.
    :param environment: variables on top of our own.
    :param output: everything that it prints is kept in this file.
    :param on_text: called with each piece of its output.
    :param on_tick: called a few times per second.
    :raises Interrupted: after Ctrl-C, SIGTERM or SIGHUP, when Rally has ended. The second one does not wait for it.
    """
    ours, theirs = pty.openpty()
    # Rally draws to the width of its terminal and needs one of at least 80 columns.
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
    env = {**os.environ, **environment, **identity.environment, MARK: mark, "TERM": "xterm"}
    env.pop(OPTIONS_VARIABLE, None)
    output.parent.mkdir(parents=True, exist_ok=True)
    orphans.adopt()
    with _interruptions() as interrupted, output.open("wb", buffering=0) as log:
        try:
            process = subprocess.Popen(
                [*identity.prefix, *words],
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                env=env,
                start_new_session=True,
                **identity.popen,
            )
        finally:
            os.close(theirs)
        try:
            asked_at = 0.0
            while True:
                text, ended = _read(ours, process)
                if text:
                    with writing(output):
                        log.write(text)
                    on_text(text.decode("utf-8", "replace"))
                on_tick()
                # At once: Rally waits for the node's entry in the process table to go.
                orphans.collect(process.pid)
                if ended:
                    break
                if interrupted and not asked_at:
                    asked_at = time.monotonic()
                    # Rally's main process alone: it tells its actors, and they stop the node.
                    process.send_signal(signal.SIGINT)
                if asked_at and (len(interrupted) > 1 or time.monotonic() - asked_at > INTERRUPT_SECONDS):
                    process.kill()
            code = process.wait()
        finally:
            os.close(ours)
            if process.poll() is None:
                process.kill()
                process.wait()
        if interrupted:
            raise Interrupted("Stopped. Nothing of the race is left running; what it had measured is discarded.")
        return code


def _read(terminal: int, process: subprocess.Popen[bytes]) -> tuple[bytes, bool]:
    """Output that is there within 0.2 s, and whether the program has ended and nothing is left to read."""
    ready, _, _ = select.select([terminal], [], [], 0.2)
    if not ready:
        # Actors that outlive the main process keep the terminal open, so its end is what counts.
        return b"", process.poll() is not None
    try:
        text = os.read(terminal, 65536)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        text = b""
    return text, not text and process.wait() is not None


@contextmanager
def _interruptions() -> Iterator[list[int]]:
    """The signals that ask for an end, collected instead of being raised somewhere."""
    received: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Outside the main thread (tests) signals cannot be caught; then there are none to catch either.
        with contextlib.suppress(ValueError):
            before[number] = signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
