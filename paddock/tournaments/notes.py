"""What has to be said beside a result: warm-up, void laps, failed starts, how and why it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from paddock.statistics.steady_state import Steadiness, steady_state
from paddock.tournaments.journal import CUT_OFF, DONE, FAILED, History
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import Cut
from paddock.tournaments.plan import WARMUP_DOCUMENTS, WARMUP_SECONDS


def all_notes(history: History, tournament: Tournament, laps: Sequence[Lap], cut: Cut, stopped: str) -> tuple[str, ...]:
    """The sentences, the most important ones first."""
    return (
        *_void_laps(laps),
        *_starts(history),
        *_end(history, tournament, stopped),
        *_warm_up(laps, tournament, cut),
        *tournament.notes,
    )


def _void_laps(laps: Sequence[Lap]) -> Iterator[str]:
    reasons = Counter((lap.contender, lap.void) for lap in laps if lap.void is not None and not lap.warmup)
    for (contender, reason), number in reasons.items():
        yield f"{number} {'lap' if number == 1 else 'laps'} of '{contender}' do not count: {reason}."
    warmup = sum(lap.void is not None for lap in laps if lap.warmup)
    if warmup:
        yield f"{warmup} laps of the warm-up were void, too."


def _starts(history: History) -> Iterator[str]:
    for number in sorted({attempt.start for attempt in history.attempts}):
        attempts = history.attempts_of(number)
        failed = [attempt for attempt in attempts if attempt.outcome == FAILED]
        if attempts[-1].outcome == FAILED:
            yield f"Start {number} is void: {failed[-1].reason}"
        elif failed:
            yield f"Start {number} failed and was tried again: {failed[-1].reason}"
        cut_off = [attempt for attempt in attempts if attempt.outcome == CUT_OFF]
        if cut_off and attempts[-1].outcome == DONE:
            times = "once" if len(cut_off) == 1 else f"{len(cut_off)} times"
            yield f"Start {number} was cut off {times} and went on with a node that was started and warmed up anew."


def _end(history: History, tournament: Tournament, stopped: str) -> Iterator[str]:
    if history.decided:
        yield (
            "It ended early, because the evidence sufficed (e-process): intervals are confidence sequences, valid at "
            "every look and wider than those of a fixed number of blocks. Verdicts in other metrics than the main one "
            "do not account for the early end: take them as orientation."
        )
    if stopped == "budget":
        yield f"It ended because the budget of {tournament.budget_minutes:g} minutes was used up."
    if stopped == "interrupted":
        yield "It was interrupted; --resume goes on with the same plan."


def _warm_up(laps: Sequence[Lap], tournament: Tournament, cut: Cut) -> Iterator[str]:
    starts = sorted({lap.start for lap in laps})
    warm = [lap for lap in laps if lap.warmup]
    if starts and warm:
        seconds = sum(lap.seconds for lap in warm) / len(starts)
        documents = sum(lap.documents for lap in warm) / len(starts)
        short = seconds < WARMUP_SECONDS or documents < WARMUP_DOCUMENTS
        enough = (
            f", less than the {WARMUP_SECONDS} s and {WARMUP_DOCUMENTS:,} documents that absolute rates need"
            if short
            else ""
        )
        yield f"Warm-up per start: {seconds:.0f} s of load and {documents:,.0f} documents, not counted{enough}."
    if cut.blocks:
        limit = (
            " At least once that is as many as may be cut: the warm-up may have been longer."
            if any(one.at_limit for one in cut.starts)
            else ""
        )
        yield f"MSER cut {cut.blocks} further blocks at the front, for all contenders together.{limit}"
    yield from _steadiness(laps, tournament)


def _steadiness(laps: Sequence[Lap], tournament: Tournament) -> Iterator[str]:
    """Whether the baseline's throughput, second by second over all its laps, is steady: for absolute rates alone."""
    mine = [lap for lap in laps if lap.contender == tournament.baseline and not lap.warmup and lap.void is None]
    # The last second of a lap is not a whole one; a second without a document has no place in a log.
    rates = [rate for lap in mine for rate in lap.rates[:-1] if rate > 0]
    if not rates:
        return
    state = steady_state(rates)
    if state.steadiness is Steadiness.TOO_SHORT:
        yield f"Absolute rates: {len(rates)} seconds of the baseline are too few to tell whether they are steady."
    elif state.steadiness is Steadiness.NOT_STEADY:
        change = f" (second half {state.change:+.1%} against the first)" if state.change is not None else ""
        seconds = f"{len(rates)} seconds of the baseline"
        yield f"Absolute rates: no steady state within {seconds}{change}; ratios do not need one."
    else:
        yield f"Absolute rates: the baseline is steady over {len(rates)} seconds."
