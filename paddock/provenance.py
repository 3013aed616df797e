"""With which Paddock and on which corpus something was measured, in words that races and tournaments share."""

from __future__ import annotations

import os
import re
import subprocess

from paddock import __version__, paths
from paddock.corpora.record import FROM_RECIPE, CorpusRecord

CORPUS = "corpus"
_DIRTY = "-dirty"
_SHA256 = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


def paddock_version() -> str:
    """The version, with the commit where this is a checkout: "0.1.0 (commit 0123456789ab with changes)"."""
    commit = _commit()
    if not commit:
        return __version__
    changed = " with changes" if commit.endswith(_DIRTY) else ""
    return f"{__version__} (commit {commit.removesuffix(_DIRTY)}{changed})"


def corpus_text(corpus: CorpusRecord) -> str:
    """What decides what its documents are; without a comma or colon, for Rally's user tags."""
    seed = f" seed {corpus.seed}" if corpus.origin == FROM_RECIPE else ""
    return f"{corpus.origin} {corpus.name}{seed} with {corpus.documents} documents sha256 {corpus.sha256}"


def with_short_checksums(text: str) -> str:
    """The same with each SHA-256 cut to its first twelve digits."""
    return _SHA256.sub(r"\1", text)


def _commit() -> str:
    """The commit of the checkout, "-dirty" behind it if a file differs; empty if this is none, or git is missing."""
    if not (paths.PROJECT / ".git").exists():
        return ""
    words = ["git", "-C", str(paths.PROJECT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    # To ask must not take the lock that somebody's commit needs.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        told = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    except OSError:
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""
