"""Nodes of several clusters in one reading, told apart, without a question that makes the lap runner's figures old."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from paddock.sampling import Endpoint, NodesObserver, Sampler, read_samples
from paddock.sampling.records import read_circumstances
from tests.machine import PATIENCE, wait_until
from tests.sampling.fake_elasticsearch import NODE, FakeElasticsearch
from tests.sampling.test_processes import burnt


@pytest.fixture
def two() -> Iterator[tuple[FakeElasticsearch, FakeElasticsearch]]:
    """Two clusters of a node each."""
    with FakeElasticsearch() as one, FakeElasticsearch() as other:
        for kind in ("heaps", "node_information"):
            answer = other.answers[kind]
            other.answers[kind] = {"nodes": {"another": copy.deepcopy(answer["nodes"][NODE])}}
        yield one, other


def observer(**clusters: FakeElasticsearch) -> NodesObserver:
    """Of those clusters, by name."""
    endpoints = {name: Endpoint((f"http://{one.host}",), timeout=PATIENCE) for name, one in clusters.items()}
    return NodesObserver(endpoints, 8)


def runs_here(fake: FakeElasticsearch, node: str, process: psutil.Process | None) -> None:
    """Let it say that its node is that process; None for one on another machine."""
    information = copy.deepcopy(fake.answers["node_information"])
    told = information["nodes"][node]
    told["process"]["id"] = process.pid if process else 1
    told["jvm"]["start_time_in_millis"] = int(process.create_time() * 1000) if process else 1000
    fake.answers["node_information"] = information


def test_clusters_are_told_apart(two: tuple[FakeElasticsearch, FakeElasticsearch]) -> None:
    """The node of one runs here and is told by the kernel; that of the other tells nothing but its heap."""
    one, other = two
    runs_here(one, NODE, psutil.Process())
    runs_here(other, "another", None)
    watching = observer(default=one, other=other)
    reading = watching.read()
    assert abs(reading.moment - time.monotonic()) < PATIENCE
    assert reading.nodes is not None
    here, elsewhere = reading.nodes[NODE], reading.nodes["another"]
    assert (here.cluster, elsewhere.cluster) == ("default", "other")
    assert here.process is not None
    assert here.process.pid == psutil.Process().pid
    assert (here.cpu_seconds, elsewhere.cpu_seconds, elsewhere.process) == (None, None, None)
    assert here.heap_bytes == elsewhere.heap_bytes == 133540896
    assert [(news["cluster"], news["processors"]) for news in reading.news] == [("default", 8), ("other", 8)]
    assert watching.read().news == []
    watching.close()


def test_nothing_is_asked_that_makes_the_lap_runners_figures_old(
    two: tuple[FakeElasticsearch, FakeElasticsearch],
) -> None:
    """Who the nodes are once, then their breakers alone: never jvm and process, which nodes renew once a second."""
    one, other = two
    runs_here(one, NODE, psutil.Process())
    watching = observer(default=one, other=other)
    for _ in range(3):
        watching.read()
    assert one.asked == ["heaps", "node_information", "heaps", "heaps"]
    watching.close()


def test_a_cluster_that_is_silent_costs_only_its_own_nodes(two: tuple[FakeElasticsearch, FakeElasticsearch]) -> None:
    """Before it has answered it is no failure; afterwards it is one, and the other cluster is told on."""
    one, other = two
    other.statuses["heaps"] = 503
    watching = observer(default=one, other=other)
    reading = watching.read()
    assert set(reading.nodes or {}) == {NODE}
    assert reading.missed == 0
    del other.statuses["heaps"]
    assert set(watching.read().nodes or {}) == {NODE, "another"}
    other.statuses["heaps"] = 503
    reading = watching.read()
    assert set(reading.nodes or {}) == {NODE}
    assert (reading.missed, "503" in str(reading.problem)) == (1, True)
    watching.close()


def test_nodes_that_are_started_anew(two: tuple[FakeElasticsearch, FakeElasticsearch]) -> None:
    """One that has ended is none, whoever answers in its name; the one that comes back is recognised by its process."""
    one, _ = two
    with burnt() as process:
        runs_here(one, NODE, psutil.Process(process.pid))
        watching = observer(default=one)
        reading = watching.read()
        assert reading.nodes is not None
        first = reading.nodes[NODE].process
        assert first is not None
        assert first.pid == process.pid
    runs_here(one, NODE, None)
    reading = watching.read()
    assert (reading.nodes or {})[NODE].process is None
    runs_here(one, NODE, psutil.Process())
    one.answers["heaps"] = {"nodes": {**one.answers["heaps"]["nodes"], "new": {"name": "new"}}}
    second = (watching.read().nodes or {})[NODE].process
    assert second is not None
    assert second.pid == psutil.Process().pid
    watching.close()


def test_a_breaker_that_adds_up_reservations_tells_no_heap(two: tuple[FakeElasticsearch, FakeElasticsearch]) -> None:
    """What is in use is what it says only as long as it looks at real memory, which is the default."""
    one, _ = two
    information = copy.deepcopy(one.answers["node_information"])
    information["nodes"][NODE]["settings"]["indices.breaker.total.use_real_memory"] = "false"
    one.answers["node_information"] = information
    watching = observer(default=one)
    assert (watching.read().nodes or {})[NODE].heap_bytes == 0
    watching.close()


def test_the_sampler_writes_what_is_read(two: tuple[FakeElasticsearch, FakeElasticsearch], tmp_path: Path) -> None:
    """A file of both clusters, by the steady clock that the journals of laps have."""
    one, other = two
    runs_here(one, NODE, psutil.Process())
    file, began = tmp_path / "samples" / "race.jsonl", time.monotonic()
    with Sampler(observer(default=one, other=other), file, dict, 0.05):
        wait_until(lambda: len(read_samples(file)) > 2, lambda: "no samples")
    samples = read_samples(file)
    moments = [sample.monotonic or 0.0 for sample in samples]
    assert moments == sorted(moments)
    assert began - 0.01 <= moments[0] <= moments[-1] <= time.monotonic()
    assert set(samples[-1].nodes or {}) == {NODE, "another"}
    assert samples[-1].indices is None
    told = read_circumstances(file)
    assert [(one["cluster"], list(one["nodes"])) for one in told] == [("default", [NODE]), ("other", ["another"])]
