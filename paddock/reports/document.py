"""What a report consists of - headings, sentences, tables, plots - and it as one HTML file and as Markdown.

The HTML needs nothing else: no network, no script. The Markdown has the same sentences and tables, without plots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from paddock.console import columns, drawn, plain_line
from paddock.files import replacing
from paddock.reports.drawing import MARKS, breakable


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
    :param drawn: HTML that fits any width, see drawing.py.
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
class Report:
    """A whole report, the verdict first.

    :param verdict: the answer in one sentence.
    :param highlights: the verdicts one by one, if they are few: the contender's "name", its "verdict", "word" that fits
        the metric, "change" in percent and a "note" on interval and pairs.
    """

    title: str
    subtitle: str
    verdict: str
    highlights: tuple[Mapping[str, str], ...]
    sections: tuple[Section, ...]


_RACE_WORDS = {
    "race": "one run of Rally, Elasticsearch's benchmarking tool, against a node or a cluster",
    "track": "what is indexed and searched: an index and its documents (./inv tracks)",
    "corpus": "the documents of a track",
    "challenge": "what a race does with a track, task by task (./inv challenges)",
    "car": "how the node is configured; a mixin is a further piece of configuration added to a car (./inv cars)",
}
_TOURNAMENT_WORDS = {
    "contender": "one configuration that is compared; the baseline is the one that the others are compared with",
    "lap": "one load of documents into a fresh index for one contender",
    "block": "one lap of every contender, in random order",
    "start": "one launch of the node, with all its blocks",
    "pair": "a contender's lap and the baseline's in the same block; where contenders differ at the node, their starts",
    "warm-up": "laps at the beginning of a start, which are not counted because a cold JVM is slow",
    "void": "does not count: requests failed, documents are missing, or the node was not steady",
    "interval": "the ratios that the pairs do not rule out at the stated confidence",
}
_LOAD_WORDS = {
    "load driver": "Rally's processes that send the requests",
    "service time": "from sending a request to its answer",
    "latency": "from when a request was due to its answer, waiting included; only where there was a schedule",
    "p50, p90, p95, p99": "half, 90, 95 and 99 per cent of the requests took no longer",
}


def glossary(tournament: bool, growing: bool = False) -> Section:
    """The words of a report, for those who see one for the first time.

    :param tournament: whether it is a tournament's; otherwise it is that of a single race.
    :param growing: whether its laps are slices of a load into indices that grow.
    """
    words = _RACE_WORDS | (_TOURNAMENT_WORDS if tournament else _LOAD_WORDS)
    if growing:
        words |= {"lap": "one slice of a load into its contender's own index, which grows through a start"}
    return Section("Words", facts=tuple(words.items()), folded=True)


def render_html(report: Report) -> str:
    """The report as an HTML page; whatever a user named is escaped."""
    return render_page("report.html.j2", report=report)


def render_page(template: str, **values: object) -> str:
    """Any page of the templates' folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["marks"] = MARKS
    # The plots' SVG is ours, with every text in it escaped when it was drawn.
    environment.filters |= {"drawn": Markup, "breakable": breakable}
    # A figure and its percent sign stay in one line.
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\u00a0%")
    return environment.get_template(template).render(**values)


# A table of all laps belongs into the CSV file, not into a page that is read as text.
LONGEST_TABLE = 40
_SPECIAL = str.maketrans({character: "\\" + character for character in "\\`*_[]<>|#&"})


def render_markdown(report: Report) -> str:
    """The report; names cannot break a table or bring HTML into the page."""
    blocks = [f"# {escaped(report.title)}", f"**{escaped(report.verdict)}**", escaped(report.subtitle)]
    for section in report.sections:
        blocks += _section(section)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _section(section: Section) -> list[str]:
    blocks = [f"## {escaped(section.heading)}", *(escaped(text) for text in section.paragraphs)]
    for table in (*(plot.table for plot in section.plots), *section.tables):
        blocks += markdown_table(table)
    blocks.append("\n".join(f"- {escaped(text)}" for text in section.items))
    blocks.append("\n".join(f"- {escaped(name)}: {escaped(text)}" for name, text in section.facts))
    return blocks + [_code(command) for command in section.commands]


def markdown_table(table: Table) -> list[str]:
    """The table under its caption; of a long one the caption says where it is."""
    if len(table.rows) > LONGEST_TABLE:
        return [f"{escaped(table.caption)}: {len(table.rows)} rows, which the HTML report and the JSON file have."]
    rule = ["---:" if column in table.figures else "---" for column in range(len(table.headers))]
    rows = [[escaped(header) for header in table.headers], rule]
    rows += [[escaped(cell) for cell in row] for row in table.rows]
    return [f"{escaped(table.caption)}:", "\n".join("| " + " | ".join(row) + " |" for row in rows)]


def escaped(text: str) -> str:
    """The text as one line in which no character means anything to Markdown."""
    return " ".join(text.translate(_SPECIAL).split())


def _code(command: str) -> str:
    fence = "```"
    while fence in command:
        fence += "`"
    return f"{fence}\n{command}\n{fence}"


def text_table(table: Table, width: int, styles: Sequence[str] = (), colours: bool = False) -> str:
    """The table under its caption; its first column goes on in further lines where it would be too wide."""
    text = drawn(columns(table.headers, table.rows, table.figures, styles=styles, folding=0), width, colours)
    return f"{plain_line(table.caption)}\n{text}" if table.caption else text


def keep(path: Path, text: str) -> None:
    """Write a file of a report: whole, or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
