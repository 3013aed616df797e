"""From a recipe to its documents in a file: tables, blocks filled by threads, written in order."""

from __future__ import annotations

import calendar
import datetime
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np

from paddock.corpora import access_log, application_log
from paddock.corpora.access_log import AccessLog
from paddock.corpora.application_log import ApplicationLog
from paddock.corpora.draws import Draws
from paddock.corpora.kernel import new_buffer, write_block
from paddock.corpora.recipe import Recipe
from paddock.corpora.template_log import TemplateLog
from paddock.corpora.world import World, WorldBuilder
from paddock.corpora.writer import CorpusWriter, Written
from paddock.errors import FileError

MINUTES_PER_WEEK = 7 * 24 * 60
# The models, and the names of their fields where a recipe has `fields: ecs`.
_MODELS: dict[str, tuple[type[AccessLog | ApplicationLog | TemplateLog], dict[str, str]]] = {
    "access-log": (AccessLog, access_log.ECS_NAMES),
    "application-log": (ApplicationLog, application_log.ECS_NAMES),
    "template-log": (TemplateLog, {}),
}
_LOWEST, _HIGHEST = 128, 384  # minutes vary between 128/256 and 384/256 of what hour and day say
_MOST_THREADS = 16


def write_corpus(
    recipe: Recipe,
    documents: int,
    seed: int,
    file: Path,
    threads: int | None = None,
    advance: Callable[[int], None] | None = None,
) -> Written:
    """Write ``documents`` documents, one per line, to ``file``.

    Neither the number of threads nor the machine changes a byte, and fewer documents are a prefix of more.

    :param seed: 0 to 2^64 - 1.
    :param threads: how many fill blocks; None: one for each CPU that this process may use.
    :param advance: is told the number of documents of each block that has been written.
    :raises OSError: if the file cannot be written.
    :raises FileError: if the recipe's words cannot give what it asks for.
    """
    threads = threads or min(_MOST_THREADS, len(os.sched_getaffinity(0)))
    with CorpusWriter(file) as writer:
        for block, count in _blocks(build_world(recipe), documents, seed, threads):
            writer.write(block, count)
            if advance:
                advance(count)
        return writer.finish()


@lru_cache(maxsize=2)
def build_world(recipe: Recipe) -> World:
    """The tables of a recipe, in a fraction of a second; raises FileError if its words cannot give what it asks for."""
    model, ecs_names = _MODELS[recipe.model]
    builder = WorldBuilder(ecs_names if recipe.content.get("fields") == "ecs" else {})
    rhythm = recipe.content["rhythm"]
    try:
        return builder.build(
            actors=model(recipe.name, recipe.content, builder).fill(),
            sessions=recipe.content["sessions"],
            minutes=minute_weights(rhythm["hours"], rhythm["days"], recipe.first_day, recipe.name),
            documents_per_week=rhythm["documents_per_week"],
            start=calendar.timegm(recipe.first_day.timetuple()),
        )
    except ValueError as error:
        raise FileError(recipe.path, f"{error}.") from None


def minute_weights(hours: Sequence[int], days: Sequence[int], first_day: datetime.date, name: str) -> list[int]:
    """Integer weights of the 10,080 minutes of the week that begins on ``first_day``.

    :param hours: 24 weights, 1 to 100; the rate passes linearly from one to the next.
    :param days: 7 weights, 1 to 100, Monday first.
    :param name: names the random stream behind the minutes' variation.
    """
    draws = Draws(f"{name} minutes")
    weights = []
    for minute in range(MINUTES_PER_WEEK):
        day = (first_day.weekday() + minute // 1440) % 7
        hour, past = divmod(minute % 1440, 60)
        rate = hours[hour] * (60 - past) + hours[(hour + 1) % 24] * past
        weights.append(max(1, rate * days[day] * draws.between(_LOWEST, _HIGHEST) // (60 * 256 * 10)))
    return weights


def _blocks(world: World, documents: int, seed: int, threads: int) -> Iterator[tuple[memoryview, int]]:
    """The blocks in order, with their numbers of documents; a block is valid until the next is asked for."""
    per_block = world.documents_per_block
    free = [new_buffer(world, min(documents, per_block)) for _ in range(threads + 1)]
    running: deque[tuple[Future[int], np.ndarray, int]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="generator") as pool:
        for first in range(0, documents, per_block):
            if not free:
                future, buffer, count = running.popleft()
                yield buffer.data[: future.result()], count
                free.append(buffer)
            count, buffer = min(per_block, documents - first), free.pop()
            block = np.uint64(first // per_block)
            running.append((pool.submit(write_block, world, np.uint64(seed), block, count, buffer), buffer, count))
        for future, buffer, count in running:
            yield buffer.data[: future.result()], count
