"""Faker: values from its providers where it has one of the kind, json.dumps around them."""

# ruff: noqa: S311 - chance for documents, no secrets
from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import faker  # type: ignore[import-not-found,unused-ignore]

from benchmarks.peers.protocol import MakeBlock, Profile, serve
from benchmarks.peers.provided import begin_with


def _providers(seed: int) -> tuple[dict[str, Callable[[], Any]], Callable[[int], str]]:
    fake = faker.Faker("en_US", use_weighting=False)
    fake.seed_instance(seed)
    chance = random.Random(seed)
    providers: dict[str, Callable[[], Any]] = {
        "clientip": fake.ipv4,
        "method": fake.http_method,
        "path": lambda: "/" + fake.uri_path(3),
        "referrer": fake.uri,
        "user_agent": fake.user_agent,
        "bytes": lambda: chance.randrange(300_000),
    }
    return providers, lambda size: fake.text(max_nb_chars=max(size, 20))


def begin(profile: Profile, seed: int) -> MakeBlock:
    """Prepare the generator."""
    return begin_with(_providers, profile, seed, json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode)


if __name__ == "__main__":
    serve(faker.VERSION, begin)
