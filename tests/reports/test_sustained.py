"""How a long load held, as a report tells it: sentences that say no more than is known, plots with their figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from paddock.race.sustained import SustainedLoad, sustained_load
from paddock.reports.document import render_html, render_markdown
from paddock.reports.race_report import build_race_report, find_out, headline, race_report_as_json, write_race_report
from paddock.reports.sustained import run_in_sentences, sustained_section
from paddock.statistics.sustained import LongRun, Onset, Trend
from tests.race.scenes import Load, RallyTask, Scene, steady
from tests.reports import races


def documents(wild: int | None, falls: float, seconds: int = 600) -> Sequence[int]:
    """Of each second: fluctuating from one on, falling by that share of the whole."""
    noise = np.random.default_rng(1).normal(0, 0.03, seconds)
    if wild is not None:
        noise[wild:] *= 6
    trend = 1 - falls * np.arange(seconds) / seconds
    return [int(value) for value in np.maximum(0, 50_000 * trend * (1 + noise))]


def a_race(folder: Path, wild: int | None = 400, falls: float = 0.0) -> Path:
    """A race of ten minutes: its samples, in a folder."""
    lines = [json.dumps(one.as_line()) for one in Scene(620, [Load(5, documents(wild, falls))]).samples()]
    (folder / "samples.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def record(wild: int | None = 400) -> races.RaceRecord:
    """What else is known of it."""
    task = RallyTask("sustained-bulk", "docs/s", steady(20, 10), meta={"sustained": True, "warmup-seconds": 10})
    return races.record([task], Scene(620, [Load(5, documents(wild, 0))]), "sustained")


def test_the_report_of_a_long_load(tmp_path: Path) -> None:
    """Headline, sentences, plots and what was different before and after; JSON has the findings, CSV the seconds."""
    found = find_out(record(), a_race(tmp_path))
    assert found.sustained is not None
    text = render_markdown(build_race_report(found))
    assert "How the load held" in text
    assert "The rate begins to fluctuate after 390 s (interval" in text
    assert "before it fluctuates" in text
    assert "they begin to fluctuate after 390 s" in headline(found)
    html = render_html(build_race_report(found))
    assert html.count('class="panel"') >= 6
    told = race_report_as_json(found)["sustained"]
    assert told["run"]["onset"]["earliest"] <= 400 <= told["run"]["onset"]["latest"]
    assert [one["name"] for one in told["stretches"]] == ["before it fluctuates", "after that"]
    written = write_race_report(found, tmp_path)
    assert json.loads(written["json"].read_text())["sustained"] == told


def test_a_short_race_says_nothing_of_it(tmp_path: Path) -> None:
    """The section is left out where there is nothing to say, or no samples."""
    assert find_out(races.plain(), tmp_path).sustained is None
    assert "How the load held" not in render_markdown(build_race_report(find_out(races.plain(), tmp_path)))


def test_halves_stand_side_by_side_where_nothing_begins(tmp_path: Path) -> None:
    """A load that does not begin to fluctuate is told so, with its p value."""
    found = find_out(record(None), a_race(tmp_path, None)).sustained
    assert found is not None
    text = " ".join(run_in_sentences(found.run))
    assert "There is no time from which on it fluctuates more than before" in text
    assert [one.name for one in found.stretches] == ["first half", "second half"]
    assert "there is no trend to be seen" in text


def run(onset: Onset | None, trend: Trend | None) -> LongRun:
    """What statistics say of ten minutes."""
    return LongRun(60, 600, 51_234.0, 0.061, 0.2, onset, trend)


@pytest.mark.parametrize(
    ("trend", "words"),
    [
        (
            Trend(60, 600, -0.081, -0.12, -0.04),
            "In this time it falls by 8.1 % within 9 min (interval: -12.0 % to -4.0 %).",
        ),
        (Trend(60, 600, 0.05, 0.01, 0.09), "In this time it rises by 5.0 % within 9 min (interval: +1.0 % to +9.0 %)."),
        (
            Trend(60, 600, 0.01, -0.03, 0.05),
            "In this time there is no trend to be seen: within 9 min anything from -3.0 % to +5.0 % is possible.",
        ),
        (None, "What follows is too short for a trend."),
    ],
)
def test_trends_in_words(trend: Trend | None, words: str) -> None:
    """Which way, how much, within what time, and how sure."""
    assert list(run_in_sentences(run(None, trend)))[-1] == words


def test_an_onset_in_words() -> None:
    """When, between when and when, and from how much to how much."""
    sentences = list(run_in_sentences(run(Onset(700, 650, 720, 0.03, 0.125), Trend(700, 900, -0.2, -0.3, -0.1))))
    assert sentences[1] == (
        "The rate begins to fluctuate after 11.7 min (interval at 95 %: 10.8 min to 12.0 min): before, a second lies "
        "3.0 % from the level around it, from then on 12.5 %."
    )
    assert sentences[2].startswith("From then on it falls by 20.0 %")


def test_columns_that_nobody_knows_have_no_panel(tmp_path: Path) -> None:
    """Nodes on another machine tell no memory: its panel, its column and its line are left out."""
    scene = Scene(320, [Load(5, documents(None, 0, 300))], local=False)
    load: SustainedLoad | None = sustained_load(scene.samples(), record(None).summary.bulk_tasks)
    assert load is not None
    section = sustained_section(load)
    assert "heap in use" not in section.plots[0].drawn
    assert section.plots[0].drawn.count('class="panel"') == 7
    assert "node memory mib" not in section.plots[0].table.headers
    assert "written, MiB/s" not in [row[0] for row in section.tables[0].rows]
