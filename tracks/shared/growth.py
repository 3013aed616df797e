"""Data that grows in steps: which documents each step adds, and how many there are then."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from esrally import exceptions
from esrally.track import track as rally_track
from esrally.track.params import BulkIndexParamSource, ParamSource, create_default_reader

from shared.corpora import documents_to_index


class GrowthDocuments(BulkIndexParamSource):
    """Indexes what one step adds to those before it.

    Parameters as for Rally's ``bulk``, and ``growth-steps`` (all sizes, ascending), ``growth-step`` (this one) and
    those of :func:`shared.corpora.documents_to_index`, which say how many documents the largest step has.
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in self.corpora)
        first, last = added_documents(available, params)
        # Only what is read changes: self.corpora still describes the files, which Rally checks before the race.
        self.param_source.corpora = between(self.corpora, first, last)
        self.param_source.create_reader = _reader_from_the_middle


class GrownDocuments(ParamSource):
    """Adds ``expected``, the number of documents after one step, to the parameters of ``settle``."""

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in track.corpora)
        _, self._expected = added_documents(available, params)

    def params(self) -> dict[str, Any]:
        """The parameters of one check."""
        return {**self._params, "expected": self._expected}


def added_documents(available: int, params: Mapping[str, Any]) -> tuple[int, int]:
    """How many documents there are before and after a step.

    :param available: documents in the corpora.
    :raises exceptions.InvalidSyntax: if the steps are not whole ascending numbers, or the corpus is too small for them.
    """
    steps, step = params["growth-steps"], params["growth-step"]
    whole = isinstance(steps, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in steps)
    if not whole or not steps or steps[0] < 1 or steps != sorted(set(steps)):
        raise exceptions.InvalidSyntax(
            f"growth_steps must be a JSON list of ascending whole numbers such as [1,2,4,8], but is {steps!r}."
        )
    total = documents_to_index(available, params)
    sizes = [0, *(total * one // steps[-1] for one in steps)]
    position = steps.index(step)
    before, after = sizes[position], sizes[position + 1]
    if before == after:
        raise exceptions.InvalidSyntax(
            f"{total} documents are too few for the growth_steps {steps}: the step to {step} adds none."
        )
    return before, after


def between(corpora: list[Any], first: int, last: int) -> list[Any]:
    """Copies of the corpora with the documents from ``first`` (from 0) up to, but without, ``last``."""
    parts, before = [], 0
    for corpus in corpora:
        documents = []
        for document_set in corpus.documents:
            begin = max(first - before, 0)
            end = min(last - before, document_set.number_of_documents)
            before += document_set.number_of_documents
            if begin < end:
                part = copy.copy(document_set)
                part.number_of_documents = end - begin
                part.skipped_documents = begin
                documents.append(part)
        if documents:
            parts.append(rally_track.DocumentCorpus(corpus.name, documents, meta_data=dict(corpus.meta_data)))
    return parts


def _reader_from_the_middle(documents: Any, offset: int, *further: Any) -> Any:
    """Rally's own reader, told to begin later.

    :param offset: in lines, of a client's share.
    """
    lines_per_document = 2 if documents.includes_action_and_meta_data else 1
    return create_default_reader(documents, offset + documents.skipped_documents * lines_per_document, *further)
