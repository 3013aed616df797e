"""When the documents of a replay are due, and which of them go together in a bulk."""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from esrally import exceptions

from shared.corpora import documents_to_index
from shared.query_log import RecordedQuery
from shared.replay_times import SECOND, Times, read_time, time_text, times_of

# Rally's test mode is to show that all works: so many seconds and queries are enough.
_TEST_SECONDS = 5.0
_TEST_QUERIES = 100


@dataclass(frozen=True)
class Archive:
    """The documents that a replay sends.

    :param path: the file of the corpus, and ``times`` its documents in order, from which those from position ``first``
        up to ``end`` are sent.
    :param origin: what the recorded clock shows when the replay begins, and ``last`` when it ends, in microseconds
        since 1970 UTC.
    :param factor: recorded seconds in one second of the replay.
    :param test_mode: whether Rally has left only a few documents, to see that everything works.
    """

    path: Path
    times: Times
    first: int
    end: int
    origin: int
    last: int
    factor: float
    test_mode: bool = False

    @property
    def documents(self) -> int:
        """How many are sent."""
        return self.end - self.first

    def due(self) -> array[float]:
        """When each document is due, in seconds since the replay began.

        Where no time is finer than a second, the documents of a second are spread evenly over it: a log that says no
        more does not say that all of them came at its first moment.
        """
        when, rate = self.times.when, self.factor * SECOND
        if not self.times.whole_seconds:
            return array("d", ((when[position] - self.origin) / rate for position in range(self.first, self.end)))
        due, at = array("d"), self.first
        while at < self.end:
            following = min(bisect_left(when, when[at] + 1, at), self.end)
            same, begin = following - at, when[at] - self.origin
            due.extend((begin + SECOND * number / same) / rate for number in range(same))
            at = following
        return due

    def seconds_of(self, at: int) -> float:
        """When something is due that was recorded at this time, in microseconds since 1970 UTC."""
        return (at - self.origin) / (self.factor * SECOND)


def archive_of(track: Any, params: Mapping[str, Any]) -> Archive:
    """The archive that the parameters of an operation choose from the track's corpus, whose file is there.

    Parameters: ``factor``; ``since`` and ``until`` (texts of times, or None); those of
    :func:`shared.corpora.documents_to_index`, which say how many documents from the file's beginning on are meant.

    :raises exceptions.InvalidSyntax: if the parameters cannot be meant, or choose no document.
    :raises exceptions.DataError: if the file has no times.
    """
    factor, since, until = check_replay(params)
    one = the_file(track)
    path, available = Path(one.document_file), one.number_of_documents
    times = _beginning(times_of(path, available), documents_to_index(available, params))
    first, end = times.span(since, until)
    if first == end:
        begin, close = params["since"] or "its beginning", params["until"] or "its end"
        raise exceptions.InvalidSyntax(
            f"No document of {path.name} is from {begin} to {close}: its times are from {time_text(times.when[0])} to "
            f"{time_text(times.when[-1])}, so set replay_from and replay_until to others, or leave them out."
        )
    origin = times.when[first] if since is None else since
    last = times.when[end - 1] + (SECOND - 1 if times.whole_seconds else 0)
    last = last if until is None else until
    test_mode = available < params["corpus-documents"]
    if test_mode:
        factor = max(factor, (last - origin) / SECOND / _TEST_SECONDS)
    return Archive(path, times, first, end, origin, last, factor, test_mode)


def check_replay(params: Mapping[str, Any]) -> tuple[float, int | None, int | None]:
    """The factor and the bounds, in microseconds since 1970 UTC, as far as they can be checked without the documents.

    :raises exceptions.InvalidSyntax: if they cannot be meant.
    """
    factor = params["factor"]
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor < math.inf:
        raise exceptions.InvalidSyntax(
            f"replay_factor must be above 0, but is {factor!r}: 60 replays an hour in a minute."
        )
    bounds = []
    for name in ("since", "until"):
        text = params[name]
        at = None if text is None else read_time(str(text))
        if text is not None and at is None:
            parameter = "replay_from" if name == "since" else "replay_until"
            raise exceptions.InvalidSyntax(f"{parameter} must be a time such as 2026-01-05T20:00:00Z, but is '{text}'.")
        bounds.append(at)
    since, until = bounds
    if since is not None and until is not None and since >= until:
        raise exceptions.InvalidSyntax(
            f"replay_from ({params['since']}) must be before replay_until ({params['until']})."
        )
    return float(factor), since, until


def the_file(track: Any) -> Any:
    """The only file of documents of the track.

    :raises exceptions.InvalidSyntax: if there are several, which have no order among themselves.
    """
    files = [documents for corpus in track.corpora for documents in corpus.documents]
    if len(files) != 1:
        raise exceptions.InvalidSyntax(
            f"The track '{track.name}' has {len(files)} files of documents, and a replay takes one: put them together."
        )
    return files[0]


def target_of(track: Any) -> tuple[str, bytes]:
    """Where the documents go, and the line that stands before each of them in a bulk.

    A data stream takes nothing but "create".
    """
    streams = list(getattr(track, "data_streams", ()) or ())
    name = streams[0].name if streams else track.indices[0].name
    action = json.dumps({"create" if streams else "index": {"_index": name}}, separators=(",", ":"))
    return name, f"{action}\n".encode()


def bulk_beginnings(due: array[float], most: int, per_second: float) -> array[int]:
    """The positions at which bulks begin, and behind the last of them where it ends.

    A bulk has the documents of one part of a second, at most so many of them.

    :param due: ascending, in seconds.
    :param per_second: how many parts a second has.
    """
    beginnings, at = array("q", [0]), 0
    while at < len(due):
        part = math.floor(due[at] * per_second)
        at = max(bisect_left(due, (part + 1) / per_second, at, min(at + most, len(due))), at + 1)
        beginnings.append(at)
    return beginnings


def queries_within(archive: Archive, queries: tuple[RecordedQuery, ...]) -> tuple[RecordedQuery, ...]:
    """Those that were asked while the archive was written; the others have nothing to do with it.

    The few documents of Rally's test mode are another time: there some queries are asked whenever they were recorded.

    :raises exceptions.InvalidSyntax: if there is none.
    """
    if archive.test_mode:
        return tuple(
            replace(query, at=min(max(query.at, archive.origin), archive.last)) for query in queries[:_TEST_QUERIES]
        )
    found = tuple(query for query in queries if archive.origin <= query.at <= archive.last)
    if not found:
        raise exceptions.InvalidSyntax(
            f"None of the {len(queries)} queries of the query log was asked while the documents were logged: the "
            f"queries "
            f"are from {time_text(queries[0].at)} to {time_text(queries[-1].at)}, and the documents from "
            f"{time_text(archive.origin)} to {time_text(archive.last)}. Check the zones of both, and whether the "
            f"corpus "
            f"was imported with --shift-to-now."
        )
    return found


def _beginning(times: Times, count: int) -> Times:
    """The times of the file's first ``count`` documents."""
    if count >= len(times.when):
        return times
    limit = sorted(times.begins)[count]
    kept = [position for position, begin in enumerate(times.begins) if begin < limit]
    when, begins, lengths = (
        array("q", map(old.__getitem__, kept)) for old in (times.when, times.begins, times.lengths)
    )
    return Times(when, begins, lengths, times.without, times.disordered, times.whole_seconds)
