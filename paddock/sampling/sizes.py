"""How large the heaps and the shards of a cluster that is there are, as it says itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from paddock.advice import IndexShape
from paddock.sampling.cluster import PATIENCE, Cluster, Endpoint
from paddock.sampling.records import number_at

# The backing indices of data streams begin so; of other hidden indices nobody chooses the shards.
_BACKING = ".ds-"


@dataclass(frozen=True)
class NodeSize:
    """One node.

    :param host: the machine that it says it runs on.
    :param heap: bytes at most.
    :param memory: bytes that it may have: the machine's, or its control group's where that has a limit; 0 if unknown.
    :param is_limited: whether ``memory`` is a limit of its own, which other nodes of the machine do not share.
    :param shards: that it holds, of all indices.
    """

    name: str
    host: str
    heap: int
    memory: int
    is_limited: bool
    shards: int
    can_be_master: bool


@dataclass(frozen=True)
class ClusterSizes:
    """A cluster.

    :param indices: those that somebody has made, and those behind data streams.
    :param every: how many indices there are, hidden ones included.
    """

    version: str
    nodes: tuple[NodeSize, ...]
    indices: tuple[IndexShape, ...]
    every: int


def cluster_sizes(endpoint: Endpoint) -> ClusterSizes:
    """Ask the cluster; nothing is changed.

    :raises Unreachable, BadAnswer: if it does not answer, or not to us.
    """
    cluster = Cluster(replace(endpoint, timeout=PATIENCE))  # of many shards the answer is long
    try:
        version = cluster.version().get("version")
        number = str(version.get("number") or "") if isinstance(version, Mapping) else ""
        return sizes_of(number, cluster.memory(), cluster.shards())
    finally:
        cluster.close()


def sizes_of(version: str, memory: Mapping[str, Any], shards: Mapping[str, Any]) -> ClusterSizes:
    """The same from its answers to ``Cluster.memory`` and ``Cluster.shards``."""
    indices, held = [], dict.fromkeys(memory.get("nodes", {}), 0)
    found = shards.get("indices", {})
    for name, index in sorted(found.items()):
        copies = [copy for number in index.get("shards", {}).values() for copy in number]
        for copy in copies:
            node = copy.get("routing", {}).get("node")
            held[node] = held.get(node, 0) + 1
        primaries = [copy for copy in copies if copy.get("routing", {}).get("primary")]
        if primaries and (not name.startswith(".") or name.startswith(_BACKING)):
            bytes_each = tuple(number_at(copy, "store.size_in_bytes") for copy in primaries)
            indices.append(IndexShape(name, bytes_each, tuple(number_at(copy, "docs.count") for copy in primaries)))
    nodes = tuple(_node(node_id, value, held[node_id]) for node_id, value in memory.get("nodes", {}).items())
    return ClusterSizes(version, tuple(sorted(nodes, key=lambda one: one.name)), tuple(indices), len(found))


def _node(node_id: str, value: Mapping[str, Any], shards: int) -> NodeSize:
    total = number_at(value, "os.mem.total_in_bytes")
    told = value.get("os", {}).get("cgroup", {}).get("memory", {}).get("limit_in_bytes")
    # Version 1 writes "no limit" as a number beyond any memory. A JVM that knows of a limit tells it as the total.
    limit = int(told) if str(told or "").isdigit() and int(told) < 2**60 else None
    return NodeSize(
        name=str(value.get("name", node_id)),
        host=str(value.get("host", node_id)),
        heap=number_at(value, "jvm.mem.heap_max_in_bytes"),
        memory=min(total or limit or 0, limit or total),
        is_limited=limit is not None and limit <= total,
        shards=shards,
        can_be_master="master" in value.get("roles", ()),
    )
