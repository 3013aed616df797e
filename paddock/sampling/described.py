"""What a cluster that is there says of itself before a race: its nodes and their machines, and how far away it is."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from paddock.files import gibibytes
from paddock.sampling.cluster import BadAnswer, Cluster, Endpoint, Unreachable

ROUND_TRIP, CLOCK = "round trip, ms", "clock ahead of ours, s"
# Small requests whose median is the round trip; one more before them opens the connection.
_REQUESTS = 9


def described(endpoint: Endpoint) -> dict[str, str]:
    """The cluster's circumstances, name -> text; without what it does not tell, or not to us.

    The clock is that of the node that differs most, to about half a round trip.
    """
    cluster = Cluster(endpoint)
    try:
        try:
            version = cluster.version().get("version")
        except Unreachable:
            return {}
        except BadAnswer:
            version = None
        version = version if isinstance(version, Mapping) else {}
        nodes = _nodes(_asked(cluster.node_information))
        found = {
            "Elasticsearch": f"{version['number']} (external)" if version.get("number") else "",
            "Lucene": str(version.get("lucene_version") or ""),
            "nodes": str(len(nodes) or ""),
            "node roles": _alike(", ".join(node.get("roles") or ()) for node in nodes),
            "node system": _alike(_of(node, "os", "pretty_name", "version") for node in nodes),
            "node processors": _alike(_of(node, "os", "allocated_processors") for node in nodes),
            "node heap": _alike(_size(node.get("jvm", {}).get("mem", {}).get("heap_max_in_bytes")) for node in nodes),
            "Java": _alike(_of(node, "jvm", "version", "vm_vendor") for node in nodes),
            ROUND_TRIP: _round_trip(cluster),
            **_disks_and_clock(cluster),
        }
    finally:
        cluster.close()
    return {name: text for name, text in found.items() if text}


def _asked(question: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return question()
    except (Unreachable, BadAnswer):
        return {}


def _nodes(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    nodes = answer.get("nodes")
    return [node for node in nodes.values() if isinstance(node, dict)] if isinstance(nodes, dict) else []


def _of(node: Mapping[str, Any], part: str, *names: str) -> str:
    told = node.get(part) or {}
    return " ".join(str(told[name]) for name in names if told.get(name))


def _size(value: Any) -> str:
    return gibibytes(int(value)) if value else ""


def _alike(texts: Iterable[str]) -> str:
    """One text where all nodes are alike; else each, with how many of them are so."""
    counted = Counter(text for text in texts if text)
    if len(counted) == 1:
        return next(iter(counted))
    return " and ".join(f"{number} x {text}" for text, number in counted.items())


def _round_trip(cluster: Cluster) -> str:
    taken = []
    try:
        cluster.version()
        for _ in range(_REQUESTS):
            began = time.perf_counter()
            cluster.version()
            taken.append(time.perf_counter() - began)
    except (Unreachable, BadAnswer):
        return ""
    return f"{statistics.median(taken) * 1000:.1f}"


def _disks_and_clock(cluster: Cluster) -> dict[str, str]:
    asked = time.time()
    nodes = _nodes(_asked(cluster.disks))
    between = (asked + time.time()) / 2
    disks = [node.get("fs", {}).get("total", {}) for node in nodes]
    ahead = [float(node["timestamp"]) / 1000 - between for node in nodes if node.get("timestamp")]
    most = max(ahead, key=abs, default=None)
    return {
        "node disk": _alike(
            f"{gibibytes(disk['total_in_bytes'])}, {gibibytes(disk['available_in_bytes'])} free"
            for disk in disks
            if disk.get("total_in_bytes") and "available_in_bytes" in disk
        ),
        # + 0: minus nothing is nothing.
        CLOCK: "" if most is None else f"{round(most, 1) + 0:.1f}",
    }
