"""Races and tournaments side by side, and warnings where they differ in more than what is compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.race.summary import RaceRecord, read_record
from paddock.reports.comparison import compare, render_comparison
from tests.reports.results import CIRCUMSTANCES, decided, study, undecided
from tests.reports.test_html import HOSTILE, Page


def race(identity: str, rate: float = 42_155.2, **differences: Any) -> RaceRecord:
    """A race as paddock.race and Rally record it; ``differences`` are keys of race.json."""
    task = {
        "name": "bulk",
        "operation": "bulk",
        "expectation": {},
        "rates": 20,
        "documents": 1_000_000,
        "mean_rate": rate,
        "settled_rate": None,
        "missing": {"settled_rate": "The task had no warm-up."},
        "service_times": {"p50": 142.0, "p90": 233.6, "p99": 359.6, "maximum": 743.2},
        "latencies": None,
        "node_cpu_per_million": 47.42,
        "error_rate": 0.0,
    }
    search = {"name": "errors-per-hour", "operation": "errors-per-hour", "service_times": {"p50": 3.2}}
    whole = {"bytes_per_document": 137.22, "merges": {}, "refreshes": {}, "flushes": {}, "collectors": {}}
    summary = {
        "race_id": identity,
        "track": "apache",
        "challenge": "ingest",
        "cars": "1gheap",
        "version": "8.8.2",
        "bulk_tasks": [task],
        "request_tasks": [{**search, "latencies": None, "throughput_unit": "ops/s"}],
        "race": whole,
        "warnings": [],
    }
    recorded = {
        "rally-version": "2.13.0",
        "track": "apache",
        "challenge": "ingest",
        "car": ["1gheap"],
        "pipeline": "from-distribution",
        "cluster": {"distribution-version": "8.8.2", "distribution-flavor": "default"},
        "user-tags": {"paddock": "0.1.0", "engine": "embedded"},
    }
    return read_record({"race-id": identity, "summary": summary}, {**recorded, **differences})


def test_races_that_differ_in_one_thing() -> None:
    """One difference is what is compared: it is shown, and the only warning is that single races are no comparison."""
    found = compare([race("a"), race("b", car=["2gheap"]), race("c", car=["4gheap"])])
    assert [(one.name, one.values) for one in found.differences] == [("cars", ("1gheap", "2gheap", "4gheap"))]
    assert len(found.warnings) == 1
    assert "three times in four" in found.warnings[0]
    assert found.rows[0].figures == {
        "docs/s": "42,155",
        "bulk p50 ms": "142",
        "bulk p99 ms": "360",
        "node CPU s/M docs": "47.4",
        "failed bulks %": "0",
        "bytes/doc": "137",
        "errors-per-hour p50 ms": "3.20",
    }


@pytest.mark.parametrize(
    ("difference", "name"),
    [
        ({"track": "app-logs"}, "track"),
        ({"challenge": "mixed"}, "challenge"),
        ({"rally-version": "2.12.0"}, "Rally"),
        ({"cluster": {"distribution-version": "8.9.0", "distribution-flavor": "default"}}, "Elasticsearch"),
        ({"track-params": {"bulk_size": 500}}, "track parameter bulk_size"),
        ({"car-params": {"heap": "1g"}}, "car parameter heap"),
        ({"user-tags": {"paddock": "0.1.0", "engine": "official"}}, "tag engine"),
    ],
)
def test_more_than_one_difference_is_warned_of(difference: dict[str, Any], name: str) -> None:
    """Whatever differs beside the cars is named in a warning; a parameter that one race lacks is a difference too."""
    found = compare([race("a"), race("b", car=["2gheap"], **difference)])
    assert name in {one.name for one in found.differences}
    assert found.warnings[0].startswith("They differ in 2 things (")
    assert name in found.warnings[0]


def test_groups_that_held_limits_are_no_difference() -> None:
    """Paddock names them after the race; what they held is a parameter, and in the tag of limits."""
    one, other = (
        race(name, **{"track-params": {"shipper_groups": f"/{name}", "generator_groups": f"/{name}"}}) for name in "ab"
    )
    assert compare([one, other]).differences == ()


def test_tournaments_on_two_machines() -> None:
    """The same tournament elsewhere: ratios stand side by side, and drift between absolute values is warned of."""
    here, there = decided(), replace(decided(), id="there", circumstances={**CIRCUMSTANCES, "CPU": "64 cores"})
    found = compare([here, there])
    assert [one.name for one in found.differences] == ["CPU"]
    assert found.verdicts[0].name == "flush 2gb / flush 512mb, docs/s"
    assert found.verdicts[0].values == ("faster 1.23 (1.16 to 1.31)",) * 2
    machine, drift = found.warnings
    assert machine.startswith("They did not run on the same machine in the same state (CPU: 2 x AMD EPYC 7763")
    assert drift.startswith("Absolute values of different tournaments hold the machine's drift between them")


def test_races_are_named_for_what_they_differ_in() -> None:
    """Of races on one track the first differences tell which is which; ids of chance are cut where that is enough."""
    ids = ("0f5696e0-1111-4222-8333-444455556666", "0f5696e1-1111-4222-8333-444455556666")
    one, other = race(ids[0]), race(ids[1], car=["2gheap"], **{"track-params": {"bulk_size": 500}})
    found = compare([one, other])
    assert [row.name for row in found.rows] == [
        "apache: cars 1gheap, bulk_size by default",
        "apache: cars 2gheap, bulk_size 500",
    ]
    assert [row.source for row in found.rows] == ["0f5696e0", "0f5696e1"] == list(found.sources)
    alike = compare([race(ids[0]), race(ids[0][:-1] + "7")])
    assert [row.name for row in alike.rows] == ["apache", "apache"]
    assert alike.rows[0].source == ids[0]


HERE = {"CPU": "AMD EPYC 7763", "cores": 2, "memory": "8 GiB", "kernel": "Linux 6.1", "user": "an ordinary user"}


def test_races_on_two_machines() -> None:
    """Whatever differs in the machine is one thing, named in a warning of its own; Rally made a number of the cores."""
    there = {**HERE, "CPU": "Xeon", "cores": 8}
    found = compare([race("a", **{"user-tags": HERE}), race("b", **{"user-tags": there})])
    assert [one.name for one in found.differences] == ["CPU", "cores"]
    assert found.warnings[0].startswith(
        "They did not run on the same machine in the same state (CPU: AMD EPYC 7763 or Xeon; cores: 2 or 8)"
    )
    assert "three times in four" in found.warnings[1]
    found = compare([race("a", **{"user-tags": HERE}), race("b", car=["2gheap"], **{"user-tags": there})])
    assert "They differ in 2 things (cars, the machine)" in found.warnings[1]


def test_a_machine_that_was_not_recorded_is_no_other_machine() -> None:
    """Races of plain Rally say nothing of the machine: a gentle sentence, and none if nobody recorded it."""
    found = compare([race("a", **{"user-tags": HERE}), race("b", **{"user-tags": {}})])
    assert found.differences == ()
    assert found.warnings[0] == "On which machine b ran was not recorded; it may have been another."
    assert len(compare([race("a"), race("b")]).warnings) == 1


def test_a_race_and_a_tournament_on_one_machine() -> None:
    """Both record the machine, Paddock and Java under the same names."""
    told = {name: str(text) for name, text in HERE.items()}
    tournament = replace(undecided(), circumstances={**told, "Paddock": "0.1.0", "Java": "21.0.8"})
    same = race("a", **{"user-tags": {**HERE, "paddock": "0.1.0", "java": "21.0.8"}})
    other = race("a", **{"user-tags": {**HERE, "kernel": "Linux 6.8", "paddock": "0.2.0", "java": "17.0.1"}})
    names = {"kernel", "Paddock", "Java"}
    assert not names & {one.name for one in compare([same, tournament]).differences}
    assert names <= {one.name for one in compare([other, tournament]).differences}


def test_contenders_of_one_name_that_are_not_the_same() -> None:
    """A contender with other settings under a known name is warned of, as are another baseline and another metric."""
    one, other = decided(), replace(decided(), id="other")
    contenders = tuple(replace(contender, level={"flush": "1b"}) for contender in other.tournament.contenders)
    tournament = replace(other.tournament, contenders=contenders, baseline="flush 2gb")
    metric = replace(other.main.metric, name="bytes/doc")
    other = replace(other, tournament=tournament, main=replace(other.main, metric=metric))
    text = " ".join(compare([one, other]).warnings)
    assert "The contender flush 16mb is not the same configuration everywhere" in text
    for made_of in ({"car_params": {"processors": 1}}, {"java": "17"}, {"data_path": "/disk"}, {"nodes": 2}):
        contenders = tuple(replace(contender, **made_of) for contender in decided().tournament.contenders)
        elsewhere = replace(decided(), id="other", tournament=replace(decided().tournament, contenders=contenders))
        assert "flush 16mb is not the same configuration" in " ".join(compare([decided(), elsewhere]).warnings)
    assert "The baseline is not the same everywhere (flush 512mb, flush 2gb)" in text
    assert "The metric of the verdict is not the same everywhere (docs/s, bytes/doc)" in text


def test_a_race_beside_a_tournament() -> None:
    """Versions that are told at different length are the same; what only one side records is told as a difference."""
    found = compare([race("a"), undecided()])
    names = {one.name for one in found.differences}
    assert "Elasticsearch" not in names
    assert "challenge" in names
    assert any("they are no pair" in text for text in found.warnings)


def test_too_few_and_twice() -> None:
    """One alone and one named twice are mistakes of the user; so is a race without a summary."""
    with pytest.raises(UsageError, match="at least two"):
        compare([race("a")])
    with pytest.raises(UsageError, match="a is named twice"):
        compare([race("a"), race("a")])
    with pytest.raises(UsageError, match="no summary"):
        read_record({}, {})
    with pytest.raises(UsageError, match=r"The summary of the race r is damaged: summary\.race_id is not there"):
        read_record({"race-id": "r", "summary": {}}, {})


def test_forms() -> None:
    """Text keeps to its width in its first columns, Markdown and HTML hold the same rows, hostile ids are only text."""
    found = compare([decided(), undecided(), study(), race(HOSTILE)])
    text = render_comparison(found, "text", 120)
    assert text.startswith("3 tournaments and 1 race side by side")
    assert text.index("! They differ in") < text.index("Figures")
    markdown = render_comparison(found, "markdown")
    page = Page(render_comparison(found, "html"))
    for row in found.rows:
        assert row.name in text
        assert row.name in page.text
        assert row.name in markdown
    assert not page.all("script")
    assert HOSTILE in page.text
