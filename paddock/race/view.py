"""Shows a running race: Rally's current task, how far it has come and how long it will take."""

from __future__ import annotations

import time

from rich.progress import Progress, TaskID

from paddock.console import PLAIN_INTERVAL, messages, progress_columns, say, warn
from paddock.rally.process import Note, TaskProgress, seconds_left

# What Rally says that a user of Paddock need not read: the race id and the summary come from us.
_UNINTERESTING = ("Race id is", "SUCCESS", "FAILURE", "Racing on track", "Executing benchmark with", "Skipping")


class RaceView:
    """Progress of one race on stderr: a bar on a terminal, lines elsewhere."""

    def __init__(self) -> None:
        self._terminal = messages().is_terminal
        self._bar: Progress | None = None
        self._bar_task: TaskID | None = None
        self._task = ""
        self._task_began = 0.0
        self._said = 0.0
        self._began = time.monotonic()

    def event(self, event: TaskProgress | Note) -> None:
        """Rally says something."""
        if isinstance(event, Note):
            self._note(event)
        else:
            self._progress(event)

    def close(self) -> None:
        """The race is over."""
        if self._bar:
            self._bar.stop()
            self._bar = None

    def _note(self, note: Note) -> None:
        # Errors are told once the race has failed, with their cause.
        if note.level == "WARNING":
            warn(f"Rally: {note.text}")
        elif note.level == "INFO" and not note.text.startswith(_UNINTERESTING):
            say(f"Rally: {note.text}")

    def _progress(self, event: TaskProgress) -> None:
        now = time.monotonic()
        if event.task != self._task:
            self._task, self._task_began, self._said = event.task, now, now
            if self._terminal:
                self._begin_bar(event.task)
            else:
                say(f"[{now - self._began:4.0f} s] {event.task} ...")
        if self._bar and self._bar_task is not None:
            self._bar.update(self._bar_task, completed=event.percent)
        elif now - self._said >= PLAIN_INTERVAL:
            self._said = now
            left = seconds_left(event.percent, now - self._task_began)
            rest = f", about {left:.0f} s left" if left is not None else ""
            say(f"[{now - self._began:4.0f} s] {event.task}: {event.percent} %{rest}")

    def _begin_bar(self, task: str) -> None:
        if self._bar is None:
            self._bar = progress_columns()
            self._bar.start()
        elif self._bar_task is not None:
            self._bar.remove_task(self._bar_task)
        self._bar_task = self._bar.add_task(task, total=100)
