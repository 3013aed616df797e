"""From Elasticsearch's answers to the records of a sample; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddock.sampling.records import Collections, IndexCounters, NodeCounters, ProcessUsage

# The parts of a node's settings that can change how fast it is; the rest is names and addresses.
_NODE_SETTINGS = ("indices.", "node.", "bootstrap.", "thread_pool.", "processors", "path.data", "index.")
_INDEX_SETTINGS = (
    "index.number_of_shards",
    "index.number_of_replicas",
    "index.refresh_interval",
    "index.codec",
    "index.mode",
    "index.store.type",
    "index.store.preload",
    "index.sort.field",
    "index.search.idle.after",
    "index.auto_expand_replicas",
    "index.translog.",
    "index.merge.",
)


def nodes(answer: Mapping[str, Any], processes: Mapping[str, ProcessUsage]) -> dict[str, NodeCounters]:
    """The nodes of a _nodes/stats answer, by id; ``processes`` are those that run on this machine."""
    return {
        node_id: NodeCounters(
            name=str(value.get("name", node_id)),
            cpu_seconds=_at(value, "process.cpu.total_in_millis") / 1000,
            uptime_seconds=_at(value, "jvm.uptime_in_millis") / 1000,
            heap_bytes=_at(value, "jvm.mem.heap_used_in_bytes"),
            collectors={
                name: Collections(_at(counts, "collection_count"), _at(counts, "collection_time_in_millis"))
                for name, counts in value.get("jvm", {}).get("gc", {}).get("collectors", {}).items()
            },
            write_queue=_at(value, "thread_pool.write.queue"),
            write_active=_at(value, "thread_pool.write.active"),
            write_rejected=_at(value, "thread_pool.write.rejected"),
            write_completed=_at(value, "thread_pool.write.completed"),
            pressure_rejected=sum(
                _at(value, f"indexing_pressure.memory.total.{stage}_rejections")
                for stage in ("coordinating", "primary", "replica")
            ),
            process=processes.get(node_id),
        )
        for node_id, value in answer.get("nodes", {}).items()
    }


def indices(stats: Mapping[str, Any], segments: Mapping[str, Any] | None) -> dict[str, IndexCounters]:
    """The indices of a _stats answer, by name.

    :param segments: the _segments answer, or None if there was none; an index made or deleted between the two questions
        simply has no exact size.
    """
    found = {}
    listed = (segments or {}).get("indices", {})
    for name, value in stats.get("indices", {}).items():
        sizes = _segment_bytes(listed[name]) if name in listed else (None, None)
        found[name] = IndexCounters(
            uuid=str(value.get("uuid", "")),
            documents=_at(value, "primaries.docs.count"),
            indexed=_at(value, "primaries.indexing.index_total"),
            index_failed=_at(value, "primaries.indexing.index_failed"),
            index_milliseconds=_at(value, "primaries.indexing.index_time_in_millis"),
            primary_store_bytes=_at(value, "primaries.store.size_in_bytes"),
            store_bytes=_at(value, "total.store.size_in_bytes"),
            primary_segment_bytes=sizes[0],
            segment_bytes=sizes[1],
            segments=_at(value, "total.segments.count"),
            merges_running=_at(value, "total.merges.current"),
            merges=_at(value, "total.merges.total"),
            merged_documents=_at(value, "total.merges.total_docs"),
            merge_milliseconds=_at(value, "total.merges.total_time_in_millis"),
            refreshes=_at(value, "total.refresh.total"),
            refresh_milliseconds=_at(value, "total.refresh.total_time_in_millis"),
            flushes=_at(value, "total.flush.total"),
            flush_milliseconds=_at(value, "total.flush.total_time_in_millis"),
            translog_bytes=_at(value, "total.translog.size_in_bytes"),
            queries=_at(value, "total.search.query_total"),
        )
    return found


def circumstances(information: Mapping[str, Any], version: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the nodes are: versions, JVM, memory, processors and the settings in force."""
    root = (version or {}).get("version", {})
    return {
        "lucene_version": root.get("lucene_version"),
        "nodes": {
            node_id: _node_circumstances(value) for node_id, value in sorted(information.get("nodes", {}).items())
        },
    }


def settings(answer: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Per index the settings in force that can change how fast it is, whether set or by default."""
    return {
        name: {
            "uuid": value.get("settings", {}).get("index.uuid"),
            "settings": _wanted({**value.get("defaults", {}), **value.get("settings", {})}, _INDEX_SETTINGS),
        }
        for name, value in sorted(answer.items())
    }


def _node_circumstances(value: Mapping[str, Any]) -> dict[str, Any]:
    jvm, system, process = value.get("jvm", {}), value.get("os", {}), value.get("process", {})
    return {
        "name": value.get("name"),
        "version": value.get("version"),
        "build_hash": value.get("build_hash"),
        "build_flavor": value.get("build_flavor"),
        "roles": value.get("roles", []),
        "jvm_version": jvm.get("vm_version") or jvm.get("version"),
        "jvm_name": jvm.get("vm_name"),
        "jvm_vendor": jvm.get("vm_vendor"),
        "jvm_start_milliseconds": jvm.get("start_time_in_millis"),
        # Only -X options: a system property (-D) may hold the password of a key store.
        "jvm_options": [option for option in jvm.get("input_arguments", []) if option.startswith("-X")],
        "garbage_collectors": jvm.get("gc_collectors", []),
        "heap_max_bytes": jvm.get("mem", {}).get("heap_max_in_bytes"),
        "indexing_buffer_bytes": value.get("total_indexing_buffer"),
        "operating_system": system.get("pretty_name") or system.get("name"),
        "kernel": system.get("version"),
        "architecture": system.get("arch"),
        "available_processors": system.get("available_processors"),
        "allocated_processors": system.get("allocated_processors"),
        "mlockall": process.get("mlockall"),
        "thread_pools": value.get("thread_pool", {}),
        "plugins": {plugin["name"]: plugin.get("version") for plugin in value.get("plugins", [])},
        "settings": _wanted(value.get("settings", {}), _NODE_SETTINGS),
    }


def _segment_bytes(listed: Mapping[str, Any]) -> tuple[int, int]:
    """Bytes of the primaries and of all shards."""
    primary = total = 0
    for copies in listed.get("shards", {}).values():
        for copy in copies:
            size = sum(segment["size_in_bytes"] for segment in copy.get("segments", {}).values())
            total += size
            primary += size if copy.get("routing", {}).get("primary") else 0
    return primary, total


def _wanted(values: Mapping[str, Any], prefixes: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in sorted(values.items()) if key.startswith(prefixes)}


def _at(value: Any, path: str) -> int:
    """A number deep in an answer; 0 where the answer has none, as an index without shards has."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, int) else 0
