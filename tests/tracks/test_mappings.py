"""The mappings and the documents that the corpora's recipes make fit each other, and the READMEs show both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock import tracks
from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe, recipe_names
from tests.tracks.rendered import build, render

ALL_TRACKS = tracks.track_names()
STRICT_TRACKS = [name for name in ALL_TRACKS if name != "logs"]


def flat_fields(properties: dict[str, Any], prefix: str = "") -> dict[str, dict[str, Any]]:
    """Every field of a mapping by its full name; twins (multi-fields) are part of their field."""
    fields = {}
    for name, definition in properties.items():
        if "properties" in definition:
            fields |= flat_fields(definition["properties"], f"{prefix}{name}.")
        else:
            fields[prefix + name] = definition
    return fields


def flat_values(document: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a document with the full name of its field."""
    for name, value in document.items():
        if isinstance(value, dict):
            yield from flat_values(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def mapping(name: str) -> dict[str, Any]:
    """The mapping of a track's index, as Rally renders it."""
    mappings: dict[str, Any] = build(tracks.load_track(name), {}, "ingest").indices[0].body["mappings"]
    return mappings


def documents_of(recipe: str, count: int, folder: Path) -> list[dict[str, Any]]:
    """The first documents that a recipe makes."""
    path = folder / f"{recipe}.json"
    write_corpus(load_recipe(recipe), count, 1, path)
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module", params=ALL_TRACKS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    """The first documents of the recipe of a track's name: enough to have every optional field."""
    count = 30_000 if request.param in STRICT_TRACKS else 3000
    return request.param, documents_of(request.param, count, tmp_path_factory.mktemp("corpus"))


def test_documents_have_exactly_the_mapped_fields(made: tuple[str, list[dict[str, Any]]]) -> None:
    """Strict mappings refuse an unknown field, and a mapped one that no document has would be dead."""
    name, documents = made
    if name not in STRICT_TRACKS:
        pytest.skip("takes any field")
    seen = {field for document in documents for field, _ in flat_values(document)}
    assert mapping(name)["dynamic"] == "strict"
    assert seen == set(flat_fields(mapping(name)["properties"]))


def test_the_recipes_for_logs_have_mapped_fields(tmp_path: Path) -> None:
    """The open mapping knows all fields of its own recipes: those without structure have two, the others all."""
    fields = set(flat_fields(mapping("logs")["properties"]))
    assert mapping("logs")["dynamic"] is True
    names = [name for name in recipe_names() if load_recipe(name).track == "logs"]
    assert len(names) == 8
    for name in names:
        # The host is left to the dynamic part of the mapping: some shippers send an object there.
        expected = {*fields, "host"} if "structured" in name else {"@timestamp", "message"}
        for document in documents_of(name, 1000, tmp_path):
            assert {field for field, _ in flat_values(document)} == expected


def test_values_fit_their_types(made: tuple[str, list[dict[str, Any]]]) -> None:
    """Numbers are in range, texts are texts, and no keyword is so long that it would silently not be indexed."""
    name, documents = made
    fields = flat_fields(mapping(name)["properties"])
    ranges = {"short": 2**15, "integer": 2**31, "long": 2**63}
    for document in documents:
        for field, value in flat_values(document):
            definition = fields[field]
            if definition["type"] in ranges:
                assert isinstance(value, int)
                assert -ranges[definition["type"]] <= value < ranges[definition["type"]]
            else:
                assert isinstance(value, str), field
                for twin in (definition, *definition.get("fields", {}).values()):
                    assert len(value) <= twin.get("ignore_above", len(value)), field


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_queries_name_mapped_fields(name: str) -> None:
    """A query on a field that does not exist finds nothing and is therefore very fast."""
    fields = flat_fields(mapping(name)["properties"])
    known = set(fields) | {f"{field}.{twin}" for field in fields for twin in fields[field].get("fields", {})}
    for operation in render(tracks.load_track(name), {})["operations"]:
        assert used_fields(operation["body"]) <= known, operation["name"]


def used_fields(body: Any) -> set[str]:
    """The fields that a search body names: in "field", "fields", "_source", sort, and as keys of leaf queries."""
    found: set[str] = set()
    if isinstance(body, list):
        for entry in body:
            found |= used_fields(entry)
    elif isinstance(body, dict):
        for key, value in body.items():
            if key == "field":
                found.add(value)
            elif key in ("fields", "_source"):
                found |= set(value)
            elif key in ("term", "terms", "match", "match_phrase", "range") and isinstance(value, dict):
                found |= {value["field"]} if "field" in value else set(value)
            elif key == "sort":
                found |= {name for entry in value for name in entry}
            else:
                found |= used_fields(value)
    return found


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_readme_lists_the_fields_and_an_example(name: str) -> None:
    """The README's table has every field with its type, and its example document only such fields."""
    fields = flat_fields(mapping(name)["properties"])
    text = (tracks.load_track(name).folder / "README.md").read_text(encoding="utf-8")
    table = dict(
        re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", text.split("## Fields")[1].split("\n## ")[0], re.MULTILINE)
    )
    assert table == {field: shown_type(definition) for field, definition in fields.items()}
    example = json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])
    assert {field for field, _ in flat_values(example)} == set(fields)


def shown_type(definition: dict[str, Any]) -> str:
    """A field's type as the README writes it."""
    twins = [f"`.{name}`" for name in definition.get("fields", {})]
    return definition["type"] + (f", twin {twins[0]}" if twins else "")


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_readme_lists_the_challenges_and_queries(name: str) -> None:
    """Every challenge and every query is described in the README."""
    track = tracks.load_track(name)
    text = (track.folder / "README.md").read_text(encoding="utf-8")
    for path in sorted((track.folder / "operations").glob("*.json")):
        assert f"| `{path.stem}` |" in text
    for challenge in track.challenges:
        assert f"`{challenge.name}`" in text.split("## Challenges")[1]


def test_texts_searched_for_occur(made: tuple[str, list[dict[str, Any]]]) -> None:
    """The words of the free-text queries are in the corpus, or those queries would measure nothing."""
    name, documents = made
    words = {
        "apache": ("cart", "iPhone", "images"),
        "app-logs": ("giving up", "payment", "Read timed out"),
        "logs": ("giving up", "payment", "ERROR", "read timed out", "certificate not trusted", "gateway", "invoice"),
        "syslog": ("timed out", "failed", "Password refused", "web-12", "crit"),
        "web-events": ("search", "bicycle", "172.16."),
    }[name.removesuffix("-ecs")]
    whole = "\n".join(str(value) for document in documents for _, value in flat_values(document))
    for word in words:
        assert word in whole


def test_track_folders_hold_no_other_code() -> None:
    """Rally executes every Python file below a track's folder; there must be none but track.py."""
    for track in tracks.load_tracks():
        code = [
            path.relative_to(track.folder) for path in track.folder.rglob("*.py") if "__pycache__" not in path.parts
        ]
        assert code == [Path("track.py")]
