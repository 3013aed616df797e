"""Which clusters a tournament's contenders run on: those alike in all that a node is made of share one.

All clusters of a start are alive at once, and laps alternate between them. An index setting needs no cluster of its
own, a heap does; a version, a disk or somebody's own cluster likewise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paddock.plain_values import plain
from paddock.race import DEFAULT_CARS
from paddock.race.clusters import ClusterOptions
from paddock.rally.clusters import DEFAULT_CLUSTER
from paddock.tournaments import TournamentOptions
from paddock.tournaments.model import Contender, Tournament

# Folders of its nodes are called after it, and names of folders end at 255 bytes; the name of a grid's cell is long.
_LONGEST_NAME = 60


def clusters_of(tournament: Tournament, options: TournamentOptions | None = None) -> dict[str, ClusterOptions]:
    """What the cluster of every contender is to be; contenders that share one have the same.

    The baseline's is Rally's default cluster; the others are called after the first contender that runs on them.
    """
    options = options or TournamentOptions()
    baseline = next(one for one in tournament.contenders if one.name == tournament.baseline)
    ordered = [baseline, *(one for one in tournament.raced if one is not baseline)]
    known: dict[str, ClusterOptions] = {}
    found: dict[str, str] = {}
    for contender in ordered:
        made_of = _made_of(tournament, contender, options)
        key = json.dumps([plain(made_of), contender.own_cluster and contender.name], sort_keys=True, default=str)
        if key not in known:
            taken = {one.name for one in known.values()}
            known[key] = ClusterOptions(_name(contender.name, taken) if known else DEFAULT_CLUSTER, **made_of)
        known[key] = replace(known[key], called=(*known[key].called, contender.name))
        found[contender.name] = key
    return {contender.name: known[found[contender.name]] for contender in tournament.raced}


def distinct(clusters: Mapping[str, ClusterOptions]) -> tuple[ClusterOptions, ...]:
    """The clusters themselves, Rally's default one first."""
    by_name = {one.name: one for one in clusters.values()}
    return tuple(sorted(by_name.values(), key=lambda one: one.name != DEFAULT_CLUSTER))


def together(tournament: Tournament) -> tuple[tuple[str, ...], ...]:
    """The names of those who share their nodes, and so warm them up for each other: everybody on one cluster.

    Each is alone where contenders are held apart.
    """
    if tournament.node_level:
        return tuple((contender.name,) for contender in tournament.raced)
    found: dict[str, tuple[str, ...]] = {}
    for name, cluster in clusters_of(tournament).items():
        found[cluster.name] = (*found.get(cluster.name, ()), name)
    return tuple(found.values())


def runs_side_by_side(tournament: Tournament, options: TournamentOptions | None = None) -> bool:
    """Whether its races have clusters of their own: several, one of several nodes, or somebody's beside another."""
    if tournament.node_level:
        return False
    clusters = distinct(clusters_of(tournament, options))
    return len(clusters) > 1 or clusters[0].nodes > 1 or bool(clusters[0].target_hosts and not _target(options))


def _target(options: TournamentOptions | None) -> str | None:
    return options.target_hosts if options else None


def _made_of(tournament: Tournament, contender: Contender, options: TournamentOptions) -> dict[str, Any]:
    """The options of its cluster but for the name."""
    if hosts := contender.target_hosts or options.target_hosts:
        return {
            "target_hosts": hosts,
            "client_options": contender.client_options or options.client_options,
            "version": contender.version,
        }
    return {
        "car": tuple(tournament.cars_of(contender)) or DEFAULT_CARS,
        "car_params": tournament.car_params_of(contender),
        "version": contender.version or options.version,
        "engine": contender.engine or options.engine,
        "java": contender.java or options.java,
        "data_path": contender.data_path or options.data_path,
        "nodes": contender.nodes or tournament.nodes,
    }


def _name(contender: str, taken: set[str]) -> str:
    """A name that a folder and a node can have, as near to the contender's as that allows."""
    plain = re.sub(r"[^a-z0-9.]+", "-", contender.lower()).strip("-.")
    base = plain[:_LONGEST_NAME].strip("-.") or "cluster"
    candidates = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in candidates if one not in taken and one != DEFAULT_CLUSTER)
