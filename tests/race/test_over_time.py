"""A race over time: what the samples show of each component in every second, whenever they came."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.race.over_time import (
    ALL_NODES,
    COLLECTION,
    DISK_BUSY,
    DRIVER,
    INDICES,
    MACHINE_BUSY,
    MEMORY,
    PROCESSORS,
    RATE,
    READ,
    WRITTEN,
    OverTime,
    Series,
    load_seconds,
    over_time,
    samples_at_hand,
    write_seconds,
)
from paddock.sampling.records import Collections, ComponentUsage, DiskUsage, Sample
from tests.race.scenes import Load, Scene

SCENE = Scene(40, [Load(4, [2000] * 20)])


def found(samples: list[Sample]) -> OverTime:
    """The race over time."""
    over = over_time(samples)
    assert over is not None
    return over


def mean(over: OverTime, measure: str) -> float | None:
    """Of all nodes together, or all indices, while documents came in."""
    whole = over.whole(measure)
    return whole.mean(*over.loads) if whole else None


def part(samples: list[Sample]) -> OverTime:
    """The first four seconds of it."""
    return found(samples).until(4)


def test_every_measure_has_its_unit_and_begins_with_the_load() -> None:
    """20 s of 2,000 docs/s, two cores, a MB a second, 13 ms of collection a second: what the scene is made of."""
    over = found(SCENE.samples())
    assert over.loads == ((0.0, 20.0),)
    (rate,) = over.of(RATE)
    assert (rate.component, rate.mean(*over.loads), rate.peak) == (INDICES, 2000.0, 2000.0)
    assert rate.points()[0] == (0.5, 2000.0)
    assert rate.points()[-1] == (35.5, 0.0)
    node, driver = over.of(PROCESSORS)
    assert (node.component, driver.component) == ("rally-node-0", DRIVER)
    assert (mean(over, PROCESSORS), driver.mean(*over.loads)) == (pytest.approx(2.0), pytest.approx(0.5))
    assert mean(over, WRITTEN) == pytest.approx(10**6 / 2**20)
    assert mean(over, COLLECTION) == pytest.approx(0.013)
    memory, of_driver = over.of(MEMORY)
    assert memory.peak == pytest.approx(1400 + 40 / 2**10)
    assert of_driver.component == DRIVER
    assert over.whole(PROCESSORS) == node
    assert over.whole(RATE) == rate


def test_several_nodes_are_told_apart_and_added() -> None:
    """Each by its name; together only at moments at which all were seen."""
    samples = []
    for sample in SCENE.samples():
        nodes = dict(sample.nodes or {})
        if not 10 <= sample.seconds < 14:
            nodes["other"] = replace(nodes["node"], name="rally-node-1")
        samples.append(replace(sample, nodes=nodes))
    over = found(samples)
    names = [one.component for one in over.of(PROCESSORS)]
    assert names == ["rally-node-0", "rally-node-1", ALL_NODES, DRIVER]
    together = over.whole(PROCESSORS)
    assert together is not None
    assert together.mean(*over.loads) == pytest.approx(4.0)
    assert max(value for value in together.values if value is not None) == pytest.approx(4.0)
    memory = over.whole(MEMORY)
    assert memory is not None
    assert min(value for value in memory.values if value is not None) > 2799
    assert over.columns["node_cores"] == together.values
    assert "rally-node-0_cores" not in over.columns


def test_nodes_of_one_name_are_numbered_and_one_that_comes_back_is_one() -> None:
    """Two at the same time are two rows; an id that follows on another one of the same name is the same node."""
    both, back = [], []
    for sample in SCENE.samples():
        node = (sample.nodes or {})["node"]
        process = node.process
        assert process is not None
        idle = replace(node, process=replace(process, cpu_seconds=0.1 * sample.seconds))
        both.append(replace(sample, nodes={"a": idle, "b": node}))
        anew = replace(node, process=replace(process, cpu_seconds=1.5 * (sample.seconds - 12)))
        there = {"a": idle} if sample.seconds < 10 else {"b": anew} if sample.seconds > 12 else {}
        back.append(replace(sample, nodes=there))
    over = found(both)
    assert [one.component for one in over.of(PROCESSORS)][:3] == ["rally-node-0 (1)", "rally-node-0 (2)", ALL_NODES]
    assert [round(one.mean(*over.loads) or 0, 2) for one in over.of(PROCESSORS)[:3]] == [0.1, 2.0, 2.1]
    over = found(back)
    assert [one.component for one in over.of(PROCESSORS)] == ["rally-node-0", DRIVER]
    node_cores = over.of(PROCESSORS)[0]
    assert (node_cores.mean((0, 5)), node_cores.mean((10, 20))) == (pytest.approx(0.1), pytest.approx(1.5))


def test_nodes_elsewhere_tell_what_they_say_themselves() -> None:
    """Their processor time and collections; nobody here sees their memory and their writes."""
    over = found(replace(SCENE, local=False).samples())
    assert over.whole(PROCESSORS) is not None
    assert over.whole(MEMORY) is None
    assert [one.component for one in over.of(MEMORY)] == [DRIVER]
    assert over.of(WRITTEN) == ()


def test_a_missed_second_makes_a_longer_one() -> None:
    """No gap and no peak: the rate of two seconds together."""
    over = found(replace(SCENE, missed=[10, 11]).samples())
    assert {value for _, value in over.of(RATE)[0].points()} == {2000.0, 0.0}
    assert over.of(PROCESSORS)[0].peak == pytest.approx(2.0)


def test_a_long_race_is_thinned() -> None:
    """Half an hour has as many points as a plot can show, and keeps its mean and its peak."""
    documents = [2000] * 1800
    documents[700] = 9000
    over = found(Scene(1900, [Load(4, documents)]).samples())
    (rate,) = over.of(RATE)
    assert len(rate.points()) <= 300
    assert rate.peak == 9000
    assert mean(over, RATE) == pytest.approx(2000 + 7000 / 1800)


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
    assert mean(over, RATE) == pytest.approx((20 * 2000 + 3000) / 25)


def test_an_index_that_rolls_over_ends_no_load() -> None:
    """The next is written to at once; a load into it that begins after a pause is another."""
    loads = [Load(1, [10] * 4, "logs-1", "a"), Load(5, [30] * 4, "logs-2", "b"), Load(11, [30] * 4, "logs-3", "c")]
    assert found(Scene(20, loads).samples()).loads == ((0.0, 8.0), (10.0, 14.0))


def test_a_node_whose_process_is_not_always_seen_has_no_peaks_of_our_making() -> None:
    """The kernel's seconds and the node's own are two counters: what lies between them is no work."""
    samples = SCENE.samples()
    node = dict(samples[12].nodes or {})["node"]
    samples[12] = replace(samples[12], nodes={"node": replace(node, process=None, cpu_seconds=1.0)})
    assert found(samples).of(PROCESSORS)[0].peak == pytest.approx(2.0)


def test_few_points_are_means_of_what_they_stand_for() -> None:
    """Sixty at most; the peak stays that of seconds."""
    (rate,) = found(Scene(400, [Load(4, [1000, 3000] * 180)]).samples()).of(RATE)
    points = rate.points(60)
    assert len(points) <= 60
    assert rate.peak == 3000
    assert {round(value, -2) for at, value in points if at < 350} <= {1900, 2000, 2100}


def test_cycles_beside_the_work_are_no_pauses() -> None:
    """ZGC tells of both: a node that goes on working while it collects has not stood still."""
    samples = []
    for sample in SCENE.samples():
        node = dict(sample.nodes or {})["node"]
        both = {"ZGC Minor Cycles": Collections(1, int(900 * sample.seconds)), "ZGC Minor Pauses": Collections(1, 20)}
        samples.append(replace(sample, nodes={"node": replace(node, collectors=both)}))
    assert found(samples).of(COLLECTION)[0].peak == 0.0


def test_every_second_has_what_grew_in_it() -> None:
    """Documents, cores, collections, writes: as the scene has made them; what no node tells is not known."""
    samples = Scene(12, [Load(2, [10, 20, 30, 40])]).samples()
    seconds = part(samples)
    assert seconds.columns["documents"] == (10, 20, 30, 40)
    assert seconds.columns["node_cores"] == (2, 2, 2, 2)
    assert seconds.columns["driver_cores"] == (0.5, 0.5, 0.5, 0.5)
    assert seconds.columns["gc_share"] == (0.013,) * 4
    assert seconds.columns["written_mib"] == pytest.approx((10**6 / 2**20,) * 4, abs=1e-5)
    assert seconds.columns["merging_threads"] == pytest.approx((0.3,) * 4)
    assert seconds.columns["segments"] == (7,) * 4
    assert seconds.columns["steal_percent"] == (0.5,) * 4
    assert set(seconds.columns["heap_mib"]) == {None}
    (documents,) = seconds.of(RATE)
    assert documents.mean((1, 3)) == 25
    assert documents.mean((4, 9)) is None


def test_nodes_elsewhere_tell_their_processor_time_and_no_more() -> None:
    """Memory and writes of another machine are not known; nor is the driver's where no process of it was seen."""
    samples = Scene(8, [Load(2, [10] * 4)], local=False).samples()
    unseen = [replace(one, driver=replace(one.driver, processes=0)) for one in samples]
    seconds = part(unseen)
    assert seconds.whole(PROCESSORS) is not None
    assert {name for name, column in seconds.columns.items() if not any(column)} >= {
        "node_memory_mib",
        "written_mib",
        "driver_cores",
    }


def test_a_process_that_is_not_seen_for_a_moment_costs_nothing() -> None:
    """The kernel counts from another moment on than the node itself: one is never taken for the other."""
    samples = Scene(12, [Load(2, [10, 20, 30, 40])]).samples()
    assert samples[4].nodes is not None
    unseen = {name: replace(node, process=None, cpu_seconds=900.0) for name, node in samples[4].nodes.items()}
    samples[4] = replace(samples[4], nodes=unseen)
    assert part(samples).columns["node_cores"] == (2, 2, 2, 2)


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
    seconds = found(moved)
    told = [value or 0.0 for value in seconds.columns["documents"]]
    assert len(told) == int(moved[-1].seconds - known[3].seconds)
    assert sum(told) == pytest.approx(sum(documents), abs=1e-3)
    assert min(told) >= 0


def test_the_file_has_a_line_for_every_second(tmp_path: Path) -> None:
    """Named columns; empty where nothing is known."""
    seconds = part(Scene(9, [Load(2, [10, 20, 30, 40])]).samples())
    write_seconds(seconds, tmp_path / "series.csv")
    with (tmp_path / "series.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["second"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["documents"] for row in rows] == ["10", "20", "30", "40"]
    assert {row["heap_mib"] for row in rows} == {""}


def shipped(sample: Sample) -> Sample:
    """With a shipper that comes in second 10, uses 1.2 cores and writes 2 MiB a second, and ends in second 20."""
    at = sample.seconds
    if at < 10:
        return replace(sample, busy_percent=50.0)
    alive = at < 20
    used = ComponentUsage(
        processes=2 if alive else 0,
        cpu_seconds=1.2 * (min(at, 20) - 9),
        resident_bytes=64 * 2**20 if alive else 0,
        busiest=0.7,
        written_bytes=2 * 2**20 * int(min(at, 20) - 9),
        read_bytes=0,
        busiest_thread=0.6,
    )
    disks = {"vda": DiskUsage(0.25 * at, 0, 0)}
    return replace(sample, components={"shipper": used}, disks=disks, busy_percent=90.0)


def test_components_are_told_beside_the_driver(tmp_path: Path) -> None:
    """From nothing before they come to nothing after they have ended; what they used is theirs, not the driver's."""
    over = found([shipped(one) for one in SCENE.samples()])
    cores = over.one(PROCESSORS, "shipper")
    assert cores is not None
    assert cores.values[:5] == (0.0,) * 5
    assert cores.values[5:16] == pytest.approx((1.2,) * 11)
    assert cores.values[17:] == (0.0,) * len(cores.values[17:])
    assert mean_of(over.one(MEMORY, "shipper"), 7, 15) == 64
    assert mean_of(over.one(WRITTEN, "shipper"), 7, 15) == pytest.approx(2)
    assert mean_of(over.one(READ, "shipper"), 7, 15) == 0
    assert mean_of(over.one(PROCESSORS, DRIVER), 0, 20) == pytest.approx(0.5)
    assert mean_of(over.one(DISK_BUSY, "vda"), 8, 20) == pytest.approx(0.25)
    assert mean_of(over.whole(MACHINE_BUSY), 8, 20) == 90
    write_seconds(over, tmp_path / "series.csv")
    columns = (tmp_path / "series.csv").read_text().splitlines()[0].split(",")
    assert columns[:3] == ["second", "documents", "node_cores"]
    assert {"shipper_cores", "shipper_memory_mib", "shipper_written_mib", "vda_busy", "busy_percent"} <= set(columns)


def mean_of(one: object, begin: float, end: float) -> float | None:
    """The mean of a series that is there."""
    assert isinstance(one, Series)
    return one.mean((begin, end))


def test_a_level_that_nobody_sees_any_more_is_not_known() -> None:
    """A node that is gone keeps no memory; the second in which a sample is late still has that of before."""
    samples = [replace(one, nodes=None) if one.seconds > 15 or one.seconds == 8 else one for one in SCENE.samples()]
    memory = found(samples).whole(MEMORY)
    assert memory is not None
    assert None not in memory.values[:12]
    assert set(memory.values[12:]) == {None}
