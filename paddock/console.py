"""What a person sees: sentences and progress on stderr, results, tables and JSON on stdout."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from paddock.errors import MachineError

# Without a terminal a running step is reported this often, in seconds.
PLAIN_INTERVAL = 15.0


def messages() -> Console:
    """Where sentences go; colours only on a terminal and without NO_COLOR (rich sees to both)."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(sentence: str) -> None:
    """Tell the user something while a command runs."""
    messages().print(sentence, markup=False)


def warn(sentence: str) -> None:
    """Tell the user something to look at."""
    console = messages()
    console.print("Note:", style="yellow", end=" ")
    console.print(sentence, markup=False)


def stdout_has_colours() -> bool:
    """Whether results on stdout may be coloured."""
    console = Console()
    return console.is_terminal and not console.no_color


def terminal_width() -> int:
    """Columns for a result: the terminal's, or 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def progress_columns(unit: ProgressColumn | TextColumn | None = None) -> Progress:
    """A progress bar with the time that is left."""
    extra = [unit] if unit else []
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        *extra,
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=messages(),
        transient=True,
    )


@contextmanager
def progress(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how far a step has come; gives a function that takes what has been done since its last call.

    Without a terminal: a line at the beginning, one every 15 seconds, one at the end with the time taken.
    """
    console = messages()
    started = time.monotonic()
    if console.is_terminal:
        with progress_columns() as bar:
            task = bar.add_task(description, total=total)
            yield lambda amount: bar.advance(task, amount)
    else:
        say(f"{description} ...")
        counter = _PlainCounter(description, total)
        yield counter.advance
    say(f"{description}: done in {time.monotonic() - started:.1f} s.")


class _PlainCounter:
    """Progress as lines, for logs and pipes."""

    def __init__(self, description: str, total: int):
        self._description = description
        self._total = max(total, 1)
        self._done = 0
        self._said = time.monotonic()
        self._began = self._said

    def advance(self, amount: int) -> None:
        """So much more has been done."""
        self._done += amount
        now = time.monotonic()
        if now - self._said >= PLAIN_INTERVAL and self._done < self._total:
            self._said = now
            left = (now - self._began) * (self._total - self._done) / max(self._done, 1)
            say(f"{self._description}: {100 * self._done // self._total} %, about {left:.0f} s left.")


def print_result(text: str) -> None:
    """Print a command's result on stdout, as it is.

    :raises MachineError: if it cannot be written there.
    """
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        if sys.stdout is not None:
            # Python tries once more when it ends, and would say so in its own way.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise MachineError(
            f"The result could not be printed on standard output ({error.strerror}): send it elsewhere."
        ) from None


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Aligned columns without lines; the last column may be long."""
    from tabulate import tabulate  # which most commands need not wait for

    text = tabulate(rows, headers=headers, tablefmt="plain", disable_numparse=True)
    return "\n".join(line.rstrip() for line in text.splitlines())


def as_json(value: Any) -> str:
    """Indented JSON; paths and other objects as text."""
    return json.dumps(value, indent=2, default=str)
