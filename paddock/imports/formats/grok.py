"""Grok expressions: %{PATTERN:field} and %{PATTERN:field:int}, compiled to a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paddock.errors import UsageError
from paddock.imports.formats.grok_patterns import PATTERNS
from paddock.suggestions import nearest

_REFERENCE = re.compile(r"%\{([^{}:]*)(?::([^{}:]+))?(?::([^{}:]+))?\}")
_INLINE = re.compile(r"\(\?P?<(?![=!])([^>]*)>")
_DEEPEST = 20  # patterns within patterns; more is a circle
_TYPES: dict[str, Callable[[str], Any]] = {
    "int": int, "long": int, "float": float, "double": float, "string": str, "keyword": str,
}  # fmt: skip


@dataclass(frozen=True)
class Capture:
    """What becomes of a group: the field's name, and its value from the text (ValueError if it is none)."""

    field: str
    convert: Callable[[str], Any]


def compile_grok(expression: str) -> tuple[str, dict[str, Capture]]:
    """A regular expression for Python, and what its groups are.

    :raises UsageError: if a pattern or type is unknown.
    """
    captures: dict[str, Capture] = {}

    def group(field: str, convert: Callable[[str], Any]) -> str:
        name = f"group{len(captures)}"  # fields may have dots and @, groups may not
        captures[name] = Capture(_plain(field), convert)
        return name

    def expanded(reference: re.Match[str], depth: int) -> str:
        name, field, kind = reference.groups()
        if name not in PATTERNS:
            near = nearest(name, PATTERNS)
            guess = f" Did you mean {' or '.join(near)}?" if near else f" There are: {', '.join(sorted(PATTERNS))}."
            raise UsageError(f"There is no grok pattern '{name}'.{guess}")
        if kind is not None and kind not in _TYPES:
            raise UsageError(f"'%{{{name}:{field}:{kind}}}' has the type '{kind}': use int, float or string.")
        if depth > _DEEPEST:
            raise UsageError(f"The grok pattern '{name}' contains itself.")
        opening = f"(?P<{group(field, _TYPES[kind or 'string'])}>" if field else "(?:"
        return f"{opening}{_REFERENCE.sub(lambda inner: expanded(inner, depth + 1), PATTERNS[name])})"

    named = _INLINE.sub(lambda inline: f"(?P<{group(inline[1], str)}>", expression)
    source = _REFERENCE.sub(lambda reference: expanded(reference, 0), named)
    if "%{" in source:
        raise UsageError(f"The grok expression '{expression}' has a '%{{' that is no %{{PATTERN:field}}.")
    return source, captures


def _plain(field: str) -> str:
    """[http][status] as http.status."""
    return ".".join(re.findall(r"\[([^\[\]]+)\]", field)) if field.startswith("[") else field
