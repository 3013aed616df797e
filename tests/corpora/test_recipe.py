"""Recipes: the shipped ones are sound, and mistakes end in a sentence with the place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.corpora.models import build_world
from paddock.corpora.recipe import load_recipe, read_recipe, recipe_names
from paddock.errors import FileError, UsageError
from paddock.paths import RECIPES

Broken = Callable[[str, str, str], Path]


@pytest.fixture
def broken(tmp_path: Path) -> Broken:
    """A copy of a recipe with one text replaced."""

    def replace(name: str, old: str, new: str) -> Path:
        text = (RECIPES / f"{name}.yml").read_text(encoding="utf-8")
        assert old in text
        copy = tmp_path / f"{name}.yml"
        copy.write_text(text.replace(old, new, 1), encoding="utf-8")
        return copy

    return replace


def test_both_recipes_are_there() -> None:
    """The two recipes of the tracks load and have the defaults that the tracks rely on."""
    assert recipe_names() == ["apache", "app-logs"]
    for name in recipe_names():
        recipe = load_recipe(name)
        assert (recipe.name, recipe.documents, recipe.seed) == (name, 1_000_000, 1)


def test_unknown_recipes_get_a_suggestion() -> None:
    """A misspelt name is answered with the one that was meant."""
    with pytest.raises(UsageError, match=r"There is no recipe 'apach'\. Did you mean 'apache'\? \./inv corpora"):
        load_recipe("apach")


def test_checksum_ignores_comments_but_not_contents(broken: Broken) -> None:
    """A reworded comment keeps corpora valid; a changed number or order does not."""
    checksum = load_recipe("apache").checksum
    assert read_recipe(broken("apache", "# a Monday", "# Monday")).checksum == checksum
    assert read_recipe(broken("apache", "stay: 88", "stay: 87")).checksum != checksum
    assert read_recipe(broken("apache", "{pages: 6, assets: 9,", "{assets: 9, pages: 6,")).checksum != checksum


def line_of(name: str, text: str) -> int:
    """The line of the recipe in which that text stands, counted from 1."""
    lines = (RECIPES / f"{name}.yml").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("apache", "links: {pages: 6,", "links: {pages: 6", "not valid YAML"),
        ("apache", "documents: 1000000", "documents: many", "'many' is not of type 'integer'"),
        ("apache", "documents: 1000000", "documents: 10", "10 is less than the minimum of 1000"),
        ("apache", "sessions: 16", "sessions: 17", "17 is not one of"),
        ("apache", "exponent: 0.75, users_percent: 3", "exponent: 0.8, users_percent: 3", "0.8 is not a multiple of"),
        ("app-logs", "level: DEBUG", "level: VERBOSE", "'VERBOSE' is not one of"),
        ("app-logs", "flow_exponent: 1", "flow_exponent: -1", "-1 is less than the minimum of 0"),
    ],
)
def test_mistakes_have_a_line(broken: Broken, name: str, old: str, new: str, problem: str) -> None:
    """What YAML or the schema refuses is reported with file and line."""
    path = broken(name, old, new)
    with pytest.raises(FileError) as caught:
        read_recipe(path)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line_of(name, old)}: ")


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("apache", "{pages: 6, assets: 9, actions: 1}", "{pages: 6, assets: 9, actions: 2}", "add up to 17"),
        ("apache", "entries: [home,", "entries: [hom,", "enter at 'hom', which is no group of pages"),
        ("apache", "entries: [probes]", "entries: [probe]", "enter at 'probe', which is no group of paths"),
        ("apache", "query: pagination", "query: paging", "the query 'paging', which 'queries' does not define"),
        ("apache", "bytes: [21000, 64000]", "bytes: [64000, 21000]", "'categories' are no range"),
        ("apache", "/categories/{category}", "/categories/{class}", "needs the words 'class'"),
        ("apache", '"2026-01-05"', '"2026-02-30"', "no day of the calendar: 2026-02-30"),
        ("app-logs", "to {verb} {noun} <order>", "to {werb} {noun} <order>", "needs the words 'werb'"),
        ("app-logs", "for user <user>", "for user <usr>", "needs the slot 'usr'"),
        ("app-logs", "steps: [begin,", "steps: [start,", "has the step 'start'"),
        ("app-logs", "{thread: web,", "{thread: wob,", "the thread 'wob'"),
        ("app-logs", "\n    timer:\n", "\n    other:\n", "no frames for the threads 'timer'"),
    ],
)
def test_names_that_lead_nowhere_are_refused(broken: Broken, name: str, old: str, new: str, problem: str) -> None:
    """What only a look at the whole recipe shows is refused too, with the file."""
    path = broken(name, old, new)
    with pytest.raises(FileError) as caught:
        read_recipe(path)
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)


def test_too_few_words_for_the_paths_are_refused(broken: Broken) -> None:
    """A group that wants more paths than its pattern gives is reported when the tables are built."""
    path = broken(
        "apache", 'pattern: "/categories/{category}", count: 24', 'pattern: "/categories/{category}", count: 25'
    )
    with pytest.raises(FileError, match=r"gives only 24 different texts, not 25: add words"):
        build_world(read_recipe(path))


def test_tables_do_not_depend_on_the_order_of_hashes() -> None:
    """Building twice gives the same tables, byte by byte."""
    for name in recipe_names():
        recipe = load_recipe(name)
        for first, second in zip(build_world.__wrapped__(recipe), build_world.__wrapped__(recipe), strict=True):
            assert (first == second) if isinstance(first, int) else (first.tobytes() == second.tobytes())
