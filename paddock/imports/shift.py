"""Moving all times of written documents by one constant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from paddock.imports.shape import TIME_FIELD
from paddock.imports.times import Clock, IsoTimes

_PIECE = 8 << 20
_BEGIN = len(f'{{"{TIME_FIELD}":"')
_LENGTH = len("2026-01-05T10:00:00")


def shifted(file: Path, seconds: int) -> Iterator[tuple[bytes, int]]:
    """The documents of a file, their times ``seconds`` later, in blocks with their number of documents.

    Each document is a line that begins with its time.
    """
    clock, times = Clock(), IsoTimes()
    rest = b""
    with file.open("rb") as source:
        while piece := source.read(_PIECE):
            end = piece.rfind(b"\n") + 1
            if not end:
                rest += piece
                continue
            data = np.frombuffer(bytearray(rest + piece[:end]), np.uint8)
            rest = piece[end:]
            begins = np.concatenate(([0], np.flatnonzero(data == ord("\n"))[:-1] + 1)) + _BEGIN
            places = begins[:, None] + np.arange(_LENGTH)
            seen = data[places]
            # Consecutive documents often have the same second.
            changes = np.concatenate(([True], np.any(seen[1:] != seen[:-1], axis=1)))
            found = seen[changes].view(f"S{_LENGTH}")[:, 0].tolist()
            moved = b"".join(
                times.text(clock.milliseconds(text.decode("ascii")) + seconds * 1000)[:_LENGTH].encode("ascii")
                for text in found
            )
            data[places] = np.frombuffer(moved, np.uint8).reshape(-1, _LENGTH)[np.cumsum(changes) - 1]
            yield data.tobytes(), len(begins)
