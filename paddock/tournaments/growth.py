"""Slices of a load into indices that grow: what to expect of them, what they cannot tell, and how they held."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from paddock import numbers
from paddock.rally.preflight import bytes_that_need_room
from paddock.statistics.sustained import LongRun, long_run
from paddock.tournaments.durations import Experience, lap_documents, lap_seconds, refresh_seconds
from paddock.tournaments.laps import MERGE_WAIT
from paddock.tournaments.load_shape import index_settings
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import counting

# Refreshes that a slice should hold: what the last of them leaves is refreshed after it, and not in its time.
FEWEST_REFRESHES = 2
# Seconds that merges go on after a slice, for each second of it, from which on docs/s leaves out too much.
LONG_MERGE_WAIT = 0.1
_THROTTLE = "merge.scheduler.auto_throttle"


def fewest_documents(tournament: Tournament, experience: Experience) -> int:
    """Documents of a lap of that contender of whom fewest are expected."""
    return min(lap_documents(tournament, one, experience) for one in tournament.contenders)


def grown_documents(tournament: Tournament, experience: Experience) -> int:
    """Documents that all indices of a start have together at its end, as far as one can tell."""
    laps = tournament.warmup_blocks + tournament.blocks
    return laps * sum(lap_documents(tournament, one, experience) for one in tournament.raced)


def bytes_to_index(tournament: Tournament, experience: Experience, documents: int | None, size: int) -> int:
    """How much of a corpus the largest index of a race takes in, for a look at the disk.

    :param documents: of the corpus, None if unknown; ``size`` in bytes.
    """
    if not tournament.growing or not documents:
        return size
    together = grown_documents(tournament, experience)
    at_once = together // len(tournament.raced) if tournament.node_level else together
    return bytes_that_need_room(size, documents, at_once)


def growing_cautions(tournament: Tournament, experience: Experience) -> Iterator[str]:
    """Sentences about what slices into growing indices cannot tell."""
    if not tournament.growing:
        return
    intervals = {one.name: refresh_seconds(tournament, one) for one in tournament.contenders}
    longest = max(intervals, key=lambda name: intervals[name])
    seconds = min(lap_seconds(tournament, one, experience) for one in tournament.contenders)
    if len(set(intervals.values())) > 1 and seconds < FEWEST_REFRESHES * intervals[longest]:
        yield (
            f"a slice of {seconds:.0f} s holds less than {FEWEST_REFRESHES} refreshes of '{longest}', and what comes "
            f"after the last one is refreshed when the slice is over, which looks cheaper than it is: slices of "
            f"{FEWEST_REFRESHES * intervals[longest]:.0f} s would hold them."
        )
    settings = {one.name: index_settings(tournament, one) for one in tournament.contenders}
    if slowed := [name for name, of in settings.items() if str(of.get(_THROTTLE, True)).lower() != "false"]:
        yield (
            f"Elasticsearch slows merges down while there are few of them, to 5 MB a second: those of "
            f"{', '.join(map(repr, slowed))} go on long after a slice, and are waited for no longer than the slice "
            f"took: index.{_THROTTLE}: false lets them end."
        )
    if tournament.stop_early:
        yield (
            "the evidence may end it while the indices are still small: 'stop_early: false' lets them grow as they "
            "were meant to."
        )


def growth_notes(laps: Sequence[Lap], tournament: Tournament) -> Iterator[str]:
    """How large the indices grew, and how each contender's rate held while they did."""
    if not tournament.growing:
        return
    grown = [lap.documents_before + lap.documents for lap in laps if lap.documents_before is not None]
    if grown:
        yield (
            f"Every contender had an index of its own, which grew through a start, up to {max(grown):,} documents. "
            f"Merges that a slice had left were waited for before the next one, outside of its time (merge wait s/M "
            f"docs)."
        )
    for contender in tournament.contenders:
        runs = [run for load in _loads(laps, contender.name) if (run := _run(load)) is not None]
        if runs:
            yield f"'{contender.name}' through its slices: {_held(runs)}"


def left_merges(laps: Sequence[Lap], tournament: Tournament) -> str | None:
    """A sentence about merges that slices left to the pauses after them; None where those are short.

    A load without pauses would have them beside its indexing, and a contender may leave more of them than another one:
    of few and late refreshes come large segments, whose merges begin when the slice is over.
    """
    shares = {}
    for contender in tournament.contenders:
        mine = [lap for lap in counting(laps, contender.name) if MERGE_WAIT in lap.prices]
        if seconds := sum(lap.seconds for lap in mine):
            waited = sum(lap.prices[MERGE_WAIT] * lap.documents / 1_000_000 for lap in mine)
            shares[contender.name] = waited / seconds
    if max(shares.values(), default=0.0) < LONG_MERGE_WAIT:
        return None
    listed = ", ".join(f"{share:.2f} s by '{name}'" for name, share in shares.items())
    going_on = Counter(lap.contender for lap in counting(laps) if lap.merges_go_on)
    beside = ", ".join(f"{number} times by '{name}'" for name, number in going_on.items())
    after = f"They went on when the next slice began, and cost that one: {beside}. " if beside else ""
    return (
        f"for each second of load slices left merges to the pauses after them, which docs/s does not count: {listed}. "
        f"{after}A load without pauses pays for them: race each with --challenge sustained before you decide."
    )


def _loads(laps: Sequence[Lap], contender: str) -> list[list[Lap]]:
    """A contender's slices, load by load: each begins with a warm-up, also where a start that was cut off goes on."""
    loads: list[list[Lap]] = []
    before: Lap | None = None
    for lap in laps:
        if lap.contender != contender or lap.void is not None:
            continue
        if before is None or lap.start != before.start or (lap.warmup and not before.warmup):
            loads.append([])
        loads[-1].append(lap)
        before = lap
    return loads


def _run(load: Sequence[Lap]) -> LongRun | None:
    """What the seconds inside the slices of one load, strung together, say; None where they are too few.

    The last second of a slice is no whole one, and the first has an empty buffer.
    """
    warm_up = sum(len(lap.rates[1:-1]) for lap in load if lap.warmup)
    return long_run([rate for lap in load for rate in lap.rates[1:-1]], warm_up)


def _held(runs: Sequence[LongRun]) -> str:
    """What the seconds of one load or of several say of one contender."""
    if len(runs) == 1:
        (run,) = runs
        onset = "no onset of fluctuation"
        if run.onset:
            onset = f"the rate begins to fluctuate after {run.onset.at:.0f} s of load"
        if run.trend is None:
            return f"{onset}."
        span = f"{_percent(run.trend.low)} to {_percent(run.trend.high)}"
        after = numbers.duration(run.trend.end - run.trend.begin)
        if not run.trend.seen:
            return f"{onset}, and no trend to be seen within {after} of load after the warm-up or that ({span})."
        return f"{onset}, and {_percent(run.trend.change)} within {after} of load ({span})."
    trends = [run.trend for run in runs if run.trend is not None]
    falls, rises = (sum(one.seen and (one.change < 0) is down for one in trends) for down in (True, False))
    fluctuating = sum(run.onset is not None for run in runs)
    change = f", {_percent(statistics.median(one.change for one in trends))} in the median" if trends else ""
    return (
        f"in {len(runs)} loads the rate fell in {falls}, rose in {rises}{change}, and began to fluctuate in "
        f"{fluctuating}."
    )


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %"
