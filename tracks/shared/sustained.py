"""A load that goes on: documents as many as are asked for, into one growing index or indices that roll over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import elasticsearch
from esrally import exceptions
from esrally.track.params import BulkIndexParamSource, ParamSource

from shared.index_runners import TracksIndex
from shared.ownership import marked
from shared.paced_documents import repeated


class SustainedDocuments(BulkIndexParamSource):
    """Bulks of exactly ``documents`` documents, the corpus from its beginning as often as needed.

    Parameters as for Rally's ``bulk``, and those of :func:`sustained_documents`.
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in self.corpora)
        # Only what is read changes: self.corpora still describes the files, which Rally checks before the race.
        count = sustained_documents(available, params) or available
        self.param_source.corpora = repeated(self.corpora, available, count)


class ExpectedSustainedDocuments(ParamSource):
    """Adds ``expected`` to the parameters of ``settle``: the documents asked for; None where a clock ends the load."""

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in track.corpora)
        self._expected = sustained_documents(available, params)

    def params(self) -> dict[str, Any]:
        """The parameters of one check."""
        return {**self._params, "expected": self._expected}


def sustained_documents(available: int, params: Mapping[str, Any]) -> int | None:
    """How many documents to send; None for as many as a time allows.

    :param available: documents in the corpora; Rally's test mode has already reduced them to 1,000.
    :param params: the operation's: ``documents``; ``time-period``, which excludes them; ``corpus-documents`` (in the
        whole corpus).
    :raises exceptions.InvalidSyntax: if both are set, or ``documents`` is no number from 1 on.
    """
    count, seconds = params.get("documents"), params.get("time-period")
    if count is None:
        return None
    if seconds is not None:
        raise exceptions.InvalidSyntax(
            f"sustained_documents ({count}) and time_period ({seconds}) exclude each other: set one of them."
        )
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise exceptions.InvalidSyntax(f"sustained_documents must be a whole number from 1 on, but is {count!r}.")
    in_test_mode = available < params["corpus-documents"]
    return min(count, available) if in_test_mode else count


class RolledIndex(TracksIndex):
    """The parameters of ``roll-over``, as long as the load beside it goes on."""

    @property
    def infinite(self) -> bool:
        """To Rally an endless source without a time would be one call."""
        return False


class RollOver:
    """Begins a new index behind an alias if it is time to; Elasticsearch looks at the conditions.

    Parameters of the operation: ``index`` (the alias); ``conditions`` (as Elasticsearch's rollover takes them);
    ``body`` (settings and mappings of the new index, from :class:`RolledIndex`).
    """

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Look once.

        :raises exceptions.RallyTaskAssertionError: if Elasticsearch refuses the conditions.
        """
        body = params["body"]
        try:
            answer = await es.indices.rollover(
                alias=params["index"],
                conditions=params["conditions"],
                **{**body, "mappings": marked(body.get("mappings") or {})},
            )
        except elasticsearch.ApiError as error:
            raise exceptions.RallyTaskAssertionError(
                f"Elasticsearch refused to roll over the alias '{params['index']}': {error}. "
                f"Change the track parameter rollover."
            ) from error
        return {"weight": 1, "unit": "ops", "success": True, "rolled-over": answer["rolled_over"]}

    def __repr__(self) -> str:
        return "roll-over"
