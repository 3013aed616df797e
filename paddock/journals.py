"""Journals of JSON lines: each is on disk before anything goes on, and half a last line counts as never written.

What a journal is of, a tournament or a chain, has a folder of its own, called by its id: a name and when it was made.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from paddock.errors import FileError
from paddock.files import writing

JOURNAL = "journal.jsonl"
_MADE_AT = re.compile(r"-(\d{8}-\d{6})(?:-(\d+))?$")


def new_id(folder: Path, name: str) -> str:
    """An id for what is about to begin, that nothing in the folder has."""
    base = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    number, chosen = 1, base
    while (folder / chosen).exists():
        number += 1
        chosen = f"{base}-{number}"
    return chosen


def ids_in(folder: Path) -> list[str]:
    """The ids of all that has a journal in the folder, the latest last, as their ids say."""

    def made(name: str) -> tuple[str, int, str]:
        """Date and time, and which one in that second."""
        when = _MADE_AT.search(name)
        return (when[1], int(when[2] or 1), name) if when else ("", 1, name)

    return sorted((file.parent.name for file in folder.glob(f"*/{JOURNAL}") if file.is_file()), key=made)


def append(file: Path, line: Mapping[str, Any]) -> None:
    """Add a line and wait until it is on disk.

    :raises MachineError: if the disk is full; the journal is then as it was.
    """
    new = not file.exists()
    with writing(file), file.open("ab", buffering=0) as journal:
        whole = journal.tell()
        text = (json.dumps(line, separators=(",", ":")) + "\n").encode("utf-8")
        try:
            while text:
                text = text[journal.write(text) :]
            os.fsync(journal.fileno())
        except OSError:
            os.truncate(file, whole)  # a full disk: half a line would damage the next one
            raise
    if new:
        # Without this a power cut can lose the name of a file whose contents are on disk.
        handle = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def drop_half_line(file: Path) -> None:
    """Remove a last line that a crash has cut off."""
    if file.exists():
        text = file.read_bytes()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            os.truncate(file, whole)


def read(file: Path, take: Callable[[Mapping[str, Any]], object], problem: str) -> None:
    """Hand every whole line over; nothing if there is no such file.

    :param take: raises KeyError, TypeError or ValueError for what is no line of that journal.
    :param problem: what to say of a damaged line, with what to do.
    :raises FileError: if a line is damaged; with its number.
    """
    if not file.exists():
        return
    for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
        try:
            take(json.loads(line))
        except (ValueError, KeyError, TypeError):
            raise FileError(file, problem, number) from None
