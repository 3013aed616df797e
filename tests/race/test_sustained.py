"""How a long load held: what is judged of it, and what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paddock.race.summarise import summarise
from paddock.race.summary import BulkTask, Expectation
from paddock.race.sustained import sustained_load
from paddock.sampling.records import Sample
from tests.race.scenes import Load, RallyTask, Scene, race_json, steady


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
