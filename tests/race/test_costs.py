"""Costs are added up from counters, whatever nodes and samples do."""

from __future__ import annotations

from dataclasses import replace

from paddock.race import costs
from paddock.race.summary import Activity, Missing
from paddock.sampling.records import NodeCounters, Sample
from tests.race.scenes import Load, Scene

SCENE = Scene(20, [Load(2, [100] * 10)])


def with_node(sample: Sample, **changes: object) -> Sample:
    """The sample with something changed about its node."""
    assert sample.nodes is not None
    return replace(sample, nodes={name: replace(node, **changes) for name, node in sample.nodes.items()})


def test_a_local_node_is_measured_by_the_kernel() -> None:
    """2 CPU-seconds per second of load: 7 s of it lie between the samples 5 and 20."""
    assert costs.node_cpu_seconds(costs.between(SCENE.samples(), 5, 20)) == 14


def test_a_remote_node_is_measured_by_itself() -> None:
    """Its own figure counts; its memory and writes are unknown."""
    samples = replace(SCENE, local=False).samples()
    assert costs.node_cpu_seconds(samples) == 20
    assert costs.peak_node_bytes(samples) == Missing(costs.ELSEWHERE)
    assert costs.written_bytes(samples) == Missing(costs.ELSEWHERE)


def test_a_node_whose_process_is_gone_before_its_last_answer() -> None:
    """The moment without a process is left out instead of being taken for a restart from zero."""
    samples = SCENE.samples()
    samples[15] = with_node(samples[15], process=None)
    samples[20] = with_node(samples[20], process=None)
    assert costs.node_cpu_seconds(samples) == 20
    assert costs.peak_node_bytes(samples) == 1400 * 2**20 + 19 * 2**10


def test_a_restarted_node_begins_at_zero() -> None:
    """CPU time before and after the restart are added."""
    nodes = [NodeCounters("n", cpu_seconds=value) for value in (10.0, 15.0, 1.0, 4.0)]
    samples = [replace(SCENE.samples()[0], nodes={"n": node}) for node in nodes]
    assert costs.node_cpu_seconds(samples) == 5 + 1 + 3


def test_several_nodes_are_added_up() -> None:
    """Three nodes that do the same cost three times as much and hold three times as much memory."""
    samples = SCENE.samples()
    tripled = [replace(sample, nodes=dict.fromkeys("abc", (sample.nodes or {})["node"])) for sample in samples]
    assert costs.node_cpu_seconds(tripled) == 60
    assert costs.peak_node_bytes(tripled) == 3 * (1400 * 2**20 + 20 * 2**10)


def test_collectors() -> None:
    """Counts and seconds since the first sample; a collector without work is there with zeros."""
    assert costs.collectors(SCENE.samples()) == {"young": Activity(20, 0.26), "old": Activity(0, 0.0)}


def test_nothing_can_be_said_without_samples() -> None:
    """Missing, never zero."""
    for figure in (
        costs.node_cpu_seconds([]),
        costs.peak_node_bytes([]),
        costs.written_bytes([]),
        costs.driver_cpu_seconds([]),
        costs.driver_busiest([]),
        costs.steal_percent([]),
        costs.index_total([], {("apache", "first")}, lambda index: index.merges),
    ):
        assert isinstance(figure, Missing)


def test_index_counters_of_all_incarnations_count_but_only_the_last_has_a_size() -> None:
    """Merges of a deleted index were work; its bytes are gone."""
    loads = [Load(2, [10] * 10, uuid="one"), Load(14, [10] * 5, uuid="two")]
    samples = Scene(20, loads, deleted={"one": 13}).samples()
    keys = {("apache", "one"), ("apache", "two")}
    assert costs.index_total(samples, keys, lambda index: index.merges) == 2 + 1
    assert [index.documents for index in costs.final_indices(samples, keys)] == [50]


def test_what_an_index_had_done_before_the_first_sample_is_left_out() -> None:
    """An existing cluster has a past."""
    samples = Scene(10, [Load(-10, [10] * 15)]).samples()
    assert costs.index_total(samples, {("apache", "first")}, lambda index: index.merges) == 1
