"""A disk that becomes full: documents are sent until none is taken, space is freed, all acknowledged are looked for.

Everything is one operation, so that the cluster's settings are put back whatever happens. What is in the way at first
and deleted later is ballast, an index of the tracks' own with a part on every node: as an administrator would do.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import elasticsearch
from esrally import exceptions

from shared.corpora import documents_to_index
from shared.index_runners import FreshIndex, TracksIndex
from shared.load_journal import append
from shared.ownership import SomebodyElses, delete_own, is_ours, marked
from shared.paced_documents import checked_journal
from shared.replay_plan import the_file
from shared.request_contexts import unmeasured
from shared.restore_proof import FAILED_PROOFS

_DISK = "cluster.routing.allocation.disk.watermark."
_POLL = {"cluster.info.update.interval": "10s"}  # how often nodes look at their disks; 30 s by default
# Of a file system that is small, so that the flood stage comes before the last byte does.
_SHARES = {f"{_DISK}low": "60%", f"{_DISK}high": "70%", f"{_DISK}flood_stage": "80%"}
# Of the smallest file system of a data path. Without it even a disk that was full is below the high watermark.
_BALLAST_SHARE = 0.4
_LARGEST_DISK = 16 * 2**30
_BALLAST_BYTES = 48 * 1024  # of random bytes in a document, which compress no further
_BETWEEN_TRIES = 0.5  # seconds
_LOOKED_FOR = 2000  # acknowledged documents in one request
_HOPELESS = 400  # of HTTP: the document is not as the mapping has it, and never will be
_BULK_WAIT = "5s"  # how long a bulk waits for a shard that is not there


@dataclass
class Refusals:
    """What the client sees of one kind: status and the error's words.

    :param first: seconds since the load began, as ``last``.
    """

    status: int
    kind: str
    reason: str
    documents: int = 0
    first: float = 0.0
    last: float = 0.0


@dataclass
class Seen:
    """What has happened so far; times in seconds since the load began.

    :param acknowledged: numbers of documents, which are their ids.
    :param last_taken: when a document was acknowledged last.
    :param hopeless: numbers of documents that no node will ever take, and no shipper sends again.
    """

    began: float = field(default_factory=time.perf_counter)
    acknowledged: set[int] = field(default_factory=set)
    refusals: dict[tuple[int, str], Refusals] = field(default_factory=dict)
    first_refusal: float | None = None
    before_refusal: int | None = None
    last_taken: float = 0.0
    hopeless: set[int] = field(default_factory=set)

    @property
    def now(self) -> float:
        """Seconds since the load began."""
        return time.perf_counter() - self.began

    def given_up(self, patience: float) -> bool:
        """Whether the load has stopped: nothing was taken for so long, or only now and then for eight times that.

        Merges make room, so a node may take a few documents again and again before its disk is full for good.
        """
        began = self.now if self.first_refusal is None else self.first_refusal
        return self.now - self.last_taken > patience or self.now - began > 8 * patience

    def refused(self, status: int, kind: str, reason: str, documents: int) -> None:
        """Note documents that were not taken."""
        if self.first_refusal is None:
            self.first_refusal, self.before_refusal = self.now, len(self.acknowledged)
        one = self.refusals.setdefault((status, kind), Refusals(status, kind, reason, first=self.now))
        one.documents, one.last = one.documents + documents, self.now


class FullDiskPlan(TracksIndex):
    """What is sent, and where to.

    Parameters: ``index``; ``room`` (a size that may be written before the flood stage, where no file system has a limit
    of its own; None where it has); ``patience`` (seconds without an acknowledged document that are a stop; for
    documents to be taken again four times that is waited); ``throughput`` (docs/s; None for as fast as it goes);
    ``bulk-size``; ``bulk-clients``; ``failed-proof`` ("abort": a proof that fails ends the race; "report": the
    journal alone tells); ``journal``; those of :func:`shared.corpora.documents_to_index`.
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        self.track, self.journal = track, checked_journal(params.get("journal"))
        self.source = the_file(track)
        self.documents = documents_to_index(self.source.number_of_documents, params)
        if params["failed-proof"] not in FAILED_PROOFS:
            raise exceptions.InvalidSyntax(f"failed_proof must be {' or '.join(FAILED_PROOFS)}.")
        self.room = None if params["room"] is None else size_in_bytes(params["room"])

    def params(self) -> dict[str, Any]:
        """The parameters of the one call."""
        return {**super().params(), "plan": self}

    def bulks(self, size: int) -> Iterator[dict[int, bytes]]:
        """All documents by their numbers, bulk by bulk."""
        step = 2 if self.source.includes_action_and_meta_data else 1
        with Path(self.source.document_file).open("rb") as file:
            lines = enumerate(itertools.islice(file, step - 1, self.documents * step, step))
            while bulk := dict(itertools.islice(lines, size)):
                yield bulk


class FullDisk:
    """Fills a disk and sees what comes of it. Parameters: those of :class:`FullDiskPlan`."""

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Do it once.

        :raises exceptions.RallyTaskAssertionError: if an acknowledged document is not in the index afterwards, and
            ``failed-proof`` is "abort".
        :raises SomebodyElses: if the cluster has indices that are not the tracks': a full disk would stop them, too.
        """
        plan: FullDiskPlan = params["plan"]
        ballast = f"{params['index']}-ballast"
        await _refuse_other_indices(es)
        known = (await es.cluster.get_settings(flat_settings=True))["persistent"]
        before = {name: known.get(name) for name in (*_SHARES, *_POLL)}
        try:
            await delete_own(es, params["index"])
            room = await _prepare(es, params, ballast)
            await FreshIndex()(es, params)
            seen = Seen()
            told = await _fill(es, params, plan, seen)
            told |= {"kind": "full-disk", "room": room, "disks": await _disks(es)}
            told |= await _recover(es, params, ballast, seen, told)
            told |= await _proof(es, params["index"], seen)
        finally:
            with unmeasured(es):
                with suppress(elasticsearch.ApiError, elasticsearch.TransportError):
                    await es.cluster.put_settings(persistent=before)
                with suppress(elasticsearch.ApiError, elasticsearch.TransportError, SomebodyElses):
                    await delete_own(es, ballast)
        if plan.journal is not None:
            append(plan.journal, told)
        lost = max(told["lost"], len(seen.acknowledged) - (told["counted"] or 0))
        if (lost or told["counted"] is None) and params["failed-proof"] == "abort":
            raise exceptions.RallyTaskAssertionError(
                f"{lost} of {len(seen.acknowledged)} acknowledged documents are not in the index '{params['index']}' "
                f"at the end{', or could not be looked for' if told['counted'] is None else ''}."
            )
        return {"weight": len(seen.acknowledged), "unit": "docs", "success": True}

    def __repr__(self) -> str:
        return "full-disk"


def size_in_bytes(size: str | int) -> int:
    """A size as Elasticsearch writes it, "500mb"; raises exceptions.InvalidSyntax if it is none."""
    match = re.fullmatch(r"([1-9][0-9]*)(b|kb|mb|gb)?", str(size).lower())
    if not match:
        raise exceptions.InvalidSyntax(f"full_disk_room must be a size such as 500mb, but is {size!r}.")
    return int(match[1]) * 1024 ** ("b", "kb", "mb", "gb").index(match[2] or "b")


async def _refuse_other_indices(es: Any) -> None:
    found = await es.indices.get_mapping(index="*", expand_wildcards="open,closed")
    others = [name for name, one in found.items() if not is_ours(one.get("mappings"))]
    if others:
        raise SomebodyElses(
            f"The index '{others[0]}' is in the cluster, and no race of these tracks has made it: a full disk makes "
            "all indices of a node read-only, so the challenge full-disk takes a cluster without any. Nothing was "
            "changed."
        )


async def _prepare(es: Any, params: Mapping[str, Any], ballast: str) -> int | None:
    """Ballast on every node, and watermarks; returns the bytes up to the flood stage, if those were asked for."""
    await delete_own(es, ballast)
    room = params["plan"].room
    # A disk that others share may be nearly full already, and nothing would be allocated.
    marks = dict(zip(_SHARES, ("3b", "2b", "1b"), strict=True)) if room else _SHARES
    await es.cluster.put_settings(persistent={**marks, **_POLL})
    paths = [path for node in await _file_systems(es) for path in node]
    if not paths:
        raise exceptions.RallyTaskAssertionError("No node tells the size of its disk, so no disk can be filled.")
    smallest, free = min(total for total, _ in paths), min(free for _, free in paths)
    if room is None and smallest > _LARGEST_DISK:
        raise exceptions.RallyTaskAssertionError(
            f"The smallest disk of a node has {smallest >> 30} GiB, which is too much to fill: give nodes a file "
            f"system of their own, with the car variable data_size, or say with full_disk_room how much may be filled."
        )
    if room and free <= 2 * room:
        raise exceptions.RallyTaskAssertionError(
            f"full_disk_room is {room} bytes, of which twice are filled, and no more than {free} are free: make it "
            f"smaller."
        )
    wanted = room or int(smallest * _BALLAST_SHARE)
    nodes = len(await _file_systems(es))
    settings = {
        "index.number_of_shards": nodes,
        "index.number_of_replicas": 0,
        "index.routing.allocation.total_shards_per_node": 1,
    }
    # Nothing of it is indexed: it is there to take room.
    mappings = marked({"dynamic": "strict", "properties": {"ballast": {"type": "object", "enabled": False}}})
    await es.indices.create(index=ballast, settings=settings, mappings=mappings)
    for _ in range(max(wanted * nodes // (_BALLAST_BYTES * 4 // 3) // 20, 1)):
        texts = [base64.b64encode(os.urandom(_BALLAST_BYTES)).decode() for _ in range(20)]
        operations = [line for one in texts for line in ({"index": {}}, {"ballast": {"is": one}})]
        answer = await es.options(request_timeout=60).bulk(index=ballast, operations=operations, timeout=_BULK_WAIT)
        if answer.get("errors"):
            reason = next(one["index"]["error"]["reason"] for one in answer["items"] if "error" in one["index"])
            raise exceptions.RallyTaskAssertionError(
                f"The index '{ballast}', which is to take room on every node, takes no documents: {reason}"
            )
    # Its translog goes, too.
    await es.options(request_timeout=60).indices.forcemerge(index=ballast, flush=True)
    if room:
        free = min(free for node in await _file_systems(es) for _, free in node)
        if free <= room:
            raise exceptions.RallyTaskAssertionError(
                f"full_disk_room is {room} bytes, but no more than {free} are free: make it smaller."
            )
        # By deleting the ballast, as large as the room, the disk has to come back above the high one.
        sizes = (free - room // 2, free - room * 3 // 4, free - room)
        await es.cluster.put_settings(persistent={name: f"{size}b" for name, size in zip(_SHARES, sizes, strict=True)})
    return int(room) if room else None


async def _file_systems(es: Any) -> list[list[tuple[int, int]]]:
    """Of each node with data its data paths: bytes in all, and available."""
    stats = await es.nodes.stats(node_id="data:true", metric="fs")
    return [
        [(path["total_in_bytes"], path["available_in_bytes"]) for path in node["fs"]["data"]]
        for node in stats["nodes"].values()
    ]


async def _disks(es: Any) -> list[dict[str, int]]:
    """How full each node's disk is."""
    return [
        {"total": sum(total for total, _ in node), "available": sum(free for _, free in node)}
        for node in await _file_systems(es)
    ]


async def _fill(es: Any, params: Mapping[str, Any], plan: FullDiskPlan, seen: Seen) -> dict[str, Any]:
    """Send everything, or until nothing has been taken for too long; what is refused is sent again, as shippers do."""
    bulks, stopped = plan.bulks(params["bulk-size"]), asyncio.Event()
    rate = params["throughput"]
    sent = 0

    async def client() -> None:
        nonlocal sent
        for bulk in bulks:
            if rate:
                due = sent / rate
                sent += len(bulk)
                await asyncio.sleep(max(due - seen.now, 0))
            left = await _send(es, params["index"], bulk, seen)
            while left and not stopped.is_set():
                if seen.given_up(params["patience"]):
                    stopped.set()
                    return
                await asyncio.sleep(_BETWEEN_TRIES)
                left = await _send(es, params["index"], left, seen)
            if stopped.is_set():
                return

    await asyncio.gather(*(client() for _ in range(params["bulk-clients"])))
    return {
        "offered": plan.documents,
        "taken": len(seen.acknowledged),
        "stopped": stopped.is_set(),
        "first_refusal": None if seen.first_refusal is None else round(seen.first_refusal, 3),
        "taken_before_refusal": seen.before_refusal,
        "last_taken": round(seen.last_taken, 3),
        "seconds": round(seen.now, 3),
    }


async def _send(es: Any, index: str, bulk: Mapping[int, bytes], seen: Seen) -> dict[int, bytes]:
    """Send a bulk; returns what was not taken, and may be. Ids make it harmless to send a document twice."""
    lines = b"".join(b'{"index":{"_id":"%d"}}\n%s' % one for one in bulk.items())
    try:
        answer = await es.options(request_timeout=60, max_retries=0).bulk(index=index, body=lines, timeout=_BULK_WAIT)
    except elasticsearch.ApiError as error:
        said = error.body.get("error", {}) if isinstance(error.body, dict) else {}
        kind, reason = (said.get("type"), said.get("reason")) if isinstance(said, dict) else (None, said)
        seen.refused(error.status_code, str(kind or "error"), str(reason or error), len(bulk))
        return dict(bulk)
    except elasticsearch.TransportError as error:
        seen.refused(0, type(error).__name__, str(error), len(bulk))
        return dict(bulk)
    left = {}
    for (number, line), item in zip(bulk.items(), answer["items"], strict=True):
        result = item["index"]
        if result["status"] < 300:
            seen.acknowledged.add(number)
            seen.last_taken = seen.now
        else:
            if result["status"] == _HOPELESS:
                seen.hopeless.add(number)
            else:
                left[number] = line
            seen.refused(result["status"], result["error"]["type"], result["error"]["reason"], 1)
    return left


async def _recover(
    es: Any, params: Mapping[str, Any], ballast: str, seen: Seen, told: Mapping[str, Any]
) -> dict[str, Any]:
    """Delete the ballast, and send until a document is taken; half of the patience later ask for shards anew."""
    refusals = [
        vars(one) | {"first": round(one.first, 3), "last": round(one.last, 3)} for one in seen.refusals.values()
    ]
    found: dict[str, Any] = {"refusals": refusals, "recovery": None, "recovered_by": None, "freed": False}
    if not told["stopped"]:
        return found
    before, taken = seen.now, len(seen.acknowledged)
    patience, by = 4 * params["patience"], "itself"
    while not found["freed"]:
        try:
            await delete_own(es, ballast)
            found["freed"] = True
        except (elasticsearch.ApiError, elasticsearch.TransportError):  # full to its last byte: there may be no master
            if seen.now - before > patience:
                return found
            await asyncio.sleep(_BETWEEN_TRIES)
    before = seen.now
    bulks = params["plan"].bulks(params["bulk-size"])
    done = seen.acknowledged | seen.hopeless
    missing = ({number: line for number, line in one.items() if number not in done} for one in bulks)
    left = next((one for one in missing if one), {})
    while left and seen.now - before < patience:
        left = await _send(es, params["index"], left, seen)
        if len(seen.acknowledged) > taken:
            return {**found, "recovery": round(seen.now - before, 3), "recovered_by": by}
        if by == "itself" and seen.now - before > patience / 2:
            by = "a reroute with retry_failed"
            with suppress(elasticsearch.ApiError, elasticsearch.TransportError):
                await es.cluster.reroute(retry_failed=True)
        await asyncio.sleep(_BETWEEN_TRIES)
    return found


async def _proof(es: Any, index: str, seen: Seen) -> dict[str, Any]:
    """Count all, and look for each acknowledged document by its id; ``counted`` is None where a shard keeps silent."""
    patient, found, counted = es.options(request_timeout=600), 0, None
    numbers = iter(sorted(seen.acknowledged))
    # A shard that has failed for want of space comes back by itself; what stays away is lost.
    with suppress(elasticsearch.ApiError, elasticsearch.TransportError):
        await patient.options(ignore_status=408).cluster.health(index=index, wait_for_status="yellow", timeout="60s")
        with suppress(elasticsearch.ApiError):
            await patient.indices.refresh(index=index)
        while some := [str(one) for one in itertools.islice(numbers, _LOOKED_FOR)]:
            answer = await patient.mget(index=index, ids=some, source=False)
            found += sum(bool(one.get("found")) for one in answer["docs"])
        counted = (await patient.count(index=index))["count"]
    return {"acknowledged": len(seen.acknowledged), "counted": counted, "lost": len(seen.acknowledged) - found}
