"""What laps used, by contender: seconds of work per second of load, and what was lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.reports.resources import laps_used
from paddock.tournaments.model import Lap
from paddock.tournaments.resources import lap_resources


def lap(contender: str, cpu: float, lost: int | None = 0, void: str | None = None, warmup: bool = False) -> Lap:
    """100,000 documents in 5 s; ``cpu``: processor seconds of the nodes."""
    prices = {"node CPU s/M docs": cpu * 10, "GC s/M docs": 2.0, "written bytes/doc": 300.0, "node memory MiB": 1500.0}
    counted = None if lost is None else 100_000 - lost
    return Lap(1, 1, 1, contender, warmup, 100_000, counted, 5.0, 0.0, void, prices=prices, driver_load=0.3)


def test_medians_of_the_laps_that_count() -> None:
    """Warm-up and void laps tell nothing of what was used, but void ones what was lost."""
    laps = [lap("a", 8), lap("a", 9), lap("a", 10), lap("b", 5), lap("a", 99, warmup=True)]
    laps += [lap("a", 99, 7, "7 documents are missing"), lap("a", 99, None, "it was cut off")]
    one, other = lap_resources(laps)
    assert (one.contender, other.contender) == ("a", "b")
    assert one.node_percent == pytest.approx(180)
    assert other.node_percent == pytest.approx(100)
    assert one.busiest_percent == pytest.approx(30)
    assert one.collection_share == pytest.approx(0.04)
    assert one.written == pytest.approx(6e6)
    assert one.memory_bytes == 1500 * 2**20
    assert one.driver_percent is None
    assert (one.lost, other.lost) == (7, 0)


def test_processors_are_split_between_node_shipper_and_what_feeds_it() -> None:
    """As a study tells it: of 20,000 docs/s a shipper that takes 60 s for a million uses 1.2 cores."""
    prices = {"node CPU s/M docs": 120.0, "shipper CPU s/M docs": 60.0, "driver CPU s/M docs": 25.0}
    shipped = Lap(1, 1, 1, "shipped", False, 100_000, 100_000, 5.0, 0.0, prices=prices, driver_load=0.4)
    (one,) = lap_resources([shipped])
    assert (one.node_percent, one.shipper_percent, one.driver_percent) == pytest.approx((240, 120, 50))
    (table,) = laps_used([shipped])
    assert table.rows[0][: len(table.headers)][1:4] == ("240", "120", "50")
    assert table.headers[1:4] == ("nodes CPU %", "shipper CPU %", "load driver CPU %")
    (table,) = laps_used([lap("a", 8)])
    assert "shipper CPU %" not in table.headers
    assert len(table.headers) == len(table.rows[0])


def test_no_loss_is_hidden() -> None:
    """Not by duplicates of another lap, not where everything is lost, not of a contender of which no lap counts."""
    laps = [lap("all void", 1, 500, "lost"), lap("all void", 1, 1000, "lost"), lap("cut off", 1, None, "no node")]
    laps += [lap("a", 1), lap("a", 1, 5000, "lost"), lap("a", 1, -5000, "twice"), lap("a", 1, 100_000, "lost")]
    found = {one.contender: (one.lost, one.duplicates) for one in lap_resources(laps)}
    assert list(found.items()) == [("a", (105_000, 5000)), ("all void", (1500, 0)), ("cut off", (None, None))]
    (table,) = laps_used(laps)
    assert [(row[0], *row[-2:]) for row in table.rows] == [
        ("a", "105,000", "5,000"),
        ("all void", "1,500", "0"),
        ("cut off", "-", "-"),
    ]
    (without,) = laps_used(laps[:1] + laps[3:5])
    assert without.headers[-1] == "log loss"


@given(st.lists(st.floats(0, 50), min_size=1, max_size=9), st.integers(1, 1000))
def test_it_does_not_depend_on_the_length_of_a_lap(cores: list[float], times: int) -> None:
    """Twice the documents in twice the time with the same cores: the same share of them."""
    figures = []
    for size in (1, times):
        laps = [
            Lap(1, 1, 1, "a", False, 1000 * size, 1000 * size, 0.1 * size, 0.0, prices={"node CPU s/M docs": 100 * one})
            for one in cores
        ]
        figures.append(lap_resources(laps)[0].node_percent)
    assert figures[0] == pytest.approx(figures[1])
    assert min(cores) * 100 - 1e-6 <= (figures[0] or 0) <= max(cores) * 100 + 1e-6
