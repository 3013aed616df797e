"""Writing the documents of a recipe to a file: blocks filled by threads, written in order, hashed on the way."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paddock.corpora.kernel import DOCUMENTS_PER_BLOCK, new_buffer, write_block
from paddock.corpora.models import build_world
from paddock.corpora.recipe import Recipe
from paddock.corpora.world import World

# Count up whenever the same recipe, seed and number of documents give other bytes than before.
GENERATOR_VERSION = 1

LINES_PER_OFFSET = 50_000  # as esrally/utils/io.py notes them
_MOST_THREADS = 16


@dataclass(frozen=True)
class Written:
    """What was written."""

    bytes: int
    documents: int
    sha256: str
    line_offsets: tuple[tuple[int, int], ...]  # after so many lines (every 50,000), so many bytes


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
    digest = hashlib.sha256()
    size = done = 0
    offsets = []
    with file.open("wb", buffering=0) as target:
        for block, count in _blocks(build_world(recipe), documents, seed, threads or _available_threads()):
            # The interface of raw files allows partial writes.
            rest = block
            while rest:
                rest = rest[target.write(rest) :]
            digest.update(block)
            size += len(block)
            done += count
            if done % LINES_PER_OFFSET == 0:
                offsets.append((done, size))
            if progress:
                progress(done)
    return Written(size, done, digest.hexdigest(), tuple(offsets))


def _blocks(world: World, documents: int, seed: int, threads: int) -> Iterator[tuple[memoryview, int]]:
    """The blocks in order, with their numbers of documents; a block is valid until the next is asked for."""
    buffers = [new_buffer(world, min(documents, DOCUMENTS_PER_BLOCK)) for _ in range(threads + 1)]
    running: deque[tuple[Future[int], np.ndarray, int]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="generator") as pool:

        def start(first: int, buffer: np.ndarray) -> None:
            count = min(DOCUMENTS_PER_BLOCK, documents - first)
            block = np.uint64(first // DOCUMENTS_PER_BLOCK)
            future = pool.submit(write_block, world, np.uint64(seed), block, count, buffer)
            running.append((future, buffer, count))

        starts = iter(range(0, documents, DOCUMENTS_PER_BLOCK))
        # The buffers first: zip takes from its first iterator before it sees that the second has ended.
        for buffer, first in zip(buffers, starts, strict=False):
            start(first, buffer)
        while running:
            future, buffer, count = running.popleft()
            yield buffer.data[: future.result()], count
            following = next(starts, None)
            if following is not None:
                start(following, buffer)


def _available_threads() -> int:
    return min(_MOST_THREADS, len(os.sched_getaffinity(0)))
