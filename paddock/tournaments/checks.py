"""What a tournament cannot be: said of its file, or of the place where it is to be held, before anything is started."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from paddock import cars
from paddock.engine import EMBEDDED
from paddock.engine.versions import DEFAULT_VERSION, brings_host_name, check_supported, has_index_modes
from paddock.errors import UsageError
from paddock.limits.asked import SWITCH
from paddock.paths import TRACKS
from paddock.plain_values import separated
from paddock.race import LARGEST_PORT
from paddock.tournaments import TournamentOptions
from paddock.tournaments.laps import MERGE_WAIT
from paddock.tournaments.load_shape import index_settings
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.own_corpus import UNSORTED, check_order
from paddock.tracks import setting_problem
from paddock.tracks.rendering import index_mappings

_ADDRESS = re.compile(r"(?:https?://)?(?:\w[\w.-]*|\[[\da-fA-F:.]+\])(?::(?P<port>\d{1,5}))?/?")
# Beginnings of setting names that belong to a node, not to an index.
_NODE_SETTINGS = ("bootstrap.", "cluster.", "discovery.", "http.", "indices.", "node.", "path.", "thread_pool.")
# What a tournament sets itself in its races.
OWN_PARAMETERS = (
    *("levels", "lap_starts", "lap_order", "lap_order_seed", "lap_journal", "lap_stop_file", "lap_documents"),
    *("blocks", "warmup_blocks", "freshness_probe", "lap_phases", "lap_searches", "lap_force_merge"),
    *("lap_read_back", "lap_dropped_file", "driver_processes", "lap_growing", "lap_seconds"),
)


def problems(tournament: Tournament) -> Iterator[tuple[str, str]]:
    """What cannot be in a tournament file: pairs of a sentence and a word of the line that it is about."""
    names = [contender.name for contender in tournament.raced]
    for name in names:
        if names.count(name) > 1:
            yield f"the contender '{name}' is listed twice: give each a name of its own.", name
    for contender in tournament.contenders:
        yield from _level_problems(tournament, contender)
        yield from _setting_problems(tournament, contender)
        yield from _car_problems(tournament, contender)
        for parameter in (*contender.track_params, *tournament.track_params):
            if parameter in OWN_PARAMETERS:
                yield f"the track parameter '{parameter}' is set by the tournament itself: leave it out.", parameter
    yield from overridden(tournament)
    yield from _growing_problems(tournament)
    if tournament.documents and tournament.lap_documents > tournament.documents and not tournament.growing:
        yield (
            f"a lap of {tournament.lap_documents:,} documents does not fit a corpus of {tournament.documents:,}: "
            f"make lap_documents smaller, or documents larger.",
            "lap_documents:",
        )
    if tournament.metric.name.startswith("freshness") and not tournament.freshness:
        yield f"the metric '{tournament.metric.name}' needs the probe: add 'freshness: true'.", "metric:"
    if tournament.metric.name == MERGE_WAIT and not tournament.growing:
        yield f"the metric '{MERGE_WAIT}' is that of slices into growing indices: add 'growing: true'.", "metric:"
    if tournament.metric.name.startswith("query") and not tournament.searches:
        yield f"the metric '{tournament.metric.name}' needs searches: add 'searches: 20'.", "metric:"
    for contender in tournament.contenders:
        building = {"cars": contender.cars, "car_params": contender.car_params or None, "nodes": contender.nodes}
        building |= {name: getattr(contender, name) for name in ("engine", "java", "data_path")}
        named = [name for name, value in building.items() if value is not None]
        if contender.target_hosts and named:
            yield (
                f"'{contender.name}' is a cluster that is there, and {' and '.join(named)} would build another: leave "
                f"one of them out.",
                contender.name,
            )
        if contender.client_options and not contender.target_hosts:
            yield (
                f"'{contender.name}' has client_options for a cluster that is there: name its target_hosts.",
                contender.name,
            )
    for contender in tournament.contenders:
        hosts = separated(contender.target_hosts or "")
        if contender.target_hosts is not None and not (hosts and all(map(_is_address, hosts))):
            yield (
                f"the target_hosts of '{contender.name}' are those of its one cluster: write host:port,host:port.",
                contender.name,
            )
        elif hosts and len(hosts) < tournament.nodes:
            yield (
                f"'{contender.name}' is a cluster of at least {tournament.nodes} nodes, as 'nodes' says, and its "
                f"target_hosts name fewer: name all of them.",
                contender.name,
            )
    yield from _sharing_problems(tournament.contenders)
    hosted = [one.name for one in tournament.contenders if one.target_hosts]
    if hosted and len(hosted) < len(tournament.contenders):
        yield (
            f"'{hosted[0]}' is a cluster that is there, and others would be started on the machine that drives the "
            f"load: give every contender target_hosts, or none.",
            "target_hosts:",
        )
    if hosted and tournament.starts > 1:
        yield "a cluster that is there is not started anew: set starts to 1.", "starts:"


def _growing_problems(tournament: Tournament) -> Iterator[tuple[str, str]]:
    """What slices of a load into growing indices cannot be."""
    if (tournament.lap_seconds is None) == (not tournament.lap_documents):
        yield "a lap is so many documents or so many seconds: give one of lap_documents and lap_seconds.", "lap_"
    if tournament.lap_seconds is not None and not tournament.growing:
        yield "lap_seconds are slices of a load into growing indices: add 'growing: true'.", "lap_seconds:"
    for contender in tournament.contenders:
        if isinstance(contender.level, Mapping) and "blocks_per_index" in contender.level and not tournament.growing:
            yield (
                f"'{contender.name}' has a new index after some blocks, and every lap has a fresh one: add "
                f"'growing: true'.",
                contender.name,
            )
    looking = {name: getattr(tournament, name) for name in ("searches", "force_merge", "read_back")}
    for name, value in looking.items():
        if tournament.growing and value:
            yield (
                f"'{name}' looks at the documents of one lap alone, and indices that grow have more: leave it out.",
                name,
            )


def _is_address(text: str) -> bool:
    """Whether it is a host, with a port or without, or its URL; a password belongs into client options."""
    found = _ADDRESS.fullmatch(text)
    if found is None or text.endswith(".json"):
        return False
    return found["port"] is None or 0 < int(found["port"]) <= LARGEST_PORT


def _sharing_problems(contenders: Sequence[Contender]) -> Iterator[tuple[str, str]]:
    """Contenders on one cluster that is there, which cannot be what both say."""
    first: dict[frozenset[str], Contender] = {}
    for contender in contenders:
        hosts = frozenset(separated(contender.target_hosts or ""))
        other = first.setdefault(hosts, contender)
        if not hosts or other is contender:
            continue
        for what, mine, theirs in (
            ("Elasticsearch", contender.version, other.version),
            ("client_options", contender.client_options, other.client_options),
        ):
            if mine != theirs:
                # Client options may hold a password.
                both = f" ({theirs or 'none'} and {mine or 'none'})" if what == "Elasticsearch" else ""
                yield (
                    f"'{other.name}' and '{contender.name}' are one cluster ({', '.join(sorted(hosts))}) and cannot "
                    f"share it, because they name different {what}{both}: give each its own target_hosts, or both "
                    f"the same {what}.",
                    contender.name,
                )


def _level_problems(tournament: Tournament, contender: Contender) -> Iterator[tuple[str, str]]:
    level = contender.level
    if level is None:
        return
    plain = level if tournament.challenge == "mapping-cost" else None
    mapping = level.get("mapping") if isinstance(level, Mapping) else plain
    if tournament.searches and mapping not in (None, "track"):
        yield (
            f"'{contender.name}' has another mapping than the track's queries are made for, so they would fail or find "
            f"less: leave 'searches' out.",
            "searches:",
        )
    if not isinstance(level, Mapping):
        if tournament.challenge == "settings":
            yield (
                f"the level of '{contender.name}' must be an object in the challenge 'settings', such as "
                f"{{settings: {{index.refresh_interval: 30s}}}}, but is {level!r}.",
                contender.name,
            )
        elif str(level) != contender.name:
            yield (
                f"the contender '{contender.name}' has the plain level {level!r}, which is a name itself: call the "
                f"contender '{level}', or write the level as an object.",
                contender.name,
            )
        return
    for setting in level.get("settings", {}):
        if setting.startswith(_NODE_SETTINGS):
            yield (
                f"'{setting}' is a setting of the node, and '{contender.name}' gives it to an index: use cars "
                f"(./inv cars) instead of level.",
                setting,
            )


def _setting_problems(tournament: Tournament, contender: Contender) -> Iterator[tuple[str, str]]:
    for setting, value in index_settings(tournament, contender).items():
        if wanted := setting_problem(setting, value):
            yield f"the setting '{setting}' of '{contender.name}' must be {wanted}, but is {value!r}.", setting


def _car_problems(tournament: Tournament, contender: Contender) -> Iterator[tuple[str, str]]:
    if contender.cars is None and contender.differs_at_the_node and not (tournament.cars or contender.target_hosts):
        yield f"the contender '{contender.name}' has no cars, and neither has the tournament: name a heap car.", "cars:"
    if contender.version is not None:
        try:
            check_supported(contender.version)
        except UsageError as error:
            yield f"the contender '{contender.name}' has a version that cannot be: {error}", contender.name
    chosen = tournament.cars_of(contender)
    try:
        cars.combine(chosen, cars.known_cars(), tournament.car_params_of(contender))
    except UsageError as error:
        wrong = next((car for car in chosen if f"'{car}'" in str(error)), contender.name)
        yield f"the contender '{contender.name}' has cars that cannot be: {error}", wrong


def overridden(tournament: Tournament) -> Iterator[tuple[str, str]]:
    """A car variable that all contenders are given, and in which they differ: it would make them alike."""
    for name, value in tournament.car_params.items():
        others = {other: told for other, told in tournament.car_params.items() if other != name}
        differing: dict[str, str] = {}
        for contender in tournament.contenders:
            if contender.target_hosts or name in contender.car_params:
                continue
            with suppress(UsageError):  # which _car_problems says
                made = cars.combine(
                    tournament.cars_of(contender), cars.known_cars(), {**others, **contender.car_params}
                )
                differing.setdefault(str(made.limits if name == SWITCH else made.variables.get(name)), contender.name)
        if len(differing) > 1:
            both = " and ".join(f"'{one}'" for one in list(differing.values())[:2])
            yield (
                f"the car variable {name} is what {both} differ in, and {value} for all of them would make them alike: "
                f"leave it out.",
                "car_params:",
            )


def check_target(tournament: Tournament, options: TournamentOptions) -> None:
    """Check that the tournament can be held where it is asked to be.

    :raises UsageError: contenders that are nodes against a cluster that is there, or what would build or start one;
        too few nodes; index modes that its Elasticsearch does not know; nothing to hold apart.
    """
    if options.apart and not tournament.node_level:
        raise UsageError(
            f"The contenders of '{tournament.name}' share a node, so there is nothing to hold apart: leave --apart out."
        )
    hosts = separated(options.target_hosts or "")
    if hosts and any(one.target_hosts for one in tournament.contenders):
        raise UsageError(
            f"The contenders of '{tournament.name}' are clusters that are there themselves, and --target-hosts names "
            f"another: leave it out."
        )
    if hosts and (tournament.node_level or any(one.differs_at_the_node for one in tournament.contenders)):
        raise UsageError(
            f"The contenders of '{tournament.name}' are nodes that have to be started, and --target-hosts names a "
            f"cluster that is there: leave it out."
        )
    if hosts and tournament.nodes > len(hosts):
        raise UsageError(
            f"The tournament '{tournament.name}' needs a cluster of at least {tournament.nodes} nodes, because a "
            f"single node holds no replica: name all of them with --target-hosts host:port,host:port, or leave it out."
        )
    _check_built(tournament, options)
    most = max(one.nodes or tournament.nodes for one in tournament.contenders)
    if most > 1 and tournament.node_level:
        raise UsageError(
            f"The contenders of '{tournament.name}' have clusters of {most} nodes, and one that is held apart has a "
            f"single node: leave --apart out, and what contenders have of track_params."
        )
    if hosts or options.engine not in (None, EMBEDDED, "official"):
        return  # what is there says itself what it is
    for contender in tournament.contenders:
        if _mode(tournament, contender) not in (None, "standard"):
            _check_mode(contender, tournament.track, contender.version or options.version or DEFAULT_VERSION)


def _check_built(tournament: Tournament, options: TournamentOptions) -> None:
    """Check that nothing is to build or to start a cluster that is there.

    :raises UsageError: else it would be left out, and the result would say that it was not.
    """
    if not (options.target_hosts or any(one.target_hosts for one in tournament.contenders)):
        return
    built = {
        "--car": options.car,
        "--car-params": options.car_params,
        "--version": options.version,
        "--engine": options.engine,
        "--java": options.java,
        "--data-path": options.data_path,
    }
    if asked := [name for name, value in built.items() if value]:
        raise UsageError(
            f"{' and '.join(asked)} would build a node, and '{tournament.name}' is held on what is there: leave "
            f"{'it' if len(asked) == 1 else 'them'} out, or the target hosts."
        )
    if tournament.starts > 1:
        raise UsageError(
            f"The tournament '{tournament.name}' has {tournament.starts} starts, and a cluster that is there is not "
            f"started anew, so that all of them would be one: add --starts 1, and --blocks for as many blocks in it."
        )


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
