"""polars: a column of rendered fragments per field, put together with concat_str."""

# ruff: noqa: S311 - chance for documents, no secrets
from __future__ import annotations

import random

import numpy as np
import polars as pl  # type: ignore[import-not-found,unused-ignore]

from benchmarks.peers.protocol import BLOCK, TIME_FIELD, MakeBlock, Profile, serve


def begin(profile: Profile, seed: int) -> MakeBlock:
    """Prepare the generator."""
    fragments, cumulative = [], []
    for pool in profile.pools:
        fragments.append(pl.Series([f',"{pool.field}":{value}' if value else "" for value in pool.values]))
        totals = np.cumsum(pool.weights)
        cumulative.append(totals / totals[-1])
    text = profile.text.escaped() if profile.text else None
    slice_of = text.slicer() if text else None

    def make(block: int) -> bytes:
        chance = np.random.default_rng([seed, block])
        numbers = np.arange(block * BLOCK, (block + 1) * BLOCK)
        times = (profile.first_milliseconds + numbers * profile.step_milliseconds).astype(np.int64)
        moments = pl.Series(times).cast(pl.Datetime("ms")).dt.to_string("%Y-%m-%dT%H:%M:%S%.3f")
        columns = {"time": moments}
        for number, (values, shares) in enumerate(zip(fragments, cumulative, strict=True)):
            columns[str(number)] = values.gather(np.searchsorted(shares, chance.random(BLOCK), side="right"))
        if text and slice_of:
            draws = random.Random(int(chance.integers(1 << 62)))
            columns["text"] = pl.Series([slice_of(draws) for _ in range(BLOCK)])
        parts = [pl.lit(f'{{"{TIME_FIELD}":"'), pl.col("time"), pl.lit('Z"')]
        parts += [pl.col(str(number)) for number in range(len(fragments))]
        parts += [pl.lit(f',"{text.field}":"'), pl.col("text"), pl.lit('"}\n')] if text else [pl.lit("}\n")]
        lines = pl.DataFrame(columns).select(pl.concat_str(parts).str.join(""))
        return lines.item().encode()

    return make


if __name__ == "__main__":
    serve(pl.__version__, begin)
