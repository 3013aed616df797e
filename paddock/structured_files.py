"""Reading YAML files against a JSON schema, with the line of every mistake."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from paddock.errors import FileError
from paddock.paths import SCHEMAS

# libyaml's parser takes a tenth of the time, where PyYAML has been built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path, schema_name: str) -> Any:
    """The contents of a YAML file that satisfies ``paddock/schemas/<schema_name>.json``.

    :raises FileError: if the file is missing, is no YAML, repeats a key or breaks the schema; with the line.
    """
    text = _read_text(path)
    try:
        root = yaml.compose(text, Loader=_LOADER)
        _refuse_repeated_keys(path, root)
        value = yaml.load(text, Loader=_LOADER)  # noqa: S506 - one of the safe loaders
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise FileError(path, f"this is not valid YAML: {error.problem or error.context}.", line) from None
    except yaml.YAMLError as error:
        raise FileError(path, f"this is not valid YAML: {error}.") from None
    _check_schema(path, value, schema_name, root)
    return value


def read_json(path: Path) -> Any:
    """The contents of a JSON file.

    :raises FileError: if the file is missing or no JSON; with the line.
    """
    try:
        return json.loads(_read_text(path))
    except json.JSONDecodeError as error:
        raise FileError(path, f"this is not valid JSON: {error.msg} in column {error.colno}.", error.lineno) from None


def load_schema(name: str) -> dict[str, Any]:
    """One of Paddock's own JSON schemas (draft 7)."""
    schema: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return schema


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(path, "there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, f"this file cannot be read: {error}.") from None


def _check_schema(path: Path, value: Any, schema_name: str, root: yaml.Node | None) -> None:
    validator = jsonschema.Draft7Validator(load_schema(schema_name))
    errors = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
    if errors:
        error = jsonschema.exceptions.best_match(errors)
        place = ".".join(map(str, error.absolute_path))
        where = f" (at '{place}')" if place else ""
        raise FileError(path, f"{error.message}{where}.", _line_of(root, error.absolute_path))


def _line_of(root: yaml.Node | None, keys: Iterable[Any]) -> int | None:
    """The line, counted from 1, of the value that the path of keys and list positions leads to."""
    node = root
    line = node.start_mark.line + 1 if node else None
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if str(k.value) == str(key)), None)
            if pair is None:
                break
            line = pair[0].start_mark.line + 1
            node = pair[1]
        elif isinstance(node, yaml.SequenceNode):
            node = node.value[key]
            line = node.start_mark.line + 1
    return line


def _refuse_repeated_keys(path: Path, node: yaml.Node | None) -> None:
    """PyYAML silently keeps the last of two equal keys; a benchmark definition must not depend on that."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if str(key.value) in seen:
                raise FileError(path, f"the key '{key.value}' stands here twice.", key.start_mark.line + 1)
            seen.add(str(key.value))
            _refuse_repeated_keys(path, value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(path, item)
