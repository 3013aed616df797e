"""YAML and JSON with the line of every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock import structured_files
from paddock.errors import FileError
from paddock.structured_files import read_json, read_yaml

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "dependencies": {"share": ["kind"]},
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "description": "A word of small letters."},
        "share": {"type": "number", "minimum": 0, "exclusiveMinimum": -1, "maximum": 1},
        "kind": {"enum": ["page", "asset"]},
        "list": {"type": "array", "items": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    },
}


@pytest.fixture(autouse=True)
def schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small schema in the place of the real ones."""
    monkeypatch.setattr(structured_files, "load_schema", lambda _name: SCHEMA)


def problem(tmp_path: Path, text: str) -> FileError:
    """The error that this text gives."""
    file = tmp_path / "file.yml"
    file.write_text(text)
    with pytest.raises(FileError) as caught:
        read_yaml(file, "any")
    assert str(caught.value).startswith(f"{file}")
    return caught.value


def test_a_good_file_is_read(tmp_path: Path) -> None:
    """Values come out as YAML means them."""
    file = tmp_path / "file.yml"
    file.write_text("name: x\nlist:\n- size: 3\n")
    assert read_yaml(file, "any") == {"name": "x", "list": [{"size": 3}]}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: x\nlist: [1\n", 3, "not valid YAML"),
        ("name: x\nname: y\n", 2, "'name' stands here twice"),
        ("name: x\nlist:\n- size: 1\n- size: big\n", 4, "'size' must be a whole number, but is 'big'"),
        ("name: x\nsize: 3\n", 2, "the key 'size' is not known here; there are kind, list, name, share"),
        ("list: []\n", 1, "the key 'name' is missing"),
        ("name: X\n", 1, "'name' must be a word of small letters, but is 'X' (at 'name')"),
        ("name: x\nkind: page\nshare: -0.5\n", 3, "'share' must be at least 0, but is -0.5"),
        ("name: x\nkind: page\nshare: 2\n", 3, "'share' must be at most 1, but is 2"),
        ("name: x\nkind: other\n", 2, "'kind' must be page or asset, but is 'other'"),
        ("name: x\nshare: 0.5\n", 1, "the key 'share' needs the key 'kind' beside it"),
        ("name: x\n\tlist: []\n", 2, "not valid YAML"),
    ],
)
def test_mistakes_have_a_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    """Syntax, repeated keys and schema errors name the line they are in."""
    error = problem(tmp_path, text)
    assert error.line == line
    assert words in str(error)


def test_what_has_no_end_is_refused(tmp_path: Path) -> None:
    """An alias inside of what it stands for, and a number that is none; neither ends in a traceback."""
    assert "an alias (*) stands inside of what it is the anchor (&) of" in str(
        problem(tmp_path, "name: x\nlist: &a [*a]\n")
    )
    assert "nan is no number to reckon with: write another (at 'list.0.other')" in str(
        problem(tmp_path, "name: x\nlist:\n- other: .nan\n")
    )


def test_an_empty_file_and_a_missing_one_are_named(tmp_path: Path) -> None:
    """Neither ends in a traceback."""
    assert "is not of type 'object'" in str(problem(tmp_path, ""))
    with pytest.raises(FileError, match="there is no such file"):
        read_yaml(tmp_path / "missing.yml", "any")


def test_json_mistakes_have_a_line(tmp_path: Path) -> None:
    """JSON has the same promise."""
    file = tmp_path / "file.json"
    file.write_text('{\n"a": 1,\n}')
    with pytest.raises(FileError, match="not valid JSON") as caught:
        read_json(file)
    assert caught.value.line in (2, 3)
