"""What a person sees: sentences and progress on stderr; results as wrapped text, tables and JSON on stdout."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from paddock.errors import MachineError

# Without a terminal a running step is reported this often, in seconds.
PLAIN_INTERVAL = 15.0
NARROWEST = 60  # columns; no table of ours fits into fewer
ENDLESS = 100_000  # columns, where nobody's window ends
_ESCAPE = r"\x1b\[[\d;]*m"
_BLANKS_AT_END = re.compile(rf"(?:{_ESCAPE})*[ ](?:[ ]|{_ESCAPE})*$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


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


def progress_columns() -> Progress:
    """A progress bar with the time that is left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
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
    started = said = time.monotonic()
    done = 0

    def advance(amount: int) -> None:
        nonlocal done, said
        done += amount
        now = time.monotonic()
        if now - said >= PLAIN_INTERVAL and done < total:
            said = now
            left = (now - started) * (total - done) / max(done, 1)
            say(f"{description}: {100 * done // total} %, about {left:.0f} s left.")

    if console.is_terminal:
        with progress_columns() as bar:
            task = bar.add_task(description, total=total)
            yield lambda amount: bar.advance(task, amount)
    else:
        say(f"{description} ...")
        yield advance
    say(f"{description}: done in {time.monotonic() - started:.1f} s.")


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
    """Aligned columns without lines; on a terminal a last column that is too long for it goes on in further lines."""
    found = columns(headers, rows, folding=len(headers) - 1, indented=False)
    # rich would take a pipe for a terminal where FORCE_COLOR asks for colours, as it does in many pipelines.
    window = sys.stdout is not None and sys.stdout.isatty()
    return drawn(found, terminal_width() if window else ENDLESS, False)


def columns(
    headers: Sequence[str],
    rows: Sequence[Sequence[Any]],
    right: Collection[int] = (),
    *,
    styles: Sequence[str] = (),
    faint: int | None = None,
    folding: int | None = None,
    indented: bool = True,
) -> Table:
    """Columns two blanks apart; whatever stands in them is only text.

    :param headers: none where they are empty.
    :param right: positions of columns that are set flush right.
    :param styles: rich's name of a colour for each row; empty for none.
    :param faint: position of a column that is less important.
    :param folding: position of the column that goes on in further lines where all are wider than the window.
    """
    lines = [[plain_line(str(cell)) for cell in row] for row in ([headers] if headers else []) + list(rows)]
    found = Table(box=None, show_header=bool(headers), header_style="", pad_edge=False, padding=(0, 2, 0, 0))
    before = [""] if indented else []
    if indented:
        found.add_column()
    for position, cells in enumerate(zip(*lines, strict=True)):
        longest = max(map(cell_len, cells))
        found.add_column(
            Text(cells[0]) if headers else "",
            justify="right" if position in right else "left",
            no_wrap=position != folding,
            overflow="fold",
            min_width=min(longest, 8) if position == folding else longest,
            style="dim" if position == faint else "",
        )
    for number, row in enumerate(lines[1:] if headers else lines):
        found.add_row(*before, *map(Text, row), style=styles[number] if styles else "")
    return found


def drawn(what: Text | Table, width: int, colours: bool) -> str:
    """What rich makes of it, without blanks at the ends of lines; longer than the width where it cannot be cut."""
    if isinstance(what, Table):
        width = max(width, sum(column.min_width or 0 for column in what.columns) + 2 * (len(what.columns) - 1))
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=colours, color_system="standard" if colours else None, no_color=False
    )
    console.print(what, crop=False, soft_wrap=isinstance(what, Text))
    end = "\x1b[0m" if colours else ""
    return "\n".join(_BLANKS_AT_END.sub(end, line) for line in file.getvalue().splitlines())


def styled(text: str, style: str, colours: bool) -> str:
    """The text in rich's style, such as bold or green, where results have colours."""
    return drawn(Text(text, style), ENDLESS, True) if colours and text else text


def wrapped(text: str, width: int, first: str = "", further: str = "") -> str:
    """The text in lines of that width, words whole; control characters become blanks."""
    return textwrap.fill(
        plain_line(text),
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def plain_line(text: str) -> str:
    """The text without anything that a terminal would obey."""
    return _CONTROL.sub(" ", text)


def as_json(value: Any) -> str:
    """Indented JSON; paths and other objects as text."""
    return json.dumps(value, indent=2, default=str)
