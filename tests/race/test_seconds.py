"""The seconds of a load: what grew in each, whenever samples came; and how a long load is judged by them."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.race.sampled import Window
from paddock.race.seconds import seconds_of, write_seconds
from paddock.race.summarise import summarise
from paddock.race.summary import BulkTask, Expectation
from paddock.race.sustained import load_seconds, sustained_load
from paddock.sampling.records import Sample
from tests.race.scenes import Load, RallyTask, Scene, race_json, steady

KEYS = {("apache", "first")}


def test_every_second_has_what_grew_in_it() -> None:
    """Documents, cores, collections, writes: as the scene has made them; what no node tells is not known."""
    samples = Scene(12, [Load(2, [10, 20, 30, 40])]).samples()
    seconds = seconds_of(samples, Window(2, 6), KEYS)
    assert seconds.columns["documents"] == (10, 20, 30, 40)
    assert seconds.columns["node_cores"] == (2, 2, 2, 2)
    assert seconds.columns["driver_cores"] == (0.5, 0.5, 0.5, 0.5)
    assert seconds.columns["gc_share"] == (0.013,) * 4
    assert seconds.columns["written_mib"] == pytest.approx((10**6 / 2**20,) * 4, abs=1e-5)
    assert seconds.columns["merging_threads"] == pytest.approx((0.3,) * 4)
    assert seconds.columns["segments"] == (7,) * 4
    assert seconds.columns["steal_percent"] == (0.5,) * 4
    assert not seconds.known("heap_mib")
    assert seconds.mean("documents", 1, 3) == 25
    assert seconds.mean("documents", 4, 9) is None


def test_nodes_elsewhere_tell_their_processor_time_and_no_more() -> None:
    """Memory and writes of another machine are not known; nor is the driver's where no process of it was seen."""
    samples = Scene(8, [Load(2, [10] * 4)], local=False).samples()
    unseen = [replace(one, driver=replace(one.driver, processes=0)) for one in samples]
    seconds = seconds_of(unseen, Window(2, 6), KEYS)
    assert seconds.known("node_cores")
    assert [name for name in ("node_memory_mib", "written_mib", "driver_cores") if seconds.known(name)] == []


def test_a_process_that_is_not_seen_for_a_moment_costs_nothing() -> None:
    """The kernel counts from another moment on than the node itself: one is never taken for the other."""
    samples = Scene(12, [Load(2, [10, 20, 30, 40])]).samples()
    assert samples[4].nodes is not None
    unseen = {name: replace(node, process=None, cpu_seconds=900.0) for name, node in samples[4].nodes.items()}
    samples[4] = replace(samples[4], nodes=unseen)
    assert seconds_of(samples, Window(2, 6), KEYS).columns["node_cores"] == (2, 2, 2, 2)


def test_indices_that_roll_over_are_one_load() -> None:
    """A new index begins at zero, and its documents are added to those of the one before."""
    loads = [Load(1, [10] * 4, "logs-000001", "a"), Load(5, [30] * 4, "logs-000002", "b")]
    seconds = load_seconds(Scene(14, loads).samples())
    assert seconds is not None
    assert seconds.columns["documents"] == (10, 10, 10, 10, 30, 30, 30)  # the last second may not be a whole one
    assert seconds.columns["indices"][0] == 1
    assert seconds.columns["indices"][-1] == 2


@given(
    st.lists(st.integers(0, 1000), min_size=4, max_size=40),
    st.lists(st.floats(-0.4, 0.4), min_size=60, max_size=60),
    st.sets(st.integers(0, 50), max_size=8),
)
def test_no_document_is_lost_or_doubled(documents: list[int], jitter: list[float], missed: set[int]) -> None:
    """However late samples come and whichever are missed: the seconds add up to what was indexed in them."""
    documents = [1, *documents, 1]
    samples = Scene(60, [Load(3, documents)]).samples()
    moved: list[Sample] = []
    for number, sample in enumerate(samples):
        lost = number - 4 in missed and 4 < number < len(documents)
        gone = replace(sample, indices=None, nodes=None) if lost else sample
        moved.append(replace(gone, seconds=sample.seconds + (jitter[number] if 0 < number < 60 else 0.0)))
    known = [one for one in moved if one.indices is not None]
    first, last = known[3].seconds, known[-1].seconds
    seconds = seconds_of(moved, Window(first, last), KEYS)
    told = [value or 0.0 for value in seconds.columns["documents"]]
    assert len(told) == int(last - first)
    assert sum(told) == pytest.approx(sum(documents), abs=1e-3)
    assert min(told) >= 0


def test_the_file_has_a_line_for_every_second(tmp_path: Path) -> None:
    """Named columns; empty where nothing is known."""
    seconds = seconds_of(Scene(9, [Load(2, [10, 20, 30, 40])]).samples(), Window(2, 6), KEYS)
    write_seconds(seconds, tmp_path / "series.csv")
    with (tmp_path / "series.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["second"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["documents"] for row in rows] == ["10", "20", "30", "40"]
    assert {row["heap_mib"] for row in rows} == {""}


def wild(seconds: int, onset: int, seed: int = 3) -> list[int]:
    """Documents of a load that begins to fluctuate."""
    noise = np.random.default_rng(seed).normal(0, 0.03, seconds)
    noise[onset:] *= 6
    return [int(1000 * value) for value in np.maximum(0, 1 + noise)]


def task(samples: list[Sample], **changes: object) -> BulkTask:
    """The load of such a race, as its summary has it."""
    race = race_json([RallyTask("sustained-bulk", "docs/s", steady(20, 10), meta={"sustained": True})])
    (found,) = summarise(race, samples).bulk_tasks
    return replace(found, **changes)  # type: ignore[arg-type]


def test_a_long_load_is_judged() -> None:
    """Onset near where it was put, and the stretches before and after stand side by side."""
    samples = Scene(620, [Load(5, wild(600, 400))]).samples()
    load = sustained_load(samples, [task(samples)])
    assert load is not None
    assert load.run.onset is not None
    assert load.run.onset.earliest <= 410
    assert load.run.onset.latest >= 390
    assert [one.name for one in load.stretches] == ["before it fluctuates", "after that"]
    assert load.stretches[0].means["node_cores"] == pytest.approx(2)


@pytest.mark.parametrize("reason", ["short", "scheduled", "paced", "several"])
def test_what_is_not_judged(reason: str) -> None:
    """A load of a minute, one with a schedule, and several loads in a race."""
    samples = Scene(320, [Load(5, wild(60 if reason == "short" else 300, 40))]).samples()
    changes: dict[str, object] = {}
    if reason == "scheduled":
        changes = {"expectation": Expectation(rate=1000.0)}
    one = task(samples, **changes)
    if reason == "paced":
        one = replace(one, latencies=one.service_times)
    assert sustained_load(samples, [one, one] if reason == "several" else [one]) is None


def test_the_warm_up_that_the_challenge_names_is_left_out() -> None:
    """As its meta-data says, where that is longer than a tenth."""
    samples = Scene(420, [Load(5, wild(400, 300))]).samples()
    load = sustained_load(samples, [task(samples, expectation=Expectation(warmup_seconds=90))])
    assert load is not None
    assert load.run.begin == 90


def test_a_challenge_says_what_it_was_to_index() -> None:
    """The documents that sustained was asked for, and its warm-up, are in the summary."""
    meta = {"sustained": True, "sustained-documents": 123, "warmup-seconds": 7}
    race = race_json([RallyTask("sustained-bulk", "docs/s", steady(20, 10), meta=meta)])
    (found,) = summarise(race, []).bulk_tasks
    assert found.expectation == Expectation(documents=123, warmup_seconds=7.0)
