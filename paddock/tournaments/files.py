"""Tournament files (tournaments/*.yml): read, checked, and changed as --quick and the command line say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import FileError, UsageError, unknown
from paddock.files import checksum
from paddock.structured_files import load_schema, read_yaml
from paddock.tournaments import contenders as contending
from paddock.tournaments.checks import check_content, check_tournament, line_with
from paddock.tournaments.contenders import narrowed, read_published
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.pairing import find_metric

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
