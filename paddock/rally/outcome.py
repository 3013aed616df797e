"""What a race came to, as race.json says it: Rally's exit code alone cannot be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.files import read_record


@dataclass(frozen=True)
class Outcome:
    """A finished race.

    :param race: the whole of race.json.
    :param error_rates: per task, the share of requests that failed (0 to 1), only those above 0.
    """

    race_id: str
    file: Path
    race: dict[str, Any]
    error_rates: dict[str, float]


def race_file(race_id: str) -> Path:
    """Where Rally writes race.json."""
    return paths.races_folder() / race_id / "race.json"


def read_outcome(race_id: str) -> Outcome | None:
    """The outcome of that race; None if it did not come to its end.

    Rally writes race.json twice: first without results, and with them when the race has ended.
    """
    file = race_file(race_id)
    race = read_record(file)
    results = race.get("results")
    if not results:
        return None
    rates = {task["task"]: float(task.get("error_rate") or 0) for task in results.get("op_metrics", [])}
    return Outcome(race_id, file, race, {task: rate for task, rate in rates.items() if rate > 0})
