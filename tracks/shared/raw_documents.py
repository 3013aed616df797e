"""Files of documents that are not parsed yet, beside the corpus; laps that are parsed on the node send these.

They are written once, before the race, and hold as many documents as the corpus in the same order: so all laps of a
block read a file while they send, and the same documents.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from esrally import exceptions
from esrally.track import loader
from esrally.utils import io

from shared.lap_parsing import pipelines_of
from shared.levels import read_levels
from shared.raw_forms import raw_documents

# To be raised with every change of what is written.
_VERSION = 1


def raw_file(corpus_file: str, form: str) -> str:
    """The path of the file with a corpus's documents in that form."""
    path = Path(corpus_file)
    return str(path.with_name(f"{path.stem}.{form}-{_VERSION}.json"))


def as_sent(documents: Iterable[Any], form: str | None) -> tuple[Any, ...]:
    """Rally's document sets with the files that are sent; None for the corpus's own."""
    if form is None:
        return tuple(documents)
    sent = []
    for one in documents:
        raw = copy.copy(one)
        raw.document_file = raw_file(one.document_file, form)
        sent.append(raw)
    return tuple(sent)


class RawDocuments(loader.TrackProcessor):
    """Has the files made that the laps of a race send."""

    def __init__(self) -> None:
        self.cfg: Any = None  # set by Rally when the processor is registered, see UnpreparedCorpora

    def on_prepare_track(self, track: Any, data_root_dir: str) -> Iterator[tuple[Callable[..., None], dict[str, Any]]]:
        """The function and its arguments, for each file that is missing or older than its corpus."""
        tasks = (one for task in track.selected_challenge_or_default.schedule for one in task)
        laps = (one.operation.params for one in tasks if one.operation.param_source == "lap-plan")
        levels = [one for params in laps for one in read_levels(params["factor"], params["levels"])]
        forms = {parser.sent for parser in pipelines_of(levels).values()}
        for corpus in track.corpora:
            for documents in corpus.documents:
                for folder in loader.data_dir(self.cfg, track.name, corpus.name):
                    path = Path(folder) / documents.document_file
                    for form in sorted(forms):
                        if path.is_file() and not _is_ready(path, form):
                            yield make_raw_file, {"path": str(path), "form": form}


def make_raw_file(path: str, form: str) -> None:
    """Write a corpus's documents in that form beside it, with Rally's table of offsets.

    :raises exceptions.DataError: if a document cannot be written so.
    """
    source, target = Path(path), Path(raw_file(path, form))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    written = 0
    try:
        with source.open("rb") as documents, os.fdopen(handle, "wb") as file:
            try:
                for raw in raw_documents(documents, form):
                    file.write(raw)
                    written += 1
            except (KeyError, ValueError, AttributeError, TypeError) as error:
                lacks = f"no field {error}" if isinstance(error, KeyError) else f"what cannot be written so: {error}"
                raise exceptions.DataError(
                    f"Document {written + 1} of {path} has {lacks}, so no {form} can be made of it for a pipeline to "
                    f"parse: name levels that are sent otherwise, or another corpus."
                ) from None
        # By it the file is known to be that of this corpus.
        status = source.stat()
        os.utime(name, ns=(status.st_atime_ns, status.st_mtime_ns))
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)
    io.prepare_file_offset_table(str(target))


def _is_ready(path: Path, form: str) -> bool:
    target = Path(raw_file(str(path), form))
    if not target.is_file() or target.stat().st_mtime_ns != path.stat().st_mtime_ns:
        return False
    return io.FileOffsetTable.read_for_data_file(str(target)).is_valid()
