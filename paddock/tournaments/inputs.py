"""Everything that decides what the races of a tournament do, by its checksums: it must not change before it ends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from paddock import paths
from paddock.errors import UsageError


def input_checksums(track: str, definition: Path) -> dict[str, str]:
    """SHA-256 of everything that decides what a race of the tournament does, by what it is."""
    folders = {
        f"tracks/{track}": paths.TRACKS / track,
        "tracks/shared": paths.TRACKS / "shared",
        "challenges": paths.CHALLENGES,
        "cars": paths.CARS,
    }
    sums = {str(definition): _checksum([definition])}
    for name, folder in folders.items():
        files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".md")
        sums[name] = _checksum(path for path in files if "__pycache__" not in path.parts)
    return sums


def check_unchanged(before: Mapping[str, str], now: Mapping[str, str], tournament_id: str) -> None:
    """Refuse to go on with something else than what was begun.

    :raises UsageError: with what has changed.
    """
    changed = sorted(name for name in before if before[name] != now.get(name))
    if changed:
        raise UsageError(
            f"The tournament {tournament_id} cannot go on, because {' and '.join(changed)} changed since it began: "
            f"laps before and after would not be comparable. Undo the change, or begin anew."
        )


def _checksum(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode())
        try:
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        except FileNotFoundError:
            digest.update(b"missing")
    return digest.hexdigest()
