"""What a track has to be told about a corpus."""

from __future__ import annotations

from paddock.corpora.record import CorpusRecord


def track_parameters(record: CorpusRecord) -> dict[str, str | int]:
    """The track parameters that make a track read this corpus."""
    return {
        "corpus_file": record.file.name,
        "corpus_documents": record.documents,
        "corpus_bytes": record.bytes,
    }
