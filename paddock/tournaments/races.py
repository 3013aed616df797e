"""The races of a tournament: what Rally is asked for in each start, whether that can be had, and what it has run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddock.corpora.record import CorpusRecord
from paddock.engine import Engine
from paddock.errors import UsageError
from paddock.race import DEFAULT_CARS, RaceOptions
from paddock.race.circumstances import CORPUS, LIMITS, corpus_text
from paddock.race.clusters import ClusterOptions
from paddock.race.drivers import PROCESSES
from paddock.race.options import PreparedRace, prepare
from paddock.race.shippers import asked, programs
from paddock.rally.clusters import DEFAULT_CLUSTER, Cluster
from paddock.rally.request import printable
from paddock.tournaments import TournamentOptions
from paddock.tournaments.clusters import clusters_of, distinct, runs_side_by_side
from paddock.tournaments.load_shape import unasked_processes
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.plan import Plan
from paddock.tournaments.schedule import Start
from paddock.tournaments.store import Stored

Prepare = Callable[[RaceOptions, bool, Sequence[ClusterOptions]], PreparedRace]


@dataclass(frozen=True)
class Setting:
    """What a tournament is run with.

    :param prepare: makes a race of its options; tests have one of their own.
    """

    plan: Plan
    stored: Stored
    options: TournamentOptions
    prepare: Prepare = prepare

    def spans(self, start: Start) -> tuple[Start, ...]:
        """The starts that one race runs from this one on: all that follow, where nodes can be started while it runs."""
        if not runs_side_by_side(self.plan.tournament, self.options):
            return (start,)
        following = [one for one in self.plan.schedule if one.number > start.number]
        return (start, *following)

    def race(self, starts: Sequence[Start], attempt: int = 1, fetch: bool = True) -> PreparedRace:
        """The race of one start, or of what is left of it, and of those that follow in the same race.

        :param fetch: whether to get what is missing.
        :raises PaddockError: as for any race.
        """
        tournament, side_by_side = self.plan.tournament, runs_side_by_side(self.plan.tournament, self.options)
        raced = {name for start in starts for name in start.contenders}
        on = {name: one for name, one in clusters_of(tournament, self.options).items() if name in raced}
        clusters = distinct(on) if side_by_side else ()
        return self.prepare(race_options(tournament, starts, self.options, self.stored, attempt), fetch, clusters)


@dataclass(frozen=True)
class Checked:
    """What the races of a tournament turn out to be.

    :param commands: the esrally command lines, one for each kind of start.
    :param corpora: SHA-256 by what the corpus is called.
    :param software: versions of the Elasticsearch and the Java that are started, one for each kind of start.
    :param corpus_of: contender -> its corpus, where that is there and one of ours.
    :param notes: sentences that the user should read.
    """

    commands: tuple[str, ...]
    corpora: Mapping[str, str]
    software: Mapping[str, str]
    corpus_of: Mapping[str, CorpusRecord]
    notes: tuple[str, ...]


def check_races(setting: Setting, fetch: bool, attempts: int = 0) -> Checked:
    """Prepare one race of every kind of node before the first one is run, so that mistakes show at once.

    :param fetch: whether to get what is missing.
    :param attempts: how many races there have been already; theirs are ids that no race can have any more.
    :raises PaddockError: as for a single race.
    """
    tournament, kinds = setting.plan.tournament, {}
    for start in setting.plan.schedule:
        if start.contenders not in kinds:
            kinds[start.contenders] = race = setting.race(setting.spans(start), attempts + 1, fetch)
            # The file alone cannot tell this of an imported corpus.
            most = race.corpus_documents
            if most is not None and tournament.lap_documents > most and not tournament.growing:
                raise UsageError(
                    f"A lap of {tournament.lap_documents:,} documents does not fit the corpus of "
                    f"{most:,}: make lap_documents smaller, or choose a larger corpus."
                )
    engines: dict[tuple[str, ...], Engine | None] = {}
    for names, race in kinds.items():
        on = contenders_on(tournament, setting.options)
        engines |= {on[cluster.name]: cluster.engine for cluster in race.request.clusters}
        if not race.request.clusters:
            engines[names] = race.request.engine
    _check_java(tournament, engines)
    return Checked(
        tuple(printable(race.request) for race in kinds.values()),
        {f"the corpus {race.corpus.name}": race.corpus.sha256 for race in kinds.values() if race.corpus is not None},
        _software([engine for engine in engines.values() if engine is not None]),
        {name: race.corpus for names, race in kinds.items() for name in names if race.corpus is not None},
        tuple(dict.fromkeys(note for race in kinds.values() for note in race.notes)),
    )


def _software(engines: Sequence[Engine]) -> dict[str, str]:
    versions = {"Elasticsearch": [one.version for one in engines]}
    versions["Java"] = [one.java.version for one in engines if one.java is not None]
    return {name: ", ".join(found) for name, found in versions.items() if found}


def _check_java(tournament: Tournament, engines: Mapping[tuple[str, ...], Engine | None]) -> None:
    """Check that versions of Elasticsearch are compared on one Java: JAVA17_HOME, say, fits the old one only.

    :raises UsageError: if they would not run on the same; those that bring their own are compared with it.
    """
    javas = {
        name: engine.java.version
        for names, engine in engines.items()
        for name in names
        if engine is not None and engine.java is not None
    }
    if len(set(javas.values())) > 1 and any(one.version is not None for one in tournament.contenders):
        told = ", ".join(f"{name} on {java}" for name, java in javas.items())
        raise UsageError(
            f"The contenders of '{tournament.name}' would run on different Javas ({told}), and no verdict could tell "
            f"Java from Elasticsearch: name one for all of them with --java, for example --java embedded."
        )


def contenders_on(tournament: Tournament, options: TournamentOptions) -> dict[str, tuple[str, ...]]:
    """The names of the contenders that run on each cluster."""
    found: dict[str, tuple[str, ...]] = {}
    for contender, cluster in clusters_of(tournament, options).items():
        found[cluster.name] = (*found.get(cluster.name, ()), contender)
    return found


def race_options(
    tournament: Tournament, starts: Sequence[Start], options: TournamentOptions, stored: Stored, attempt: int = 1
) -> RaceOptions:
    """The race of one start, or of several on clusters side by side, as ``./inv race`` would be asked for it."""
    contenders = {contender.name: contender for contender in tournament.raced}
    start, side_by_side = starts[0], runs_side_by_side(tournament, options)
    first = contenders[start.contenders[0]]
    race_id = stored.race_id(start.number, attempt)
    made_of = clusters_of(tournament, options)
    clusters = {name: one.name for name, one in made_of.items()} if side_by_side else {}
    # Of a start with one node, all that makes the node; what a cluster that is there contradicts is refused later.
    node = made_of[first.name]
    own_node = not node.target_hosts
    return RaceOptions(
        track=tournament.track,
        challenge=tournament.challenge,
        car=(tournament.cars if first.cars is None else first.cars) if own_node else DEFAULT_CARS,
        params={
            **tournament.track_params,
            **first.track_params,
            "levels": [_level(contenders[name], clusters.get(name)) for name in start.contenders],
            "warmup_blocks": start.warmup_blocks,
            "blocks": start.blocks,
            **(
                {"lap_starts": [_span(one, stored, race_id, one is not start) for one in starts]}
                if side_by_side
                else {"lap_order": [list(order) for order in start.orders]}
            ),
            **({"lap_growing": True} if tournament.growing else {}),
            **(
                {"lap_documents": tournament.lap_documents}
                if tournament.lap_seconds is None
                else {"lap_seconds": tournament.lap_seconds}
            ),
            "lap_journal": str(stored.lap_journal(race_id)),
            "lap_stop_file": str(stored.stop_file(race_id)),
            **({"lap_dropped_file": str(stored.dropped_file(race_id))} if tournament.drops else {}),
            **({"freshness_probe": True} if tournament.freshness else {}),
            **({"lap_phases": list(start.phases)} if tournament.freshness and not side_by_side else {}),
            **({"lap_searches": tournament.searches} if tournament.searches else {}),
            **({"lap_force_merge": True} if tournament.force_merge else {}),
            **({"lap_read_back": tournament.read_back} if tournament.read_back else {}),
            # A race of one process would not say so, unless it would have more.
            **(
                {PROCESSES: tournament.driver_processes}
                if tournament.driver_processes > 1 or unasked_processes(tournament) > 1
                else {}
            ),
        },
        car_params=node.car_params,
        # What a contender that is there says of its version is checked with its cluster.
        version=(first.version if own_node else None) or options.version,
        engine=first.engine or options.engine,
        java=first.java or options.java,
        target_hosts=node.target_hosts,
        client_options=node.client_options,
        corpus=tournament.corpus,
        documents=tournament.documents or None,
        seed=options.corpus_seed,
        port=options.port,
        data_path=first.data_path or options.data_path,
        user_tags={"tournament": stored.id, "start": start.number},
        race_id=race_id,
    )


def _level(contender: Contender, cluster: str | None) -> Any:
    """What the block challenge is told of a contender, and on which of several clusters it runs."""
    level = contender.level_object
    if cluster is None:
        return level
    return {**(level if isinstance(level, Mapping) else {"name": str(level), "value": level}), "cluster": cluster}


def _span(start: Start, stored: Stored, race_id: str, waits: bool) -> dict[str, Any]:
    """One of the starts of a race, as the lap runner is told of it."""
    return {
        "start": start.number,
        "warmup_blocks": start.warmup_blocks,
        "blocks": start.blocks,
        "order": [list(order) for order in start.orders],
        **({"phases": list(start.phases)} if start.phases else {}),
        **({"ready_file": str(stored.ready_file(race_id, start.number))} if waits else {}),
    }


def race_circumstances(
    race: PreparedRace,
    told: Mapping[str, Any],
    clusters: Mapping[str, Mapping[str, str]],
    contenders: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """What a start has run on, for the report.

    :param told: what Rally says of the race.
    :param clusters: what each cluster has told of itself, name -> text.
    :param contenders: the names of those that run on each cluster.
    """
    found = {"track revision": str(told.get("track-revision") or "")}
    if race.corpus is not None:
        found[CORPUS] = corpus_text(race.corpus)
    if names := asked(race.request.track_params):
        found["shippers"] = ", ".join(f"{name} {programs()[name].version}".strip() for name in names)
    if race.request.limited:
        found["limits of shippers"] = "; ".join(f"{one.plan.who}: {one.plan.text}" for one in race.request.limited)
    if (processes := race.request.track_params.get(PROCESSES, 1)) > 1:
        found["load driver"] = f"{processes} processes"
    if race.request.clusters:
        by_cluster = {
            ", ".join(contenders[one.name]): {**_cluster_circumstances(one), **clusters.get(one.name, {})}
            for one in race.request.clusters
        }
        for name in dict.fromkeys(name for values in by_cluster.values() for name in values):
            found[name] = _told_apart({who: values.get(name, "") for who, values in by_cluster.items()})
        if found.get(LIMITS) == "none":
            del found[LIMITS]
    else:
        found |= clusters.get(DEFAULT_CLUSTER, {})
    if (engine := race.request.engine) is not None:
        found |= {"cars": ",".join(race.request.cars), **_engine_circumstances(engine)}
    elif not race.request.clusters:
        found["cars"] = ",".join(race.request.cars)
        found["target hosts"] = race.request.hosts
        if "Elasticsearch" not in found:
            found["Elasticsearch"] = str(told.get("cluster", {}).get("distribution-version") or "unknown")
    if told.get("rally-version"):
        found["Rally"] = str(told["rally-version"])
    return {name: text for name, text in found.items() if text}


def _engine_circumstances(engine: Engine) -> dict[str, str]:
    java = {"Java": engine.java.version} if engine.java is not None else {}
    return {"Elasticsearch": f"{engine.version} ({engine.kind})", **java}


def _cluster_circumstances(cluster: Cluster) -> dict[str, str]:
    if cluster.engine is None:
        return {"target hosts": ",".join(cluster.addresses)}
    return {
        "cars": ",".join(cluster.cars),
        LIMITS: cluster.limits.text if cluster.limits else "none",
        "nodes": str(len(cluster.nodes)),
        **_engine_circumstances(cluster.engine),
    }


def _told_apart(values: Mapping[str, str]) -> str:
    """One text for all clusters where they are alike; else each one's, with the contenders that run on it."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return "; ".join(f"{who}: {value or 'not told'}" for who, value in values.items())
