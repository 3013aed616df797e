"""From a recipe, with its rhythm of minutes and days, to the World that the kernel reads."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import lru_cache

from paddock.corpora.access_log import AccessLog
from paddock.corpora.application_log import ApplicationLog
from paddock.corpora.integers import Draws
from paddock.corpora.recipe import Recipe
from paddock.corpora.sized_text import fill_sizes
from paddock.corpora.slots import Slots
from paddock.corpora.template_log import TemplateLog
from paddock.corpora.world import Sizes, World, WorldBuilder
from paddock.errors import FileError

MINUTES_PER_WEEK = 7 * 24 * 60
_LOWEST, _HIGHEST = 128, 384  # minutes vary between 128/256 and 384/256 of what hour and day say


def minute_weights(hours: Sequence[int], days: Sequence[int], first_day: datetime.date, name: str) -> list[int]:
    """Integer weights of the 10,080 minutes of the week that begins on ``first_day``.

    :param hours: 24 weights, 1 to 100; the rate passes linearly from one to the next.
    :param days: 7 weights, 1 to 100, Monday first.
    :param name: names the random stream behind the minutes' variation.
    """
    draws = Draws(f"{name} minutes")
    weights = []
    for minute in range(MINUTES_PER_WEEK):
        day = (first_day.weekday() + minute // 1440) % 7
        hour, past = divmod(minute % 1440, 60)
        rate = hours[hour] * (60 - past) + hours[(hour + 1) % 24] * past
        weights.append(max(1, rate * days[day] * draws.between(_LOWEST, _HIGHEST) // (60 * 256 * 10)))
    return weights


def seconds_since_1970(day: datetime.date) -> int:
    """Midnight UTC at the beginning of ``day``."""
    return (day - datetime.date(1970, 1, 1)).days * 86400


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
