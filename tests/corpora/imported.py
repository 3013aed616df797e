"""A small imported corpus for tests, without an import."""

from __future__ import annotations

from paddock.corpora.record import FROM_IMPORT, CorpusRecord, Provenance, corpus_file, finish_corpus, unfinished
from paddock.corpora.writer import CorpusWriter


def import_corpus(name: str, documents: int = 1200, track: str = "apache") -> CorpusRecord:
    """Lines of JSON under that name, in blocks of 700."""
    with unfinished(track) as temporary:
        with CorpusWriter(temporary) as writer:
            for first in range(0, documents, 700):
                lines = [b'{"message":"line %d"}\n' % number for number in range(first, min(first + 700, documents))]
                writer.write(b"".join(lines), len(lines))
            written = writer.finish()
        made = Provenance(name, track, FROM_IMPORT, details={"sources": ["access.log"], "bad_lines": 3})
        return finish_corpus(temporary, written, corpus_file(track, name, documents), made)
