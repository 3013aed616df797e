"""From a recipe to the World that the kernel reads."""

from __future__ import annotations

from functools import lru_cache

from paddock.corpora.access_log import AccessLog
from paddock.corpora.application_log import ApplicationLog
from paddock.corpora.recipe import Recipe
from paddock.corpora.rhythm import minute_weights, seconds_since_1970
from paddock.corpora.world import World, WorldBuilder
from paddock.errors import FileError

_MODELS: dict[str, type[AccessLog] | type[ApplicationLog]] = {
    "access-log": AccessLog,
    "application-log": ApplicationLog,
}


@lru_cache(maxsize=2)
def build_world(recipe: Recipe) -> World:
    """The tables of a recipe; takes a fraction of a second.

    :raises FileError: if the recipe's words cannot give what it asks for.
    """
    builder = WorldBuilder()
    rhythm = recipe.content["rhythm"]
    try:
        actors = _MODELS[recipe.model](recipe.name, recipe.content, builder).fill()
    except ValueError as error:
        raise FileError(recipe.path, f"{error}.") from None
    return builder.build(
        actors=actors,
        sessions=recipe.content["sessions"],
        minutes=minute_weights(rhythm["hours"], rhythm["days"], recipe.first_day, recipe.name),
        documents_per_week=rhythm["documents_per_week"],
        start=seconds_since_1970(recipe.first_day),
    )
