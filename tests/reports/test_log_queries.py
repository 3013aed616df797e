"""The report of the challenge log-queries: who wins from where on, whether answers agree, growth, money."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.costs import Prices
from paddock.race.log_queries import Against, LogQueries, keeping, read_log_queries, scan_costs
from paddock.race.summary import RaceRecord
from paddock.reports.document import render_html, render_markdown
from paddock.reports.log_queries import crossing_words, growth_of_ways, log_queries_headline, log_queries_section
from paddock.reports.race_report import build_race_report, find_out, headline, race_report_as_json
from paddock.statistics.crossing import Compared, Median, crossing
from tests.reports import races

GOLDEN = Path(__file__).parent / "golden"
PRICES = Prices("USD", cpu_hour=0.05, gigabyte_month=0.1, gigabyte_scanned=0.005, retention_days=30, scans_per_day=10)


def raced(folder: Path, differs: bool = True) -> RaceRecord:
    """A race and its journal."""
    return races.log_queries(races.write(folder / "load.jsonl", races.log_queries_journal(differs)))


def read(folder: Path, differs: bool = True) -> tuple[RaceRecord, LogQueries]:
    """The same, read."""
    record = raced(folder, differs)
    found = read_log_queries(folder / "load.jsonl", record.summary)
    assert found is not None
    return record, found


def test_golden(tmp_path: Path) -> None:
    """The Markdown is what was once looked at and found right; UPDATE_GOLDEN=1 writes it anew."""
    record = replace(raced(tmp_path), prices=PRICES)
    text, file = render_markdown(build_race_report(find_out(record, tmp_path))), GOLDEN / "race-log-queries.md"
    text = text.replace(str(tmp_path), "FOLDER")
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_what_the_journal_says_is_what_is_read(tmp_path: Path) -> None:
    """The last race alone, without its warm-up: medians, growth, and where the index begins to win."""
    _, found = read(tmp_path)
    assert [one.name for one in found.questions] == ["text-count", "text-hits"]
    count = found.questions[0]
    index, zgrep, by_program = count.ways
    assert [one.documents for one in index.sizes] == [10_000, 20_000, 40_000, 80_000]
    assert zgrep.sizes[-1].seconds.value == pytest.approx(races.asked(80_000, "zgrep", "text-count", 0) * 1.025)
    assert (zgrep.sizes[0].seconds.low, zgrep.sizes[0].runs) == (races.asked(10_000, "zgrep", "text-count"), 6)
    assert index.trend is not None
    assert index.trend.per_doubling == pytest.approx(1.02, abs=0.02)
    assert by_program.trend is not None
    assert 1.2 < by_program.trend.per_doubling < 2
    by_zgrep, by_json = count.against
    # 4 ms and 0.2 ms per thousand documents against 6 ms: 10,000 are too near, 20,000 are enough.
    assert (by_zgrep.crossing.low, by_zgrep.crossing.high) == (None, 20_000)
    assert by_json.crossing.high == 10_000


def test_answers_that_differ_are_named(tmp_path: Path) -> None:
    """One document more at one size is two cases, of two questions; without it all agree."""
    _, found = read(tmp_path)
    assert [text for one in found.questions for text in one.disagreements] == [
        f"{query} at 80,000 documents: the index finds 1,142 documents, zgrep 1,143."
        for query in ("text-count", "text-hits")
    ]
    assert "not the same as the index's in 2 of 16 cases" in headline(find_out(raced(tmp_path), tmp_path))
    assert "All 16 answers of scans are those of the index." in headline(find_out(raced(tmp_path, False), tmp_path))


def test_money(tmp_path: Path) -> None:
    """By hand: a scan is its CPU and what it reads, the index its CPU once and its disk as long as it is kept."""
    record, found = read(tmp_path)
    kept = keeping(found, record.summary, PRICES)
    assert kept is not None
    assert kept.days == 30
    assert kept.files == pytest.approx(80_000 * 50 / 1e9 * 0.1 * 30 / (365.25 / 12))
    cost = next(one for one in scan_costs(found, PRICES, kept) if (one.question, one.way) == ("text-count", "zgrep"))
    busy = races.asked(80_000, "zgrep", "text-count") * 0.9 / 3600 * 0.05
    assert cost.scan == pytest.approx(busy + 80_000 * 50 / 1e9 * 0.005)
    assert cost.raw == pytest.approx(busy + 80_000 * 500 / 1e9 * 0.005)
    assert cost.query == pytest.approx(races.asked(80_000, "index", "text-count", 0) * (1 + 9.5 / 200) / 3600 * 0.05)
    assert cost.pays_from == pytest.approx((kept.index - kept.files) / (cost.scan - cost.query))


def test_only_the_same_size_is_compared(tmp_path: Path) -> None:
    """Zgrep lacks the largest size of one question: neither its cost nor its time beside the load is told."""
    record = raced(tmp_path)
    file = tmp_path / "load.jsonl"
    lines = [json.loads(text) for text in file.read_text().splitlines()]
    whole = file.read_text().count('"way": "zgrep"')
    left = [
        one
        for one in lines
        if (one.get("way"), one.get("query"), one.get("documents")) != ("zgrep", "text-count", 80_000)
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in left))
    assert file.read_text().count('"way": "zgrep"') < whole
    found = read_log_queries(file, record.summary)
    assert found is not None
    kept = keeping(found, record.summary, PRICES)
    assert kept is not None
    costs = {(one.question, one.way) for one in scan_costs(found, PRICES, kept)}
    assert costs == {("text-count", "json"), ("text-hits", "zgrep"), ("text-hits", "json")}
    assert kept.files == pytest.approx(80_000 * 50 / 1e9 * 0.1 * 30 / (365.25 / 12))
    assert log_queries_headline(found).startswith("At 80,000 documents a scan by zgrep")
    (said,) = [text for text in log_queries_section(found).items if text.startswith("text-count: indexing took")]
    assert "zgrep" not in said


def test_a_study_is_told_that_answers_differ(tmp_path: Path) -> None:
    """Who wins is no comparison of the same where they do; where they do not nothing is said."""
    assert growth_of_ways(read(tmp_path)[1])["answers"] == (
        "The answer was not the same as the index's in 2 of 16 cases."
    )
    assert "answers" not in growth_of_ways(read(tmp_path, False)[1])


def test_too_few_scans() -> None:
    """Nothing is called sure, and what would make it so is named."""
    few = Median(0.01, 0.009, 0.011, 0.75)
    compared = (Compared(10.0, few, few), Compared(100.0, few, Median(0.1, 0.09, 0.11, 0.75)))
    told = crossing_words(Against("zgrep", compared, crossing(compared)))
    assert told == "about 10 documents, nothing is sure: an interval takes six runs of each (scan_iterations)"


def test_the_page_and_the_json(tmp_path: Path) -> None:
    """A panel for each question; without a journal the race is told as any race whose data grew."""
    found = find_out(raced(tmp_path), tmp_path)
    page = render_html(build_race_report(found))
    assert page.count('class="panel"') >= 2
    assert race_report_as_json(found)["log_queries"]["questions"][0]["name"] == "text-count"
    (tmp_path / "load.jsonl").write_text("")
    assert "Latency over the size of the data" in render_markdown(build_race_report(find_out(found.record, tmp_path)))


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([(1, 5), (1, 50)], "at every size measured: below 10 documents nothing was measured"),
        ([(9, 5), (9, 50)], "about 18 documents (between 10 and 100)"),
        ([(5, 5), (5, 50)], "about 10 documents (surely from 100 on; below that nothing is sure)"),
        ([(9, 5), (90, 50)], "not up to 100 documents: the scan is faster"),
        ([(1, 5), (90, 50)], "not up to 100 documents: the scan is faster, though the index wins at 10"),
        ([(9, 5), (50, 50)], "not up to 100 documents: nothing is sure there"),
    ],
)
def test_from_which_size_on(times: list[tuple[float, float]], words: str) -> None:
    """With its interval, or why it is not known."""
    compared = tuple(
        Compared(10.0 ** (number + 1), *(Median(one, one * 0.99, one * 1.01, 0.97) for one in both))
        for number, both in enumerate(times)
    )
    assert crossing_words(Against("zgrep", compared, crossing(compared))) == words


def test_a_race_that_asked_the_index_for_warming_up_alone(tmp_path: Path) -> None:
    """As in test mode: nothing is called different where there is nothing to compare, and no table is empty."""
    lines = [
        {**line, "warm_up": True} if line.get("way") == "index" else line for line in races.log_queries_journal(False)
    ]
    record = races.log_queries(races.write(tmp_path / "load.jsonl", iter(lines)))
    found = find_out(record, tmp_path)
    assert headline(found).startswith("No question was asked of the index and of a scan")
    text = render_markdown(build_race_report(found))
    assert "differs" not in text
    assert "From which size of the data on the index wins" not in text
