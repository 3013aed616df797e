"""A thread that writes one sample a second to a file, beside a running race: of the cluster, its nodes, the driver."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from paddock.sampling import records
from paddock.sampling.cluster import BadAnswer, Cluster, Endpoint, Unreachable
from paddock.sampling.machine import ComponentMeter, DiskMeter, NodeProcesses, Processors
from paddock.sampling.records import DiskUsage, IndexCounters, NodeCounters, Sample

# A stop waits for the question that is under way, which takes no longer than its timeout.
_STOP_PATIENCE_SECONDS = 15.0
# Settings may be changed at any time, but seldom are; new indices are looked at at once.
_SETTINGS_SECONDS = 5.0


class Sampler:
    """Samples until it is stopped; whatever happens to the cluster, it never disturbs the race.

    :param observer: of the cluster, which need not be up yet, and may be gone before the sampler is stopped.
    :param file: gets one line of JSON per sample, appended and flushed at once.
    :param pids: gives the process ids of each component by its name, the load driver's by ""; called once per sample,
        in the sampler's thread.
    :param interval: seconds between samples. A sample that takes longer is written late, and those it ran into are left
        out, never made up for.
    """

    def __init__(
        self,
        observer: Observer,
        file: Path,
        pids: Callable[[], Mapping[str, Iterable[int]]],
        interval: float = 1.0,
    ):
        self.problem: str | None = None
        self._observer = observer
        self._file = file
        self._pids = pids
        self._interval = interval
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End and close the file; harmless if it was never started, or has been stopped already.

        ``problem`` says afterwards why the sampler had to give up before, or is None.
        """
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_PATIENCE_SECONDS)

    def __enter__(self) -> Sampler:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab+") as file:
                _cut_torn_line(file)
                self._sample_into(file)
        except Exception as error:
            # A full disk or an unforeseen answer must cost the samples, not the race that they accompany.
            self.problem = f"Sampling ended early: {type(error).__name__}: {error}."

    def _sample_into(self, file: BinaryIO) -> None:
        observer, processors = self._observer, Processors()
        meters = {"": ComponentMeter()}
        began, began_at = time.monotonic(), time.time()
        previous = began
        try:
            while not self._stopping.is_set():
                reading = observer.read()
                now = time.monotonic()
                elapsed = now - previous if previous > began else 0.0
                pids: dict[str, Iterable[int]] = {}
                # Looking for processes while they end can fail in many ways; the next second shows the rest of them.
                with contextlib.suppress(Exception):
                    pids |= self._pids()
                # One that has ended is told as long as the race is: what it used stays used.
                meters |= {name: ComponentMeter(threads=True) for name in pids.keys() - meters.keys()}
                used = {name: meter.read(pids.get(name, ()), elapsed) for name, meter in meters.items()}
                sample = Sample(
                    time=round(began_at + reading.moment - began, 3),
                    seconds=round(reading.moment - began, 3),
                    missed=reading.missed,
                    problem=reading.problem,
                    nodes=reading.nodes,
                    indices=reading.indices,
                    **processors.read(),
                    driver=used.pop(""),
                    components=used,
                    disks=reading.disks,
                    monotonic=round(reading.moment, 3),
                )
                previous = now
                for news in reading.news:
                    _write(file, {**news, "time": sample.time, "seconds": sample.seconds})
                _write(file, sample.as_line())
                # Until the next multiple of the interval.
                passed = time.monotonic() - began
                self._stopping.wait((math.floor(passed / self._interval) + 1) * self._interval - passed)
        finally:
            observer.close()


@dataclass
class Reading:
    """What the cluster said this time; what was answered before something failed is kept.

    :param moment: the monotonic clock in the middle of the question for the indices.
    :param missed: questions that failed; 0 as long as the cluster has not answered for the first time.
    :param news: lines to be written: the circumstances or the settings, whenever they are not what they were.
    """

    moment: float
    missed: int = 0
    problem: str | None = None
    nodes: Mapping[str, NodeCounters] | None = None
    indices: Mapping[str, IndexCounters] | None = None
    disks: Mapping[str, DiskUsage] = field(default_factory=dict)
    news: list[dict[str, Any]] = field(default_factory=list)

    def failed(self, error: Exception) -> None:
        """Count a question without a usable answer."""
        self.missed += 1
        self.problem = str(error)


class Observer(Protocol):
    """Gives one reading at a time, each in the sampler's thread."""

    def read(self) -> Reading:
        """Ask now; never raises because of what a cluster does."""

    def close(self) -> None:
        """There will be no further reading."""


class ClusterObserver:
    """Asks a cluster for all that its race is told of, and notices when something about it has changed."""

    def __init__(self, endpoint: Endpoint):
        self._cluster = Cluster(endpoint)
        self._processes, self._disks = NodeProcesses(), DiskMeter()
        self._met = False
        self._uptimes: dict[str, int] = {}
        self._circumstances: dict[str, Any] | None = None
        self._settings: dict[str, Any] = {}
        self._settings_of: set[str] = set()
        self._settings_read = 0.0

    def read(self) -> Reading:
        """Ask now; never raises because of what the cluster does."""
        reading = Reading(time.monotonic())
        try:
            for ask in (self._ask_for_nodes, self._ask_for_indices):
                try:
                    ask(reading)
                except BadAnswer as error:
                    reading.failed(error)
        except Unreachable as error:
            # Further questions would only wait for their timeouts as well.
            if self._met:
                reading.failed(error)
        return reading

    def close(self) -> None:
        """Close the connections."""
        self._cluster.close()

    def _ask_for_nodes(self, reading: Reading) -> None:
        answer = self._cluster.node_stats()
        uptimes = {
            node: records.number_at(value, "jvm.uptime_in_millis") for node, value in answer.get("nodes", {}).items()
        }
        # Nodes that have come, gone or been started anew.
        others = set(uptimes) != set(self._uptimes) or any(uptimes[node] < self._uptimes[node] for node in uptimes)
        if self._circumstances is None or others:
            self._look_around(reading)
        self._uptimes = uptimes
        reading.nodes = records.nodes(answer, self._processes.read())
        reading.disks = self._disks.read()
        self._met = True

    def _ask_for_indices(self, reading: Reading) -> None:
        asked = time.monotonic()
        stats = self._cluster.index_stats()
        reading.moment = (asked + time.monotonic()) / 2
        reading.indices = records.indices(stats, None)
        reading.indices = records.indices(stats, self._cluster.segments())
        self._look_at_settings(reading, {index.uuid for index in reading.indices.values()})

    def _look_around(self, reading: Reading) -> None:
        information = self._cluster.node_information()
        here = self._processes.find(information)
        self._disks.find(node for node_id, node in information.get("nodes", {}).items() if node_id in here)
        try:
            version = self._cluster.version()
        except BadAnswer:
            # A distribution may lack the root; then the version of Lucene stays unknown.
            version = None
        circumstances = records.circumstances(information, version)
        if circumstances != self._circumstances:
            self._circumstances = circumstances
            reading.news.append({"kind": "circumstances", **circumstances})

    def _look_at_settings(self, reading: Reading, uuids: set[str]) -> None:
        now = time.monotonic()
        if not uuids or (uuids == self._settings_of and now - self._settings_read < _SETTINGS_SECONDS):
            return
        settings = records.settings(self._cluster.index_settings())
        self._settings_of, self._settings_read = uuids, now
        if settings != self._settings:
            self._settings = settings
            reading.news.append({"kind": "settings", "indices": settings})


def _write(file: BinaryIO, line: dict[str, Any]) -> None:
    file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    file.flush()


def _cut_torn_line(file: BinaryIO) -> None:
    """Remove what a sampler that was killed left behind of its last line."""
    file.seek(0)
    content = file.read()
    if content and not content.endswith(b"\n"):
        file.truncate(content.rfind(b"\n") + 1)
    file.seek(0, 2)
