"""From what the user wrote to a race that can be run: every name checked before anything is started or made."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paddock import cars, paths
from paddock.advice import large_corpus, shards_per_heap
from paddock.console import progress
from paddock.corpora import store
from paddock.corpora.recipe import load_recipe
from paddock.corpora.record import CorpusRecord, corpus_file, track_parameters
from paddock.costs import Prices, read_prices
from paddock.engine import EMBEDDED, Engine, choose_engine
from paddock.errors import UsageError, unknown
from paddock.race import DEFAULT_CARS, RaceOptions
from paddock.race.circumstances import (
    CAR_PARAMETERS,
    CARS,
    CORPUS,
    LIMITS,
    circumstances,
    corpus_text,
    paddock_version,
    with_short_checksums,
)
from paddock.race.clusters import ClusterOptions, PreparedClusters, check_java_options, own_data_path, prepare_clusters
from paddock.race.drivers import DEFAULT_CLIENTS, lap_parameters
from paddock.race.full_disk import check_full_disk
from paddock.race.pipelines import asked_processors, check_clusters, check_endpoint, check_engine
from paddock.race.replay_check import check_replay, with_query_log
from paddock.race.shippers import check_shippers, limited_programs, said_of
from paddock.rally import preflight
from paddock.rally.clusters import DEFAULT_CLUSTER, Cluster
from paddock.rally.limited_programs import LimitedProgram
from paddock.rally.request import (
    OPTIONS_FILE,
    OPTIONS_VARIABLE,
    ClientOptions,
    RaceRequest,
    load_driver_hosts,
    read_client_options,
)
from paddock.sampling import Endpoint, check_cluster
from paddock.tracks import (
    Challenge,
    Track,
    check_distribution,
    check_parameters,
    copies_of_shards,
    load_track,
    parameters_of_others,
)

# Challenges that index the whole corpus into one index.
_LOADS_ALL = ("ingest", "ingest-and-search", "growing-data")
ON_ERROR = ("abort", "continue", "continue-on-network")
DEFAULT_TRACK = "apache"


@dataclass(frozen=True)
class PreparedRace:
    """A race that can be run.

    :param corpus_documents: documents in its corpus; None if the user named a corpus of their own.
    :param corpus_bytes: size of its corpus, 0 if unknown.
    :param corpus: what is known of it; None if the user named a file, or it is still to be made.
    :param notes: sentences that the user should read.
    :param prices: what money is reckoned with; None if nobody named any.
    """

    request: RaceRequest
    track: Track
    corpus_documents: int | None
    corpus_bytes: int
    notes: tuple[str, ...]
    corpus: CorpusRecord | None = None
    prices: Prices | None = None


def prepare(options: RaceOptions, fetch: bool = True, clusters: Sequence[ClusterOptions] = ()) -> PreparedRace:
    """Check the options and get ready what the race needs: engine and corpus.

    :param fetch: whether to download and generate what is missing; without (--dry-run) only to say what would run.
    :param clusters: those that are raced in the place of the options' single node.
    :raises UsageError: something was asked for that does not exist or contradicts itself.
    :raises MachineError: this machine cannot run it.
    """
    preflight.check_platform()
    own = store.track_of(options.corpus) if options.corpus and not options.track else None
    track = load_track(options.track or own or DEFAULT_TRACK)
    challenge = _challenge(track, options.challenge)
    options = with_query_log(options)
    check_parameters(track, options.params)
    if options.on_error not in ON_ERROR:
        raise unknown("value for --on-error called", options.on_error, ON_ERROR, "./inv race --help")
    if options.params.get("data_stream") and "laps" in challenge.tasks:
        raise UsageError(
            f"The challenge '{challenge.name}' runs laps, each with an index of its own, which no data stream can be: "
            f"leave data_stream out, or race a challenge that loads once, such as ingest or ingest-and-search."
        )
    check_replay(track, challenge, options.params, options.test_mode, None)
    others = parameters_of_others(track, challenge.name, options.params)
    if "laps" in challenge.tasks:
        clients = options.params.get("bulk_indexing_clients") or DEFAULT_CLIENTS
        chosen = lap_parameters(options.params, options.further_arguments, clients)
        options = replace(options, params={**options.params, **chosen})
    shipped = check_shippers(track, challenge, options.params, options.test_mode, fetch)
    held = limited_programs(options.params, _driven_elsewhere(options), fetch)
    shipped += said_of(held)
    race_id = options.race_id or str(uuid.uuid4())
    check_race_id(race_id)
    _check_target(options)
    check_full_disk(challenge.tasks, options)
    prices = read_prices(Path(options.prices).expanduser()) if options.prices else None
    if not clusters and (options.nodes > 1 or _is_limited(options)):
        clusters = (_own_cluster(options),)
    if clusters:
        prepared = prepare_clusters(clusters, race_id, options.port, fetch)
        race = _on_clusters(options, track, challenge, race_id, prepared, fetch)
        return _held_to(held, replace(race, notes=(*others, *shipped, *race.notes), prices=prices))
    processors = asked_processors(options.params).get(DEFAULT_CLUSTER, {})
    data_path = own_data_path(options.data_path, race_id)
    node_params = {**options.car_params, **({"data_paths": str(data_path)} if data_path else {})}
    combination, notes = _cars(options, node_params)
    notes += [*others, *shipped]
    client_options = ClientOptions()
    if options.target_hosts:
        client_options = read_client_options(options.client_options, hosts=options.target_hosts)
        endpoint = Endpoint.from_client_options(options.target_hosts, client_options.values)
        if fetch:
            check_cluster(endpoint)
            check_endpoint(processors, endpoint)
    if client_options.private:
        origin = "are not written as Rally reads them" if options.client_options else f"come from {OPTIONS_VARIABLE}"
        notes.append(
            f"The client options {origin}; a printed command names {OPTIONS_FILE} in their place: put them into such a "
            f'file, as {{"default": {{...}}}}, before you repeat the race with it.'
        )
    engine = None
    if not options.target_hosts:
        if options.engine in (None, EMBEDDED):
            check_distribution(track, options.params)
            check_engine(processors, EMBEDDED, ingest=False)
        engine = choose_engine(options.version, options.engine, options.java, progress, fetch)
        check_engine(processors, engine.kind, engine.ingest)
    if engine is not None and combination is not None:
        notes += list(engine.notes)
        check_java_options(engine, combination)
    corpus, documents, size, record = _corpus(options, track, fetch, notes)
    notes += _replay_notes(options, track, challenge, corpus, record)
    notes += _large_corpus(options, size)
    request = RaceRequest(
        race_id=race_id,
        track=track.folder,
        challenge=challenge.name,
        cars=combination.names if combination else ("external",),
        engine=engine,
        track_params={**corpus, **options.params},
        car_params=node_params,
        user_tags={
            **_circumstances(engine, options, record),
            **{key: str(value) for key, value in options.user_tags.items()},
        },
        circumstances=circumstances(None if engine is None else data_path or paths.benchmarks_folder()),
        target_hosts=options.target_hosts,
        client_options=client_options,
        http_port=options.port,
        test_mode=options.test_mode,
        on_error=options.on_error,
        data_path=data_path,
        memory_lock=bool(combination and combination.memory_lock),
        further_arguments=options.further_arguments,
    )
    return _held_to(held, PreparedRace(request, track, documents, size, tuple(notes), record, prices))


def _driven_elsewhere(options: RaceOptions) -> bool:
    """Whether another machine than this one drives the load of laps, which shippers run on: the first that is named."""
    return load_driver_hosts(options.further_arguments)[:1] not in ((), ("localhost",), ("127.0.0.1",))


def _held_to(held: Sequence[LimitedProgram], race: PreparedRace) -> PreparedRace:
    """The race, whose shippers and generators are limited so; its tag says it beside the limits of nodes."""
    if not held:
        return race
    said = race.request.circumstances.get(LIMITS)
    told = "; ".join([*([said] if said else []), *(f"{one.plan.who}: {one.plan.text}" for one in held)])
    circumstances = {**race.request.circumstances, LIMITS: told}
    return replace(race, request=replace(race.request, limited=tuple(held), circumstances=circumstances))


def _is_limited(options: RaceOptions) -> bool:
    """Whether its cars limit the node: such a one is started by us, inside its limits, and not by Rally."""
    return not options.target_hosts and bool(cars.combine(options.car, cars.load_cars(), options.car_params).limits)


def _own_cluster(options: RaceOptions) -> ClusterOptions:
    """The cluster of a race that asks for several nodes, or for one with limits."""
    return ClusterOptions(
        DEFAULT_CLUSTER,
        options.car,
        options.car_params,
        options.version,
        options.engine,
        options.java,
        options.data_path,
        options.nodes,
    )


def _on_clusters(
    options: RaceOptions, track: Track, challenge: Challenge, race_id: str, prepared: PreparedClusters, fetch: bool
) -> PreparedRace:
    """The race on clusters of its own."""
    notes = list(prepared.notes)
    started = [cluster for cluster in prepared.clusters if cluster.engine is not None]
    if len(prepared.clusters) == len(started) == 1:
        notes += _many_shards(options, started[0].heap_bytes)
    if any(cluster.engine.kind == EMBEDDED for cluster in started if cluster.engine):
        check_distribution(track, options.params)
    check_clusters(asked_processors(options.params), prepared, fetch)
    corpus, documents, size, record = _corpus(options, track, fetch, notes)
    notes += _replay_notes(options, track, challenge, corpus, record)
    notes += _large_corpus(options, size)
    data = next((cluster.data_path for cluster in started if cluster.data_path), None) or paths.benchmarks_folder()
    request = RaceRequest(
        race_id=race_id,
        track=track.folder,
        challenge=challenge.name,
        cars=tuple(dict.fromkeys(car for cluster in started for car in cluster.cars)) or ("external",),
        engine=None,
        track_params={**corpus, **options.params},
        user_tags={
            **_circumstances(started[0].engine if started else None, options, record),
            **_cars_started(started),
            **{key: str(value) for key, value in options.user_tags.items()},
        },
        circumstances={**circumstances(data if started else None), **_limits(prepared)},
        client_options=prepared.client_options,
        test_mode=options.test_mode,
        on_error=options.on_error,
        further_arguments=options.further_arguments,
        clusters=prepared.clusters,
    )
    return PreparedRace(request, track, documents, size, tuple(notes), record)


def _limits(prepared: PreparedClusters) -> dict[str, str]:
    """What its nodes are held to."""
    held = {cluster.name: cluster.limits.text for cluster in prepared.clusters if cluster.limits is not None}
    if not held:
        return {}
    alone = len(prepared.clusters) == 1
    return {LIMITS: "; ".join(text if alone else f"{name}: {text}" for name, text in held.items())}


def _cars_started(clusters: Sequence[Cluster]) -> dict[str, str]:
    """The cars of one cluster of its own; those of several are a tournament's, whose journal says them."""
    if len(clusters) != 1:
        return {}
    changed = [f"{name}={value}" for name, value in clusters[0].car_params.items() if name != "data_paths"]
    return {CARS: ", ".join(clusters[0].cars), **({CAR_PARAMETERS: ", ".join(changed)} if changed else {})}


def _challenge(track: Track, name: str | None) -> Challenge:
    if name is None:
        return next(challenge for challenge in track.challenges if challenge.default)
    known = {challenge.name: challenge for challenge in track.challenges}
    if name not in known:
        raise unknown("challenge", name, known, "./inv challenges")
    return known[name]


def check_race_id(race_id: str) -> None:
    """Check that a race can have this id.

    :raises UsageError: it is no id, or there is a race of this id, which Rally would write into.
    """
    if not race_id or not all(letter.isalnum() or letter in "-_." for letter in race_id) or race_id.startswith("."):
        raise UsageError(f"'{race_id}' cannot be a race id: use letters, digits, '-', '_' and '.' only.")
    if (paths.races_folder() / race_id).exists():
        raise UsageError(f"There is a race '{race_id}' already: choose another --race-id, or leave it out.")


def _check_target(options: RaceOptions) -> None:
    """Options that say how to build a node make no sense for a cluster that is there."""
    for word in options.further_arguments:
        name = word.partition("=")[0]
        # Rally understands abbreviations.
        if len(name) > len("--") and any(option.startswith(name) for option in ("--target-hosts", "--client-options")):
            raise UsageError(f"{name} in --rally-args passes by all checks: give it as an option of ./inv race.")
    if not options.target_hosts:
        if options.client_options:
            raise UsageError(
                "--client-options is for an existing cluster: name it with --target-hosts, or leave it out."
            )
        return
    built = {
        "--version": options.version,
        "--engine": options.engine,
        "--java": options.java,
        "--car-params": options.car_params,
        "--data-path": options.data_path,
        "--car": options.car != DEFAULT_CARS,
        "--nodes": options.nodes != 1,
    }
    contradicting = [name for name, value in built.items() if value]
    if contradicting:
        raise UsageError(
            f"{' and '.join(contradicting)} would build a node, and --target-hosts races against one that is there: "
            f"leave one of them out."
        )


def _cars(options: RaceOptions, car_params: Mapping[str, Any]) -> tuple[cars.Combination | None, list[str]]:
    if options.target_hosts:
        return None, []
    combination = cars.combine(options.car, cars.load_cars(), car_params)
    cars.check_data_paths(combination)
    notes = cars.check_machine(combination, cars.this_machine())
    return combination, [*notes, *_many_shards(options, combination.heap_bytes)]


def _many_shards(options: RaceOptions, heap: int) -> list[str]:
    """What Elastic would say of the shards that a node with that heap, in bytes, holds of the race's index."""
    primaries, copies = copies_of_shards(options.params)
    many = shards_per_heap(primaries * copies / options.nodes, heap, "A node", options.version)
    return [many] if many else []


def _large_corpus(options: RaceOptions, size: int) -> list[str]:
    """What Elastic would say of shards that hold all documents; nothing where laps make small indices of them."""
    partial = ("document_count", "ingest_percentage", "data_stream", "rollover")
    partly = any(options.params.get(name) for name in partial)
    if partly or options.test_mode or options.challenge not in (None, *_LOADS_ALL):
        return []
    large = large_corpus(size, copies_of_shards(options.params)[0])
    return [large] if large else []


def _corpus(
    options: RaceOptions, track: Track, fetch: bool, notes: list[str]
) -> tuple[dict[str, Any], int | None, int, CorpusRecord | None]:
    """Track parameters other than the track's own defaults, the number of documents, their bytes, the record."""
    params = options.params
    if "corpus_file" in params:
        if options.corpus:
            raise UsageError("--corpus and the track parameter corpus_file both name a corpus: leave one of them out.")
        return {}, params.get("corpus_documents"), int(params.get("corpus_bytes") or 0), None
    if fetch:
        record = store.ensure_named(track.name, options.corpus, options.documents, options.seed, progress)
    else:
        found = store.find_named(track.name, options.corpus, options.documents, options.seed)
        if found is None:
            notes.append("The corpus is not there yet; the first race makes it and fills in corpus_bytes.")
            return _planned_corpus(options), options.documents, 0, None
        record = found
    defaults = {parameter.name: parameter.default for parameter in track.parameters}
    wanted = track_parameters(record)
    differing = {name: value for name, value in wanted.items() if defaults.get(name) != value}
    return differing, record.documents, record.bytes, record


def _replay_notes(
    options: RaceOptions, track: Track, challenge: Challenge, corpus: Mapping[str, Any], record: CorpusRecord | None
) -> list[str]:
    """How long a replay takes, once its corpus is there; nothing of other challenges."""
    if record is None:
        return []
    said = check_replay(track, challenge, {**corpus, **options.params}, options.test_mode, record)
    return [said] if said else []


def _planned_corpus(options: RaceOptions) -> dict[str, Any]:
    """The track parameters of a recipe's corpus that is still to be made, if another than the track's own is named."""
    if options.corpus is None:
        return {}
    recipe = load_recipe(options.corpus)
    documents = recipe.documents if options.documents is None else options.documents
    seed = recipe.seed if options.seed is None else options.seed
    file = corpus_file(recipe.track, recipe.name, documents, seed, recipe.seed)
    return {"corpus_file": file.name, "corpus_documents": documents}


def _circumstances(engine: Engine | None, options: RaceOptions, corpus: CorpusRecord | None) -> dict[str, str]:
    """What race.json does not say by itself of the software and of the corpus."""
    tags = {"paddock": paddock_version(), "engine": engine.kind if engine else "external"}
    if engine and engine.java:
        tags["java"] = engine.java.version
    if options.test_mode:
        tags["test-mode"] = "true"
    if corpus:
        tags[CORPUS] = with_short_checksums(corpus_text(corpus))
    return tags
