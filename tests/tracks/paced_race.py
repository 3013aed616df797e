"""A paced load or a replay run by Rally's own schedules and executors, against an index in memory, in no time."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from esrally.driver import driver, runner, scheduler
from esrally.track import loader
from shared.lap_secret import LapSecret
from shared.paced_schedule import PacedSchedule
from shared.replay_source import ReplaySchedule

from paddock import tracks
from tests.tracks.lap_client import FakeElasticsearch, corpus
from tests.tracks.rendered import build

# The order of the arguments of Rally's Sampler.add.
FIELDS = (
    *("task", "client_id", "sample_type", "meta_data", "absolute_time", "request_start", "latency", "service_time"),
    *("processing_time", "throughput", "ops", "ops_unit", "time_period", "percent_completed", "dependent_timing"),
)


_load_track = functools.cache(tracks.load_track)


def built(name: str, challenge: str, params: dict[str, Any], test_mode: bool = False) -> Any:
    """Rally's track with that challenge selected."""
    track = _load_track(name)
    tracks.check_parameters(track, params)
    rally_track = build(track, params, challenge, test_mode)
    LapSecret().on_after_load_track(rally_track)
    return rally_track


def leaf(rally_track: Any, name: str) -> Any:
    """A task of the selected challenge by its name."""
    return next(one for entry in rally_track.selected_challenge.schedule for one in entry if one.name == name)


def with_documents(rally_track: Any, folder: Path, number: int) -> Any:
    """The track with a file of numbered documents in place of its corpus."""
    (documents,) = corpus(folder, [number])
    rally_track.corpora[0].documents[0].document_file = documents.document_file
    assert rally_track.corpora[0].documents[0].number_of_documents == number
    return rally_track


def source(rally_track: Any, name: str) -> Any:
    """The parameter source of a task, made as Rally makes it."""
    return loader.operation_parameters(rally_track, leaf(rally_track, name))


class InNoTime(asyncio.SelectorEventLoop):
    """An event loop whose clock moves on, instead of waiting, whenever everybody waits for a time to come.

    So waits and what they add up to are exact, whatever else the machine does.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = 1000.0
        selector: Any = self._selector
        look = selector.select

        def select(timeout: float | None = None) -> Any:
            assert timeout is not None, "everybody waits for something that nobody does"
            self._now += max(timeout, 0)
            return look(0)

        selector.select = select

    def time(self) -> float:
        return self._now


def run(
    rally_track: Any,
    name: str,
    on_bulk: Callable[[int, int], Any] | None = None,
    beside: str | None = None,
    index: FakeElasticsearch | None = None,
) -> tuple[FakeElasticsearch, list[SimpleNamespace]]:
    """Run one bulk task with all its clients in one process, and another task beside it if one is named.

    :returns: the index, and Rally's samples in the order of their answers.
    """
    tasks = [leaf(rally_track, one) for one in (name, beside) if one]
    samples: list[SimpleNamespace] = []

    class Sampler:
        def add(self, *sample: Any) -> None:
            samples.append(SimpleNamespace(**dict(zip(FIELDS, sample, strict=True))))

    index = index or FakeElasticsearch(on_bulk)

    async def race() -> None:
        executors: list[Any] = []
        try:
            for task in tasks:
                parameters = loader.operation_parameters(rally_track, task)
                for client in range(task.clients):
                    allocation = driver.TaskAllocation(task, client, client, task.clients)
                    schedule = driver.schedule_for(allocation, parameters)
                    stop, behaviour = threading.Event(), task.error_behavior("continue")
                    executor = driver.AsyncExecutor(
                        client, task, schedule, {"default": index}, Sampler(), stop, stop, behaviour
                    )
                    executors.append(executor())
        except BaseException:
            for executor in executors:
                executor.close()
            raise
        await asyncio.gather(*executors)

    runner.register_runner("bulk", runner.BulkIndex(), async_runner=True)
    runner.register_runner("search", runner.Query(), async_runner=True)
    schedules = {"paced": PacedSchedule, "replay": ReplaySchedule}
    for one, schedule in schedules.items():
        scheduler.register_scheduler(one, schedule)
    loop = InNoTime()
    try:
        with mock.patch("time.perf_counter", loop.time):
            loop.run_until_complete(race())
    finally:
        loop.close()
        for one in ("bulk", "search"):
            runner.remove_runner(one)
        for one in schedules:
            scheduler.remove_scheduler(one)
    return index, samples
