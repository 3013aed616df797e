"""Whole texts against files in golden/: what is printed is what somebody has looked at.

After an intended change of the layout, run this module with PADDOCK_REWRITE_GOLDEN=1 and look at the difference.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.race.run import render_summary
from paddock.race.summarise import summarise
from paddock.race.summary import Expectation, Summary
from tests.race.scenes import RallyTask, Request, race_json, steady
from tests.race.test_summarise import BULKS, SCENE

GOLDEN = Path(__file__).parent / "golden"
SEARCHES = (
    RallyTask("errors-by-free-text", "ops/s", steady(100, 10, milliseconds=20), rate=9.9),
    RallyTask("latest-25-with-level-error", "ops/s", steady(20, 10, milliseconds=1.5), rate=180.4),
    RallyTask("force-merge", "ops/s", [Request(0, 12_345.6)], rate=0.081),
)
TROUBLE = replace(SCENE, rejected=12, failed=3, busiest=0.97, steal=8.2, missed=(8, 9), merging_until=60)
# Due every 0.1 s; from the tenth second on each is sent a second late.
PACED = replace(
    BULKS,
    name="paced-bulk",
    requests=[replace(one, latency=one.milliseconds + (1000 if one.sent >= 10 else 0)) for one in BULKS.requests],
    meta={"scheduled-documents": 600_000, "scheduled-seconds": 19.0, "warmup-seconds": 5},
)
PACED_SEARCH = replace(SEARCHES[1], requests=[replace(one, latency=7.5) for one in SEARCHES[1].requests])
FAILING = replace(BULKS, requests=[Request(second, 90, success=second % 10 != 3) for second in range(20)])


def _ingest() -> Summary:
    expectation = {"bulk": Expectation(documents=600_000, warmup_seconds=5)}
    return summarise(race_json([BULKS]), SCENE.samples(), expectation)


def _ingest_and_search() -> Summary:
    scene = replace(SCENE, searches=range(36, 44))
    return summarise(race_json([BULKS, *SEARCHES]), scene.samples())


def _existing_cluster_within_warm_up() -> Summary:
    scene = replace(SCENE, local=False)
    race = race_json([replace(BULKS, requests=steady(20, 10, warmup=60))])
    return summarise({**race, "car": "external"}, scene.samples(), {"bulk": Expectation(warmup_seconds=60)})


def _no_samples() -> Summary:
    return summarise(race_json([BULKS], {"merge_count": 1, "merge_time": 7868, "store_size": 138339271}), [])


def _paced() -> Summary:
    return summarise(race_json([PACED, PACED_SEARCH]), replace(SCENE, searches=range(36, 44)).samples())


def _trouble() -> Summary:
    return summarise(race_json([FAILING]), TROUBLE.samples(), {"bulk": Expectation(documents=700_000)})


CASES = {
    "ingest": (_ingest, 100),
    "ingest-and-search": (_ingest_and_search, 100),
    "ingest-and-search-60-columns": (_ingest_and_search, 60),
    "existing-cluster-within-warm-up": (_existing_cluster_within_warm_up, 100),
    "no-samples": (_no_samples, 100),
    "paced": (_paced, 100),
    "trouble": (_trouble, 80),
}


@pytest.mark.parametrize("name", CASES)
def test_the_text(name: str) -> None:
    """The text is exactly the one that was looked at, and no line is too long or ends in blanks."""
    make, width = CASES[name]
    text = render_summary(make(), width, colours=False)
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("PADDOCK_REWRITE_GOLDEN"):
        file.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == file.read_text(encoding="utf-8")
    assert all(len(line) <= width and line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("name", CASES)
def test_colours_change_nothing_but_colours(name: str) -> None:
    """Without its escape sequences the coloured text is the plain one."""
    make, width = CASES[name]
    coloured = render_summary(make(), width, colours=True)
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == render_summary(make(), width, colours=False)


def test_every_missing_figure_has_its_reason() -> None:
    """Each mark in the text has one footnote, and each footnote a mark."""
    text = render_summary(_no_samples(), 100)
    assert set(re.findall(r"- +\[(\d+)\]", text)) == set(re.findall(r"^\[(\d+)\]", text, re.MULTILINE)) != set()


def test_a_terminal_too_narrow_for_any_table() -> None:
    """Below 60 columns lines stay as long as they must be; nothing fails and no figure is cut."""
    assert render_summary(_ingest_and_search(), 10) == render_summary(_ingest_and_search(), 60)
