"""Importing a team's own logs: files in, a corpus like any other out."""

from paddock.imports.options import ImportOptions
from paddock.imports.run import import_corpus
from paddock.imports.summary import ImportSummary

__all__ = ["ImportOptions", "ImportSummary", "import_corpus"]
