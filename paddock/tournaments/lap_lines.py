"""Follows the file to which the lap runner adds a line per lap, while it grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class LapLines:
    """Reads a growing file of JSON lines, each line once.

    :param known: lines that were taken before, from the beginning of the file.
    """

    def __init__(self, file: Path, known: int = 0) -> None:
        self._file = file
        self._skip = known
        self._offset = 0

    def read(self) -> list[dict[str, Any]]:
        """The laps whose lines have been completed since the last call; half a line waits for its other half."""
        if not self._file.exists():
            return []
        with self._file.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        whole = text.rfind(b"\n") + 1
        self._offset += whole
        laps = []
        for line in text[:whole].splitlines():
            try:
                lap = json.loads(line)
            except ValueError:
                continue  # cut off by a crash; the lap runner has begun a new line after it
            if self._skip:
                self._skip -= 1
            else:
                laps.append(lap)
        return laps
