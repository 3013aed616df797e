"""mimesis: values from its providers where it has one of the kind, json.dumps around them."""

# ruff: noqa: S311 - chance for documents, no secrets
from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import mimesis  # type: ignore[import-not-found,unused-ignore]
from mimesis.locales import Locale  # type: ignore[import-not-found,unused-ignore]

from benchmarks.peers.protocol import MakeBlock, Profile, serve
from benchmarks.peers.provided import begin_with


def _providers(seed: int) -> tuple[dict[str, Callable[[], Any]], Callable[[int], str]]:
    internet = mimesis.Internet(seed=seed)
    text = mimesis.Text(Locale.EN, seed=seed)
    chance = random.Random(seed)
    providers: dict[str, Callable[[], Any]] = {
        "clientip": internet.ip_v4,
        "method": internet.http_method,
        "path": internet.path,
        "status": internet.http_status_code,
        "user_agent": internet.user_agent,
        "bytes": lambda: chance.randrange(300_000),
    }
    return providers, lambda size: _sentences(text, size)


def _sentences(text: Any, size: int) -> str:
    parts: list[str] = []
    while size > 0:
        parts.append(text.sentence())
        size -= len(parts[-1]) + 1
    return "\n".join(parts)


def begin(profile: Profile, seed: int) -> MakeBlock:
    """Prepare the generator."""
    return begin_with(_providers, profile, seed, json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode)


if __name__ == "__main__":
    serve(mimesis.__version__, begin)
