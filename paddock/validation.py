"""Checks every file that a user or another team may have edited, and renders every challenge as Rally would."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paddock import cars, paths, tracks
from paddock.corpora import recipe
from paddock.errors import FileError, PaddockError
from paddock.structured_files import read_json
from paddock.track_parameters import read_parameters

# Templates of Rally's, so no JSON before they are rendered; rendering the tracks checks them.
_TEMPLATES = re.compile(r"{[{%#]")


@dataclass(frozen=True)
class Check:
    """One thing that was checked; ``problem`` is None if it is right."""

    subject: str
    problem: str | None = None


def validate() -> list[Check]:
    """Check recipes, parameters, cars, JSON files, and every challenge of every track as it is and in test mode."""
    return list(_checks())


def _checks() -> Iterator[Check]:
    for name in recipe.recipe_names():
        yield _attempt(f"recipe {name}", lambda name=name: recipe.load_recipe(name))
    for file in sorted(paths.CARS.glob("*.ini")):
        yield _attempt(f"car {file.stem}", lambda file=file: _read_ini(file))
    yield _attempt("cars together", cars.load_cars)
    for folder in (paths.TRACKS, paths.CHALLENGES):
        for file in sorted(folder.rglob("*.json")):
            if not _TEMPLATES.search(file.read_text(encoding="utf-8")):
                yield _attempt(f"file {file.relative_to(paths.PROJECT)}", lambda file=file: _read_fragment(file))
    for name in tracks.track_names():
        yield _attempt(f"parameters of track {name}", lambda name=name: read_parameters(name))
        try:
            track = tracks.load_track(name)
        except PaddockError as error:
            yield Check(f"track {name}", str(error))
            continue
        for test_mode in (False, True):
            mode = " in test mode" if test_mode else ""
            for challenge in track.challenges:
                yield _attempt(
                    f"track {name}, challenge {challenge.name}{mode}",
                    lambda track=track, challenge=challenge, test_mode=test_mode: tracks.build(
                        track, {}, challenge.name, test_mode
                    ),
                )


def _attempt(subject: str, action: Callable[[], object]) -> Check:
    try:
        action()
    except PaddockError as error:
        return Check(subject, str(error))
    return Check(subject)


def _read_fragment(file: Path) -> None:
    """JSON, or a list of JSON objects as rally.collect puts them together."""
    try:
        read_json(file)
    except FileError as error:
        text = file.read_text(encoding="utf-8")
        try:
            import json

            json.loads(f"[{text}]")
        except ValueError:
            raise error from None


def _read_ini(file: Path) -> None:
    parser = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    try:
        parser.read(file, encoding="utf-8")
    except configparser.Error as error:
        raise FileError(file, f"this is no valid ini file: {error}.", getattr(error, "lineno", None)) from None
