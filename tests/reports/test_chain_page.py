"""A chain's page: what it says of what was found, and how it looks in a browser."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.chains.model import NO_WINNER, Outcome, Settings
from paddock.reports.chain_page import CAUTION, build, chain_as_json, headline, render_terminal, write_chain
from paddock.reports.document import render_markdown
from tests.reports.chains import ALL, smallest, stopped, tuned
from tests.reports.test_browser import CHROMIUM, WIDTHS, measured

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("form", ["md", "txt"])
def test_golden(form: str) -> None:
    """The smallest page is what was once looked at and found right; UPDATE_GOLDEN=1 writes it anew."""
    one = smallest()
    text = render_markdown(build(one)) if form == "md" else render_terminal(one) + "\n"
    file = GOLDEN / f"chain.{form}"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_what_is_proven_is_to_be_applied() -> None:
    """The claim is the last tournament's ratio; the settings stand there as options, with where they come from."""
    text = render_markdown(build(tuned()))
    assert headline(tuned()).startswith("Tuned is faster than default: ")
    assert "## Apply this" in text
    assert "--car 2gheap --params bulk\\_size:5000" in text or "--car 2gheap --params bulk_size:5000" in text
    assert CAUTION.split(",", maxsplit=1)[0] in text
    assert "gc: The nodes need 6 GiB" in text
    assert "31,638" in text


def test_what_is_not_proven_is_not_to_be_applied() -> None:
    """Winners of steps are no reason to leave the default, if the last tournament does not find them better."""
    one = ALL["not-proven"]()
    text = render_markdown(build(one))
    assert headline(one).startswith("Keep the default configuration: ")
    assert "Apply this" not in text
    assert "not proven to be better" in text
    assert "not proven as a whole" in render_terminal(one)


def test_a_winner_that_is_not_carried_and_a_default_of_ones_own_are_told() -> None:
    """A mapping that was faster is not "the baseline is best"; and "default" is what the options made of it."""
    one = smallest()
    reason = "nothing-stored was better, but is not carried on: it is no setting."
    outcome = Outcome(NO_WINNER, reason, "an-id", "nothing-stored", ratio=1.6)
    chain = replace(one.chain, default=Settings(track_params={"bulk_size": 50}))
    page = build(replace(one, chain=chain, steps=(replace(one.steps[0], outcome=outcome),)))
    assert page.highlights[0]["word"] == "not carried on"
    assert page.subtitle.endswith("The default configuration has bulk_size 50.")
    assert reason in render_markdown(page)


def test_a_chain_that_was_stopped_says_how_far_it_came() -> None:
    """With what was found so far, and without a claim."""
    text = headline(stopped())
    assert text.startswith("Not finished: 1 of 5 steps came to an end. ")
    assert "no tournament has compared" in text


@pytest.mark.parametrize("name", ALL)
def test_machines_get_all_of_it(name: str) -> None:
    """JSON without infinities, with the verdicts of every step."""
    content = json.loads(json.dumps(chain_as_json(ALL[name]()), allow_nan=False))
    assert content["verdict"] == headline(ALL[name]())
    assert content["result"]["steps"][0]["result"]["verdicts"]


@pytest.mark.parametrize("name", ALL)
def test_every_line_of_the_terminal_fits(name: str) -> None:
    """But for options to copy, which stay in one line."""
    for width in (60, 100):
        for line in render_terminal(ALL[name](), width).splitlines():
            assert len(line) <= width or line.startswith("  --"), line


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")
@pytest.mark.parametrize("name", ALL)
def test_nothing_sticks_out(name: str, tmp_path: Path) -> None:
    """On a desktop and on a phone."""
    page = write_chain(ALL[name](), tmp_path / "chain")["html"].read_text(encoding="utf-8")
    seen = measured(page, tmp_path)
    assert set(seen) == set(WIDTHS)
    for width, (needed, out, _plots, small, unreadable) in seen.items():
        assert (needed <= width, out) == (True, "")
        assert (small, unreadable) == (0, 0)
