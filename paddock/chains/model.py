"""What passes between the layers of a chain: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock.tournaments.model import Result

GO_ON, STOP = "go on", "stop"
# What became of a step.
WON, NO_WINNER, HELD, RACED, FAILED, SKIPPED, NO_TIME, NOTHING_FOUND = (
    *("won", "no winner", "held", "raced", "failed", "skipped", "no time", "nothing found"),
)
# Why a chain is over; the last one is that of a chain that is not.
ALL_DONE, STEP_FAILED, INTERRUPTED = "all steps done", "a step failed", "interrupted"
FINAL = "tuned-against-default"
DEFAULT_CONTENDER, TUNED_CONTENDER = "default", "tuned"


@dataclass(frozen=True)
class Settings:
    """What a configuration has beyond the default one.

    :param cars: a car, mixins or both; they take the place of those that set the same.
    :param level: of its index and load, as a level of a block challenge has it: ``settings``, ``bulk_size``,
        ``clients``, ``mode``, ``codec``, ``sort``.
    :param track_params: as a race has them.
    :param node: ``version``, ``engine``, ``java``, ``data_path`` and ``nodes``, where they differ.
    """

    cars: tuple[str, ...] = ()
    car_params: Mapping[str, Any] = field(default_factory=dict)
    level: Mapping[str, Any] = field(default_factory=dict)
    track_params: Mapping[str, Any] = field(default_factory=dict)
    node: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.cars or self.car_params or self.level or self.track_params or self.node)


@dataclass(frozen=True)
class Step:
    """One tournament or race of a chain.

    :param name: unique in its chain.
    :param tournament: name or file of the tournament; None for a race.
    :param content: of its tournament file, changed as the step says; empty for a race.
    :param race: options of ``./inv race``; empty for a tournament.
    :param weight: how much more of the budget it gets than its own length would say.
    :param minutes: that a race is expected to take.
    :param winners_of: the steps whose winners it builds on.
    :param needs: the steps without whose success it is not held.
    :param whole: whether its tournament is held as its file says, whatever the budget: that of a study.
    :param published: of a race of a study, what was published of it: figure -> text; ``deviations`` from how it was.
    """

    name: str
    tournament: str | None = None
    content: Mapping[str, Any] = field(default_factory=dict)
    race: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    minutes: float = 3.0
    winners_of: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    whole: bool = False
    published: Mapping[str, str] = field(default_factory=dict)
    deviations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chain:
    """A chain file, read and checked.

    :param on_failure: GO_ON with what does not need a failed step, or STOP.
    :param final: the tournament of the tuned against the default configuration; None for none.
    :param default: what the default configuration has, by the options.
    :param notes: sentences that belong beside its result: its author's, and what its steps do not compare.
    :param checksum: SHA-256 of the file; empty for names on the command line.
    :param study: what was published, and where; empty for a chain that is none.
    """

    name: str
    question: str
    budget_minutes: float
    steps: tuple[Step, ...]
    on_failure: str = GO_ON
    final: Step | None = None
    default: Settings = field(default_factory=Settings)
    notes: tuple[str, ...] = ()
    checksum: str = ""
    study: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a step, as the journal has it.

    :param kind: WON, NO_WINNER, HELD (a study's), RACED, FAILED, SKIPPED, NO_TIME or NOTHING_FOUND.
    :param reason: of the last four, a sentence.
    :param result_id: of its tournament or race; None if there is none.
    :param winner: its name, and ``settings`` what it has that the others have not.
    :param ratio: winner / baseline in the step's metric.
    """

    kind: str
    reason: str = ""
    result_id: str | None = None
    winner: str | None = None
    settings: Settings = field(default_factory=Settings)
    ratio: float | None = None


@dataclass(frozen=True)
class StepResult:
    """A step and what became of it.

    :param outcome: None while it is still to be held.
    :param minutes: that it was given; None if it was never begun.
    :param resolves: what that could tell apart, a sentence.
    :param built_on: what the winners of earlier steps brought into it.
    :param result: of its tournament, if there is one.
    :param figures: of its race: name -> text.
    """

    step: Step
    outcome: Outcome | None = None
    minutes: float | None = None
    resolves: str = ""
    built_on: Settings = field(default_factory=Settings)
    result: Result | None = None
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ChainResult:
    """A chain's result; all that its page needs.

    :param began: epoch seconds.
    :param seconds: how long it has been running, breaks left out.
    :param stopped: ALL_DONE, STEP_FAILED or INTERRUPTED.
    :param final: None if the chain has none.
    :param tuned: what came out of it, beyond the default.
    :param apply: the same as options to copy: "--car", "--params", ... -> text.
    """

    id: str
    chain: Chain
    began: float
    seconds: float
    stopped: str
    steps: tuple[StepResult, ...]
    final: StepResult | None
    tuned: Settings
    apply: Mapping[str, str]
