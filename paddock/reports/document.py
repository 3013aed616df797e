"""What a report consists of before it is HTML or Markdown: headings, sentences, tables, plots."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table of finished text.

    :param figures: positions of columns that hold figures; they are set flush right.
    """

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plot:
    """A plot with its content in words and its figures in a table.

    :param name: unique in its report; letters, digits and hyphens only, because it becomes part of ids.
    :param drawn: HTML that fits any width, see plots/drawing.py.
    :param reading: how to read it, for those who see it.
    """

    name: str
    title: str
    description: str
    drawn: str
    table: Table
    reading: str = ""


@dataclass(frozen=True)
class Section:
    """One part of a report; what is empty is left out.

    :param items: a list of sentences; ``shown`` of them are seen at once.
    :param facts: names and what they are.
    :param commands: command lines and settings, shown as they are.
    :param folded: whether it opens only when it is asked for.
    """

    heading: str
    paragraphs: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    items: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()
    folded: bool = False
    shown: int = 6


@dataclass(frozen=True)
class Highlight:
    """One contender's verdict in three lines.

    :param verdict: "faster", "slower", "equivalent" or "undecided".
    :param word: the verdict in a word that fits the metric.
    :param change: how much, in percent.
    :param note: interval and number of pairs.
    """

    name: str
    verdict: str
    word: str
    change: str
    note: str


@dataclass(frozen=True)
class Report:
    """A whole report, the verdict first.

    :param verdict: the answer in one sentence.
    :param highlights: the verdicts one by one, if they are few.
    """

    title: str
    subtitle: str
    verdict: str
    highlights: tuple[Highlight, ...]
    sections: tuple[Section, ...]
