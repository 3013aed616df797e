"""What a cluster that is there says of itself, for the circumstances of a comparison."""

from __future__ import annotations

import time
from typing import Any

import pytest

from paddock.sampling import Endpoint, described
from paddock.sampling.described import CLOCK, ROUND_TRIP
from tests.sampling.fake_elasticsearch import FakeElasticsearch


def a_node(processors: int, heap_mib: int) -> dict[str, Any]:
    """A node as GET _nodes tells it."""
    return {
        "roles": ["data", "master"],
        "os": {"pretty_name": "Debian 12", "version": "6.1", "allocated_processors": processors},
        "jvm": {"version": "21", "vm_vendor": "Eclipse", "mem": {"heap_max_in_bytes": heap_mib << 20}},
    }


def a_clock(ahead: float) -> dict[str, Any]:
    """A node's disk, and its clock, in the statistics."""
    total = {"total_in_bytes": 100 << 30, "available_in_bytes": 40 << 30}
    return {"timestamp": round((time.time() + ahead) * 1000), "fs": {"total": total}}


def test_nodes_machines_distance_and_clock() -> None:
    """What all nodes have in common is told once, the rest with how many have it; the worst clock counts."""
    with FakeElasticsearch() as fake:
        fake.answers["node_information"] = {"nodes": {"a": a_node(4, 1024), "b": a_node(4, 2048), "c": a_node(4, 1024)}}
        fake.answers["node_stats"] = {"nodes": {"a": a_clock(0), "b": a_clock(-300), "c": a_clock(100)}}
        found = described(Endpoint.from_client_options(fake.host))
        assert fake.methods == {"GET"}
    assert float(found.pop(ROUND_TRIP)) >= 0
    assert float(found.pop(CLOCK)) == pytest.approx(-300, abs=5)
    assert found == {
        "Elasticsearch": "8.8.2 (external)",
        "Lucene": "9.6.0",
        "nodes": "3",
        "node roles": "data, master",
        "node system": "Debian 12 6.1",
        "node processors": "4",
        "node heap": "2 x 1.0 GiB and 1 x 2.0 GiB",
        "Java": "21 Eclipse",
        "node disk": "100.0 GiB, 40.0 GiB free",
    }


def test_what_may_not_be_asked_is_left_out() -> None:
    """A user who may race need not be one who may look at nodes; and a cluster may be gone."""
    with FakeElasticsearch() as fake:
        fake.statuses |= {"node_information": 403, "node_stats": 403}
        found = described(Endpoint.from_client_options(fake.host))
        assert set(found) == {"Elasticsearch", "Lucene", ROUND_TRIP}
    assert described(Endpoint.from_client_options("127.0.0.1:1")) == {}
