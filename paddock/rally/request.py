"""What a race is asked to be, and the esrally command line that it becomes; anyone can repeat the race with it."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.engine import Engine
from paddock.errors import FileError, UsageError, nearest
from paddock.plain_values import separated
from paddock.rally import DEFAULT_HTTP_PORT
from paddock.rally.clusters import DEFAULT_CLUSTER, Cluster, install_arguments, installation_id, started, target_hosts
from paddock.rally.limited_programs import LimitedProgram
from paddock.rally.privileges import pasted_before

# Client options that the user keeps out of the command line; it stays out of the environment of Rally's processes, too.
OPTIONS_VARIABLE = "PADDOCK_CLIENT_OPTIONS"
# Rally's own, which it forgets where a file names any.
RALLYS_OPTIONS = {"timeout": 60}
# What Rally takes out of them or understands in a way of its own (esrally/client/factory.py).
_RALLYS_CLIENT_OPTIONS = frozenset(
    (
        *("use_ssl", "verify_certs", "ca_certs", "client_cert", "client_key", "timeout", "max_connections"),
        *("basic_auth_user", "basic_auth_password", "http_auth", "api_key", "create_api_key_per_client"),
        *("compressed", "http_compress", "enable_cleanup_closed", "static_responses"),
    )
)
_LOGINS = "a login is basic_auth_user with basic_auth_password, or api_key."
# What a printed command names in the place of a file that is only there while Rally runs.
OPTIONS_FILE = Path("client-options.json")
# Where our tracks look for the file to which they add every request (tracks/shared/request_journal.py).
JOURNAL_VARIABLE = "PADDOCK_REQUEST_JOURNAL"
# Rally's option for machines that drive the load in the place of this one.
LOAD_DRIVER_HOSTS = "--load-driver-hosts"


@dataclass(frozen=True)
class ClientOptions:
    """Rally's client options for one race; they may hold secrets, so what they hold is never printed.

    :param file: the file with them, which Rally reads; None if they come from the environment or are none.
    :param private: what Rally is to be given in a file that is there while it runs and no longer; empty with ``file``.
    :param values: the options of the cluster that is raced.
    """

    file: Path | None = None
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class RaceRequest:
    """One race.

    :param engine: the Elasticsearch to provision; None to race against ``target_hosts``.
    :param cars: names of the team's cars, the one with the base configuration first.
    :param target_hosts: "host:port,..." of an existing cluster, or None.
    :param circumstances: the machine, kept with the user tags; a command to repeat the race elsewhere lacks them.
    :param data_path: the folder outside Rally's that car_params give to the node, cleared up after it; or None.
    :param memory_lock: whether a car asks the node to lock its memory.
    :param clusters: clusters of its own, side by side, in the place of ``engine`` and ``target_hosts``; those that are
        started have nodes that outlive Rally's own launch.
    :param request_journal: where our tracks are to write down every request; None for nowhere.
    :param limited: what our tracks start and is held to limits: its groups are there while the race is.
    """

    race_id: str
    track: Path
    challenge: str
    cars: tuple[str, ...]
    engine: Engine | None
    track_params: Mapping[str, Any] = field(default_factory=dict)
    car_params: Mapping[str, Any] = field(default_factory=dict)
    user_tags: Mapping[str, str] = field(default_factory=dict)
    circumstances: Mapping[str, str] = field(default_factory=dict)
    target_hosts: str | None = None
    client_options: ClientOptions = ClientOptions()
    http_port: int = DEFAULT_HTTP_PORT
    test_mode: bool = False
    on_error: str = "abort"
    data_path: Path | None = None
    memory_lock: bool = False
    further_arguments: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    request_journal: Path | None = None
    limited: tuple[LimitedProgram, ...] = ()

    @property
    def provisions(self) -> bool:
        """Whether Rally starts the node itself."""
        return self.engine is not None

    @property
    def starts_nodes(self) -> bool:
        """Whether nodes are started for it, by Rally or by us."""
        return self.provisions or any(cluster.nodes for cluster in self.clusters)

    @property
    def hosts(self) -> str:
        """Where Elasticsearch answers during the race; of several clusters the first one's."""
        if self.clusters:
            return ",".join(self.clusters[0].addresses)
        return self.target_hosts or f"127.0.0.1:{self.http_port}"

    @property
    def data_paths(self) -> tuple[Path, ...]:
        """The folders outside Rally's that its nodes fill."""
        own = [cluster.data_path for cluster in self.clusters if cluster.data_path is not None]
        return (*([self.data_path] if self.data_path else []), *own)


def with_options_in(request: RaceRequest, file: Path) -> RaceRequest:
    """The request with the client options that stand in no file in that one.

    Rally gives all clusters those of the first; where they differ, our lap runner reads each one's itself.
    """
    params, private = dict(request.track_params), request.client_options.private
    if any(options != private.get(DEFAULT_CLUSTER) for options in private.values()):
        params["lap_client_options"] = str(file)
    return replace(request, client_options=ClientOptions(file), track_params=params)


def program() -> Path:
    """The esrally beside this Python; PADDOCK_RALLY names another."""
    named = os.environ.get("PADDOCK_RALLY")
    return Path(named) if named else Path(sys.executable).with_name("esrally")


def arguments(request: RaceRequest) -> list[str]:
    """The arguments of esrally for that race, the program itself left out."""
    words = [
        "race",
        f"--race-id={request.race_id}",
        f"--track-path={request.track}",
        f"--challenge={request.challenge}",
        f"--on-error={request.on_error}",
    ]
    if request.engine is not None:
        words += [
            "--pipeline=from-distribution",
            f"--distribution-version={request.engine.version}",
            f"--team-path={paths.PROJECT}",
            f"--car={','.join(request.cars)}",
            f"--runtime-jdk={request.engine.runtime_jdk}",
        ]
        if request.http_port != DEFAULT_HTTP_PORT:
            words.append(f"--target-hosts=127.0.0.1:{request.http_port}")
        words += _json_option("--car-params", {**request.car_params, **request.engine.car_params})
    else:
        hosts = target_hosts(request.clusters) if request.clusters else request.target_hosts
        words += ["--pipeline=benchmark-only", f"--target-hosts={hosts}"]
        if request.client_options.file:
            words.append(f"--client-options={request.client_options.file}")
    words += _json_option("--track-params", request.track_params)
    if tags := {**request.circumstances, **request.user_tags}:
        words.append(f"--user-tags={_pairs(tags)}")
    if request.test_mode:
        words.append("--test-mode")
    if request.engine is None or request.engine.offline:
        words.append("--offline")
    return [*words, *request.further_arguments]


def load_driver_hosts(further_arguments: Sequence[str]) -> tuple[str, ...]:
    """The machines that Rally's own option names, in its order; empty for this one alone."""
    words = list(further_arguments)
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        # Rally understands abbreviations.
        if len(name) > len("--lo") and LOAD_DRIVER_HOSTS.startswith(name):
            told = value if equals else next(iter(words[number + 1 :]), "")
            return tuple(separated(told))
    return ()


def environment(request: RaceRequest) -> dict[str, str]:
    """The variables that the command line needs beside it."""
    return request.engine.environment if request.engine else {}


def needed_files(request: RaceRequest) -> tuple[Path, ...]:
    """What whoever runs the command must be able to read: Rally, its Python, the track, the cars, the Java."""
    engines = [request.engine, *(cluster.engine for cluster in request.clusters)]
    javas = dict.fromkeys(engine.java.home for engine in engines if engine is not None and engine.java is not None)
    return (
        program(),
        Path(sys.executable).resolve(),
        request.track / "track.json",
        paths.CARS,
        *(home / "bin" / "java" for home in javas),
    )


def writable_folders(request: RaceRequest) -> tuple[Path, ...]:
    """The folders in which Rally, the runners of our tracks and the node make files, Rally's own first."""
    journals = [request.track_params.get(name) for name in ("lap_journal", "load_journal")]
    engines = [request.engine, *(cluster.engine for cluster in request.clusters)]
    downloads = any(engine is not None and not engine.offline for engine in engines)
    return (
        paths.rally_folder(),
        paths.rally_log().parent,
        paths.races_folder(),
        paths.data_folder(f"paddock-{request.track.name}"),  # for the offsets of test mode's corpus
        *([paths.distributions_folder()] if downloads else []),
        *([request.request_journal.parent] if request.request_journal else []),
        *(Path(journal).parent for journal in journals if journal),
        *request.data_paths,
    )


def rewritten_files() -> tuple[Path, ...]:
    """The files that every Rally writes to, from its first start on."""
    return paths.rally_folder() / "rally.ini", paths.rally_folder() / "logging.json", paths.rally_log()


def printable(request: RaceRequest, anew: bool = False) -> str:
    """The command as it can be pasted into a shell, by root too; on any machine, so it does not name this one.

    Client options that stand in no file are to be put into OPTIONS_FILE before.

    :param anew: without the race id, so that Rally gives the repeated race one of its own.
    """
    assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(environment(request).items())]
    # A tournament's own files: laps of whoever repeats the race are none of its, and it may have stopped long ago.
    files = ("lap_journal", "lap_stop_file") if "lap_stop_file" in request.track_params else ()
    params = {name: value for name, value in request.track_params.items() if name not in files}
    if starts := params.get("lap_starts"):
        # Between two starts Paddock starts the nodes anew; whoever repeats the race repeats the first.
        params["lap_starts"] = starts[:1]
    elsewhere = replace(request, circumstances={}, track_params=params)
    if request.client_options.private:
        elsewhere = with_options_in(elsewhere, OPTIONS_FILE)
    words = [word for word in arguments(elsewhere) if not (anew and word.startswith("--race-id="))]
    before = pasted_before(request.starts_nodes)
    race = " ".join([*assignments, *map(shlex.quote, [*before, str(program()), *words])])
    return "\n".join([*_before_the_race(request, before), race, *_after_the_race(request, before)])


def _before_the_race(request: RaceRequest, before: tuple[str, ...]) -> Iterator[str]:
    """The commands with which plain Rally installs and starts the nodes of a race's own clusters."""
    for cluster, node in started(request.clusters):
        java = cluster.engine.environment if cluster.engine else {}
        assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(java.items())]
        install = install_arguments(request.race_id, cluster, node)
        start = [
            "start",
            f"--installation-id={installation_id(request.race_id, node)}",
            f"--race-id={request.race_id}",
            *([f"--runtime-jdk={cluster.engine.runtime_jdk}"] if cluster.engine else []),
        ]
        for words in (install, start):
            yield " ".join([*assignments, *map(shlex.quote, [*before, str(program()), *words])])


def _after_the_race(request: RaceRequest, before: tuple[str, ...]) -> Iterator[str]:
    for _, node in started(request.clusters):
        stop = ["stop", f"--installation-id={installation_id(request.race_id, node)}"]
        yield " ".join(map(shlex.quote, [*before, str(program()), *stop]))


def _pairs(values: Mapping[str, str]) -> str:
    """name:value pairs as Rally splits them; JSON where it would split a name or a value, or take it for a file."""
    pairs = [f"{name}:{value}" for name, value in values.items()]
    plain = all(pair.count(":") == 1 and "," not in pair and "'" not in pair for pair in pairs)
    if plain and not pairs[-1].endswith(".json"):
        return ",".join(pairs)
    return json.dumps(dict(values), ensure_ascii=False)


def _json_option(option: str, values: Mapping[str, Any]) -> list[str]:
    return [f"{option}={json.dumps(dict(values), sort_keys=True)}"] if values else []


def parse_pairs(text: str, option: str, private: bool = False) -> dict[str, Any]:
    """What a user writes behind --params and the like: "a:1,b:text", a JSON object, or the name of a .json file.

    Values are read as Rally does it: numbers, true, false and null by their looks, the rest as text.

    :param private: quote no piece of the text in a sentence, for any may be a password's.
    :raises UsageError: if it is none of the three.
    """
    text = text.strip()
    if text.endswith(".json"):
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = "check that it is there and is text in UTF-8" if private else error
            raise UsageError(f"{option} names a file that cannot be read: {why}.") from None
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise UsageError(f"{option} is no valid JSON: {error}.") from None
        return dict(value)
    pairs: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, separator, value = part.partition(":")
        if not separator or not key.strip():
            what = "a part of it" if private else f"'{part}'"
            raise UsageError(f"{option} wants name:value pairs separated by commas, and {what} is none.")
        if key.strip() in pairs:
            what = "a name" if private else f"'{key.strip()}'"
            raise UsageError(f"{option} has {what} twice: leave one out.")
        pairs[key.strip()] = _literal(value.strip())
    return pairs


def _literal(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() in ("null", "none"):
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_client_options(
    option: str | None,
    environment: Mapping[str, str] | None = None,
    hosts: str = "",
    cluster: str = DEFAULT_CLUSTER,
    called: Sequence[str] = (),
) -> ClientOptions:
    """The options from --client-options (a .json file) or from PADDOCK_CLIENT_OPTIONS; nothing is written.

    Secrets on a command line end up in the shell's history and in the list of processes, so they are refused there.
    Rally is given the user's own file where it can use it; else what it means, in a file that is there while it runs.

    :param hosts: those of --target-hosts.
    :param cluster: whose options ``values`` are to be, where those of several clusters are named.
    :param called: what else it may be called there: contenders on it.
    :raises UsageError: if the option is no file, the contents are no options, or they are of other clusters alone.
    """
    env = os.environ if environment is None else environment
    path: Path | None
    if option:
        path = Path(option).expanduser().absolute()
        if path.suffix == ".json" and not path.exists():
            raise FileError(path, "this file does not exist: --client-options names it; check its name.")
        if path.suffix != ".json" or not path.is_file():
            raise UsageError(
                "--client-options wants the name of a .json file, so that no password is left in the shell's history: "
                f"write the options into one, or put them into the variable {OPTIONS_VARIABLE}."
            )
        given = parse_pairs(str(path), "--client-options", private=True)
    elif env.get(OPTIONS_VARIABLE):
        path, given = None, parse_pairs(env[OPTIONS_VARIABLE], OPTIONS_VARIABLE, private=True)
    else:
        return ClientOptions()
    of_cluster = _of_cluster(given, (*called, cluster), path or OPTIONS_VARIABLE)
    values = _understood(of_cluster, hosts, path.parent if path else Path())
    if path and values == given.get(cluster):
        return ClientOptions(path, {}, values)
    return ClientOptions(None, {**_named(given), cluster: {**RALLYS_OPTIONS, **values}}, values)


@cache
def _known_client_options() -> frozenset[str]:
    """Those that Rally takes for itself, and those of the client that it makes with the others."""
    import elasticsearch  # which takes its time, and few races name client options

    return frozenset(inspect.signature(elasticsearch.Elasticsearch).parameters) | _RALLYS_CLIENT_OPTIONS


def _named(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options by cluster, where they are written so."""
    return {name: options for name, options in given.items() if isinstance(options, dict)}


def _of_cluster(given: Mapping[str, Any], names: Sequence[str], place: object) -> dict[str, Any]:
    """The options of one cluster: Rally's files name clusters, a plain list of options is for any.

    Options of the default cluster alone are everybody's, as with Rally; beside those of others they are its own, for a
    password that is sent to another cluster is known there.
    """
    named = _named(given)
    if not named:
        return dict(given)
    for name in names:
        if name in named:
            return dict(named[name])
    if list(named) == [DEFAULT_CLUSTER]:
        return dict(named[DEFAULT_CLUSTER])
    raise UsageError(
        f"{place} has client options of {', '.join(sorted(named))}, and none of '{names[0]}': add those, by that name."
    )


def _understood(options: Mapping[str, Any], hosts: str, folder: Path) -> dict[str, Any]:
    """The same options as Rally has to be told them: it runs in another folder, and overlooks https:// before a host.

    :param folder: from which files are named.
    :raises UsageError: if they name a file that is not there, or an option that nobody knows.
    """
    told = dict(options)
    known = _known_client_options() if told else frozenset()
    for name in set(told) - known:
        meant = nearest(name, known, 1)
        # What is like none of them may be a piece of a password.
        which, what = (f"'{name}'", f"did you mean '{meant[0]}'?") if meant else ("One of them", _LOGINS)
        raise UsageError(f"{which} is no client option that Rally or Elasticsearch's client knows: {what}")
    for name in ("ca_certs", "client_cert", "client_key"):
        if not told.get(name):
            continue
        path = (folder / Path(str(told[name])).expanduser()).absolute()
        if not path.is_file():
            raise UsageError(f"The client options name {path} as {name}, and there is no such file: correct it.")
        told[name] = str(path)
    if "https://" in hosts and "use_ssl" not in told:
        told["use_ssl"] = True
    return told
