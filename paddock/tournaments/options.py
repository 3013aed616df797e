"""What the user asks of a tournament on the command line, and what becomes of it in each race."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.cars import parse_car_names
from paddock.errors import UsageError
from paddock.race.options import DEFAULT_CAR, RaceOptions
from paddock.rally.command import parse_pairs
from paddock.rally.request import DEFAULT_HTTP_PORT
from paddock.tournaments.contenders import level_object
from paddock.tournaments.files import Changes, check_own_parameters
from paddock.tournaments.model import Tournament
from paddock.tournaments.schedule import Start


@dataclass(frozen=True)
class TournamentOptions:
    """The options of ``./inv tournament``; None where nothing was said, and then the tournament file holds.

    :param seed: of the order; None for one from the clock.
    :param resume: a tournament to go on with, by its id or the name of its file; "latest" for any.
    :param budget: minutes.
    :param corpus: a recipe of the track or an imported corpus.
    :param documents, corpus_seed: size and seed of the corpus.
    """

    quick: bool = False
    seed: int | None = None
    dry_run: bool = False
    resume: str | None = None
    budget: float | None = None
    blocks: int | None = None
    starts: int | None = None
    car: str | None = None
    params: str | None = None
    car_params: str | None = None
    corpus: str | None = None
    documents: int | None = None
    corpus_seed: int | None = None
    version: str | None = None
    engine: str | None = None
    java: str | None = None
    target_hosts: str | None = None
    client_options: str | None = None
    port: int = DEFAULT_HTTP_PORT
    data_path: str | None = None

    def changes(self) -> Changes:
        """What they change of the tournament file.

        :raises UsageError: if they set what the tournament itself sets.
        """
        params = parse_pairs(self.params, "--params") if self.params else {}
        check_own_parameters(params)
        return Changes(
            quick=self.quick,
            blocks=self.blocks,
            starts=self.starts,
            budget_minutes=self.budget,
            corpus=self.corpus,
            documents=self.documents,
            cars=tuple(parse_car_names(self.car)) if self.car else None,
            track_params=params,
            car_params=parse_pairs(self.car_params, "--car-params") if self.car_params else None,
        )


def check_target(tournament: Tournament, options: TournamentOptions) -> None:
    """Check that the tournament can be held where it is asked to be.

    :raises UsageError: contenders that are nodes against a cluster that is there; too few nodes.
    """
    hosts = [host for host in (options.target_hosts or "").split(",") if host.strip()]
    if hosts and tournament.node_level:
        raise UsageError(
            f"The contenders of '{tournament.name}' are nodes that have to be started, and --target-hosts names a "
            f"cluster that is there: leave it out."
        )
    if tournament.nodes > max(1, len(hosts)):
        raise UsageError(
            f"The tournament '{tournament.name}' needs a cluster of at least {tournament.nodes} nodes, because a "
            f"single node holds no replica: name them with --target-hosts host:port,host:port."
        )


def race_options(
    tournament: Tournament,
    start: Start,
    options: TournamentOptions,
    race_id: str,
    tournament_id: str,
    lap_journal: Path,
    stop_file: Path,
) -> RaceOptions:
    """The race of one start, as ``./inv race`` would be asked for it."""
    contenders = {contender.name: contender for contender in tournament.contenders}
    first = contenders[start.contenders[0]]
    chosen = first.cars if tournament.node_level and first.cars is not None else tournament.cars
    params = {
        **tournament.track_params,
        **(first.track_params if tournament.node_level else {}),
        "levels": [level_object(contenders[name]) for name in start.contenders],
        "lap_order": [list(order) for order in start.orders],
        "warmup_blocks": start.warmup_blocks,
        "blocks": start.blocks,
        "lap_documents": tournament.lap_documents,
        "lap_journal": str(lap_journal),
        "lap_stop_file": str(stop_file),
        **({"freshness_probe": True, "lap_phases": list(start.phases)} if tournament.freshness else {}),
        **({"lap_searches": tournament.searches} if tournament.searches else {}),
    }
    own_node = not options.target_hosts
    return RaceOptions(
        track=tournament.track,
        challenge=tournament.challenge,
        car=",".join(chosen) if own_node else DEFAULT_CAR,
        params=_as_option(params),
        car_params=_as_option(tournament.car_params) if own_node else None,
        version=options.version,
        engine=options.engine,
        java=options.java,
        target_hosts=options.target_hosts,
        client_options=options.client_options,
        corpus=tournament.corpus,
        documents=tournament.documents or None,
        seed=options.corpus_seed,
        port=options.port,
        data_path=options.data_path,
        user_tags=f"tournament:{tournament_id},start:{start.number}",
        race_id=race_id,
    )


def _as_option(values: Mapping[str, Any]) -> str | None:
    return json.dumps(dict(values)) if values else None
