"""How many documents of its corpora a bulk task indexes: all, the first N, or the first P per cent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from esrally import exceptions


def documents_to_index(available: int, params: Mapping[str, Any]) -> int:
    """The number of documents to send, exactly.

    :param available: documents in the corpora; Rally's test mode has already reduced them to 1,000.
    :param params: the operation's parameters; may have ``first-documents`` (a number of documents) or
        ``first-percentage`` (more than 0, at most 100), and ``corpus-documents`` (documents in the whole corpus).
    :raises exceptions.InvalidSyntax: if both are set, or one is out of its range.
    """
    count = params.get("first-documents")
    percentage = params.get("first-percentage")
    if count is not None and percentage is not None:
        raise exceptions.InvalidSyntax(
            f"document_count ({count}) and ingest_percentage ({percentage}) exclude each other: set one of them."
        )
    if count is not None:
        return _first(available, count, params.get("corpus-documents"))
    if percentage is not None:
        return _share(available, percentage)
    return available


def _first(available: int, count: Any, corpus_documents: int | None) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise exceptions.InvalidSyntax(f"document_count must be a whole number from 1 on, but is {count!r}.")
    # Compared with the whole corpus: in test mode fewer are available, and that is no mistake of the user.
    if corpus_documents is not None and count > corpus_documents:
        raise exceptions.InvalidSyntax(
            f"document_count is {count}, but the corpus has {corpus_documents} documents: "
            f"ask for fewer, or give a larger corpus with corpus_file, corpus_documents and corpus_bytes."
        )
    return min(count, available)


def _share(available: int, percentage: Any) -> int:
    if not isinstance(percentage, int | float) or isinstance(percentage, bool) or not 0 < percentage <= 100:
        raise exceptions.InvalidSyntax(f"ingest_percentage must be above 0 and at most 100, but is {percentage!r}.")
    return math.ceil(available * percentage / 100)
