"""Rally's runners of bulks and searches, whose requests are sent once where an operation asks for it.

Elasticsearch's client sends what was refused (429, 502 to 504) or lost with its connection up to three times more, at
once and without a word. Documents without ids of their own then are in the index twice, and nobody learns that anything
was refused. (A search that was lost with its connection is asked once more, by what lies below that client.)
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from esrally.driver.runner import BulkIndex, Query

SEND_ONCE = "send-once"  # the parameter; true or left out


class _Once:
    def __init__(self) -> None:
        super().__init__()
        # To make one takes the client a tenth of a millisecond.
        self._clients: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    async def __call__(self, es: Any, params: dict[str, Any]) -> Any:
        """What Rally's own runner does and gives back."""
        runner: Any = super()
        if not params.get(SEND_ONCE):
            return await runner.__call__(es, params)
        if es not in self._clients:
            self._clients[es] = _sending_once(es)
        return await runner.__call__(self._clients[es], params)


def _sending_once(es: Any) -> Any:
    """A client of the same connections that sends nothing again."""
    once = es.options(max_retries=0)
    perform_request = once.perform_request

    async def post(method: str, *request: Any, **more: Any) -> Any:
        # Below the client aiohttp sends a PUT that was lost with its connection once more, and no POST.
        return await perform_request("POST" if method == "PUT" else method, *request, **more)

    once.perform_request = post
    return once


class BulkOnce(_Once, BulkIndex):
    """Of bulks."""


class QueryOnce(_Once, Query):
    """Of searches."""
