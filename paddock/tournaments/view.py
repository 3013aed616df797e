"""What a person sees of a tournament while it runs: how far it is, and who leads."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from paddock.console import PLAIN_INTERVAL, messages, say
from paddock.tournaments.model import UNDECIDED, Verdict
from paddock.tournaments.plan import Plan
from paddock.tournaments.schedule import Start
from paddock.tournaments.store import History

_AS_PLANNED = 120.0  # seconds


def standing_text(standing: Sequence[Verdict], most: int = 4) -> str:
    """One line for a person: the contenders farthest from the baseline."""
    known = sorted(
        ((one, one.ratio) for one in standing if one.ratio is not None), key=lambda both: -abs(math.log(both[1]))
    )
    shown = [
        f"{one.contender} {100 * (ratio - 1):+.1f} %{' (undecided)' if one.verdict == UNDECIDED else ''}"
        for one, ratio in known[:most]
    ]
    more = len(known) - most
    return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])]) or "no pair of laps yet"


class View:
    """Progress in laps: a bar on a terminal, lines elsewhere."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._laps = [start.laps for start in plan.schedule]
        self._done = 0
        self._said = 0.0
        self._began = time.monotonic()
        self._first: float | None = None  # seconds that the plan expected when this command began
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def start(self, start: Start, attempt: int) -> None:
        """A start begins; everything before it is done."""
        schedule = self._plan.schedule
        self._done = sum(self._laps[: start.number - 1])
        if self._first is None:
            self._first = self._expected()
        again = f", attempt {attempt}" if attempt > 1 else ""
        who = start.contenders[0] if len(start.contenders) == 1 else f"{self._laps[start.number - 1]} laps"
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

    def drop(self, history: History) -> None:
        """Some contenders get no further laps: those of the start that runs, if one does, and of all later ones."""
        latest = history.attempts[-1]
        before_drop = self._expected()
        for start in self._plan.schedule[latest.start :]:
            self._laps[start.number - 1] = start.lacking(history.dropped).laps
        if latest.ended is None:
            start = self._plan.schedule[latest.start - 1].lacking(history.dropped)
            run = max(record.lap.block for record in latest.records)
            before = sum(self._laps[: start.number - 1])
            self._laps[start.number - 1] = self._done - before + sum(map(len, start.orders[run:]))
        if self._first is not None:
            self._first -= before_drop - self._expected()
        if self._bar:
            self._bar.update(self._task, total=self._total)

    @property
    def _total(self) -> int:
        return sum(self._laps[: self._plan.fits])

    def laps(self, number: int) -> None:
        """So many laps more have been run."""
        self._done += number
        if self._bar:
            self._bar.update(self._task, completed=self._done, left=self._left())

    def standing(self, text: str) -> None:
        """Who leads, after a block."""
        if self._bar:
            self._bar.update(self._task, standing=text)
        elif time.monotonic() - self._said >= PLAIN_INTERVAL:
            self._said = time.monotonic()
            say(f"[{self._elapsed()}] {self._done} of {self._total} laps, about {self._left()} left; {text}")

    def close(self) -> None:
        """It is over."""
        if self._bar:
            self._bar.stop()
            self._bar = None

    def _left(self) -> str:
        """What the plan expects of the laps that are left, at the pace of those that this command has run."""
        expected = self._expected()
        run = (self._first or expected) - expected
        # Some time as planned goes with what was seen, so that the first laps alone do not decide.
        pace = (time.monotonic() - self._began + _AS_PLANNED) / (run + _AS_PLANNED)
        seconds = expected * pace
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"

    def _expected(self) -> float:
        """Seconds that the plan expects of the laps that are left: their share of each start's."""
        seconds, before = 0.0, 0
        starts = zip(self._laps, self._plan.schedule[: self._plan.fits], self._plan.seconds, strict=False)
        for laps, start, expected in starts:
            seconds += expected * min(laps, max(0, before + laps - self._done)) / start.laps
            before += laps
        return seconds

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._began)
        return f"{seconds // 60}:{seconds % 60:02d}"
