"""A study in a report: further metrics, what its indices did and what that explains, rates over time, the warm-up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from paddock.reports import study as study_module
from paddock.reports.figures import second_sds
from paddock.reports.grids import grid_sections
from paddock.reports.index_work import explanation, work_of, work_section
from paddock.reports.rates import rates_section
from paddock.reports.study import study_section
from paddock.reports.write import build
from paddock.tournaments.model import FASTER, SLOWER, UNDECIDED, Contender, Metric, MetricResult, Result
from paddock.tournaments.published import Published, PublishedMetric
from paddock.tournaments.studies import OPEN, OPPOSITE, SAME, compared
from tests.reports.results import result, simulated, study_grid


def refreshing() -> Result:
    """Two levels, one refreshed a tenth as often; a lap of 1,000,000 documents takes 40 or 36 s of processor time."""
    index = {
        "1s": {"refreshes": 20, "refresh_ms": 4000, "merges": 3, "merge_ms": 9000, "merge_throttled_ms": 1000},
        "30s": {"refreshes": 2, "refresh_ms": 1000, "merges": 1, "merge_ms": 7000, "merge_throttled_ms": 0},
    }
    laps = [
        replace(
            lap,
            documents=1_000_000,
            counted=1_000_000,
            index={**index[lap.contender], "merge_bytes": 5e8, "flushes": 1, "flush_ms": 0, "segments": 7},
            prices={"node CPU s/M docs": 40.0 if lap.contender == "1s" else 36.0},
        )
        for lap in simulated({"1s": 20_000.0, "30s": 20_400.0}, blocks=10, noise=0.01)
    ]
    published = Published(
        "A study",
        "docs/s",
        {"1s": 2000, "30s": 3400},
        others=(
            PublishedMetric("node CPU s/M docs", "s", ratios={"30s": 0.6}, said="less"),
            PublishedMetric("freshness p50 ms", "s", figures={"1s": 0.5, "30s": 15}),
        ),
        statements=("Memory did not differ.",),
    )
    return result("s", [Contender("1s"), Contender("30s")], laps, published=published)


def test_what_the_indices_did_is_told_for_a_million_documents() -> None:
    """Sums over the laps that count; merges without the time for which they were stopped."""
    one = refreshing()
    work = work_of(one, "1s")
    assert work is not None
    assert (work.refreshes, work.refresh_seconds, work.merges, work.merge_seconds) == (20, 4, 3, 8)
    assert (work.merged_bytes, work.flushes, work.segments, work.cpu_seconds) == (500, 1, 7, 40)
    section = work_section(one)
    assert section is not None
    row = dict(zip(section.tables[0].headers, section.tables[0].rows[1], strict=True))
    assert row["contender"] == "30s"
    assert row["ms per refresh"] == "500"
    assert section in build(one).sections


def test_why_an_effect_is_small_is_explained_by_measured_times() -> None:
    """What threads save by their clock, and what the nodes save of their processor time: a tenth makes 1.11 times."""
    (why,) = explanation(refreshing())
    assert "for 1s 4.00, 8.00 and 0 s: 4.00 s less by the clock of their threads" in why
    assert "All processor time of the nodes was 36.0 s, for 1s 40.0 s in the mean (0.90 times as much of " in why
    assert "makes 1.11 times the rate. 1.70 was published and " in why
    assert why.endswith("was measured.")


def test_without_a_study_or_figures_nothing_is_explained() -> None:
    """No sentence is made up of laps that tell nothing."""
    one = refreshing()
    assert list(explanation(replace(one, tournament=replace(one.tournament, published=None)))) == []
    silent = replace(one, laps=tuple(replace(lap, index={}) for lap in one.laps))
    assert list(explanation(silent)) == []
    assert work_section(silent) is None


def test_further_metrics_stand_in_tables_of_their_own() -> None:
    """With the study's words; one that was not measured says so, and what has no figure is a sentence."""
    one = refreshing()
    cpu = one.main.verdicts[0]
    measured = MetricResult(
        Metric("node CPU s/M docs", "s/M docs", False), (replace(cpu, ratio=0.9, low=0.85, high=0.95),), ()
    )
    section = study_section(replace(one, others=(measured,)))
    assert section is not None
    processor, freshness = section.tables
    assert processor.caption == "Published and measured in node CPU s/M docs (less)"
    assert processor.rows[1][:3] == ("30s", "-", "0.60")
    assert processor.rows[1][4:6] == ("0.90", "0.85 to 0.95")
    assert [row[-1] for row in freshness.rows] == ["baseline", "not measured"]
    assert "Published without a figure that could be compared: Memory did not differ." in section.items


def test_all_contenders_of_a_load_that_goes_on_are_in_one_plot() -> None:
    """A panel per start with a line for each; the quarters of their load in the table, the warm-up first."""
    one = result("g", [Contender("a"), Contender("b")], simulated({"a": 9_000.0, "b": 18_000.0}, starts=2), starts=2)
    assert rates_section(one) is None
    growing = replace(one, tournament=replace(one.tournament, growing=True))
    section = rates_section(growing)
    assert section is not None
    (plot,) = section.plots
    assert plot.drawn.count('class="panel"') == 2
    assert plot.drawn.count("<polyline") == 4
    assert [row[:3] for row in plot.table.rows] == [
        *[("1", "a", "90"), ("1", "b", "90"), ("2", "a", "90"), ("2", "b", "90")],
    ]
    first, last = (float(plot.table.rows[0][place].replace(",", "")) for place in (3, 6))
    assert first < 0.9 * last


def test_the_warm_up_is_shown_where_the_study_counted_its_own() -> None:
    """A map more, and the share of the mean that sigma is, without the warm-up and with it: the cold laps raise it."""
    one = study_grid()
    assert one.tournament.published is not None
    counting = replace(one.tournament.published, counts_warm_up=True)
    (section,) = grid_sections(replace(one, tournament=replace(one.tournament, published=counting)))
    assert [plot.name for plot in section.plots if plot.name == "heat-sd-warm-up-1"]
    assert "measured here with the warm-up" in section.paragraphs[0]
    without, with_it = second_sds(one), second_sds(one, warm_up=True)
    name = one.tournament.contenders[0].name
    assert with_it[name] > without[name]
    (plain,) = grid_sections(one)
    assert not [plot for plot in plain.plots if "warm-up" in plot.name]


@pytest.mark.parametrize("who", ["Published", "Measured here"])
def test_grids_have_their_knee_and_their_logarithm(who: str) -> None:
    """Of what was published and of what was measured, by themselves."""
    (section,) = grid_sections(study_grid())
    mine = [text for text in section.items if text.startswith(f"{who}: ")]
    assert sum("within 5 % of the highest mean" in text for text in mine) == 1
    assert any("at clients 1 the mean follows" in text for text in mine)


def test_the_cloud_of_ratios_marks_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ratio on the other side of 1 that its interval does not tell from 1 is no opposite direction."""
    monkeypatch.setattr(study_module, "LISTED", 2)
    one = study_grid()
    verdicts = one.main.verdicts
    undecided = [replace(each, verdict=UNDECIDED, ratio=0.9) for each in verdicts[:3]]
    slower = [replace(each, verdict=SLOWER, ratio=0.5) for each in verdicts[3:4]]
    faster = [replace(each, verdict=FASTER, ratio=1.5) for each in verdicts[4:]]
    found = replace(one, main=replace(one.main, verdicts=(*undecided, *slower, *faster)))
    section = study_section(found)
    assert section is not None
    drawn = section.plots[0].drawn
    counts = Counter(each.finding for each in compared(found))
    assert set(counts) == {OPEN, OPPOSITE, SAME}
    for finding, count in counts.items():
        assert drawn.count(f", {finding}<") == count
    legend = drawn[drawn.index('<p class="legend">') :]
    assert [name in legend for name in ("neither", "opposite direction", "same direction")] == [True] * 3
    assert drawn.count("#mark-cross") == 2  # with the legend's
