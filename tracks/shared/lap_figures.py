"""What the nodes and the index say about a lap: processor time, garbage collection, rejections, size, merges."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

_WAITING_STEP = 0.1
_NODE_METRICS = "process,jvm,thread_pool,indexing_pressure"
# A node notes the time of its answer before it looks at itself, or shortly after.
_CLOCK_STEP_MS = 50
# One merge may follow another; between them none is running for a moment.
_QUIET_POLLS = 2
# Set by Elasticsearch itself when an index is created.
_NOT_SETTINGS = ("index.creation_date", "index.uuid", "index.provided_name", "index.version.created")


async def node_figures(es: Any) -> dict[str, int]:
    """Totals since the nodes started, all nodes together; times in milliseconds.

    Nodes answer with processor times that are up to a second old. Asked for the first time in more than a second, they
    look anew; otherwise this waits until they do, so that nothing done before is left out.
    """
    answer = await es.nodes.stats(metric=_NODE_METRICS)
    asked_at = {name: node["timestamp"] for name, node in answer["nodes"].items()}
    while not _looked_since(asked_at, answer["nodes"]):
        await asyncio.sleep(_WAITING_STEP)
        answer = await es.nodes.stats(metric=_NODE_METRICS)
    return _totals(answer["nodes"])


async def last_node_figures(es: Any) -> dict[str, int]:
    """The same without waiting: for a moment before which the nodes had nothing to do, right after looking."""
    return _totals((await es.nodes.stats(metric=_NODE_METRICS))["nodes"])


def _looked_since(asked_at: dict[str, int], nodes: dict[str, Any]) -> bool:
    """Whether the figures of all nodes are from the time of the first question on, each by its own clock."""
    return all(
        min(node["process"]["timestamp"], node["jvm"]["timestamp"]) >= asked_at.get(name, 0) - _CLOCK_STEP_MS
        for name, node in nodes.items()
    )


def _totals(nodes: dict[str, Any]) -> dict[str, int]:
    totals = {"cpu_ms": 0, "gc_ms": 0, "rejections": 0}
    for node in nodes.values():
        totals["cpu_ms"] += node["process"]["cpu"]["total_in_millis"]
        # ZGC tells of its cycles, too, in which the node goes on working: what stands still are its pauses.
        collectors = node["jvm"]["gc"]["collectors"].items()
        totals["gc_ms"] += sum(one["collection_time_in_millis"] for name, one in collectors if "Cycles" not in name)
        totals["rejections"] += node["thread_pool"].get("write", {}).get("rejected", 0)
        pressure = node.get("indexing_pressure", {}).get("memory", {}).get("total", {})
        totals["rejections"] += sum(pressure.get(f"{stage}_rejections", 0) for stage in ("coordinating", "primary"))
    return totals


async def index_figures(es: Any, index: str) -> dict[str, int]:
    """Sizes in bytes, numbers and milliseconds of one index, replicas included; to be asked after a refresh."""
    answer = await es.indices.stats(index=index, metric="segments,merge,refresh,flush,translog")
    total = answer["_all"]["total"]
    return {
        "store_bytes": _segment_bytes(await es.indices.segments(index=index)),
        "translog_bytes": total["translog"]["size_in_bytes"],
        "segments": total["segments"]["count"],
        "merges": total["merges"]["total"],
        "merge_ms": total["merges"]["total_time_in_millis"],
        "merge_bytes": total["merges"]["total_size_in_bytes"],
        "merge_throttled_ms": total["merges"]["total_throttled_time_in_millis"],
        "refreshes": total["refresh"]["total"],
        "refresh_ms": total["refresh"]["total_time_in_millis"],
        "flushes": total["flush"]["total"],
        "flush_ms": total["flush"]["total_time_in_millis"],
    }


# What of the figures of an index is as it is; the rest has been counted since the index was made.
_STATES = ("store_bytes", "translog_bytes", "segments")


def figures_since(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The figures of an index that is not fresh: its size as it is, and what was counted between two looks."""
    return {name: value if name in _STATES else value - before[name] for name, value in after.items()}


async def index_actions(es: Any, index: str) -> dict[str, int]:
    """How often the primary shards of an index have been refreshed, flushed and merged so far."""
    answer = await es.indices.stats(index=index, metric="refresh,flush,merge")
    primaries = answer["_all"]["primaries"]
    return {
        "refreshes": primaries["refresh"]["total"],
        "flushes": primaries["flush"]["total"],
        "merges": primaries["merges"]["total"],
    }


def _segment_bytes(answer: dict[str, Any]) -> int:
    """The size of all segments of all copies: that under "store" in the statistics may be 10 s old."""
    return sum(
        int(segment["size_in_bytes"])
        for index in answer["indices"].values()
        for copies in index["shards"].values()
        for copy in copies
        for segment in copy["segments"].values()
    )


async def settings_in_force(es: Any, index: str) -> dict[str, str | list[str]]:
    """The settings of an index as the node has them, by full names: texts, or lists of texts as index.sort.field is."""
    answer = await es.indices.get_settings(index=index, flat_settings=True)
    settings = answer[index]["settings"]
    return {name: value for name, value in sorted(settings.items()) if name not in _NOT_SETTINGS}


async def wait_for_merges(es: Any, index: str, timeout: float) -> float | None:
    """Wait until no merge of an index runs any more.

    :param timeout: seconds.
    :returns: the seconds that it took; None if the time was over first.
    """
    started = time.monotonic()
    quiet = 0
    while True:
        answer = await es.indices.stats(index=index, metric="merge")
        quiet = quiet + 1 if answer["_all"]["total"]["merges"]["current"] == 0 else 0
        waited = time.monotonic() - started
        if quiet == _QUIET_POLLS:
            return waited
        if waited > timeout:
            return None
        await asyncio.sleep(_WAITING_STEP)
