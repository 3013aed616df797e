"""What one sample holds: from Elasticsearch's answers to a line of JSON and back; docs/samples.md tells people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from paddock.errors import FileError
from paddock.plain_values import built

_Line = TypeVar("_Line")
# The parts of a node's settings that can change how fast it is; the rest is names and addresses.
_NODE_SETTINGS = ("indices.", "node.", "bootstrap.", "thread_pool.", "processors", "path.data", "index.")
_INDEX_SETTINGS = (
    *("index.number_of_shards", "index.number_of_replicas", "index.refresh_interval", "index.codec", "index.mode"),
    *("index.store.type", "index.store.preload", "index.sort.field", "index.search.idle.after"),
    *("index.auto_expand_replicas", "index.translog.", "index.merge."),
)


def _at(path: str) -> Any:
    """A counter of an index, and where _stats has it."""
    return field(default=0, metadata={"path": path})


@dataclass(frozen=True)
class IndexCounters:
    """One index at one moment; everything that counts does so since the index was made.

    ``documents``, ``indexed``, ``index_failed`` and all names that begin with ``primary_`` are those of the primary
    shards, so that they do not depend on the number of replicas; the rest is of all shards.

    :param uuid: differs between two indices that had the same name one after the other.
    :param documents: documents that a search would find, as of the last refresh.
    :param indexed: indexing operations done, replacements included.
    :param store_bytes: size as _stats reports it; Elasticsearch renews that figure every 10 s only.
    :param segment_bytes: size of the segments that a search reads, up to date; None if it was not to be had.
    :param merge_throttled_milliseconds: that merges were made to wait so as to write slowly, all threads together.
    :param throttled_milliseconds: indexing was, by shards whose merges had fallen behind.
    :param translog_bytes: what a flush would take out of the translog.
    :param queries: shard queries done.
    """

    uuid: str
    documents: int = _at("primaries.docs.count")
    indexed: int = _at("primaries.indexing.index_total")
    index_failed: int = _at("primaries.indexing.index_failed")
    primary_store_bytes: int = _at("primaries.store.size_in_bytes")
    store_bytes: int = _at("total.store.size_in_bytes")
    primary_segment_bytes: int | None = None
    segment_bytes: int | None = None
    segments: int = _at("total.segments.count")
    merges_running: int = _at("total.merges.current")
    merges: int = _at("total.merges.total")
    merge_milliseconds: int = _at("total.merges.total_time_in_millis")
    merge_throttled_milliseconds: int = _at("total.merges.total_throttled_time_in_millis")
    throttled_milliseconds: int = _at("primaries.indexing.throttle_time_in_millis")
    translog_bytes: int = _at("total.translog.uncommitted_size_in_bytes")
    refreshes: int = _at("total.refresh.total")
    refresh_milliseconds: int = _at("total.refresh.total_time_in_millis")
    flushes: int = _at("total.flush.total")
    flush_milliseconds: int = _at("total.flush.total_time_in_millis")
    queries: int = _at("total.search.query_total")


# Where _stats has the counters of an index, by the names of the fields.
INDEX_FIGURES = {one.name: one.metadata["path"] for one in fields(IndexCounters) if one.metadata}


@dataclass(frozen=True)
class Collections:
    """What one garbage collector has done since the JVM started."""

    count: int
    milliseconds: int


@dataclass(frozen=True)
class ProcessUsage:
    """A node's process as this machine sees it.

    :param cpu_seconds: since the process started, user and system.
    :param written_bytes: bytes it caused to be written to disks, or None where the kernel does not tell.
    :param read_bytes: likewise, read from disks: what the page cache had is not among them.
    """

    pid: int
    cpu_seconds: float
    resident_bytes: int
    written_bytes: int | None = None
    read_bytes: int | None = None


@dataclass(frozen=True)
class NodeCounters:
    """One node at one moment, as it says itself; Elasticsearch renews these figures at most once a second.

    :param cpu_seconds: of the node's process since it started; None where it was not asked.
    :param heap_bytes: of the heap that is in use, garbage included; 0 where the samples are from before it was noted.
    :param write_rejected: bulk requests that the write thread pool refused since the node started.
    :param pressure_rejected: requests refused because too many bytes were being indexed.
    :param process: the same process seen from outside; None for a node on another machine.
    :param cluster: Rally's name for its cluster, where several are sampled together; else empty.
    """

    name: str
    cpu_seconds: float | None = 0.0
    heap_bytes: int = 0
    collectors: Mapping[str, Collections] = field(default_factory=dict)
    write_rejected: int = 0
    pressure_rejected: int = 0
    process: ProcessUsage | None = None
    cluster: str = ""

    @property
    def stopped_milliseconds(self) -> int:
        """How long collections have kept the node from working: ZGC's cycles, as opposed to its pauses, do not."""
        return sum(one.milliseconds for name, one in self.collectors.items() if "Cycles" not in name)


@dataclass(frozen=True)
class ComponentUsage:
    """All processes of the load driver, or of another component, together.

    :param cpu_seconds: since they started, those that have ended included.
    :param busiest: the share of one core that the busiest of them used since the previous sample (1 = a whole core).
    :param written_bytes, read_bytes: to and from disks since they started, those that have ended included; None where
        the kernel does not tell.
    :param busiest_thread: as ``busiest``, of one thread; None of the load driver, whose processes use one core at most.
    """

    processes: int
    cpu_seconds: float
    resident_bytes: int
    busiest: float
    written_bytes: int | None = None
    read_bytes: int | None = None
    busiest_thread: float | None = None


@dataclass(frozen=True)
class DiskUsage:
    """A whole disk with the data of a node, since the machine was started; others use it as well.

    :param busy_seconds: in which it had something to do. A disk that serves several requests at once may be able to do
        more even where that is all of the time.
    """

    busy_seconds: float
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class Sample:
    """One moment of a race.

    :param time: seconds since 1970.
    :param seconds: since the sampler started, by a clock that nobody sets.
    :param missed: requests to the cluster that failed, 0 as long as it has not answered for the first time.
    :param problem: why the last of them failed, or None.
    :param nodes: by node id; None if they could not be asked.
    :param indices: by name; None if they could not be asked.
    :param steal_percent: time of this machine's processors that the hypervisor gave to others since the last sample.
    :param busy_percent: of their time in which they were not idle, stolen time included; None where it was not noted.
    :param components: what belongs to the load and is not its driver, such as a shipper, by name.
    :param disks: with the data of nodes that run here, by the kernel's names.
    :param monotonic: by the machine's steady clock, which the journals of laps have, too; None where it was not noted.
    """

    time: float
    seconds: float
    missed: int
    problem: str | None
    nodes: Mapping[str, NodeCounters] | None
    indices: Mapping[str, IndexCounters] | None
    steal_percent: float
    driver: ComponentUsage
    busy_percent: float | None = None
    components: Mapping[str, ComponentUsage] = field(default_factory=dict)
    disks: Mapping[str, DiskUsage] = field(default_factory=dict)
    monotonic: float | None = None

    def as_line(self) -> dict[str, Any]:
        """The sample as an object for JSON, of the kind "sample"."""
        return {"kind": "sample", **asdict(self)}


def read_samples(file: Path) -> list[Sample]:
    """The samples in the order in which they were taken; none if there is no such file.

    :raises FileError: if a line other than a torn last one cannot be understood.
    """
    return _read(file, "sample", lambda line: built(Sample, line, "the sample"))


def read_circumstances(file: Path) -> list[Mapping[str, Any]]:
    """What the nodes were, each time that changed, as :func:`circumstances` has it.

    :raises FileError: as :func:`read_samples`.
    """
    return _read(file, "circumstances", lambda line: {**line, "nodes": dict(line["nodes"])})


def _read(file: Path, kind: str, understood: Callable[[Any], _Line]) -> list[_Line]:
    """The lines of one kind."""
    found = []
    # What follows the last line end is empty, or torn.
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            if line["kind"] == kind:
                found.append(understood(line))
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(
                file, f"this is no sample as this version of Paddock writes it ({error}).", number
            ) from None
    return found


def nodes(answer: Mapping[str, Any], processes: Mapping[str, ProcessUsage]) -> dict[str, NodeCounters]:
    """The nodes of a _nodes/stats answer, by id; ``processes`` are those that run on this machine."""
    return {
        node_id: NodeCounters(
            name=str(value.get("name", node_id)),
            cpu_seconds=number_at(value, "process.cpu.total_in_millis") / 1000,
            heap_bytes=number_at(value, "jvm.mem.heap_used_in_bytes"),
            collectors={
                name: Collections(number_at(counts, "collection_count"), number_at(counts, "collection_time_in_millis"))
                for name, counts in value.get("jvm", {}).get("gc", {}).get("collectors", {}).items()
            },
            write_rejected=number_at(value, "thread_pool.write.rejected"),
            pressure_rejected=sum(
                number_at(value, f"indexing_pressure.memory.total.{stage}_rejections")
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
    for index, value in stats.get("indices", {}).items():
        primary_bytes, all_bytes = _segment_bytes(listed[index]) if index in listed else (None, None)
        found[index] = IndexCounters(
            uuid=str(value.get("uuid", "")),
            primary_segment_bytes=primary_bytes,
            segment_bytes=all_bytes,
            **{name: number_at(value, path) for name, path in INDEX_FIGURES.items()},
        )
    return found


def circumstances(information: Mapping[str, Any], version: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the nodes are, as they say it: versions, JVM, memory, processors and the settings in force."""
    described = {}
    for node_id, node in sorted(information.get("nodes", {}).items()):
        jvm = dict(node.get("jvm", {}))
        # Only -X options: a system property (-D) may hold the password of a key store.
        jvm["input_arguments"] = [option for option in jvm.get("input_arguments", []) if option.startswith("-X")]
        described[node_id] = {**node, "jvm": jvm, "settings": _wanted(node.get("settings", {}), _NODE_SETTINGS)}
    return {"lucene_version": (version or {}).get("version", {}).get("lucene_version"), "nodes": described}


def settings(answer: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Per index the settings in force that can change how fast it is, whether set or by default."""
    return {
        name: {
            "uuid": value.get("settings", {}).get("index.uuid"),
            "settings": _wanted({**value.get("defaults", {}), **value.get("settings", {})}, _INDEX_SETTINGS),
        }
        for name, value in sorted(answer.items())
    }


def number_at(value: Any, path: str) -> int:
    """A number deep in an answer; 0 where the answer has none, as an index without shards has."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, int) else 0


def _segment_bytes(listed: Mapping[str, Any]) -> tuple[int, int]:
    """Bytes of the primaries and of all shards."""
    copies = [
        (copy.get("routing", {}).get("primary"), sum(one["size_in_bytes"] for one in copy.get("segments", {}).values()))
        for shard in listed.get("shards", {}).values()
        for copy in shard
    ]
    return sum(size for primary, size in copies if primary), sum(size for _, size in copies)


def _wanted(values: Mapping[str, Any], prefixes: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in sorted(values.items()) if key.startswith(prefixes)}
