"""A lap that several processes load together: one record, every document once, and a plain end whatever breaks."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from shared import lap_crew, rendezvous
from shared.lap import RunLap
from shared.lap_plan import LapPlan

from tests.tracks.lap_client import FakeElasticsearch, corpus, track_with
from tests.tracks.test_lap_plan import PARAMS


@pytest.fixture(autouse=True)
def processes_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each follower of a test passes for a process of its own, and nobody waits long for anybody."""
    numbers = itertools.count()
    monkeypatch.setattr(rendezvous, "this_process", lambda: f"process {next(numbers)}")
    monkeypatch.setattr(rendezvous, "PATIENCE", 10.0)


def parameters(tmp_path: Path, processes: int, **changes: Any) -> dict[str, Any]:
    """Those of a lap task: two levels, two blocks of 25 documents of 50, bulks of 4 by 5 clients."""
    told = {
        **PARAMS,
        "driver-processes": processes,
        "driver-rendezvous": None,
        "secret": f"{tmp_path}",
        "documents": 25,
        "bulk-size": 4,
        "bulk-clients": 5,
        "warmup-blocks": 0,
        "journal": str(tmp_path / "laps.jsonl"),
    }
    return {**told, **{name.replace("_", "-"): value for name, value in changes.items()}}


async def client_of_rally(source: Any, clients: dict[str, Any]) -> list[dict[str, Any]]:
    """What Rally's executor does for one client of the task; returns its samples."""
    samples, runner = [], RunLap()
    while True:
        try:
            told = source.params()
        except StopIteration:
            return samples
        with clients["default"].new_request_context() as context:
            sample = await runner(clients, told)
            sample["service_time"] = context.request_end - context.request_start
        samples.append(sample)


Watch = Callable[[list[asyncio.Task[Any]], LapPlan], Any]


def race(
    tmp_path: Path,
    es: FakeElasticsearch,
    processes: int,
    watch: Watch | None = None,
    other: FakeElasticsearch | None = None,
    **changes: Any,
) -> list[Any]:
    """All clients of a task, each with a plan of its own as in a process of its own; samples or errors of each.

    The leader's event loop ends as Rally ends it.
    """
    documents = corpus(tmp_path, [30, 20])
    clients = {"default": es, **({"other": other} if other else {})}

    async def run() -> list[Any]:
        told = parameters(tmp_path, processes, **changes)
        plans = [LapPlan(track_with(documents), dict(told)) for _ in range(processes)]

        async def leader() -> Any:
            try:
                return await client_of_rally(plans[0].partition(0, processes), clients)
            finally:
                crew = plans[0]._crew
                if crew is not None:
                    await crew.dismiss()

        tasks = [asyncio.create_task(leader())]
        for number in range(1, processes):
            tasks.append(asyncio.create_task(client_of_rally(plans[number].partition(number, processes), clients)))
        if watch is not None:
            watch(tasks, plans[0])
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)

    return asyncio.run(run())


def journal(tmp_path: Path) -> list[dict[str, Any]]:
    """The records of the laps."""
    file = tmp_path / "laps.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


@pytest.mark.parametrize("processes", [2, 3, 5, 7])
def test_one_record_of_all(tmp_path: Path, processes: int) -> None:
    """Every document once, every figure of all processes together; those without a client have nothing to do."""
    es = FakeElasticsearch()
    seen: list[list[bytes]] = []
    created = es.create

    async def create(**request: Any) -> None:
        await created(**request)
        es.documents = []
        seen.append(es.documents)

    es.create = create  # type: ignore[method-assign]
    samples = race(tmp_path, es, processes)
    records = journal(tmp_path)
    assert [record["lap"] for record in records] == [1, 2, 3, 4]
    clients = [len(range(number, 5, processes)) for number in range(processes)]
    for record in records:
        assert record["void"] is None
        # Of the second block two bulks are those of five documents at the end of a file.
        bulks = 7
        assert (record["documents_sent"], record["documents_acknowledged"], record["documents_counted"]) == (25, 25, 25)
        assert record["bulks"] == bulks
        assert [one["process"] for one in record["drivers"]] == list(range(processes))
        assert [one["clients"] for one in record["drivers"]] == clients
        assert sum(one["documents"] for one in record["drivers"]) == 25
        assert [one["bulks"] for one in record["drivers"]] == [
            sum(1 for bulk in range(bulks) if bulk % 5 % processes == process) for process in range(processes)
        ]
        assert sum(record["documents_per_second"]) == 25
        assert len(record["share_ms"]) == bulks
        assert sum(record["share_ms"]) == pytest.approx(1000 * record["seconds"], abs=2)
        assert record["took_ms"] == 3 * bulks
        assert max(one["seconds"] or 0 for one in record["drivers"]) <= record["seconds"] + 0.001
        assert record["driver_cpu_seconds"] >= 0
    for number, sent in enumerate(seen):
        assert sorted(json.loads(line)["n"] for line in sent) == list(range(25) if number < 2 else range(25, 50))
    assert [len(one) for one in samples] == [4, *[1] * (processes - 1)]
    assert [one["weight"] for one in samples[0]] == [25] * 4
    for sample, record in zip(samples[0], records, strict=True):
        assert sample["service_time"] >= record["seconds"] - 0.002
        assert sample["throughput"] == pytest.approx(25 / record["seconds"])
    for follower in samples[1:]:
        assert (follower[0]["weight"], follower[0]["success"]) == (0, True)


def test_one_process_has_no_crew(tmp_path: Path) -> None:
    """The records are those of before, key by key."""
    race(tmp_path, FakeElasticsearch(), 1)
    assert "drivers" not in journal(tmp_path)[0]


def test_the_load_begins_when_all_are_ready(tmp_path: Path) -> None:
    """No bulk is sent before the last process has read its first ones, and all clients send at the same time."""
    es = FakeElasticsearch()
    race(tmp_path, es, 2, bulk_clients=4)
    assert es.most_in_flight == 4


def test_levels_of_several_clusters_with_loads_of_their_own(tmp_path: Path) -> None:
    """Each process sends its share to the cluster of the lap, in bulks and by clients as the level has them."""
    here, there = FakeElasticsearch(), FakeElasticsearch()
    levels = [{"name": "1s"}, {"name": "b", "cluster": "other", "bulk_size": 2, "clients": 1}]
    race(tmp_path, here, 2, other=there, levels=levels, order=None)
    records = journal(tmp_path)
    assert [record["void"] for record in records] == [None] * 4
    for record in records:
        single = record["level"] == "b"
        assert [one["clients"] for one in record["drivers"]] == ([1, 0] if single else [3, 2])
        assert [bool(one["documents"]) for one in record["drivers"]] == [True, not single]
        assert record["cluster"] == ("other" if single else "default")
        assert record["documents_counted"] == 25
    assert [sum(name == "create" for name, _ in es.calls) for es in (here, there)] == [2, 2]


def test_a_void_lap_ends_nothing(tmp_path: Path) -> None:
    """Documents that a follower could not index make the lap void, with the reason; the next ones count."""
    refused = [{"index": {"status": 400, "error": {"type": "x", "reason": "no room"}}}] * 4
    es = FakeElasticsearch(lambda number, documents: refused if number in (2, 3) else None)
    race(tmp_path, es, 2)
    first, *others = journal(tmp_path)
    assert first["errors"] == 8
    assert "8 documents were refused" in first["void"]
    assert "no room" in first["void"]
    assert [one["void"] for one in others] == [None] * 3


def test_an_index_that_cannot_be_made(tmp_path: Path) -> None:
    """A lap that comes to nothing before its load leaves the followers where they were."""
    es = FakeElasticsearch()
    es.refuse_index = True
    samples = race(tmp_path, es, 2)
    assert [bool(record["void"]) for record in journal(tmp_path)] == [True] * 4
    assert [len(one) for one in samples] == [4, 1]


def test_a_lap_that_ends_between_ready_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers that have prepared a lap take the next one instead."""
    es = FakeElasticsearch()
    failing = iter([True, False, True, False])
    info = es.info

    async def sometimes(metric: str) -> Any:
        if next(failing):
            raise exceptions.RallyTaskAssertionError("the nodes do not tell")
        return await info(metric)

    es.info = sometimes  # type: ignore[method-assign]
    race(tmp_path, es, 3)
    assert [record["void"] for record in journal(tmp_path)] == [
        *("the nodes do not tell", None, "the nodes do not tell", None),
    ]


def test_the_stop_file_ends_all(tmp_path: Path) -> None:
    """The followers end with the leader, before the next block."""
    stop = tmp_path / "stop"
    es = FakeElasticsearch(lambda number, documents: stop.touch())
    samples = race(tmp_path, es, 2, stop_file=str(stop))
    assert [len(one) for one in samples] == [2, 1]


def test_a_follower_that_dies(tmp_path: Path) -> None:
    """The lap is in the journal, void; the race fails with a sentence, and the others are not left waiting."""
    es = FakeElasticsearch()
    tasks: list[asyncio.Task[Any]] = []
    es.on_bulk = lambda number, documents: tasks[2].cancel() if number == 9 else None
    leader, follower, killed = race(tmp_path, es, 3, lambda all_, _: tasks.extend(all_))
    assert isinstance(killed, asyncio.CancelledError)
    records = journal(tmp_path)
    assert [record["void"] for record in records] == [None, "process 2 of the load driver is gone"]
    assert str(leader) == (
        f"Lap 2 ({records[1]['level']}): process 2 of the load driver is gone, and no lap can be run without it. See "
        f"Rally's log for the reason."
    )
    assert len(follower) == 1


def test_a_leader_that_dies(tmp_path: Path) -> None:
    """A follower ends with a sentence as soon as the connection does."""

    async def run() -> Any:
        told = parameters(tmp_path, 2)
        plans = [LapPlan(track_with(corpus(tmp_path, [30, 20])), dict(told)) for _ in range(2)]
        plans[0].partition(0, 2)
        following = asyncio.create_task(client_of_rally(plans[1].partition(1, 2), {"default": FakeElasticsearch()}))
        crew = plans[0]._crew
        assert crew is not None
        await crew.meet()
        for peer in crew._peers:
            await peer.close()
        with pytest.raises(exceptions.RallyAssertionError) as error:
            await asyncio.wait_for(following, 30)
        await crew.dismiss()
        return str(error.value)

    assert asyncio.run(run()) == "Process 1 of the load driver ends: the process that leads the load driver is gone."


def test_nodes_that_are_gone(tmp_path: Path) -> None:
    """The cluster dies in a lap: the race fails with the leader's sentence, the followers end quietly."""
    es = FakeElasticsearch()

    def die(number: int, documents: int) -> None:
        es.gone = True

    es.on_bulk = die
    leader, follower = race(tmp_path, es, 2)
    assert "no node answers any more" in str(leader)
    assert len(follower) == 1
    assert len(journal(tmp_path)) == 1


def test_nobody_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides end with a sentence that says what to look at."""
    monkeypatch.setattr(rendezvous, "PATIENCE", 0.3)

    async def alone(number: int) -> str:
        plan = LapPlan(track_with(corpus(tmp_path, [30, 20])), parameters(tmp_path, 2))
        source = plan.partition(number, 2)
        with pytest.raises(exceptions.RallyAssertionError) as error:
            await client_of_rally(source, {"default": FakeElasticsearch()})
        if plan._crew is not None:
            await plan._crew.dismiss()
        return str(error.value)

    leader, follower = asyncio.run(alone(0)), asyncio.run(alone(1))
    assert leader.startswith("The race cannot begin: of the 2 processes of the load driver 1 did not come within 0 s")
    assert follower.startswith("Process 1 of the load driver cannot join the race: nobody who leads this race was met")
    assert leader.endswith("driver_rendezvous must name a port of the first that the others reach.")
    assert journal(tmp_path) == []


def test_clients_that_share_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than Rally has processes: they would share what each is to have for itself."""
    monkeypatch.setattr(rendezvous, "this_process", lap_crew.this_process)
    leader, follower = race(tmp_path, FakeElasticsearch(), 2)
    assert str(leader) == (
        "driver_processes is 2, but Rally runs its clients in 1 process, one for each core of a load driver: ask for 1 "
        "at most."
    )
    assert len(follower) == 1


def test_another_plan_is_not_followed(tmp_path: Path) -> None:
    """A load driver host with other track files would send other documents."""
    es = FakeElasticsearch()

    def other(tasks: list[asyncio.Task[Any]], plan: LapPlan) -> None:
        plan._laps = [replace(one, bulk_size=3) for one in plan._laps]

    leader, _ = race(tmp_path, es, 2, other)
    assert "process 1 of the load driver has another plan: its track files differ" in str(leader)
    assert "another plan" in journal(tmp_path)[0]["void"]


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2", None])
def test_wrong_numbers_of_processes_are_refused(tmp_path: Path, count: Any) -> None:
    """Before a lap is run."""
    with pytest.raises(exceptions.InvalidSyntax, match="driver_processes must be a whole number from 1 on"):
        LapPlan(track_with(corpus(tmp_path, [50])), parameters(tmp_path, count))


def test_a_wrong_rendezvous_is_refused(tmp_path: Path) -> None:
    """Before a lap is run, too."""
    with pytest.raises(exceptions.InvalidSyntax, match="driver_rendezvous must be host:port"):
        LapPlan(track_with(corpus(tmp_path, [50])), parameters(tmp_path, 2, driver_rendezvous="here"))


def test_the_journal_is_the_leaders(tmp_path: Path) -> None:
    """Its folder is on the first load driver host alone."""
    told = parameters(tmp_path, 2, journal="/none/laps.jsonl")

    async def run() -> None:
        plan = LapPlan(track_with(corpus(tmp_path, [50])), told)
        plan.partition(1, 2)
        with pytest.raises(exceptions.InvalidSyntax, match="the folder of lap_journal"):
            plan.partition(0, 2)

    asyncio.run(run())
