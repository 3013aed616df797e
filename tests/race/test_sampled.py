"""What the samples say: which documents were indexed when and by which task, and costs added up from counters."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.race import sampled
from paddock.race.sampled import Window
from paddock.race.summary import Activity, Missing
from paddock.sampling.records import NodeCounters, Sample
from tests.race.scenes import Load, Scene


def test_one_task_has_everything_between_first_and_last_document() -> None:
    """A stall in the middle belongs to the task."""
    found = sampled.intervals(Scene(20, [Load(3, [100, 0, 0, 100])]).samples())
    windows = sampled.load_windows(found, 1)
    assert windows == [Window(3, 7)]
    assert sampled.documents_in(found, windows[0]) == 200


def test_an_index_made_anew_under_the_same_name_starts_from_zero() -> None:
    """Tasks with a fresh index each are told apart although a stall is longer than the pause between them."""
    loads = [Load(2, [10, 0, 0, 20], uuid="one"), Load(7, [1000, 2000], uuid="two")]
    found = sampled.intervals(Scene(10, loads, deleted={"one": 7}).samples())
    windows = sampled.load_windows(found, 2)
    assert windows == [Window(2, 6), Window(7, 9)]
    assert [sampled.documents_in(found, window) for window in windows] == [30, 3000]


def test_tasks_into_the_same_index_are_told_apart_by_the_longest_pause() -> None:
    """A short stall within a task is not taken for the end of it."""
    found = sampled.intervals(Scene(20, [Load(1, [5, 0, 5, 0, 0, 0, 7, 7])]).samples())
    windows = sampled.load_windows(found, 2)
    assert windows == [Window(1, 4), Window(7, 9)]


@pytest.mark.parametrize("documents", [[5, 5, 5, 5], [5, 0, 5, 0, 5]])
def test_tasks_that_cannot_be_told_apart(documents: list[int]) -> None:
    """No pause, or two equally long ones: rather no answer than a wrong one."""
    assert sampled.load_windows(sampled.intervals(Scene(10, [Load(1, documents)]).samples()), 2) is None


def test_no_load_and_no_task() -> None:
    """Nothing to divide."""
    assert sampled.load_windows([], 1) is None
    assert sampled.load_windows(sampled.intervals(Scene(5, [Load(1, [1])]).samples()), 0) is None


def test_a_missed_sample_makes_a_longer_interval() -> None:
    """Its documents are counted, at a rate over two seconds."""
    found = sampled.intervals(Scene(10, [Load(1, [10, 20, 30, 40, 50])], missed=[3]).samples())
    assert sampled.documents_in(found, Window(1, 6)) == 150
    assert [sampled.rate([interval]) for interval in found if interval.begin == 2] == [25.0]


def test_documents_before_the_first_sample_are_not_counted() -> None:
    """An index that was there already is someone else's work."""
    found = sampled.intervals(Scene(10, [Load(-3, [1000, 1000, 1000, 7])]).samples())
    windows = sampled.load_windows(found, 1)
    assert windows is not None
    assert sampled.documents_in(found, windows[0]) == 7


def test_settled_intervals_lack_both_ends_and_the_warm_up() -> None:
    """The first and the last second are only partly under load."""
    found = sampled.intervals(Scene(20, [Load(2, [1, 10, 10, 30, 30, 30, 2])]).samples())
    window = Window(2, 9)
    assert [interval.total for interval in sampled.settled_intervals(found, window, 0)] == [10, 10, 30, 30, 30]
    assert [interval.total for interval in sampled.settled_intervals(found, window, 2)] == [30, 30, 30]
    assert sampled.settled_intervals(found, window, 60) == []
    assert sampled.settled_intervals(found[:3], Window(2, 3), 0) == []


def test_the_cost_ends_where_searching_begins_but_not_at_a_count() -> None:
    """The scene counts the documents once two seconds after the load and searches from second 15 on."""
    scene = Scene(30, [Load(1, [10] * 5)], searches=range(15, 25), merging_until=12)
    found = sampled.intervals(scene.samples())
    window = Window(1, 6)
    assert any(interval.queries for interval in found if interval.begin == 8)
    assert sampled.end_of_cost(found, window, [window]) == 15
    assert sampled.end_of_cost(found, window, [window, Window(10, 12)]) == 10
    assert sampled.end_of_cost(found[:5], window, [window]) == 6


@given(st.lists(st.floats(0, 1e12), min_size=2))
def test_counters_never_shrink(values: list[float]) -> None:
    """Whatever a counter does, its growth is not negative, and a fall means that it began at zero again."""
    for before, after in pairwise(values):
        grown = sampled.increase(before, after)
        assert grown >= 0
        if after < before:
            assert grown == after


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=30), st.sets(st.integers(1, 29)))
def test_no_document_is_lost_or_counted_twice(documents: list[int], missed: set[int]) -> None:
    """However many samples are missed in between, the sum is that of the counter."""
    found = sampled.intervals(Scene(31, [Load(0, documents)], missed=sorted(missed)).samples())
    assert sum(interval.total for interval in found) == sum(documents)


SCENE = Scene(20, [Load(2, [100] * 10)])


def with_node(sample: Sample, **changes: object) -> Sample:
    """The sample with something changed about its node."""
    assert sample.nodes is not None
    return replace(sample, nodes={name: replace(node, **changes) for name, node in sample.nodes.items()})


def test_a_local_node_is_measured_by_the_kernel() -> None:
    """2 CPU-seconds per second of load: 7 s of it lie between the samples 5 and 20."""
    assert sampled.node_cpu_seconds(sampled.between(SCENE.samples(), 5, 20)) == 14


def test_a_remote_node_is_measured_by_itself() -> None:
    """Its own figure counts; its memory and writes are unknown."""
    samples = replace(SCENE, local=False).samples()
    assert sampled.node_cpu_seconds(samples) == 20
    assert sampled.peak_node_bytes(samples) == Missing(sampled.ELSEWHERE)
    assert sampled.written_bytes(samples) == Missing(sampled.ELSEWHERE)


def test_a_node_whose_process_is_gone_before_its_last_answer() -> None:
    """The moment without a process is left out instead of being taken for a restart from zero."""
    samples = SCENE.samples()
    samples[15] = with_node(samples[15], process=None)
    samples[20] = with_node(samples[20], process=None)
    assert sampled.node_cpu_seconds(samples) == 20
    assert sampled.peak_node_bytes(samples) == 1400 * 2**20 + 19 * 2**10


def test_a_restarted_node_begins_at_zero() -> None:
    """CPU time before and after the restart are added."""
    nodes = [NodeCounters("n", cpu_seconds=value) for value in (10.0, 15.0, 1.0, 4.0)]
    samples = [replace(SCENE.samples()[0], nodes={"n": node}) for node in nodes]
    assert sampled.node_cpu_seconds(samples) == 5 + 1 + 3


def test_several_nodes_are_added_up() -> None:
    """Three nodes that do the same cost three times as much and hold three times as much memory."""
    samples = SCENE.samples()
    tripled = [replace(sample, nodes=dict.fromkeys("abc", (sample.nodes or {})["node"])) for sample in samples]
    assert sampled.node_cpu_seconds(tripled) == 60
    assert sampled.peak_node_bytes(tripled) == 3 * (1400 * 2**20 + 20 * 2**10)


def test_collectors() -> None:
    """Counts and seconds since the first sample; a collector without work is there with zeros."""
    assert sampled.collectors(SCENE.samples()) == {"young": Activity(20, 0.26), "old": Activity(0, 0.0)}


def test_nothing_can_be_said_without_samples() -> None:
    """Missing, never zero."""
    for figure in (
        sampled.node_cpu_seconds([]),
        sampled.peak_node_bytes([]),
        sampled.written_bytes([]),
        sampled.driver_cpu_seconds([]),
        sampled.driver_busiest([]),
        sampled.steal_percent([]),
        sampled.index_total([], {("apache", "first")}, lambda index: index.merges),
    ):
        assert isinstance(figure, Missing)


def test_index_counters_of_all_incarnations_count_but_only_the_last_has_a_size() -> None:
    """Merges of a deleted index were work; its bytes are gone."""
    loads = [Load(2, [10] * 10, uuid="one"), Load(14, [10] * 5, uuid="two")]
    samples = Scene(20, loads, deleted={"one": 13}).samples()
    keys = {("apache", "one"), ("apache", "two")}
    assert sampled.index_total(samples, keys, lambda index: index.merges) == 2 + 1
    assert [index.documents for index in sampled.final_indices(samples, keys)] == [50]


def test_what_an_index_had_done_before_the_first_sample_is_left_out() -> None:
    """An existing cluster has a past."""
    samples = Scene(10, [Load(-10, [10] * 15)]).samples()
    assert sampled.index_total(samples, {("apache", "first")}, lambda index: index.merges) == 1
