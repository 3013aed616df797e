"""Tournament files: what they may say, and what is refused with a sentence and a line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock import paths
from paddock.errors import FileError, UsageError
from paddock.race import drivers
from paddock.tournaments import TournamentOptions
from paddock.tournaments.durations import Experience, lap_documents
from paddock.tournaments.files import find_file, read_tournament, tournament_names
from paddock.tournaments.headroom import measured_headroom
from paddock.tournaments.load_shape import load_shape, ships, unasked_processes
from paddock.tournaments.plan import make_plan, render_plan
from tests.tournaments.conftest import a_corpus

Write = Callable[..., Path]


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", tournament_names())
def test_every_tournament_of_the_project_can_be_planned(
    name: str, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file fits its budget, its levels and orders are what the lap runner takes; --quick fits a coffee break."""
    tournament = read_tournament(find_file(name), TournamentOptions(quick=quick))
    plan = make_plan(tournament, seed=1)
    assert plan.fits == len(plan.schedule)
    assert plan.minutes < tournament.budget_minutes
    assert tournament.budget_minutes <= 10 or not quick
    assert tournament.warmup_blocks >= 3
    monkeypatch.setattr(sys, "path", [str(paths.TRACKS), *sys.path])
    from shared.lap_order import lap_orders
    from shared.levels import read_levels

    contenders = {contender.name: contender for contender in tournament.raced}
    for start in plan.schedule:
        levels = read_levels(tournament.challenge, [contenders[name].level_object for name in start.contenders])
        names = [level.name for level in levels]
        assert lap_orders(names, len(start.orders), [list(order) for order in start.orders], 1) == list(start.orders)


@pytest.mark.parametrize("quick", [False, True])
def test_clients_of_every_tournament_have_bulks_enough(quick: bool) -> None:
    """Ten for each at least, so that little time is spent waiting for the last ones; the plan says nothing of it."""
    for name in tournament_names():
        tournament = read_tournament(find_file(name), TournamentOptions(quick=quick))
        for contender in tournament.contenders:
            size, clients = load_shape(tournament, contender)
            documents = lap_documents(tournament, contender, Experience())
            assert documents >= 10 * size * clients, (name, contender.name)
        assert "bulks for each client" not in render_plan(make_plan(tournament, 1))


@pytest.mark.parametrize("name", ["disk", "logsdb"])
def test_a_quick_look_at_disk_decides(name: str) -> None:
    """Sizes hardly differ between laps: ten minutes are enough, if there are as many blocks as the test needs."""
    resolution = make_plan(read_tournament(find_file(name), TournamentOptions(quick=True)), seed=1).resolution
    assert resolution.units >= resolution.needed
    assert resolution.ratio < 1.02


def test_full_size_tournaments_can_decide() -> None:
    """Every tournament at full size has enough blocks or starts to find something."""
    for name in tournament_names():
        resolution = make_plan(read_tournament(find_file(name)), seed=1).resolution
        assert resolution.units >= resolution.needed, name
        assert resolution.ratio < 1.5, name


@pytest.mark.parametrize(
    ("name", "factor", "cells"),
    [("study-workers-by-batch", "clients", 12), ("study-workers-by-batch-rsyslog", "workers", 9)],
)
def test_the_workers_study_carries_its_figures_without_the_misprint(name: str, factor: str, cells: int) -> None:
    """128 cells, each with its published mean; the sigma that cannot be is left out and explained. So by a shipper."""
    tournament = read_tournament(find_file(name))
    misprint = f"{factor} 10, batch 16"
    assert len(tournament.contenders) == 128
    assert set(tournament.published.figures) == {contender.name for contender in tournament.contenders}
    assert tournament.published.figures[misprint] == 819.48
    assert misprint not in tournament.published.sds
    assert len(tournament.published.sds) == 127
    assert "misprint" in tournament.published.excluded_sds[misprint]
    assert all(ships(tournament, one) == ("rsyslog" in name) for one in tournament.contenders)
    largest = next(one for one in tournament.contenders if one.name == f"{factor} 16, batch 1250")
    assert load_shape(tournament, largest) == (1250, 16)
    quick = read_tournament(find_file(name), TournamentOptions(quick=True))
    assert len(quick.contenders) == cells
    assert len(quick.published.figures) == cells


def test_a_grid_has_a_contender_for_every_combination(definition: Write) -> None:
    """Coordinates, levels and names of the cells; a baseline by coordinates in any order."""
    file = definition(
        challenge="settings",
        contenders=None,
        baseline={"clients": 1, "shards": 2},
        grid=[
            {"name": "shards", "set": "index.number_of_shards", "values": [1, 2]},
            {"name": "clients", "set": "clients", "values": [1, 4]},
        ],
    )
    tournament = read_tournament(file)
    assert [contender.name for contender in tournament.contenders] == [
        "shards 1, clients 1",
        "shards 1, clients 4",
        "shards 2, clients 1",
        "shards 2, clients 4",
    ]
    assert tournament.contenders[1].level == {"settings": {"index.number_of_shards": 1}, "clients": 4}
    assert tournament.contenders[1].coordinates == {"shards": 1, "clients": 4}
    assert tournament.baseline == "shards 2, clients 1"
    assert not tournament.node_level


def test_a_grid_of_cars_may_be_held_apart(definition: Write) -> None:
    """A factor that sets cars adds them to the tournament's own; cells get starts of their own if that is asked for."""
    file = definition(
        challenge="settings",
        contenders=None,
        cars=["1gheap"],
        baseline={"buffer": "index-buffer-10", "clients": 1},
        grid=[
            {"name": "buffer", "set": "cars", "values": ["index-buffer-10", "index-buffer-30"]},
            {"name": "clients", "set": "clients", "values": [1, 2]},
        ],
    )
    tournament = read_tournament(file)
    assert not tournament.node_level
    assert read_tournament(file, TournamentOptions(apart=True)).node_level
    assert tournament.contenders[2].cars == ("1gheap", "index-buffer-30")
    assert tournament.contenders[2].level == {"clients": 1}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"track": "apachee"}, r"small.yml:3: There is no track 'apachee'. Did you mean 'apache'"),
        (
            {"challenge": "refresh"},
            r"small.yml:4: There is no block challenge 'refresh'. Did you mean 'refresh-interval'",
        ),
        ({"challenge": "ingest"}, r"no block challenge 'ingest'"),
        ({"baseline": "30"}, r"small.yml:5: the baseline is none of the contenders. .* Did you mean '30s'"),
        ({"metric": "doc/s"}, r"There is no metric 'doc/s'. Did you mean 'docs/s'"),
        ({"metric": "freshness p50 ms"}, r"needs the probe: add 'freshness: true'"),
        ({"blocks": 0}, r"small.yml:\d+: 'blocks' must be at least 1, but is 0"),
        ({"warmup_blocks": 2}, r"must be at least 3, but is 2"),
        ({"block": 3}, r"the key 'block' is not known here; perhaps 'blocks' is meant"),
        ({"lap_documents": 2_000_000}, r"a lap of 2,000,000 documents does not fit a corpus of 1,000,000"),
        ({"track_params": {"levels": ["1s"]}}, r"'levels' is set by the tournament itself"),
        ({"metric": "query p50 ms"}, r"small.yml:\d+: the metric 'query p50 ms' needs searches: add 'searches: 20'"),
        ({"searches": -1}, r"must be at least 0, but is -1"),
        ({"track_params": {"lap_searches": 3}}, r"'lap_searches' is set by the tournament itself"),
        ({"track_params": {"lap_force_merge": True}}, r"'lap_force_merge' is set by the tournament itself"),
        ({"cars": ["1gheap", "4gheap"]}, r"cars that cannot be: .*contradict"),
        ({"cars": ["1gheep"]}, r"There is no car '1gheep'. Did you mean '1gheap'"),
        ({"quick": {"contenders": ["1s", "31s"]}}, r"There is no contender '31s'. Did you mean .*'30s'"),
        ({"quick": {"grid": {"a": [1]}}}, r"'quick' has a grid, but the file has none"),
        ({"published": {"source": "x", "unit": "docs/s", "figures": {"2s": 1}}}, r"published names '2s'"),
    ],
)
def test_mistakes_are_refused_in_a_sentence(definition: Write, changes: dict[str, Any], sentence: str) -> None:
    """Each sentence says what is wrong and where; nearest names follow a typo."""
    quick = TournamentOptions(quick="quick" in changes)
    with pytest.raises(FileError, match=sentence):
        read_tournament(definition(**changes), quick)


def test_what_quick_leaves_out_of_a_grid_is_said() -> None:
    """The description names the factors that have fewer values, as it names contenders where they are listed."""
    assert read_tournament(find_file("disk")).description == "Codec x order x index mode"
    quick = read_tournament(find_file("disk"), TournamentOptions(quick=True)).description
    assert quick == "Codec x order x index mode; here mode standard only"


def test_only_orders_come_from_the_corpus(definition: Write) -> None:
    """A factor of another kind cannot ask for them."""
    factor = {"name": "codec", "set": "codec", "values": ["default"], "from_corpus": 2}
    with pytest.raises(FileError, match="'sort' was expected"):
        read_tournament(definition(contenders=None, grid=[factor], baseline={"codec": "default"}, challenge="settings"))


@pytest.mark.parametrize(
    ("contender", "sentence"),
    [
        ({"name": "1s", "level": "1s"}, r"the contender '1s' is listed twice"),
        ({"name": "slow", "level": "30s"}, r"call the contender '30s', or write the level as an object"),
        (
            {"name": "buffer", "level": {"settings": {"indices.memory.index_buffer_size": "30%"}}},
            r"small.yml:\d+: 'indices.memory.index_buffer_size' is a setting of the node",
        ),
        (
            {"name": "x", "level": {"settings": {"refresh_interval": "soon"}}},
            r"of 'x' must be a time",
        ),
        ({"name": "x", "level": {"settings": {"index.number_of_shards": "two"}}}, r"'x' must be a whole number"),
        ({"name": "x", "level": {"settings": {"translog.flush_threshold_size": "1.2.3mb"}}}, r"must be a size"),
        (
            {"name": "x", "level": {"bulksize": 3}},
            r"small.yml:\d+: .*'bulksize' is not known here; perhaps 'bulk_size'",
        ),
    ],
)
def test_contradictory_contenders_are_refused(definition: Write, contender: dict[str, Any], sentence: str) -> None:
    """A node's setting at an index, names that clash, levels that the lap runner would call otherwise."""
    with pytest.raises(FileError, match=sentence):
        read_tournament(definition(contenders=[{"name": "1s", "level": "1s"}, contender]))


@pytest.mark.parametrize(
    ("challenge", "level", "refused"),
    [
        ("mapping-cost", "keywords", True),
        ("mapping-cost", "track", False),
        ("settings", {"mapping": "full", "bulk_size": 500}, True),
        ("settings", {"bulk_size": 500}, False),
    ],
)
def test_searches_need_the_mapping_that_they_are_made_for(
    definition: Write, challenge: str, level: Any, refused: bool
) -> None:
    """A query for a field that is gone finds nothing and is fast: that would win."""
    contenders = [
        {"name": "a", "level": {}},
        {"name": str(level) if challenge == "mapping-cost" else "b", "level": level},
    ]
    changes = {"challenge": challenge, "baseline": "a", "contenders": contenders}
    read_tournament(definition(**changes))
    if not refused:
        assert read_tournament(definition(**changes, searches=5)).searches == 5
        return
    with pytest.raises(FileError, match=r"small.yml:\d+: .*another mapping.*leave 'searches' out"):
        read_tournament(definition(**changes, searches=5))


def test_plain_levels_make_no_sense_in_the_general_challenge(definition: Write) -> None:
    """The challenge "settings" cannot know what a plain value means."""
    with pytest.raises(FileError, match="must be an object in the challenge 'settings'"):
        read_tournament(definition(challenge="settings"))


def test_the_command_line_changes_a_tournament(definition: Write) -> None:
    """Blocks, starts, budget, cars and parameters of the command line win over the file."""
    changes = TournamentOptions(blocks=3, starts=2, budget=1.5, car=("2gheap",), params={"number_of_shards": 2})
    tournament = read_tournament(definition(track_params={"number_of_shards": 1}), changes)
    assert (tournament.blocks, tournament.starts, tournament.budget_minutes) == (3, 2, 1.5)
    assert tournament.cars == ("2gheap",)
    assert tournament.track_params == {"number_of_shards": 2}


def test_cars_of_the_command_line_do_not_override_what_is_compared(definition: Write) -> None:
    """Where nodes are compared, --car is refused."""
    contenders = [{"name": "a", "cars": ["1gheap"]}, {"name": "b", "cars": ["2gheap"]}]
    file = definition(challenge="settings", contenders=contenders, baseline="a")
    with pytest.raises(UsageError, match="nodes are what 'small' compares"):
        read_tournament(file, TournamentOptions(car=("4gheap",)))


@pytest.mark.parametrize(("name", "most"), [("blocks", 1000), ("starts", 100)])
def test_more_than_can_be_planned_is_refused(definition: Write, name: str, most: int) -> None:
    """A schedule of 999,999,999 blocks would be made for minutes without a word; in the file as on the command line."""
    with pytest.raises(UsageError, match=rf"--{name} must be a whole number from 1 to {most:,}, but is {most + 1:,}"):
        read_tournament(definition(), TournamentOptions(**{name: most + 1}))
    assert getattr(read_tournament(definition(), TournamentOptions(**{name: most})), name) == most
    with pytest.raises(FileError, match=rf"'{name}' must be at most {most}, but is {most + 1}"):
        read_tournament(definition(**{name: most + 1}))


def test_a_file_without_a_quick_form_says_so(definition: Write) -> None:
    """--quick needs something to be quick with."""
    with pytest.raises(UsageError, match="has no quick form"):
        read_tournament(definition(), TournamentOptions(quick=True))


def test_an_unknown_tournament_gets_the_nearest_name() -> None:
    """A typo on the command line."""
    with pytest.raises(UsageError, match="Did you mean 'refresh-interval'"):
        find_file("refresh-intervall")


@pytest.mark.parametrize("params", [{"car_params": {1: 2}}, {"track_params": {1: 2, "bulk_size": 5}}])
def test_names_of_parameters_are_texts(definition: Write, params: dict[str, Any]) -> None:
    """YAML reads a bare 1 as a number, which nothing is called."""
    with pytest.raises(FileError, match="must be a text, but is 1"):
        read_tournament(definition(**params))


@pytest.mark.parametrize(
    ("tournament", "name", "value"),
    [
        ("heap", "heap_size", "2g"),
        ("gc", "garbage_collector", "z"),
        ("index-buffer", "index_buffer_size", "40%"),
        ("hardware", "limits", "off"),
    ],
)
def test_what_contenders_differ_in_is_given_to_none_of_them(tournament: str, name: str, value: str) -> None:
    """A car variable for all of them wins over their cars: they would be alike, and be called equivalent."""
    with pytest.raises(UsageError, match=f"--car-params: the car variable {name} is what '.*' and '.*' differ in"):
        read_tournament(find_file(tournament), TournamentOptions(car_params={name: value}))
    changed = read_tournament(find_file(tournament), TournamentOptions(car_params={"allow_mmap": "false"}))
    assert changed.car_params == {"allow_mmap": "false"}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("lap_docs: 5", r":\d+: the key 'lap_docs' is not known here; perhaps 'lap_documents' is meant\.$"),
        ("zzzz: 5", r"the key 'zzzz' is not known here; there are baseline, "),
        ("blocks: many", r"'blocks' must be a whole number, but is 'many'"),
        (
            "contenders: [{name: a, version: 9.2}, {name: b}]",
            r"'version' must be a text, but is 9\.2: put it into quotes",
        ),
        (
            "contenders: [{name: a, car: [1gheap]}, {name: b}]",
            r"'car' is not known here; perhaps 'cars' is meant \(at 'con",
        ),
    ],
)
def test_a_mistake_says_what_is_meant(tmp_path: Path, wrong: str, sentence: str) -> None:
    """Keys that nobody knows come before those that are missing, because the one is often the other, misspelt."""
    file = tmp_path / "one.yml"
    key = wrong.partition(":")[0]
    whole = {
        "description": "A test",
        "question": "Which?",
        "track": "apache",
        "challenge": "settings",
        "baseline": "a",
        "contenders": "[{name: a}, {name: b}]",
        "lap_documents": 1000,
        "warmup_blocks": 3,
        "blocks": 6,
        "starts": 1,
        "budget_minutes": 5,
    }
    whole.pop("lap_documents" if key == "lap_docs" else key, None)
    file.write_text("".join(f"{name}: {value}\n" for name, value in whole.items()) + wrong + "\n")
    with pytest.raises(FileError, match=sentence):
        read_tournament(file)


def test_the_readme_has_the_minutes_of_the_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a machine with two cores on which nothing has been held yet."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(drivers, "cores", lambda: 2)
    lines = (paths.PROJECT / "tournaments" / "README.md").read_text().splitlines()
    rows = [line.split("|") for line in lines if " min |" in line]
    told = {name: int(row[4].split()[0]) for row in rows for name in re.findall(r"`([a-z-]+)`", row[1])}
    assert set(told) == set(tournament_names())
    planned = {name: make_plan(read_tournament(find_file(name)), 1, Experience()).minutes for name in told}
    assert told == {name: pytest.approx(minutes, abs=0.6) for name, minutes in planned.items()}


def test_settings_of_a_shipper_make_a_grid(definition: Callable[..., Path]) -> None:
    """Workers by batch, as a study has it: their load is the shipper's, and nobody asks what Rally's client pushes."""
    factors = [
        {"name": "workers", "set": "shipper_workers", "values": [1, 16]},
        {"name": "batch", "set": "shipper_batch", "values": [100, 1000]},
    ]
    told = {"challenge": "settings", "baseline": {"workers": 1, "batch": 100}, "contenders": None, "grid": factors}
    grid = read_tournament(definition(**told, track_params={"shipper": "rsyslog"}))
    assert [one.level for one in grid.contenders][:2] == [
        {"shipper_workers": 1, "shipper_batch": 100},
        {"shipper_workers": 1, "shipper_batch": 1000},
    ]
    assert [load_shape(grid, one) for one in grid.contenders] == [(100, 1), (1000, 1), (100, 16), (1000, 16)]
    assert all(ships(grid, one) for one in grid.contenders)
    assert unasked_processes(grid) == 1
    assert measured_headroom(grid, {one.name: a_corpus() for one in grid.contenders}) == {}
    own = read_tournament(definition(**told, track_params={"shipper": "rally"}))
    assert not any(ships(own, one) for one in own.contenders)
