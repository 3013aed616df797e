"""The cost in reports: what contenders save, with its interval, and what a race cost."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.costs import ContenderCost, Prices
from paddock.files import write_json
from paddock.rally.outcome import race_file
from paddock.rally.run import race_records
from paddock.reports import chain_page
from paddock.reports.comparison import compare, render_comparison
from paddock.reports.cost import race_costs, tournament_costs
from paddock.reports.race_report import RaceFindings, build_race_report
from paddock.reports.write import render_terminal, write_report
from paddock.tournaments.costs import with_costs
from paddock.tournaments.model import Result
from tests.command_line import run_here
from tests.race.test_costs import PRICES, a_race
from tests.reports import chains
from tests.reports.results import decided
from tests.reports.test_browser import CHROMIUM, WIDTHS, measured


def told(result: Result, **amounts: float) -> Result:
    """The result with these amounts saved by its second contender."""
    first, second, *others = with_costs(result, PRICES).costs
    return replace(with_costs(result, PRICES), costs=(first, replace(second, **amounts), *others))


def saved(one: Result) -> str:
    """What the report says of the second contender."""
    section = tournament_costs(one)
    assert section is not None
    return dict(zip(section.tables[0].headers, section.tables[0].rows[1], strict=True))["saves a month"]


def test_no_prices_no_section() -> None:
    """Nothing is assumed."""
    assert tournament_costs(decided()) is None
    assert race_costs(replace(a_race(), prices=None)) is None


def test_what_is_saved_has_its_interval() -> None:
    """Of a month, where the volume is known; without an interval that is said, and without a pair nothing."""
    days = 365.25 / 12
    assert saved(told(decided(), saved=1.0, saved_low=-0.5, saved_high=2.0)) == (
        f"{days:.2f} ({-days / 2:.2f} to {2 * days:.2f})"
    )
    assert saved(told(decided(), saved=1.0)) == f"{days:.2f} (no interval)"
    assert saved(told(decided())) == "-"
    per_million = replace(PRICES, documents_per_day=None)
    section = tournament_costs(with_costs(decided(), per_million))
    assert section is not None
    heads = ("contender", "all /M docs", "saves /M docs", "processors /M docs", "storage /M docs", "laps")
    assert section.tables[0].headers == heads


def test_nothing_measured_is_said() -> None:
    """Prices for what no lap tells: no table of zeros."""
    laps = tuple(replace(lap, prices={}) for lap in decided().laps)
    section = tournament_costs(with_costs(replace(decided(), laps=laps), PRICES))
    assert section is not None
    assert section.tables == ()
    assert "was not measured in any lap" in section.paragraphs[-1]


def test_a_single_price_has_no_parts() -> None:
    """One column for the whole, which is the part."""
    section = tournament_costs(with_costs(decided(), Prices("EUR", cpu_hour=1.0)))
    assert section is not None
    assert section.tables[0].headers == ("contender", "all /M docs", "saves /M docs", "laps")


def test_the_race_report_and_the_comparison_tell_it(tmp_path: Path) -> None:
    """With the prices in words, and a column beside the other figures."""
    record = a_race()
    report = build_race_report(RaceFindings(record, (), None))
    assert "Cost" in [section.heading for section in report.sections]
    other = replace(record, race_id="other")
    assert "cost EUR/M docs" in render_comparison(compare([record, other]))
    assert "cost EUR/M docs" in render_comparison(compare([with_costs(decided(), PRICES), record]))
    assert "Cost in EUR" in render_terminal(with_costs(decided(), PRICES))


def test_the_command_line_takes_prices(tmp_path: Path) -> None:
    """For a race that was run without; a file that is none ends in a sentence."""
    record = replace(a_race(), prices=None)
    write_json(race_file(record.race_id), record.race)
    write_json(race_records(record.race_id) / "summary.json", record.as_json())
    file = tmp_path / "prices.yml"
    file.write_text("currency: EUR\ncpu_hour: 0.1\n", encoding="utf-8")
    assert run_here("report", record.race_id, "--prices", str(file)).returncode == 0
    assert "per million documents" in (race_records(record.race_id) / "report.md").read_text(encoding="utf-8")
    assert run_here("report", record.race_id).returncode == 0
    assert "per million documents," not in (race_records(record.race_id) / "report.md").read_text(encoding="utf-8")
    wrong = run_here("report", record.race_id, "--prices", str(tmp_path / "none.yml"))
    assert (wrong.returncode, "there is no such file" in wrong.stderr) == (2, True)


@pytest.mark.skipif(CHROMIUM is None or shutil.which("chromium") is None, reason="chromium is not installed")
def test_it_fits_a_phone(tmp_path: Path) -> None:
    """The page with its widest table."""
    every = replace(PRICES, memory_gigabyte_month=3.0, gigabyte_scanned=0.01, scans_per_day=5.0)
    laps = tuple(replace(lap, prices={**lap.prices, "node memory MiB": 1400.0}) for lap in decided().laps)
    one = with_costs(replace(decided(), laps=laps), every)
    assert isinstance(one.costs[0], ContenderCost)
    page = write_report(one, tmp_path / "report")["html"].read_text(encoding="utf-8")
    seen = measured(page, tmp_path)
    assert {width: (needed <= width, out) for width, (needed, out, *_) in seen.items()} == dict.fromkeys(
        WIDTHS, (True, "")
    )


def test_a_chain_tells_what_the_tuned_and_the_default_cost() -> None:
    """With prices, once its last tournament is held; without, as before."""
    chain = chains.tuned()
    assert chain.final is not None
    assert chain.final.result is not None
    assert "Cost" not in [section.heading for section in chain_page.build(chain).sections]
    held = replace(chain, final=replace(chain.final, result=with_costs(chain.final.result, PRICES)))
    (cost,) = [section for section in chain_page.build(held).sections if section.heading == "Cost"]
    assert [row[0] for row in cost.tables[0].rows] == ["default", "tuned"]
