"""Names that were probably meant: the ending of every "unknown ..." message."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from paddock.errors import UsageError


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Known names most like ``name``, the likeliest first; empty if none is near."""
    return difflib.get_close_matches(name, sorted(known), n=most, cutoff=0.5)


def unknown(kind: str, name: str, known: Iterable[str], list_command: str) -> UsageError:
    """The error for a name that does not exist.

    :param kind: what the name should have named, for example "track".
    :param name: what the user wrote.
    :param known: all names that exist.
    :param list_command: the command that lists them, for example "./inv tracks".
    """
    near = nearest(name, known)
    guess = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return UsageError(f"There is no {kind} '{name}'.{guess} {list_command} lists them all.")
