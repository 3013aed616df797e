"""Brings an index to rest and proves that all documents are in it, in one task, since Rally pauses after each."""

from __future__ import annotations

from typing import Any

from esrally import exceptions

from shared.document_count import CheckDocumentCount
from shared.lap_figures import wait_for_merges

_PATIENCE = 600  # seconds for the refresh, and for the merges


class Settle:
    """Refreshes, counts, and waits until no merge runs any more.

    Parameters of the operation: ``index``; ``expected`` (documents) and ``enforce``, as for ``check-document-count``;
    ``wait-for-merges`` (whether to).
    """

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Do it once.

        :raises exceptions.RallyTaskAssertionError: if documents are missing, or merges do not end.
        """
        index = params["index"]
        await es.options(request_timeout=self._patience).indices.refresh(index=index)
        result = await CheckDocumentCount()(es, params)
        if params["wait-for-merges"] and await wait_for_merges(es, index, self._patience) is None:
            raise exceptions.RallyTaskAssertionError(
                f"Merges of the index '{index}' still run after {self._patience:g} s, so that what follows would be "
                f"measured beside them: index fewer documents, or set wait_for_merges to false."
            )
        return result

    def __repr__(self) -> str:
        return "settle"
