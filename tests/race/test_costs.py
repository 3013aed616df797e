"""What the documents of a race cost, and where they are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paddock.costs import PROCESSORS, STORAGE, Prices
from paddock.plain_values import Missing
from paddock.race.costs import cost_figures, race_cost
from paddock.race.run import render_summary
from paddock.race.summary import RaceRecord, read_record
from tests.reports import races

PRICES = Prices("EUR", cpu_hour=0.1, gigabyte_month=0.1, retention_days=365.25 / 12, documents_per_day=1e6)


def a_race(record: RaceRecord | None = None, **whole: float) -> RaceRecord:
    """A race whose indices have these sizes, with prices."""
    found = record or races.plain()
    summary = found.summary
    changed = {"index_bytes": 400.0 * 40_000, "documents_counted": 40_000.0, **whole}
    return replace(found, summary=replace(summary, race=replace(summary.race, **changed)), prices=PRICES)


def test_processors_are_those_of_all_loads_and_bytes_those_of_all_copies() -> None:
    """Two loads are one bill: their seconds and documents are added, not averaged."""
    record = a_race(races.two_loads())
    tasks = tuple(
        replace(task, node_cpu_seconds=seconds, documents=documents)
        for task, seconds, documents in zip(record.summary.bulk_tasks, (3.0, 1.0), (10_000.0, 70_000.0), strict=True)
    )
    cost = race_cost(replace(record.summary, bulk_tasks=tasks), PRICES)
    assert cost is not None
    assert cost.parts == pytest.approx({PROCESSORS: 4 / 0.08 / 3600 * 0.1, STORAGE: 0.4 * 0.1})


def test_without_prices_nothing_is_told() -> None:
    """No block in the terminal, no figure."""
    record = replace(a_race(), prices=None)
    assert cost_figures(record) == ()
    assert "Cost" not in render_summary(record.summary)


def test_the_terminal_tells_parts_whole_and_month() -> None:
    """In the currency of the file."""
    record = a_race()
    text = render_summary(record.summary, costs=cost_figures(record))
    assert "Cost\n" in text
    assert [one.name for one in cost_figures(record)] == [
        "per million documents, processors",
        "per million documents, storage",
        "per million documents",
        "per month",
    ]
    assert all(one.text.endswith(" EUR") for one in cost_figures(record))


def test_searches_beside_the_documents_are_in_the_cost_and_said() -> None:
    """Those of a replay's query log; searches after the load are not in it."""
    record = a_race(races.growing())
    assert record.summary.request_tasks
    assert not any("searches" in one.note for one in cost_figures(record))
    beside = tuple(replace(task, name="replay-queries") for task in record.summary.request_tasks)
    figures = cost_figures(replace(record, summary=replace(record.summary, request_tasks=beside)))
    assert {one.name for one in figures if one.note == "the searches of the query log included"} == {
        "per million documents, processors",
        "per million documents",
    }


def test_what_was_not_measured_is_said() -> None:
    """Nodes whose processor time nobody saw: a hyphen and the reason, no amount for a part of the bill."""
    record = a_race()
    tasks = tuple(replace(task, node_cpu_seconds=Missing("unseen")) for task in record.summary.bulk_tasks)
    (only,) = cost_figures(replace(record, summary=replace(record.summary, bulk_tasks=tasks)))
    assert isinstance(only.figure, Missing)
    assert only.text == "-"


def test_a_race_keeps_its_prices() -> None:
    """They are in its summary.json; one from before has none."""
    record = a_race()
    assert read_record(record.as_json(), record.race).prices == PRICES
    older = {name: value for name, value in record.as_json().items() if name != "prices"}
    assert read_record(older, record.race).prices is None
