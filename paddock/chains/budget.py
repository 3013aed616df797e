"""Minutes for every step, and the form of a tournament that fits them: how many starts, how many blocks; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paddock.errors import UsageError
from paddock.statistics.signed_rank import fewest_differences
from paddock.statistics.starts import FEWEST_STARTS
from paddock.tournaments import durations
from paddock.tournaments.clusters import runs_side_by_side
from paddock.tournaments.durations import Experience
from paddock.tournaments.model import Tournament
from paddock.tournaments.pairing import ALPHA
from paddock.tournaments.plan import Plan, make_plan
from paddock.tournaments.schedule import make_schedule

# Blocks of a start: with fewer most of it is warm-up, and beyond the most another start tells more.
FEWEST_BLOCKS, MOST_BLOCKS = 4, 60
# A claim about the configuration is preferred to one about a JVM while it resolves this.
GOOD_ENOUGH = 1.15


@dataclass(frozen=True)
class Demand:
    """What a step asks of the budget.

    :param expected: minutes in its full form, ``least`` in the smallest that can decide anything.
    """

    name: str
    expected: float
    least: float
    weight: float = 1.0


def demand(name: str, tournament: Tournament, weight: float, experience: Experience) -> Demand:
    """What a tournament asks of the budget."""
    full, smallest = _minutes(tournament, experience), _minutes(_smallest(tournament), experience)
    return Demand(name, max(full, smallest), smallest, weight)


def _minutes(tournament: Tournament, experience: Experience) -> float:
    """Expected, of all starts; the same as its plan's, which takes longer to make."""
    starts = make_schedule(tournament, 1)
    return sum(durations.start_seconds(tournament, start, experience) for start in starts) / 60


def _needed(tournament: Tournament) -> int:
    """Pairs without which nothing can be decided."""
    return int(fewest_differences(ALPHA / (len(tournament.contenders) - 1)))


def _smallest(tournament: Tournament) -> Tournament:
    needed = _needed(tournament)
    if tournament.node_level:
        return replace(tournament, starts=needed, blocks=FEWEST_BLOCKS)
    return replace(tournament, starts=1, blocks=max(needed, FEWEST_BLOCKS))


def split(
    budget: float, demands: Sequence[Demand], last: Demand | None = None, found: bool = False
) -> dict[str, float]:
    """Minutes of every step: in proportion to what it expects and its weight, none below the least that it needs.

    Where the budget does not suffice for all, the latest steps get none. The last tournament is kept beside one step
    at least, or alone if something was found already that it can compare.

    :param last: of the tuned against the default configuration.
    :param found: whether a step that is over has a winner.
    :returns: name -> minutes; steps that get none are left out.
    """
    kept = list(demands)
    ends = [last] if last is not None else []
    while kept and sum(one.least for one in (*kept, *ends)) > budget:
        kept.pop()
    if demands and not kept and not found:
        kept, ends = [demands[0]], []
    if sum(one.least for one in (*kept, *ends)) > budget:
        return {}
    minutes: dict[str, float] = {}
    open_ones, left = [*kept, *ends], budget
    while open_ones:
        whole = sum(one.expected * one.weight for one in open_ones) or 1.0
        short = [one for one in open_ones if left * one.expected * one.weight / whole < one.least]
        if not short:
            return minutes | {one.name: left * one.expected * one.weight / whole for one in open_ones}
        for one in short:
            minutes[one.name] = min(one.least, left)
            left -= minutes[one.name]
            open_ones.remove(one)
    return minutes


def check(budget: float, demands: Sequence[Demand], last: Demand | None) -> None:
    """Check that something can come of the budget.

    :raises UsageError: if it is too short for the first step, with the last tournament if there is one.
    """
    if not demands:
        return
    least = demands[0].least + (last.least if last is not None else 0.0)
    if least > budget:
        then = ", with the tournament of the tuned against the default configuration behind it" if last else ""
        everything = sum(one.least for one in (*demands, *([last] if last else [])))
        more = f", or {math.ceil(everything)} for all steps" if everything > least else ""
        raise UsageError(
            f"A budget of {budget:g} minutes is too short for the first step '{demands[0].name}'{then}, which need "
            f"about {math.ceil(least)} minutes to decide anything: give at least --budget {math.ceil(least)}{more}."
        )


def fitting(tournament: Tournament, minutes: float, experience: Experience) -> Plan:
    """The tournament with so many starts and blocks as fit the minutes, and its plan.

    A claim about the configuration, which needs several starts, where it resolves enough; else whatever resolves most.
    """
    needed = _needed(tournament)
    forms = []
    for starts in range(max(tournament.starts, 1), 0, -1):
        blocks = _most_blocks(tournament, starts, minutes, experience)
        if blocks is None or (tournament.node_level and starts < needed):
            continue
        if starts >= max(FEWEST_STARTS, needed):
            plan = _plan(tournament, starts, blocks, minutes, experience)
            if plan.resolution.ratio <= GOOD_ENOUGH:
                return plan
        form = replace(tournament, starts=starts, blocks=blocks)
        forms.append((_uncertainty(form, experience), -starts, blocks))
    least = _smallest(tournament)
    _, starts, blocks = min(forms, default=(0.0, -least.starts, least.blocks))
    return _plan(tournament, -starts, blocks, minutes, experience)


def _uncertainty(tournament: Tournament, experience: Experience) -> float:
    """Standard error of a log ratio, with the luck of JVMs, which more blocks in one start do not lessen."""
    metric = tournament.metric.name
    block_sd = experience.block_sds.get(metric) or durations.assumed_block_sd(tournament)
    start_sd = math.sqrt(2) * durations.START_SD if tournament.node_level else 0.0
    if runs_side_by_side(tournament):
        start_sd = experience.start_sds.get(metric, durations.START_PAIR_SD)
    return math.sqrt((block_sd**2 / tournament.blocks + start_sd**2) / tournament.starts)


def _plan(tournament: Tournament, starts: int, blocks: int, minutes: float, experience: Experience) -> Plan:
    # A start that is expected to end with the budget is not to be left out for a second.
    changed = replace(tournament, starts=starts, blocks=blocks, budget_minutes=round(minutes * 1.05 + 0.5, 1))
    return make_plan(changed, 1, experience)


def _most_blocks(tournament: Tournament, starts: int, minutes: float, experience: Experience) -> int | None:
    """The most blocks of which that many starts fit; None if hardly any do."""

    def takes(blocks: int) -> float:
        return _minutes(replace(tournament, starts=starts, blocks=blocks), experience)

    least, next_one = takes(FEWEST_BLOCKS), takes(FEWEST_BLOCKS + 1)
    if least > minutes:
        return None
    # Every block takes as long as the next, but for waits at random.
    blocks = min(FEWEST_BLOCKS + int((minutes - least) / max(next_one - least, 1e-6)), MOST_BLOCKS)
    while blocks > FEWEST_BLOCKS and takes(blocks) > minutes:
        blocks -= 1
    return blocks
