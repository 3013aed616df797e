"""What contenders differ in, what a winner brings, and how that gets into later steps and to the user; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from paddock.cars import known_cars
from paddock.chains.model import DEFAULT_CONTENDER, TUNED_CONTENDER, Settings, Step
from paddock.errors import unknown
from paddock.race import DEFAULT_CARS
from paddock.tournaments.durations import limits_of
from paddock.tournaments.load_shape import SHIPPER_KEYS
from paddock.tournaments.model import Contender, Tournament

_DURATION = re.compile(r"[0-9]+(nanos|micros|ms|s|m|h|d)")
_NODE = ("version", "engine", "java", "data_path", "nodes")
# What track parameters are called in a level's settings.
_PARAMETERS = {
    "index.number_of_shards": "number_of_shards",
    "index.number_of_replicas": "number_of_replicas",
    "index.refresh_interval": "refresh_interval",
    "index.store.type": "store_type",
    "index.codec": "codec",
    "index.translog.durability": "translog_durability",
    "index.translog.sync_interval": "translog_sync_interval",
    "index.translog.flush_threshold_size": "translog_flush_threshold_size",
    "index.merge.scheduler.max_thread_count": "merge_max_thread_count",
}
_LOAD = {"bulk_size": "bulk_size", "clients": "bulk_indexing_clients", **{name: name for name in SHIPPER_KEYS}}
# As tracks/shared/levels.py has them; a test compares the two.
MODES: Mapping[str, Mapping[str, Any]] = {
    "standard": {"index.mode": "standard"},
    "logsdb": {"index.mode": "logsdb", "index.mapping.source.mode": "stored", "index.codec": None},
    "logsdb-synthetic": {"index.mode": "logsdb", "index.mapping.source.mode": "synthetic", "index.codec": None},
}
_MAPPING = "mapping"


def level_of(challenge: str, level: Any) -> dict[str, Any]:
    """A contender's level as an object, whatever its challenge's short form; the same as tracks/shared/levels.py."""
    if level is None:
        return {}
    if isinstance(level, Mapping):
        return {name: value for name, value in level.items() if name != "name"}
    text = str(level)
    if challenge == "translog-flush":
        if text in ("request", "async"):
            return {"settings": {"index.translog.durability": text}}
        if _DURATION.fullmatch(text):
            return {"settings": {"index.translog.durability": "async", "index.translog.sync_interval": text}}
        return {"settings": {"index.translog.flush_threshold_size": text}}
    if challenge == "codec-and-sort":
        codec, _, fields = text.partition(" by ")
        return {"codec": codec.strip(), **({"sort": fields.strip()} if fields else {})}
    setting = {
        "refresh-interval": "index.refresh_interval",
        "store-type": "index.store.type",
        "shards": "index.number_of_shards",
        "replicas": "index.number_of_replicas",
    }.get(challenge)
    if setting:
        return {"settings": {setting: text if challenge in ("refresh-interval", "store-type") else level}}
    key = {"bulk-size": "bulk_size", "bulk-clients": "clients", "mapping-cost": _MAPPING, "index-mode": "mode"}
    key |= {"shipper": "shipper"}
    return {key[challenge]: level} if challenge in key else {}


def differences(tournament: Tournament) -> dict[str, set[str]]:
    """What the contenders differ in, by contender: names such as "the car", "bulk_size", "index.codec"."""
    atoms = {one.name: _atoms(tournament, one) for one in tournament.contenders}
    every = {name for own in atoms.values() for name in own}
    varied = {name for name in every if len({_text(own.get(name)) for own in atoms.values()}) > 1}
    return {contender: varied & set(own) for contender, own in atoms.items()}


def varied(tournament: Tournament) -> set[str]:
    """All of that together, each by one name, wherever a contender has it: "clients", "index.refresh_interval"."""
    return {name for told in set().union(*differences(tournament).values()) for name in _one_name(told)}


def _one_name(told: str) -> set[str]:
    """The names of what a level or a track parameter of that name sets."""
    name = told.removeprefix("track parameter ")
    same = {parameter: setting for setting, parameter in _PARAMETERS.items()}
    same |= {parameter: key for key, parameter in _LOAD.items()}
    several = {"mode": ("index.mode", "index.mapping.source.mode"), "sort": ("index.sort.field", "index.sort.order")}
    if name == "index_settings":
        return set()  # what is in it is told one by one
    return set(several.get(name, (same.get(name, told),)))


def names_set(settings: Settings) -> set[str]:
    """What the settings set, by the names that ``varied`` has."""
    cars, parameters = known_cars(), track_parameters(settings)
    told = {f"car variable {name}" for car in settings.cars for name in cars[car].variables}
    told |= {f"car variable {name}" for name in settings.car_params} | set(settings.node)
    told |= {one for name in parameters for one in _one_name(f"track parameter {name}")}
    return told | {_full(name) for name in parameters.get("index_settings", {})}


def won(tournament: Tournament, winner: str) -> Settings:
    """What the contender of that name has that not all have."""
    contender = next(one for one in tournament.contenders if one.name == winner)
    own, cars = differences(tournament)[winner], known_cars()
    level = level_of(tournament.challenge, contender.level)
    settings = {name: value for name, value in level.get("settings", {}).items() if _full(name) in own}
    chosen = [car for car in tournament.cars_of(contender) if _car_atoms(cars[car]) & own]
    return Settings(
        cars=tuple(chosen),
        car_params=_only(contender.car_params, own, "car variable "),
        level={
            **({"settings": settings} if settings else {}),
            # Into which indices a load of slices goes means nothing where every lap has a fresh one.
            **{
                name: value
                for name, value in level.items()
                if name not in ("settings", "blocks_per_index") and name in own
            },
        },
        track_params=_only(contender.track_params, own, "track parameter "),
        node={name: getattr(contender, name) for name in _NODE if name in own},
    )


def _only(values: Mapping[str, Any], own: set[str], prefix: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if prefix + name in own}


def _atoms(tournament: Tournament, contender: Contender) -> dict[str, Any]:
    """Everything that the contender says of itself, each with a name that another step's has as well."""
    level = level_of(tournament.challenge, contender.level)
    found = {name: value for name, value in level.items() if name != "settings"}
    found |= {_full(name): value for name, value in level.get("settings", {}).items()}
    if contender.cars is not None or any(one.cars is not None for one in tournament.contenders):
        cars = known_cars()
        for car in tournament.cars_of(contender):
            found |= dict.fromkeys(_car_atoms(cars[car]), car)
            found |= {f"car variable {name}": value for name, value in cars[car].variables.items()}
    found |= {f"car variable {name}": value for name, value in contender.car_params.items()}
    found |= {f"track parameter {name}": value for name, value in contender.track_params.items()}
    found |= {_full(name): value for name, value in contender.track_params.get("index_settings", {}).items()}
    return found | {name: getattr(contender, name) for name in _NODE if getattr(contender, name) is not None}


def _car_atoms(car: Any) -> set[str]:
    return {"the car"} if car.bases else {f"car variable {name}" for name in car.variables}


def _full(setting: str) -> str:
    return setting if setting.startswith("index.") else f"index.{setting}"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def with_cars(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """The first cars, and in the place of those that set the same the second ones.

    :raises UsageError: if there is no such car.
    """
    cars = known_cars()
    for name in (*first, *second):
        if name not in cars:
            raise unknown("car", name, cars, "./inv cars")
    told = set().union(*(_car_atoms(cars[name]) for name in second)) if second else set()
    return (*(name for name in first if name not in second and not _car_atoms(cars[name]) & told), *second)


def combined(first: Settings, second: Settings) -> Settings:
    """Both; where they say the same, the second."""
    first = _without(first, second)
    settings = {**first.level.get("settings", {}), **second.level.get("settings", {})}
    others = {**first.track_params.get("index_settings", {}), **second.track_params.get("index_settings", {})}
    return Settings(
        with_cars(first.cars, second.cars),
        {**first.car_params, **second.car_params},
        {**first.level, **second.level, **({"settings": settings} if settings else {})},
        {**first.track_params, **second.track_params, **({"index_settings": others} if others else {})},
        {**first.node, **second.node},
    )


def _without(first: Settings, second: Settings) -> Settings:
    """The first but for what the second says in another place: a level's bulk size is a track parameter's, too."""
    told = track_parameters(second)

    def parameter(setting: str) -> str:
        return _PARAMETERS.get(_full(setting), _full(setting))

    named = {*told, *(parameter(name) for name in told.get("index_settings", {}))} - {"index_settings"}
    own = {**_LOAD, "codec": "codec"}
    level = {name: value for name, value in first.level.items() if name == "settings" or own.get(name) not in named}
    params = {name: value for name, value in first.track_params.items() if name not in named}
    for place in (level, params):
        key = "settings" if place is level else "index_settings"
        if key in place:
            place[key] = {name: value for name, value in place[key].items() if parameter(name) not in named}
    return replace(
        first,
        level={name: value for name, value in level.items() if name != "settings" or value},
        track_params={name: value for name, value in params.items() if name != "index_settings" or value},
    )


def track_parameters(settings: Settings) -> dict[str, Any]:
    """What its level and its own track parameters are as parameters of any race; a mapping is none of them."""
    level, found, others = settings.level, {}, {}
    told = {**MODES.get(str(level.get("mode")), {})}
    if "codec" in level:
        told["index.codec"] = level["codec"]
    if level.get("sort") not in (None, "unsorted"):
        fields = level["sort"] if isinstance(level["sort"], list) else str(level["sort"]).split(",")
        told["index.sort.field"] = [field.split()[0] for field in fields]
        told["index.sort.order"] = [(*field.split(), "asc")[1] for field in fields]
    told |= {_full(name): value for name, value in level.get("settings", {}).items()}
    for name, value in told.items():
        if name in _PARAMETERS and value is not None:
            found[_PARAMETERS[name]] = value
        elif value is not None:
            others[name] = value
    found |= {_LOAD[name]: level[name] for name in _LOAD if name in level}
    found |= {name: value for name, value in settings.track_params.items() if name != "index_settings"}
    others |= settings.track_params.get("index_settings", {})
    return found | ({"index_settings": others} if others else {})


def carried_into(content: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The contents of a tournament file in which every contender has these settings, but for what it varies itself.

    ``version``, ``engine``, ``java`` and ``data_path`` are options of the tournament, so they are not in it.
    """
    changed = dict(content)
    if settings.cars:
        changed["cars"] = list(with_cars(content.get("cars", DEFAULT_CARS), settings.cars))
    if settings.car_params:
        changed["car_params"] = {**content.get("car_params", {}), **settings.car_params}
    if parameters := track_parameters(settings):
        both = {**content.get("track_params", {}), **parameters}
        own = content.get("track_params", {}).get("index_settings", {})
        if "index_settings" in parameters:
            both["index_settings"] = {**own, **parameters["index_settings"]}
        changed["track_params"] = both
    if "nodes" in settings.node:
        changed["nodes"] = settings.node["nodes"]
    if "contenders" in content and settings.cars:
        own_cars = content.get("cars", DEFAULT_CARS)
        common = set.intersection(*(set(one.get("cars", own_cars)) for one in content["contenders"]))
        changed["contenders"] = [
            {**one, "cars": list(_carried_cars(one["cars"], common, settings.cars))} if "cars" in one else dict(one)
            for one in content["contenders"]
        ]
    return changed


def _carried_cars(own: Sequence[str], common: set[str], carried: Sequence[str]) -> tuple[str, ...]:
    """The contender's cars: those that all have give way to the carried ones, its own do not."""
    shared = [name for name in own if name in common]
    return with_cars(with_cars(shared, carried), [name for name in own if name not in common])


def without_defaults(settings: Settings, default: Settings, parameters: Mapping[str, Any]) -> Settings:
    """What is left of the settings if those are taken out that the default configuration has anyway.

    :param parameters: the track's, name -> default.
    """
    known = {**parameters, **default.track_params}
    base = set(with_cars(DEFAULT_CARS, default.cars))
    level = settings.level

    def differs(parameter: str | None, value: Any) -> bool:
        return parameter is None or str(known.get(parameter)) != str(value)

    kept = {n: v for n, v in level.get("settings", {}).items() if differs(_PARAMETERS.get(_full(n)), v)}
    others = {
        name: value
        for name, value in level.items()
        if name != "settings"
        and differs({**_LOAD, "codec": "codec"}.get(name), value)
        and (name, value) not in (("mode", "standard"), ("sort", "unsorted"), (_MAPPING, "track"))
    }
    return Settings(
        tuple(name for name in settings.cars if name not in base),
        {name: value for name, value in settings.car_params.items() if default.car_params.get(name) != value},
        {**({"settings": kept} if kept else {}), **others},
        {name: value for name, value in settings.track_params.items() if differs(name, value)},
        {name: value for name, value in settings.node.items() if default.node.get(name) != value},
    )


def final_contenders(tuned: Settings, default: Settings) -> list[dict[str, Any]]:
    """The two contenders of the last tournament, as a tournament file has them."""
    ours: dict[str, Any] = {"name": TUNED_CONTENDER, **tuned.node}
    if tuned.level:
        ours["level"] = dict(tuned.level)
    if tuned.track_params:
        ours["track_params"] = dict(tuned.track_params)
    if tuned.car_params:
        ours["car_params"] = dict(tuned.car_params)
    base = with_cars(DEFAULT_CARS, default.cars)
    theirs: dict[str, Any] = {"name": DEFAULT_CONTENDER}
    if tuned.cars:
        ours["cars"], theirs["cars"] = list(with_cars(base, tuned.cars)), list(base)
    return [theirs, ours]


def applied(tuned: Settings, default: Settings) -> dict[str, str]:
    """The tuned configuration as options of ``./inv race`` and ``./inv tournament``; empty if it is the default."""
    if not tuned:
        return {}
    whole = combined(default, tuned)
    found = {}
    if whole.cars:
        found["--car"] = ",".join(with_cars(DEFAULT_CARS, whole.cars))
    if parameters := track_parameters(whole):
        simple = all(_is_simple(value) for value in parameters.values())
        pairs = ",".join(f"{name}:{value}" for name, value in parameters.items())
        found["--params"] = pairs if simple else json.dumps(parameters)
    if whole.car_params:
        found["--car-params"] = ",".join(f"{name}:{value}" for name, value in whole.car_params.items())
    return found | {f"--{name.replace('_', '-')}": str(value) for name, value in whole.node.items()}


def _is_simple(value: Any) -> bool:
    return (
        isinstance(value, (str, int, float)) and not isinstance(value, bool) and not set(":,{}'\" ") & set(str(value))
    )


def said(settings: Settings) -> str:
    """The settings in one line: "cars 2gheap, bulk_size 5000"; empty for none."""
    parts = [f"cars {', '.join(settings.cars)}"] if settings.cars else []
    level = settings.level
    told: dict[str, Any] = {**settings.node, **settings.car_params, **level.get("settings", {})}
    told |= {name: value for name, value in level.items() if name != "settings"} | dict(settings.track_params)
    return ", ".join([*parts, *(f"{name} {value}" for name, value in told.items())])


def in_force(settings: Settings) -> dict[str, Any]:
    """What the settings set, one by one: the variables of their cars by name, index settings, bulks and clients."""
    cars = known_cars()
    told: dict[str, Any] = {name: value for car in settings.cars for name, value in cars[car].variables.items()}
    told |= {**settings.car_params, **settings.node}
    parameters = track_parameters(settings)
    others = parameters.pop("index_settings", {})
    return told | parameters | others


def variables_told(content: Mapping[str, Any]) -> dict[str, set[str]]:
    """The car variables that are set for every contender of a tournament file, by the contender; "" in a grid."""
    cars, found = known_cars(), {}
    for one in content.get("contenders", [{"name": ""}]):
        told = {*content.get("car_params", {}), *one.get("car_params", {})}
        chosen = one.get("cars", content.get("cars", DEFAULT_CARS))
        found[one["name"]] = told.union(*(cars[name].variables for name in chosen if name in cars))
    return found


def unbearable(tournament: Tournament) -> str | None:
    """Why the winner of a tournament could not be carried on; None if it can."""
    return (
        "its contenders differ in the mapping, which changes what can be searched and is no setting"
        if _MAPPING in varied(tournament)
        else "its contenders are clusters that are there, which nothing can be carried to"
        if any(one.target_hosts for one in tournament.contenders)
        else "its contenders differ in the limits of their nodes, which are other hardware and no setting"
        if len({limits_of(tournament, one) for one in tournament.contenders}) > 1
        else None
    )


def builds_on(step: Step, winners: Mapping[str, Settings]) -> Settings:
    """What the winners of earlier steps bring into this one, in the order of the steps."""
    found = Settings()
    for name in step.winners_of:
        found = combined(found, winners.get(name, Settings()))
    return found
