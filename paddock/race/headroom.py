"""What the load driver alone pushes into a sink on this machine: measured once for every load, and remembered.

Whoever measures holds the lock on races: it is a load like theirs.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, Any, cast

import psutil

from paddock import paths
from paddock.corpora.record import CorpusRecord
from paddock.engine.versions import DEFAULT_VERSION
from paddock.errors import MachineError
from paddock.files import read_record, write_json
from paddock.plain_values import built, plain
from paddock.race.circumstances import CORES, CPU, circumstances
from paddock.rally.request import OPTIONS_VARIABLE

# Seconds of load: a warm-up that does not count, then rounds, of which the fastest counts, since whoever disturbs one
# makes it slower.
WARM_UP, SECONDS, ROUNDS = 1.0, 1.0, 3
# What starting the two programs may take beside that, in seconds.
_PATIENCE = 60.0
# Share of all cores that others may have meanwhile; with more it is remembered, but measured again when asked for.
SHARED = 0.10
_MOST_REMEMBERED = 300
_PROGRAMS = ("paddock/race/sink.py", "paddock/race/driver_load.py")
_LOAD = ("tracks/shared/lap_load.py", "tracks/shared/lap_documents.py")


@dataclass(frozen=True)
class Shape:
    """What decides, with the corpus, how much the driver can push: documents per bulk, clients, processes."""

    bulk_size: int
    clients: int
    processes: int = 1

    def __str__(self) -> str:
        clients = "1 client" if self.clients == 1 else f"{self.clients:,} clients"
        processes = "" if self.processes == 1 else f", {self.processes} processes"
        return f"bulks of {self.bulk_size:,}, {clients}{processes}"


@dataclass(frozen=True)
class Headroom:
    """What the driver alone pushes into a sink.

    :param docs_per_second: of the fastest round; ``slowest_docs_per_second`` of the slowest.
    :param bytes_per_second: of the bulks' bodies.
    :param cpu_seconds_per_bulk: processor seconds of the driver for a bulk with all its documents;
        ``cpu_seconds_per_document`` is the same, divided by them.
    :param others: share of all cores that others had meanwhile, 0 to 1.
    :param reckoned: whether it was reckoned from other shapes, and not measured itself.
    """

    shape: Shape
    docs_per_second: float
    slowest_docs_per_second: float
    bytes_per_second: float
    cpu_seconds_per_bulk: float
    cpu_seconds_per_document: float
    others: float
    reckoned: bool = False


@dataclass(frozen=True)
class _Known:
    """A line of what is remembered: the corpus, the machine and the software that it holds for."""

    corpus: str
    machine: str
    software: str
    headroom: Headroom


def remembered(corpus: CorpusRecord) -> dict[Shape, Headroom]:
    """What was measured with this corpus, on this machine and with this software; what is damaged is left out."""
    where = _where(corpus)
    return {one.headroom.shape: one.headroom for one in _read() if _key(one) == where}


def ensure(corpus: CorpusRecord, shape: Shape) -> Headroom:
    """Remembered, or measured now and remembered; that takes about five seconds.

    What was measured beside others is measured again, and the less disturbed one of the two is kept.

    :raises MachineError: if it cannot be measured here.
    """
    known = remembered(corpus).get(shape)
    if known is not None and known.others <= SHARED:
        return known
    found = measure(corpus, shape)
    if known is not None and known.others <= found.others:
        return known
    kept = [one for one in _read() if (*_key(one), one.headroom.shape) != (*_where(corpus), shape)]
    write_json(_file(), {"measured": plain([*kept, _Known(*_where(corpus), found)][-_MOST_REMEMBERED:])})
    return found


def measure(
    corpus: CorpusRecord, shape: Shape, warm_up: float = WARM_UP, seconds: float = SECONDS, rounds: int = ROUNDS
) -> Headroom:
    """Load a sink with the corpus, as a lap loads a node.

    :raises MachineError: if the sink or the load cannot be run, with what they say of it.
    """
    began, machine, children = time.monotonic(), _machine_seconds(), os.times()
    with _sink() as port:
        order = {
            "port": port,
            "file": str(corpus.file),
            "documents": corpus.documents,
            "bulk_size": shape.bulk_size,
            "version": DEFAULT_VERSION,
            "warm_up": warm_up,
            "seconds": seconds,
            "rounds": rounds,
        }
        orders = [{**order, "clients": clients} for clients in _spread(shape)]
        with ThreadPoolExecutor(len(orders)) as threads:
            each = list(threads.map(functools.partial(_load, timeout=_PATIENCE + warm_up + rounds * seconds), orders))
        told = [_together(of_round) for of_round in zip(*each, strict=True)]
    after = os.times()
    ours = after.children_user + after.children_system - children.children_user - children.children_system
    cores = psutil.cpu_count() or 1
    others = max(0.0, _machine_seconds() - machine - ours) / cores / (time.monotonic() - began)
    fastest = max(told, key=_rate)
    return Headroom(
        shape,
        docs_per_second=_rate(fastest),
        slowest_docs_per_second=min(map(_rate, told)),
        bytes_per_second=fastest["bytes"] / fastest["seconds"],
        cpu_seconds_per_bulk=fastest["cpu_seconds"] / fastest["bulks"],
        cpu_seconds_per_document=fastest["cpu_seconds"] / fastest["documents"],
        others=min(1.0, others),
    )


def between(measured: Mapping[Shape, Headroom], shape: Shape) -> Headroom | None:
    """What a load of that shape would push, reckoned from others; None if they do not tell.

    A bulk takes the driver a time of its own and a time for every document; of clients, the nearest number tells.
    """
    alike = [one for one in measured.values() if one.shape.processes == shape.processes]
    if not alike:
        return None
    nearest = min((one.shape.clients for one in alike), key=lambda number: abs(math.log(number / shape.clients)))
    points = sorted((one for one in alike if one.shape.clients == nearest), key=lambda one: one.shape.bulk_size)
    below = [one for one in points if one.shape.bulk_size <= shape.bulk_size]
    above = [one for one in points if one.shape.bulk_size >= shape.bulk_size]
    if not below or not above:
        return None
    low, high = below[-1], above[0]
    sizes = high.shape.bulk_size - low.shape.bulk_size
    part = (shape.bulk_size - low.shape.bulk_size) / sizes if sizes else 0.0

    def mixed(a: float, b: float) -> float:
        return a + part * (b - a)

    def seconds(rate_low: float, rate_high: float) -> float:
        return mixed(low.shape.bulk_size / rate_low, high.shape.bulk_size / rate_high)

    docs_per_second = shape.bulk_size / seconds(low.docs_per_second, high.docs_per_second)
    cpu = mixed(low.cpu_seconds_per_bulk, high.cpu_seconds_per_bulk)
    weight = mixed(low.bytes_per_second / low.docs_per_second, high.bytes_per_second / high.docs_per_second)
    return Headroom(
        shape,
        docs_per_second,
        shape.bulk_size / seconds(low.slowest_docs_per_second, high.slowest_docs_per_second),
        docs_per_second * weight,
        cpu,
        cpu / shape.bulk_size,
        max(low.others, high.others),
        reckoned=True,
    )


def _rate(told: Mapping[str, float]) -> float:
    return told["documents"] / told["seconds"]


@contextmanager
def _sink() -> Iterator[int]:
    """A sink while the block runs; its port."""
    words = [sys.executable, "-m", "paddock.race.sink"]
    # In a session of its own, for Ctrl-C is ours to take. It ends when its input does, so it outlives nobody.
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=paths.PROJECT,
        env=_environment(),
        start_new_session=True,
    ) as process:
        told, lifeline = cast(IO[bytes], process.stdout), cast(IO[bytes], process.stdin)
        try:
            line = told.readline()
            if not line.strip().isdigit():
                raise MachineError("The sink for the load driver could not be started.")
            yield int(line)
        finally:
            lifeline.close()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def _spread(shape: Shape) -> list[int]:
    """Clients of each process that has any, as evenly as possible."""
    least, more = divmod(shape.clients, shape.processes)
    return [count for number in range(shape.processes) if (count := least + (number < more))]


def _together(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """A round of several processes as one of all of them: what they pushed is added up, and so are their rates."""
    found = {name: sum(one[name] for one in rounds) for name in ("documents", "bulks", "bytes", "cpu_seconds")}
    return {**found, "seconds": found["documents"] / sum(map(_rate, rounds))}


def _load(order: Mapping[str, Any], timeout: float) -> list[dict[str, float]]:
    words = [sys.executable, "-m", "paddock.race.driver_load", json.dumps(dict(order))]
    try:
        told = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            cwd=paths.PROJECT,
            env=_environment(),
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise MachineError(f"The load driver had not loaded the sink within {timeout:.0f} s.") from None
    if told.returncode != 0:
        last = (told.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise MachineError(f"The load driver could not load the sink: {last}")
    rounds: list[dict[str, float]] = json.loads(told.stdout)
    return rounds


def _environment() -> dict[str, str]:
    """Ours, with what the programs import; without what is nobody's but the race's."""
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(paths.PROJECT), str(paths.TRACKS)])}
    found.pop(OPTIONS_VARIABLE, None)
    return found


def _machine_seconds() -> float:
    """Seconds that all cores together were busy, or taken away by a hypervisor, since the machine was started."""
    times = psutil.cpu_times()
    return sum(getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal"))


def _where(corpus: CorpusRecord) -> tuple[str, str, str]:
    """What a measurement holds for beside its shape: corpus, machine, software."""
    machine = circumstances(None)
    text = f"{corpus.name}, {corpus.documents} documents, sha256 {corpus.sha256}"
    return text, f"{machine.get(CORES)} x {machine.get(CPU)}", _software()


@functools.cache
def _software() -> str:
    """Rally, what it sends with, Python, and our own part of the load."""
    digest = hashlib.sha256()
    for name in (*_PROGRAMS, *_LOAD):
        digest.update((paths.PROJECT / name).read_bytes())
    libraries = [f"{name} {metadata.version(name)}" for name in ("esrally", "elasticsearch", "aiohttp")]
    return ", ".join([*libraries, f"Python {platform.python_version()}", f"load {digest.hexdigest()[:12]}"])


def _key(known: _Known) -> tuple[str, str, str]:
    return known.corpus, known.machine, known.software


def _file() -> Path:
    return paths.state_folder() / "headroom.json"


def _read() -> list[_Known]:
    """All that is remembered, whatever it holds for."""
    lines = read_record(_file()).get("measured")
    return [known for line in (lines if isinstance(lines, list) else []) if (known := _known(line))]


def _known(line: Any) -> _Known | None:
    try:
        known: _Known = built(_Known, line, "a line")
    except ValueError:
        return None
    one = known.headroom
    rates = (one.docs_per_second, one.slowest_docs_per_second, one.bytes_per_second)
    each = (one.cpu_seconds_per_bulk, one.cpu_seconds_per_document, one.shape.bulk_size, one.shape.clients)
    return known if all(math.isfinite(value) and value > 0 for value in (*rates, *each)) else None
