"""Waiting until an index is allocated as asked, with an end and a sentence instead of endless retries."""

from __future__ import annotations

import time
from typing import Any

from esrally import exceptions


class WaitForHealth:
    """Ends the race if the index is missing or not healthy in time: measuring half-allocated shards is worthless.

    Parameters of the operation: ``index``; ``status`` ("green", "yellow"); ``timeout`` (seconds, 60 by default).
    """

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Wait.

        :raises exceptions.RallyTaskAssertionError: if the time is over.
        """
        index, status, timeout = params["index"], params["status"], params.get("timeout", 60)
        if not await es.indices.exists(index=index):
            raise exceptions.RallyTaskAssertionError(
                f"The index '{index}' does not exist: Elasticsearch refused to create it, most likely for one of its "
                f"settings; the reason is in Rally's log, beside the words 'create-index'."
            )
        deadline = time.monotonic() + timeout
        while True:
            # Elasticsearch answers 408 with the health as it is when its own timeout is over: no error to us.
            health = await es.options(ignore_status=408).cluster.health(
                index=index, wait_for_status=status, wait_for_no_relocating_shards=True, timeout="5s"
            )
            if not health["timed_out"]:
                return {"weight": 1, "unit": "ops", "success": True, "cluster-status": health["status"]}
            if time.monotonic() >= deadline:
                raise exceptions.RallyTaskAssertionError(
                    f"The index '{index}' is {health['status']} after {timeout} s, but {status} was asked for "
                    f"({health['unassigned_shards']} shards unassigned, {health['relocating_shards']} relocating): "
                    f"replicas need a second node (number_of_replicas, cluster_health); "
                    f"a full disk keeps shards out, too."
                )

    def __repr__(self) -> str:
        return "wait-for-health"
