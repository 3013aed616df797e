"""The journal of a paced load or a replay: what is planned, and a JSON line for every request that is answered.

Rally itself keeps samples only in an Elasticsearch metrics store; race.json has nothing but percentiles of the whole
load. Several worker processes append to the same file, so each line is written with one call.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from shared.pace import Pace


def append_schedule(path: Path, began: float, pace: Pace) -> None:
    """Say what is planned.

    :param began: seconds since 1970 at which the load began; tells the lines of one race from those of another.
    """
    phases = [{"name": one.name, "begin": one.begin, "end": one.end, "rate": one.rate} for one in pace.phases]
    append(path, {"kind": "schedule", "began": round(began, 3), "documents": pace.documents, "phases": phases})


def append_bulk(
    path: Path,
    *,
    began: float,
    client: int,
    phase: str,
    due: float,
    sent: float,
    answered: float,
    documents: int,
    success: bool,
) -> None:
    """Add one bulk; times in seconds since ``began``, which is in seconds since 1970."""
    append(
        path,
        {
            "kind": "bulk",
            "began": round(began, 3),
            "client": client,
            "phase": phase,
            "due": round(due, 6),
            "sent": round(sent, 6),
            "answered": round(answered, 6),
            "documents": documents,
            "success": success,
        },
    )


def append(path: Path, record: dict[str, Any]) -> None:
    """Add one line, whole whoever else adds one."""
    line = (json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n").encode("utf-8")
    # Not kept open: Rally never tells a schedule that it is over.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line)
    finally:
        os.close(file)
