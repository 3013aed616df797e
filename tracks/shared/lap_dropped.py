"""The levels that get no further laps while a race runs: whoever watches the journal names them in a file."""

from __future__ import annotations

import json
from pathlib import Path

from esrally import exceptions


def read_dropped(file: Path | None) -> frozenset[str]:
    """The names in that file, a JSON list; none as long as it does not exist.

    :raises exceptions.RallyAssertionError: if it holds something else.
    """
    if file is None:
        return frozenset()
    try:
        names = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return frozenset()
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise exceptions.RallyAssertionError(
            f"{file} must hold a JSON list of the levels that get no further laps: write it whole or not at all."
        )
    return frozenset(names)
