"""Whether the baseline's throughput is steady inside each start: absolute rates need that, ratios do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paddock.statistics.warm_up import FEWEST_BULKS, Steadiness, SteadyState, steady_state
from paddock.tournaments.journal import History
from paddock.tournaments.laps import paces
from paddock.tournaments.model import Lap, Tournament


@dataclass(frozen=True)
class StartSteadiness:
    """The baseline's laps of one start, strung together.

    :param bulks: that they had.
    :param cut: share of them that belongs to a warm-up, 0 to 1.
    """

    bulks: int
    cut: float
    state: SteadyState


def steadiness_by_start(history: History, tournament: Tournament, laps: Sequence[Lap]) -> dict[int, StartSteadiness]:
    """Judged for each start by itself, because each JVM has its own level; only starts whose journal tells.

    :param laps: all of ``laps_of(history, tournament)``; those that do not count are left out.
    """
    bulks: dict[int, int] = {}
    series: dict[int, list[float]] = {}
    for pace in paces(history, laps):
        lap = pace.lap
        if lap.contender == tournament.baseline and not lap.warmup and lap.void is None and pace.seconds_per_document:
            bulks[lap.start] = bulks.get(lap.start, 0) + pace.bulks
            series.setdefault(lap.start, []).extend(pace.seconds_per_document)
    found = {}
    for start, values in sorted(series.items()):
        state = steady_state(values)
        found[start] = StartSteadiness(bulks[start], state.cut / len(values), state)
    return found


def steadiness_notes(found: Mapping[int, StartSteadiness]) -> Iterator[str]:
    """The answers in sentences; none where the journal does not tell."""
    groups: dict[Steadiness, dict[int, StartSteadiness]] = {}
    for start, one in found.items():
        groups.setdefault(one.state.steadiness, {})[start] = one
    sentences = {
        Steadiness.NOT_STEADY: _unsteady,
        Steadiness.UNDECIDED: _undecided,
        Steadiness.STEADY: _steady,
        Steadiness.TOO_SHORT: _few,
    }
    for steadiness, say in sentences.items():
        if members := groups.get(steadiness):
            where = "" if len(found) == 1 else f" in {len(members)} of {len(found)} starts"
            yield f"Absolute rates: {say(members, where)}"


def _unsteady(members: Mapping[int, StartSteadiness], where: str) -> str:
    return f"no steady state within {_bulks(members)}{where} ({_changes(members)}); ratios do not need one."


def _undecided(members: Mapping[int, StartSteadiness], where: str) -> str:
    return f"too noisy to tell whether {_bulks(members)}{where} are steady ({_changes(members)}, maybe by chance)."


def _steady(members: Mapping[int, StartSteadiness], where: str) -> str:
    longest = max(one.cut for one in members.values())
    cut = f", but for a warm-up of the first {longest:.0%} at most" if longest else ""
    return f"steady over {_bulks(members)}{where}{cut}."


def _few(members: Mapping[int, StartSteadiness], where: str) -> str:
    return f"{_bulks(members)}{where} are too few to tell whether they are steady; {FEWEST_BULKS} are needed."


def _changes(members: Mapping[int, StartSteadiness]) -> str:
    texts = {
        start: "still changing after half of them"
        if one.state.change is None
        else f"the second half {one.state.change:+.1%} docs/s against the first"
        for start, one in members.items()
    }
    if len(texts) == 1:
        return "".join(texts.values())
    return "; ".join(f"start {start}: {text}" for start, text in texts.items())


def _bulks(members: Mapping[int, StartSteadiness]) -> str:
    least, most = min(one.bulks for one in members.values()), max(one.bulks for one in members.values())
    return f"{least:,} bulks of the baseline" if least == most else f"{least:,} to {most:,} bulks of the baseline"
