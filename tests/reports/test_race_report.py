"""Reports of races: what growing data and paced loads come to, letter by letter, and what is left out without them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import numbers
from paddock.race.load import Load, read_load
from paddock.race.race_results import Size, growth, trend
from paddock.reports.document import Report, render_html, render_markdown
from paddock.reports.race_report import (
    RaceFindings,
    build_race_report,
    find_out,
    growth_words,
    headline,
    race_report_as_json,
    render_race_terminal,
    write_race_report,
)
from tests.reports import races

GOLDEN = Path(__file__).parent / "golden"


def findings(name: str, folder: Path) -> RaceFindings:
    """One of the races, with what lies beside it."""
    if name == "burst":
        return find_out(races.burst(races.write(folder / "load.jsonl", races.journal())), folder)
    return find_out(races.growing() if name == "growing" else races.plain(), folder)


def load(folder: Path, **changes: object) -> Load:
    """The load of a journal."""
    found = read_load(races.write(folder / "load.jsonl", races.journal(**changes)))  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["growing", "burst", "plain"])
def test_golden(name: str, tmp_path: Path) -> None:
    """The Markdown is what was once looked at and found right; UPDATE_GOLDEN=1 writes it anew."""
    text, file = render_markdown(build_race_report(findings(name, tmp_path))), GOLDEN / f"race-{name}.md"
    text = text.replace(str(tmp_path), "FOLDER")
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["growing", "burst", "plain"])
def test_files(name: str, tmp_path: Path) -> None:
    """Three files; the page needs nothing else, and the JSON is read again without loss."""
    found = findings(name, tmp_path)
    written = write_race_report(found, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "report.json", "report.md"]
    page = written["html"].read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    assert page.count('class="plot" role="img"') == page.count("<figure") == (0 if name == "plain" else 1)
    value = json.loads(written["json"].read_text(encoding="utf-8"))
    assert value == json.loads(json.dumps(race_report_as_json(found)))
    assert (value["format"], value["version"], value["race-id"]) == ("paddock-race-report", 1, found.record.race_id)
    assert (bool(value["growth"]), bool(value["load"])) == (name == "growing", name == "burst")


@given(factor=st.floats(0.3, 4), base=st.floats(0.01, 1e5), first=st.integers(1, 10**6), sizes=st.integers(3, 7))
def test_the_trend_of_a_power_law_is_its_factor(factor: float, base: float, first: int, sizes: int) -> None:
    """Medians that are multiplied by the same factor with each doubling have that factor, and no doubt about it."""
    points = [Size(2**n, first * 2**n, base * factor**n, None, 0) for n in range(sizes)]
    found = trend(points)
    assert found is not None
    assert found.per_doubling == pytest.approx(factor, rel=1e-6)
    assert found.low <= found.per_doubling <= found.high
    assert found.high / found.low == pytest.approx(1, rel=1e-4)


def test_a_trend_needs_three_sizes_without_failures() -> None:
    """Two points fit any line; a size at which requests failed is not one."""
    points = [Size(n, 1000 * n, 5.0 * n, None, 0) for n in (1, 2, 4)]
    assert trend(points) is not None
    assert trend(points[:2]) is None
    assert trend([*points[:2], replace(points[2], error_rate=0.5)]) is None
    assert trend([*points[:2], replace(points[2], median=None)]) is None
    assert trend([replace(one, documents=1000) for one in points]) is None


def test_noise_widens_the_interval() -> None:
    """Medians that go up and down give an interval with 1 in it."""
    points = [Size(n, 1000 * n, value, None, 0) for n, value in ((1, 5.0), (2, 9.0), (4, 5.2), (8, 8.0))]
    found = trend(points)
    assert found is not None
    assert found.low < 1 < found.high
    assert growth_words(found) == "no growth to be seen"


def test_growth_is_read_from_race_json() -> None:
    """Every query with its four sizes, whatever order they are in; loads are no queries."""
    race = dict(races.growing().race)
    race["results"] = {"op_metrics": list(reversed(race["results"]["op_metrics"]))}
    found = {one.query: one for one in growth(race)}
    assert set(found) == set(races.QUERIES)
    assert [size.documents for size in found["top-paths"].sizes] == [10_000, 20_000, 40_000, 80_000]
    assert [round(size.median or 0) for size in found["top-paths"].sizes] == [30, 63, 120, 252]
    words = {query: growth_words(one.trend) for query, one in found.items()}
    assert words == {
        "latest-errors": "no growth to be seen",
        "errors-by-free-text": "grows with the data",
        "top-paths": "grows with the data",
    }
    assert growth({}) == ()


def test_too_few_requests_for_a_median(tmp_path: Path) -> None:
    """A single request has no percentiles: the report says so instead of drawing nothing."""
    found = find_out(races.growing(requests=1), tmp_path)
    text = render_markdown(build_race_report(found))
    assert "No query ran often enough for a median" in text
    assert headline(found) == "3 queries at 4 sizes of the data."
    assert "<figure" not in render_html(build_race_report(found))


def test_test_mode_measures_nothing(tmp_path: Path) -> None:
    """Its figures are not taken for a result."""
    record = races.growing()
    found = find_out(replace(record, race={**record.race, "user-tags": {"test-mode": "true"}}), tmp_path)
    assert headline(found).startswith("A race in test mode")
    assert "measures nothing" in render_race_terminal(found).splitlines()[0]


def test_phases_are_told_apart(tmp_path: Path) -> None:
    """A peak at 4,000 docs/s of a server for 3,000: latency rises by a quarter of a second each second."""
    found = load(tmp_path)
    assert found.scheduled_documents == 80_000
    names = [(phase.name, phase.bulks, phase.documents, phase.failed) for phase in found.phases]
    assert names == [
        *(("warm-up", 200, 20_000, 1), ("rest-1", 100, 10_000, 0)),
        *(("peak-1", 400, 40_000, 0), ("rest-2", 100, 10_000, 0)),
    ]
    peak = found.phases[2]
    assert peak.latency is not None
    assert peak.latency.maximum == pytest.approx(3333, rel=0.05)  # 10 s of it are 13.3 s of work
    assert peak.processing is not None
    assert peak.processing.maximum == pytest.approx(270, rel=0.05)  # eight bulks at most are in flight
    # The 10,000 documents that were left take 3.3 s, and those that come meanwhile.
    assert peak.recovery == 4
    assert [phase.recovery for phase in found.phases if not phase.is_peak] == [None, None, None]


@pytest.mark.parametrize(("capacity", "recovery", "sentence"), [
    (9000.0, 0, "After peak-1 latency is back to normal at once."),
    (3000.0, 4, "After peak-1 latency is back to normal 4 s later."),
    (1500.0, None, "After peak-1 latency does not come back to normal within the 20 s left."),
])  # fmt: skip
def test_recovery(tmp_path: Path, capacity: float, recovery: float | None, sentence: str) -> None:
    """At once where the server can take the peak; never where the rest is too short to work off what is left."""
    file = races.write(tmp_path / "load.jsonl", races.journal(capacity))
    found = find_out(races.burst(file), tmp_path)
    assert found.load is not None
    assert found.load.phases[2].recovery == recovery
    assert sentence in render_markdown(build_race_report(found))
    assert ("does not come back" in headline(found)) == (recovery is None)


def test_moments_hold_every_document(tmp_path: Path) -> None:
    """Each second has what was acknowledged in it; a long load has longer moments, and at most 240 of them."""
    found = load(tmp_path)
    assert sum(moment.acknowledged * moment.seconds for moment in found.moments) == pytest.approx(80_000)
    assert found.moments[10].median == pytest.approx(39, abs=2)
    long = load(tmp_path, phases=[("paced", 1000, 500)])
    assert (long.moments[0].seconds, len(long.moments)) == (5, 201)
    assert long.behind < 0.1


def test_every_moment_of_a_load_shows_its_figures(tmp_path: Path) -> None:
    """Lines have no marks to point at: a stretch of each second says what it holds, in both panels."""
    file = races.write(tmp_path / "load.jsonl", races.journal())
    found = find_out(races.burst(file), tmp_path)
    assert found.load is not None
    page = render_html(build_race_report(found))
    assert page.count('<rect class="touch"') == 2 * len(found.load.moments)
    busy = found.load.moments[27]
    assert f"<title>second 27: median {numbers.figure(busy.median)} ms, largest" in page
    assert f"second 27: {numbers.figure(busy.acknowledged)} docs/s acknowledged of 4,000 due (peak-1)</title>" in page


@pytest.mark.parametrize(("name", "words"), [("plain", ["mixin", "latency"]), ("burst", ["car", "load driver"])])
def test_words_are_explained(name: str, words: list[str], tmp_path: Path) -> None:
    """At the end, folded, what a newcomer may not know."""
    section = build_race_report(findings(name, tmp_path)).sections[-1]
    assert section.folded
    told = " ".join(f"{word}: {meaning}" for word, meaning in section.facts)
    assert all(word in told for word in words)


def test_several_loads_keep_their_times(tmp_path: Path) -> None:
    """Of each load: the whole distribution of service times, and of a scheduled one the latencies, waiting included."""
    found = render_markdown(build_race_report(find_out(races.two_loads(), tmp_path)))
    lines = [line for line in found.splitlines() if line.startswith(("| first", "| second"))]
    times = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [row[0] for row in times] == ["first", "second", "second, latency"]
    assert [row.pop(3) for row in times] == ["-"] * 3  # the 95th, of which nobody kept a journal
    first, second, latency = ([float(cell) for cell in row[1:]] for row in times)
    assert first == sorted(first)
    assert len(first) == 4
    assert max(second) == 12
    assert min(latency) >= 500


def test_a_load_without_peaks_has_its_own_headline(tmp_path: Path) -> None:
    """The rate and the latency at it."""
    file = races.write(tmp_path / "load.jsonl", races.journal(phases=[("warm-up", 5, 1000), ("paced", 20, 1000)]))
    found = find_out(races.burst(file), tmp_path)
    assert headline(found).startswith("At 1,000 docs/s latency is 3")
    assert "Normal is" not in render_markdown(build_race_report(found))


def test_the_journal_of_another_race_is_left_alone(tmp_path: Path) -> None:
    """Of a journal of several races the last load counts; lines cut off by a crash are passed over."""
    first = list(races.journal(phases=[("paced", 5, 1000)]))
    second = [{**line, "began": line["began"] + 300} for line in races.journal(phases=[("paced", 3, 1000)])]
    file = races.write(tmp_path / "load.jsonl", iter([*first, *second]))
    with file.open("a", encoding="utf-8") as journal:
        journal.write('[1]\n{"kind":"bulk","began":13')
    found = read_load(file)
    assert found is not None
    assert found.scheduled_documents == 3000
    assert [phase.documents for phase in found.phases] == [3000]


def test_without_a_journal_there_is_no_load(tmp_path: Path) -> None:
    """The race's other figures are reported all the same."""
    assert read_load(tmp_path / "nothing.jsonl") is None
    assert read_load(races.write(tmp_path / "empty.jsonl", iter([]))) is None
    assert read_load(races.write(tmp_path / "plan.jsonl", iter(list(races.journal())[:1]))) is None
    found = find_out(races.burst(tmp_path / "nothing.jsonl"), tmp_path)
    assert headline(found).startswith("1,")
    report = build_race_report(found)
    assert isinstance(report, Report)
    assert [section.heading for section in report.sections] == [
        *("What was saturated", "Resources", "Figures", "Circumstances", "Repeat it", "Words"),
    ]


def test_names_are_escaped(tmp_path: Path) -> None:
    """A query may be called what its file is called."""
    record = races.growing(factors={"<b>$x$</b>": (2.0, 1.5)})
    page = render_html(build_race_report(find_out(record, tmp_path)))
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_the_terminal_gets_headline_and_warnings(tmp_path: Path) -> None:
    """One line each."""
    file = races.write(tmp_path / "load.jsonl", races.journal())
    found = find_out(races.burst(file, scheduled=40.0), tmp_path)
    lines = render_race_terminal(found).splitlines()
    assert lines[0] == headline(found)
    assert lines[1].startswith("  ! 'paced-bulk' was to end after 40 s and ended after 55 s")
