"""From a recipe to the World that the kernel reads."""

from __future__ import annotations

from functools import lru_cache

from paddock.corpora.access_log import AccessLog
from paddock.corpora.application_log import ApplicationLog
from paddock.corpora.recipe import Recipe
from paddock.corpora.rhythm import minute_weights, seconds_since_1970
from paddock.corpora.sized_text import fill_sizes
from paddock.corpora.slots import Slots
from paddock.corpora.template_log import TemplateLog
from paddock.corpora.world import Sizes, World, WorldBuilder
from paddock.errors import FileError


@lru_cache(maxsize=2)
def build_world(recipe: Recipe) -> World:
    """The tables of a recipe; takes a fraction of a second.

    :raises FileError: if the recipe's words cannot give what it asks for.
    """
    builder = WorldBuilder()
    rhythm = recipe.content["rhythm"]
    try:
        actors, sizes = _fill(recipe, builder)
        return builder.build(
            actors=actors,
            sessions=recipe.content["sessions"],
            minutes=minute_weights(rhythm["hours"], rhythm["days"], recipe.first_day, recipe.name),
            documents_per_week=rhythm["documents_per_week"],
            start=seconds_since_1970(recipe.first_day),
            sizes=sizes,
        )
    except ValueError as error:
        raise FileError(recipe.path, f"{error}.") from None


def _fill(recipe: Recipe, builder: WorldBuilder) -> tuple[int, Sizes | None]:
    """The pool of actors, and how documents are filled if the recipe prescribes their sizes."""
    if recipe.model == "access-log":
        return AccessLog(recipe.name, recipe.content, builder).fill(), None
    if recipe.model == "application-log":
        return ApplicationLog(recipe.name, recipe.content, builder).fill(), None
    slots = Slots(recipe.name, recipe.content, builder)
    sizes = fill_sizes(recipe.name, recipe.content, builder, slots) if "size" in recipe.content else None
    return TemplateLog(recipe.name, recipe.content, builder, slots).fill(), sizes
