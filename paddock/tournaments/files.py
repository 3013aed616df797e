"""Tournament files (tournaments/*.yml): read, changed as --quick and the command line say, and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paddock import cars, paths
from paddock.errors import FileError, UsageError, unknown
from paddock.files import checksum
from paddock.structured_files import load_schema, read_yaml
from paddock.tournaments import contenders as contending
from paddock.tournaments.contenders import differs_at_the_node, narrowed, read_published
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.pairing import find_metric
from paddock.tracks import track_names

# Beginnings of setting names that belong to a node, not to an index.
_NODE_SETTINGS = ("bootstrap.", "cluster.", "discovery.", "http.", "indices.", "node.", "path.", "thread_pool.")
# What a tournament sets itself in its races.
_OWN_PARAMETERS = (
    *("levels", "lap_order", "lap_order_seed", "lap_journal", "lap_stop_file", "lap_documents"),
    *("blocks", "warmup_blocks", "freshness_probe", "lap_phases", "lap_searches"),
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


def check_content(path: Path, content: Mapping[str, Any]) -> None:
    """Check the names that a file takes from elsewhere.

    :raises FileError: with the line and the nearest names.
    """
    if content["track"] not in track_names():
        error = unknown("track", content["track"], track_names(), "./inv tracks")
        raise FileError(path, str(error), line_with(path, "track:"))
    if content["challenge"] not in block_challenges():
        error = unknown("block challenge", content["challenge"], block_challenges(), "challenges/")
        raise FileError(path, str(error), line_with(path, "challenge:"))
    if "quick" in content and "grid" in content["quick"] and "grid" not in content:
        raise FileError(path, "'quick' has a grid, but the file has none: list contenders.", line_with(path, "quick:"))


def check_tournament(path: Path, tournament: Tournament) -> None:
    """Refuse what contradicts itself.

    :raises FileError: with a sentence, and the line where one is known.
    """
    if len(tournament.contenders) < 2:
        raise FileError(path, "one contender alone wins nothing: add another, or more values to the grid.")
    for problem, word in _problems(tournament):
        raise FileError(path, problem, line_with(path, word))


def _problems(tournament: Tournament) -> Iterator[tuple[str, str]]:
    """Pairs of a sentence and a word of the line that it is about."""
    names = [contender.name for contender in tournament.contenders]
    for name in names:
        if names.count(name) > 1:
            yield f"the contender '{name}' is listed twice: give each a name of its own.", name
    for contender in tournament.contenders:
        yield from _level_problems(tournament, contender)
        yield from _car_problems(tournament, contender)
        for parameter in (*contender.track_params, *tournament.track_params):
            if parameter in _OWN_PARAMETERS:
                yield f"the track parameter '{parameter}' is set by the tournament itself: leave it out.", parameter
    if tournament.documents and tournament.lap_documents > tournament.documents:
        yield (
            f"a lap of {tournament.lap_documents:,} documents does not fit a corpus of {tournament.documents:,}: "
            f"make lap_documents smaller, or documents larger.",
            "lap_documents:",
        )
    if tournament.metric.name.startswith("freshness") and not tournament.freshness:
        yield f"the metric '{tournament.metric.name}' needs the probe: add 'freshness: true'.", "metric:"
    if tournament.metric.name.startswith("query") and not tournament.searches:
        yield f"the metric '{tournament.metric.name}' needs searches: add 'searches: 20'.", "metric:"
    if tournament.nodes > 1 and tournament.node_level:
        yield (
            f"contenders with cars are nodes that are started here, one at a time, and 'nodes' asks for "
            f"{tournament.nodes}: leave one of them out.",
            "nodes:",
        )


def _mapping(tournament: Tournament, level: Any) -> Any:
    """The mapping variant that a level names; None if it leaves the track's own."""
    if isinstance(level, Mapping):
        return level.get("mapping")
    return level if tournament.challenge == "mapping-cost" else None


def _level_problems(tournament: Tournament, contender: Contender) -> Iterator[tuple[str, str]]:
    level = contender.level
    if level is None:
        return
    if tournament.searches and _mapping(tournament, level) not in (None, "track"):
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


def _car_problems(tournament: Tournament, contender: Contender) -> Iterator[tuple[str, str]]:
    if contender.cars is None and differs_at_the_node(contender) and not tournament.cars:
        yield f"the contender '{contender.name}' has no cars, and neither has the tournament: name a heap car.", "cars:"
    chosen = tournament.cars if contender.cars is None else contender.cars
    try:
        cars.combine(list(chosen), cars.load_cars(), tournament.car_params)
    except UsageError as error:
        wrong = next((car for car in chosen if f"'{car}'" in str(error)), contender.name)
        yield f"the contender '{contender.name}' has cars that cannot be: {error}", wrong


def check_own_parameters(params: Mapping[str, Any]) -> None:
    """Refuse track parameters on the command line that a tournament sets itself.

    :raises UsageError: with the option to use instead.
    """
    for parameter in params:
        if parameter in _OWN_PARAMETERS:
            raise UsageError(
                f"The track parameter '{parameter}' is set by the tournament itself: change the tournament file, or "
                f"use --blocks, --starts and --quick."
            )


FOLDER = paths.PROJECT / "tournaments"
DEFAULT_DOCUMENTS = 1_000_000
DEFAULT_MARGIN = 0.03
DEFAULT_CARS = ("1gheap",)


@dataclass(frozen=True)
class Changes:
    """What the user changes of a tournament file for one tournament; None where the file's own holds.

    :param cars: for tournaments whose contenders do not name cars themselves.
    :param track_params: track parameters of all races, on top of the file's.
    """

    quick: bool = False
    blocks: int | None = None
    starts: int | None = None
    budget_minutes: float | None = None
    corpus: str | None = None
    documents: int | None = None
    cars: tuple[str, ...] | None = None
    track_params: Mapping[str, Any] | None = None
    car_params: Mapping[str, Any] | None = None


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


def read_tournament(path: Path, changes: Changes | None = None) -> Tournament:
    """The tournament in that file.

    :raises FileError: if the file is wrong: with the line, and the nearest names where one is unknown.
    :raises UsageError: if the changes contradict it.
    """
    changes = changes or Changes()
    content = read_yaml(path, "tournament")
    check_content(path, content)
    cars = tuple(content.get("cars", DEFAULT_CARS))
    contenders = _contenders(content, cars)
    baseline = _baseline(content)
    everyone = {contender.name: contender for contender in contenders}
    if baseline not in everyone:
        error = unknown("contender", baseline, everyone, "The file")
        raise FileError(
            path, f"the baseline is none of the contenders. {error}", line_with(path, "baseline:")
        ) from None
    published = read_published(path, content["published"], everyone) if "published" in content else None
    sizes = dict(content)
    if changes.quick:
        quick = content.get("quick")
        if quick is None:
            raise UsageError(
                f"The tournament '{path.stem}' has no quick form: leave --quick out, or add one to {path}."
            )
        sizes |= quick
        contenders = _quick_contenders(path, content, contenders)
        if published:
            published = narrowed(published, [contender.name for contender in contenders])
        if baseline not in {contender.name for contender in contenders}:
            raise FileError(path, f"'quick' leaves out the baseline '{baseline}'.", line_with(path, "quick:"))
    tournament = Tournament(
        name=path.stem,
        description=content["description"],
        question=content["question"],
        notes=tuple(content.get("notes", ())),
        track=content["track"],
        challenge=content["challenge"],
        cars=cars,
        baseline=baseline,
        contenders=contenders,
        metric=_metric(path, content),
        node_level=any(contending.differs_at_the_node(contender) for contender in contenders),
        corpus=content.get("corpus"),
        documents=sizes.get("documents", 0 if "corpus" in content else DEFAULT_DOCUMENTS),
        lap_documents=sizes["lap_documents"],
        blocks=sizes["blocks"],
        warmup_blocks=sizes["warmup_blocks"],
        starts=sizes["starts"],
        margin=content.get("margin", DEFAULT_MARGIN),
        budget_minutes=sizes["budget_minutes"],
        stop_early=content.get("stop_early", True),
        freshness=content.get("freshness", False),
        searches=content.get("searches", 0),
        different_answers=content.get("different_answers", ""),
        track_params=content.get("track_params", {}),
        car_params=content.get("car_params", {}),
        published=published,
        checksum=checksum(path),
        nodes=content.get("nodes", 1),
    )
    check_tournament(path, tournament)
    return _changed(tournament, changes)


def _contenders(content: Mapping[str, Any], cars: tuple[str, ...]) -> tuple[Contender, ...]:
    if "grid" in content:
        return contending.cells(content["grid"], cars)
    return contending.listed(content["contenders"])


def _baseline(content: Mapping[str, Any]) -> str:
    """The baseline's name; in a grid it may be given by its coordinates, in any order."""
    baseline = content["baseline"]
    if isinstance(baseline, str):
        return baseline
    order = [factor["name"] for factor in content.get("grid", ())]
    ordered = sorted(baseline.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))
    return contending.cell_name(dict(ordered))


def _metric(path: Path, content: Mapping[str, Any]) -> Any:
    try:
        return find_metric(content.get("metric", "docs/s"))
    except UsageError as error:
        raise FileError(path, str(error), line_with(path, "metric:")) from None


def _quick_contenders(path: Path, content: Mapping[str, Any], everyone: tuple[Contender, ...]) -> tuple[Contender, ...]:
    quick = content["quick"]
    if "contenders" in quick:
        known = [contender.name for contender in everyone]
        for name in quick["contenders"]:
            if name not in known:
                raise FileError(path, str(unknown("contender", name, known, "The file")), line_with(path, "quick:"))
        return tuple(contender for contender in everyone if contender.name in quick["contenders"])
    wanted = quick.get("grid", {})
    factors = {factor["name"]: factor["values"] for factor in content.get("grid", ())}
    for factor, values in wanted.items():
        if factor not in factors:
            raise FileError(path, str(unknown("factor", factor, factors, "The file")), line_with(path, "quick:"))
        strange = [value for value in values if value not in factors[factor]]
        if strange:
            raise FileError(
                path,
                f"'quick' has {strange[0]!r} for '{factor}', which is none of its values.",
                line_with(path, "quick:"),
            )
    return tuple(
        contender
        for contender in everyone
        if all(contender.coordinates[factor] in values for factor, values in wanted.items())
    )


def _changed(tournament: Tournament, changes: Changes) -> Tournament:
    if changes.cars is not None:
        naming = [contender.name for contender in tournament.contenders if contender.cars is not None]
        if naming:
            raise UsageError(
                f"--car would change the node of all contenders, but '{naming[0]}' names its own cars, and nodes are "
                f"what '{tournament.name}' compares: leave --car out, or write a tournament file of your own."
            )
        tournament = replace(tournament, cars=changes.cars)
    if changes.budget_minutes is not None and changes.budget_minutes <= 0:
        raise UsageError(f"--budget must be more than 0, but is {changes.budget_minutes}.")
    limits = load_schema("tournament")["properties"]
    for name, value in (("blocks", changes.blocks), ("starts", changes.starts)):
        most = limits[name]["maximum"]
        if value is not None and not 1 <= value <= most:
            raise UsageError(f"--{name} must be a whole number from 1 to {most:,}, but is {value:,}.")
    return replace(
        tournament,
        blocks=changes.blocks or tournament.blocks,
        starts=changes.starts or tournament.starts,
        budget_minutes=changes.budget_minutes or tournament.budget_minutes,
        corpus=changes.corpus or tournament.corpus,
        # The file's number is of its own corpus.
        documents=changes.documents or (0 if changes.corpus else tournament.documents),
        track_params={**tournament.track_params, **(changes.track_params or {})},
        car_params={**tournament.car_params, **(changes.car_params or {})},
    )
