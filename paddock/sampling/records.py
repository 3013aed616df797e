"""What one sample holds, its form as a line of JSON, and reading the file; docs/samples.md says the same for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from paddock.errors import FileError


@dataclass(frozen=True)
class IndexCounters:
    """One index at one moment; everything that counts does so since the index was made.

    ``documents``, ``indexed``, ``index_failed``, ``index_milliseconds`` and all names that begin with ``primary_`` are
    those of the primary shards, so that they do not depend on the number of replicas; the rest is of all shards.

    :param uuid: differs between two indices that had the same name one after the other.
    :param documents: documents that a search would find, as of the last refresh.
    :param indexed: indexing operations done, replacements included.
    :param store_bytes: size as _stats reports it; Elasticsearch renews that figure every 10 s only.
    :param segment_bytes: size of the segments that a search reads, up to date; None if it was not to be had.
    :param translog_bytes: size of the translog.
    :param merges_running: merges that run at this moment.
    :param queries: shard queries done.
    """

    uuid: str
    documents: int = 0
    indexed: int = 0
    index_failed: int = 0
    index_milliseconds: int = 0
    primary_store_bytes: int = 0
    store_bytes: int = 0
    primary_segment_bytes: int | None = None
    segment_bytes: int | None = None
    segments: int = 0
    merges_running: int = 0
    merges: int = 0
    merged_documents: int = 0
    merge_milliseconds: int = 0
    refreshes: int = 0
    refresh_milliseconds: int = 0
    flushes: int = 0
    flush_milliseconds: int = 0
    translog_bytes: int = 0
    queries: int = 0


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
    """

    pid: int
    cpu_seconds: float
    resident_bytes: int
    written_bytes: int | None = None


@dataclass(frozen=True)
class NodeCounters:
    """One node at one moment, as it says itself; Elasticsearch renews these figures at most once a second.

    :param cpu_seconds: of the node's process since it started.
    :param write_rejected: bulk requests that the write thread pool refused since the node started.
    :param pressure_rejected: requests refused because too many bytes were being indexed.
    :param process: the same process seen from outside; None for a node on another machine.
    """

    name: str
    cpu_seconds: float = 0.0
    uptime_seconds: float = 0.0
    heap_bytes: int = 0
    collectors: Mapping[str, Collections] = field(default_factory=dict)
    write_queue: int = 0
    write_active: int = 0
    write_rejected: int = 0
    write_completed: int = 0
    pressure_rejected: int = 0
    process: ProcessUsage | None = None


@dataclass(frozen=True)
class MachineUsage:
    """The machine on which the sampler runs.

    :param cpu_percent: of all its processors together, since the previous sample.
    :param steal_percent: time that the hypervisor gave to others, of the same whole.
    :param load_1m: processes that ran or waited to run, mean of the last minute.
    """

    cpu_percent: float
    steal_percent: float
    load_1m: float


@dataclass(frozen=True)
class DriverUsage:
    """All processes of the load driver together.

    :param cpu_seconds: since they started, those that have ended included.
    :param busiest: the share of one core that the busiest of them used since the previous sample (1 = a whole core).
    """

    processes: int
    cpu_seconds: float
    resident_bytes: int
    busiest: float


@dataclass(frozen=True)
class Sample:
    """One moment of a race.

    :param time: seconds since 1970.
    :param seconds: since the sampler started, by a clock that nobody sets.
    :param missed: requests to the cluster that failed, 0 as long as it has not answered for the first time.
    :param problem: why the last of them failed, or None.
    :param nodes: by node id; None if they could not be asked.
    :param indices: by name; None if they could not be asked.
    """

    time: float
    seconds: float
    missed: int
    problem: str | None
    nodes: Mapping[str, NodeCounters] | None
    indices: Mapping[str, IndexCounters] | None
    machine: MachineUsage
    driver: DriverUsage

    def as_line(self) -> dict[str, Any]:
        """The sample as an object for JSON, of the kind "sample"."""
        return {"kind": "sample", **asdict(self)}


def sample_from_line(line: Mapping[str, Any]) -> Sample:
    """The opposite of :meth:`Sample.as_line`.

    :raises KeyError, TypeError: if the object is no sample.
    """
    values = {key: value for key, value in line.items() if key != "kind"}
    nodes, indices = values.pop("nodes"), values.pop("indices")
    return Sample(
        nodes=None if nodes is None else {node: _node(value) for node, value in nodes.items()},
        indices=None if indices is None else {name: IndexCounters(**value) for name, value in indices.items()},
        machine=MachineUsage(**values.pop("machine")),
        driver=DriverUsage(**values.pop("driver")),
        **values,
    )


def _node(value: Mapping[str, Any]) -> NodeCounters:
    values = dict(value)
    process = values.pop("process")
    return NodeCounters(
        collectors={name: Collections(**counts) for name, counts in values.pop("collectors").items()},
        process=None if process is None else ProcessUsage(**process),
        **values,
    )


def read_samples(file: Path) -> list[Sample]:
    """The samples in the order in which they were taken; none if there is no such file.

    :raises FileError: if a line other than a torn last one cannot be understood.
    """
    samples = []
    for number, line in _lines(file):
        if line.get("kind") == "sample":
            try:
                samples.append(sample_from_line(line))
            except (KeyError, TypeError, AttributeError) as error:
                raise FileError(
                    file, f"this is no sample as this version of Paddock writes it ({error}).", number
                ) from None
    return samples


def read_circumstances(file: Path) -> dict[str, Any] | None:
    """What the nodes were, as written last; None if they never answered.

    :raises FileError: as :func:`read_samples`.
    """
    return next((line for line in reversed(_of_kind(file, "circumstances"))), None)


def read_settings(file: Path) -> dict[str, dict[str, Any]]:
    """The settings of every index as read last, by name; those of deleted indices included.

    :raises FileError: as :func:`read_samples`.
    """
    found: dict[str, dict[str, Any]] = {}
    for line in _of_kind(file, "settings"):
        found.update(line["indices"])
    return found


def _of_kind(file: Path, kind: str) -> list[dict[str, Any]]:
    return [line for _, line in _lines(file) if line.get("kind") == kind]


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbered lines as objects, without a last one that was cut off while it was written."""
    if not file.exists():
        return
    raw = file.read_bytes().split(b"\n")
    # What follows the last line end is empty, or torn.
    for number, text in enumerate(raw[:-1], 1):
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise FileError(file, "this line is no JSON object: the file has been damaged.", number)
        yield number, line
