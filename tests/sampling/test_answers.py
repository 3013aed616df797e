"""Real answers of Elasticsearch 8.8.2 become the right figures."""

from __future__ import annotations

from paddock.sampling import answers
from paddock.sampling.records import Collections, ProcessUsage
from tests.sampling.fake_elasticsearch import NODE, answer


def test_nodes() -> None:
    """CPU, heap, collectors and thread pool come from the right places, in the right units."""
    process = ProcessUsage(pid=1, cpu_seconds=2.0, resident_bytes=3)
    node = answers.nodes(answer("node_stats"), {NODE: process})[NODE]
    assert node.name == "vm"
    assert node.cpu_seconds == 38.08
    assert node.uptime_seconds == 2327.588
    assert node.heap_bytes == 133540896
    assert node.collectors["young"] == Collections(23, 444)
    assert (node.write_completed, node.write_rejected, node.pressure_rejected) == (1475, 0, 0)
    assert node.process is process


def test_rejections_of_all_stages_are_added_up() -> None:
    """Indexing pressure refuses at the coordinator, the primary and the replica."""
    changed = answer("node_stats")
    changed["nodes"][NODE]["indexing_pressure"]["memory"]["total"] = {
        "coordinating_rejections": 1,
        "primary_rejections": 20,
        "replica_rejections": 300,
    }
    assert answers.nodes(changed, {})[NODE].pressure_rejected == 321


def test_indices() -> None:
    """Counters and both kinds of size, of which the one in _stats was long out of date when this was recorded."""
    index = answers.indices(answer("index_stats"), answer("segments"))["logs-b"]
    assert index.uuid == "xhLMFnvQRUeYg8Dn6Q7fwQ"
    assert (index.documents, index.indexed, index.segments, index.refreshes) == (423000, 423000, 7, 9)
    assert index.segment_bytes == index.primary_segment_bytes == 14386219
    assert index.translog_bytes == 37976995


def test_replicas_count_for_the_whole_size_only() -> None:
    """The size of the primaries does not depend on the number of replicas."""
    segments = answer("segments")
    shard = segments["indices"]["logs-b"]["shards"]["0"]
    shard.append({**shard[0], "routing": {"primary": False}})
    index = answers.indices(answer("index_stats"), segments)["logs-b"]
    assert index.segment_bytes == 2 * 14386219
    assert index.primary_segment_bytes == 14386219


def test_an_index_deleted_between_the_questions_has_no_exact_size() -> None:
    """What the second answer lacks is unknown, not zero; what only the second has is left out."""
    segments = answer("segments")
    segments["indices"]["new"] = segments["indices"].pop("logs-b")
    found = answers.indices(answer("index_stats"), segments)
    assert set(found) == {"logs-a", "logs-b"}
    assert found["logs-b"].segment_bytes is None


def test_empty_answers() -> None:
    """A cluster without indices answers {} when the answer is filtered."""
    assert answers.indices({}, {}) == {}
    assert answers.nodes({}, {}) == {}
    assert answers.settings({}) == {}


def test_circumstances() -> None:
    """Versions, JVM, memory and processors are written down."""
    found = answers.circumstances(answer("node_information"), answer("version"))
    node = found["nodes"][NODE]
    assert found["lucene_version"] == "9.6.0"
    assert (node["version"], node["build_flavor"], node["jvm_vendor"]) == ("8.8.2", "default", "Eclipse Adoptium")
    assert node["jvm_version"].startswith("21.0.8")
    assert node["heap_max_bytes"] == 512 * 2**20
    assert node["indexing_buffer_bytes"] == 53687091
    assert (node["allocated_processors"], node["mlockall"]) == (2, False)
    assert node["thread_pools"]["write"]["size"] == 2
    assert "G1 Young Generation" in node["garbage_collectors"]


def test_of_the_settings_of_a_node_only_those_about_speed_are_kept() -> None:
    """Paths to homes, addresses and JVM properties, which may hold secrets, stay out."""
    information = answer("node_information")
    information["nodes"][NODE]["settings"].update(
        {"indices.memory.index_buffer_size": "30%", "cluster.name": "private"}
    )
    information["nodes"][NODE]["jvm"]["input_arguments"].append("-Djavax.net.ssl.keyStorePassword=geheim")
    found = answers.circumstances(information, None)
    assert found["nodes"][NODE]["settings"]["indices.memory.index_buffer_size"] == "30%"
    assert "private" not in str(found)
    assert "geheim" not in str(found)
    assert found["lucene_version"] is None


def test_settings_in_force_are_defaults_with_what_was_set() -> None:
    """An index that sets nothing has its defaults recorded; one that sets something has that."""
    found = answers.settings(answer("index_settings"))
    assert found["logs-a"]["settings"]["index.refresh_interval"] == "5s"
    assert found["logs-b"]["settings"]["index.refresh_interval"] == "1s"
    assert found["logs-a"]["settings"]["index.merge.scheduler.max_thread_count"] == "1"
    assert found["logs-b"]["settings"]["index.translog.durability"] == "REQUEST"
    assert "index.gc_deletes" not in found["logs-a"]["settings"]
