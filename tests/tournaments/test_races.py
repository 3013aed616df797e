"""From the command line to the races of a tournament, as Rally's own loader and the lap runner take them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from paddock import paths
from paddock.engine import Engine
from paddock.engine.versions import Java
from paddock.errors import FileError, UsageError
from paddock.race import RaceOptions
from paddock.race.clusters import ClusterOptions
from paddock.race.options import PreparedRace
from paddock.rally.clusters import Cluster
from paddock.rally.request import RaceRequest
from paddock.tournaments import TournamentOptions
from paddock.tournaments.checks import check_orders, check_target
from paddock.tournaments.clusters import clusters_of
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.plan import make_plan
from paddock.tournaments.races import Prepare, Setting, check_races, race_circumstances, race_options
from paddock.tournaments.schedule import make_schedule
from paddock.tournaments.store import Stored
from paddock.tracks import check_parameters, load_track
from tests.tournaments.conftest import prepare_without_elasticsearch
from tests.tracks.rendered import build

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("sort", "problem"),
    [
        ("bogus", "'bogus', because it has no such field: name one of @timestamp"),
        (["user", "clientip desc"], "'clientip', because no index is sorted by a field of its type: name one of"),
        ("user_agent", "'user_agent', because no index is sorted by a field of its type"),
    ],
)
def test_an_order_that_cannot_be_is_told_by_the_plan(definition: Write, sort: str | list[str], problem: str) -> None:
    """Before a node is started for it, where every lap would be void."""
    contenders = [{"name": "a", "level": {}}, {"name": "b", "level": {"sort": sort}}]
    tournament = read_tournament(definition(challenge="codec-and-sort", contenders=contenders, baseline="a"))
    with pytest.raises(UsageError, match=f"The index of the track 'apache' cannot be sorted by {problem}"):
        check_orders(tournament)


def test_orders_that_can_be_pass(definition: Write) -> None:
    """A keyword, a text's twin, the time; what a track with an open mapping makes a keyword; no order."""
    orders = ["user,@timestamp desc", ["user_agent.keyword", "@timestamp desc"], "unsorted"]
    contenders = [{"name": str(order), "level": {"sort": order}} for order in orders]
    contenders.append({"name": "other mapping", "level": {"sort": "user_agent", "mapping": "keywords"}})
    file = definition(challenge="codec-and-sort", contenders=contenders, baseline="unsorted")
    check_orders(read_tournament(file))
    check_orders(
        read_tournament(
            definition(
                track="logs",
                challenge="codec-and-sort",
                baseline="x",
                contenders=[{"name": "x", "level": {"sort": "any.text"}}, {"name": "y", "level": {}}],
            )
        )
    )


@pytest.mark.parametrize("name", ["refresh-interval", "grid-bulk-size-clients", "codec-search", "logsdb", "disk"])
def test_the_lap_runner_plans_exactly_what_the_tournament_planned(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through Rally's loader to the lap plan: same laps, same order, same warm-up."""
    tournament = read_tournament(find_file(name), TournamentOptions(quick=True))
    start = make_schedule(tournament, seed=3)[0]
    stored = Stored("id")
    stored.lap_journal("any").parent.mkdir(parents=True)
    options = race_options(tournament, [start], TournamentOptions(), stored)
    params = options.params
    track = load_track(tournament.track)
    check_parameters(track, params)
    built = build(track, params, tournament.challenge)
    monkeypatch.setattr(sys, "path", [str(paths.TRACKS), *sys.path])
    from shared.lap_plan import LapPlan

    challenge = next(one for one in built.challenges if one.name == tournament.challenge)
    operation = challenge.schedule[0].operation if hasattr(challenge.schedule[0], "operation") else None
    assert operation is not None
    plan = LapPlan(built, operation.params)
    laps = []
    while True:
        try:
            laps.append(plan.params()["lap"])
        except StopIteration:
            break
    planned = [
        (block, position, name, block <= start.warmup_blocks)
        for block, order in enumerate(start.orders, start=1)
        for position, name in enumerate(order, start=1)
    ]
    assert [(lap.block, lap.position, lap.level, lap.warm_up) for lap in laps] == planned
    assert {lap.start for lap in laps} == {None}  # a race of one start is taken for whichever it is
    assert {lap.count for lap in laps} == {tournament.lap_documents}
    assert {lap.journal for lap in laps} == {stored.folder / "laps" / "id-s001.jsonl"}
    blocks = [lap for lap in laps if lap.position == 1 and not lap.warm_up]
    assert [lap.phase for lap in blocks] == list(start.phases or [None] * start.blocks)
    assert {lap.freshness_probe for lap in laps} == {tournament.freshness}
    assert {(lap.searches, bool(lap.queries)) for lap in laps} == {(tournament.searches, tournament.searches > 0)}
    assert {(lap.force_merge, lap.read_back) for lap in laps} == {(tournament.force_merge, tournament.read_back)}


@pytest.mark.parametrize(("name", "value"), [("blocks", 3), ("lap_starts", [])])
def test_parameters_of_the_tournament_itself_are_refused(name: str, value: object) -> None:
    """--params must not change what the plan has decided."""
    with pytest.raises(UsageError, match=f"'{name}' is set by the tournament itself"):
        read_tournament(find_file("aa"), TournamentOptions(params={name: value}))


def test_replicas_need_a_second_node() -> None:
    """Two nodes are started for them; a cluster that is there has to have two."""
    tournament = read_tournament(find_file("replicas"))
    check_target(tournament, TournamentOptions())
    check_target(tournament, TournamentOptions(target_hosts="a:9200,b:9200"))
    with pytest.raises(UsageError, match="needs a cluster of at least 2 nodes, because a single node holds no replica"):
        check_target(tournament, TournamentOptions(target_hosts="a:9200"))


def test_nodes_cannot_be_compared_on_a_cluster_that_is_there() -> None:
    """Heaps are compared by starting nodes."""
    with pytest.raises(UsageError, match="names a cluster that is there"):
        check_target(read_tournament(find_file("heap")), TournamentOptions(target_hosts="a:9200"))


@pytest.mark.parametrize("name", ["logsdb", "disk"])
def test_index_modes_need_an_elasticsearch_that_knows_them(name: str) -> None:
    """Before 8.17 each of their laps would be void; an archive or a cluster says itself what it is."""
    tournament = read_tournament(find_file(name), TournamentOptions(starts=1))
    with pytest.raises(UsageError, match=r"mode that Elasticsearch 8\.15\.5 does not know: .* from 8\.17\.0 on"):
        check_target(tournament, TournamentOptions(version="8.15.5"))
    for options in ({}, {"version": "8.17.10"}, {"engine": "/an/archive.tar.gz"}, {"target_hosts": "a:9200"}):
        check_target(tournament, TournamentOptions(**options))
    check_target(read_tournament(find_file("codec-search")), TournamentOptions(version="8.8.2"))
    hosts = read_tournament(find_file(name), TournamentOptions(corpus="syslog"))
    with pytest.raises(UsageError, match=r"8\.17\.10 has not with a field 'host' \(syslog\): .* from 8\.18"):
        check_target(hosts, TournamentOptions(version="8.17.10"))  # it maps host.name itself
    check_target(hosts, TournamentOptions(version="8.19.4"))


def test_versions_are_compared_on_one_java(definition: Write) -> None:
    """A Java that fits the older one only would be taken for it, and its part in the verdict could not be told."""
    versions = [{"name": "old", "version": "8.8.2"}, {"name": "new", "version": "9.2.4"}]
    plan = make_plan(read_tournament(definition(contenders=versions, baseline="old", challenge="settings")), 1)

    def prepared(javas: dict[str, str | None]) -> Prepare:
        def prepare(options: RaceOptions, fetch: bool, asked: Sequence[ClusterOptions]) -> PreparedRace:
            race = prepare_without_elasticsearch(options, fetch)
            clusters = [Cluster(one.name, engine(one.version or "", javas[one.version or ""])) for one in asked]
            return replace(race, request=replace(race.request, clusters=tuple(clusters)))

        return prepare

    def engine(version: str, java: str | None) -> Engine:
        return Engine("embedded", version, None, Java(Path("/java"), java, "JAVA_HOME") if java else None)

    def check(javas: dict[str, str | None]) -> Mapping[str, str]:
        return check_races(Setting(plan, Stored("id"), TournamentOptions(), prepared(javas)), fetch=False).software

    with pytest.raises(UsageError, match=r"different Javas \(.*old on 17\.0\.15.*--java embedded"):
        check({"8.8.2": "17.0.15", "9.2.4": "21.0.8"})
    assert check({"8.8.2": "21.0.8", "9.2.4": "21.0.8"})["Java"] == "21.0.8, 21.0.8"
    assert check({"8.8.2": None, "9.2.4": None}).keys() == {"Elasticsearch"}


def test_a_race_has_the_cars_of_its_contender(definition: Write) -> None:
    """Track parameters of its own are those of a race of its own, and so are its cars then."""
    contenders = [
        {"name": "a", "cars": ["1gheap"]},
        {"name": "b", "cars": ["2gheap", "gc-g1"], "track_params": {"number_of_shards": 2}},
    ]
    tournament = read_tournament(definition(challenge="settings", contenders=contenders, baseline="a"))
    start = next(one for one in make_schedule(tournament, 1) if one.contenders == ("b",))
    options = race_options(tournament, [start], TournamentOptions(), Stored("id"), attempt=2)
    assert options.car == ("2gheap", "gc-g1")
    assert options.params["number_of_shards"] == 2
    assert options.race_id == f"id-s{start.number:03d}-2"
    assert options.user_tags == {"tournament": "id", "start": start.number}


def test_a_contender_may_be_a_version(definition: Write) -> None:
    """Its races run on it; --version, which would make all of them the same, is refused, and so is what cannot be."""
    versions = [{"name": "old", "version": "8.8.2"}, {"name": "new", "version": "9.2.4"}]
    path = definition(contenders=versions, baseline="old", challenge="settings")
    tournament = read_tournament(path)
    clusters = clusters_of(tournament)
    assert {name: one.version for name, one in clusters.items()} == {"old": "8.8.2", "new": "9.2.4"}
    apart = read_tournament(path, TournamentOptions(apart=True))
    raced = {
        start.contenders[0]: race_options(apart, [start], TournamentOptions(), Stored("id")).version
        for start in make_schedule(apart, seed=1)
    }
    assert raced == {"old": "8.8.2", "new": "9.2.4"}
    with pytest.raises(UsageError, match="'old' names its own, and versions are what 'small' compares"):
        read_tournament(path, TournamentOptions(version="9.2.4"))
    with pytest.raises(FileError, match=r"'old' has a version that cannot be: Elasticsearch 6\.8\.0 cannot be raced"):
        read_tournament(definition(contenders=[{"name": "old", "version": "6.8.0"}, versions[1]], baseline="old"))


def test_each_cluster_that_was_there_is_told_apart() -> None:
    """What they have in common once, the rest by the contenders that run on them; a single one by itself."""
    request = RaceRequest("r", paths.TRACKS / "apache", "settings", ("external",), None)
    clusters = (Cluster("default", None, hosts=("x:1",)), Cluster("b", None, hosts=("y:1", "z:1")))
    several = PreparedRace(replace(request, clusters=clusters), load_track("apache"), None, 0, ())
    told = {
        "default": {"Elasticsearch": "9.2.4 (external)", "node heap": "1.0 GiB", "node disk": "9 GiB"},
        "b": {"Elasticsearch": "9.2.4 (external)", "node heap": "2.0 GiB"},
    }
    assert race_circumstances(several, {}, told, {"default": ("a", "c"), "b": ("b",)}) == {
        "target hosts": "a, c: x:1; b: y:1,z:1",
        "Elasticsearch": "9.2.4 (external)",
        "node heap": "a, c: 1.0 GiB; b: 2.0 GiB",
        "node disk": "a, c: 9 GiB; b: not told",
    }
    single = PreparedRace(replace(request, target_hosts="x:1"), load_track("apache"), None, 0, ())
    assert race_circumstances(single, {}, {"default": told["b"]}, {}) == {
        **told["b"],
        "cars": "external",
        "target hosts": "x:1",
    }
    unasked = race_circumstances(single, {"cluster": {"distribution-version": "8.8.2"}}, {}, {})
    assert unasked["Elasticsearch"] == "8.8.2"


def test_the_shippers_that_ran_are_named_with_their_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of levels and of the track, once each; a result of another version is another one."""
    monkeypatch.setattr(
        "paddock.tournaments.races.programs",
        lambda: {name: SimpleNamespace(version=f"of {name}") for name in ("rsyslog", "syslog-ng")},
    )
    levels = [
        {"name": "a", "shipper": "syslog-ng"},
        {"name": "b", "shipper_batch": 5},
        {"name": "c", "shipper": "rally"},
    ]
    params = {"levels": levels, "shipper": "rsyslog"}
    request = RaceRequest("r", paths.TRACKS / "apache", "settings", ("external",), None, track_params=params)
    race = PreparedRace(replace(request, target_hosts="x:1"), load_track("apache"), None, 0, ())
    assert race_circumstances(race, {}, {}, {})["shippers"] == "syslog-ng of syslog-ng, rsyslog of rsyslog"
