"""Runs the benchmark: every generator once in every round, in an order decided by a seeded coin."""

from __future__ import annotations

import datetime
import os
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.catalogue import PEERS, paddock_command, peer_command
from benchmarks.likeness import profile_of, read_sample, require_likeness, write_profile
from benchmarks.model import ALL_CORES, DISK, ONE_CORE, PADDOCK, Benchmark, Cell, Comparison, Measurement, Sample
from benchmarks.workers import MODES, Answer, Worker, run_dd, run_together
from paddock.console import warn
from paddock.errors import CorpusError, MachineError
from paddock.files import require_room
from paddock.paths import data_folder
from paddock.race.circumstances import KERNEL, USER, circumstances

RECIPES = ("apache", "logs-structured")
SECONDS = 0.8  # that a measurement should take
_MOST_CORES = 16
_PROFILED, _CHECKED = 30_000, 5_000  # documents
_WARM_UP = 1_000  # documents of each process
_MOST_ON_DISK = 1 << 30  # bytes of one measurement


@dataclass
class _Generator:
    """A generator with its processes."""

    name: str
    one: list[Worker]  # a single one, on the first core
    all: list[Worker]  # on all cores

    def run(self, documents: int, mode: str, folder: Path) -> Answer:
        """Make documents once."""
        workers = self.one if mode == ONE_CORE else self.all
        files: list[Path | None] = [None] * len(workers)
        if mode == DISK:
            files = [folder / f"{self.name}-{number}.json" for number in range(len(workers))]
        try:
            return run_together(workers, documents, files)
        finally:
            for file in files:
                if file:
                    file.unlink(missing_ok=True)


def benchmark(
    peers: Sequence[str],
    rounds: int,
    seed: int = 1,
    recipes: Sequence[str] = RECIPES,
    seconds: float = SECONDS,
    advance: Callable[[int], None] | None = None,
) -> Benchmark:
    """Compare Paddock's generator with peers and with dd.

    :param peers: names from the catalogue; one that cannot be had on this machine is left out, and the result says why.
    :param seconds: about how long a measurement takes.
    :param advance: is told of each round that is done; there are ``rounds`` for each recipe.
    :raises MachineError: if a worker fails, or there is no room.
    :raises CorpusError: if a generator's documents are not comparable.
    """
    cores = sorted(os.sched_getaffinity(0))[:_MOST_CORES]
    folder = data_folder("paddock-bench")
    require_room(folder, 2 * _MOST_ON_DISK, "The benchmark")
    folder.mkdir(parents=True, exist_ok=True)
    began = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    machine = {name: text for name, text in circumstances(folder).items() if name not in (KERNEL, USER)}
    machine["cores used"] = str(len(cores))
    load = os.getloadavg()[0]
    absent: dict[str, str] = {}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        comparisons = tuple(
            _compare(recipe, peers, cores, rounds, seed, seconds, Path(scratch), absent, advance) for recipe in recipes
        )
    return Benchmark(began, machine, load, rounds, seed, absent, comparisons)


def _compare(
    recipe: str,
    peers: Sequence[str],
    cores: Sequence[int],
    rounds: int,
    seed: int,
    seconds: float,
    folder: Path,
    absent: dict[str, str],
    advance: Callable[[int], None] | None,
) -> Comparison:
    with ExitStack() as stack:
        own = _start_paddock(recipe, cores, seed, stack)
        profile = folder / "profile.json"
        model = _model(own, folder, profile)
        generators = {PADDOCK: own}
        for name in peers:
            try:
                generators[name] = _start_peer(name, profile, cores, seed, stack)
            except MachineError as error:
                warn(f"Without {name}: {error}")
                absent[name] = str(error)
        samples = [model]
        for name, generator in generators.items():
            if name != PADDOCK:
                sample, _ = read_sample(name, _documents(generator, _CHECKED, folder))
                require_likeness(sample, model)
                samples.append(sample)
        cells = _cells(generators, seconds, folder)
        versions = {name: generator.one[0].version for name, generator in generators.items()}
        chance = random.Random(seed)  # noqa: S311 - an order, no secret
        measurements = []
        for number in range(1, rounds + 1):
            for cell in chance.sample(cells, len(cells)):
                measurements.append(_measure(number, cell, generators, folder))
            if advance:
                advance(1)
    return Comparison(recipe, versions, tuple(samples), tuple(measurements))


def _start_paddock(recipe: str, cores: Sequence[int], seed: int, stack: ExitStack) -> _Generator:
    def start(used: Sequence[int]) -> Worker:
        command = paddock_command(recipe, seed, len(used))
        return stack.enter_context(Worker(PADDOCK, command, used, threads_of_its_own=True))

    one = [start(cores[:1])]
    return _Generator(PADDOCK, one, [start(cores)] if len(cores) > 1 else one)


def _start_peer(name: str, profile: Path, cores: Sequence[int], seed: int, stack: ExitStack) -> _Generator:
    """One process for each core: none of the peers shares its work between threads better than that."""

    def start(core: int, worker: int, workers: int) -> Worker:
        command = peer_command(PEERS[name], profile, seed, worker, workers)
        return stack.enter_context(Worker(name, command, [core]))

    one = [start(cores[0], 0, 1)]
    shared = [start(core, number, len(cores)) for number, core in enumerate(cores)] if len(cores) > 1 else one
    return _Generator(name, one, shared)


def _model(own: _Generator, folder: Path, profile: Path) -> Sample:
    """Measure Paddock's documents and write the profile for the peers."""
    lines = _documents(own, _PROFILED, folder)
    _, documents = read_sample(PADDOCK, lines)
    write_profile(profile_of(documents), profile)
    sample, _ = read_sample(PADDOCK, lines[:_CHECKED])
    return sample


def _documents(generator: _Generator, count: int, folder: Path) -> list[bytes]:
    file = folder / "sample.json"
    answer = run_together(generator.one, count, [file])
    try:
        content = file.read_bytes()
    finally:
        file.unlink(missing_ok=True)
    lines = content.splitlines(keepends=True)
    if not answer.documents == len(lines) >= count or answer.bytes != len(content):
        raise CorpusError(f"The generator {generator.name} reports what it has not made: leave it out with --peers.")
    return lines[:count]


def _cells(generators: dict[str, _Generator], seconds: float, folder: Path) -> list[Cell]:
    """What is measured in a round, each as large as it takes for ``seconds``; this is the warm-up as well."""
    cells = []
    for generator in generators.values():
        modes = [ONE_CORE, DISK] if generator.one is generator.all else [ONE_CORE, ALL_CORES, DISK]
        for mode in modes:
            least = _WARM_UP * len(generator.one if mode == ONE_CORE else generator.all)
            documents = least
            for _ in range(2):  # the second time with a number that says more
                answer = generator.run(documents, mode, folder)
                documents = max(least, int(answer.documents / answer.seconds * seconds))
                if mode == DISK:
                    documents = min(documents, _MOST_ON_DISK * answer.documents // answer.bytes)
            cells.append(Cell(generator.name, mode, documents))
    return cells + [Cell(mode, DISK, 0) for mode in MODES]


def _measure(number: int, cell: Cell, generators: dict[str, _Generator], folder: Path) -> Measurement:
    if cell.documents:
        answer = generators[cell.generator].run(cell.documents, cell.mode, folder)
    else:
        answer = run_dd(cell.generator, _MOST_ON_DISK, folder / "zeros")
        (folder / "zeros").unlink()
    return Measurement(number, cell.generator, cell.mode, answer.documents, answer.bytes, answer.seconds)
