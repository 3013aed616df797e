"""What a track is told about a corpus."""

from __future__ import annotations

from pathlib import Path

from paddock.corpora.record import CorpusRecord, track_parameters


def test_tracks_get_file_documents_and_bytes() -> None:
    """The file's name without its folder, because Rally knows the folder."""
    file = Path("/data/paddock-x/x-2000.json")
    record = CorpusRecord(file, "x", "x", "recipe", "c", 1, 2000, 700_000, 3, "s", "t", 1, {})
    assert track_parameters(record) == {
        "corpus_file": "x-2000.json",
        "corpus_documents": 2000,
        "corpus_bytes": 700_000,
    }
