"""The plan of a block challenge: which laps in which order, with which documents, and when it ends."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from shared.freshness import refresh_seconds
from shared.lap_order import load_phases
from shared.lap_plan import Lap, LapPlan

from tests.tracks.lap_client import corpus, track_with

PARAMS: dict[str, Any] = {
    "factor": "refresh-interval",
    "levels": ["1s", "30s"],
    "order": ["1s", "30s"],
    "order-seed": 1,
    "warmup-blocks": 1,
    "blocks": 2,
    "documents": 20,
    "corpus-documents": 50,
    "bulk-size": 10,
    "bulk-clients": 3,
    "index": "paddock-test",
    "health": None,
    "freshness-probe": False,
    "phases": None,
    "searches": 0,
    "queries": [],
    "journal": None,
    "stop-file": None,
    "dropped-file": None,
}


def plan(tmp_path: Path, **changes: Any) -> LapPlan:
    """A plan for a corpus of 50 documents in two files."""
    changed = {**PARAMS, **{name.replace("_", "-"): value for name, value in changes.items()}}
    return LapPlan(track_with(corpus(tmp_path, [30, 20])), changed)


def laps(source: LapPlan) -> list[Lap]:
    """All laps that the plan still has."""
    found = []
    while True:
        try:
            found.append(source.params()["lap"])
        except StopIteration:
            return found


def test_blocks_have_one_lap_of_every_level(tmp_path: Path) -> None:
    """Numbers, positions and the mark of the warm-up."""
    found = laps(plan(tmp_path, order=[["1s", "30s"], ["30s", "1s"], ["1s", "30s"]]))
    assert [(one.number, one.block, one.position, one.level, one.warm_up) for one in found] == [
        (1, 1, 1, "1s", True),
        (2, 1, 2, "30s", True),
        (3, 2, 1, "30s", False),
        (4, 2, 2, "1s", False),
        (5, 3, 1, "1s", False),
        (6, 3, 2, "30s", False),
    ]


def test_a_race_may_span_several_starts(tmp_path: Path) -> None:
    """Each start has blocks, order, warm-up and documents of its own; only its first block meets new nodes."""
    starts = [
        {"start": 3, "warmup_blocks": 1, "blocks": 1, "order": [["1s", "30s"], ["30s", "1s"]]},
        {"start": 4, "warmup_blocks": 1, "blocks": 1, "order": ["30s", "1s"], "ready_file": str(tmp_path / "4")},
    ]
    (tmp_path / "4").touch()
    found = laps(plan(tmp_path, starts=starts))
    assert [(one.start, one.block, one.level, one.warm_up, one.first_document, one.reconnects) for one in found] == [
        (3, 1, "1s", True, 0, False),
        (3, 1, "30s", True, 0, False),
        (3, 2, "30s", False, 20, False),
        (3, 2, "1s", False, 20, False),
        (4, 1, "30s", True, 0, True),
        (4, 1, "1s", True, 0, True),
        (4, 2, "30s", False, 20, False),
        (4, 2, "1s", False, 20, False),
    ]


def test_a_start_waits_for_its_nodes(tmp_path: Path) -> None:
    """No lap of it is run before its file is there; a stop file ends the wait and the race."""
    ready, stop = tmp_path / "ready", tmp_path / "stop"
    starts = [{"start": 1, "warmup_blocks": 0, "blocks": 1, "ready_file": str(ready)}]
    source = plan(tmp_path, starts=starts, stop_file=str(stop))
    came: list[list[Lap]] = []
    waiting = threading.Thread(target=lambda: came.append(laps(source)))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    assert came == []
    ready.touch()
    waiting.join()
    assert [one.level for one in came[0]] == ["1s", "30s"] or [one.level for one in came[0]] == ["30s", "1s"]
    ready.unlink()
    stop.touch()
    assert laps(plan(tmp_path, starts=starts, stop_file=str(stop))) == []


@pytest.mark.parametrize(
    ("starts", "told"),
    [
        ({"start": 1}, "lap_starts must be a list of objects"),
        ([{"start": 1, "blocks": 2}], "with start, warmup_blocks and blocks"),
        ([{"start": 1, "warmup_blocks": 1, "blocks": 1, "laps": 3}], "with start, warmup_blocks and blocks"),
        ([{"start": 0, "warmup_blocks": 1, "blocks": 1}], "start of lap_starts must be a whole number from 1 on"),
        ([{"start": 1, "warmup_blocks": 1, "blocks": True}], "blocks of lap_starts must be a whole number from 1 on"),
        ([{"start": 1, "warmup_blocks": 1, "blocks": 1, "ready_file": "x"}], "must be an absolute path"),
        ([{"start": 1, "warmup_blocks": 1, "blocks": 1, "order": [["1s"]]}], "order of 1 blocks, but there are 2"),
    ],
)
def test_wrong_starts_are_refused(tmp_path: Path, starts: Any, told: str) -> None:
    """Each mistake is named before a lap is run."""
    with pytest.raises(exceptions.InvalidSyntax, match=told):
        plan(tmp_path, starts=starts)


def test_a_block_indexes_the_same_documents(tmp_path: Path) -> None:
    """Levels of a block are paired on their documents; the next block takes the next ones, around the end."""
    found = laps(plan(tmp_path))
    assert [(one.first_document, one.count) for one in found] == [(0, 20)] * 2 + [(20, 20)] * 2 + [(40, 20)] * 2


def test_levels_override_the_track(tmp_path: Path) -> None:
    """Settings over the track's own, bulk size and clients over the parameters', only where a level names them."""
    levels = ["1s", {"name": "other", "settings": {"codec": "x"}, "bulk_size": 7, "clients": 1, "mapping": "track"}]
    first, second = laps(plan(tmp_path, levels=levels, order=["1s", "other"]))[:2]
    assert (first.bulk_size, first.clients, second.bulk_size, second.clients) == (10, 3, 7, 1)
    assert first.body["settings"]["index.refresh_interval"] == "1s"
    assert second.body["settings"] == {
        "index.number_of_replicas": 0,
        "index.refresh_interval": "1s",
        "index.codec": "x",
    }
    assert second.index == "paddock-test-lap"


@pytest.mark.parametrize(
    ("replicas", "given", "health"), [(0, None, "green"), (1, None, "yellow"), (1, "green", "green")]
)
def test_health_follows_each_level(tmp_path: Path, replicas: int, given: str | None, health: str) -> None:
    """A level with replicas cannot be green on one node; what the user says wins."""
    source = plan(tmp_path, factor="replicas", levels=[replicas], order=None, health=given)
    assert laps(source)[0].health == health


def test_only_a_probe_makes_laps_wait(tmp_path: Path) -> None:
    """Without one, and in the warm-up, no time is lost."""
    assert {(one.phase, one.rest, one.wait) for one in laps(plan(tmp_path))} == {(None, 0.0, 0.0)}
    probed = laps(plan(tmp_path, freshness_probe=True))
    assert {(one.phase, one.rest, one.wait) for one in probed if one.warm_up} == {(None, 0.0, 0.0)}
    assert all(one.phase is not None for one in probed if not one.warm_up)


def test_levels_of_a_block_share_the_phase_and_rest_alike(tmp_path: Path) -> None:
    """Each waits that share of its own interval; what the others wait more, it rests before its index is made."""
    levels = ["1s", "30s", "-1", {"name": "unset", "settings": {"refresh_interval": None}}]
    planned = laps(plan(tmp_path, levels=levels, order=None, freshness_probe=True, phases=[0.25, 0.75]))
    for block, phase in ((2, 0.25), (3, 0.75)):
        found = {one.level: one for one in planned if one.block == block}
        assert {one.phase for one in found.values()} == {phase}
        assert {name: one.wait for name, one in found.items()} == {
            "1s": phase,
            "30s": 30 * phase,
            "-1": 0.0,
            "unset": phase,
        }
        assert {one.rest + one.wait for one in found.values()} == {30 * phase}


@pytest.mark.parametrize("blocks", [1, 5, 40])
def test_phases_are_spread_evenly(blocks: int) -> None:
    """One in each of as many equal parts, in a random order, other ones for another seed, the same for the same."""
    phases = load_phases(blocks, None, 7)
    assert sorted(int(phase * blocks) for phase in phases) == list(range(blocks))
    assert load_phases(blocks, None, 7) == phases != load_phases(blocks, None, 8)
    if blocks > 1:
        assert phases != sorted(phases)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1s", 1), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("-1", 0), (-1, 0), ("0", 0), ("soon", 0), (None, 1)],
)
def test_refresh_intervals_in_seconds(value: Any, seconds: float) -> None:
    """As Elasticsearch reads them; without one its own default of a second holds."""
    assert refresh_seconds({} if value is None else {"index.refresh_interval": value}) == seconds


def test_progress(tmp_path: Path) -> None:
    """Rally shows the share of the laps that are done, and stops by itself at the end."""
    source = plan(tmp_path)
    assert (source.infinite, source.percent_completed) == (False, 0)
    source.params()
    assert source.percent_completed == pytest.approx(1 / 6)
    laps(source)
    assert source.percent_completed == 1


def test_stop_file_ends_the_plan_after_a_block(tmp_path: Path) -> None:
    """A block that has begun is finished, because half of one cannot be compared."""
    stop = tmp_path / "stop"
    source = plan(tmp_path, stop_file=str(stop))
    source.params()
    stop.touch()
    assert [one.number for one in laps(source)] == [2]


def test_levels_that_are_dropped_have_no_laps_in_later_blocks(tmp_path: Path) -> None:
    """The block that has begun stays whole; the others keep their order, numbers and places, and progress goes on."""
    dropped = tmp_path / "dropped"
    orders = [["1s", "30s", "5s"], ["30s", "5s", "1s"], ["5s", "1s", "30s"], ["1s", "5s", "30s"]]
    source = plan(tmp_path, levels=["1s", "5s", "30s"], order=orders, blocks=3, dropped_file=str(dropped))
    first = [source.params()["lap"] for _ in range(4)]
    assert [one.level for one in first] == ["1s", "30s", "5s", "30s"]
    dropped.write_text('["30s"]')
    rest = [source.params()["lap"] for _ in range(4)]
    assert [(one.number, one.block, one.position, one.level) for one in rest] == [
        (5, 2, 2, "5s"),
        (6, 2, 3, "1s"),
        (7, 3, 1, "5s"),
        (8, 3, 2, "1s"),
    ]
    dropped.write_text('["30s", "1s", "of another race"]')
    assert [one.level for one in laps(source)] == ["5s"]
    assert source.percent_completed == 1


def test_levels_are_dropped_for_later_starts_too(tmp_path: Path) -> None:
    """Who is still in is read after the nodes of a start are there; a level may be missing from its first lap on."""
    dropped, ready = tmp_path / "dropped", tmp_path / "ready"
    starts = [
        {"start": 1, "warmup_blocks": 0, "blocks": 1, "order": ["1s", "30s"]},
        {"start": 2, "warmup_blocks": 1, "blocks": 1, "order": ["1s", "30s"], "ready_file": str(ready)},
    ]
    source = plan(tmp_path, starts=starts, dropped_file=str(dropped))
    assert [source.params()["lap"].level for _ in range(2)] == ["1s", "30s"]
    dropped.write_text('["1s"]')
    ready.touch()
    assert [(one.start, one.block, one.level, one.reconnects) for one in laps(source)] == [
        (2, 1, "30s", True),
        (2, 2, "30s", False),
    ]


@pytest.mark.parametrize("text", ["", '["1s"', '{"1s": 1}', "[1]"])
def test_a_dropped_file_that_names_nobody_is_refused(tmp_path: Path, text: str) -> None:
    """Half a file would let laps run that nobody expects."""
    (tmp_path / "dropped").write_text(text)
    source = plan(tmp_path, dropped_file=str(tmp_path / "dropped"))
    with pytest.raises(exceptions.RallyAssertionError, match="must hold a JSON list of the levels"):
        source.params()


def test_small_corpus_makes_smaller_laps_in_test_mode(tmp_path: Path) -> None:
    """Rally's test mode leaves 1,000 documents of a corpus, and the same laps are run with those."""
    assert laps(plan(tmp_path, documents=200, corpus_documents=1000))[0].count == 50


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"documents": 51}, "lap_documents is 51, but the corpus has 50 documents"),
        ({"journal": "laps.jsonl"}, "lap_journal must be an absolute path"),
        ({"journal": "/nowhere/at/all/laps.jsonl"}, "the folder of lap_journal .* does not exist"),
        ({"stop_file": "stop"}, "lap_stop_file must be an absolute path"),
        ({"dropped_file": "x"}, "lap_dropped_file must be an absolute path"),
        ({"levels": ["1s", "1s"]}, "more than once"),
        ({"order": ["1s"]}, "each of the levels"),
        ({"freshness_probe": True, "phases": [0.5]}, "lap_phases must be a list of 2 numbers from 0 to below 1"),
        ({"freshness_probe": True, "phases": [0.5, 1.0]}, "lap_phases must be a list of 2 numbers from 0 to below 1"),
    ],
)
def test_wrong_plans_end_in_a_sentence(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    """Refused when Rally loads the track, before anything is started."""
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        plan(tmp_path, **changes)


@pytest.mark.parametrize("processes", [1, 2])
def test_groups_are_looked_at_before_the_first_lap(tmp_path: Path, processes: int) -> None:
    """By the client that runs the laps, where its shippers will be; whoever only reads the track need not have any."""
    group = tmp_path / "group"
    group.mkdir()
    for file, text in {"cgroup.procs": "", "cpu.max": "50000 100000", "memory.max": "max"}.items():
        (group / file).write_text(text)
    told = {"shipper": "syslog-ng", "shipper_limit_cpu_quota": 0.5, "shipper_groups": str(group)}
    driver = {"driver_processes": processes, "driver_rendezvous": "127.0.0.1:1", "secret": "x"} if processes > 1 else {}
    plan(tmp_path, shipper=told).partition(0, 1)
    source = plan(tmp_path, shipper={**told, "shipper_limit_cpu_quota": 0.6}, **driver)
    with pytest.raises(exceptions.InvalidSyntax, match=r"of the level '1s' cannot be held: no group .*/group has l"):
        source.partition(0, processes)
    if processes > 1:
        source.partition(1, processes)


def test_a_limit_is_of_a_shipper_that_sends_a_levels_laps(tmp_path: Path) -> None:
    """Of Rally's own clients it would hold nothing; beside them it holds those of the others."""
    limit = {"shipper": "rally", "generator_limit_memory": "64m", "generator_groups": "/x"}
    with pytest.raises(exceptions.InvalidSyntax, match="generator_limit_memory is for laps that a shipper sends"):
        plan(tmp_path, shipper=limit)
    levels = [{"name": "1s"}, {"name": "30s", "shipper": "syslog-ng"}]
    plan(tmp_path, shipper=limit, levels=levels)


def test_corpus_with_action_lines_is_refused(tmp_path: Path) -> None:
    """Such lines name an index of their own, and the documents would go there."""
    documents = corpus(tmp_path, [50])
    documents[0].includes_action_and_meta_data = True
    with pytest.raises(exceptions.InvalidSyntax, match="brings its own action lines"):
        LapPlan(track_with(documents), dict(PARAMS))


def test_rally_prepares_the_plans_corpora(tmp_path: Path) -> None:
    """Rally looks for this attribute to know which files a challenge needs."""
    assert [corpus.name for corpus in plan(tmp_path).corpora] == ["numbers"]
