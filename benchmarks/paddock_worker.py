"""Paddock's own generator behind the protocol of the peers: requests on stdin, answers on stdout."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from paddock import __version__
from paddock.corpora.generate import build_world, write_corpus
from paddock.corpora.kernel import new_buffer, write_block
from paddock.corpora.recipe import Recipe, load_recipe


def generate(recipe: Recipe, documents: int, seed: int, threads: int) -> int:
    """Make documents in memory; each thread fills the same buffer again and again. Returns the number of bytes."""
    world = build_world(recipe)
    per_block = world.documents_per_block
    blocks = range(-(-documents // per_block))

    def every(first: int) -> int:
        buffer = new_buffer(world, min(documents, per_block))
        size = 0
        for block in blocks[first::threads]:
            count = min(per_block, documents - block * per_block)
            size += int(write_block(world, np.uint64(seed), np.uint64(block), count, buffer))
        return size

    if threads == 1:
        return every(0)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(every, range(threads)))


def write(recipe: Recipe, documents: int, seed: int, file: Path, threads: int) -> int:
    """Write a corpus as corpus.generate does, until the disk has it. Returns the number of bytes."""
    written = write_corpus(recipe, documents, seed, file, threads=threads)
    handle = os.open(file, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
    return written.bytes


def main() -> None:
    """Arguments: recipe, seed, number of threads."""
    name, seed, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    recipe = load_recipe(name)
    generate(recipe, 1, seed, 1)  # compiles, or loads what has been compiled
    _answer({"version": __version__})
    for line in sys.stdin:
        request = json.loads(line)
        documents = request["documents"]
        started = time.perf_counter()
        if request["file"]:
            size = write(recipe, documents, seed, Path(request["file"]), threads)
        else:
            size = generate(recipe, documents, seed, threads)
        _answer({"documents": documents, "bytes": size, "seconds": time.perf_counter() - started})


def _answer(content: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
