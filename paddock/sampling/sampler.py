"""A thread that writes one sample a second to a file, beside a running race."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from paddock.sampling.cluster import Cluster
from paddock.sampling.endpoint import Endpoint
from paddock.sampling.observer import ClusterObserver
from paddock.sampling.processes import DriverMeter, MachineMeter
from paddock.sampling.records import DriverUsage, Sample

# A stop waits for the question that is under way, which takes no longer than its timeout.
_STOP_PATIENCE_SECONDS = 15.0


class Sampler:
    """Samples until it is stopped; whatever happens to the cluster, it never disturbs the race.

    :param endpoint: the cluster; it need not be up yet, and may be gone before the sampler is stopped.
    :param file: gets one line of JSON per sample, appended and flushed at once.
    :param driver_pids: gives the load driver's process ids; called once per sample, in the sampler's thread.
    :param interval: seconds between samples. A sample that takes longer is written late, and those it ran into are left
        out, never made up for.
    :param indices: which indices to watch, as Elasticsearch writes patterns.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        file: Path,
        driver_pids: Callable[[], Iterable[int]],
        interval: float = 1.0,
        indices: str = "*",
    ):
        self.problem: str | None = None
        self._endpoint = endpoint
        self._file = file
        self._driver_pids = driver_pids
        self._interval = interval
        self._indices = indices
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
        cluster = Cluster(self._endpoint, self._indices)
        observer = ClusterObserver(cluster)
        machine, driver = MachineMeter(), DriverMeter()
        began = time.monotonic()
        began_at = time.time()
        previous = began
        try:
            while not self._stopping.is_set():
                reading = observer.read()
                now = time.monotonic()
                elapsed = now - previous if previous > began else 0.0
                sample = Sample(
                    time=round(began_at + reading.moment - began, 3),
                    seconds=round(reading.moment - began, 3),
                    missed=reading.missed,
                    problem=reading.problem,
                    nodes=reading.nodes,
                    indices=reading.indices,
                    machine=machine.read(),
                    driver=self._driver(driver, elapsed),
                )
                previous = now
                for news in reading.news:
                    _write(file, {**news, "time": sample.time, "seconds": sample.seconds})
                _write(file, sample.as_line())
                self._stopping.wait(_until_next(time.monotonic() - began, self._interval))
        finally:
            cluster.close()

    def _driver(self, meter: DriverMeter, elapsed: float) -> DriverUsage:
        try:
            pids = list(self._driver_pids())
        except Exception:
            # Looking for processes while they end can fail in many ways; the next second shows the rest of them.
            pids = []
        return meter.read(pids, elapsed)


def _until_next(elapsed: float, interval: float) -> float:
    """Seconds until the next multiple of the interval."""
    return (math.floor(elapsed / interval) + 1) * interval - elapsed


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
