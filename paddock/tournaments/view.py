"""Where a running tournament stands after its latest block, whether it may end, and how that is shown on stderr."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from paddock.console import PLAIN_INTERVAL, messages, say, warn
from paddock.rally.process import Note, TaskProgress
from paddock.statistics.evidence import Decision, standing
from paddock.statistics.signed_rank import hodges_lehmann
from paddock.tournaments.lap_cautions import driver_loads, hides_differences
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import ALPHA, sequential_units
from paddock.tournaments.plan import Plan
from paddock.tournaments.schedule import Start


@dataclass(frozen=True)
class Place:
    """One contender against the baseline, so far.

    :param ratio: estimate in the metric of the verdict; None without a pair.
    :param low, high: confidence sequence of the ratio: valid at every look.
    :param decided: whether the evidence suffices, for a difference or for an equivalence that may be told.
    """

    contender: str
    ratio: float | None
    low: float
    high: float
    pairs: int
    decided: bool


def current_standing(laps: Sequence[Lap], tournament: Tournament) -> tuple[Place, ...]:
    """All contenders but the baseline."""
    units, loads = sequential_units(laps, tournament, tournament.metric), driver_loads(laps)
    places = []
    for name, of in units.items():
        values = of.differences
        now = standing(values, len(units), tournament.margin, ALPHA)
        ratio = math.exp(hodges_lehmann(values)) if values else None
        low, high = math.exp(max(now.low, -700)), math.exp(min(now.high, 700))
        hidden = hides_differences(tournament.metric, loads, name, tournament.baseline)
        decided = now.decision is Decision.DIFFERENT or (now.decision is Decision.EQUIVALENT and not hidden)
        places.append(Place(name, ratio, low, high, len(values), decided))
    return tuple(places)


def is_decided(places: Sequence[Place], tournament: Tournament) -> bool:
    """Whether nothing is left to find out: a tournament that may stop early does so now."""
    return tournament.stop_early and bool(places) and all(place.decided for place in places)


def standing_text(places: Sequence[Place], most: int = 4) -> str:
    """One line for a person: the contenders farthest from the baseline."""
    known = sorted(
        (place for place in places if place.ratio is not None), key=lambda place: -abs(math.log(place.ratio or 1.0))
    )
    shown = [
        f"{place.contender} {100 * ((place.ratio or 1.0) - 1):+.1f} %{'' if place.decided else ' (undecided)'}"
        for place in known[:most]
    ]
    more = len(known) - most
    return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])]) or "no pair of laps yet"


class TournamentView:
    """Progress in laps: a bar on a terminal, lines elsewhere."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._total = sum(start.laps for start in plan.schedule[: plan.fits])
        self._done = 0
        self._said = 0.0
        self._began = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def start(self, start: Start, attempt: int) -> None:
        """A start begins; everything before it is done."""
        schedule = self._plan.schedule
        self._done = sum(one.laps for one in schedule[: start.number - 1])
        again = f", attempt {attempt}" if attempt > 1 else ""
        who = start.contenders[0] if len(start.contenders) == 1 else f"{start.laps} laps"
        say(f"[{self._elapsed()}] Start {start.number} of {len(schedule)} ({who}{again}) ...")
        if messages().is_terminal and self._bar is None:
            self._bar = Progress(
                TextColumn("{task.completed}/{task.total} laps"),
                BarColumn(bar_width=30),
                TextColumn("about {task.fields[left]} left"),
                TextColumn("{task.fields[standing]}", markup=False),
                console=messages(),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self._total, left="?", standing="")
            self._bar.start()

    def laps(self, number: int) -> None:
        """So many laps more have been run."""
        self._done += number
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self._done, left=self._left())

    def standing(self, text: str) -> None:
        """Who leads, after a block."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, standing=text)
        elif time.monotonic() - self._said >= PLAIN_INTERVAL:
            self._said = time.monotonic()
            say(f"[{self._elapsed()}] {self._done} of {self._total} laps, about {self._left()} left; {text}")

    def event(self, event: TaskProgress | Note) -> None:
        """Rally says something; its own progress is coarser than ours."""
        if isinstance(event, Note) and event.level == "WARNING":
            warn(f"Rally: {event.text}")

    def close(self) -> None:
        """It is over."""
        if self._bar:
            self._bar.stop()
            self._bar = None

    def _left(self) -> str:
        """From the plan's durations: the share of laps that is left of each start's seconds."""
        seconds, before = 0.0, 0
        for start, expected in zip(self._plan.schedule[: self._plan.fits], self._plan.seconds, strict=False):
            left = min(start.laps, max(0, before + start.laps - self._done))
            seconds += expected * left / start.laps
            before += start.laps
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._began)
        return f"{seconds // 60}:{seconds % 60:02d}"
