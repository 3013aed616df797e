"""Turns every failure of a task into one sentence and an exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from invoke import Exit


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """End in one sentence and an exit code where something is wrong; with --debug in a traceback."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        from paddock.errors import PaddockError

        try:
            return function(*args, **kwargs)
        except (Exit, SystemExit):
            raise
        except BaseException as error:
            if {"-d", "--debug"} & set(sys.argv) or os.environ.get("PADDOCK_DEBUG"):
                raise
            if isinstance(error, PaddockError):
                raise Exit(str(error), error.exit_code) from None
            if isinstance(error, KeyboardInterrupt):
                raise Exit("Stopped.", 130) from None
            sentence = f"Paddock itself failed ({type(error).__name__}: {error}): call again with --debug to see where."
            raise Exit(sentence, 70) from None

    return run
