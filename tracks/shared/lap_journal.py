"""The journal of the laps: one JSON line each, on disk before the next lap begins."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def append_lap(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line and wait until it is on disk.

    A line that a crash has cut off is ended first, so that it spoils nothing but itself.

    :raises OSError: if the file cannot be written.
    """
    line = json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n"
    new = not path.exists()
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())
    if new:
        # Without this a power cut can lose the name of a file whose contents are on disk.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
