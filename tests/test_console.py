"""Results as text: tables and sentences that fit a terminal, and stay plain and whole where there is none."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from paddock.console import columns, drawn, plain_line, table, wrapped
from paddock.paths import PROJECT

LONG = "https://example.org/" + "a" * 150
WORDS = "words that go on " * 12
SHOW = f"from paddock.console import print_result, table; print_result(table(('name', 'text'), [('x', {WORDS!r})]))"
COLOURS = "from paddock.console import stdout_has_colours; print(stdout_has_colours())"


def on_a_terminal(program: str, **environment: str) -> str:
    """What a Python program writes to a terminal of 60 columns."""
    ours, theirs = pty.openpty()
    given = {name: text for name, text in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    given |= {"TERM": "xterm-256color", "COLUMNS": "60", **environment}
    subprocess.run([sys.executable, "-c", program], cwd=PROJECT, env=given, stdout=theirs, stderr=theirs, check=True)
    os.close(theirs)
    with os.fdopen(ours, "rb") as read:
        return read.read1(100_000).decode()


@pytest.mark.parametrize("force_color", ["", "1"])
def test_a_piped_table_is_never_cut_or_wrapped(force_color: str) -> None:
    """Whoever pipes a list into grep gets each row on its line, however long, also where a pipeline forces colours."""
    piped = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=PROJECT, capture_output=True, text=True, check=True,
        env={**os.environ, "FORCE_COLOR": force_color, "COLUMNS": "60"},
    )  # fmt: skip
    assert piped.stdout.splitlines() == ["name  text", f"x     {WORDS.rstrip()}"]
    assert table(("a", "b"), [("1", LONG)]).splitlines()[1] == f"1  {LONG}"


def test_on_a_terminal_the_last_column_goes_on_below_itself() -> None:
    """No line is longer than the terminal, and no word of it is lost."""
    lines = on_a_terminal(SHOW).replace("\r", "").splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 60
    assert " ".join(line[6:] for line in lines[1:]).split() == WORDS.split()


@pytest.mark.parametrize(("environment", "said"), [({}, "True"), ({"NO_COLOR": "1"}, "False"), ({"TERM": "dumb"}, "")])
def test_colours_are_for_terminals_that_want_them(environment: dict[str, str], said: str) -> None:
    """NO_COLOR is obeyed on a terminal; without one there is never a colour."""
    assert said in on_a_terminal(COLOURS, **environment)
    piped = subprocess.run([sys.executable, "-c", COLOURS], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert piped.stdout == "False\n"


def test_a_name_is_only_text() -> None:
    """Neither escape sequences nor rich's own markup in a name have an effect, and no column swallows another."""
    name = "[bold red]x[/] \x1b[31mred\x07"
    text = drawn(columns(("name", "figure"), [(name, "1")], {1}, styles=["green"], folding=0), 200, False)
    assert "\x1b" not in text
    assert plain_line(name) in text
    narrow = drawn(columns(("name", "figure"), [("a" * 30, "123,456")], {1}, folding=0), 20, False)
    assert "123,456" in narrow
    assert narrow.replace("\n", "").count("a") == 31  # the heading has one


def test_long_words_stay_whole() -> None:
    """A path or address in a sentence can be copied, however narrow the terminal is."""
    assert LONG in wrapped(f"Look at {LONG} for more.", 60, "- ", "  ").splitlines()[1]
