"""The page of a study: each step beside what was published, and what was saturated in it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from paddock.chains.model import ALL_DONE, HELD, Chain, ChainResult, Outcome, Settings, Step, StepResult
from paddock.race.bottleneck import COMPONENT_CPU, Bottleneck, Suspect
from paddock.reports.document import render_html, render_markdown
from paddock.reports.study_page import build_study
from paddock.tournaments.model import Contender
from paddock.tournaments.published import Published
from tests.reports.results import BEGAN, result, saturated, simulated

GOLDEN = Path(__file__).parent / "golden"


def scaled_out() -> ChainResult:
    """Two steps of scaling out, the second shipped, as contenders of one tournament."""
    speeds = {"micro": 8_000.0, "4 parsers": 21_000.0}
    full = saturated()["mmapfs"]
    shipper = Suspect(COMPONENT_CPU, "shipper-rsyslog", "its busiest thread 0.97 of 1 core", 0.97, 0.9)
    shipped = Bottleneck(0.0, 41.0, (shipper, *full.suspects[1:]), (), "Saturated was the CPU of the shipper-rsyslog.")
    held = result(
        "study-scale-out",
        [Contender(name) for name in speeds],
        simulated(speeds),
        published=Published("logsearch, 2015", "msg/s", {"micro": 316, "4 parsers": 1735}),
    )
    held = replace(held, bottlenecks={"micro": full, "4 parsers": shipped})
    step = Step("study-scale-out", "study-scale-out")
    raced = StepResult(step, Outcome(HELD, "", held.id), 5.0, "Differences of 9 % are found.", result=held)
    chain = Chain("study-scale-out", "What does each step bring?", 10, (step,), study="logsearch, 2015")
    return ChainResult("study-scale-out-1", chain, BEGAN, 600.0, ALL_DONE, (raced,), None, Settings(), {})


def test_golden() -> None:
    """The page is what was once looked at and found right; UPDATE_GOLDEN=1 writes it anew."""
    text, file = render_markdown(build_study(scaled_out())), GOLDEN / "study-page.md"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_each_step_has_what_was_saturated() -> None:
    """As a row of its own, with a column for the shipper because there is one; a study without samples has no table."""
    page = build_study(scaled_out())
    table = next(each for section in page.sections for each in section.tables if "saturated" in each.headers)
    assert [row[:2] for row in table.rows] == [("micro", "node CPU"), ("4 parsers", "shipper-rsyslog CPU")]
    assert table.rows[1][table.headers.index("shipper CPU")] == "97 %, saturated"
    assert "97 %, saturated" in render_html(page).replace("\u00a0", " ")
    whole = scaled_out()
    (step,) = whole.steps
    assert step.result is not None
    bare = replace(whole, steps=(replace(step, result=replace(step.result, bottlenecks={})),))
    assert "saturated" not in render_markdown(build_study(bare))
