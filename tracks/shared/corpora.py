"""The corpora of a load: whether their files are ready, and which of their documents it sends.

Rally's ``ingest-percentage`` cuts every worker's share at a bulk, and its ``ingest-doc-count`` must be a multiple of
bulk size times clients: which and how many documents are indexed depends on both. Here they are the same documents,
and exactly as many, whatever bulk size and clients are, so that contenders with different ones index the same.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from esrally import exceptions
from esrally.track import loader
from esrally.track import track as rally_track
from esrally.track.params import BulkIndexParamSource
from esrally.utils import io


class UnpreparedCorpora(loader.TrackProcessor):
    """Has Rally prepare those files of the corpora that are not ready, and only these.

    Rally's own preparation hands every file to a process that it asks five seconds later whether it has finished, also
    where all that remains is to find a file of the right size with its table of offsets. What Rally does for a file is
    left to it.
    """

    def __init__(self) -> None:
        # Rally sets these three when the processor is registered (esrally 2.13.0, track/loader.py,
        # TrackProcessorRegistry.register_track_processor), as it does for its own preparation.
        self.cfg: Any = None
        self.downloader: Any = None
        self.decompressor: Any = None

    def on_prepare_track(self, track: Any, data_root_dir: str) -> Iterator[tuple[Callable[..., None], dict[str, Any]]]:
        """Rally's own functions and their arguments, one for each file that is not ready."""
        rallys = loader.DefaultTrackPreparator()
        rallys.cfg, rallys.downloader, rallys.decompressor = self.cfg, self.downloader, self.decompressor
        for prepare, arguments in rallys.on_prepare_track(track, data_root_dir):
            folders = loader.data_dir(self.cfg, track.name, arguments["corpus"].name)
            if not _ready(arguments["document_set"], folders):
                yield prepare, arguments


def _ready(documents: Any, folders: list[str]) -> bool:
    """Whether the file that Rally would take has the size that the track gives and a table of offsets not older."""
    paths = (Path(folder) / documents.document_file for folder in folders)
    path = next((one for one in paths if one.is_file()), None)
    if path is None or documents.uncompressed_size_in_bytes not in (None, path.stat().st_size):
        return False
    return io.FileOffsetTable.read_for_data_file(str(path)).is_valid()


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
