"""What Rally 2.13 itself makes of known requests is read as what it is."""

from __future__ import annotations

import pytest

from paddock.race import race_results
from paddock.race.summary import Missing
from tests.race.scenes import RallyTask, Request, race_json, steady


def test_rallys_duration_is_when_the_last_request_was_sent_warm_up_included() -> None:
    """Milliseconds from the task's start to the start of its last request: its service time is not in it."""
    requests = [Request(0.5, 100, warmup=True), Request(7.25, 100), Request(3.0, 100)]
    race = race_json([RallyTask("bulk", "docs/s", requests)])
    assert race["results"]["op_metrics"][0]["duration"] == 7250
    assert race_results.tasks(race)[0].last_request_seconds == 7.25


def test_rallys_duration_counts_the_warm_up_even_alone() -> None:
    """A task that lay within its warm-up has a duration, though nothing else."""
    race = race_json([RallyTask("bulk", "docs/s", [Request(2.0, 100, warmup=True)])])
    task = race_results.tasks(race)[0]
    rally = task.requests
    assert task.last_request_seconds == 2.0
    assert task.indexes_documents
    for figure in (rally.throughput, rally.error_rate, rally.service_times.p50, rally.service_times.maximum):
        assert isinstance(figure, Missing)
        assert "warm-up" in figure.reason


def test_errors_within_the_warm_up_do_not_look_like_none() -> None:
    """Rally reports an error rate of 0 for requests that it does not count; that is no figure."""
    race = race_json([RallyTask("bulk", "docs/s", [Request(2.0, 100, warmup=True, success=False)])])
    assert race["results"]["op_metrics"][0]["error_rate"] == 0.0
    assert isinstance(race_results.tasks(race)[0].requests.error_rate, Missing)


def test_the_error_rate_is_the_share_of_failed_requests() -> None:
    """One failure in four."""
    requests = [Request(second, 100, success=second != 2) for second in range(4)]
    assert race_results.tasks(race_json([RallyTask("bulk", "docs/s", requests)]))[0].requests.error_rate == 0.25


@pytest.mark.parametrize(("requests", "has"), [(1, (0, 0, 0)), (9, (1, 0, 0)), (10, (1, 1, 0)), (100, (1, 1, 1))])
def test_percentiles_are_there_when_rally_has_enough_requests(requests: int, has: tuple[int, int, int]) -> None:
    """p50 from 2, p90 from 10, p99 from 100 requests on; the maximum always."""
    times = race_results.tasks(race_json([RallyTask("search", "ops/s", steady(requests, 1))]))[0].requests.service_times
    assert tuple(int(not isinstance(figure, Missing)) for figure in (times.p50, times.p90, times.p99)) == has
    assert not isinstance(times.maximum, Missing)
    if isinstance(times.p99, Missing):
        assert "100 requests" in times.p99.reason


def test_tasks_are_told_apart_by_their_units() -> None:
    """Only what is counted in documents is a bulk task."""
    race = race_json([RallyTask("bulk", "docs/s", steady(3, 1)), RallyTask("search", "ops/s", steady(3, 1))])
    assert [task.indexes_documents for task in race_results.tasks(race)] == [True, False]


def test_a_race_without_results() -> None:
    """Rally writes race.json first without results."""
    assert race_results.tasks({"race-id": "x"}) == []
    assert isinstance(race_results.total({}, "store_size"), Missing)
    assert race_results.collectors({}) == {}
