"""The freshness probe: how long an acknowledged document takes to become searchable while the load runs.

Marker documents, empty but for an id of their own, are indexed beside the load; all that are outstanding are searched
for together, again and again. The pace is the same whatever is compared, so that every level bears the same cost, and
neither waits for the other: a marker that is late to be acknowledged keeps nobody from looking for the others, nor the
next one from being sent.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Mapping
from typing import Any

import elasticsearch

from shared.quantiles import censored_quantile
from shared.request_contexts import unmeasured

# Markers come at irregular intervals: at regular ones they would fall into step with the refreshes.
_MARKER_INTERVAL = (0.25, 0.75)
_POLL_INTERVAL = 0.05
# As Rally has it: no 99th percentile of fewer than a hundred.
FEWEST_FOR_P99 = 100
# Of fewer a 95th percentile would be their maximum.
FEWEST_FOR_P95 = 20
_UNITS = {"nanos": 1e-9, "micros": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def refresh_seconds(settings: Mapping[str, Any]) -> float:
    """The refresh interval of an index in seconds; 0 where it is never refreshed, or Elasticsearch will refuse it.

    :param settings: of the index, by full names. Without the interval Elasticsearch's own holds, a second; only there
        a shard that nobody has searched for 30 s (``index.search.idle.after``) is not refreshed any more.
    """
    value = settings.get("index.refresh_interval")
    found = re.fullmatch(r"([0-9]+)([a-z]+)", "1s" if value is None else str(value))
    return int(found[1]) * _UNITS.get(found[2], 0.0) if found else 0.0


class FreshnessProbe:
    """Watches one index for as long as its ``async with`` block lasts; then ask for :meth:`record`.

    A request that is refused or gets no answer ends the probe, not the lap.

    :param series: in the ids of its markers, where the index has those of other probes.
    """

    def __init__(self, es: Any, index: str, series: str = ""):
        # A marker that was sent twice would be refused as a twin of itself.
        self._es = es.options(max_retries=0)
        self._index = index
        self._series = series
        self._random = random.Random(index)  # noqa: S311 - no cryptography
        self._outstanding: dict[str, float] = {}
        self._found: list[float] = []
        self._markers = 0
        self._refused = 0
        self._problem: str | None = None
        self._stopped_at: float | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._sent: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> FreshnessProbe:
        with unmeasured(self._es):
            self._tasks = [asyncio.create_task(self._send_markers()), asyncio.create_task(self._look_for_markers())]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, and wait until markers that are still on their way have arrived, so that they can be counted."""
        self._stop()
        for outcome in await asyncio.gather(*self._tasks, *self._sent, return_exceptions=True):
            if isinstance(outcome, Exception):  # a cancelled task is none
                raise outcome

    @property
    def names(self) -> list[str]:
        """The ids of all markers that were sent: so many documents more than the load's may be in the index."""
        return [self._name(number) for number in range(self._markers)]

    @property
    def arrived(self) -> int:
        """How many of them are in the index, or may yet come there: all but those that got an error for an answer."""
        return self._markers - self._refused

    async def _send_markers(self) -> None:
        while True:
            self._sent.append(asyncio.create_task(self._send(self._name(self._markers))))
            self._markers += 1
            await asyncio.sleep(self._random.uniform(*_MARKER_INTERVAL))

    async def _send(self, name: str) -> None:
        try:
            await self._es.index(index=self._index, id=name, document={}, op_type="create", pipeline="_none")
        except (elasticsearch.ApiError, elasticsearch.TransportError) as error:
            self._refused += 1
            self._stop(f"a marker was not indexed: {_text(error)}")
        else:
            self._outstanding[name] = time.perf_counter()

    async def _look_for_markers(self) -> None:
        try:
            while True:
                if self._outstanding:
                    await self._search()
                await asyncio.sleep(_POLL_INTERVAL)
        except (elasticsearch.ApiError, elasticsearch.TransportError) as error:
            self._stop(f"markers could not be searched for: {_text(error)}")

    async def _search(self) -> None:
        answer = await self._es.search(
            index=self._index,
            query={"ids": {"values": list(self._outstanding)}},
            size=len(self._outstanding),
            source=False,
            track_total_hits=False,
            request_cache=False,
        )
        now = time.perf_counter()
        for hit in answer["hits"]["hits"]:
            acknowledged = self._outstanding.pop(hit["_id"], None)
            if acknowledged is not None:
                self._found.append(now - acknowledged)

    def _name(self, number: int) -> str:
        return f"paddock-marker-{self._series}{number}"

    def _stop(self, problem: str | None = None) -> None:
        """End both tasks; the first reason to do so counts."""
        if self._stopped_at is None:
            self._stopped_at, self._problem = time.perf_counter(), problem
        for task in self._tasks:
            task.cancel()

    def record(self) -> dict[str, Any]:
        """What was seen, in seconds; ``waiting`` are the markers not yet found when the load ended.

        ``p50``, ``p95`` and ``p99`` take those into account. They are None if too few were found to tell, or the probe
        ended before the load; p95 is None if fewer than twenty were watched, too, and p99 if fewer than a hundred.
        """
        end = self._stopped_at or time.perf_counter()
        # What was acknowledged after the end has not been watched at all.
        waiting = [end - acknowledged for acknowledged in self._outstanding.values() if acknowledged < end]
        watched = 0 if self._problem else len(self._found) + len(waiting)
        p50, p95, p99 = (censored_quantile(self._found, waiting, share) for share in (0.5, 0.95, 0.99))
        return {
            "markers": self._markers,
            "found_seconds": [round(value, 3) for value in self._found],
            "waiting_seconds": [round(value, 3) for value in waiting],
            "p50": _rounded(p50 if watched else None),
            "p95": _rounded(p95 if watched >= FEWEST_FOR_P95 else None),
            "p99": _rounded(p99 if watched >= FEWEST_FOR_P99 else None),
            "problem": self._problem,
        }


def _text(error: elasticsearch.ApiError | elasticsearch.TransportError) -> str:
    """An error on one line."""
    return " ".join(str(error).split())[:200]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
