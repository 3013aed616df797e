"""Contenders judged by what they cost: a figure of each lap, with the interval of its pairs."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.costs import PROCESSORS, STORAGE, Prices
from paddock.errors import FileError
from paddock.plain_values import built, plain
from paddock.tournaments.analysis import measure
from paddock.tournaments.command import load_result
from paddock.tournaments.costs import contender_costs, cost_metric, priced, with_costs
from paddock.tournaments.model import FASTER, UNDECIDED, Lap, Result
from paddock.tournaments.pairing import paired
from tests.reports.results import decided
from tests.tournaments.conftest import hold
from tests.tournaments.test_schedule import a_tournament

PRICES = Prices("EUR", cpu_hour=0.1, gigabyte_month=0.1, retention_days=365.25 / 12, documents_per_day=1e6)


def laps(ratio: float, blocks: int = 12, sd: float = 0.02, seed: int = 1) -> list[Lap]:
    """Laps of a and b in turn: CPU and bytes of b are that ratio of a's, on a machine whose CPU drifts."""
    chance, found, level = random.Random(seed), [], 40.0
    for block in range(1, blocks + 1):
        level *= math.exp(chance.gauss(0, 0.2))
        for position, (name, factor) in enumerate((("a", 1.0), ("b", ratio)), 1):
            noise = math.exp(chance.gauss(0, sd))
            figures = {"node CPU s/M docs": level * factor * noise, "bytes/doc": 150.0 * factor}
            found.append(Lap(1, block, position, name, False, 1000, 1000, 4.0, block * 9.0, prices=figures))
    return found


def test_the_cost_of_a_lap_is_that_of_its_parts() -> None:
    """Processor time and bytes by their prices; a lap that lacks one has no cost, and keeps its other figures."""
    one = Lap(1, 1, 1, "a", False, 1, 1, 1.0, 0.0, prices={"node CPU s/M docs": 36.0, "bytes/doc": 200.0})
    other = replace(one, prices={"bytes/doc": 200.0})
    first, second = priced([one, other], PRICES)
    assert first.prices[cost_metric(PRICES).name] == pytest.approx(0.001 + 0.02)
    assert second == other


def test_a_verdict_in_money_has_the_interval_of_its_pairs() -> None:
    """A tenth less of everything is found although the machine's own CPU figures drift by far more."""
    tournament, found = a_tournament(2), priced(laps(0.9), PRICES)
    metric = cost_metric(PRICES)
    measured = measure(found, tournament, metric, paired(found, tournament, metric))
    (verdict,) = measured.verdicts
    assert verdict.verdict == FASTER  # which is better: less
    assert verdict.low < 0.9 < verdict.high
    baseline, cheaper = contender_costs(found, tournament, measured, PRICES)
    assert (baseline.contender, baseline.saved, cheaper.laps) == ("a", None, 12)
    assert set(cheaper.million.parts) == {PROCESSORS, STORAGE}
    whole = baseline.million.total
    assert cheaper.saved == pytest.approx(whole * (1 - (verdict.ratio or 0)))
    assert cheaper.saved_low == pytest.approx(whole * (1 - verdict.high))
    assert cheaper.saved_low < whole * 0.1 < cheaper.saved_high
    assert cheaper.month is not None
    assert cheaper.month.total == pytest.approx(cheaper.million.total * 365.25 / 12)


def test_alike_contenders_save_nothing_that_is_proven() -> None:
    """The interval of what is saved holds 0, over many seeds in about nineteen of twenty."""
    tournament, metric, missed = a_tournament(2), cost_metric(PRICES), 0
    for seed in range(200):
        found = priced(laps(1.0, seed=seed), PRICES)
        measured = measure(found, tournament, metric, paired(found, tournament, metric))
        one = contender_costs(found, tournament, measured, PRICES)[1]
        missed += not one.saved_low <= 0 <= one.saved_high
    assert missed <= 20


def test_too_few_pairs_have_no_interval() -> None:
    """Two pairs: an amount, and ends that are none; it goes through JSON and back."""
    tournament, found, metric = a_tournament(2), priced(laps(0.9, blocks=2), PRICES), cost_metric(PRICES)
    measured = measure(found, tournament, metric, paired(found, tournament, metric))
    assert measured.verdicts[0].verdict == UNDECIDED
    costs = contender_costs(found, tournament, measured, PRICES)
    assert costs[1].saved_low == -math.inf
    told = replace(decided(), prices=PRICES, costs=costs)
    assert built(Result, json.loads(json.dumps(plain(told))), "result") == told


def test_prices_on_another_result_replace_its_own() -> None:
    """A result of elsewhere is compared in one currency: the cost that it came with goes."""
    once = with_costs(decided(), PRICES)
    again = with_costs(once, replace(PRICES, currency="USD", cpu_hour=0.2))
    names = [one.metric.name for one in again.others]
    assert names.count("cost USD/M docs") == 1
    assert "cost EUR/M docs" not in names
    assert [one.contender for one in again.costs] == [one.name for one in decided().tournament.contenders]
    assert again.costs[0].million.parts[PROCESSORS] == pytest.approx(2 * once.costs[0].million.parts[PROCESSORS])


def test_a_tournament_keeps_its_prices_and_a_report_may_have_others(
    fake_laps: Callable[..., None], definition: Callable[..., Path], tmp_path: Path
) -> None:
    """The journal has the values, not the file: it may be changed or gone. Without prices there is no money."""
    file = tmp_path / "prices.yml"
    file.write_text("currency: EUR\ncpu_hour: 0.1\n", encoding="utf-8")
    assert hold(definition()).prices is None
    held = hold(definition(), prices=str(file))
    file.unlink()
    assert held.prices == Prices("EUR", cpu_hour=0.1)
    assert load_result(held.id).prices == held.prices
    assert load_result(held.id, PRICES).prices == PRICES
    with pytest.raises(FileError, match="there is no such file"):
        hold(definition(), prices=str(file))
