"""The plan of a tournament: its schedule, what it will take, and the smallest difference that it can resolve."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from paddock.statistics.power import smallest_difference
from paddock.statistics.signed_rank import fewest_differences
from paddock.statistics.starts import FEWEST_STARTS
from paddock.tournaments import durations
from paddock.tournaments.durations import Experience
from paddock.tournaments.model import Tournament
from paddock.tournaments.schedule import Start, make_schedule

ALPHA = 0.05
# The warm-up that every start has to have; docs/method.md says why.
WARMUP_SECONDS = 60
WARMUP_DOCUMENTS = 600_000


@dataclass(frozen=True)
class Resolution:
    """What a number of units can tell apart.

    :param ratio: the smallest ratio above 1 that is found with a probability of 80 %; infinite if none is.
    :param units: how many pairs are compared.
    :param unit: "block" or "start".
    :param needed: how many there must be before anything can be decided.
    :param sd: assumed standard deviation of the log ratios.
    """

    ratio: float
    units: int
    unit: str
    needed: int
    sd: float


@dataclass(frozen=True)
class Plan:
    """A tournament that is ready to be run.

    :param seconds: expected, per start.
    :param fits: how many of the starts fit the budget.
    :param warmup_seconds: expected of the load of one start's warm-up.
    :param lap_seconds: expected of the load of a lap, the median of the contenders.
    """

    tournament: Tournament
    seed: int
    schedule: tuple[Start, ...]
    seconds: tuple[float, ...]
    fits: int
    warmup_seconds: float
    lap_seconds: float
    resolution: Resolution
    experience: Experience

    @property
    def minutes(self) -> float:
        """Expected, of those starts that fit the budget."""
        return sum(self.seconds[: self.fits]) / 60

    @property
    def warmup_documents(self) -> int:
        """Documents of one start's warm-up."""
        start = self.schedule[0]
        return start.warmup_blocks * len(start.contenders) * self.tournament.lap_documents


def few_for_rates(seconds: float, documents: float) -> str:
    """What a warm-up lacks that absolute rates need; empty if nothing."""
    lacking = [
        text
        for short, text in (
            (seconds < WARMUP_SECONDS, f"{WARMUP_SECONDS} s"),
            (documents < WARMUP_DOCUMENTS, f"{WARMUP_DOCUMENTS:,} documents"),
        )
        if short
    ]
    return f"less than the {' and the '.join(lacking)} that absolute rates need" if lacking else ""


def make_plan(tournament: Tournament, seed: int, experience: Experience | None = None) -> Plan:
    """Plan the tournament; the schedule depends on tournament and seed alone, the rest on experience as well."""
    experience = experience or Experience()
    schedule = make_schedule(tournament, seed)
    seconds = tuple(durations.start_seconds(tournament, start, experience) for start in schedule)
    fits = _fitting(tournament, schedule, seconds)
    laps = [durations.lap_seconds(tournament, contender, experience) for contender in tournament.contenders]
    per_block = sum(laps) / len(laps) if tournament.node_level else sum(laps)
    return Plan(
        tournament,
        seed,
        schedule,
        seconds,
        fits,
        per_block * tournament.warmup_blocks,
        statistics.median(laps),
        _resolution(tournament, schedule[:fits], seconds, experience),
        experience,
    )


def _fitting(tournament: Tournament, schedule: tuple[Start, ...], seconds: tuple[float, ...]) -> int:
    """Starts that end before the budget does, in whole groups; always the first group."""
    budget = tournament.budget_minutes * 60
    spent, fits = 0.0, 0
    for group in sorted({start.group for start in schedule}):
        members = [start.number for start in schedule if start.group == group]
        spent += sum(seconds[number - 1] for number in members)
        if fits and spent > budget:
            break
        fits = members[-1]
    return fits


def _resolution(
    tournament: Tournament, schedule: tuple[Start, ...], seconds: tuple[float, ...], experience: Experience
) -> Resolution:
    alpha = ALPHA / (len(tournament.contenders) - 1)
    needed = fewest_differences(alpha)
    groups = len({start.group for start in schedule})
    block_sd = experience.block_sd or durations.LAP_SD * math.sqrt(2)
    if tournament.node_level:
        sd = math.sqrt(block_sd**2 / tournament.blocks + 2 * durations.START_SD**2)
        return Resolution(smallest_difference(groups, sd, alpha=alpha), groups, "start", needed, sd)
    # As starts.index_level counts: enough starts are the units, otherwise all blocks are pooled.
    if groups >= max(FEWEST_STARTS, needed):
        sd = block_sd / math.sqrt(tournament.blocks)
        return Resolution(smallest_difference(groups, sd, alpha=alpha), groups, "start", needed, sd)
    share = min(1.0, tournament.budget_minutes * 60 / seconds[0]) if groups == 1 else 1.0
    blocks = max(1, int(groups * tournament.blocks * share))
    return Resolution(smallest_difference(blocks, block_sd, alpha=alpha), blocks, "block", needed, block_sd)
