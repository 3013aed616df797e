"""The freshness probe: how long an acknowledged document takes to become searchable while the load runs.

Marker documents, empty but for an id of their own, are indexed beside the load; all that are outstanding are searched
for together, again and again. The pace is the same whatever is compared, so that every level bears the same cost.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

import elasticsearch

from shared.quantiles import censored_quantile
from shared.request_contexts import unmeasured

# Markers come at irregular intervals: at regular ones they would fall into step with the refreshes.
_MARKER_INTERVAL = (0.25, 0.75)
_POLL_INTERVAL = 0.05


class FreshnessProbe:
    """Watches one index; start :meth:`run` as a task, then cancel it and ask for :meth:`record`."""

    def __init__(self, es: Any, index: str):
        self._es = es
        self._index = index
        self._random = random.Random(index)  # noqa: S311 - no cryptography
        self._outstanding: dict[str, float] = {}
        self._found: list[float] = []
        self._markers = 0
        self._problem: str | None = None
        self._stopped_at = 0.0

    @property
    def names(self) -> list[str]:
        """The ids of all markers that were sent: so many documents more than the load's may be in the index."""
        return [_name(number) for number in range(self._markers)]

    async def run(self) -> None:
        """Probe until cancelled; a refused request ends the probe, not the lap."""
        with unmeasured(self._es):
            try:
                next_marker = time.perf_counter()
                while True:
                    if time.perf_counter() >= next_marker:
                        await self._send_marker()
                        next_marker = time.perf_counter() + self._random.uniform(*_MARKER_INTERVAL)
                    if self._outstanding:
                        await self._search()
                    await asyncio.sleep(_POLL_INTERVAL)
            except (elasticsearch.ApiError, elasticsearch.TransportError) as error:
                self._problem = str(error)
            finally:
                self._stopped_at = time.perf_counter()

    async def _send_marker(self) -> None:
        name = _name(self._markers)
        self._markers += 1
        await self._es.index(index=self._index, id=name, document={}, op_type="create")
        self._outstanding[name] = time.perf_counter()

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

    def record(self) -> dict[str, Any]:
        """What was seen, in seconds; ``waiting`` are the markers not yet found when the load ended.

        ``p50`` and ``p99`` take those into account, and are None if too few were found to tell.
        """
        waiting = [self._stopped_at - acknowledged for acknowledged in self._outstanding.values()]
        return {
            "markers": self._markers,
            "found_seconds": [round(value, 3) for value in self._found],
            "waiting_seconds": [round(value, 3) for value in waiting],
            "p50": _rounded(censored_quantile(self._found, waiting, 0.5)),
            "p99": _rounded(censored_quantile(self._found, waiting, 0.99)),
            "problem": self._problem,
        }


def _name(number: int) -> str:
    return f"paddock-marker-{number}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
