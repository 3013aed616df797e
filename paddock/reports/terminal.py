"""The end of a tournament as text for a terminal: the verdict first."""

from __future__ import annotations

import re
import textwrap

from paddock import numbers
from paddock.reports import figures, sentences
from paddock.reports.document import Table
from paddock.reports.verdict_sections import absolute_table, verdict_table
from paddock.tournaments.model import FASTER, SLOWER, UNDECIDED, Result

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_INKS = {FASTER: "\x1b[32m", SLOWER: "\x1b[31m", UNDECIDED: "\x1b[33m"}
_NARROWEST = 60
_NOTES = 2  # the most important ones, which come first
_ROWS = 20
_COLUMNS = (0, 1, 2, 3, 4, 6)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def render_terminal(result: Result, width: int = 100, colours: bool = False) -> str:
    """The verdict, a table of verdicts, absolute values and what is to be known about them.

    :param colours: whether to use ANSI escape sequences.
    """
    width = max(width, _NARROWEST)
    measured, tournament = result.main, result.tournament
    blocks = [_bold(wrapped(sentences.headline(result), width), colours)]
    whole = verdict_table(measured, "")
    table = Table(
        f"Against {tournament.baseline}, {figures.label(measured.metric)}",
        tuple(whole.headers[column] for column in _COLUMNS),
        tuple(tuple(row[column] for column in _COLUMNS) for row in whole.rows[:_ROWS]),
        (2, 3, 4, 5),
    )
    inks = [_INKS.get(verdict.verdict, "") for verdict in measured.verdicts] if colours else []
    blocks.append(text_table(table, width, inks))
    if len(whole.rows) <= _ROWS:
        blocks.append(text_table(absolute_table(result, measured), width))
    else:
        blocks.append(f"... and {len(whole.rows) - _ROWS} more contenders, which the report lists.")
    left = len(result.notes) - _NOTES
    more = [f"{numbers.plural(left, 'more note')} in the report."] if left > 0 else []
    sayings = [*sentences.decisions(measured), sentences.course(result), *result.notes[:_NOTES], *more]
    blocks.append("\n".join(wrapped(text, width, "- ", "  ") for text in sayings))
    return "\n\n".join(block for block in blocks if block)


def text_table(table: Table, width: int, inks: list[str] | None = None) -> str:
    """The table as aligned columns; the first column is shortened where the lines would be too long.

    :param inks: an ANSI escape sequence for each row; empty for none.
    """
    rows = [table.headers, *table.rows]
    cells = [[_CONTROL.sub(" ", cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(table.headers))]
    widths[0] = max(min(widths[0], width - 2 - sum(2 + wide for wide in widths[1:])), 8)
    lines = [_CONTROL.sub(" ", table.caption)] if table.caption else []
    for number, row in enumerate(cells):
        first = row[0] if len(row[0]) <= widths[0] else row[0][: widths[0] - 1] + "…"
        parts = [f"{first:<{widths[0]}}"]
        for column in range(1, len(row)):
            aligned = ">" if column in table.figures else "<"
            parts.append(f"{row[column]:{aligned}{widths[column]}}")
        line = ("  " + "  ".join(parts)).rstrip()
        ink = inks[number - 1] if inks and number else ""
        lines.append(f"{ink}{line}{_PLAIN}" if ink else line)
    return "\n".join(lines)


def _bold(text: str, colours: bool) -> str:
    return f"{_BOLD}{text}{_PLAIN}" if colours else text


def wrapped(text: str, width: int, first: str = "", further: str = "") -> str:
    """The text in lines of that width; control characters become blanks."""
    plain = _CONTROL.sub(" ", text)
    lines = textwrap.wrap(
        plain, width, initial_indent=first, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)
