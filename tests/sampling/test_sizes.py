"""How large a cluster's heaps and shards are, from its answers, and what the doctor says of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddock.command_line.doctor import CARE, GOOD, examine_cluster, findings_of
from paddock.errors import MachineError
from paddock.sampling import ClusterSizes, NodeSize, cluster_sizes
from paddock.sampling.cluster import Endpoint
from paddock.sampling.sizes import sizes_of
from tests.command_line import one_sentence, run_here
from tests.sampling.fake_elasticsearch import FakeElasticsearch

GIB = 2**30


def node(name: str = "a", heap: float = 4, memory: float = 16, **changes: Any) -> dict[str, Any]:
    """A node as Elasticsearch tells of it."""
    told = {
        "name": name,
        "host": "10.0.0.1",
        "roles": ["data", "master"],
        "jvm": {"mem": {"heap_max_in_bytes": int(heap * GIB)}},
        "os": {"mem": {"total_in_bytes": int(memory * GIB)}},
    }
    return {**told, **changes}


def copy(node_id: str, gibibytes: float, primary: bool = True, documents: int = 10) -> dict[str, Any]:
    """One copy of a shard."""
    return {
        "routing": {"primary": primary, "node": node_id},
        "store": {"size_in_bytes": int(gibibytes * GIB)},
        "docs": {"count": documents},
    }


MEMORY = {"nodes": {"n1": node("a"), "n2": node("b")}}
SHARDS = {
    "indices": {
        "logs": {"shards": {"0": [copy("n1", 20), copy("n2", 20, False)], "1": [copy("n2", 30)]}},
        ".ds-app-2026.11.22-000001": {"shards": {"0": [copy("n1", 12)]}},
        ".kibana": {"shards": {"0": [copy("n1", 0.001)]}},
    }
}


def test_sizes_are_those_of_primaries_and_shards_those_of_all_copies() -> None:
    """Replicas count as shards of their node and not as data; indices of Elastic's own count for the nodes alone."""
    sizes = sizes_of("9.2.4", MEMORY, SHARDS)
    assert {one.name: one.sizes for one in sizes.indices} == {
        "logs": (20 * GIB, 30 * GIB),
        ".ds-app-2026.11.22-000001": (12 * GIB,),
    }
    assert {one.name: one.shards for one in sizes.nodes} == {"a": 3, "b": 2}
    assert sizes.every == 3
    assert sizes_of("", {}, {}) == ClusterSizes("", (), (), 0)


@pytest.mark.parametrize(
    ("limit", "memory", "is_limited"),
    [
        (None, 16, False),
        ("9223372036854771712", 16, False),
        ("max", 16, False),
        (str(8 * GIB), 8, True),
        (str(16 * GIB), 16, True),
        (str(64 * GIB), 16, False),
    ],
)
def test_a_limit_of_a_control_group_is_the_memory(limit: str | None, memory: int, is_limited: bool) -> None:
    """Where it is lower than the machine's; a JVM that knows of it tells it as the machine's."""
    os = {"mem": {"total_in_bytes": 16 * GIB}, "cgroup": {"memory": {"limit_in_bytes": limit}}}
    (found,) = sizes_of("", {"nodes": {"n1": node(os=os)}}, {}).nodes
    assert (found.memory, found.is_limited) == (memory * GIB, is_limited)


def a_cluster(*nodes: NodeSize) -> ClusterSizes:
    """A cluster without an index."""
    return ClusterSizes("9.2.4", nodes, (), 0)


def size(
    name: str, heap: float, memory: float = 16, host: str = "h", limited: bool = False, shards: int = 1
) -> NodeSize:
    """A node."""
    return NodeSize(name, host, int(heap * GIB), int(memory * GIB), limited, shards, True)


def told(cluster: ClusterSizes, subject: str) -> list[tuple[str, str]]:
    """What the doctor says of one thing."""
    return [(one.state, one.text) for one in findings_of(cluster) if one.subject == subject]


def test_a_sound_cluster_has_nothing_to_care_about() -> None:
    """Every subject is told, and good."""
    found = findings_of(sizes_of("9.2.4", MEMORY, SHARDS))
    assert [(one.subject, one.state) for one in found] == [
        (subject, GOOD) for subject in ("heaps", "shards", "masters", "shard sizes")
    ]
    assert found[3].text == "2 indices, the largest shard has 30.0 GiB."


def test_heaps_of_nodes_that_share_a_machine_are_added() -> None:
    """Each alone is half of it at most, together they are more; those with limits of their own share nothing."""
    together = a_cluster(size("a", 6), size("b", 6))
    assert told(together, "heaps") == [
        (
            CARE,
            "12.0 GiB for the heaps of 2 nodes is more than half of the memory of h, 16.0 GiB, the most that Elastic "
            "advises: little is left for the page cache, which Lucene needs.",
        )
    ]
    assert told(a_cluster(size("a", 6), size("b", 6, host="other")), "heaps")[0][0] == GOOD
    assert told(a_cluster(size("a", 6, limited=True), size("b", 6, limited=True)), "heaps")[0][0] == GOOD
    ((state, text),) = told(a_cluster(size("a", 9, limited=True)), "heaps")
    assert state == CARE
    assert "the limit of the node a, 16.0 GiB" in text


def test_only_the_node_with_most_shards_is_named() -> None:
    """What is said of the others is the same."""
    found = told(a_cluster(size("a", 1, shards=30), size("b", 2, shards=70), size("c", 4, shards=60)), "shards")
    assert len(found) == 1
    assert found[0][1].startswith("The node b holds 70 shards with a heap of 2.0 GiB, 35 per GB.")


def test_the_doctor_asks_and_changes_nothing() -> None:
    """All questions are GETs; a user who may not monitor the cluster is told so."""
    with FakeElasticsearch() as fake:
        fake.answers |= {"node_stats": MEMORY, "index_stats": SHARDS}
        assert {one.name for one in cluster_sizes(Endpoint.from_client_options(fake.host)).nodes} == {"a", "b"}
        assert [one.state for one in examine_cluster(fake.host, None)] == [GOOD] * 4
        assert fake.methods == {"GET"}
        fake.delays["index_stats"] = 2.5  # a sampler would have given up
        assert len(cluster_sizes(Endpoint.from_client_options(fake.host)).indices) == 2
        fake.delays.clear()
        told = run_here("doctor", "--target-hosts", fake.host, "--json")
        assert [one["subject"] for one in json.loads(told.stdout)] == ["heaps", "shards", "masters", "shard sizes"]
        fake.statuses["index_stats"] = 403
        with pytest.raises(MachineError, match=r"HTTP status 403\. Give its user the right to monitor"):
            examine_cluster(fake.host, None)
    alone = run_here("doctor", "--client-options", "options.json")
    assert (alone.returncode, "name it with --target-hosts" in one_sentence(alone)) == (2, True)
