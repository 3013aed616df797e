"""Chains that look like real ones, of results that do."""

from __future__ import annotations

from dataclasses import replace

from paddock.chains import carrying
from paddock.chains.model import (
    ALL_DONE,
    FAILED,
    FINAL,
    INTERRUPTED,
    NO_WINNER,
    NOTHING_FOUND,
    RACED,
    WON,
    Chain,
    ChainResult,
    Outcome,
    Settings,
    Step,
    StepResult,
)
from paddock.tournaments.model import Contender
from tests.reports.results import BEGAN, result, simulated, undecided

HEAP = Settings(cars=("2gheap",))
LOAD = Settings(level={"bulk_size": 5000, "clients": 2})


def _tournament(name: str, speeds: dict[str, float], contenders: list[Contender], seed: int = 7) -> StepResult:
    held = result(name, contenders, simulated(speeds, seed=seed), description=f"Which {name}?", challenge="settings")
    return StepResult(Step(name, name), None, 12.0, "Differences of 12 % and more are found.", Settings(), held)


def tuned(proven: bool = True) -> ChainResult:
    """Heap and load have winners, the index buffer has none, gc failed; the last tournament says whether it is so."""
    heap = _tournament(
        "heap", {"1 GiB": 27e3, "2 GiB": 31e3}, [Contender("1 GiB"), Contender("2 GiB", None, ("2gheap",))]
    )
    heap = replace(heap, outcome=Outcome(WON, "", "heap-1", "2 GiB", HEAP, 1.15))
    buffer = replace(
        _tournament("index-buffer", {"10 %": 27e3, "40 %": 27.3e3}, [Contender("10 %"), Contender("40 %")], 3),
        outcome=Outcome(NO_WINNER, "Nothing was proven better than 10 %.", "index-buffer-1"),
        built_on=HEAP,
    )
    gc = StepResult(Step("gc", "gc"), Outcome(FAILED, "The nodes need 6 GiB, and 4 GiB are free: use --apart."), 9.0)
    names = {"bulk size 1000, clients 8": 27e3, "bulk size 5000, clients 8": 26e3, "bulk size 5000, clients 2": 33e3}
    load = replace(
        _tournament("bulk-size-and-clients", names, [Contender(name) for name in names]),
        outcome=Outcome(WON, "", "load-1", "bulk size 5000, clients 2", LOAD, 1.22),
        built_on=HEAP,
    )
    race = StepResult(
        Step("ingest", race={"challenge": "ingest"}),
        Outcome(RACED, "", "own-1-ingest-1"),
        3.0,
        figures={"docs/s": "31,638"},
    )
    last = _tournament(
        FINAL, {"default": 27e3, "tuned": 35e3 if proven else 27.4e3}, [Contender("default"), Contender("tuned")]
    )
    last = replace(last, outcome=Outcome(WON if proven else NO_WINNER, "", "final-1", "tuned" if proven else None))
    return _chain((heap, buffer, gc, load, race), last, carrying.combined(HEAP, LOAD))


def smallest() -> ChainResult:
    """One step that is undecided, and nothing else."""
    step = Step("store-type", "store-type")
    held = undecided()
    outcome = Outcome(NO_WINNER, f"Nothing was proven better than {held.tournament.baseline}.", held.id)
    last = StepResult(Step(FINAL, FINAL), Outcome(NOTHING_FOUND, "No step found anything better than the default."))
    return _chain((StepResult(step, outcome, 5.0, "Nothing can be decided.", Settings(), held),), last, Settings())


def stopped() -> ChainResult:
    """Stopped in its second step."""
    whole = tuned()
    (heap, buffer, *rest) = whole.steps
    left = [StepResult(one.step) for one in rest]
    steps = (heap, replace(buffer, outcome=None), *left)
    return replace(_chain(steps, StepResult(Step(FINAL, FINAL)), HEAP), stopped=INTERRUPTED)


def _chain(steps: tuple[StepResult, ...], last: StepResult, found: Settings) -> ChainResult:
    chain = Chain(
        "tune-hour",
        "Which heap, index buffer, bulk size and number of clients index fastest?",
        60,
        tuple(one.step for one in steps),
        final=last.step,
        notes=("What trades something else for speed is left alone.",),
        checksum="9f86d081884c7d65",
    )
    applied = carrying.applied(found, Settings())
    return ChainResult("tune-hour-20261121-060000", chain, BEGAN, 3120.0, ALL_DONE, steps, last, found, applied)


ALL = {"tuned": tuned, "not-proven": lambda: tuned(False), "smallest": smallest, "stopped": stopped}
