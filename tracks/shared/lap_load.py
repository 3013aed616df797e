"""The load of a lap: bulks sent by several clients at once through Rally's own bulk runner, and what came of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from typing import Any

import elasticsearch
from esrally.driver.runner import BulkIndex

from shared.quantiles import quantile

_TOO_MANY_REQUESTS = 429
_REASONS_KEPT = 3
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
# Enough for a look at whether the load is steady, and a line in the journal that is not all of it.
MOST_SHARES = 400


@dataclass
class Load:
    """What came of the bulks of one lap; times are those of ``time.perf_counter``, in seconds.

    :param errors: documents that were refused, all of a bulk that failed as a whole included.
    :param rejections: bulks that were refused, in whole or in part, because the node was too busy.
    :param lost_connection: a bulk got no answer, which ended the load early.
    """

    documents_sent: int = 0
    documents_acknowledged: int = 0
    bulks: int = 0
    errors: int = 0
    rejections: int = 0
    took_ms: int = 0
    first_sent: float | None = None
    last_acknowledged: float | None = None
    lost_connection: bool = False
    reasons: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    acknowledgements: list[tuple[float, int]] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """From the first bulk sent to the last one answered."""
        if self.first_sent is None or self.last_acknowledged is None:
            return None
        return self.last_acknowledged - self.first_sent

    def add_times(self, start: float, end: float) -> None:
        """Note when a bulk was sent and answered."""
        self.first_sent = start if self.first_sent is None else min(start, self.first_sent)
        self.last_acknowledged = end if self.last_acknowledged is None else max(end, self.last_acknowledged)
        self.latencies.append(end - start)

    def add_reason(self, reason: str) -> None:
        """Keep the first few different reasons for errors."""
        if reason not in self.reasons and len(self.reasons) < _REASONS_KEPT:
            self.reasons.append(reason)

    def shifted(self, by: float) -> Load:
        """The same by another clock: ``by`` seconds are added to its times. Microseconds are kept."""
        first, last = (None if at is None else round(at + by, 6) for at in (self.first_sent, self.last_acknowledged))
        return replace(
            self,
            first_sent=first,
            last_acknowledged=last,
            latencies=[round(seconds, 6) for seconds in self.latencies],
            acknowledgements=[(round(at + by, 6), documents) for at, documents in self.acknowledgements],
        )

    def add(self, other: Load) -> None:
        """Take in what another process sent at the same time, by the same clock."""
        for name in ("documents_sent", "documents_acknowledged", "bulks", "errors", "rejections", "took_ms"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.first_sent = _either(min, self.first_sent, other.first_sent)
        self.last_acknowledged = _either(max, self.last_acknowledged, other.last_acknowledged)
        self.lost_connection = self.lost_connection or other.lost_connection
        for reason in other.reasons:
            self.add_reason(reason)
        self.latencies += other.latencies
        self.acknowledgements += other.acknowledgements

    def documents_per_second(self) -> list[int]:
        """Documents acknowledged in each second since the first bulk was sent; the last second is not a whole one."""
        if self.first_sent is None or not self.acknowledgements:
            return []
        seconds = [0] * (int(max(at for at, _ in self.acknowledgements) - self.first_sent) + 1)
        for at, documents in self.acknowledgements:
            seconds[int(at - self.first_sent)] += documents
        return seconds

    def share_ms(self) -> list[int]:
        """Milliseconds that each of as many equal shares of the documents took as there are bulks, at most 400.

        The first one begins when the first bulk was sent. A share that ends inside a bulk ends at that part of the time
        since the answer before.
        """
        if self.first_sent is None or not self.documents_acknowledged:
            return []
        shares = min(len(self.acknowledgements), MOST_SHARES)
        ends = [0]
        before, at_before = 0, self.first_sent
        for at, documents in sorted(self.acknowledgements):
            while len(ends) <= shares and before + documents >= (
                wanted := self.documents_acknowledged * len(ends) / shares
            ):
                end = at_before + (at - at_before) * (wanted - before) / documents
                ends.append(round((end - self.first_sent) * 1000))
            before, at_before = before + documents, at
        return [end - begin for begin, end in pairwise(ends)]

    def latency_ms(self) -> dict[str, float | None]:
        """Milliseconds from sending a bulk to its answer."""
        figures = {name: quantile(self.latencies, share) for name, share in _QUANTILES.items()}
        figures["max"] = max(self.latencies, default=None)
        return {name: None if value is None else round(value * 1000, 2) for name, value in figures.items()}


def _either(better: Callable[[float, float], float], one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return better(one, other)


async def index_documents(
    es: Any,
    bulks: Iterator[tuple[int, bytes]],
    clients: int,
    begin: Callable[[], Awaitable[None]] | None = None,
    seconds: float | None = None,
) -> Load:
    """Send all bulks, ``clients`` of them at the same time, each client the next one as soon as the last is answered.

    Bulks are read while others are in flight, as Rally does it between the requests of its clients; the first one of
    each client is read before the clock starts.

    :param begin: waits, once those are read, until the load may begin; None to begin at once.
    :param seconds: after which no further bulk is sent; None to send all of them.
    """
    load = Load()
    waiting = chain(list(islice(bulks, clients)), bulks)
    # Without this the client would send a refused or lost bulk up to three times more and say nothing of it.
    once = es.options(max_retries=0)
    runner = BulkIndex()
    ends: float | None = None

    async def client() -> None:
        for documents, body in waiting:
            if load.lost_connection or (ends is not None and time.perf_counter() >= ends):
                return
            await _send(once, runner, documents, body, load)

    if begin is not None:
        await begin()
    if seconds is not None:
        ends = time.perf_counter() + seconds
    await asyncio.gather(*(client() for _ in range(clients)))
    return load


async def _send(es: Any, runner: Any, documents: int, body: bytes, load: Load) -> None:
    parameters = {"body": body, "action-metadata-present": True, "bulk-size": documents, "unit": "docs"}
    load.documents_sent += documents
    load.bulks += 1
    called = time.perf_counter()
    with es.new_request_context() as context:
        try:
            result = await runner(es, parameters)
        except elasticsearch.ApiError as error:
            load.errors += documents
            load.rejections += error.status_code == _TOO_MANY_REQUESTS
            load.add_reason(f"HTTP status: {error.status_code}, message: {error_text(error)}")
            result = None
        except elasticsearch.TransportError as error:
            load.errors += documents
            load.lost_connection = True
            load.add_reason(f"no answer: {error.message}")
            result = None
        times = context.ctx
        start, end = times.get("request_start", called), times.setdefault("request_end", time.perf_counter())
        times.setdefault("request_start", called)
    load.add_times(start, end)
    if result is not None:
        load.took_ms += result["took"] or 0
        load.documents_acknowledged += result["success-count"]
        load.errors += result["error-count"]
        load.acknowledgements.append((end, result["success-count"]))
        if result["error-count"]:
            load.rejections += result["max-doc-status"] == _TOO_MANY_REQUESTS
            load.add_reason(result.get("error-description", "no reason given"))


def error_text(error: elasticsearch.ApiError) -> str:
    """The body of an error on one line, which Rally's client hands over unread."""
    body = error.body
    if hasattr(body, "getvalue"):
        body = body.getvalue()
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body)
    return " ".join(text.split())[:300]
