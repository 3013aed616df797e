"""Documents whose values come from a library's providers, one call per value; the rest from the profile's pools."""

# ruff: noqa: S311 - chance for documents, no secrets
from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from benchmarks.peers.protocol import BLOCK, TIME_FIELD, MakeBlock, Profile, time_texts

# Gives for a seed a function per field, and one for long texts of about a size.
Providers = Callable[[int], "tuple[dict[str, Callable[[], Any]], Callable[[int], str]]"]


def begin_with(providers: Providers, profile: Profile, seed: int, dumps: Callable[[Any], str]) -> MakeBlock:
    """Prepare a generator; a block's values depend on the seed and its number alone."""
    pools = [(pool.field, pool.decoded(), pool.cumulative()) for pool in profile.pools]

    def make(block: int) -> bytes:
        provided, text_of = providers(seed * 1_000_003 + block)
        chance = random.Random(f"{seed} {block}")
        columns = [chance.choices(values, cum_weights=weights, k=BLOCK) for _, values, weights in pools]
        names = [name for name, _, _ in pools]
        lines = []
        for moment, drawn in zip(time_texts(profile, block), zip(*columns, strict=True), strict=True):
            document = {TIME_FIELD: moment}
            for name, value in zip(names, drawn, strict=True):
                if value is not None:  # fields that are sometimes absent are so here as well
                    document[name] = provided[name]() if name in provided else value
            if profile.text:
                document[profile.text.field] = text_of(chance.choice(profile.text.sizes))
            lines.append(dumps(document))
        return ("\n".join(lines) + "\n").encode()

    return make
