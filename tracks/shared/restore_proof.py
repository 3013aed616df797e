"""The restore proof: every document of the archive is in the index, and reads back as it was sent.

All documents are counted, and all of them or a sample are compared. The documents have no ids of their own, because a
replay sends them as a shipper does; so they are compared by their times and by what is in them, and whatever an index
has too many is found as well as what it lacks.
"""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from esrally import exceptions
from esrally.track.params import ParamSource

from shared.load_journal import append
from shared.paced_documents import checked_journal
from shared.replay_plan import Archive, archive_of, check_replay, target_of, the_file
from shared.replay_times import FIELD, MILLISECOND, time_of, time_text
from shared.restore_differences import Differences, NothingStored, proof_sentence

PROOFS = ("all", "sample", "none")
FAILED_PROOFS = ("abort", "report")

_PAGE = 5000  # documents that are asked for at once; of the largest tracks some 25 MB
_KEPT = "5m"  # how long the node keeps what an index was like, between two pages
_ORDER = [{FIELD: {"order": "asc", "missing": "_last", "unmapped_type": "date"}}, {"_shard_doc": "asc"}]
_PATIENCE = 600  # seconds for one request
_READ_AT_ONCE = 1000
_PARTS = 500  # of the time that is counted part by part
_PARTS_SHOWN = 5
# Differing documents that are told apart; with more of them it is no matter of single documents.
_MOST_LEFT = 100_000


class ProofPlan(ParamSource):
    """What is to be proved.

    Parameters: ``proof`` ("all", "sample" or "none"), ``proof-documents`` (of a sample), ``failed-proof`` ("abort": a
    proof that fails ends the race; "report": it only stands in journal and log), ``journal``, and those of
    :func:`shared.replay_plan.archive_of`.
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        check_replay(params)
        the_file(track)
        checked_journal(params.get("journal"))
        for name, choices in (("proof", PROOFS), ("failed-proof", FAILED_PROOFS)):
            if params[name] not in choices:
                parameter = name.replace("-", "_")
                raise exceptions.InvalidSyntax(f"{parameter} must be {' or '.join(choices)}, but is {params[name]!r}.")
        number = params["proof-documents"]
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise exceptions.InvalidSyntax(f"proof_documents must be a whole number from 1 on, but is {number!r}.")

    def params(self) -> dict[str, Any]:
        """The parameters of the one call."""
        return {**self._params, "index": target_of(self.track)[0], "archive": archive_of(self.track, self._params)}


class RestoreProof:
    """Compares what is in the index with the archive; parameters from :class:`ProofPlan`.

    :param most_left: differing documents from which on it stops.
    """

    def __init__(self, most_left: int = _MOST_LEFT) -> None:
        self.logger = logging.getLogger(__name__)
        self._most_left = most_left

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Do it once.

        :raises exceptions.RallyTaskAssertionError: if anything differs and ``failed-proof`` is "abort".
        """
        index, archive, mode = params["index"], params["archive"], params["proof"]
        patient, began = es.options(request_timeout=_PATIENCE), time.perf_counter()
        # Deletions and changes by others, too, are seen only after a refresh.
        await patient.indices.refresh(index=index)
        outcome: dict[str, Any] = {"kind": "proof", "mode": mode, "documents": archive.documents}
        outcome["counted"] = (await patient.count(index=index))["count"]
        found, parts = Differences(self._most_left), []
        try:
            if mode == "all":
                await _compare_all(patient, index, archive, found)
            else:
                parts = await _count_parts(patient, index, archive)
                drawn = await _compare_sample(patient, index, archive, params["proof-documents"], found)
                outcome["sampled"], outcome["undated"] = drawn
        except NothingStored:
            outcome["nothing_stored"] = True
        outcome |= {"parts": parts, **found.told(), "seconds": round(time.perf_counter() - began, 3)}
        problem = proof_sentence(outcome, index)
        outcome |= {"passed": problem is None, "problem": problem}
        if params.get("journal") is not None:
            append(Path(params["journal"]), outcome)
        if problem is not None:
            if params["failed-proof"] == "abort":
                raise exceptions.RallyTaskAssertionError(problem)
            self.logger.error("%s", problem)
        return {"weight": 1, "unit": "ops", "success": True, "proof-passed": problem is None}

    def __repr__(self) -> str:
        return "restore-proof"


async def _compare_all(es: Any, index: str, archive: Archive, found: Differences) -> None:
    """Both in the order of their times, so that what belongs together is met nearly at the same moment."""
    sent = _in_order(archive)
    following = next(sent, None)
    async with _frozen(es, index) as point:
        async for at, identity, document in _indexed(es, point):
            # Documents without a time come last.
            moment = math.inf if at is None else at
            while following is not None and following[0] < moment and not found.too_many:
                found.sent(*following[1:])
                following = next(sent, None)
            # One for one: so few wait where the index has documents of one time in the order in which they were sent.
            if following is not None and following[0] == moment:
                found.sent(*following[1:])
                following = next(sent, None)
            # Elasticsearch may read a time that we do not; the archive has that document among those without one.
            found.read(None if time_of(document) is None else at, identity, document)
            if found.too_many:
                return
    while following is not None and not found.too_many:
        found.sent(*following[1:])
        following = next(sent, None)


def _in_order(archive: Archive) -> Iterator[tuple[float, int | None, Any]]:
    """When each document of the archive comes in the index, its milliseconds since 1970, and what was sent."""
    for at, document in _archived(archive, archive.first, archive.end):
        if at is not None:
            yield at, at, document
    if archive.times.without:
        for at, document in _archived(archive, archive.first, archive.end):
            if at is None:
                yield math.inf, None, document


async def _compare_sample(es: Any, index: str, archive: Archive, number: int, found: Differences) -> tuple[int, int]:
    """Documents at random, each with all others of its millisecond: these are what the index can be asked for.

    :returns: how many were drawn and compared, and how many were drawn and have no time by which to ask for them.
    """
    positions = range(archive.first, archive.end)
    chosen = set(random.sample(positions, min(number, len(positions))))
    undated = 0
    async with _frozen(es, index) as point:
        for moment in sorted({archive.times.when[position] // MILLISECOND for position in chosen}):
            first, end = archive.times.span(moment * MILLISECOND, (moment + 1) * MILLISECOND)
            first, end = max(first, archive.first), min(end, archive.end)
            for position, (at, document) in enumerate(_archived(archive, first, end), first):
                if at is not None:
                    found.sent(at, document)
                elif position in chosen:
                    undated += 1
            bounds = {"gte": moment, "lte": moment, "format": "epoch_millis"}
            async for at, identity, document in _indexed(es, point, {"range": {FIELD: bounds}}):
                if time_of(document) is not None:  # a time that only Elasticsearch reads is none in the archive
                    found.read(at, identity, document)
            if found.too_many:
                break
    return len(chosen) - undated, undated


def _archived(archive: Archive, first: int, end: int) -> Iterator[tuple[int | None, Any]]:
    """Milliseconds since 1970 (None without a time) and what was sent, of the documents at these positions."""
    with archive.path.open("rb") as file:
        for begin in range(first, end, _READ_AT_ONCE):
            last = min(begin + _READ_AT_ONCE, end)
            for line in archive.times.lines(file, begin, last):
                document = _parsed(line)
                at = time_of(document)
                yield None if at is None else at // MILLISECOND, document


def _parsed(line: bytes) -> Any:
    try:
        document = json.loads(line)
    except ValueError:
        document = None
    # What is no object is refused by Elasticsearch, and so will be missing.
    return document if isinstance(document, dict) else {"no JSON object": line.decode("utf-8", "replace").strip()}


@asynccontextmanager
async def _frozen(es: Any, index: str) -> AsyncIterator[dict[str, Any]]:
    """The index as it is now, for any number of searches."""
    point = {"id": (await es.open_point_in_time(index=index, keep_alive=_KEPT))["id"], "keep_alive": _KEPT}
    try:
        yield point
    finally:
        await es.close_point_in_time(id=point["id"])


async def _indexed(
    es: Any, point: dict[str, Any], query: Mapping[str, Any] | None = None
) -> AsyncIterator[tuple[int | None, str, Any]]:
    """Milliseconds since 1970 (None without a time), id, and what is read, in the order of the times.

    Page by page, each going on behind the last document of the one before it: a scroll would look at the whole index
    for every page.

    :param point: from :func:`_frozen`.
    :raises NothingStored: if the index keeps no documents.
    """
    request: dict[str, Any] = {"sort": _ORDER, "size": _PAGE, "track_total_hits": False}
    if query is not None:
        request["query"] = query
    while True:
        page = await es.search(**request, pit=point)
        point["id"], hits = page.get("pit_id", point["id"]), page["hits"]["hits"]
        for hit in hits:
            if "_source" not in hit:
                raise NothingStored
            at = hit["sort"][0]
            # Elasticsearch puts the largest of its numbers where there is none.
            yield at if isinstance(at, int) and at < 2**62 else None, hit["_id"], hit["_source"]
        if len(hits) < _PAGE:
            return
        request["search_after"] = hits[-1]["sort"]


async def _count_parts(es: Any, index: str, archive: Archive) -> list[dict[str, Any]]:
    """Parts of the time in which the index has another number of documents than the archive, the first few.

    One document too many and one too few would not show in the number of all. Where documents have no time, no part has
    all of its own, and none is counted.
    """
    if archive.times.without:
        return []
    when, milliseconds = archive.times.when, MILLISECOND
    span = (when[archive.end - 1] - when[archive.first]) // milliseconds
    length = max(1000, span // _PARTS)
    sent: dict[int, int] = {}
    for position in range(archive.first, archive.end):
        begin = when[position] // milliseconds // length * length
        sent[begin] = sent.get(begin, 0) + 1
    histogram = {"field": FIELD, "fixed_interval": f"{length}ms", "min_doc_count": 1}
    answer = await es.search(index=index, size=0, aggs={"parts": {"date_histogram": histogram}})
    read = {int(one["key"]): one["doc_count"] for one in answer["aggregations"]["parts"]["buckets"]}
    differing = [begin for begin in sorted({*sent, *read}) if sent.get(begin, 0) != read.get(begin, 0)]
    return [
        {
            "from": time_text(begin * milliseconds),
            "until": time_text((begin + length) * milliseconds),
            "sent": sent.get(begin, 0),
            "read": read.get(begin, 0),
        }
        for begin in differing[:_PARTS_SHOWN]
    ]
