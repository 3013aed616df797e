"""What a race is asked to be, before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.engine import Engine

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
