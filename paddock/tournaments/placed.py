"""Contenders that the command line places: further data paths beside those of the file, or clusters that are there."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddock.errors import UsageError, unknown
from paddock.structured_files import read_yaml
from paddock.tournaments import TournamentOptions

_ON_HOSTS = (
    "Clusters that are there, named with --contender-hosts: what is said here of cars and limits is theirs to hold."
)

# What names a file or a folder, from where the tournament file lies.
_PLACES = ("client_options", "data_path")


def placed(name: str, content: Mapping[str, Any], options: TournamentOptions) -> dict[str, Any]:
    """The contents of a tournament file with the contenders that --data-paths and --contender-hosts ask for.

    :param name: of the tournament, for sentences.
    :raises UsageError: if it lists no contenders that these could be, or names none of its own.
    :raises FileError: if the file of hosts is wrong.
    """
    changed = dict(content)
    if options.data_paths:
        changed = _with_data_paths(name, changed, options.data_paths)
    if options.contender_hosts:
        file = Path(options.contender_hosts).expanduser()
        told = read_yaml(file, "contender-hosts")
        hosts = {str(one): whole_paths(entry, file.parent) for one, entry in told.items()}
        changed = _on_hosts(name, changed, hosts)
    return changed


def whole_paths(entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A contender as a file in that folder lists it, with the whole paths of what it names."""
    own = {name: str((folder / Path(entry[name]).expanduser()).absolute()) for name in _PLACES if name in entry}
    return {**entry, **own}


def compares_data_paths(content: Mapping[str, Any]) -> bool:
    """Whether that tournament file has contenders that are folders, and nothing else."""
    return any(set(one) == {"name", "data_path"} for one in content.get("contenders", ()))


def _with_data_paths(name: str, content: dict[str, Any], folders: Mapping[str, Any]) -> dict[str, Any]:
    """A contender more for each of these folders."""
    if not compares_data_paths(content):
        raise UsageError(
            f"--data-paths adds folders to a tournament that compares some, and '{name}' compares none: leave it out, "
            f"or hold study-storage."
        )
    added: list[dict[str, Any]] = []
    for one, told in folders.items():
        folder = Path(told).expanduser().absolute() if told and isinstance(told, str) else None
        if folder is None or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise UsageError(
                f"--data-paths wants a folder that can be written to for '{one}', and {folder or repr(told)} is none: "
                f"make it first."
            )
        if twin := next((other["name"] for other in added if Path(other["data_path"]).samefile(folder)), None):
            raise UsageError(f"--data-paths has one folder twice, as '{twin}' and as '{one}': leave one of them out.")
        added.append({"name": str(one), "data_path": str(folder)})
    changed = {**content, "contenders": [*content["contenders"], *added]}
    _with_time(changed, len(content["contenders"]), len(added))
    if quick := dict(content.get("quick", {})):
        _with_time(quick, len(quick.get("contenders", content["contenders"])), len(added))
        if "contenders" in quick:
            quick["contenders"] = [*quick["contenders"], *(one["name"] for one in added)]
        changed["quick"] = quick
    return changed


def _with_time(form: dict[str, Any], there: int, added: int) -> None:
    """Give a form the minutes that further contenders take."""
    if "budget_minutes" in form:
        form["budget_minutes"] = math.ceil(form["budget_minutes"] * (there + added) / there)


def _on_hosts(name: str, content: dict[str, Any], hosts: Mapping[str, Any]) -> dict[str, Any]:
    """The contenders that are named, each on its cluster; the others are left out.

    What would build a node is left out with them, and all blocks are those of one start: nobody starts another.
    """
    there = [one["name"] for one in content.get("contenders", ())]
    for one in hosts:
        if one not in there:
            raise unknown(f"contender of '{name}' called", one, there, f"./inv tournament {name} --dry-run")
    kept = [
        {**{key: one[key] for key in ("name", "level") if key in one}, **hosts[one["name"]]}
        for one in content["contenders"]
        if one["name"] in hosts
    ]
    first: dict[str, str] = {}
    for entry in kept:
        other = first.setdefault(
            json.dumps([entry[key] for key in entry if key != "name"], sort_keys=True), entry["name"]
        )
        if other != entry["name"]:
            raise UsageError(
                f"--contender-hosts has '{other}' and '{entry['name']}' on one cluster ({entry['target_hosts']}), and "
                f"they differ in nothing else: give each its own, or leave one of them out."
            )
    if len(kept) < 2 or content["baseline"] not in hosts:
        raise UsageError(
            f"--contender-hosts has to name the baseline of '{name}', {content['baseline']}, and another contender "
            f"at least."
        )
    changed = {**content, "contenders": kept, "starts": 1, "blocks": min(1000, content["blocks"] * content["starts"])}
    for key in ("nodes", "car_params", "drop_caches", "control"):
        changed.pop(key, None)
    if "quick" in content:
        quick = {key: value for key, value in content["quick"].items() if key not in ("nodes", "cars", "car_params")}
        of_quick = [one["name"] for one in kept if one["name"] in quick.get("contenders", there)]
        changed["quick"] = {**quick, "starts": 1, "contenders": of_quick}
    if published := content.get("published"):
        changed["published"] = _published(published, {one["name"] for one in kept})
    return changed


def _published(published: Mapping[str, Any], kept: set[str]) -> dict[str, Any]:
    """What was published of those that are left, with the deviation that all of them have now."""

    def only(part: Mapping[str, Any]) -> dict[str, Any]:
        named = {key: part[key] for key in ("figures", "ratios", "excluded", "excluded_sds") if key in part}
        return {
            **part,
            **{key: {one: value for one, value in values.items() if one in kept} for key, values in named.items()},
        }

    changed = only(published)
    if "others" in published:
        changed["others"] = [only(one) for one in published["others"]]
    changed["deviations"] = [*published.get("deviations", ()), _ON_HOSTS]
    return changed
