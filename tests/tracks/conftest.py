"""Makes the tracks' own modules importable as `shared`, as Rally does, and hands out copies that may be broken."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from paddock.paths import CHALLENGES, TRACKS

if str(TRACKS) not in sys.path:
    sys.path.insert(0, str(TRACKS))


@pytest.fixture
def tracks_copy(tmp_path: Path) -> Path:
    """A copy of all tracks and challenges; returns the folder of the tracks."""
    shutil.copytree(CHALLENGES, tmp_path / "challenges")
    shutil.copytree(TRACKS, tmp_path / "tracks", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "tracks"
