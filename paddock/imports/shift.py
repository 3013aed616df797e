"""Moving all times of written documents by one constant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from paddock.imports.shape import TIME_FIELD
from paddock.imports.times import Clock, IsoTimes

_TIME = re.compile(rb'^(\{"' + TIME_FIELD.encode("ascii") + rb'":")([^"]{19})', re.MULTILINE)
_PIECE = 8 << 20


def shifted(file: Path, seconds: int) -> Iterator[tuple[bytes, int]]:
    """The documents of a file, their times ``seconds`` later, in blocks with their number of documents."""
    clock, times = Clock(), IsoTimes()
    known: dict[bytes, bytes] = {}

    def moved(found: re.Match[bytes]) -> bytes:
        second = known.get(found[2])
        if second is None:
            if len(known) > 100_000:
                known.clear()
            milliseconds = clock.milliseconds(found[2].decode("ascii")) + seconds * 1000
            second = known[found[2]] = times.text(milliseconds)[:19].encode("ascii")
        return found[1] + second

    rest = b""
    with file.open("rb") as source:
        while piece := source.read(_PIECE):
            data = rest + piece
            end = data.rfind(b"\n") + 1
            rest = data[end:]
            yield _TIME.subn(moved, data[:end])
