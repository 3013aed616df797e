"""Recipes: the shipped ones are sound, and mistakes end in a sentence with the place."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.corpora.generate import build_world
from paddock.corpora.recipe import load_recipe, read_recipe, recipe_names
from paddock.errors import FileError, UsageError
from paddock.paths import RECIPES
from paddock.tracks import track_names

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


RECIPE_OF_A_TRACK = {
    "apache": 1_000_000,
    "apache-ecs": 1_000_000,
    "app-logs": 1_000_000,
    "app-logs-ecs": 1_000_000,
    "logs": 200_000,
    "syslog": 1_000_000,
    "web-events": 1_000_000,
}


def test_every_track_has_the_recipe_of_its_name() -> None:
    """The recipes load, and those that tracks begin with have the defaults that the tracks rely on."""
    recipes = {name: load_recipe(name) for name in recipe_names()}
    assert {recipe.track for recipe in recipes.values()} == set(RECIPE_OF_A_TRACK)
    for name, documents in RECIPE_OF_A_TRACK.items():
        assert (recipes[name].name, recipes[name].track) == (name, name)
        assert (recipes[name].documents, recipes[name].seed) == (documents, 1)


def test_a_variant_changes_what_it_names_and_keeps_the_rest() -> None:
    """A recipe based on another takes over its keys, also through a third; its checksum is its own."""
    logs, structured, fixed = (load_recipe(name) for name in ("logs", "logs-structured", "logs-structured-fixed"))
    assert fixed.content["words"] == logs.content["words"]
    assert fixed.content["document"] == structured.content["document"] != logs.content["document"]
    assert fixed.content["size"] == {"fixed": 2000}
    assert structured.content["size"] == logs.content["size"]
    assert (fixed.track, fixed.model, fixed.documents) == ("logs", "template-log", 250_000)
    assert len({logs.checksum, structured.checksum, fixed.checksum}) == 3


def test_a_variant_without_a_track_is_its_basis_track(tmp_path: Path) -> None:
    """Whoever writes a variant need not say for which track; a recipe of its own is for a track of its name."""
    shutil.copy(RECIPES / "syslog.yml", tmp_path / "syslog.yml")
    (tmp_path / "mine.yml").write_text("description: mine\nbased_on: syslog\ndocuments: 5000\n")
    assert read_recipe(tmp_path / "mine.yml").track == "syslog"
    shutil.copy(RECIPES / "syslog.yml", tmp_path / "other.yml")
    assert read_recipe(tmp_path / "other.yml").track == "other"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("description: x\nbased_on: nothing\n", "based_on names 'nothing', but there is no "),
        ("description: x\nbased_on: mine\n", "based_on leads in a circle, by way of 'mine'"),
        (
            "description: x\nbased_on: apache\nslots: {}\n",
            "a variant of 'apache' may change its fields, documents, seed and rhythm, but not 'slots'",
        ),
        (
            "description: x\nbased_on: syslog\nfields: ecs\n",
            "'fields' is for variants of other models: a template names its fields under 'document'",
        ),
        ("description: x\nbased_on: syslog\nmodel: template-log\n", "leave out 'model'"),
        ("description: x\ndocuments: 5000\n", "the key 'model' is missing"),
        ("description: x\nmodel: template-log\n", "the key 'documents' is missing"),
    ],
)
def test_variants_of_nothing_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    """What a variant is based on must be there, allow what it changes, and not be based on the variant."""
    for name in ("apache", "syslog"):
        shutil.copy(RECIPES / f"{name}.yml", tmp_path / f"{name}.yml")
    (tmp_path / "mine.yml").write_text(text)
    with pytest.raises(FileError, match=re.escape(problem)):
        read_recipe(tmp_path / "mine.yml")


def test_unknown_recipes_get_a_suggestion() -> None:
    """A misspelt name is answered with the one that was meant."""
    with pytest.raises(UsageError, match=r"There is no recipe 'syslg'\. Did you mean 'syslog'\? \./inv corpora"):
        load_recipe("syslg")


def test_checksum_ignores_comments_but_not_contents(broken: Broken) -> None:
    """A reworded comment keeps corpora valid; a changed number or order does not."""
    checksum = load_recipe("apache").checksum
    assert read_recipe(broken("apache", "# a Monday", "# Monday")).checksum == checksum
    assert read_recipe(broken("apache", "stay: 66", "stay: 67")).checksum != checksum
    assert read_recipe(broken("apache", "{pages: 10, assets: 2,", "{assets: 2, pages: 10,")).checksum != checksum


def line_of(name: str, text: str) -> int:
    """The line of the recipe in which that text stands, counted from 1."""
    lines = (RECIPES / f"{name}.yml").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("apache", "links: {pages: 10,", "links: {pages: 10", "not valid YAML"),
        ("apache", "documents: 1000000", "documents: many", "'documents' must be a whole number, but is 'many'"),
        ("apache", "documents: 1000000", "documents: 10", "must be at least 1000, but is 10"),
        ("apache", "sessions: 16", "sessions: 17", "or 1024, but is 17"),
        ("apache", "exponent: 0.75, users_percent: 6", "exponent: 0.8, users_percent: 6", "0.8 is not a multiple of"),
        ("apache", "passing_percent: 100", "passing_percent: 101", "must be at most 100, but is 101"),
        ("apache", "at_once: 62", "at_once: 100", "must be at most 99, but is 100"),
        ("apache", "2400000], bytes_exponent: 0.75", "2400000], bytes_exponent: 0", "must be at least 0.25, but is 0"),
        ("web-events", "numbers: [response]", "absent: {protocol: 100}", "must be at most 99, but is 100"),
        ("app-logs", "level: DEBUG", "level: VERBOSE", "but is 'VERBOSE'"),
        ("app-logs", "flow_exponent: 1", "flow_exponent: -1", "must be at least 0, but is -1"),
        ("syslog", "held: true}", "held: sometimes}", "'held' must be true or false, but is 'sometimes'"),
        ("logs", "size: {uniform: [500, 5000]}", "size: {uniform: [500]}", "must have at least 2 entries, and has 1"),
        ("logs", "size: {uniform: [500, 5000]}", "size: {normal: [500, 50]}", "the key 'normal' is not known here"),
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
        ("apache", "{pages: 10, assets: 2, actions: 4}", "{pages: 10, assets: 2, actions: 5}", "add up to 17"),
        ("apache", "Chrome/{chrome}", "Chrome/{crome}", "needs the words 'crome', which 'words' has not"),
        ("apache", "{ipv4: 8, ipv6: 2,", "{ipv4: 0, ipv6: 0,", "the visitors 'strangers' have no clients: one of"),
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
        ("syslog", "Session opened for <user>", "Session opened for <usr>", "'sshd-sessions' needs the slot 'usr'"),
        ("syslog", "Starting {service}", "Starting {servise}", "'systemd' needs the words 'servise'"),
        ("syslog", 'severity: "{severity}"', 'severity: "{sewerity}"', "needs the words 'sewerity'"),
        ("syslog", "[sshd-sessions, sshd-failures,", "[ssh-sessions, sshd-failures,", "the event 'ssh-sessions'"),
        ("syslog", 'values: {host: "web-{number}"}', 'values: {name: "web-{number}"}', "the actors' value 'host'"),
        (
            "syslog",
            'pattern: "{person}{number}"',
            'pattern: "{persona}{number}"',
            "}{number}' of the slot 'user' needs",
        ),
        ("web-events", "numbers: [response]", "numbers: [status]", "'numbers' has 'status'"),
        ("web-events", "numbers: [response]", "absent: {status: 5}", "'absent' has 'status', which is no field"),
        ("web-events", "numbers: [response]", 'absent: {"@timestamp": 5}', "cannot be without '@timestamp'"),
        ("logs", "size: {uniform: [500, 5000]}", "size: {fixed: 2000}\nabsent: {message: 5}", "or 'message'"),
        ("logs", "size: {uniform: [500, 5000]}", "", "'size' and 'details' go together"),
        ("logs", "step {verb} of", "step {werb} of", "of a detail needs the words 'werb'"),
        ("logs", "{logger} - <text>", "{logger} <text>.", "<text> may only stand at the very end"),
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


def test_too_few_words_for_the_searches_are_refused() -> None:
    """More search texts than the words give are a sentence, not an endless loop."""
    recipe = load_recipe("apache")
    words = {"thing": ["lamp"], "adjective": ["red"], "category": ["light"]}
    content = {**recipe.content, "words": words, "searches": {"count": 13, "exponent": 1}}
    with pytest.raises(FileError, match=r"the words for searches give only 12 different texts, not 13: add words"):
        build_world(dataclasses.replace(recipe, content=content))


def test_links_may_stand_in_any_order(broken: Broken) -> None:
    """A page's row of links is as long as it has to be, whichever kind the recipe names first."""
    path = broken("apache", "{pages: 10, assets: 2, actions: 4}", "{actions: 4, assets: 2, pages: 10}")
    world = build_world(read_recipe(path))
    assert world.successors.shape[1] - world.attached == 16


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("size: {uniform: [500, 5000]}", "size: {uniform: [5000, 500]}", "the sizes are no range"),
        ("size: {uniform: [500, 5000]}", "size: {uniform: [100, 5000]}", "documents of 100 bytes are too small"),
    ],
)
def test_what_only_the_tables_show_is_refused(broken: Broken, old: str, new: str, problem: str) -> None:
    """Sizes without room for the fields, and more templates than the words give, are a sentence with the file."""
    path = broken("logs", old, new)
    with pytest.raises(FileError, match=problem):
        build_world(read_recipe(path))


def test_too_few_words_for_the_templates_are_refused(broken: Broken) -> None:
    """More templates than the words give are a sentence with the file and the first pattern."""
    path = broken("syslog", "templates: 24", "templates: 2400")
    with pytest.raises(FileError, match=r"begin with '\[<uptime>.*give only \d+ different texts, not 2400: add words"):
        build_world(read_recipe(path))


def test_tables_do_not_depend_on_the_order_of_hashes() -> None:
    """Building twice gives the same tables, byte by byte."""
    for name in track_names():
        recipe = load_recipe(name)
        for first, second in zip(build_world(recipe), build_world.__wrapped__(recipe), strict=True):
            assert (first == second) if isinstance(first, int) else (first.tobytes() == second.tobytes())
