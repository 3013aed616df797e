"""Plots over time: of a race's components, and of several races over each other."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.race.over_time import OverTime, over_time
from paddock.reports.comparison import compare, render_comparison
from paddock.reports.document import render_html
from paddock.reports.over_time import MOST_RACES, overlay, time_section
from paddock.reports.race_report import RaceFindings, build_race_report
from tests.race.scenes import Load, Scene
from tests.reports import races
from tests.reports.test_browser import CHROMIUM, WIDTHS, measured


def a_race(rate: int, seconds: int = 20, **scene: object) -> OverTime:
    """A race of that many docs/s."""
    found = over_time(Scene(seconds + 20, [Load(4, [rate] * seconds)], **scene).samples())  # type: ignore[arg-type]
    assert found is not None
    return found


def test_every_component_and_every_measure_is_drawn_and_told() -> None:
    """Five panels; the table has a row for each line, so that nothing is in the plot alone."""
    (plot,) = time_section(a_race(2000)).plots
    assert plot.drawn.count('class="panel"') == 5
    assert plot.drawn.count("<polyline") == 7
    assert [row[:2] for row in plot.table.rows] == [
        ("all indices", "docs/s"),
        ("rally-node-0", "processors"),
        ("load driver", "processors"),
        ("rally-node-0", "memory"),
        ("load driver", "memory"),
        ("rally-node-0", "written to disks"),
        ("rally-node-0", "garbage collection"),
    ]
    assert "rally-node-0" in plot.drawn.split("</p>")[0]  # the legend, without pointing at anything


def test_what_was_not_seen_has_no_panel() -> None:
    """Of a node elsewhere nobody knows memory and writes."""
    (plot,) = time_section(a_race(2000, local=False)).plots
    assert "disk" not in plot.drawn
    assert plot.drawn.count('class="panel"') == 4


def test_races_over_each_other_are_told_apart_by_more_than_colour() -> None:
    """Each has a colour and a mark of its own, on the line and in the legend."""
    plot = overlay([("one", a_race(2000)), ("two", a_race(1500)), ("three", a_race(1000, 40))])
    assert plot is not None
    legend = plot.drawn.split("</p>")[0]
    assert re.findall(r'href="#mark-(\w+)" class="mark (series-\d)"', legend) == [
        ("circle", "series-1"),
        ("square", "series-2"),
        ("up", "series-3"),
    ]
    for shape in ("circle", "square", "up"):
        assert plot.drawn.count(f"#mark-{shape}") > 5
    assert [row[:2] for row in plot.table.rows][:3] == [("one", "docs/s"), ("two", "docs/s"), ("three", "docs/s")]
    assert "stay out" not in plot.reading


def test_more_races_than_can_be_told_apart_are_named() -> None:
    """The first four are drawn; a single one is no overlay."""
    plot = overlay([(f"race {number}", a_race(1000 + number)) for number in range(6)])
    assert plot is not None
    assert plot.drawn.count("<polyline") == 5 * MOST_RACES
    assert "race 4, race 5 stay out" in plot.reading
    assert overlay([("one", a_race(1000))]) is None


def test_a_race_without_samples_stays_out_of_the_overlay() -> None:
    """The others are drawn, called by what they differ in."""
    one = races.plain()
    records = [replace(one, race_id=f"race-{name}", race={**one.race, "car": [f"{name}gheap"]}) for name in "124"]
    over = {records[0].race_id: a_race(1000), records[1].race_id: a_race(2000), records[2].race_id: None}
    found = compare(records, over)
    assert [name for name, _ in found.over_time] == ["apache: cars 1gheap", "apache: cars 2gheap"]
    assert "The races over each other" in render_comparison(found, "html")
    assert "The races over each other" not in render_comparison(compare(records), "html")
    assert "over each other" not in render_comparison(found)


def test_a_comparison_tells_what_was_used_and_saturated() -> None:
    """Beside the other figures of each race, in every form; a race without samples has none."""
    one = races.plain()
    other = replace(one, race_id="second", summary=replace(one.summary, resources=None, bottleneck=None))
    first, second = compare([one, other]).rows
    assert first.figures["rally-node-0 CPU %"] == "200"
    assert first.figures["load driver memory, peak"] == "300 MiB"
    assert first.figures["saturated"] == "nothing seen"
    assert "saturated" not in second.figures
    for form in ("text", "markdown", "html"):
        assert "nothing seen" in render_comparison(compare([one, other]), form)


def test_alike_races_are_told_by_their_ids() -> None:
    """Two of one configuration would have one name."""
    one = races.plain()
    records = [replace(one, race_id=name) for name in ("first", "second")]
    names = [name for name, _ in compare(records, dict.fromkeys(("first", "second"), a_race(1000))).over_time]
    assert names == ["apache (first)", "apache (second)"]


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")
@pytest.mark.parametrize("page", ["race", "overlay"])
def test_it_fits_every_width(page: str, tmp_path: Path) -> None:
    """On a desktop and on a phone nothing sticks out, and every plot is shown with text that can be read."""
    if page == "race":
        report = build_race_report(RaceFindings(races.plain(), (), None, over_time=a_race(2000)))
        html = render_html(report)
    else:
        one = races.plain()
        records = [replace(one, race_id=f"race-{name}", race={**one.race, "car": [f"{name}gheap"]}) for name in "1248"]
        over = {record.race_id: a_race(1000 * number) for number, record in enumerate(records, 1)}
        html = render_comparison(compare(records, over), "html")
    for width, (needed, out, plots, small, unreadable) in measured(html, tmp_path).items():
        assert width in WIDTHS
        assert (needed <= width, out, small, unreadable) == (True, "", 0, 0)
        assert plots == html.count("<figure")
