"""The documents of a corpus as an archive of logs has them: gzipped files, one for each step in which the data grew.

They are kept beside the corpus, as Rally keeps its table of offsets, and made anew where the corpus was or where others
are asked for.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esrally import exceptions

from shared.growth import between

_SUFFIX = ".json.gz"
_LEVEL = 6  # what gzip does unless it is told otherwise
_ARCHIVES = (".gz", ".bz2", ".zst", ".zip", ".tgz")


@dataclass(frozen=True)
class ScannedFile:
    """One gzipped file.

    :param documents: in it; ``raw_bytes`` is their size before compression.
    """

    path: Path
    documents: int
    raw_bytes: int


def scanned_files(track: Any, sizes: Sequence[int], documents: int) -> list[ScannedFile]:
    """The gzipped files of the first documents, in order; made where they are not there.

    :param sizes: documents at all steps, ascending; each step is a file.
    :param documents: at this step, one of the sizes.
    :raises exceptions.RallyTaskAssertionError: if the corpus cannot be read, or nothing written beside it.
    """
    sources = [Path(one.document_file) for corpus in track.corpora for one in corpus.documents]
    for source in sources:
        if source.suffix in _ARCHIVES:
            raise exceptions.RallyTaskAssertionError(
                f"The corpus {source} is compressed, and scans take their files from the plain one: decompress it, "
                f"or name the plain file with corpus_file."
            )
    folder = sources[0].with_name(f"{sources[0].name}.scanned")
    try:
        stamp = max(source.stat().st_mtime_ns for source in sources)
        parts = {f"{first}-{last}-{stamp}": (first, last) for first, last in itertools.pairwise([0, *sizes])}
        folder.mkdir(exist_ok=True)
        there = {path.name.rpartition("-")[0]: path for path in folder.glob("*.json.gz")}
        for path in folder.iterdir():
            if path not in there.values() or path.name.rpartition("-")[0] not in parts:
                path.unlink()
        return [
            _known(there[name], last - first) if name in there else _made(folder, name, track.corpora, first, last)
            for name, (first, last) in parts.items()
            if last <= documents
        ]
    except OSError as error:
        raise exceptions.RallyTaskAssertionError(
            f"The gzipped files that are scanned cannot be made in {folder}: {error.strerror or error}."
        ) from error


def _known(path: Path, documents: int) -> ScannedFile:
    """A file that is there; the end of its name says how large its documents are."""
    return ScannedFile(path, documents, int(path.name.removesuffix(_SUFFIX).rpartition("-")[2]))


def _made(folder: Path, name: str, corpora: Sequence[Any], first: int, last: int) -> ScannedFile:
    """Written under another name first, so that no half of one is ever scanned."""
    unfinished, raw = folder / f"{name}.unfinished", 0
    with gzip.open(unfinished, "wb", compresslevel=_LEVEL) as file:
        for line in _lines(between(corpora, first, last)):
            file.write(line)
            raw += len(line)
    path = folder / f"{name}-{raw}{_SUFFIX}"
    unfinished.replace(path)
    return ScannedFile(path, last - first, raw)


def _lines(corpora: Sequence[Any]) -> Iterator[bytes]:
    """The documents, each a line."""
    for corpus in corpora:
        for documents in corpus.documents:
            step = 2 if documents.includes_action_and_meta_data else 1
            first = documents.skipped_documents * step
            with Path(documents.document_file).open("rb") as file:
                yield from itertools.islice(file, first + step - 1, first + documents.number_of_documents * step, step)
