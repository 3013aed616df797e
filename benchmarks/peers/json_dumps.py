"""Python's own json.dumps, a dictionary per document."""

# ruff: noqa: S311 - chance for documents, no secrets
from __future__ import annotations

import json
import platform
import random
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.peers.protocol import BLOCK, TIME_FIELD, MakeBlock, Profile, serve, time_texts


def documents(profile: Profile, seed: int) -> Callable[[int], Iterator[dict[str, Any]]]:
    """Gives the documents of a block as dictionaries."""
    pools = [(pool.field, pool.decoded(), pool.cumulative()) for pool in profile.pools]
    long_text = profile.text
    slice_of = long_text.slicer() if long_text else None

    def block_of(block: int) -> Iterator[dict[str, Any]]:
        chance = random.Random(f"{seed} {block}")
        columns = [chance.choices(values, cum_weights=weights, k=BLOCK) for _, values, weights in pools]
        names = [name for name, _, _ in pools]
        for moment, values in zip(time_texts(profile, block), zip(*columns, strict=True), strict=True):
            document = {TIME_FIELD: moment}
            document.update((name, value) for name, value in zip(names, values, strict=True) if value is not None)
            if long_text and slice_of:
                document[long_text.field] = slice_of(chance)
            yield document

    return block_of


def begin(profile: Profile, seed: int) -> MakeBlock:
    """Prepare the generator."""
    block_of = documents(profile, seed)
    dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode
    return lambda block: ("\n".join(map(dumps, block_of(block))) + "\n").encode()


if __name__ == "__main__":
    serve(platform.python_version(), begin)
