"""Contenders side by side: which clusters they get, and one race for all starts, whatever breaks in it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.errors import FileError, RaceError, UsageError
from paddock.race.clusters import ClusterOptions
from paddock.rally.nodes import Nodes
from paddock.reports.sentences import course, setup
from paddock.reports.verdicts import verdict_section
from paddock.reports.write import build
from paddock.tournaments import TournamentOptions, run
from paddock.tournaments.checks import check_target
from paddock.tournaments.clusters import clusters_of, distinct, runs_side_by_side
from paddock.tournaments.files import read_tournament
from paddock.tournaments.laps import DONE, FAILED
from paddock.tournaments.model import SLOWER
from paddock.tournaments.plan import make_plan, render_plan
from paddock.tournaments.store import Journal, find_tournament
from tests.tournaments.conftest import counted, hold

Behave = Callable[..., None]
Write = Callable[..., Path]
HEAPS = [{"name": "small", "cars": ["512mheap"]}, {"name": "large", "cars": ["2gheap"]}]
BY_HEAP = {"challenge": "settings", "contenders": HEAPS, "baseline": "small"}


def test_contenders_alike_at_the_node_share_a_cluster(definition: Write) -> None:
    """Index settings need none of their own; cars, versions, disks and numbers of nodes do, and so do twins."""
    contenders = [
        {"name": "A", "level": {"settings": {"refresh_interval": "30s"}}},
        {"name": "B"},
        {"name": "C", "cars": ["1gheap"]},
        {"name": "Twin", "own_cluster": True},
        {"name": "8.8.2", "version": "8.8.2"},
        {"name": "2 nodes!", "nodes": 2, "car_params": {"processors": 1}},
        {"name": "2 nodes?", "data_path": "/disk"},
    ]
    tournament = read_tournament(definition(challenge="settings", contenders=contenders, baseline="B"))
    clusters = clusters_of(tournament, TournamentOptions(java="21"))
    names = {name: one.name for name, one in clusters.items()}
    assert names == {
        **dict.fromkeys(("A", "B", "C"), "default"),
        "Twin": "twin",
        "8.8.2": "8.8.2",
        "2 nodes!": "2-nodes",
        "2 nodes?": "2-nodes-2",
    }
    assert [one.name for one in distinct(clusters)] == ["default", "twin", "8.8.2", "2-nodes", "2-nodes-2"]
    assert clusters["2 nodes!"] == ClusterOptions("2-nodes", ("1gheap",), {"processors": 1}, nodes=2, java="21")
    assert clusters["2 nodes?"].data_path == "/disk"
    assert runs_side_by_side(tournament)


def test_clusters_have_names_that_folders_can_have(definition: Write) -> None:
    """However long those of contenders are, and whatever they have in common."""
    names = ["x" * 300, "x" * 299, "...", "/"]
    contenders = [{"name": "B"}, *({"name": name, "own_cluster": True} for name in names)]
    clusters = clusters_of(read_tournament(definition(challenge="settings", contenders=contenders, baseline="B")))
    assert [clusters[name].name for name in names] == ["x" * 60, "x" * 60 + "-2", "cluster", "cluster-2"]


def test_one_node_for_all_is_rallys_to_start(definition: Write) -> None:
    """Several clusters, or several nodes, are ours; --apart is one node at a time again."""
    assert not runs_side_by_side(read_tournament(definition()))
    assert runs_side_by_side(read_tournament(definition(nodes=2)))
    assert runs_side_by_side(read_tournament(definition(**BY_HEAP)))
    assert not runs_side_by_side(read_tournament(definition(**BY_HEAP), TournamentOptions(apart=True)))
    assert not runs_side_by_side(read_tournament(definition(nodes=2)), TournamentOptions(target_hosts="a:1,b:1"))


@pytest.mark.parametrize(
    ("contender", "told"),
    [
        ({"target_hosts": "a:9200"}, "give every contender target_hosts, or none"),
        ({"target_hosts": "a:9200", "cars": ["1gheap"]}, "that is there, and cars would build another: leave one"),
        ({"target_hosts": '{"default": ["a:9200"]}'}, "target_hosts of 'b' are those of its one cluster"),
        *(
            ({"target_hosts": hosts}, "target_hosts of 'b' are those of its one cluster")
            for hosts in (" , ", " ", "b:0", "b:99999", "ftp://b:1", "https://me:secret@b:1", "b:9200/x", "b.json")
        ),
        ({"client_options": "x.json"}, "for a cluster that is there: name its target_hosts"),
        (
            {"target_hosts": "a:9200", "version": "8.8.2", "engine": "official"},
            "and engine would build another",
        ),
        ({"nodes": 0}, "less than the minimum|0"),
        ({"cars": ["1gheap"], "car_params": {"processorz": 1}}, "processorz"),
    ],
)
def test_clusters_that_cannot_be_are_refused(definition: Write, contender: dict[str, object], told: str) -> None:
    """A cluster that is there beside one that is started, and options that mean nothing together."""
    contenders = [{"name": "a"}, {"name": "b", **contender}]
    with pytest.raises(FileError, match=told):
        read_tournament(definition(challenge="settings", contenders=contenders, baseline="a"))


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ({"version": "8.8.2"}, {"version": "9.2.4"}, r"different Elasticsearch \(8.8.2 and 9.2.4\)"),
        ({"client_options": "x.json"}, {}, "different client_options: give each"),
    ],
)
def test_one_cluster_cannot_be_two(definition: Write, one: dict, other: dict, told: str) -> None:
    """Two contenders on the same hosts, in whatever order these are named, are what both say."""
    contenders = [{"name": "a", "target_hosts": "x:1,y:1", **one}, {"name": "b", "target_hosts": "y:1, x:1", **other}]
    sentence = rf"'a' and 'b' are one cluster \(x:1, y:1\) and cannot share it, because they name {told}"
    with pytest.raises(FileError, match=sentence):
        read_tournament(definition(challenge="settings", contenders=contenders, baseline="a"))
    same = [{**contender, **one} for contender in contenders]
    if "version" not in other:
        read_tournament(definition(challenge="settings", contenders=same, baseline="a"))


def test_clusters_that_are_there_are_not_started_anew(definition: Write) -> None:
    """Several starts of them would be one start under several names."""
    contenders = [{"name": "a", "target_hosts": "a:9200"}, {"name": "b", "target_hosts": "b:9200"}]
    with pytest.raises(FileError, match="a cluster that is there is not started anew: set starts to 1"):
        read_tournament(definition(challenge="settings", contenders=contenders, baseline="a", starts=2))


def test_neither_does_the_command_line_start_them_anew(definition: Write) -> None:
    """--starts comes after the file was checked; a cluster for all cannot be named beside those of the file."""
    contenders = [{"name": "a", "target_hosts": "a:9200"}, {"name": "b", "target_hosts": "b:9200"}]
    file = definition(challenge="settings", contenders=contenders, baseline="a")
    with pytest.raises(UsageError, match="A cluster that is there is not started anew: leave --starts out"):
        read_tournament(file, TournamentOptions(starts=3))
    with pytest.raises(UsageError, match="are clusters that are there themselves, and --target-hosts names another"):
        check_target(read_tournament(file), TournamentOptions(target_hosts="c:9200"))


def test_a_cluster_that_is_there_is_not_built(definition: Write) -> None:
    """What would build or start it would be left out, and the result would claim it all the same."""
    there = [{"name": "a", "target_hosts": "a:9200"}, {"name": "b", "target_hosts": "b:9200"}]
    hosted = read_tournament(definition(challenge="settings", contenders=there, baseline="a"))
    check_target(hosted, TournamentOptions())
    assert "cars" not in (plan := render_plan(make_plan(hosted, 1)))
    assert "more --starts" not in plan
    assert "cars" not in setup(hosted)
    with pytest.raises(UsageError, match="--car and --java would build a node, and 'small' is held on what is there"):
        check_target(hosted, TournamentOptions(car=("2gheap",), java="21"))
    with pytest.raises(UsageError, match="--car-params would build a node"):
        check_target(read_tournament(definition()), TournamentOptions(target_hosts="a:1", car_params={"processors": 1}))
    with pytest.raises(UsageError, match="has 7 starts, and a cluster that is there is not started anew, so that all"):
        check_target(read_tournament(definition(starts=7)), TournamentOptions(target_hosts="a:9200"))
    with pytest.raises(FileError, match="'a' is a cluster of at least 2 nodes, as 'nodes' says, and its target_hosts"):
        read_tournament(definition(challenge="settings", contenders=there, baseline="a", nodes=2))


def test_a_cluster_that_is_there_has_no_disk_here(fake_laps: Behave, definition: Write) -> None:
    """What is told of this machine is that of the load driver."""
    there = [{"name": "a", "target_hosts": "a:9200"}, {"name": "b", "target_hosts": "b:9200"}]
    hosted = hold(definition(challenge="settings", contenders=there, baseline="a", blocks=1))
    own = hold(definition(blocks=1))
    assert "file system" in own.circumstances
    assert "file system" not in hosted.circumstances


def test_of_a_cluster_that_is_there_no_starts_are_told(fake_laps: Behave, definition: Write) -> None:
    """Nobody starts it, so no claim is said to need more starts."""
    there = [{"name": "a", "target_hosts": "a:9200"}, {"name": "b", "target_hosts": "b:9200"}]
    hosted = hold(definition(challenge="settings", contenders=there, baseline="a", blocks=8))
    assert hosted.main.verdicts[0].pairs
    assert not any("start" in note for note in hosted.notes)
    assert "void laps did not, in one run." in course(hosted)
    own = hold(definition(blocks=8))
    assert any("One start: a claim about the configuration needs" in note for note in own.notes)
    assert "in 1 start of the node" in course(own)


def test_a_cluster_that_is_there_is_not_planned_as_nodes(
    fake_laps: Behave, definition: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tournament that would start two nodes starts none on somebody's cluster, and its plan says nothing of them."""
    hold(definition(nodes=2, blocks=1), target_hosts="a:1,b:1")
    assert "in all: their heaps take" not in capsys.readouterr().err
    assert find_tournament("latest").tournament(find_tournament("latest").history()).nodes == 2


def test_all_starts_of_nodes_side_by_side_are_one_race(fake_laps: Behave, definition: Write) -> None:
    """Laps alternate between clusters, nodes are started anew between two starts, and the start is the unit."""
    fake_laps(rates={"large": 8_000})
    result = hold(definition(**BY_HEAP, starts=6, blocks=3, stop_early=False))
    stored = find_tournament("latest")
    attempts = stored.history().attempts
    assert [(one.start, one.outcome, one.race_id) for one in attempts] == [
        (number, DONE, f"{stored.id}-s001") for number in range(1, 7)
    ]
    assert len(result.commands) == 1
    laps = [json.loads(line) for line in stored.lap_journal(f"{stored.id}-s001").read_text().splitlines()]
    assert [line["start"] for line in laps] == [number for number in range(1, 7) for _ in range(12)]
    planned = [(start.number, name) for start in stored.schedule() for order in start.orders for name in order]
    assert [(lap.start, lap.contender) for lap in result.laps] == planned
    assert len(counted(result)) == 36
    verdict = result.main.verdicts[0]
    assert (verdict.verdict, verdict.pairs, verdict.scope, verdict.unit) == (
        SLOWER,
        6,
        "for the configuration",
        "start",
    )
    report = build(result)
    facts = dict(next(one for one in report.sections if one.heading == "Circumstances").facts)
    assert facts["unit of the verdicts"] == "the start of the node"
    assert "in the same block, one estimate of the blocks of each start (" in verdict_section(result).paragraphs[0]


def test_a_race_that_breaks_goes_on_with_the_start_that_it_broke(fake_laps: Behave, definition: Write) -> None:
    """The starts before it count, its whole blocks too; another race runs what is left of it, and the others."""
    fake_laps(breaks={"001": 12 + 6 + 3})
    result = hold(definition(**BY_HEAP, starts=3, blocks=3, stop_early=False))
    stored = find_tournament("latest")
    assert [(one.start, one.outcome, one.race_id.rpartition("-s")[2]) for one in stored.history().attempts] == [
        (1, DONE, "001"),
        (2, FAILED, "001"),
        (2, DONE, "002-2"),
        (3, DONE, "002-2"),
    ]
    assert [lap.block for lap in counted(result) if lap.start == 2] == [4, 4, 5, 5, 6, 6]
    assert [lap.void for lap in result.laps if lap.void] == [f"the race {result.id}-s001 failed in this block"]


def test_nodes_that_do_not_start_again_are_tried_in_another_race(
    fake_laps: Behave, definition: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The race that waits for them ends in good order, what it had measured counts, and the reason is told at once."""
    fake_laps()
    failures = ["The node small-0 did not start."]

    def restart(_nodes: Nodes) -> None:
        if failures:
            raise RaceError(failures.pop())

    monkeypatch.setattr(Nodes, "restart", restart)
    result = hold(definition(**BY_HEAP, starts=2, blocks=3, stop_early=False))
    attempts = find_tournament("latest").history().attempts
    assert [(one.start, one.outcome, one.race_id.rpartition("-s")[2]) for one in attempts] == [
        (1, DONE, "001"),
        (2, FAILED, "001"),
        (2, DONE, "002-2"),
    ]
    assert attempts[1].reason == "The node small-0 did not start."
    assert "The node small-0 did not start." in capsys.readouterr().err
    assert result.stopped == "all blocks done"


def test_the_cache_is_dropped_before_every_start_while_no_node_runs(
    fake_laps: Behave, definition: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of nodes that are started while a race runs, too; what came of it is a circumstance, and a note where kept."""
    fake_laps()
    seen: list[str] = []

    def drop() -> str:
        seen.append("drop")
        return "kept, because nobody may"

    monkeypatch.setattr(run, "drop_caches", drop)
    for name in ("stop", "start"):
        monkeypatch.setattr(Nodes, name, lambda _nodes, name=name: seen.append(name))
    result = hold(definition(**BY_HEAP, starts=2, blocks=3, stop_early=False, drop_caches=True))
    assert seen == ["drop", "stop", "drop", "start"]
    assert result.circumstances["page cache"] == "kept, because nobody may"
    assert sum("The kernel's cache was kept, because nobody may." in note for note in result.notes) == 1


def test_a_race_that_ends_while_nodes_are_started_is_no_failure_of_the_start_to_come(
    fake_laps: Behave, definition: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits until they are there, and another race begins with that start."""
    fake_laps(breaks={"001": 12})
    given_up = threading.Event()

    def restart(nodes: Nodes) -> None:
        if nodes.race_id.endswith("-s001") and not given_up.wait(30):
            pytest.fail("the nodes were waited for")

    monkeypatch.setattr(Nodes, "restart", restart)
    monkeypatch.setattr(Nodes, "give_up", lambda _nodes: given_up.set())
    hold(definition(**BY_HEAP, starts=3, blocks=3, stop_early=False))
    stored = find_tournament("latest")
    assert [(one.start, one.outcome, one.race_id.rpartition("-s")[2]) for one in stored.history().attempts] == [
        (1, DONE, "001"),
        (2, DONE, "002"),
        (3, DONE, "002"),
    ]


def test_a_race_that_loses_a_node_ends(fake_laps: Behave, definition: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of its cluster may go on: those laps would be of another cluster. The block is run anew."""
    fake_laps(pause=0.1)
    reason = "The node large-1 ended while its race was running."

    def gone(nodes: Nodes) -> str | None:
        laps = find_tournament("latest").lap_journal(nodes.race_id)
        dead = nodes.race_id.endswith("-s001") and laps.exists() and len(laps.read_text().splitlines()) >= 9
        return reason if dead else None

    monkeypatch.setattr(Nodes, "gone", gone)
    monkeypatch.setattr("paddock.tournaments.run.NODES_INTERVAL", 0.0)
    result = hold(definition(**BY_HEAP, starts=2, blocks=4, stop_early=False))
    attempts = find_tournament("latest").history().attempts
    assert [(one.start, one.outcome, one.race_id.rpartition("-s")[2]) for one in attempts] == [
        (1, FAILED, "001"),
        (1, DONE, "001-2"),
        (2, DONE, "001-2"),
    ]
    assert attempts[0].reason == reason
    assert len(attempts[0].records) <= 9
    assert len(counted(result)) == 16


def test_the_budget_ends_the_race_between_two_starts(
    fake_laps: Behave, definition: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start that would exceed it, as long as the one before it, is not begun; the race that would go on ends."""
    clock = Journal.elapsed.fget  # type: ignore[attr-defined]

    def elapsed(journal: Journal) -> float:
        return float(clock(journal)) + 1000 * sum(len(attempt.records) for attempt in journal.history.attempts)

    monkeypatch.setattr(Journal, "elapsed", property(elapsed))
    result = hold(definition(**BY_HEAP, starts=4, blocks=3), budget=12_600 / 60)
    assert result.stopped == "budget"
    assert {lap.start for lap in result.laps} == {1}
    assert [one.outcome for one in find_tournament("latest").history().attempts] == [DONE]


@pytest.mark.parametrize("apart", [False, True])
def test_a_budget_that_the_last_block_uses_up_has_cut_nothing_off(
    fake_laps: Behave, definition: Write, monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    """All blocks were run, and the result says so."""
    laps = 2 * 2 * (3 + 3)
    clock = Journal.elapsed.fget  # type: ignore[attr-defined]

    def elapsed(journal: Journal) -> float:
        run = sum(len(attempt.records) for attempt in journal.history.attempts)
        return float(clock(journal)) + (1e9 if run == laps else 0.0)

    monkeypatch.setattr(Journal, "elapsed", property(elapsed))
    result = hold(definition(**BY_HEAP, starts=2, blocks=3, stop_early=False), apart=apart)
    assert len(counted(result)) == 12
    assert result.stopped == "all blocks done"
    assert not any("budget" in note for note in result.notes)


def test_a_control_is_a_twin_of_the_baseline(fake_laps: Behave, definition: Write) -> None:
    """It has laps in every block, is no contender of the verdicts, and is said to be alike if it is."""
    fake_laps(rates={"30s": 12_000}, noise=0.01)
    result = hold(definition(control=True, stop_early=False))
    assert {lap.contender for lap in result.laps} == {"1s", "30s", "control"}
    assert [one.contender for one in result.main.verdicts] == ["30s"]
    assert [one.contender for one in result.main.absolutes] == ["1s", "30s"]
    control = result.main.control
    assert control is not None
    assert control.low <= 1 <= control.high
    assert not any("control" in note for note in result.notes)


def test_a_control_that_differs_is_told_first(fake_laps: Behave, definition: Write) -> None:
    """Then something beside the settings makes a difference, and verdicts of that size mean nothing."""
    fake_laps(rates={"control": 12_000}, noise=0.01)
    result = hold(definition(control=True, stop_early=False))
    assert result.notes[0].startswith("The control, a twin of the baseline, differs from it (")


def test_a_control_has_a_node_of_its_own_where_contenders_have(definition: Write) -> None:
    """Two nodes made alike differ by what nodes differ by; --quick and --no-control leave it out, --apart does."""
    quick = {"lap_documents": 1000}
    file = definition(**BY_HEAP, control=None, quick=quick)
    tournament = read_tournament(file)
    assert tournament.control is not None
    assert clusters_of(tournament)["control"].car == clusters_of(tournament)["small"].car
    assert len(distinct(clusters_of(tournament))) == 3
    assert read_tournament(file, TournamentOptions(quick=True)).control is None
    assert read_tournament(file, TournamentOptions(quick=True, control=True)).control is not None
    alike = [{"name": name, "level": name, "cars": ["2gheap"]} for name in ("1s", "30s")]
    sharing = read_tournament(definition("sharing", contenders=alike, control=True), TournamentOptions())
    assert len(distinct(clusters_of(sharing))) == 1
    assert read_tournament(file, TournamentOptions(no_control=True)).control is None
    assert read_tournament(file, TournamentOptions(apart=True)).control is None
    levels = read_tournament(definition(control=True))
    assert len(distinct(clusters_of(levels))) == 1
    assert levels.raced[-1].level_object == {"name": "control", "value": "1s"}


def test_a_control_has_a_name_that_nobody_else_has(definition: Write) -> None:
    """Whatever contenders are called."""
    contenders = [{"name": "control"}, {"name": "control of control"}, {"name": "control 2"}]
    tournament = read_tournament(
        definition(challenge="settings", contenders=contenders, baseline="control", control=True)
    )
    assert tournament.control is not None
    assert tournament.control.name == "control 3"


def test_a_control_that_cannot_be_is_told(definition: Write) -> None:
    """Of contenders that are held apart, or are clusters that are there, no twin is made."""
    with pytest.raises(UsageError, match="--control adds a twin of the baseline"):
        read_tournament(definition(**BY_HEAP), TournamentOptions(apart=True, control=True))
    with pytest.raises(UsageError, match="--control adds a twin of the baseline"):
        read_tournament(definition(), TournamentOptions(control=True, no_control=True))
    there = [{"name": "a", "target_hosts": "a:9200"}, {"name": "b", "target_hosts": "b:9200"}]
    file = definition(challenge="settings", contenders=there, baseline="a", control=None)
    assert read_tournament(file).control is None


def test_what_one_cluster_is_asked_for_warms_no_other(fake_laps: Behave, definition: Write) -> None:
    """Plan and result say what the node with least of it has had, not what all have had together."""
    fake_laps(noise=0.0)
    file = definition(**BY_HEAP, starts=2, blocks=3, stop_early=False, control=True)
    plan = make_plan(read_tournament(file), 1)
    assert plan.warmup_documents == 3 * 10_000
    assert plan.warmup_seconds == pytest.approx(3 * plan.lap_seconds)
    assert "30,000 documents for the cluster with least of it, less than" in render_plan(plan)
    (note,) = [one for one in hold(file).notes if one.startswith("Warm-up per launch")]
    assert note.startswith("Warm-up per launch of a node: at least 3 s of load and 30,000 documents, not counted, less")
    alike = hold(definition(blocks=3, stop_early=False)).notes
    assert any(one.startswith("Warm-up per launch of a node: 6 s of load and 60,000 documents") for one in alike)
