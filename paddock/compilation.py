"""How the project's inner loops become machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on first use, to run without Python's global lock.

    The machine code is kept beside the source, in the user's cache, or nowhere.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder for its cache that this user may write to
        return njit(nogil=True)(function)
