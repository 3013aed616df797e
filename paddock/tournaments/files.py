"""Tournament files (tournaments/*.yml): read, checked, and changed as --quick and the command line say."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import FileError, UsageError, unknown
from paddock.files import checksum
from paddock.plain_values import separated
from paddock.structured_files import load_schema, read_yaml
from paddock.tournaments import TournamentOptions
from paddock.tournaments.checks import OWN_PARAMETERS, overridden, problems
from paddock.tournaments.clusters import clusters_of, distinct
from paddock.tournaments.load_shape import SHIPPER_KEYS, unasked_processes
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.own_corpus import fitted
from paddock.tournaments.pairing import DOCS_PER_SECOND, METRICS
from paddock.tournaments.placed import placed, whole_paths
from paddock.tournaments.published import cell_name, narrowed, read_published
from paddock.tracks import check_parameters, load_track, track_names

# What a factor of a grid may set beside index settings and cars, as a level has it.
_OF_LEVEL = ("bulk_size", "clients", "mapping", "mode", "codec", "sort", *SHIPPER_KEYS)
# What makes the cluster of a contender another one, beside its cars.
_OF_NODE = (
    *("version", "car_params", "engine", "java", "data_path", "nodes", "target_hosts", "client_options", "own_cluster"),
)


def listed(entries: Sequence[Mapping[str, Any]], folder: Path) -> tuple[Contender, ...]:
    """The contenders that a file in that folder lists one by one."""
    return tuple(
        Contender(
            entry["name"],
            entry.get("level"),
            tuple(entry["cars"]) if "cars" in entry else None,
            entry.get("track_params", {}),
            **{name: entry[name] for name in _OF_NODE if name in entry},
        )
        for entry in (whole_paths(one, folder) for one in entries)
    )


def cells(factors: Sequence[Mapping[str, Any]], cars: Sequence[str]) -> tuple[Contender, ...]:
    """One contender for every combination of the factors' values, the last factor changing fastest.

    :param factors: name, what it sets, values.
    :param cars: the tournament's own, to which a factor that sets cars adds its value.
    """
    values = [[(factor, value) for value in factor["values"]] for factor in factors]
    return tuple(_cell(combination, cars) for combination in itertools.product(*values))


def _cell(combination: Sequence[tuple[Mapping[str, Any], Any]], cars: Sequence[str]) -> Contender:
    coordinates = {factor["name"]: value for factor, value in combination}
    told = [(factor["set"], value) for factor, value in combination]
    settings = {name: value for name, value in told if name.startswith("index.")}
    level = {"settings": settings} if settings else {}
    level |= {name: value for name, value in told if name in _OF_LEVEL}
    own_cars = [car for name, value in told if name == "cars" for car in separated(str(value))]
    return Contender(
        cell_name(coordinates), level or None, (*cars, *own_cars) if own_cars else None, coordinates=coordinates
    )


_LAP_TASKS = "parts/lap-tasks.json"


def line_with(path: Path, word: str) -> int | None:
    """The first line, counted from 1, that holds ``word``; None if none does."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if word in line), None)


def block_challenges() -> list[str]:
    """The challenges that run laps: those made of the shared lap task."""
    files = paths.CHALLENGES.glob("[!.]*.json")
    return sorted(path.stem for path in files if _LAP_TASKS in path.read_text(encoding="utf-8"))


def _known(path: Path, what: str, name: str, names: Iterable[str], where: str, word: str) -> None:
    """Check a name that a file takes from elsewhere.

    :raises FileError: with the line that holds ``word``, and the nearest names.
    """
    if name not in (known := list(names)):
        raise FileError(path, str(unknown(what, name, known, where)), line_with(path, word))


FOLDER = paths.PROJECT / "tournaments"
# What the quick form may have in the place of the whole one, beside its size.
_NODE_AND_LOAD = ("nodes", "cars", "car_params", "track_params", "freshness", "stop_early")
DEFAULT_DOCUMENTS = 1_000_000
DEFAULT_MARGIN = 0.03
DEFAULT_CARS = ("1gheap",)


def tournament_names() -> list[str]:
    """The names of all tournament files of the project, sorted."""
    return sorted(path.stem for path in FOLDER.glob("[!.]*.yml"))


def find_file(name_or_path: str) -> Path:
    """The tournament file of that name, or the file itself if a path is given.

    :raises UsageError: if there is none; with the nearest names.
    """
    if name_or_path.endswith((".yml", ".yaml")) or "/" in name_or_path:
        return Path(name_or_path).expanduser().absolute()
    if name_or_path not in tournament_names():
        raise unknown("tournament", name_or_path, tournament_names(), "./inv tournaments")
    return FOLDER / f"{name_or_path}.yml"


def read_tournament(path: Path, options: TournamentOptions | None = None, sampled: bool = True) -> Tournament:
    """The tournament in that file, changed as the options say.

    :param sampled: whether to look into the corpus for orders that the file asks for; else they are only counted.
    :raises FileError: if the file is wrong: with the line, and the nearest names where one is unknown.
    :raises UsageError: if the options contradict it.
    """
    options = options or TournamentOptions()
    content = fitted(placed(path.stem, read_yaml(path, "tournament"), options), options, sampled)
    _known(path, "track", content["track"], track_names(), "./inv tracks", "track:")
    _known(path, "block challenge", content["challenge"], block_challenges(), "challenges/", "challenge:")
    metric = content.get("metric", DOCS_PER_SECOND.name)
    _known(path, "metric", metric, METRICS, "tournaments/README.md", "metric:")
    if "grid" in content.get("quick", {}) and "grid" not in content:
        raise FileError(path, "'quick' has a grid, but the file has none: list contenders.", line_with(path, "quick:"))
    if options.quick:
        content |= {name: value for name, value in content.get("quick", {}).items() if name in _NODE_AND_LOAD}
    cars = tuple(content.get("cars", DEFAULT_CARS))
    contenders = cells(content["grid"], cars) if "grid" in content else listed(content["contenders"], path.parent)
    names = [contender.name for contender in contenders]
    baseline = _baseline(content)
    if baseline not in names:
        error = unknown("contender", baseline, names, "The file")
        raise FileError(path, f"the baseline is none of the contenders. {error}", line_with(path, "baseline:"))
    published = read_published(path, content["published"], names, METRICS) if "published" in content else None
    sizes = dict(content)
    if options.quick:
        if "quick" not in content:
            raise UsageError(
                f"The tournament '{path.stem}' has no quick form: leave --quick out, or add one to {path}."
            )
        sizes |= content["quick"]
        contenders = _quick_contenders(path, content, contenders)
        names = [contender.name for contender in contenders]
        if published:
            own = tuple(content["quick"].get("deviations", ()))
            published = replace(narrowed(published, names), deviations=(*published.deviations, *own))
        if baseline not in names:
            raise FileError(path, f"'quick' leaves out the baseline '{baseline}'.", line_with(path, "quick:"))
    tournament = Tournament(
        name=path.stem,
        description=_described(content, contenders),
        question=content["question"],
        notes=tuple(content.get("notes", ())),
        track=content["track"],
        challenge=content["challenge"],
        cars=cars,
        baseline=baseline,
        contenders=contenders,
        metric=METRICS[metric],
        node_level=any(
            contender.track_params
            or (options.apart and (contender.differs_at_the_node or content.get("growing", False)))
            for contender in contenders
        ),
        corpus=content.get("corpus"),
        documents=sizes.get("documents", 0 if "corpus" in content else DEFAULT_DOCUMENTS),
        lap_documents=sizes.get("lap_documents", 0),
        lap_seconds=sizes.get("lap_seconds"),
        growing=content.get("growing", False),
        blocks=sizes["blocks"],
        warmup_blocks=sizes["warmup_blocks"],
        starts=sizes["starts"],
        margin=content.get("margin", DEFAULT_MARGIN),
        budget_minutes=sizes["budget_minutes"],
        stop_early=content.get("stop_early", True),
        drop_decided=content.get("drop_decided", True),
        freshness=content.get("freshness", False),
        searches=content.get("searches", 0),
        force_merge=content.get("force_merge", False),
        read_back=content.get("read_back", 0),
        different_answers=content.get("different_answers", ""),
        track_params=content.get("track_params", {}),
        car_params=content.get("car_params", {}),
        published=published,
        checksum=checksum(path),
        nodes=content.get("nodes", 1),
        driver_processes=content.get("driver_processes", 1),
        drop_caches=content.get("drop_caches", False),
    )
    if len(contenders) < 2:
        raise FileError(path, "one contender alone wins nothing: add another, or more values to the grid.")
    controlled = content.get("control", not options.quick) or options.control
    hosted = any(one.target_hosts for one in contenders)  # a twin of such a cluster would be that cluster
    if options.control and (options.no_control or tournament.node_level or hosted):
        raise UsageError(
            "--control adds a twin of the baseline, which --no-control leaves out, and which there is none of where "
            "contenders are held apart or are clusters that are there: leave one of them out."
        )
    if controlled and not options.no_control and not tournament.node_level and not hosted:
        tournament = replace(tournament, control=_twin(tournament))
    for problem, word in problems(tournament):
        raise FileError(path, problem, line_with(path, word))
    changed = _changed(tournament, options)
    track = load_track(changed.track)
    for contender in changed.contenders:
        check_parameters(track, {**changed.track_params, **contender.track_params})
    unsaid = "driver_processes" not in content and options.driver_processes is None
    return replace(changed, driver_processes=unasked_processes(changed)) if unsaid else changed


def _twin(tournament: Tournament) -> Contender:
    """The control: the baseline again, on a cluster of its own where contenders have such."""
    baseline = next(one for one in tournament.contenders if one.name == tournament.baseline)
    taken = {one.name for one in tournament.contenders}
    names = ("control", f"control of {baseline.name}", *(f"control {number}" for number in range(2, len(taken) + 3)))
    return replace(
        baseline,
        name=next(name for name in names if name not in taken),
        coordinates={},
        own_cluster=len(distinct(clusters_of(tournament))) > 1,
    )


def _baseline(content: Mapping[str, Any]) -> str:
    """The baseline's name; in a grid it may be given by its coordinates, in any order."""
    baseline = content["baseline"]
    if isinstance(baseline, str):
        return baseline
    order = [factor["name"] for factor in content.get("grid", ())]
    ordered = sorted(baseline.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))
    return cell_name(dict(ordered))


def _described(content: Mapping[str, Any], contenders: tuple[Contender, ...]) -> str:
    """What the file says of itself, and which contenders there are where --quick leaves others out."""
    description: str = content["description"]
    if len(contenders) < len(content.get("contenders", ())):
        return f"{description}; here {' and '.join(one.name for one in contenders)} only"
    left = []
    for factor in content.get("grid", ()):
        used = dict.fromkeys(str(one.coordinates[factor["name"]]) for one in contenders)
        if len(used) < len(factor["values"]):
            left.append(f"{factor['name']} {' and '.join(used)}")
    return f"{description}; here {', '.join(left)} only" if left else description


def _quick_contenders(path: Path, content: Mapping[str, Any], everyone: tuple[Contender, ...]) -> tuple[Contender, ...]:
    quick = content["quick"]
    if "contenders" in quick:
        for name in quick["contenders"]:
            _known(path, "contender", name, (contender.name for contender in everyone), "The file", "quick:")
        return tuple(contender for contender in everyone if contender.name in quick["contenders"])
    wanted = quick.get("grid", {})
    factors = {factor["name"]: factor["values"] for factor in content.get("grid", ())}
    for factor, values in wanted.items():
        _known(path, "factor", factor, factors, "The file", "quick:")
        for value in values:
            if value not in factors[factor]:
                problem = f"'quick' has {value!r} for '{factor}', which is none of its values."
                raise FileError(path, problem, line_with(path, "quick:"))
    return tuple(
        contender
        for contender in everyone
        if all(contender.coordinates[factor] in values for factor, values in wanted.items())
    )


def _changed(tournament: Tournament, options: TournamentOptions) -> Tournament:
    if options.car:
        naming = [contender.name for contender in tournament.contenders if contender.cars is not None]
        if naming:
            raise UsageError(
                f"--car would change the node of all contenders, but '{naming[0]}' names its own cars, and nodes are "
                f"what '{tournament.name}' compares: leave --car out, or write a tournament file of your own."
            )
    if options.version and (versioned := [one.name for one in tournament.contenders if one.version is not None]):
        raise UsageError(
            f"--version would change the Elasticsearch of all contenders, but '{versioned[0]}' names its own, and "
            f"versions are what '{tournament.name}' compares: leave --version out."
        )
    for parameter in options.params:
        if parameter in OWN_PARAMETERS:
            raise UsageError(
                f"The track parameter '{parameter}' is set by the tournament itself: change the tournament file, or "
                f"use --blocks, --starts, --driver-processes and --quick."
            )
    limits = load_schema("tournament")["properties"]
    asked = (("blocks", options.blocks), ("starts", options.starts), ("driver_processes", options.driver_processes))
    for name, value in asked:
        most = limits[name]["maximum"]
        if value is not None and not 1 <= value <= most:
            raise UsageError(f"--{name.replace('_', '-')} must be a whole number from 1 to {most:,}, but is {value:,}.")
    if (options.starts or 1) > 1 and any(one.target_hosts for one in tournament.contenders):
        raise UsageError("A cluster that is there is not started anew: leave --starts out.")
    changed = replace(
        tournament,
        cars=options.car or tournament.cars,
        blocks=options.blocks or tournament.blocks,
        starts=options.starts or tournament.starts,
        driver_processes=options.driver_processes or tournament.driver_processes,
        budget_minutes=options.budget or tournament.budget_minutes,
        corpus=options.corpus or tournament.corpus,
        # The file's number is of its own corpus.
        documents=options.documents or (0 if options.corpus else tournament.documents),
        track_params={**tournament.track_params, **options.params},
        car_params={**tournament.car_params, **options.car_params},
        on_target_hosts=bool(options.target_hosts),
    )
    for problem, _ in overridden(changed):
        raise UsageError(f"--car-params: {problem}")
    return changed
