"""orjson, a dictionary per document."""

from __future__ import annotations

import orjson  # type: ignore[import-not-found,unused-ignore]

from benchmarks.peers.json_dumps import documents
from benchmarks.peers.protocol import MakeBlock, Profile, serve


def begin(profile: Profile, seed: int) -> MakeBlock:
    """Prepare the generator."""
    block_of = documents(profile, seed)
    return lambda block: b"".join([orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in block_of(block)])


if __name__ == "__main__":
    serve(orjson.__version__, begin)
