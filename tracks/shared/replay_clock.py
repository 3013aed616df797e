"""The one clock of a replay: all clients, in all processes of the load driver, count from the same moment.

Rally starts the processes of its workers within moments of each other, and each counts from when it has got ready. That
is good enough for rates and not for a schedule that all share. The process that has the first client of the documents
decides; the others ask it over a socket that has no file and is named after a secret of the race.
"""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from contextlib import suppress
from typing import ClassVar

from esrally import exceptions

# Seconds from when the first client of the leading process is ready to the beginning; how long others look for it.
LEAD = 2.0
PATIENCE = 120.0
_BETWEEN_TRIES = 0.05
_LONGEST = 200  # bytes of an answer


class ReplayClock:
    """The clock of one race in one process; :meth:`of` finds it."""

    _known: ClassVar[dict[str, ReplayClock]] = {}

    def __init__(self, secret: str) -> None:
        self._name = "\0paddock-replay-" + hashlib.sha256(secret.encode()).hexdigest()[:24]
        self._listening: socket.socket | None = None
        self._decided = threading.Event()
        self._began = self._began_at = 0.0

    @classmethod
    def of(cls, secret: str) -> ReplayClock:
        """The same object for all sources of the race in this process."""
        return cls._known.setdefault(secret, cls(secret))

    def lead(self) -> None:
        """Decide in this process, and tell the others. Called before any client of the process begins."""
        if self._listening is None:
            self._listening = listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind(self._name)
            listening.listen()
            threading.Thread(target=self._answer, args=(listening,), daemon=True).start()

    @property
    def began(self) -> float:
        """When the replay begins, or began, by ``time.perf_counter``; waits until that is decided.

        :raises exceptions.RallyAssertionError: if nobody of this machine decides.
        """
        if not self._decided.is_set():
            if self._listening is None:
                self._ask()
            else:
                self._decide(time.perf_counter() + LEAD, time.time() + LEAD)
        return self._began

    @property
    def began_at(self) -> float:
        """The same in seconds since 1970."""
        _ = self.began
        return self._began_at

    def _decide(self, began: float, began_at: float) -> None:
        self._began, self._began_at = began, began_at
        self._decided.set()

    def _answer(self, listening: socket.socket) -> None:
        while True:
            connection, _ = listening.accept()
            # Whoever asks waits for the decision here; there are as many as processes.
            threading.Thread(target=self._tell, args=(connection,), daemon=True).start()

    def _tell(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self._decided.wait()
            connection.sendall(json.dumps([self._began, self._began_at]).encode())

    def _ask(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
                    asking.settimeout(max(deadline - time.monotonic(), _BETWEEN_TRIES))
                    asking.connect(self._name)
                    answer = b""
                    while piece := asking.recv(_LONGEST):
                        answer += piece
                self._decide(*json.loads(answer))
            except (OSError, ValueError, TypeError):
                time.sleep(_BETWEEN_TRIES)
            else:
                return
        raise exceptions.RallyAssertionError(
            f"No process of this machine has begun the replay within {PATIENCE:g} s: all clients of a replay must be "
            f"on one machine, so race it with one load driver host."
        )
