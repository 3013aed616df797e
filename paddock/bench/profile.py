"""Measures Paddock's documents, so that peers make the same fields with the same values equally often."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddock.bench.peers.protocol import TIME_FIELD, LongText, Pool, Profile
from paddock.inspection.times import time_of_value

_LONG = 100  # characters on average from which a field whose values hardly recur is a long text
_MOST_LINES = 50_000


def profile_of(documents: Sequence[dict[str, Any]]) -> Profile:
    """The profile of documents in the order of time; the first field of each is the time."""
    counts: dict[str, Counter[str]] = {}
    for document in documents:
        for field, value in document.items():
            if field != TIME_FIELD:
                counts.setdefault(field, Counter())[_json(value)] += 1
    long_field = next((field for field, values in counts.items() if _is_long_text(values)), None)
    pools = []
    for field, values in counts.items():
        if field == long_field:
            continue
        absent = len(documents) - values.total()
        listed = values.most_common() + ([("", absent)] if absent else [])
        pools.append(Pool(field, tuple(value for value, _ in listed), tuple(count for _, count in listed)))
    first, last = (time_of_value(documents[place][TIME_FIELD]) for place in (0, -1))
    if first is None or last is None:
        raise ValueError(f"the field {TIME_FIELD} is no time")
    return Profile(
        first_milliseconds=int(first.seconds * 1000),
        step_milliseconds=(last.seconds - first.seconds) * 1000 / (len(documents) - 1),
        pools=tuple(pools),
        text=_long_text(long_field, documents) if long_field else None,
    )


def write_profile(profile: Profile, path: Path) -> None:
    """Write it as the peers read it."""
    path.write_text(json.dumps(dataclasses.asdict(profile)), encoding="utf-8")


def _is_long_text(values: Counter[str]) -> bool:
    return 2 * len(values) > values.total() and sum(map(len, values)) > _LONG * len(values)


def _long_text(field: str, documents: Sequence[dict[str, Any]]) -> LongText:
    texts = [document[field] for document in documents if field in document]
    # From the middle of the texts as well, else every line were a first one.
    lines = [line for text in texts for line in text.split("\n")][:_MOST_LINES]
    return LongText(field, tuple(lines), tuple(len(text) for text in texts))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
