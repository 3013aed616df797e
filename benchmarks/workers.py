"""Processes that generate, each bound to its cores and asked in every round; and dd, for what the disk can take."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from paddock.errors import MachineError
from paddock.paths import PROJECT

# Libraries with threads of their own: as many as the process has cores, which is one for every peer.
_ONE_THREAD = ("POLARS_MAX_THREADS", "GOMAXPROCS", "OMP_NUM_THREADS")


@dataclass(frozen=True)
class Answer:
    """What a worker did; ``seconds`` is its own time for it."""

    documents: int
    bytes: int
    seconds: float


class Worker:
    """One process; a context manager that ends it.

    :param cores: the cores it may use.
    :param threads_of_its_own: False: libraries in it get one thread.
    :raises MachineError: if it does not start; the text holds its last words.
    """

    def __init__(self, name: str, command: Sequence[str], cores: Sequence[int], threads_of_its_own: bool = False):
        self._name = name
        # Messages into a file: a pipe that nobody reads would fill up.
        self._messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        environment = dict(os.environ)
        if not threads_of_its_own:
            environment.update(dict.fromkeys(_ONE_THREAD, "1"))
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            text=True,
            cwd=PROJECT,
            env=environment,
            # Before the program has begun, so that every thread it starts is bound as well.
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        try:
            self.version: str = self._read()["version"]
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def ask(self, documents: int, file: Path | None) -> None:
        """Begin to make documents; ``answer`` waits for the end."""
        assert self._process.stdin  # noqa: S101 - it is a pipe
        try:
            self._process.stdin.write(json.dumps({"documents": documents, "file": str(file) if file else None}) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failed() from None

    def answer(self) -> Answer:
        """What came of the last request."""
        content = self._read()
        return Answer(content["documents"], content["bytes"], content["seconds"])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout  # noqa: S101 - it is a pipe
        line = self._process.stdout.readline()
        try:
            content = json.loads(line)
        except ValueError:
            raise self._failed() from None
        return dict(content)

    def _failed(self) -> MachineError:
        self._process.kill()
        self._process.wait()
        self._messages.seek(0)
        last = (self._messages.read().strip().splitlines() or ["it said nothing"])[-1]
        return MachineError(f"The generator {self._name} failed ({last}): leave it out with --peers.")

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._messages):
            try:
                if stream:
                    stream.close()
            except OSError:  # a request that was never read
                pass


def run_together(workers: Sequence[Worker], documents: int, files: Sequence[Path | None]) -> Answer:
    """Let workers share the work, at the same time; the slowest says how long it took."""
    for worker, file in zip(workers, files, strict=True):
        worker.ask(documents, file)
    answers = [worker.answer() for worker in workers]
    return Answer(
        documents=sum(answer.documents for answer in answers),
        bytes=sum(answer.bytes for answer in answers),
        seconds=max(answer.seconds for answer in answers),
    )


BLOCK = 8 << 20
MODES = {"dd direct": ["oflag=direct", "conv=fsync"], "dd buffered": ["conv=fsync"]}


def run_dd(mode: str, size: int, file: Path) -> Answer:
    """Write about ``size`` bytes until they are on the disk.

    :param mode: a key of MODES.
    :raises MachineError: if dd is missing, or the file system refuses.
    """
    blocks = max(1, size // BLOCK)
    started = time.perf_counter()
    try:
        done = subprocess.run(
            ["dd", "if=/dev/zero", f"of={file}", f"bs={BLOCK}", f"count={blocks}", *MODES[mode]],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise MachineError("There is no dd on the PATH: install coreutils.") from None
    seconds = time.perf_counter() - started
    if done.returncode:
        raise MachineError(f"dd cannot write to {file.parent} ({(done.stderr.strip().splitlines() or ['?'])[-1]}).")
    return Answer(0, blocks * BLOCK, seconds)
