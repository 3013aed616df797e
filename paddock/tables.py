"""Plain tables for a terminal, and JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tabulate import tabulate


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Aligned columns without lines; the last column may be long."""
    text = tabulate(rows, headers=headers, tablefmt="plain", disable_numparse=True)
    return "\n".join(line.rstrip() for line in text.splitlines())


def as_json(value: Any) -> str:
    """Indented JSON; paths and other objects as text."""
    return json.dumps(value, indent=2, default=str)
