"""Writing the documents of a recipe to a file: blocks filled by threads, written in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from paddock.corpora.kernel import new_buffer, write_block
from paddock.corpora.models import build_world
from paddock.corpora.recipe import Recipe
from paddock.corpora.world import World
from paddock.corpora.writer import CorpusWriter, Written

_MOST_THREADS = 16


def write_corpus(
    recipe: Recipe,
    documents: int,
    seed: int,
    file: Path,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Written:
    """Write ``documents`` documents, one per line, to ``file``.

    Neither the number of threads nor the machine changes a byte, and fewer documents are a prefix of more.

    :param seed: 0 to 2^64 - 1.
    :param threads: how many fill blocks; None: one for each CPU that this process may use.
    :param progress: is told the number of documents written so far, after each block.
    :raises OSError: if the file cannot be written.
    """
    done = 0
    with CorpusWriter(file) as writer:
        for block, count in _blocks(build_world(recipe), documents, seed, threads or available_threads()):
            writer.write(block, count)
            done += count
            if progress:
                progress(done)
        return writer.finish()


def _blocks(world: World, documents: int, seed: int, threads: int) -> Iterator[tuple[memoryview, int]]:
    """The blocks in order, with their numbers of documents; a block is valid until the next is asked for."""
    per_block = world.documents_per_block
    buffers = [new_buffer(world, min(documents, per_block)) for _ in range(threads + 1)]
    running: deque[tuple[Future[int], np.ndarray, int]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="generator") as pool:

        def start(first: int, buffer: np.ndarray) -> None:
            count = min(per_block, documents - first)
            block = np.uint64(first // per_block)
            future = pool.submit(write_block, world, np.uint64(seed), block, count, buffer)
            running.append((future, buffer, count))

        starts = iter(range(0, documents, per_block))
        # The buffers first: zip takes from its first iterator before it sees that the second has ended.
        for buffer, first in zip(buffers, starts, strict=False):
            start(first, buffer)
        while running:
            future, buffer, count = running.popleft()
            yield buffer.data[: future.result()], count
            following = next(starts, None)
            if following is not None:
                start(following, buffer)


def available_threads() -> int:
    """One for each processor that this process may use, within reason."""
    return min(_MOST_THREADS, len(os.sched_getaffinity(0)))
