"""The load of a contender's laps: documents per bulk, clients, processes that these are spread over, and shards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from paddock.race.drivers import DEFAULT_CLIENTS, default_processes
from paddock.tournaments.model import Contender, Tournament
from paddock.tracks import copies_of_shards, named_settings, settings_by_name

DEFAULT_BULK_SIZE = 1000
# What a level, and a track parameter of the same name, say of a shipper (tracks/shared/shipper_settings.py).
SHIPPER_KEYS = (
    *("shipper", "shipper_batch", "shipper_workers", "shipper_queue", "shipper_queue_size"),
    *("shipper_main_queue_size", "shipper_main_batch", "shipper_main_workers", "shipper_retries", "shipper_input"),
    *("shipper_parsing", "shipper_processors", "generator_processors"),
    *("shipper_limit_cpu_quota", "shipper_limit_memory", "generator_limit_cpu_quota", "generator_limit_memory"),
)
OWN_CLIENTS = "rally"


def load_shape(tournament: Tournament, contender: Contender) -> tuple[int, int]:
    """Documents per bulk, and clients, of a contender's laps; of a shipper its batch and its workers."""
    params, level = told(tournament, contender)
    size = level.get("bulk_size") or params.get("bulk_size") or DEFAULT_BULK_SIZE
    clients = level.get("clients") or params.get("bulk_indexing_clients") or DEFAULT_CLIENTS
    if ships(tournament, contender):
        size = level.get("shipper_batch") or params.get("shipper_batch") or size
        clients = level.get("shipper_workers") or params.get("shipper_workers") or clients
    return int(size), int(clients)


def parsed_on_node(tournament: Tournament, contender: Contender) -> bool:
    """Whether a contender's documents are sent as they are before they are parsed, and an ingest pipeline does that."""
    _, level = told(tournament, contender)
    return level.get("pipeline") is not None


def ships(tournament: Tournament, contender: Contender) -> bool:
    """Whether a shipper sends a contender's laps, and not Rally's own clients."""
    params, level = told(tournament, contender)
    return (level.get("shipper") or params.get("shipper") or OWN_CLIENTS) != OWN_CLIENTS


def shards(tournament: Tournament, contender: Contender) -> int:
    """Shards of the index of a contender's laps, replicas included."""
    primaries, copies = copies_of_shards({"index_settings": index_settings(tournament, contender)})
    return primaries * copies


def index_settings(tournament: Tournament, contender: Contender) -> dict[str, Any]:
    """Settings of the index of a contender's laps, without "index.", as far as tournament and level name them.

    Those of the level win over those of track parameters.
    """
    params, level = told(tournament, contender)
    return named_settings(params) | settings_by_name(level.get("settings"))


def unasked_processes(tournament: Tournament) -> int:
    """How many processes send the load of its laps where nobody has said: as many as any contender has use for."""
    own = [load_shape(tournament, one)[1] for one in tournament.contenders if not ships(tournament, one)]
    return default_processes(max(own, default=1))


def _is_size(level: Any) -> bool:
    """As tracks/shared/levels.py has it: what is neither a durability nor a time."""
    return re.fullmatch(r"[0-9]+[kmgt]?b", str(level).lower()) is not None


def told(tournament: Tournament, contender: Contender) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The track parameters of its races, and its level as an object; of a plain level the challenge says what it is."""
    params, level = {**tournament.track_params, **contender.track_params}, contender.level
    if isinstance(level, Mapping):
        return params, level
    plain_levels = {
        "bulk-size": {"bulk_size": level},
        "bulk-clients": {"clients": level},
        "shipper": {"shipper": level},
        "refresh-interval": {"settings": {"refresh_interval": level}},
        "shards": {"settings": {"number_of_shards": level}},
        "replicas": {"settings": {"number_of_replicas": level}},
        "translog-flush": {"settings": {"translog.flush_threshold_size": level}} if _is_size(level) else {},
    }
    return params, plain_levels.get(tournament.challenge, {}) if level is not None else {}
