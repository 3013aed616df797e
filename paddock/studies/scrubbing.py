"""Texts for everybody: without the folders, the hosts, the users and the name of the machine that measured."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.plain_values import separated
from paddock.tournaments.model import Contender

# A path in a command line; /dev/shm and the like are everybody's.
_PATH = re.compile(r"(?<![\w~./<>-])/(?!(?:dev|proc|sys)/)[\w.@+-]+(?:/[\w.@+-]+)+")
# One in any text, where a path may as well be one of Elasticsearch's.
_FOLDER = re.compile(
    r"(?<![\w~./<>-])/(?:data|dev/mapper|etc|home|media|mnt|nfs|opt|root|srv|tmp|Users|usr|var|vol|volumes?|work)/[\w.@+-]"
    r"(?:[\w.@+/-]*[\w@+-])?"
)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def private_names(commands: Iterable[str], contenders: Iterable[Contender] = ()) -> dict[str, str]:
    """Hosts and folders of a tournament or race, and what stands for each: HOST-1, HOST-2, FOLDER.

    :param commands: esrally command lines; ``contenders`` may have some as well.
    """
    addresses: list[str] = []
    folders: list[str] = []
    for command in map(scrubbed, commands):
        addresses += re.findall(r"--target-hosts=([^\s'\"{}]+)", command)
        folders += _PATH.findall(command)
    for one in contenders:
        addresses += [one.target_hosts or ""]
        folders += _PATH.findall(scrubbed(f"{one.data_path} {one.client_options} {one.engine} {one.java}"))
    hosts = dict.fromkeys(map(_host, separated(",".join(addresses))))
    named = [host for host in hosts if host not in _LOOPBACK]
    return dict.fromkeys(folders, "FOLDER") | {host: f"HOST-{number}" for number, host in enumerate(named, 1)}


def _host(address: str) -> str:
    """The host of "https://user:password@host:9200"."""
    return re.sub(r":\d+/?$", "", address.rpartition("//")[2].rpartition("@")[2])


def scrubbed(text: str, names: Mapping[str, str] | None = None) -> str:
    """The same without folders, users, passwords in addresses, the name of this machine, and those private names."""
    home = Path.home()
    checkouts = {str(paths.PROJECT), *re.findall(r"--team-path=(/[^\s'\"]+)", text)}  # it may be another one's
    places = {str(paths.rally_folder().parent): "~", str(home): "~"} | dict.fromkeys(checkouts, "~/paddock")
    # The longest first: a project lies in a home.
    for place in sorted((one for one in places if len(one) > 1), key=len, reverse=True):
        text = re.sub(rf"{re.escape(place)}(?![\w.-])", places[place], text)
    for inside, place in ((r"\.venv", "~/paddock"), (r"\.rally", "~")):  # of another checkout, another home
        text = re.sub(rf"(?<![\w~.-])/[^\s'\"=:,]*?/(?={inside}\b)", f"{place}/", text)
    if (host := platform.node()) and len(host) > 2:
        text = re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w.-])", "this-machine", text)
    if user := os.environ.get("USER", ""):
        text = re.sub(rf"/home/{re.escape(user)}(?![\w.-])", "~", text)
    for name, word in sorted((names or {}).items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", word, text)
    return _FOLDER.sub("FOLDER", re.sub(r"(?<=://)[^\s/@'\"]+@", "", text))


def every_text(value: Any, change: Callable[[str], str]) -> Any:
    """The same value - dataclasses, mappings, tuples and what is in them - with every text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(every_text(one, change) for one in value)
    if isinstance(value, Mapping):
        return {name: every_text(one, change) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: every_text(getattr(value, one.name), change) for one in fields(value)})
    return value
