"""What reports say and count: figures picked from results, numbers, sentences, JUnit, the published study."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from xml.etree import ElementTree as Tree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import numbers
from paddock.reports import figures, sentences
from paddock.reports.beside import Price, best, price_section, prices_of
from paddock.reports.drawing import counted, linear, logarithmic
from paddock.reports.drawing import ratios as ratio_scale
from paddock.reports.grids import grids
from paddock.reports.laps import pairs_section, throughput_section, void_section
from paddock.reports.study import study_section
from paddock.reports.verdicts import apply_section, verdict_section
from paddock.reports.write import build, laps_as_csv, result_as_junit
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.model import (
    EQUIVALENT,
    FASTER,
    SLOWER,
    UNDECIDED,
    Contender,
    Metric,
    MetricResult,
    Result,
    Verdict,
)
from paddock.tournaments.pairing import METRICS
from paddock.tournaments.published import Published
from tests.reports.results import ALL, RATE, codecs, decided, grid, result, simulated, study, undecided, with_voids


def verdict(word: str, ratio: float | None, low: float = 0.9, high: float = 1.1) -> Verdict:
    """A verdict on the contender b."""
    return Verdict("b", word, ratio, low, high, 0.95, 12, 0.01, "for this JVM")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.234, "1.23"), (0.0412, "0.041"), (12.51, "12.5"), (140.2, "140"), (math.inf, "∞"), (None, "-"), (0.0, "0.00")],
)
def test_ratio(value: float | None, text: str) -> None:
    """Ratios have the digits that mean something."""
    assert numbers.ratio(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.31, "+31 %"), (0.975, "-2.5 %"), (1.0, "0.0 %"), (0.99999, "0.0 %"), (None, "-"), (21, "+2,000 %")],
)
def test_change(value: float | None, text: str) -> None:
    """Changes have a sign, and none has a negative zero."""
    assert numbers.change(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.95, "95 %"), (0.9917, "99.2 %"), (0.99999, "99.9 %"), (0.8, "80 %"), (1.0, "99.9 %")]
)
def test_confidence(value: float, text: str) -> None:
    """A confidence is never rounded up to certainty."""
    assert numbers.confidence(value) == text


def test_interval() -> None:
    """Open intervals are told in words, narrow ones with the digits that tell their ends apart."""
    assert numbers.interval(0.0, math.inf) == "unbounded"
    assert numbers.interval(1.1, math.inf) == "1.10 to ∞"
    assert numbers.interval(1.0181, 1.0192) == "1.0181 to 1.0192"
    assert numbers.interval(0.9, 1.1) == "0.90 to 1.10"


def test_words_fit_the_metric() -> None:
    """Bytes are not faster; rates and times are."""
    assert sentences.word(RATE, FASTER) == "faster"
    assert sentences.word(Metric("bulk p50 ms", "ms", False), SLOWER) == "slower"
    assert sentences.word(Metric("bytes/doc", "B", False), FASTER) == "better"
    assert sentences.word(Metric("bytes/doc", "B", False), SLOWER) == "worse"
    assert sentences.word(Metric("bytes/doc", "B", False), UNDECIDED) == "undecided"


@pytest.mark.parametrize("name", ALL)
def test_the_headline_is_one_sentence_that_names_the_baseline(name: str) -> None:
    """The verdict comes in a single sentence, however many contenders there are."""
    one = ALL[name]()
    text = sentences.headline(one)
    assert text.endswith(".")
    assert ". " not in text
    assert one.tournament.baseline in text


def test_equivalent_headline() -> None:
    """One equivalent contender is said to be so, with its interval."""
    main = replace(undecided().main, verdicts=(verdict(EQUIVALENT, 1.004, 0.985, 1.02),))
    text = sentences.headline(replace(undecided(), main=main))
    assert text == "b is equivalent to mmapfs: 1.00 times its docs/s (95 % interval 0.98 to 1.02), for this JVM."


def about_disk(*verdicts: Verdict, **prices: tuple[Verdict, ...]) -> str:
    """The headline of a tournament about disk with these verdicts, and those of other metrics."""
    one = undecided()
    main = replace(one.main, metric=METRICS["bytes/doc"], verdicts=verdicts)
    others = [MetricResult(METRICS[name.replace("_", " ")], found, ()) for name, found in prices.items()]
    return sentences.headline(replace(one, main=main, others=(MetricResult(RATE, (), ()), *others)))


def test_who_asks_for_disk_is_told_what_is_saved_and_what_it_costs() -> None:
    """One sentence in everyday words with the intervals; "about as fast" is what is equivalent, and nothing wider."""
    smaller = verdict(FASTER, 0.5512, 0.5489, 0.553)
    speed = {"docs/s": (verdict(UNDECIDED, 0.95, 0.9, 1.01),), "query p50 ms": (verdict(SLOWER, 1.12, 1.05, 1.2),)}
    assert about_disk(smaller, **speed) == (
        "b takes 45 % less disk than mmapfs (44.7 to 45.1 %), indexes 10 % slower to 1.0 % faster (undecided) and "
        "needs 12 % more time for a query (5.0 to 20 %)."
    )
    alike = about_disk(smaller, **{"docs/s": (verdict(EQUIVALENT, 1.0, 0.98, 1.01),)})
    assert alike.endswith("and indexes about as fast (2.0 % slower to 1.0 % faster).")
    unbounded = about_disk(verdict(FASTER, 0.5, 0.0, math.inf), **{"docs/s": (verdict(UNDECIDED, None),)})
    assert unbounded.endswith("b takes 50 % less disk than mmapfs (too few pairs for an interval).")
    assert about_disk(verdict(SLOWER, 1.2, 1.1, 1.3), **speed).count(". ") == 0
    assert about_disk(verdict(EQUIVALENT, 1.0, 0.99, 1.01), **speed).count(". ") == 0


def test_of_many_contenders_the_smallest_is_told_of() -> None:
    """A grid of a dozen cells has one sentence on disk, not a dozen."""
    many = [replace(verdict(FASTER, 0.9 - number / 100, 0.7, 0.95), contender=f"c{number}") for number in range(6)]
    text = about_disk(*many)
    assert text == (
        "Of 6 contenders 6 are better than the baseline mmapfs. c5 takes 15 % less disk than mmapfs (5.0 to 30 %)."
    )


def test_the_unit_is_named() -> None:
    """Where contenders differ at the node, the text speaks of starts, not of blocks."""
    one = undecided()
    at_node = replace(one, tournament=replace(one.tournament, node_level=True))
    assert "in the same block" in verdict_section(one).paragraphs[0]
    assert "in the same start" in verdict_section(at_node).paragraphs[0]


def test_contenders_that_quick_leaves_out_are_not_promised() -> None:
    """The report of a --quick tournament does not say that it compares what it has left out."""
    file = find_file("refresh-interval")
    assert "1, 5 and 30 seconds. " in sentences.setup(read_tournament(file))
    quick = sentences.setup(read_tournament(file, TournamentOptions(quick=True)))
    assert "Refresh intervals of 1, 5 and 30 seconds; here 1s and 5s only. Track" in quick


def test_the_control_is_a_band_and_a_sentence() -> None:
    """Behind every row of its metric; a result without one has neither."""
    one = decided()
    twin = replace(one.tournament.contenders[0], name="control")
    control = Verdict("control", EQUIVALENT, 1.004, 0.98, 1.03, 0.95, 12, 0.6, "for this JVM")
    told = replace(
        one,
        tournament=replace(one.tournament, control=twin),
        main=replace(one.main, control=control),
    )
    section = verdict_section(told)
    assert (
        "The control, a twin of the baseline, came to 1.00 (0.98 to 1.03): so much is made of no"
        in section.paragraphs[1]
    )
    assert section.plots[0].drawn.count('class="control"') == len(one.main.verdicts) + 1  # and in the legend
    shown = throughput_section(told)
    assert shown is not None
    assert "control" in shown.plots[0].drawn
    plain = verdict_section(one)
    assert len(plain.paragraphs) == 1
    assert 'class="control"' not in plain.plots[0].drawn


def test_decisions_are_gathered() -> None:
    """Contenders that need the same share a sentence; more than six different ones are cut."""
    same = [replace(verdict(UNDECIDED, 1.0), contender=f"c{number}", decide="3 more blocks.") for number in range(9)]
    other = [replace(one, decide=f"{one.contender} needs more.") for one in same]
    main = undecided().main
    assert sentences.decisions(replace(main, verdicts=tuple(same))) == ("9 contenders: 3 more blocks.",)
    assert sentences.decisions(replace(main, verdicts=tuple(other)))[-1] == "... and 3 more, which the table lists."


def test_words_are_explained() -> None:
    """Who sees a report for the first time finds each word of its own at the end, folded."""
    section = build(decided()).sections[-1]
    assert section.folded
    assert {"contender", "lap", "block", "start", "pair", "car", "void"} <= {word for word, _ in section.facts}


def junit(of: Result) -> Tree.Element:
    """The suite in the JUnit file."""
    suite = Tree.fromstring(result_as_junit(of)).find("testsuite")  # noqa: S314  our own text
    assert suite is not None
    return suite


def test_junit_kinds() -> None:
    """Slower beyond the margin fails, undecided is skipped, a void start is an error, everything else passes."""
    worse = Metric("bytes/doc", "B", False)
    for metric, word, ratio, kind in (
        (RATE, SLOWER, 0.9, "failure"),
        (RATE, SLOWER, 0.98, None),
        (RATE, FASTER, 1.2, None),
        (RATE, EQUIVALENT, 1.0, None),
        (RATE, UNDECIDED, 0.8, "skipped"),
        (RATE, UNDECIDED, None, "skipped"),
        (worse, SLOWER, 1.2, "failure"),
        (worse, SLOWER, 1.02, None),
    ):
        main = replace(undecided().main, metric=metric, verdicts=(verdict(word, ratio),))
        suite = junit(replace(undecided(), main=main))
        outcomes = [child.tag for case in suite.iter("testcase") for child in case if child.tag != "system-out"]
        assert outcomes == ([kind] if kind else []), (metric.name, word, ratio)
        assert suite.get("tests") == "1"
    suite = junit(with_voids())
    assert (suite.get("errors"), suite.get("skipped"), suite.get("failures")) == ("2", "1", "0")
    errors = [case.find("error") for case in suite.iter("testcase") if (case.get("name") or "").startswith("start")]
    assert [error.get("message") for error in errors if error is not None] == [
        "Start 2 is void: The node did not answer any more.",
        "Start 3 is void: The race failed. The port 39200 is taken. More in rally.log.",
    ]


@given(st.text(max_size=20).filter(lambda name: name != "a"))
def test_junit_holds_any_name(name: str) -> None:
    """Whatever a contender is called, the file is XML, even with characters that XML forbids."""
    suite = junit(result("x", [Contender("a"), Contender(name)], []))
    assert suite.get("tests") == "1"


def test_csv_has_every_lap_and_figure() -> None:
    """A line per lap, with its own numbers in the columns named for them."""
    one = study()
    rows = list(csv.DictReader(io.StringIO(laps_as_csv(one))))
    assert len(rows) == len(one.laps)
    for row, lap in zip(rows, one.laps, strict=True):
        assert row["contender"] == lap.contender
        assert float(row["seconds"]) == lap.seconds
        assert lap.freshness is not None
        assert float(row["freshness_p50"]) == lap.freshness["p50"]
        assert row["freshness_p99"] == ""
        assert float(row["bytes/doc"]) == lap.prices["bytes/doc"]
        assert [float(rate) for rate in row["rates"].split()] == list(lap.rates)
        assert (row["warmup"] == "yes") is lap.warmup


@pytest.mark.parametrize("name", ["=1+1", "+1", "-fsync", "@SUM(A1)", "\t=1+1", "a\r=1+1", "\n=1+1"])
def test_no_text_is_a_formula_to_a_spreadsheet(name: str) -> None:
    """Names and reasons that begin like a formula are quoted; negative numbers stay numbers."""
    one = study()
    lap = replace(one.laps[0], contender=name, void=name, prices={"bytes/doc": -2.5})
    (row,) = csv.DictReader(io.StringIO(laps_as_csv(replace(one, laps=(lap,))), newline=""))
    assert row["contender"] == row["void"]
    assert row["contender"].startswith(("'", "a "))
    assert row["bytes/doc"] == "-2.5"


def test_void_laps_count_nowhere() -> None:
    """Void laps and starts are listed and left out of everything else."""
    one = with_voids()
    assert all(lap.void is None for lap in figures.counting_laps(one))
    assert figures.void_starts(one) == {2: "The node did not answer any more."}
    assert len(figures.void_laps(one)) + len(figures.counting_laps(one)) < len(one.laps)
    assert figures.void_starts(decided()) == {}
    uncounted = replace(one, laps=(replace(figures.void_laps(one)[0], counted=None),))
    assert void_section(uncounted).tables[0].rows[0][3].startswith("- / ")
    (row,) = csv.DictReader(io.StringIO(laps_as_csv(uncounted)))
    assert row["counted"] == ""


@pytest.mark.parametrize(("name", "first", "last"), [("decided", 4, 15), ("grid", 2, 7)])
def test_pairs_have_the_numbers_of_their_blocks(name: str, first: int, last: int) -> None:
    """Plot and table say the same: the first measured block is not block 1, as warm-up blocks have numbers, too."""
    section = pairs_section(ALL[name]())
    assert section is not None
    (plot,) = section.plots
    assert plot.table.rows[0][1] == f"block {first}"
    assert {row[1] for row in plot.table.rows} == {f"block {number}" for number in range(first, last + 1)}
    panel = plot.drawn.split('<div class="panel">')[1]
    marks = dict(re.findall(r'x="([\d.]+)%" y="[\d.]+"><title>block (\d+):', panel))
    for place, block in marks.items():
        scale = counted(last, first)
        assert float(place) == pytest.approx(100 * scale.share(float(block)), abs=0.01)
    ticks = {int(text) for text in re.findall(r'text-anchor="middle">(\d+)</text>', panel)}
    assert ticks
    assert all(first <= tick <= last for tick in ticks)


def test_blocks_of_several_starts_follow_each_other() -> None:
    """Their numbers begin anew with each start, so the plot counts pairs, and each says which it is."""
    section = pairs_section(study())
    assert section is not None
    drawn = section.plots[0].drawn
    assert "pairs, start by start" in drawn
    assert "<title>start 2, block 3: " in drawn


def test_freshness_is_a_price_where_it_was_probed() -> None:
    """Quantiles over all laps of a contender stand beside the other prices, and are bounds where laps are too short."""
    median, *late = prices_of(study())[-3:]
    assert [one.metric.name.rpartition(" ")[2] for one in (median, *late)] == ["p50", "p95", "p99"]
    assert median.values["refresh 1s"] < late[0].values["refresh 1s"] <= late[1].values["refresh 1s"]
    assert 450 < median.values["refresh 1s"] < 650
    assert 2_000 < median.values["refresh 5s"] < 3_200
    assert median.at_least == {"refresh 30s", "refresh off"}
    assert 3_000 < median.values["refresh 30s"] < 10_000
    assert figures.freshness(decided()) == ()


def test_what_laps_are_too_short_to_see_is_said() -> None:
    """Where the median is longer than a lap, a sentence says so and the table says "over"."""
    section = price_section(study())
    assert section is not None
    assert any(item.startswith("refresh 30s: ") and "the median is longer" in item for item in section.items)
    assert not any(item.startswith("refresh 5s") for item in section.items)
    (row,) = [row for row in section.plots[0].table.rows if row[0] == "refresh 30s"]
    assert any(cell.startswith("over ") for cell in row)


def test_grids() -> None:
    """The factor with more values goes across, values are in order of size, and every cell finds its contender."""
    (one,) = grids(grid())
    assert (one.across, one.down) == ("clients", "bulk size")
    assert (one.columns, one.rows) == ((1, 2, 3, 4), (125, 500, 1000))
    assert one.contender(3, 500) == "clients 3, bulk 500"
    assert one.contender(9, 500) is None
    assert grids(decided()) == []


def test_three_factors_make_a_grid_for_each_value_of_the_third() -> None:
    """A third factor splits the contenders into grids; one factor alone makes none."""
    places = [
        {"shards": shards, "replicas": replicas, "refresh": refresh}
        for shards in (1, 2, 4)
        for replicas in (0, 1, 2)
        for refresh in ("1s", "30s")
    ]
    contenders = [Contender(str(place), coordinates=place) for place in places]
    found = grids(result("three", contenders, []))
    assert [one.others for one in found] == ["refresh 1s", "refresh 30s"]
    assert all(len(one.cells) == 9 for one in found)
    line = [Contender(str(shards), coordinates={"shards": shards}) for shards in (1, 2)]
    assert grids(result("one", line, [])) == []


def test_published_ratios_leave_out_what_is_excluded() -> None:
    """Ratios are to the study's own baseline; a misprint is in none of them, and no baseline means no ratios."""
    published = study().tournament.published
    assert published is not None
    assert published.ratios_to("refresh 1s") == {"refresh 1s": 1.0, "refresh 5s": 1.25, "refresh 30s": 1.7}
    assert published.ratios_to("refresh off") == {}
    assert published.ratios_to("refresh 2s") == {}


def test_findings_of_a_study() -> None:
    """Each published figure gets the word that its measurement deserves, none is tuned to agree."""
    speeds = {"a": 20_000.0, "up": 26_000.0, "down": 15_000.0, "flat": 20_000.0, "gone": 25_000.0}
    laps = simulated(speeds, blocks=14, noise=0.02, void=lambda start, block, name: "gone" if name == "gone" else None)
    figures_of = {"a": 10.0, "up": 20.0, "down": 20.0, "flat": 20.0, "gone": 20.0}
    published = Published("A study", "docs/s", figures_of)
    section = study_section(result("s", [Contender(name) for name in speeds], laps, published=published))
    assert section is not None
    table = section.plots[0].table
    assert {row[0]: row[-1] for row in table.rows} == {
        "a": "baseline",
        "up": "same direction",
        "down": "opposite direction",
        "flat": "no effect here",
        "gone": "not measured",
    }
    assert "Of 3 published ratios that can be compared" in section.paragraphs[1]


@given(st.dictionaries(st.text(max_size=3), st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1), st.booleans())
def test_nobody_beats_the_unbeaten(points: dict[str, tuple[int, int]], upward: bool) -> None:
    """Every contender outside of the front is beaten by one inside it, and none inside by anybody."""
    price = Price(Metric("t", "", False), {name: one[1] for name, one in points.items()})
    front = best(price, {name: one[0] for name, one in points.items()}, upward)
    assert front

    def beats(one: str, other: str) -> bool:
        sign = 1 if upward else -1
        (speed, price), (other_speed, other_price) = points[one], points[other]
        no_worse = sign * speed >= sign * other_speed and price <= other_price
        return no_worse and (speed, price) != (other_speed, other_price)

    for name in points:
        assert any(beats(one, name) for one in front) is (name not in front)


@given(st.lists(st.floats(0.02, 50) | st.just(math.inf) | st.just(0.0)), st.floats(0, 0.2))
def test_limits_show_everything_finite(values: list[float], margin: float) -> None:
    """The axis of ratios shows 1, the margin and all values that are not beyond reason."""
    scale = ratio_scale(values, margin)
    low, high = scale.low, scale.high
    assert 0 < low < 1 / (1 + margin) <= 1 + margin < high < math.inf
    assert all(low < value < high for value in values if value and math.isfinite(value))


def test_what_else_the_machine_did_stands_below_the_laps() -> None:
    """In the plot, in its words and in the table; far laps are counted; without it, nothing of it is shown."""
    plot = throughput_section(decided()).plots[0]
    assert "disturbance, %" in plot.drawn
    assert "far outside" in plot.drawn
    assert "of the cores of the machine of load driver and nodes during the median lap" in plot.description
    assert "44 % at most; 2 laps lie far outside." in plot.description
    assert plot.table.headers[-5:] == ("others, cores", "steal", "waiting: CPU", "disk", "memory")
    assert all(len(row) == len(plot.table.headers) for row in plot.table.rows)
    assert "of the cores of the load driver's machine during" in throughput_section(study()).plots[0].description
    plain = throughput_section(undecided()).plots[0]
    assert "isturbance" not in plain.drawn + plain.description
    assert plain.table.headers[-1] == "lap"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e7), st.integers(2, 9))
def test_ticks_are_few_and_inside(low: float, length: float, wanted: int) -> None:
    """Any linear axis has at most as many ticks as asked for and one more, in order, and places values in order."""
    scale = linear(low, low + length, wanted)
    assert len(scale.ticks) <= wanted + 1
    assert all(scale.low - 1e-6 * length <= tick <= scale.high + 1e-6 * length for tick in scale.ticks)
    assert list(scale.ticks) == sorted(set(scale.ticks))
    assert 0 <= scale.share(low) < scale.share(low + length) <= 1


@given(st.floats(1e-3, 1e5), st.floats(1.01, 1e6))
def test_logarithmic_axes_have_ticks_too(low: float, factor: float) -> None:
    """From narrow to wide, with no more ticks than can be read."""
    scale = logarithmic(low, low * factor)
    assert len(scale.ticks) <= 8
    assert all(0 <= scale.share(tick) <= 1 for tick in scale.ticks)
    assert abs(scale.share(math.sqrt(low * low * factor)) - 0.5) < 1e-6


def test_pairs_are_those_of_the_laps_that_count() -> None:
    """As many as the verdict stands on; a block whose lap is void is none."""
    one = decided()
    found = figures.pairs(one)
    assert {name: len(own) for name, own in found.items()} == {each.contender: each.pairs for each in one.main.verdicts}
    pair = found["flush 2gb"][0]
    laps = {lap.contender: lap for lap in one.laps if not lap.warmup and lap.block == pair.block}
    assert pair.ratio == laps["flush 2gb"].docs_per_second / laps["flush 512mb"].docs_per_second
    void = {(lap.start, lap.block, lap.contender) for lap in with_voids().laps if lap.void is not None}
    assert void
    shown = {(pair.start, pair.block, name) for name, own in figures.pairs(with_voids()).items() for pair in own}
    assert shown
    assert not shown & void


def test_the_winner_can_be_copied() -> None:
    """Its settings are JSON; where nobody wins there is nothing to apply."""
    section = apply_section(decided())
    assert section is not None
    assert json.loads(section.commands[0]) == {"flush": "2gb"}
    assert apply_section(undecided()) is None


def test_a_mapping_is_not_recommended_without_what_it_costs() -> None:
    """Nothing stored is fastest, and the logs are lost."""
    one = decided()
    stored = tuple(
        replace(each, level={"mapping": "nothing-stored"}) if each.name == "flush 2gb" else each
        for each in one.tournament.contenders
    )
    section = apply_section(replace(one, tournament=replace(one.tournament, contenders=stored)))
    assert section is not None
    assert any("what is not stored is lost" in text for text in section.paragraphs)
    plain = apply_section(one)
    assert plain is not None
    assert not any("is lost" in text for text in plain.paragraphs)


def test_prices_are_drawn_only_where_something_differs() -> None:
    """Points that differ by chance alone would be read as a trade; the figures stand in a table."""
    section = price_section(undecided())
    assert section is not None
    assert section.plots == ()
    assert section.paragraphs == ("No difference was found, neither in speed nor in price.",)
    assert len(section.tables) == 1


def test_pointing_at_a_lap_tells_its_figures() -> None:
    """Every lap of the plot has a title with its contender, block and rate."""
    one = with_voids()
    drawn = throughput_section(one).plots[0].drawn
    for lap in one.laps:
        rate = numbers.figure(lap.docs_per_second)
        assert f"{lap.contender}, start {lap.start}, block {lap.block}: {rate} docs/s" in drawn
    assert drawn.count("; void: ") == len(figures.void_laps(one))


def test_names_leave_out_what_all_contenders_have_in_common() -> None:
    """A grid with one mode has it once, beside the circumstances; commands, data and notes of others are untouched."""
    report = build(codecs())
    assert not any("mode" in row[0] for row in report.sections[0].plots[0].table.rows)
    assert report.sections[0].plots[0].table.rows[0][0] == "codec default, sort @timestamp desc"
    circumstances = next(section for section in report.sections if section.heading == "Circumstances")
    assert ("in all contenders", "mode standard") in circumstances.facts
    assert "sort x codec" in [section.heading for section in report.sections]
    course = next(section for section in report.sections if section.heading == "How it went")
    assert course.items[1] == "Of codec default, sort @timestamp desc no lap was void."
    assert "mode standard" in laps_as_csv(codecs())
    assert build(grid()).sections[0].plots[0].table.rows[0][0] == "clients 1, bulk 125"


def test_heads_of_heat_maps_are_whole() -> None:
    """Long names of levels are broken into lines, not cut."""
    section = next(one for one in build(codecs()).sections if one.heading == "sort x codec")
    heads = section.plots[0].drawn.replace("<wbr>", "")
    assert "user_agent.keyword,@timestamp desc</span></th>" in heads
    assert "…" not in heads


def test_prices_of_eight_contenders_can_be_told_apart() -> None:
    """Each has a mark of its own, which the legend explains with its whole name; no name lies upon another."""
    section = price_section(figures.without_common_factors(codecs()))
    assert section is not None
    legend, panels = section.plots[0].drawn.split("</p>", 1)
    marks = re.findall(r'#mark-(\w+)" class="mark (series-\d)"[^>]*></use></svg>([^<]+)<', legend)
    assert len({(mark, ink) for mark, ink, _ in marks}) == 8
    assert [name for _, _, name in marks][-1] == "codec best_compression, sort referrer"
    assert "sort" not in "".join(re.findall("<text[^>]*>([^<]*)</text>", panels)).replace("to codec default, sort", "")
