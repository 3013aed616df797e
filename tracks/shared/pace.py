"""When documents are due: phases of constant rates, one after another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from esrally import exceptions


@dataclass(frozen=True)
class Phase:
    """A stretch of time in which documents come at one rate.

    :param begin: seconds since the load began.
    :param seconds: how long it lasts.
    :param first_document: documents that are due before it begins.
    :param rate: documents per second of all clients together.
    """

    name: str
    begin: float
    seconds: float
    first_document: float
    rate: float

    @property
    def end(self) -> float:
        """Seconds since the load began."""
        return self.begin + self.seconds

    @property
    def documents(self) -> float:
        """How many are due within it."""
        return self.seconds * self.rate


@dataclass(frozen=True)
class Pace:
    """Phases without gaps between them."""

    phases: tuple[Phase, ...]

    @property
    def documents(self) -> int:
        """How many are due in all."""
        last = self.phases[-1]
        return round(last.first_document + last.documents)

    def due(self, documents: float) -> float:
        """The seconds after which so many documents are due; beyond the end the last phase goes on."""
        for phase in self.phases:
            if documents <= phase.first_document + phase.documents:
                break
        return phase.begin + (documents - phase.first_document) / phase.rate

    def phase_at(self, seconds: float) -> Phase:
        """The phase at that time; a phase ends where the next one begins, and the last one goes on."""
        for phase in self.phases:
            if seconds <= phase.end:
                break
        return phase

    def shortened_to(self, documents: int) -> Pace:
        """The same rates in less time, so that only so many documents are due."""
        return _pace([(one.name, one.seconds * documents / self.documents, one.rate) for one in self.phases])


def read_pace(phases: Any) -> Pace:
    """The pace that a challenge describes.

    :param phases: objects with ``name``, ``seconds`` and ``throughput`` (documents per second of all clients).
    :raises exceptions.InvalidSyntax: if one of them cannot be meant, or not a single document is due.
    """
    if not isinstance(phases, Sequence) or not phases:
        raise exceptions.InvalidSyntax(f"phases must be a list with at least one phase, but is {phases!r}.")
    pace = _pace([(phase["name"], *(_positive(phase, key) for key in ("seconds", "throughput"))) for phase in phases])
    if pace.documents < 1:
        raise exceptions.InvalidSyntax(
            "not a single document is due at this rate in this time: raise the rate, or time_period."
        )
    return pace


def _pace(parts: Sequence[tuple[str, float, float]]) -> Pace:
    phases = []
    begin = documents = 0.0
    for name, seconds, rate in parts:
        phases.append(Phase(name, begin, seconds, documents, rate))
        begin, documents = begin + seconds, documents + seconds * rate
    return Pace(tuple(phases))


def _positive(phase: Mapping[str, Any], key: str) -> float:
    value = phase[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise exceptions.InvalidSyntax(f"the {key} of the phase '{phase['name']}' must be above 0, but is {value!r}.")
    return float(value)
