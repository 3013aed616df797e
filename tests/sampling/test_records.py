"""Real answers of Elasticsearch 8.8.2 become the right figures, and what the sampler writes is read back as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import FileError
from paddock.sampling import Sample, read_samples, records
from paddock.sampling.records import (
    Collections,
    ComponentUsage,
    DiskUsage,
    IndexCounters,
    NodeCounters,
    ProcessUsage,
    read_circumstances,
)
from tests.sampling.fake_elasticsearch import NODE, answer


def test_nodes() -> None:
    """CPU, heap, collectors and thread pool come from the right places, in the right units."""
    process = ProcessUsage(pid=1, cpu_seconds=2.0, resident_bytes=3)
    node = records.nodes(answer("node_stats"), {NODE: process})[NODE]
    assert node.name == "vm"
    assert node.cpu_seconds == 38.08
    assert node.collectors["young"] == Collections(23, 444)
    assert (node.write_rejected, node.pressure_rejected) == (0, 0)
    assert node.process is process


def test_rejections_of_all_stages_are_added_up() -> None:
    """Indexing pressure refuses at the coordinator, the primary and the replica."""
    changed = answer("node_stats")
    changed["nodes"][NODE]["indexing_pressure"]["memory"]["total"] = {
        "coordinating_rejections": 1,
        "primary_rejections": 20,
        "replica_rejections": 300,
    }
    assert records.nodes(changed, {})[NODE].pressure_rejected == 321


def test_indices() -> None:
    """Counters and both kinds of size, of which the one in _stats was long out of date when this was recorded."""
    index = records.indices(answer("index_stats"), answer("segments"))["logs-b"]
    assert index.uuid == "xhLMFnvQRUeYg8Dn6Q7fwQ"
    assert (index.documents, index.indexed, index.segments, index.refreshes) == (423000, 423000, 7, 9)
    assert index.segment_bytes == index.primary_segment_bytes == 14386219


def test_replicas_count_for_the_whole_size_only() -> None:
    """The size of the primaries does not depend on the number of replicas."""
    segments = answer("segments")
    shard = segments["indices"]["logs-b"]["shards"]["0"]
    shard.append({**shard[0], "routing": {"primary": False}})
    index = records.indices(answer("index_stats"), segments)["logs-b"]
    assert index.segment_bytes == 2 * 14386219
    assert index.primary_segment_bytes == 14386219


def test_an_index_deleted_between_the_questions_has_no_exact_size() -> None:
    """What the second answer lacks is unknown, not zero; what only the second has is left out."""
    segments = answer("segments")
    segments["indices"]["new"] = segments["indices"].pop("logs-b")
    found = records.indices(answer("index_stats"), segments)
    assert set(found) == {"logs-a", "logs-b"}
    assert found["logs-b"].segment_bytes is None


def test_empty_answers() -> None:
    """A cluster without indices answers {} when the answer is filtered."""
    assert records.indices({}, {}) == {}
    assert records.nodes({}, {}) == {}
    assert records.settings({}) == {}


def test_circumstances() -> None:
    """Versions, JVM, memory and processors are written down."""
    found = records.circumstances(answer("node_information"), answer("version"))
    node = found["nodes"][NODE]
    assert found["lucene_version"] == "9.6.0"
    jvm = node["jvm"]
    assert (node["version"], node["build_flavor"], jvm["vm_vendor"]) == ("8.8.2", "default", "Eclipse Adoptium")
    assert jvm["vm_version"].startswith("21.0.8")
    assert jvm["mem"]["heap_max_in_bytes"] == 512 * 2**20
    assert node["total_indexing_buffer"] == 53687091
    assert (node["os"]["allocated_processors"], node["process"]["mlockall"]) == (2, False)
    assert node["thread_pool"]["write"]["size"] == 2
    assert "G1 Young Generation" in jvm["gc_collectors"]


def test_of_the_settings_of_a_node_only_those_about_speed_are_kept() -> None:
    """Paths to homes, addresses and JVM properties, which may hold secrets, stay out."""
    information = answer("node_information")
    information["nodes"][NODE]["settings"].update(
        {"indices.memory.index_buffer_size": "30%", "cluster.name": "private"}
    )
    information["nodes"][NODE]["jvm"]["input_arguments"].append("-Djavax.net.ssl.keyStorePassword=geheim")
    found = records.circumstances(information, None)
    assert found["nodes"][NODE]["settings"]["indices.memory.index_buffer_size"] == "30%"
    assert "private" not in str(found)
    assert "geheim" not in str(found)
    assert found["lucene_version"] is None


def test_settings_in_force_are_defaults_with_what_was_set() -> None:
    """An index that sets nothing has its defaults recorded; one that sets something has that."""
    found = records.settings(answer("index_settings"))
    assert found["logs-a"]["settings"]["index.refresh_interval"] == "5s"
    assert found["logs-b"]["settings"]["index.refresh_interval"] == "1s"
    assert found["logs-a"]["settings"]["index.merge.scheduler.max_thread_count"] == "1"
    assert found["logs-b"]["settings"]["index.translog.durability"] == "REQUEST"
    assert "index.gc_deletes" not in found["logs-a"]["settings"]


numbers = st.integers(0, 2**53)
times = st.floats(0, 1e10)
nodes = st.builds(
    NodeCounters,
    name=st.text(),
    cpu_seconds=times,
    collectors=st.dictionaries(st.text(), st.builds(Collections, numbers, numbers), max_size=3),
    write_rejected=numbers,
    process=st.none() | st.builds(ProcessUsage, numbers, times, numbers, st.none() | numbers),
)
indices = st.builds(IndexCounters, uuid=st.text(), indexed=numbers, segment_bytes=st.none() | numbers)
usage = st.builds(
    ComponentUsage,
    *(numbers, times, numbers, times),
    written_bytes=st.none() | numbers,
    read_bytes=st.none() | numbers,
    busiest_thread=st.none() | times,
)
samples = st.builds(
    Sample,
    time=times,
    seconds=times,
    missed=st.integers(0, 3),
    problem=st.none() | st.text(),
    nodes=st.none() | st.dictionaries(st.text(), nodes, max_size=3),
    indices=st.none() | st.dictionaries(st.text(), indices, max_size=3),
    steal_percent=times,
    driver=usage,
    busy_percent=st.none() | times,
    components=st.dictionaries(st.text(), usage, max_size=2),
    disks=st.dictionaries(st.text(), st.builds(DiskUsage, times, numbers, numbers), max_size=2),
)


@given(sample=samples)
def test_a_sample_survives_writing_and_reading(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a sample holds, its line of JSON gives it back."""
    file = tmp_path_factory.getbasetemp() / "one-sample.jsonl"
    file.write_text(json.dumps(sample.as_line()) + "\n")
    assert read_samples(file) == [sample]


def _line(seconds: float) -> str:
    sample = Sample(0, seconds, 0, None, None, None, 0, ComponentUsage(0, 0, 0, 0))
    return json.dumps(sample.as_line()) + "\n"


def test_samples_of_before_can_be_read(tmp_path: Path) -> None:
    """Those without components, disks, bytes read and busy processors: nothing is made up for what they lack."""
    line = json.loads(_line(1))
    for name in ("components", "disks", "busy_percent"):
        del line[name]
    for name in ("written_bytes", "read_bytes", "busiest_thread"):
        del line["driver"][name]
    file = tmp_path / "samples.jsonl"
    file.write_text(json.dumps(line) + "\n")
    (sample,) = read_samples(file)
    assert (sample.components, sample.disks, sample.busy_percent, sample.driver.read_bytes) == ({}, {}, None, None)


def test_circumstances_can_be_read(tmp_path: Path) -> None:
    """Each time that they changed; samples between them are passed over, and the settings, too."""
    file = tmp_path / "samples.jsonl"
    told = [{"kind": "circumstances", "nodes": {"a": {"name": name}}} for name in ("one", "two")]
    lines = [_line(1), *(json.dumps(one) + "\n" for one in told), json.dumps({"kind": "settings"}) + "\n"]
    file.write_text("".join(lines))
    assert [one["nodes"]["a"]["name"] for one in read_circumstances(file)] == ["one", "two"]


def test_every_cut_of_the_file_can_be_read(tmp_path: Path) -> None:
    """Wherever a power cut tears the last line, the samples before it are there."""
    file = tmp_path / "samples.jsonl"
    whole = (_line(1) + _line(2)).encode()
    first = whole.index(b"\n") + 1
    for length in range(0, len(whole) + 1, 7):
        file.write_bytes(whole[:length])
        assert [sample.seconds for sample in read_samples(file)] == [1, 2][: (length >= first) + (length == len(whole))]


def test_no_file_means_no_samples(tmp_path: Path) -> None:
    """A race of which nothing was sampled is no error."""
    assert read_samples(tmp_path / "none") == []


@pytest.mark.parametrize(
    "middle", ["{broken\n", "[]\n", '{"kind": "sample"}\n', '{"kind": "sample", "nodes": 1, "indices": {}}\n']
)
def test_damage_elsewhere_is_told_with_its_line(tmp_path: Path, middle: str) -> None:
    """Only the last line can have been torn: damage before it is not passed over."""
    file = tmp_path / "samples.jsonl"
    file.write_text(_line(1) + middle + _line(3))
    with pytest.raises(FileError) as error:
        read_samples(file)
    assert error.value.line == 2


def test_what_is_no_sample_is_passed_over(tmp_path: Path) -> None:
    """Circumstances and settings stand between the samples."""
    file = tmp_path / "samples.jsonl"
    file.write_text('{"kind": "circumstances"}\n' + _line(1) + '{"kind": "settings"}\n')
    assert [sample.seconds for sample in read_samples(file)] == [1]


def test_only_what_stops_a_node_is_collection() -> None:
    """ZGC's cycles run beside the work; its pauses, and G1's collections, do not."""
    zgc = NodeCounters(
        "n", collectors={"ZGC Minor Cycles": Collections(9, 900), "ZGC Minor Pauses": Collections(27, 3)}
    )
    assert zgc.stopped_milliseconds == 3
    g1 = NodeCounters("n", collectors={"young": Collections(1, 20), "old": Collections(1, 300)})
    assert g1.stopped_milliseconds == 320
