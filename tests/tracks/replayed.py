"""Archives and replays for tests: files of documents with times, and Rally's track with one of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shared.replay_times import time_text

from tests.tracks import paced_race

START = 1_767_643_200_000_000  # 2026-01-05T20:00:00Z in microseconds since 1970


def document(number: int, at: float | None) -> dict[str, Any]:
    """A numbered document, so many seconds after the start; None for one without a time."""
    fields = {"n": number, "path": f"/articles/{number}"}
    return fields if at is None else {"@timestamp": time_text(START + round(at * 1e6)), **fields}


def written(folder: Path, times: Sequence[float | None], name: str = "archive.json") -> Path:
    """A file of such documents."""
    path = folder / name
    path.write_text("".join(json.dumps(document(n, at)) + "\n" for n, at in enumerate(times)), encoding="utf-8")
    return path


def track(folder: Path, times: Sequence[float | None], **params: Any) -> Any:
    """The track apache with these documents and the challenge replay."""
    path = written(folder, times)
    given = {"corpus_documents": len(times), "warmup_time_period": 0, **params}
    built = paced_race.built("apache", "replay", given)
    built.corpora[0].documents[0].document_file = str(path)
    return built


def query_log(folder: Path, times: Sequence[float], name: str = "queries.jsonl", **more: Any) -> Path:
    """A query log with a query at each of these seconds."""
    path = folder / name
    lines = (
        {"at": time_text(START + round(at * 1e6)), "body": {"size": number}, **more} for number, at in enumerate(times)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
