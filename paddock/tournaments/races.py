"""The races of a tournament: what Rally is asked for in each start, whether that can be had, and what it has run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from paddock.engine import EMBEDDED, Engine
from paddock.engine.versions import DEFAULT_VERSION, brings_host_name, has_index_modes
from paddock.errors import UsageError
from paddock.paths import TRACKS
from paddock.race import DEFAULT_CARS, RaceOptions
from paddock.race.circumstances import CORPUS, corpus_text
from paddock.race.options import PreparedRace, prepare
from paddock.rally.request import printable
from paddock.rally.run import RaceOutcome
from paddock.tournaments import TournamentOptions
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.own_corpus import UNSORTED, check_order
from paddock.tournaments.plan import Plan
from paddock.tournaments.schedule import Start
from paddock.tournaments.store import Stored
from paddock.tracks.rendering import index_mappings

Prepare = Callable[[RaceOptions, bool], PreparedRace]


@dataclass(frozen=True)
class Setting:
    """What a tournament is run with.

    :param prepare: makes a race of its options; tests have one of their own.
    """

    plan: Plan
    stored: Stored
    options: TournamentOptions
    prepare: Prepare = prepare

    def race(self, start: Start, attempt: int = 1, fetch: bool = True) -> PreparedRace:
        """The race of a start, or of what is left of it.

        :param fetch: whether to get what is missing.
        :raises PaddockError: as for any race.
        """
        return self.prepare(race_options(self.plan.tournament, start, self.options, self.stored, attempt), fetch)


@dataclass(frozen=True)
class Checked:
    """What the races of a tournament turn out to be.

    :param commands: the esrally command lines, one for each kind of start.
    :param corpora: SHA-256 by what the corpus is called.
    :param software: versions of the Elasticsearch and the Java that are started, one for each kind of start.
    """

    commands: tuple[str, ...]
    corpora: Mapping[str, str]
    software: Mapping[str, str]


def check_target(tournament: Tournament, options: TournamentOptions) -> None:
    """Check that the tournament can be held where it is asked to be.

    :raises UsageError: contenders that are nodes against a cluster that is there; too few nodes; index modes that its
        Elasticsearch does not know.
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
    if hosts or options.engine not in (None, EMBEDDED, "official"):
        return  # what is there says itself what it is
    for contender in tournament.contenders:
        if _mode(tournament, contender) not in (None, "standard"):
            _check_mode(contender, tournament.track, contender.version or options.version or DEFAULT_VERSION)


def check_orders(tournament: Tournament) -> None:
    """Check that its contenders' orders are of fields that the track's index has.

    :raises UsageError: if all laps of one would be void.
    """
    for contender in tournament.contenders:
        level = contender.level if isinstance(contender.level, Mapping) else {}
        # Another mapping than the track's is known to the laps alone.
        if level.get("sort", UNSORTED) != UNSORTED and "mapping" not in level:
            check_order(level["sort"], tournament.track)


def _check_mode(contender: Contender, track: str, version: str) -> None:
    """Check that a contender can have its index mode, other than standard.

    :raises UsageError: if all its laps would be void.
    """
    problem = None
    if not has_index_modes(version):
        problem = f"Elasticsearch {version} does not know: name a version from 8.17.0 on"
    elif brings_host_name(version):
        host = index_mappings(TRACKS / track).get("properties", {}).get("host", {"properties": {}})
        if "properties" not in host:
            problem = f"Elasticsearch {version} has not with a field 'host' ({track}): name one from 8.18.0 on"
    if problem:
        raise UsageError(f"The contender '{contender.name}' has an index mode that {problem} with --version.")


def _mode(tournament: Tournament, contender: Contender) -> str | None:
    level = contender.level_object
    if isinstance(level, Mapping):
        return level.get("mode")
    return str(level) if tournament.challenge == "index-mode" else None


def check_races(setting: Setting, fetch: bool, attempts: int = 0) -> Checked:
    """Prepare one race of every kind of node before the first one is run, so that mistakes show at once.

    :param fetch: whether to get what is missing.
    :param attempts: how many races there have been already; theirs are ids that no race can have any more.
    :raises PaddockError: as for a single race.
    """
    tournament, kinds = setting.plan.tournament, {}
    for start in setting.plan.schedule:
        if start.contenders not in kinds:
            kinds[start.contenders] = race = setting.race(start, attempts + 1, fetch)
            # The file alone cannot tell this of an imported corpus.
            if race.corpus_documents is not None and tournament.lap_documents > race.corpus_documents:
                raise UsageError(
                    f"A lap of {tournament.lap_documents:,} documents does not fit the corpus of "
                    f"{race.corpus_documents:,}: make lap_documents smaller, or choose a larger corpus."
                )
    engines = {start: race.request.engine for start, race in kinds.items()}
    _check_java(tournament, engines)
    return Checked(
        tuple(printable(race.request) for race in kinds.values()),
        {f"the corpus {race.corpus.name}": race.corpus.sha256 for race in kinds.values() if race.corpus is not None},
        _software([engine for engine in engines.values() if engine is not None]),
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


def race_options(
    tournament: Tournament, start: Start, options: TournamentOptions, stored: Stored, attempt: int = 1
) -> RaceOptions:
    """The race of one start, as ``./inv race`` would be asked for it."""
    contenders = {contender.name: contender for contender in tournament.contenders}
    first = contenders[start.contenders[0]]
    race_id = stored.race_id(start.number, attempt)
    own_node = not options.target_hosts
    return RaceOptions(
        track=tournament.track,
        challenge=tournament.challenge,
        car=(tournament.cars if first.cars is None else first.cars) if own_node else DEFAULT_CARS,
        params={
            **tournament.track_params,
            **first.track_params,
            "levels": [contenders[name].level_object for name in start.contenders],
            "lap_order": [list(order) for order in start.orders],
            "warmup_blocks": start.warmup_blocks,
            "blocks": start.blocks,
            "lap_documents": tournament.lap_documents,
            "lap_journal": str(stored.lap_journal(race_id)),
            "lap_stop_file": str(stored.stop_file(race_id)),
            **({"freshness_probe": True, "lap_phases": list(start.phases)} if tournament.freshness else {}),
            **({"lap_searches": tournament.searches} if tournament.searches else {}),
            **({"lap_force_merge": True} if tournament.force_merge else {}),
            **({"lap_read_back": tournament.read_back} if tournament.read_back else {}),
        },
        car_params=tournament.car_params if own_node else {},
        version=first.version or options.version,
        engine=options.engine,
        java=options.java,
        target_hosts=options.target_hosts,
        client_options=options.client_options,
        corpus=tournament.corpus,
        documents=tournament.documents or None,
        seed=options.corpus_seed,
        port=options.port,
        data_path=options.data_path,
        user_tags={"tournament": stored.id, "start": start.number},
        race_id=race_id,
    )


def race_circumstances(race: PreparedRace, outcome: RaceOutcome, lucene: str) -> dict[str, str]:
    """What a start has run on, for the report."""
    engine = race.request.engine
    found = {"cars": ",".join(race.request.cars), "track revision": str(outcome.race.get("track-revision") or "")}
    if race.corpus is not None:
        found[CORPUS] = corpus_text(race.corpus)
    if engine is not None:
        found["Elasticsearch"] = f"{engine.version} ({engine.kind})"
        if engine.java is not None:
            found["Java"] = engine.java.version
    else:
        found["Elasticsearch"] = str(outcome.race.get("cluster", {}).get("distribution-version") or "unknown")
        found["target hosts"] = race.request.hosts
    found["Lucene"] = lucene
    if outcome.race.get("rally-version"):
        found["Rally"] = str(outcome.race["rally-version"])
    return {name: text for name, text in found.items() if text}
