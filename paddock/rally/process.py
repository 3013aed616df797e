"""Runs esrally under a terminal of its own, reads what it prints as events, and ends it when the user wants to.

Rally's actors and the node outlive the process that started them and become children of process 1. In many containers
that one never collects them: they stay as dead entries in the process table, and the next Rally, which goes by names
alone, takes them for a Rally that is running and refuses to start. So we adopt them ourselves.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paddock.errors import Interrupted
from paddock.files import writing
from paddock.rally.leftovers import MARK
from paddock.rally.privileges import Identity
from paddock.rally.request import OPTIONS_VARIABLE

# How long Rally may take to stop the node and its actors after Ctrl-C.
INTERRUPT_SECONDS = 60.0
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TASK = re.compile(r"Running (?P<task>.+?)\s*\[\s*(?P<percent>\d+)% done\]")
_NOTE = re.compile(r"\[(?P<level>INFO|WARNING|ERROR)\]\s*(?P<text>.*)")
_SET_CHILD_SUBREAPER = 36  # prctl(2)
_ORPHANS = ("esrally", "rally", "java")


@dataclass(frozen=True)
class TaskProgress:
    """A task has come that far (percent, 0 to 100)."""

    task: str
    percent: int


@dataclass(frozen=True)
class Note:
    """Something that Rally says: "INFO", "WARNING" or "ERROR", and the text."""

    level: str
    text: str


class OutputReader:
    """Cuts Rally's terminal output into events; pieces may end anywhere."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, text: str) -> list[TaskProgress | Note]:
        """The events that this piece of output completes, in their order."""
        # Rally redraws a progress line by moving the cursor back, so what follows is a line of its own.
        text = self._rest + text
        lines = re.split(r"\r\n|\n|\r|\x1b\[\d+D", text)
        self._rest = lines.pop()
        events = [event for line in lines for event in self._read(line)]
        # A progress line is complete when its percentage is, though no line end follows it.
        if _TASK.search(_CONTROL.sub("", self._rest)):
            events += self._read(self._rest)
            self._rest = ""
        return events

    def _read(self, line: str) -> list[TaskProgress | Note]:
        plain = _CONTROL.sub("", line).strip()
        if not (found := list(_TASK.finditer(plain))) and (note := _NOTE.search(plain)):
            return [Note(note["level"], note["text"].strip())]
        return [TaskProgress(match["task"], int(match["percent"])) for match in found]


def seconds_left(percent: int, elapsed: float) -> float | None:
    """What remains of a task if it goes on as it went, in seconds; None while too little is known."""
    if percent < 5 or percent > 100 or elapsed < 2:
        return None
    return elapsed * (100 - percent) / percent


def run_rally(
    words: Sequence[str],
    mark: str,
    identity: Identity,
    environment: Mapping[str, str],
    output: Path,
    on_event: Callable[[TaskProgress | Note], None],
    on_tick: Callable[[], None],
    on_interrupt: Callable[[], None],
) -> int:
    """Run esrally to its end and return its exit code.

    :param words: the program and its arguments.
    :param mark: what tells its processes from those of other races: the race's folder.
    :param environment: variables on top of our own.
    :param output: everything that it prints is kept in this file.
    :param on_event: called with what it says.
    :param on_tick: called a few times per second.
    :param on_interrupt: called when the user wants it to stop, before Rally is told.
    :raises Interrupted: after Ctrl-C, SIGTERM or SIGHUP, when Rally has ended. The second one does not wait for it.
    """
    ours, theirs = pty.openpty()
    # Rally draws to the width of its terminal and needs one of at least 80 columns.
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
    env = {**os.environ, **environment, **identity.environment, MARK: mark, "TERM": "xterm"}
    env.pop(OPTIONS_VARIABLE, None)
    output.parent.mkdir(parents=True, exist_ok=True)
    reader = OutputReader()
    # Ours become the orphans of our descendants from now on.
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
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
                    for event in reader.feed(text.decode("utf-8", "replace")):
                        on_event(event)
                on_tick()
                # At once: Rally waits for the node's entry in the process table to go.
                _collect_orphans(process.pid)
                if ended:
                    break
                if interrupted and not asked_at:
                    asked_at = time.monotonic()
                    on_interrupt()
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
            raise Interrupted("Stopped. Nothing of the race is left running.")
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


def _collect_orphans(main: int) -> None:
    """Collect adopted processes that have ended; the child ``main`` and children of other names are somebody else's."""
    with contextlib.suppress(OSError):  # no child is left, or somebody else has collected it
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            name = Path(f"/proc/{ended.si_pid}/comm").read_text(encoding="utf-8").strip()
            if ended.si_pid == main or name not in _ORPHANS:
                return
            os.waitpid(ended.si_pid, os.WNOHANG)


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise what Ctrl-C does while the block runs, so that whoever clears up at its end does."""
    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As in _interruptions; and nohup's wish is respected.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _interruptions() -> Iterator[list[int]]:
    """The signals that ask for an end, collected instead of being raised somewhere."""
    received: list[int] = []
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Outside the main thread (tests) signals cannot be caught; then there are none to catch either.
        with contextlib.suppress(ValueError):
            before[number] = signal.signal(number, lambda number, _frame: received.append(number))
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
