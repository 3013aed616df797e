"""Reading YAML files against a JSON schema, with the line of every mistake."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from paddock import numbers
from paddock.errors import FileError, nearest
from paddock.paths import SCHEMAS

# What the schema's types are called in sentences.
_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object of names and values",
    "null": "nothing",
}
# What its bounds of numbers are called.
_BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}
# libyaml's parser takes a tenth of the time, where PyYAML has been built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path, schema_name: str) -> Any:
    """The contents of a YAML file that satisfies ``paddock/schemas/<schema_name>.json``.

    :raises FileError: if the file is missing, is no YAML, repeats a key, has a number that is none or breaks the
        schema; with the line.
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
    except RecursionError:
        problem = (
            "this has no end: an alias (*) stands inside of what it is the anchor (&) of, or it is nested too deep."
        )
        raise FileError(path, problem) from None
    _check_schema(path, value, schema_name, root)
    _refuse_no_numbers(path, value)
    return value


def _refuse_no_numbers(path: Path, content: Any, place: str = "") -> None:
    """YAML has .nan and .inf, which no schema refuses everywhere.

    :raises FileError: if there is one.
    """
    if isinstance(content, float) and not math.isfinite(content):
        raise FileError(path, f"{content} is no number to reckon with: write another (at '{place}').")
    pairs = content.items() if isinstance(content, Mapping) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        _refuse_no_numbers(path, value, f"{place}.{key}" if place else str(key))


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
        # A key that is misspelt is missing, too: what is there is said first.
        error = jsonschema.exceptions.best_match([one for one in errors if _unknown_keys(one)] or errors)
        keys = [*error.absolute_path, *_unknown_keys(error)[:1]]
        place = ".".join(map(str, error.absolute_path))
        where = f" (at '{place}')" if place else ""
        raise FileError(path, f"{_problem(error)}{where}.", _line_of(root, keys))


def _unknown_keys(error: jsonschema.ValidationError) -> list[str]:
    """The keys that an object may not have, in their order; none of another mistake."""
    if error.validator != "additionalProperties" or not isinstance(error.instance, dict):
        return []
    return [str(key) for key in error.instance if key not in error.schema.get("properties", {})]


def _problem(error: jsonschema.ValidationError) -> str:
    """What is wrong, without the place."""
    if unknown := _unknown_keys(error):
        known = error.schema.get("properties", {})
        meant = nearest(unknown[0], known, 1)
        there = f"perhaps '{meant[0]}' is meant" if meant else f"there are {', '.join(sorted(known))}"
        return f"the key '{unknown[0]}' is not known here; {there}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"the key '{missing}' is missing"
    if error.validator == "type" and error.absolute_path:
        wanted = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
        kinds = " or ".join(_KINDS.get(one, one) for one in wanted)
        unquoted = "string" in wanted and isinstance(error.instance, int | float)
        remedy = ": put it into quotes" if unquoted else ""
        return f"'{error.absolute_path[-1]}' must be {kinds}, but is {error.instance!r}{remedy}"
    if error.validator == "dependencies":
        lacking = ((key, one) for key, needed in error.validator_value.items() for one in needed)
        key, one = next((key, one) for key, one in lacking if key in error.instance and one not in error.instance)
        return f"the key '{key}' needs the key '{one}' beside it"
    if error.validator in ("minProperties", "minItems"):
        whose = f"'{error.absolute_path[-1]}'" if error.absolute_path else "the file"
        wanted = numbers.plural(error.validator_value, "entry", "entries")
        return f"{whose} must have at least {wanted}, and has {len(error.instance)}"
    if error.absolute_path and (wanted := _wanted(error)):
        return f"'{error.absolute_path[-1]}' must be {wanted}, but is {error.instance!r}"
    return str(error.message)


def _wanted(error: jsonschema.ValidationError) -> str | None:
    """What a value must be, if it is of the right type and wrong all the same; None where the schema alone can tell."""
    bound = error.validator_value
    if error.validator in _BOUNDS:
        return f"{_BOUNDS[error.validator]} {bound:g}"
    if error.validator == "enum":
        *others, last = map(str, bound)
        return f"{', '.join(others)} or {last}" if others else last
    if error.validator == "pattern" and (described := error.schema.get("description")):
        return f"{described[:1].lower()}{described[1:].rstrip('.')}"
    return None


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
