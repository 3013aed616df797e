"""What has to be said beside a result: its machine and software, warm-up, void laps, failed starts, how it ended."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from paddock.statistics.starts import Units
from paddock.tournaments.freshness import freshness_notes
from paddock.tournaments.journal import BUDGET, CUT_OFF, DONE, FAILED, FAILED_RACES, INTERRUPTED, History
from paddock.tournaments.lap_cautions import (
    disturbance_notes,
    driver_bound,
    driver_loads,
    never_acted,
    short_laps,
    steadiness_by_start,
    steadiness_notes,
)
from paddock.tournaments.laps import blocks_done, void_starts
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import Cut, sequential_units, units
from paddock.tournaments.plan import few_for_rates

SETTINGS = "index settings in force"


def recorded_circumstances(history: History) -> dict[str, str]:
    """Everything that the journal says of them, name -> text; where starts differ, all of it."""
    found: dict[str, list[str]] = {}
    for attempt in history.attempts:
        for name, text in attempt.circumstances.items():
            if text not in found.setdefault(name, []):
                found[name].append(text)
    machine = {name: str(text) for name, text in history.header.get("circumstances", {}).items()}
    return {name: "; ".join(texts) for name, texts in found.items()} | machine | settings_in_force(history)


def settings_by_contender(history: History) -> dict[str, dict[str, str]]:
    """Index settings of each contender as the node itself told them, by full names."""
    return {
        record["level"]: record["settings"]
        for attempt in history.attempts
        for record in attempt.laps
        if record.get("settings")
    }


def settings_in_force(history: History) -> dict[str, str]:
    """The same as texts: those of all contenders together, then what each has of its own."""
    known = settings_by_contender(history)
    if not known:
        return {}
    each = [set(settings.items()) for settings in known.values()]
    common = set.intersection(*each)
    own = {name: set(settings.items()) - common for name, settings in sorted(known.items())}
    texts = {SETTINGS: _text(common)} | {f"{SETTINGS}, {name}": _text(settings) for name, settings in own.items()}
    return {name: text for name, text in texts.items() if text}


def _text(settings: set[tuple[str, str]]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in sorted(settings))


def all_notes(
    history: History, tournament: Tournament, laps: Sequence[Lap], cut: Cut, stopped: str, looked: bool
) -> tuple[str, ...]:
    """The sentences, the most important ones first.

    :param laps: all of ``laps_of(history, tournament)``.
    :param looked: whether the e-process gives the verdicts.
    """
    metric = tournament.metric
    pairs = sequential_units(laps, tournament, metric) if looked else units(laps, tournament, metric, cut)
    return (
        *_void_laps(laps),
        *_starts(history, tournament),
        *_end(history, tournament, stopped),
        *_reach(pairs),
        *_cautions(history, tournament, laps),
        *_warm_up(history, laps, cut),
        *freshness_notes(laps, tournament),
        *disturbance_notes(laps),
        *steadiness_notes(steadiness_by_start(history, tournament, laps)),
        *tournament.notes,
    )


def _void_laps(laps: Sequence[Lap]) -> Iterator[str]:
    reasons = Counter((lap.contender, lap.void) for lap in laps if lap.void is not None and not lap.warmup)
    for (contender, reason), number in reasons.items():
        yield f"{number} {'lap' if number == 1 else 'laps'} of '{contender}' do not count: {reason}."
    warmup = sum(lap.void is not None for lap in laps if lap.warmup)
    if warmup:
        yield f"{warmup} laps of the warm-up were void, too."


def _starts(history: History, tournament: Tournament) -> Iterator[str]:
    void = void_starts(history, tournament)
    for number in sorted({attempt.start for attempt in history.attempts}):
        attempts = history.attempts_of(number)
        failed = [attempt for attempt in attempts if attempt.outcome == FAILED]
        if number in void:
            yield f"Start {number} is void: {void[number]}"
        elif failed and attempts[-1].outcome == DONE:
            yield f"Start {number} failed and was tried again: {failed[-1].reason}"
        elif failed:
            done = blocks_done(history, tournament, number)
            yield f"The race of start {number} failed after block {done} of {tournament.blocks}: {failed[-1].reason}"
        cut_off = [attempt for attempt in attempts if attempt.outcome == CUT_OFF]
        if cut_off and attempts[-1].outcome == DONE:
            times = "once" if len(cut_off) == 1 else f"{len(cut_off)} times"
            yield f"Start {number} was cut off {times} and went on with a node that was started and warmed up anew."


def _end(history: History, tournament: Tournament, stopped: str) -> Iterator[str]:
    sequences = (
        "intervals are confidence sequences, valid whenever one looks, and wider than those of a fixed number of blocks"
    )
    if history.decided:
        yield f"It ended early, because the evidence sufficed (e-process): {sequences}."
    if stopped == BUDGET:
        yield f"It ended because the budget of {tournament.budget_minutes:g} minutes was used up."
    if stopped == FAILED_RACES:
        meaning = "" if tournament.node_level else f": {sequences}"
        yield f"It is shorter than planned, because races failed{meaning}."
    if stopped == INTERRUPTED:
        yield (
            f"It has not come to its end, and what was seen may be why: {sequences}. --resume goes on with the same "
            f"plan."
        )


def _reach(pairs: Mapping[str, Units]) -> Iterator[str]:
    """How far the claim goes, where that is less far than one might think: once if it is the same for all."""
    caveats = {name: of.caveat for name, of in pairs.items() if of.caveat and of.differences}
    same = len(set(caveats.values())) == 1
    for name, caveat in list(caveats.items())[: 1 if same else None]:
        yield caveat if same else f"'{name}': {caveat[0].lower()}{caveat[1:]}"


def _cautions(history: History, tournament: Tournament, laps: Sequence[Lap]) -> Iterator[str]:
    yield from never_acted(laps, settings_by_contender(history))
    seconds = [lap.seconds for lap in laps if lap.void is None and not lap.warmup]
    sentences = (
        driver_bound(driver_loads(laps), "kept"),
        short_laps(statistics.median(seconds), tournament.lap_documents, "took") if seconds else None,
    )
    yield from (f"{text[0].upper()}{text[1:]}" for text in sentences if text)
    if tournament.different_answers and any(lap.answers for lap in laps):
        yield f"Searches need not find the same in all contenders: {tournament.different_answers}"


def _warm_up(history: History, laps: Sequence[Lap], cut: Cut) -> Iterator[str]:
    warm = [lap for lap in laps if lap.warmup]
    nodes = sum(any(record["warm_up"] for record in attempt.laps) for attempt in history.attempts)
    if nodes:
        seconds, documents = sum(lap.seconds for lap in warm) / nodes, sum(lap.documents for lap in warm) / nodes
        few = few_for_rates(seconds, documents)
        yield (
            f"Warm-up per launch of a node: {seconds:.0f} s of load and {documents:,.0f} documents, not counted"
            f"{f', {few}' if few else ''}."
        )
    if cut.blocks:
        limit = (
            " At least once that is as many as may be cut: the warm-up may have been longer."
            if any(one.at_limit for one in cut.starts)
            else ""
        )
        yield f"MSER cut {cut.blocks} further blocks at the front, for all contenders together.{limit}"
