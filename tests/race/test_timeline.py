"""Which documents were indexed when, and by which task."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.race import timeline
from paddock.race.timeline import Window
from tests.race.scenes import Load, Scene


def test_one_task_has_everything_between_first_and_last_document() -> None:
    """A stall in the middle belongs to the task."""
    found = timeline.intervals(Scene(20, [Load(3, [100, 0, 0, 100])]).samples())
    windows = timeline.load_windows(found, 1)
    assert windows == [Window(3, 7)]
    assert timeline.documents_in(found, windows[0]) == 200


def test_an_index_made_anew_under_the_same_name_starts_from_zero() -> None:
    """Tasks with a fresh index each are told apart although a stall is longer than the pause between them."""
    loads = [Load(2, [10, 0, 0, 20], uuid="one"), Load(7, [1000, 2000], uuid="two")]
    found = timeline.intervals(Scene(10, loads, deleted={"one": 7}).samples())
    windows = timeline.load_windows(found, 2)
    assert windows == [Window(2, 6), Window(7, 9)]
    assert [timeline.documents_in(found, window) for window in windows] == [30, 3000]


def test_tasks_into_the_same_index_are_told_apart_by_the_longest_pause() -> None:
    """A short stall within a task is not taken for the end of it."""
    found = timeline.intervals(Scene(20, [Load(1, [5, 0, 5, 0, 0, 0, 7, 7])]).samples())
    windows = timeline.load_windows(found, 2)
    assert windows == [Window(1, 4), Window(7, 9)]


@pytest.mark.parametrize("documents", [[5, 5, 5, 5], [5, 0, 5, 0, 5]])
def test_tasks_that_cannot_be_told_apart(documents: list[int]) -> None:
    """No pause, or two equally long ones: rather no answer than a wrong one."""
    assert timeline.load_windows(timeline.intervals(Scene(10, [Load(1, documents)]).samples()), 2) is None


def test_no_load_and_no_task() -> None:
    """Nothing to divide."""
    assert timeline.load_windows([], 1) is None
    assert timeline.load_windows(timeline.intervals(Scene(5, [Load(1, [1])]).samples()), 0) is None


def test_a_missed_sample_makes_a_longer_interval() -> None:
    """Its documents are counted, at a rate over two seconds."""
    found = timeline.intervals(Scene(10, [Load(1, [10, 20, 30, 40, 50])], missed=[3]).samples())
    assert timeline.documents_in(found, Window(1, 6)) == 150
    assert [timeline.rate([interval]) for interval in found if interval.begin == 2] == [25.0]


def test_documents_before_the_first_sample_are_not_counted() -> None:
    """An index that was there already is someone else's work."""
    found = timeline.intervals(Scene(10, [Load(-3, [1000, 1000, 1000, 7])]).samples())
    windows = timeline.load_windows(found, 1)
    assert windows is not None
    assert timeline.documents_in(found, windows[0]) == 7


def test_settled_intervals_lack_both_ends_and_the_warm_up() -> None:
    """The first and the last second are only partly under load."""
    found = timeline.intervals(Scene(20, [Load(2, [1, 10, 10, 30, 30, 30, 2])]).samples())
    window = Window(2, 9)
    assert [interval.total for interval in timeline.settled_intervals(found, window, 0)] == [10, 10, 30, 30, 30]
    assert [interval.total for interval in timeline.settled_intervals(found, window, 2)] == [30, 30, 30]
    assert timeline.settled_intervals(found, window, 60) == []
    assert timeline.settled_intervals(found[:3], Window(2, 3), 0) == []


def test_the_cost_ends_where_searching_begins_but_not_at_a_count() -> None:
    """The scene counts the documents once two seconds after the load and searches from second 15 on."""
    scene = Scene(30, [Load(1, [10] * 5)], searches=range(15, 25), merging_until=12)
    found = timeline.intervals(scene.samples())
    window = Window(1, 6)
    assert any(interval.queries for interval in found if interval.begin == 8)
    assert timeline.end_of_cost(found, window, [window]) == 15
    assert timeline.end_of_cost(found, window, [window, Window(10, 12)]) == 10
    assert timeline.end_of_cost(found[:5], window, [window]) == 6


@given(st.lists(st.floats(0, 1e12), min_size=2))
def test_counters_never_shrink(values: list[float]) -> None:
    """Whatever a counter does, its growth is not negative, and a fall means that it began at zero again."""
    for before, after in pairwise(values):
        grown = timeline.increase(before, after)
        assert grown >= 0
        if after < before:
            assert grown == after


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=30), st.sets(st.integers(1, 29)))
def test_no_document_is_lost_or_counted_twice(documents: list[int], missed: set[int]) -> None:
    """However many samples are missed in between, the sum is that of the counter."""
    found = timeline.intervals(Scene(31, [Load(0, documents)], missed=sorted(missed)).samples())
    assert sum(interval.total for interval in found) == sum(documents)
