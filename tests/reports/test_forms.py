"""The forms of a report that can be compared letter by letter: Markdown, terminal, CSV, JUnit, JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.reports.document import render_markdown
from paddock.reports.write import build, laps_as_csv, render_terminal, result_as_json, result_as_junit
from paddock.tournaments.model import Result
from tests.reports.results import ALL

GOLDEN = Path(__file__).parent / "golden"
FORMS: dict[str, Callable[[Result], str]] = {
    "md": lambda result: render_markdown(build(result)),
    "txt": lambda result: render_terminal(result) + "\n",
    "csv": laps_as_csv,
    "xml": result_as_junit,
    "json": lambda result: json.dumps(result_as_json(result), indent=1, ensure_ascii=False) + "\n",
}
# The laps of all cases look alike: one small case shows every column of each form that lists them.
LISTS_LAPS = {"json": "undecided", "csv": "voids"}
CASES = [(name, form) for name in ALL for form in FORMS if LISTS_LAPS.get(form, name) == name]


@pytest.mark.parametrize(("name", "form"), CASES, ids=[f"{name}.{form}" for name, form in CASES])
def test_golden(name: str, form: str) -> None:
    """Each form of each case is what was once looked at and found right; UPDATE_GOLDEN=1 writes it anew."""
    text, file = FORMS[form](ALL[name]()), GOLDEN / f"{name}.{form}"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ALL)
def test_every_line_of_the_terminal_fits(name: str) -> None:
    """Text for a terminal keeps to its width, as narrow as 60 columns, where only names are cut."""
    for width in (60, 80, 120):
        longest = max(render_terminal(ALL[name](), width).splitlines(), key=len)
        assert len(longest) <= width, longest


def test_colours_change_nothing_but_colours() -> None:
    """With its escape sequences taken out, the coloured text is the plain one."""
    coloured = render_terminal(ALL["decided"](), colours=True)
    assert "\x1b[32m" in coloured
    for sequence in ("\x1b[1m", "\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m"):
        coloured = coloured.replace(sequence, "")
    assert coloured == render_terminal(ALL["decided"]())


def test_many_contenders_are_cut_in_the_terminal() -> None:
    """A hundred verdicts do not fill the terminal; it says where the others are."""
    from tests.reports.results import grid

    text = render_terminal(grid(range(1, 9), range(1, 9), blocks=1))
    assert "... and 43 more contenders, which the report lists." in text
    assert len(text.splitlines()) < 50
