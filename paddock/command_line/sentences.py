"""Turns every failure of a task into one sentence and an exit code, and the numbers that users write into numbers."""

from __future__ import annotations

import functools
import inspect
import math
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from invoke import Exit

if TYPE_CHECKING:
    from paddock.errors import UsageError

# The node takes an HTTP port and the one 100 above.
LARGEST_PORT = 65435


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """End in one sentence and an exit code where something is wrong; with --debug in a traceback."""
    defaults = inspect.signature(function).parameters

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        from paddock.errors import PaddockError, UsageError
        from paddock.files import full_disk
        from paddock.paths import rally_folder

        try:
            if {"--help", "-h"} & {value for value in kwargs.values() if isinstance(value, str)}:
                # Invoke takes it for the task's first argument.
                name = function.__name__.replace("_", ".", 1)
                raise UsageError(f"'./inv --help {name}' shows what can be said.")
            for name, value in kwargs.items():
                if isinstance(value, str) and not value.strip() and value != defaults[name].default:
                    raise UsageError(
                        f"--{name.replace('_', '-')} is empty, as where a variable of the shell is not set: give it a "
                        f"value, or leave it out."
                    )
            return function(*args, **kwargs)
        except (Exit, SystemExit):
            raise
        except BaseException as error:
            if {"-d", "--debug"} & set(sys.argv) or os.environ.get("PADDOCK_DEBUG"):
                raise
            if isinstance(error, OSError):
                error = full_disk(error, error.filename2 or error.filename or f"A file in {rally_folder()}") or error
            if isinstance(error, PaddockError):
                raise Exit(str(error), error.exit_code) from None
            if isinstance(error, KeyboardInterrupt):
                raise Exit("Stopped.", 130) from None
            sentence = f"Paddock itself failed ({type(error).__name__}: {error}): call again with --debug to see where."
            raise Exit(sentence, 70) from None

    return run


def whole_number(option: str, text: str | None, least: int = 1, most: int | None = None) -> int | None:
    """What the user wrote behind an option that counts something; None if nothing.

    Invoke's own numbers end in a traceback where there is none, and cannot tell 0 from nothing.

    :raises UsageError: if it is no whole number from ``least`` to ``most``.
    """
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        span = f"from {least} on" if most is None else f"from {least} to {most}"
        raise _no_number(option, f"a whole number {span}", text)
    return number


def positive_number(option: str, text: str | None) -> float | None:
    """The same for an amount, such as minutes.

    :raises UsageError: if it is no number above 0.
    """
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not (math.isfinite(number) and number > 0):
        raise _no_number(option, "a number above 0", text)
    return number


def _no_number(option: str, wanted: str, text: str) -> UsageError:
    from paddock.errors import UsageError

    return UsageError(f"{option} wants {wanted}, not '{text}': correct it, or leave it out.")
