"""The truth of a race: the index has as many documents as were sent."""

from __future__ import annotations

import logging
from typing import Any

from esrally import exceptions
from esrally.track.params import ParamSource

from shared.selection import documents_to_index


class ExpectedDocuments(ParamSource):
    """Adds ``expected``, the number of documents that the bulk task sends once, to the check's parameters."""

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in track.corpora)
        self._expected = documents_to_index(available, params)

    def params(self) -> dict[str, Any]:
        """The parameters of one check."""
        return {**self._params, "expected": self._expected}


class CheckDocumentCount:
    """Counts the documents of an index and ends the race if there are not as many as expected.

    Parameters of the operation: ``index``; ``expected`` (documents); ``enforce`` (false: only report, because the
    challenge replaces documents, repeats the corpus or tolerates errors).
    """

    def __init__(self) -> None:
        self.logger = logging.getLogger(__name__)

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Count once.

        :raises exceptions.RallyTaskAssertionError: if the numbers differ and ``enforce`` is set.
        """
        index, expected = params["index"], params["expected"]
        counted = (await es.count(index=index))["count"]
        if counted != expected:
            problem = _sentence(index, expected, counted)
            if params["enforce"]:
                raise exceptions.RallyTaskAssertionError(problem)
            self.logger.warning("%s", problem)
        return {"weight": 1, "unit": "ops", "success": True, "expected": expected, "counted": counted}

    def __repr__(self) -> str:
        return "check-document-count"


def _sentence(index: str, expected: int, counted: int) -> str:
    difference = f"{expected - counted} are missing" if counted < expected else f"{counted - expected} are too many"
    return (
        f"The index '{index}' has {counted} documents, but {expected} were sent: {difference}. "
        f"This race does not count; look for bulk errors in its results, and for the cause in the log of the node."
    )
