"""What a race is asked to be, before anything is started, and what it came to, as race.json says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.engine import Engine
from paddock.files import read_record

# Rally's default for nodes that it provisions itself (rally.py, node.http.port).
DEFAULT_HTTP_PORT = 39200


@dataclass(frozen=True)
class RaceRequest:
    """One race.

    :param race_id: becomes Rally's race id.
    :param track: the folder of the track.
    :param engine: the Elasticsearch to provision; None to race against ``target_hosts``.
    :param cars: names of the team's cars, the one with the base configuration first.
    :param target_hosts: "host:port,..." of an existing cluster, or None.
    :param client_options: a JSON file of the user's with Rally's client options (they may hold secrets), or None.
    :param private_options: client options that stand in no file; a private one is made when Rally starts, and goes.
    :param circumstances: the machine, kept with the user tags; a command to repeat the race elsewhere lacks them.
    :param on_error: Rally's --on-error.
    :param data_path: the folder outside Rally's that car_params give to the node, cleared up after it; or None.
    :param memory_lock: whether a car asks the node to lock its memory.
    """

    race_id: str
    track: Path
    challenge: str
    cars: tuple[str, ...]
    engine: Engine | None
    track_params: Mapping[str, Any] = field(default_factory=dict)
    car_params: Mapping[str, Any] = field(default_factory=dict)
    user_tags: Mapping[str, str] = field(default_factory=dict)
    circumstances: Mapping[str, str] = field(default_factory=dict)
    target_hosts: str | None = None
    client_options: Path | None = None
    private_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    http_port: int = DEFAULT_HTTP_PORT
    test_mode: bool = False
    on_error: str = "abort"
    data_path: Path | None = None
    memory_lock: bool = False
    further_arguments: tuple[str, ...] = ()

    @property
    def provisions(self) -> bool:
        """Whether Rally starts the node itself."""
        return self.engine is not None

    @property
    def hosts(self) -> str:
        """Where Elasticsearch answers during the race."""
        return self.target_hosts or f"127.0.0.1:{self.http_port}"


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
