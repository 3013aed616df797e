"""Rally's own bulk parameter source, held to the first documents of its corpora.

Rally's ``ingest-percentage`` cuts every worker's share at a bulk, and its ``ingest-doc-count`` must be a multiple of
bulk size times clients: which and how many documents are indexed depends on both. Here they are the same documents,
and exactly as many, whatever bulk size and clients are, so that contenders with different ones index the same.
"""

from __future__ import annotations

import copy
from typing import Any

from esrally.track import track as rally_track
from esrally.track.params import BulkIndexParamSource

from shared.selection import documents_to_index


class FirstDocuments(BulkIndexParamSource):
    """Indexes the first documents; parameters as for Rally's ``bulk``, and those of :func:`documents_to_index`."""

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in self.corpora)
        # Only what is read gets smaller: self.corpora still describes the files, whose sizes and line counts
        # Rally checks before the race.
        self.param_source.corpora = first_of(self.corpora, documents_to_index(available, params))


def first_of(corpora: list[Any], count: int) -> list[Any]:
    """Copies of the corpora that end after ``count`` documents in all; the originals are left alone."""
    shortened = []
    remaining = count
    for corpus in corpora:
        documents = []
        for document_set in corpus.documents:
            taken = min(remaining, document_set.number_of_documents)
            if taken:
                part = copy.copy(document_set)
                part.number_of_documents = taken
                documents.append(part)
                remaining -= taken
        if documents:
            shortened.append(rally_track.DocumentCorpus(corpus.name, documents, meta_data=dict(corpus.meta_data)))
    return shortened
