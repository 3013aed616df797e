"""Checks every file that a user or another team may have edited, and renders every challenge as Rally would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from paddock import cars, paths, tracks
from paddock.corpora import recipe
from paddock.errors import PaddockError
from paddock.files import files_below
from paddock.structured_files import read_json
from paddock.tournaments.files import Changes, find_file, read_tournament, tournament_names
from paddock.tracks.parameters import read_parameters
from paddock.tracks.rendering import build_track, render_specification

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
        yield _attempt(f"recipe {name}", partial(recipe.load_recipe, name))
    yield _attempt("cars", cars.load_cars)
    for folder in (paths.TRACKS, paths.CHALLENGES):
        for file in files_below(folder, ".json"):
            # Most are templates of Rally's, so no JSON before they are rendered; rendering the tracks checks those.
            if not _TEMPLATES.search(file.read_text(encoding="utf-8")):
                yield _attempt(f"file {file.relative_to(paths.PROJECT)}", partial(read_json, file))
    for name in tournament_names():
        yield _attempt(f"tournament {name}", partial(_read_tournament, name))
    for name in tracks.track_names():
        yield _attempt(f"parameters of track {name}", partial(read_parameters, name))
        yield from _track_checks(name)


def _track_checks(name: str) -> Iterator[Check]:
    try:
        track = tracks.load_track(name)
        # Rendered once for all challenges: that takes ten times as long as one challenge.
        specification, _ = render_specification(track.folder, {})
    except PaddockError as error:
        yield Check(f"track {name}", str(error))
        return
    for mode, test_mode in (("", False), (" in test mode", True)):
        for challenge in track.challenges:
            build = partial(build_track, track.folder, {}, specification, challenge.name, test_mode)
            yield _attempt(f"track {name}, challenge {challenge.name}{mode}", build)


def _read_tournament(name: str) -> None:
    """As it is, and with its changes for --quick."""
    for quick in (False, True):
        read_tournament(find_file(name), Changes(quick=quick))


def _attempt(subject: str, action: Callable[[], object]) -> Check:
    try:
        action()
    except PaddockError as error:
        return Check(subject, str(error))
    return Check(subject)
