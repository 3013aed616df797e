"""When the documents of a corpus say that they happened: read once, put in order, and kept beside the corpus.

A log file is nearly in order, and several of them one behind the other are not. So documents are replayed by a table of
their times and places in the file. A document whose time cannot be read happened with the one before it in the file.
"""

from __future__ import annotations

import calendar
import json
import os
import re
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from esrally import exceptions
from esrally.track import loader

FIELD = "@timestamp"
SECOND = 1_000_000  # microseconds
MILLISECOND = 1_000

_ENDING = ".times"
_VERSION = 2
# What nearly every document of our corpora begins with; the rest is read as JSON.
_BEGINNING = f'{{"{FIELD}":"'.encode()
# What Elasticsearch reads as strict_date_optional_time, but for names of zones, and a space for the T.
_TIME = re.compile(
    r"(\d{4}(?:-\d\d(?:-\d\d)?)?)"
    r"(?:[T ](?:(\d\d(?::\d\d(?::\d\d)?)?)(?:[.,](\d{1,9}))?\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?)?",
    re.ASCII,
)
# Seconds since 1970 of the first and the last one that can be written with a year of four digits.
_FIRST, _LAST = calendar.timegm((1, 1, 1, 0, 0, 0)), calendar.timegm((9999, 12, 31, 23, 59, 59))


@dataclass(frozen=True)
class Times:
    """The documents of a file in the order of their times; of equal times in the order of the file.

    :param when: microseconds since 1970 UTC.
    :param begins: where each begins in the file, and ``lengths``, how long it is with its newline, in bytes.
    :param without: how many have no time that can be read.
    :param disordered: how many are older than one before them in the file.
    :param whole_seconds: whether no time is finer than a second.
    """

    when: array[int]
    begins: array[int]
    lengths: array[int]
    without: int
    disordered: int
    whole_seconds: bool

    def span(self, since: int | None, until: int | None) -> tuple[int, int]:
        """Positions of the first document at or after ``since`` and of the first one at or after ``until``."""
        first = 0 if since is None else bisect_left(self.when, since)
        return first, len(self.when) if until is None else bisect_left(self.when, until, first)

    def lines(self, file: IO[bytes], first: int, end: int) -> list[bytes]:
        """The documents at these positions as they stand in the file, newlines included."""
        found: list[bytes] = []
        at = first
        while at < end:
            # Neighbours in time are nearly always neighbours in the file, and are read at once.
            run, length = at, 0
            while run < end and self.begins[run] == self.begins[at] + length:
                length += self.lengths[run]
                run += 1
            piece, place = os.pread(file.fileno(), length, self.begins[at]), 0
            for one in range(at, run):
                found.append(piece[place : place + self.lengths[one]])
                place += self.lengths[one]
            at = run
        return found


def time_of(document: Any) -> int | None:
    """Microseconds since 1970 UTC of a document, read from its JSON; None if it has no time that can be read."""
    value = document.get(FIELD) if isinstance(document, dict) else None
    return read_time(value) if isinstance(value, str) else None


def read_time(text: str) -> int | None:
    """ISO 8601 as microseconds since 1970 UTC, which is the zone where none is given; None if it is something else."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    seconds = _seconds(f"{day}-01-01"[:10], f"{clock or '00'}:00:00"[:8])
    if seconds is None:
        return None
    if zone and zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        offset = 3600 * int(digits[:2]) + 60 * int(digits[2:])
        seconds += offset if zone[0] == "-" else -offset
    if not _FIRST <= seconds <= _LAST:
        return None
    return seconds * SECOND + int((fraction or "0")[:6].ljust(6, "0"))


def time_text(at: int) -> str:
    """Microseconds since 1970 UTC as ISO 8601, in milliseconds, as Elasticsearch keeps times."""
    moment = datetime.fromtimestamp(at // SECOND, timezone.utc)
    # Not by %Y, which writes the year 999 with three digits.
    return f"{moment.replace(tzinfo=None).isoformat()}.{at % SECOND // MILLISECOND:03d}Z"


@lru_cache(maxsize=4096)
def _seconds(day: str, clock: str) -> int | None:
    year, month, date = map(int, day.split("-"))
    hour, minute, second = map(int, clock.split(":"))
    if not (1 <= month <= 12 and 1 <= date <= calendar.monthrange(max(year, 1), month)[1] and year):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return calendar.timegm((year, month, date, hour, minute, second))


def times_of(path: Path, documents: int) -> Times:
    """The times of the first ``documents`` of a file, from the table beside it, which is made if need be.

    :raises exceptions.DataError: if the file has fewer, or not one has a time.
    """
    table = path.with_name(f"{path.name}{_ENDING}")
    kept = _kept(table, path, documents)
    if kept is None:
        kept = _read(path, documents)
        # A folder that cannot be written to costs every process some seconds, and is no reason to give up.
        with suppress(OSError):
            _keep(kept, table, path, documents)
    return kept


class ReplayTimes(loader.TrackProcessor):
    """Has the table made before a replay begins, so that no process has to do so when it should be sending."""

    def __init__(self) -> None:
        self.cfg: Any = None  # set by Rally when the processor is registered, see UnpreparedCorpora

    def on_prepare_track(self, track: Any, data_root_dir: str) -> Iterator[tuple[Callable[..., None], dict[str, Any]]]:
        """The function and its arguments; nothing unless a replay is raced whose table is missing."""
        tasks = (one for task in track.selected_challenge_or_default.schedule for one in task)
        if not any(one.operation.param_source == "replay-documents" for one in tasks):
            return
        for corpus in track.corpora:
            for documents in corpus.documents:
                for folder in loader.data_dir(self.cfg, track.name, corpus.name):
                    path = Path(folder) / documents.document_file
                    table = path.with_name(f"{path.name}{_ENDING}")
                    if path.is_file() and _kept(table, path, documents.number_of_documents) is None:
                        yield make_table, {"path": str(path), "documents": documents.number_of_documents}


def make_table(path: str, documents: int) -> None:
    """Make the table; what is wrong with the file is said when the replay looks for it."""
    with suppress(exceptions.RallyError):
        times_of(Path(path), documents)


def _read(path: Path, documents: int) -> Times:
    when, begins, lengths = array("q"), array("q"), array("q")
    without = disordered = begin = 0
    before: int | None = None
    latest: int | None = None
    fine = False
    with path.open("rb") as file:
        for line in file:
            if len(when) == documents:
                break
            found = _time_in(line)
            if found is None:
                without += 1
                found = before
            else:
                fine = fine or found % SECOND != 0
                if latest is not None and found < latest:
                    disordered += 1
                latest = found if latest is None else max(latest, found)
            before = found
            # Those at the beginning wait for the first time there is.
            when.append(_NOT_YET if found is None else found)
            begins.append(begin)
            lengths.append(len(line))
            begin += len(line)
    if len(when) < documents:
        raise exceptions.DataError(f"{path} has {len(when)} documents, and the track says {documents}: make it anew.")
    if latest is None:
        raise exceptions.DataError(
            f"No document of {path} has a time in its field {FIELD}, so nothing says when it is due: replay a corpus "
            f"with times such as 2026-01-05T20:00:00.000Z."
        )
    first = next(one for one in when if one != _NOT_YET)
    for position, one in enumerate(when):
        if one != _NOT_YET:
            break
        when[position] = first
    if disordered:
        order = sorted(range(len(when)), key=when.__getitem__)
        when, begins, lengths = (array("q", (old[one] for one in order)) for old in (when, begins, lengths))
    return Times(when, begins, lengths, without, disordered, not fine)


_NOT_YET = -(2**63)


def _time_in(line: bytes) -> int | None:
    if line.startswith(_BEGINNING):
        end = line.find(b'"', len(_BEGINNING))
        return read_time(line[len(_BEGINNING) : end].decode("utf-8", "replace"))
    try:
        return time_of(json.loads(line))
    except ValueError:
        return None


def _described(path: Path, documents: int) -> dict[str, Any]:
    status = path.stat()
    return {"version": _VERSION, "bytes": status.st_size, "modified": status.st_mtime_ns, "documents": documents}


def _kept(table: Path, path: Path, documents: int) -> Times | None:
    """The table, unless it is missing, damaged, or of another file."""
    try:
        with table.open("rb") as file:
            said = json.loads(file.readline())
            if said.pop("of") != _described(path, documents):
                return None
            columns = []
            for _ in range(3):
                column = array("q")
                column.fromfile(file, documents)
                columns.append(column)
    except (OSError, ValueError, EOFError, KeyError, AttributeError):
        return None
    return Times(*columns, **said)


def _keep(times: Times, table: Path, path: Path, documents: int) -> None:
    said = {name: getattr(times, name) for name in ("without", "disordered", "whole_seconds")}
    handle, name = tempfile.mkstemp(dir=table.parent, prefix=f".{table.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps({"of": _described(path, documents), **said}).encode() + b"\n")
            for column in (times.when, times.begins, times.lengths):
                column.tofile(file)
        Path(name).replace(table)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
