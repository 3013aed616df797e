"""How to reach someone else's cluster: Rally's client options, which may hold secrets."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import UsageError
from paddock.rally.command import parse_pairs

VARIABLE = "PADDOCK_CLIENT_OPTIONS"


@dataclass(frozen=True)
class ClientOptions:
    """Client options for one race.

    :param file: the file that Rally reads, or None for Rally's defaults.
    :param temporary: whether that file was made for this race.
    :param values: its contents, which are never printed.
    """

    file: Path | None = None
    temporary: bool = False
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)


def read_client_options(option: str | None, environment: Mapping[str, str] | None = None) -> ClientOptions:
    """The options from --client-options (a .json file) or from PADDOCK_CLIENT_OPTIONS.

    Secrets on a command line end up in the shell's history and in the list of processes, so they are refused there.

    :raises UsageError: if the option is no file, or the contents are no options.
    """
    env = os.environ if environment is None else environment
    if option:
        path = Path(option).expanduser().absolute()
        if path.suffix != ".json" or not path.is_file():
            raise UsageError(
                "--client-options wants the name of a .json file, so that no password is left in the shell's history: "
                f"write the options into one, or put them into the variable {VARIABLE}."
            )
        return ClientOptions(path, False, _default_cluster(parse_pairs(str(path), "--client-options")))
    if env.get(VARIABLE):
        values = parse_pairs(env[VARIABLE], VARIABLE)
        folder = paths.state_folder()
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix="client-options-", suffix=".json")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(values if "default" in values else {"default": values}, file)
        return ClientOptions(Path(name), True, _default_cluster(values))
    return ClientOptions()


def _default_cluster(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the cluster that is raced: Rally's files may name several clusters."""
    default = values.get("default")
    return dict(default) if isinstance(default, dict) else dict(values)
