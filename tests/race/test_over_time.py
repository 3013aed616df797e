"""A race over time: what the samples show of each component, from the first document on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from paddock.race.over_time import (
    ALL_NODES,
    COLLECTION,
    DISK,
    DRIVER,
    INDICES,
    MEMORY,
    PROCESSORS,
    RATE,
    OverTime,
    over_time,
    samples_at_hand,
)
from paddock.sampling.records import Collections, Sample
from tests.race.scenes import Load, Scene

SCENE = Scene(40, [Load(4, [2000] * 20)])


def found(samples: list[Sample]) -> OverTime:
    """The race over time."""
    over = over_time(samples)
    assert over is not None
    return over


def test_every_measure_has_its_unit_and_begins_with_the_load() -> None:
    """20 s of 2,000 docs/s, two cores, a MB a second, 13 ms of collection a second: what the scene is made of."""
    over = found(SCENE.samples())
    assert over.loads == ((0.0, 20.0),)
    (rate,) = over.of(RATE)
    assert (rate.component, rate.mean, rate.peak) == (INDICES, 2000.0, 2000.0)
    assert rate.points[0] == (1.0, 2000.0)
    assert rate.points[-1][1] == 0.0
    node, driver = over.of(PROCESSORS)
    assert (node.component, driver.component) == ("rally-node-0", DRIVER)
    assert (node.mean, driver.mean) == (pytest.approx(2.0), pytest.approx(0.5))
    assert over.of(DISK)[0].mean == pytest.approx(1.0)
    assert over.of(COLLECTION)[0].mean == pytest.approx(1.3)
    memory, of_driver = over.of(MEMORY)
    assert memory.peak == pytest.approx((1400 * 2**20 + 40 * 2**10) / 2**30)
    assert of_driver.component == DRIVER
    assert over.whole(PROCESSORS) == node
    assert over.whole(RATE) == rate


def test_several_nodes_are_told_apart_and_added() -> None:
    """Each by its name; together only at moments at which all were seen."""
    samples = []
    for sample in SCENE.samples():
        nodes = dict(sample.nodes or {})
        if sample.seconds != 10:
            nodes["other"] = replace(nodes["node"], name="rally-node-1")
        samples.append(replace(sample, nodes=nodes))
    over = found(samples)
    names = [one.component for one in over.of(PROCESSORS)]
    assert names == ["rally-node-0", "rally-node-1", ALL_NODES, DRIVER]
    together = over.whole(PROCESSORS)
    assert together is not None
    assert together.mean == pytest.approx(4.0)
    assert 6.0 not in [at for at, _ in together.points]


def test_nodes_elsewhere_tell_what_they_say_themselves() -> None:
    """Their processor time and collections; nobody here sees their memory and their writes."""
    over = found(replace(SCENE, local=False).samples())
    assert over.whole(PROCESSORS) is not None
    assert over.whole(MEMORY) is None
    assert [one.component for one in over.of(MEMORY)] == [DRIVER]
    assert over.of(DISK) == ()


def test_a_missed_second_makes_a_longer_one() -> None:
    """No gap and no peak: the rate of two seconds together."""
    over = found(replace(SCENE, missed=[10, 11]).samples())
    assert {value for _, value in over.of(RATE)[0].points} == {2000.0, 0.0}
    assert over.of(PROCESSORS)[0].peak == pytest.approx(2.0)


def test_a_long_race_is_thinned() -> None:
    """Half an hour has as many points as a plot can show, and keeps its mean and its peak."""
    documents = [2000] * 1800
    documents[700] = 9000
    over = found(Scene(1900, [Load(4, documents)]).samples())
    (rate,) = over.of(RATE)
    assert len(rate.points) <= 300
    assert rate.peak == 9000
    assert rate.mean == pytest.approx(2000 + 7000 / 1800)


def test_nothing_to_show(tmp_path: Path) -> None:
    """Without samples, without a document, and of samples that are none."""
    assert over_time([]) is None
    assert over_time(Scene(10, []).samples()) is None
    file = tmp_path / "samples.jsonl"
    assert over_time(samples_at_hand(tmp_path)) is None
    file.write_text('{"kind": "sample", "what": 1}\n', encoding="utf-8")
    assert over_time(samples_at_hand(tmp_path)) is None


def test_several_loads_have_their_own_times() -> None:
    """What lies between them is no load; a pause of a moment is."""
    over = found(Scene(90, [Load(4, [2000] * 20), Load(44, [1000, 1000, 0, 0, 1000], "other")]).samples())
    assert over.loads == ((0.0, 20.0), (40.0, 45.0))
    assert over.of(RATE)[0].mean == pytest.approx((20 * 2000 + 3000) / 25)


def test_a_node_whose_process_is_not_always_seen_has_no_peaks_of_our_making() -> None:
    """The kernel's seconds and the node's own are two counters: what lies between them is no work."""
    samples = SCENE.samples()
    node = dict(samples[12].nodes or {})["node"]
    samples[12] = replace(samples[12], nodes={"node": replace(node, process=None, cpu_seconds=1.0)})
    assert found(samples).of(PROCESSORS)[0].peak == pytest.approx(2.0)


def test_coarser_lines_keep_mean_and_peak() -> None:
    """Sixty points at most, which have the mean of what they stand for; mean and peak stay those of seconds."""
    over = found(Scene(400, [Load(4, [1000, 3000] * 180)]).samples())
    (rate,) = over.coarser().of(RATE)
    assert len(rate.points) <= 60
    assert (rate.mean, rate.peak) == (over.of(RATE)[0].mean, 3000)
    assert {round(value, -2) for at, value in rate.points if at < 350} <= {1900, 2000, 2100}


def test_cycles_beside_the_work_are_no_pauses() -> None:
    """ZGC tells of both: a node that goes on working while it collects has not stood still."""
    samples = []
    for sample in SCENE.samples():
        node = dict(sample.nodes or {})["node"]
        both = {"ZGC Minor Cycles": Collections(1, int(900 * sample.seconds)), "ZGC Minor Pauses": Collections(1, 20)}
        samples.append(replace(sample, nodes={"node": replace(node, collectors=both)}))
    assert found(samples).of(COLLECTION)[0].peak == 0.0
