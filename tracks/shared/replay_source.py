"""Parameter sources and Rally's scheduler of a replay: what each client sends next, and when it is due.

What is due next is sent by whichever client of a process is free, so that one slow answer holds up nothing but itself.
Only where all clients are busy is something sent late; its latency counts from when it was due all the same.
"""

from __future__ import annotations

import math
import secrets
import time
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from esrally import exceptions
from esrally.track.params import ParamSource

from shared.load_journal import append
from shared.paced_documents import checked_journal
from shared.query_log import RecordedQuery, asks_of_today, at_its_time, read_query_log
from shared.replay_clock import ReplayClock
from shared.replay_plan import (
    Archive,
    archive_of,
    bulk_beginnings,
    check_replay,
    queries_within,
    target_of,
    the_file,
)
from shared.replay_times import time_text
from shared.sent_once import SEND_ONCE

SECRET = "replay-secret"  # noqa: S105 - the name of a parameter
_MOST_BINS = 240
# Rally takes a moment of 0 for "as soon as possible", and calls the service time latency then.
_AT_ONCE = 1e-9


class _ReplaySource(ParamSource):
    """What documents and queries have in common: a file, a clock, a journal, and things that are due.

    Parameters: those of :func:`shared.replay_plan.archive_of`; ``journal`` (an absolute path, or None);
    ``warmup-seconds`` (for the journal); ``replay-secret`` (from :class:`shared.lap_secret.LapSecret`).
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        check_replay(params)
        the_file(track)
        self.corpora = track.corpora  # by which Rally knows what it has to prepare
        self.index, self._action = target_of(track)
        self.journal = checked_journal(params.get("journal"))
        self.clock = ReplayClock.of(str(params.get(SECRET) or secrets.token_hex(16)))
        self._archive: Archive | None = None
        self._own: set[int] = set()
        self._clients = 1
        self._next = 0

    @property
    def archive(self) -> Archive:
        """The documents; their file is there only once Rally has prepared the track."""
        if self._archive is None:
            self._archive = archive_of(self.track, self._params)
        return self._archive

    @property
    def due(self) -> Sequence[float]:
        """When each request is due, in seconds since the replay began."""
        raise NotImplementedError

    def request(self, number: int) -> dict[str, Any]:
        """The parameters of that request."""
        raise NotImplementedError

    def line(self, number: int, meta: Mapping[str, Any]) -> dict[str, Any]:
        """What the journal says of that request, besides its times."""
        raise NotImplementedError

    def plan(self) -> dict[str, Any]:
        """What the journal says before all requests."""
        raise NotImplementedError

    def partition(self, partition_index: int, total_partitions: int) -> ReplayClient:
        """One client; Rally makes all of a process before the first of them begins."""
        self._own.add(partition_index)
        self._clients = total_partitions
        return ReplayClient(self, partition_index)

    def take(self) -> int:
        """The number of the next request of this process's clients.

        :raises StopIteration: if there is none left.
        """
        while self._next < len(self.due):
            number = self._next
            self._next += 1
            # Dealt out by turns, so that each is some process's, however the clients are shared out among those.
            if number % self._clients in self._own:
                return number
        raise StopIteration

    @property
    def percent_completed(self) -> float:
        """Share of the requests that are taken, 0 to 1."""
        return self._next / len(self.due)

    def asked(self, weights: Sequence[int]) -> dict[str, Any]:
        """How much is due in each part of the replay: the ``seconds`` of a part, and ``due``, a sum for each."""
        length = max(1, math.ceil(self.due[-1] / _MOST_BINS))
        sums = [0] * (int(self.due[-1] // length) + 1)
        for at, weight in zip(self.due, weights, strict=True):
            sums[int(at // length)] += weight
        return {"seconds": length, "due": sums}


class ReplayClient:
    """One client's share of a replay: always what is due next in its process."""

    infinite = False

    def __init__(self, source: _ReplaySource, client: int):
        self.source = source
        self.client = client
        self.number = -1

    @property
    def percent_completed(self) -> float:
        """Of all clients of the process together, 0 to 1."""
        return self.source.percent_completed

    def params(self) -> dict[str, Any]:
        """The request that the schedule has taken."""
        return self.source.request(self.number)


class ReplayDocuments(_ReplaySource):
    """Bulks of documents.

    Parameters besides: ``bulk-size`` (documents at most) and ``bulks-per-second`` (a bulk has the documents of one such
    part of a second).
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        for name in ("bulk-size", "bulks-per-second"):
            value = params[name]
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise exceptions.InvalidSyntax(f"{name} must be above 0, but is {value!r}.")
        self._documents_due: array[float] = array("d")
        self._begins: array[int] = array("q")
        self._due: list[float] = []

    def partition(self, partition_index: int, total_partitions: int) -> ReplayClient:
        """As for all; the process of the first client tells the others when the replay begins."""
        if partition_index == 0:
            self.clock.lead()
        _ = self.due  # which takes a moment, and none of those that are to come
        return super().partition(partition_index, total_partitions)

    @property
    def due(self) -> Sequence[float]:
        """A bulk is due when the last of its documents is."""
        if not self._due:
            self._documents_due = self.archive.due()
            most, parts = int(self._params["bulk-size"]), float(self._params["bulks-per-second"])
            self._begins = bulk_beginnings(self._documents_due, most, parts)
            self._due = [self._documents_due[end - 1] for end in self._begins[1:]]
        return self._due

    def request(self, number: int) -> dict[str, Any]:
        """The bulk, read from the file of the corpus."""
        first, end = self._begins[number], self._begins[number + 1]
        # Not kept open: Rally never tells a source that it is over.
        with self.archive.path.open("rb", buffering=0) as file:
            lines = self.archive.times.lines(file, self.archive.first + first, self.archive.first + end)
        body = b"".join(part for line in lines for part in (self._action, line, b"" if line.endswith(b"\n") else b"\n"))
        return {
            "body": body,
            "action-metadata-present": True,
            "bulk-size": end - first,
            "unit": "docs",
            SEND_ONCE: True,
        }

    def line(self, number: int, meta: Mapping[str, Any]) -> dict[str, Any]:
        """Its documents, those that were indexed, and when the first of them was due."""
        first, documents = self._begins[number], self._begins[number + 1] - self._begins[number]
        indexed = meta.get("success-count", documents if meta.get("success", True) else 0)
        since = round(self._documents_due[first], 6)
        return {"kind": "bulk", "documents": documents, "indexed": indexed, "first": since, "took": meta.get("took")}

    def plan(self) -> dict[str, Any]:
        """What is replayed, how fast, and what had to be decided about its times."""
        archive = self.archive
        sizes = [end - begin for begin, end in zip(self._begins, self._begins[1:], strict=False)]
        return {
            "kind": "replay",
            "from": time_text(archive.origin),
            "until": time_text(archive.last),
            "factor": archive.factor,
            "documents": archive.documents,
            "without_time": archive.times.without,
            "disordered": archive.times.disordered,
            "whole_seconds": archive.times.whole_seconds,
            "bulks": len(sizes),
            "clients": self._clients,
            "warmup_seconds": self._params["warmup-seconds"],
            "seconds": round(self.due[-1], 6),
            "asked": self.asked(sizes),
        }


class ReplayQueries(_ReplaySource):
    """The searches of a query log.

    Parameters besides: ``query-log`` (an absolute path).
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        self._recorded = read_query_log(Path(str(params["query-log"])), self.index)
        self._queries: tuple[RecordedQuery, ...] = ()
        self._due: list[float] = []

    @property
    def due(self) -> Sequence[float]:
        """When each query is due."""
        if not self._due:
            self._queries = queries_within(self.archive, self._recorded)
            self._due = [self.archive.seconds_of(query.at) for query in self._queries]
        return self._due

    def partition(self, partition_index: int, total_partitions: int) -> ReplayClient:
        """As for all."""
        _ = self.due, self.of_today  # which take a moment, and none of those that are to come
        return super().partition(partition_index, total_partitions)

    @cached_property
    def of_today(self) -> list[RecordedQuery]:
        """Those that look at today's time, because nobody could say what ``now`` in them means."""
        _ = self.due
        return [query for query in self._queries if asks_of_today(query)]

    def request(self, number: int) -> dict[str, Any]:
        """The search, as it would have been asked then."""
        query = self._queries[number]
        params = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in query.params.items()
        }
        body = at_its_time(query.body, query.at)
        return {
            "index": self.index,
            "body": body,
            "request-params": params,
            "detailed-results": True,
            SEND_ONCE: True,
        }

    def line(self, number: int, meta: Mapping[str, Any]) -> dict[str, Any]:
        """Which query it was, what it found, and what it had found and taken when it was recorded."""
        query = self._queries[number]
        recorded = {"recorded_ms": query.took_ms, "recorded_hits": query.hits}
        # Rally says 0 where nobody asked for the number.
        counted = {"track_total_hits": True, **query.params, **query.body}["track_total_hits"]
        said = {"took": meta.get("took"), "hits": None if counted in (False, "false") else meta.get("hits")}
        return {"kind": "query", "line": query.line, "name": query.name, **said, **recorded}

    def plan(self) -> dict[str, Any]:
        """How many there are, and how many are left out because they were asked at another time."""
        return {
            "kind": "replay-queries",
            "queries": len(self._queries),
            "left_out": len(self._recorded) - len(self._queries),
            "of_today": len(self.of_today),
            "clients": self._clients,
            "asked": self.asked([1] * len(self._queries)),
        }


class ReplayedDocuments(ParamSource):
    """Adds ``expected``, the number of documents that the replay sends, to the parameters of ``settle``."""

    def params(self) -> dict[str, Any]:
        """The parameters of one check."""
        return {**self._params, "expected": archive_of(self.track, self._params).documents}


class ReplaySchedule:
    """One client's schedule, for tasks with a parameter source of a replay; writes the journal."""

    def __init__(self, task: Any):
        self._task = task
        self._client: ReplayClient | None = None
        self._ready = self._due = self._sent = 0.0

    @property
    def parameter_source(self) -> ReplayClient | None:
        """Rally sets this before the load begins."""
        return self._client

    @parameter_source.setter
    def parameter_source(self, client: Any) -> None:
        if not isinstance(client, ReplayClient):
            raise exceptions.InvalidSyntax(
                f"the schedule 'replay' of the task '{self._task.name}' needs the parameter source 'replay-documents' "
                f"or 'replay-queries'."
            )
        self._client = client

    def next(self, current: float) -> float:
        """When the next request is due, in seconds since this client's task began.

        :raises StopIteration: after the last one.
        """
        client = self._known()
        if not self._ready:
            # Rally asks for the first moment right after it has started the clock from which it counts.
            self._ready = time.perf_counter()
            began = client.source.clock.began
            if client.client == 0 and client.source.journal is not None:
                append(client.source.journal, {"began": self._began_at(), **client.source.plan()})
        else:
            began = client.source.clock.began
        client.number = client.source.take()
        self._due = client.source.due[client.number]
        return max(self._due + began - self._ready, _AT_ONCE)

    def before_request(self, now: float) -> None:
        """Rally sends the request."""
        self._sent = now - self._known().source.clock.began

    def after_request(self, now: float, weight: int, unit: str, request_meta_data: dict[str, Any]) -> None:
        """Rally has the answer to it."""
        client = self._known()
        if client.source.journal is None:
            return
        meta = request_meta_data
        partial = bool(meta.get("timed_out")) or bool((meta.get("shards") or {}).get("failed"))
        append(
            client.source.journal,
            {
                "began": self._began_at(),
                "client": client.client,
                **client.source.line(client.number, meta),
                "due": round(self._due, 6),
                "sent": round(self._sent, 6),
                "answered": round(now - client.source.clock.began, 6),
                "success": bool(meta.get("success", True)) and not partial,
            },
        )

    def _began_at(self) -> float:
        return round(self._known().source.clock.began_at, 3)

    def _known(self) -> ReplayClient:
        if self._client is None:
            raise exceptions.RallyAssertionError("Rally has not told the schedule 'replay' its parameter source.")
        return self._client

    def __str__(self) -> str:
        return "replay"
