"""How to reach someone else's cluster: Rally's client options, which may hold secrets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.errors import FileError, UsageError
from paddock.rally.command import OPTIONS_VARIABLE, parse_pairs


@dataclass(frozen=True)
class ClientOptions:
    """Client options for one race; what they hold is never printed.

    :param file: the user's file with them, which Rally reads; None if they come from the environment or are none.
    :param private: what Rally is to be given in a file that is there while it runs and no longer; empty with ``file``.
    :param values: the options of the cluster that is raced.
    """

    file: Path | None = None
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)


def read_client_options(option: str | None, environment: Mapping[str, str] | None = None) -> ClientOptions:
    """The options from --client-options (a .json file) or from PADDOCK_CLIENT_OPTIONS; nothing is written.

    Secrets on a command line end up in the shell's history and in the list of processes, so they are refused there.

    :raises UsageError: if the option is no file, or the contents are no options.
    """
    env = os.environ if environment is None else environment
    if option:
        path = Path(option).expanduser().absolute()
        if path.suffix == ".json" and not path.exists():
            raise FileError(path, "this file does not exist: --client-options names it; check its name.")
        if path.suffix != ".json" or not path.is_file():
            raise UsageError(
                "--client-options wants the name of a .json file, so that no password is left in the shell's history: "
                f"write the options into one, or put them into the variable {OPTIONS_VARIABLE}."
            )
        return ClientOptions(path, {}, _default_cluster(parse_pairs(str(path), "--client-options", private=True)))
    if env.get(OPTIONS_VARIABLE):
        values = parse_pairs(env[OPTIONS_VARIABLE], OPTIONS_VARIABLE, private=True)
        return ClientOptions(None, values if "default" in values else {"default": values}, _default_cluster(values))
    return ClientOptions()


def _default_cluster(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the cluster that is raced: Rally's files may name several clusters."""
    default = values.get("default")
    return dict(default) if isinstance(default, dict) else dict(values)
