"""The journal of requests: one JSON line with the service time of every bulk and search, as soon as it is answered.

Rally keeps percentiles in race.json, and which they are nobody can choose: there is no 95th among them. Whoever names a
file in the variable below gets what any percentile can be taken from.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from shared.sent_once import BulkOnce, QueryOnce

# An absolute path, which Rally's workers inherit: it is no parameter of a track, because it changes nothing of a race.
VARIABLE = "PADDOCK_REQUEST_JOURNAL"


class JournalledRunner:
    """Rally's own runner of an operation, and a line for each of its requests.

    The line is written when the request is over, so that the service time is not longer for it.
    """

    def __init__(self, operation: str, runner: Any, path: Path):
        self._operation = operation
        self._runner = runner
        self._path = path
        # Rally makes a client of Elasticsearch anew for each of its own clients in each task.
        self._clients: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._numbers = itertools.count()

    async def __aenter__(self) -> Any:
        await self._runner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._runner.__aexit__(*error)

    async def __call__(self, es: Any, params: dict[str, Any]) -> Any:
        """What Rally's own runner gives back."""
        with es.new_request_context() as context:
            try:
                return await self._runner(es, params)
            finally:
                if context.request_start is not None and context.request_end is not None:
                    self._append(es, context.request_start, context.request_end)

    def __repr__(self) -> str:
        return repr(self._runner)

    def __str__(self) -> str:
        return str(self._runner)

    def _append(self, es: Any, start: float, end: float) -> None:
        """Add a request; both times are of Python's performance counter, as Rally has them."""
        if es not in self._clients:
            self._clients[es] = next(self._numbers)
        record = {
            "operation": self._operation,
            "client": f"{os.getpid()}-{self._clients[es]}",
            "sent": time.time() - (time.perf_counter() - start),
            # As Rally makes milliseconds of it.
            "milliseconds": (end - start) * 1000,
        }
        line = (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)


def journalled_runners(environment: Mapping[str, str]) -> dict[str, JournalledRunner]:
    """By operation type the runners that take the place of Rally's; none unless a journal is asked for."""
    named = environment.get(VARIABLE)
    if not named:
        return {}
    path = Path(named)
    return {
        "bulk": JournalledRunner("bulk", BulkOnce(), path),
        "search": JournalledRunner("search", QueryOnce(), path),
    }
