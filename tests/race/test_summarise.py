"""A race and its samples become the figures that a person can check by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from paddock.plain_values import built, plain
from paddock.race.summarise import summarise
from paddock.race.summary import Expectation, Missing, Summary
from paddock.sampling.records import IndexCounters
from tests.race.scenes import Load, RallyTask, Request, Scene, race_json, steady

# 20 s of load from second 4 on: 5 s at 10,000 documents a second, then 15 s at 40,000; the last second is cut short.
DOCUMENTS = [2_000, *[10_000] * 5, *[40_000] * 13, 28_000]
BULKS = RallyTask("bulk", "docs/s", steady(20, 10, warmup=5.0), rate=29_631.0)
SCENE = Scene(45, [Load(4, DOCUMENTS)], merging_until=34)


def summary_of(scene: Scene = SCENE, tasks: tuple[RallyTask, ...] = (BULKS,), **expectation: float) -> Summary:
    """The summary of a scene."""
    known = {"bulk": Expectation(**expectation)}  # type: ignore[arg-type]
    return summarise(race_json(tasks), scene.samples(), known)


def test_the_mean_rate_is_documents_by_duration() -> None:
    """600,000 documents; the last of 200 bulks sent at 19.9 s, answered a median service time of 145 ms later."""
    task = summary_of().bulk_tasks[0]
    assert task.documents == 600_000
    assert task.seconds == pytest.approx(19.9 + 0.145)
    assert task.mean_rate == pytest.approx(600_000 / 20.045)
    assert task.reported_rate == 29_631.0


def test_a_wait_before_anything_is_due_is_no_part_of_the_duration() -> None:
    """A replay begins some seconds after its task: those have no documents, and are not what it took."""
    task = summary_of(idle_seconds=2.0).bulk_tasks[0]
    assert task.seconds == pytest.approx(17.9 + 0.145)
    assert task.mean_rate == pytest.approx(600_000 / 18.045)


def test_the_median_rate_is_that_of_full_seconds() -> None:
    """18 seconds lie wholly under load, 13 of them at 40,000; without the warm-up only those."""
    task = summary_of().bulk_tasks[0]
    assert (task.rates, task.median_rate) == (18, 40_000)
    assert task.settled_rate == Missing("The task had no warm-up.")
    after_warmup = summary_of(warmup_seconds=5).bulk_tasks[0]
    assert (after_warmup.rates, after_warmup.median_rate, after_warmup.settled_rate) == (13, 40_000, 40_000)


def test_costs_include_what_the_load_left_to_be_done() -> None:
    """20 s at 2 CPU-seconds a second, and 10 s of merging at half a one afterwards."""
    task = summary_of().bulk_tasks[0]
    assert task.node_cpu_seconds == 45
    assert task.node_cpu_per_million == 75
    assert task.driver_cpu_seconds == 10
    assert task.driver_busiest == 0.4


def test_the_whole_race() -> None:
    """Sizes at the end, peaks and sums."""
    race = summary_of().race
    assert race.peak_node_bytes == 1400 * 2**20 + 45 * 2**10
    assert race.peak_driver_bytes == 300 * 2**20 + 45
    assert race.index_bytes == 600_000 * 138
    assert race.bytes_per_document == 138
    assert (race.merges.count, race.merges.seconds) == (4, 6.0)
    assert (race.refreshes.count, race.refreshes.seconds) == (20, 5.0)
    assert (race.collectors["young"].count, race.segments, race.rejections) == (45, 7, 0)


def test_a_faultless_race_has_no_warnings() -> None:
    """What is as it should be is not commented upon."""
    assert summary_of(documents=600_000, warmup_seconds=5).warnings == ()


@pytest.mark.parametrize(
    ("scene", "task", "expected", "warning"),
    [
        (replace(SCENE, rejected=12), BULKS, None, "rejected 12 requests"),
        (replace(SCENE, failed=3), BULKS, None, "could not index 3 documents"),
        (replace(SCENE, busiest=0.93), BULKS, None, "93 % of a core"),
        (replace(SCENE, steal=12.4), BULKS, None, "12 % of the machine's time"),
        (replace(SCENE, missed=(8, 9)), BULKS, None, "2 of the 21 samples"),
        (replace(SCENE, merging_until=60), BULKS, None, "Merges were still running at the end (1)"),
        (SCENE, BULKS, 600_001, "indexed 600,000 documents, but 600,001"),
        (replace(SCENE, loads=[Load(4, [10, 10, 10, 10])]), BULKS, None, "2 full seconds after the warm-up"),
        (SCENE, replace(BULKS, requests=steady(20, 10, warmup=60)), None, "ended within its warm-up"),
        (SCENE, replace(BULKS, requests=[Request(1, 9), Request(2, 9, success=False)]), None, "50 % of the requests"),
    ],
)
def test_doubts_are_told(scene: Scene, task: RallyTask, expected: int | None, warning: str) -> None:
    """Each kind of trouble leads to one warning of its own."""
    summary = summarise(race_json([task]), scene.samples(), {"bulk": Expectation(documents=expected)})
    assert [text for text in summary.warnings if warning in text], summary.warnings
    assert len(summary.warnings) == 1


def paced(seconds: float, documents: int = 600_000) -> RallyTask:
    """The load as one that was to end after so many seconds."""
    meta = {"scheduled-documents": documents, "scheduled-seconds": seconds, "warmup-seconds": 5}
    return replace(BULKS, meta=meta)


def test_latency_stands_beside_service_time_where_there_was_a_schedule() -> None:
    """Rally calls the service time latency where there is none; that is no second figure."""
    assert summary_of().bulk_tasks[0].latencies is None
    late = replace(BULKS, requests=[replace(one, latency=one.milliseconds + 500) for one in BULKS.requests])
    task = summarise(race_json([late]), SCENE.samples()).bulk_tasks[0]
    assert task.latencies is not None
    assert task.latencies.p50 == pytest.approx(task.service_times.p50 + 500)
    search = RallyTask("top-paths", "ops/s", [Request(one, 5, latency=9) for one in range(20)])
    assert summarise(race_json([search]), []).request_tasks[0].latencies.p90 == 9


def test_the_challenge_says_what_was_to_be_sent() -> None:
    """What is written into race.json with the task is expected, unless it is known better."""
    task = summarise(race_json([paced(20)]), SCENE.samples()).bulk_tasks[0]
    assert task.expectation == Expectation(600_000, 5.0, 30_000.0, 20.0)
    known = Expectation(7)
    assert summarise(race_json([paced(20)]), [], {"bulk": known}).bulk_tasks[0].expectation == known


@pytest.mark.parametrize(
    ("task", "expected", "warning"),
    [
        (paced(20), None, None),
        (paced(18.5), None, "'bulk' was to end after 18 s and ended after 20 s, so it did not keep its pace"),
        (paced(20, 600_001), None, "indexed 600,000 documents, but 600,001 were to be sent"),
        (BULKS, Expectation(rate=30_000), None),
        (BULKS, Expectation(rate=33_000), "indexed 29,933 docs/s and was to index 33,000"),
    ],
)
def test_a_pace_that_was_not_kept(task: RallyTask, expected: Expectation | None, warning: str | None) -> None:
    """A second and a twentieth late are tolerated; more is told, with what to do."""
    warnings = summarise(race_json([task]), SCENE.samples(), {"bulk": expected} if expected else None).warnings
    assert len(warnings) == (warning is not None)
    assert all(warning and warning in text for text in warnings), warnings


def test_test_mode_keeps_no_pace() -> None:
    """It has 1,000 documents only, whatever the challenge says."""
    race = race_json([paced(5)]) | {"user-tags": {"test-mode": "true"}}
    summary = summarise(race, SCENE.samples())
    assert summary.bulk_tasks[0].expectation == Expectation()
    assert summary.warnings == ()


def test_documents_that_are_not_there_in_the_end() -> None:
    """Indexed is not the same as counted: documents may have replaced each other."""
    samples = SCENE.samples()
    assert samples[-1].indices is not None
    last = replace(samples[-1].indices["apache"], documents=599_000)
    samples[-1] = replace(samples[-1], indices={"apache": last})
    summary = summarise(race_json([BULKS]), samples)
    assert any("599,000 were counted" in text for text in summary.warnings)


def with_counters(change: Callable[[float, IndexCounters], IndexCounters]) -> Summary:
    """The load of 600,000 documents, its index as the change makes it at each second."""
    samples = [
        replace(one, indices={name: change(one.seconds, index) for name, index in (one.indices or {}).items()})
        for one in SCENE.samples()
    ]
    return summarise(race_json([BULKS]), samples, {"bulk": Expectation(documents=600_000)})


def test_the_log_loss_is_what_is_not_in_the_index_in_the_end() -> None:
    """Documents that were indexed and are gone are lost; those that came twice are no loss below zero."""
    gone = with_counters(lambda at, one: one if at < 30 else replace(one, documents=400_000)).bulk_tasks[0]
    assert (gone.documents, gone.lost, gone.surplus) == (600_000, 200_000, 0)
    twice = with_counters(lambda _, one: replace(one, documents=one.documents * 2)).bulk_tasks[0]
    assert (twice.lost, twice.surplus) == (0, 600_000)
    assert [one.text for one in twice.figures if one.name == "duplicates"] == ["600,000"]
    assert not [one for one in with_counters(lambda _, one: one).bulk_tasks[0].figures if one.name == "duplicates"]


@pytest.mark.parametrize("share", [1.0, 0.75])
def test_a_node_that_leaves_invents_no_documents(share: float) -> None:
    """A primary shard misses for 2 s, and its counter comes back: what is in the index tells what was indexed."""

    def change(at: float, one: IndexCounters) -> IndexCounters:
        part = 2 / 3 if 12 <= at < 14 else 1.0
        return replace(one, indexed=int(one.indexed * share * part), documents=int(one.documents * share))

    summary = with_counters(change)
    task = summary.bulk_tasks[0]
    assert (task.documents, task.lost) == (600_000 * share, 600_000 * (1 - share))
    assert isinstance(task.median_rate, Missing)
    assert not [text for text in summary.warnings if "too short" in text]


def test_the_log_loss_is_not_known_of_an_index_that_is_gone_or_shared() -> None:
    """An index without a shard that answers is not in the statistics; who wrote what of a shared one is not known."""
    gone = summary_of(replace(SCENE, deleted={"first": 40}), documents=600_000).bulk_tasks[0]
    assert isinstance(gone.lost, Missing)
    tasks = [RallyTask(name, "docs/s", steady(10, 5)) for name in ("lap-1", "lap-2")]
    known = dict.fromkeys(("lap-1", "lap-2"), Expectation(documents=10_000))
    scene = Scene(30, [Load(2, [*[1000] * 10, 0, 0, 0, *[1000] * 10])])
    shared = summarise(race_json(tasks), scene.samples(), known).bulk_tasks
    assert [(one.documents, isinstance(one.lost, Missing)) for one in shared] == [(10_000, True)] * 2


def test_without_samples_rallys_own_figures_remain() -> None:
    """What Rally reports itself is there; the rest is missing with its reason, and a warning says why."""
    totals = {"merge_count": 1, "merge_time": 7868, "store_size": 138339271, "young_gc_count": 30, "young_gc_time": 393}
    summary = summarise(race_json([BULKS], totals), [])
    assert summary.bulk_tasks[0].reported_rate == 29_631.0
    assert isinstance(summary.bulk_tasks[0].mean_rate, Missing)
    assert (summary.race.merges.count, summary.race.merges.seconds) == (1, 7.868)
    assert summary.race.index_bytes == 138339271
    assert summary.race.collectors["young"].count == 30
    assert isinstance(summary.race.rejections, Missing)
    assert any("never answered the sampler" in text for text in summary.warnings)


def test_several_bulk_tasks_each_have_their_own_figures() -> None:
    """Two laps with a fresh index each: the cost of the first ends where the second begins."""
    loads = [Load(2, [1000] * 10, uuid="one"), Load(15, [3000] * 10, uuid="two")]
    tasks = [RallyTask("lap-1", "docs/s", steady(10, 5)), RallyTask("lap-2", "docs/s", steady(10, 5))]
    summary = summarise(race_json(tasks), Scene(30, loads, deleted={"one": 15}).samples())
    first, second = summary.bulk_tasks
    assert (first.documents, second.documents) == (10_000, 30_000)
    assert (first.median_rate, second.median_rate) == (1000, 3000)
    assert (first.node_cpu_seconds, second.node_cpu_seconds) == (20, 20)
    assert summary.race.documents_counted == 30_000
    assert summary.warnings == ()


def test_tasks_that_cannot_be_told_apart_get_no_figures() -> None:
    """Rather none than those of another task."""
    tasks = [RallyTask("a", "docs/s", steady(5, 5)), RallyTask("b", "docs/s", steady(5, 5))]
    summary = summarise(race_json(tasks), Scene(20, [Load(2, [1000] * 10)]).samples())
    for task in summary.bulk_tasks:
        assert isinstance(task.documents, Missing)
        assert "which of the bulk tasks" in task.documents.reason


def test_searches() -> None:
    """They have Rally's figures, and what they cost is not charged to the load."""
    search = RallyTask("errors-by-text", "ops/s", steady(100, 10, milliseconds=20), rate=9.9)
    scene = replace(SCENE, searches=range(36, 44))
    summary = summarise(race_json([BULKS, search]), scene.samples())
    assert summary.bulk_tasks[0].node_cpu_seconds == 45
    task = summary.request_tasks[0]
    assert (task.name, task.throughput, task.throughput_unit) == ("errors-by-text", 9.9, "ops/s")
    assert (task.service_times.p50, task.service_times.maximum, task.error_rate) == (29.0, 38.0, 0.0)


def test_a_race_without_results_is_no_crash() -> None:
    """Rally writes race.json first without results."""
    summary = summarise({"race-id": "x", "track": "apache", "car": "external"}, [])
    assert (summary.bulk_tasks, summary.request_tasks, summary.cars) == ((), (), "external")


def test_as_json() -> None:
    """Every figure by its name; a missing one is null with its reason; the same summary is read back."""
    summary = summary_of(replace(SCENE, local=False), documents=600_000)
    value = plain(summary)
    assert json.loads(json.dumps(value)) == value
    assert built(Summary, json.loads(json.dumps(value)), "summary") == summary
    assert value["bulk_tasks"][0]["documents"] == 600_000
    assert value["bulk_tasks"][0]["settled_rate"] is None
    assert value["bulk_tasks"][0]["missing"] == {"settled_rate": "The task had no warm-up."}
    assert value["race"]["peak_node_bytes"] is None
    assert "machine" in value["race"]["missing"]["peak_node_bytes"]
    assert value["race"]["collectors"]["young"] == {"count": 45, "seconds": 0.585}
    assert "missing" not in value["race"]["merges"]
