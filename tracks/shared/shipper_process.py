"""The processes of a shipper, and of what feeds it: started, looked at, and ended by their own ids whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

# Says of a process what it is a part of; whoever samples processes tells them apart by it. A shipper's is this and its
# name.
COMPONENT = "PADDOCK_COMPONENT"
SHIPPER, GENERATOR = "shipper-", "generator"
_CHILD = Path(__file__).with_name("shipper_child.py")
# Seconds that a shipper has to end by itself; nothing that it still holds is wanted any more.
_END_PATIENCE = 5.0
_STEP = 0.02


@dataclass(frozen=True)
class Use:
    """What a program and all that it has started have used so far: processor seconds, and peak resident bytes."""

    cpu_seconds: float
    peak_bytes: int


class Child:
    """A program in a process group of its own, with a variable that says what it is.

    It ends with the thread that starts it. Of Rally's workers that is the one in which all of a task happens. Of
    proxies it is not told: Rally's own clients go around them, and no proxy is to see a password.

    :param log: file to which it adds what it says; None for a program that is talked with.
    :param processors: those that it may run on; empty for all.
    :param groups: folders of control groups that it joins before it begins; empty for none.
    :raises OSError: if it cannot be started.
    """

    def __init__(
        self,
        words: Sequence[str],
        component: str,
        folder: Path,
        log: Path | None,
        processors: Sequence[int] = (),
        groups: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.log = log
        named = ",".join(map(str, processors))
        options: dict[str, Any] = {
            "cwd": folder,
            "env": {**_without_proxies(os.environ), **(environment or {}), COMPONENT: component},
            "start_new_session": True,
        }
        # Isolated, and without its packages: it is there for some milliseconds.
        before = [sys.executable, "-I", "-S", str(_CHILD), str(os.getpid()), named, "\n".join(map(str, groups))]
        if log is None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            self.process = subprocess.Popen([*before, *words], **pipes, **options)
        else:
            with log.open("ab") as file:
                self.process = subprocess.Popen(
                    [*before, *words], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, **options
                )

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self.process.poll()

    def use(self) -> Use:
        """What it and its children have used; of one that is gone nothing is known."""
        cpu, peak = 0.0, 0
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(self.process.pid)
            for one in (first, *first.children(recursive=True)):
                with contextlib.suppress(psutil.Error, OSError):
                    times = one.cpu_times()
                    cpu += times.user + times.system
                    peak += _peak(one.pid)
        return Use(round(cpu, 3), peak)

    def listens(self, port: int) -> bool:
        """Whether it, or one of its children, waits for connections there; False if that cannot be seen."""
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(self.process.pid)
            for one in (first, *first.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    listening = (each for each in one.connections("tcp") if each.status == psutil.CONN_LISTEN)
                    if any(each.laddr.port == port for each in listening):
                        return True
        return False

    def has_open(self, file: Path) -> bool:
        """Whether it, or one of its children, has that file open; False if that cannot be seen."""
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(self.process.pid)
            for one in (first, *first.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    if any(each.path == str(file) for each in one.open_files()):
                        return True
        return False

    async def end(self) -> int:
        """Ask it to end, and end it; its exit code."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + _END_PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            await asyncio.sleep(_STEP)
        return self.kill()

    def kill(self) -> int:
        """End it and all of its group at once; its exit code."""
        self._signal(signal.SIGKILL)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return self.process.wait()

    def _signal(self, number: int) -> None:
        # The group may outlive its first process, whose id it has.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def last_words(self, most: int = 300) -> str:
        """The last line of its log; empty for none."""
        if self.log is None:
            return ""
        try:
            lines = [line.strip() for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines()]
        except OSError:
            return ""
        return next((line for line in reversed(lines) if line), "")[-most:]


def _without_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}


def _peak(pid: int) -> int:
    """Peak resident bytes of a process; 0 if it is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
