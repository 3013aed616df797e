"""What every peer does around its own way of making documents: pools in, requests on stdin, answers on stdout.

A request is a line of JSON, {"documents": N, "file": PATH or null}; the answer {"documents": ..., "bytes": ...,
"seconds": ...} covers making them, and writing them with fsync if there is a file. The first line on stdout says
which version is ready.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = 1000  # documents that are made at once
TIME_FIELD = "@timestamp"

# Makes the block of that number: BLOCK lines.
MakeBlock = Callable[[int], bytes]


@dataclass(frozen=True)
class Pool:
    """The values of one field, as JSON, and how often each occurs; "" stands for documents without the field."""

    field: str
    values: tuple[str, ...]
    weights: tuple[int, ...]

    def cumulative(self) -> list[int]:
        """Running totals of the weights."""
        return list(itertools.accumulate(self.weights))

    def decoded(self) -> list[Any]:
        """The values; None where the field is absent."""
        return [json.loads(value) if value else None for value in self.values]


@dataclass(frozen=True)
class LongText:
    """A field whose text is new in nearly every document: a stretch of ``lines``, about as long as one of ``sizes``."""

    field: str
    lines: tuple[str, ...]
    sizes: tuple[int, ...]
    separator: str = "\n"

    def escaped(self) -> LongText:
        """The same as it stands in JSON, where a stretch needs no further treatment."""
        lines = tuple(json.dumps(line, ensure_ascii=False)[1:-1] for line in self.lines)
        return LongText(self.field, lines, self.sizes, "\\n")

    def slicer(self) -> Callable[[random.Random], str]:
        """Gives texts: whole lines from a random one on."""
        gap = len(self.separator)
        text = self.separator.join(self.lines)
        ends = list(itertools.accumulate(len(line) + gap for line in self.lines))
        last = bisect.bisect_right(ends, len(text) - max(self.sizes) - gap)

        def text_of(chance: random.Random) -> str:
            begin = ends[chance.randrange(last)]
            end = ends[bisect.bisect_left(ends, begin + chance.choice(self.sizes))]
            return text[begin : end - gap]

        return text_of


@dataclass(frozen=True)
class Profile:
    """What documents look like: measured on Paddock's own by benchmarks/profile.py.

    The first field is the time; the pools and the long text follow.
    """

    first_milliseconds: int
    step_milliseconds: float
    pools: tuple[Pool, ...]
    text: LongText | None

    def milliseconds(self, number: int) -> int:
        """The time of a document, since 1970."""
        return self.first_milliseconds + int(number * self.step_milliseconds)


def read_profile(path: Path) -> Profile:
    """The profile that was written as JSON."""
    content = json.loads(path.read_text(encoding="utf-8"))
    text = content["text"]
    return Profile(
        first_milliseconds=content["first_milliseconds"],
        step_milliseconds=content["step_milliseconds"],
        pools=tuple(Pool(pool["field"], tuple(pool["values"]), tuple(pool["weights"])) for pool in content["pools"]),
        text=LongText(text["field"], tuple(text["lines"]), tuple(text["sizes"])) if text else None,
    )


def time_texts(profile: Profile, block: int) -> Iterator[str]:
    """The times of a block's documents; a second is rendered once."""
    rendered, prefix = -1, ""
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        seconds, milliseconds = divmod(profile.milliseconds(number), 1000)
        if seconds != rendered:
            rendered, prefix = seconds, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        yield f"{prefix}.{milliseconds:03d}Z"


def serve(version: str, begin: Callable[[Profile, int], MakeBlock]) -> None:
    """Answer requests until stdin ends.

    :param begin: prepares a generator for a profile and a seed.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("profile", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", type=int, default=0, help="makes the blocks of this number, of --workers in turn")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    make = begin(read_profile(options.profile), options.seed)
    _answer({"version": version})
    for line in sys.stdin:
        request = json.loads(line)
        blocks = range(options.worker, -(-request["documents"] // BLOCK), options.workers)
        started = time.perf_counter()
        size = _write(request["file"], map(make, blocks)) if request["file"] else sum(map(len, map(make, blocks)))
        seconds = time.perf_counter() - started
        _answer({"documents": len(blocks) * BLOCK, "bytes": size, "seconds": seconds})


def _write(file: str, blocks: Iterator[bytes]) -> int:
    size = 0
    with Path(file).open("wb") as target:
        for block in blocks:
            size += target.write(block)
        target.flush()
        os.fsync(target.fileno())
    return size


def _answer(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()
