"""Shows a running tournament on stderr: how far it has come, what is left, who leads."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from paddock.console import PLAIN_INTERVAL, messages, say, warn
from paddock.rally.progress import Note, TaskProgress
from paddock.tournaments.plan import Plan
from paddock.tournaments.schedule import Start


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
