"""What a benchmark of generators measures: plain values."""

from __future__ import annotations

from dataclasses import dataclass

ONE_CORE, ALL_CORES, DISK = "one core", "all cores", "to disk"
PADDOCK = "paddock"


@dataclass(frozen=True)
class Cell:
    """One thing that is measured once in every round."""

    generator: str
    mode: str  # ONE_CORE and ALL_CORES in memory, DISK on all cores with fsync
    documents: int  # so many at a time; 0 for dd


@dataclass(frozen=True)
class Measurement:
    """One cell in one round."""

    round: int
    generator: str
    mode: str
    documents: int
    bytes: int
    seconds: float

    @property
    def megabytes_per_second(self) -> float:
        """Millions of bytes per second."""
        return self.bytes / self.seconds / 1e6


@dataclass(frozen=True)
class Sample:
    """What a generator's documents were found to be like before its speed was measured."""

    generator: str
    documents: int
    bytes_per_document: float
    distinct: dict[str, int]  # field -> different values


@dataclass(frozen=True)
class Comparison:
    """All generators on documents of one recipe."""

    recipe: str
    versions: dict[str, str]  # generator -> version
    samples: tuple[Sample, ...]
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True)
class Benchmark:
    """A whole run."""

    began: str
    machine: dict[str, str]
    load_before: float  # processes that wanted to run in the minute before
    rounds: int
    seed: int
    absent: dict[str, str]  # peer -> why it could not be had
    comparisons: tuple[Comparison, ...]
