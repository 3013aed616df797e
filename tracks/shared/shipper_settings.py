"""What a lap is sent by in the place of Rally's own bulks: a shipper, and how it is set; read, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from esrally import exceptions

from shared.limit_groups import GroupLimits, group_limits
from shared.shipper_parsing import NONE, PARSINGS, PLACES, SYSLOG
from shared.shipper_programs import MEMORY, PROGRAMS, QUEUES

# Who sends the documents of a lap where no shipper does.
OWN_CLIENTS = "rally"
SHIPPERS = (OWN_CLIENTS, *PROGRAMS)
INPUTS = ("tcp", "imtcp", "imptcp", "file")
FOR_EVER = -1
# Events that a queue holds, and seconds without a document counted, where nobody says.
DEFAULT_QUEUE_SIZE = 100_000
DEFAULT_PATIENCE = 30.0
# More than any machine has, which need not be the one that reads this: whether they are there is seen at the start.
_MOST_PROCESSORS = 4096
# As levels and track parameters call them; those of a level win.
_BATCH, _WORKERS, _QUEUE, _QUEUE_SIZE, _RETRIES, _INPUT = (
    *("shipper_batch", "shipper_workers", "shipper_queue", "shipper_queue_size", "shipper_retries", "shipper_input"),
)
_PARSING = "shipper_parsing"
_MAIN_SIZE, _MAIN_BATCH, _MAIN_WORKERS = "shipper_main_queue_size", "shipper_main_batch", "shipper_main_workers"
KEYS = (
    *("shipper", _BATCH, _WORKERS, _QUEUE, _QUEUE_SIZE, _MAIN_SIZE, _MAIN_BATCH, _MAIN_WORKERS, _RETRIES, _INPUT),
    *(_PARSING, "shipper_processors", "generator_processors"),
    *("shipper_limit_cpu_quota", "shipper_limit_memory", "generator_limit_cpu_quota", "generator_limit_memory"),
)
_NO_LIMITS = GroupLimits()


@dataclass(frozen=True)
class MainQueue:
    """A queue in memory before that of the output.

    :param size: events that it holds.
    :param batch: events that a worker takes from it at once, to hand them to the output's queue.
    """

    size: int
    batch: int = 1000
    workers: int = 1


@dataclass(frozen=True)
class ShipperSettings:
    """One shipper, as a lap has it.

    :param batch: documents per bulk that it may send at most; None where it cannot be told.
    :param workers: how many bulks it may have under way at once.
    :param queue: memory, disk-assisted or disk.
    :param queue_size: events that its queue holds.
    :param retries: how often it sends again what Elasticsearch has not taken; -1 for ever.
    :param input: tcp, imtcp, imptcp or file.
    :param processors: the processors that it may run on, ``generator_processors`` those of the process that feeds it;
        empty for all.
    :param limits: what it may have at most, held by control groups; ``generator_limits`` likewise.
    :param main: the queue before that of the output; None where there is only one.
    :param parsing: what becomes of a line before it is sent, one of :data:`shared.shipper_parsing.PARSINGS`.
    :param address_field: the field of the track's documents with the address whose place is looked up; None without.
    :param patience: seconds without a document counted after which a lap is over, and void.
    """

    name: str
    batch: int | None
    workers: int
    queue: str = MEMORY
    queue_size: int = DEFAULT_QUEUE_SIZE
    retries: int = FOR_EVER
    input: str = "tcp"
    processors: tuple[int, ...] = ()
    generator_processors: tuple[int, ...] = ()
    patience: float = DEFAULT_PATIENCE
    main: MainQueue | None = None
    parsing: str = NONE
    address_field: str | None = None
    limits: GroupLimits = _NO_LIMITS
    generator_limits: GroupLimits = _NO_LIMITS


def shipper_settings(
    level: Mapping[str, Any], params: Mapping[str, Any], batch: int, workers: int, who: str
) -> ShipperSettings | None:
    """The shipper of a level's laps; None where Rally's own clients send them.

    :param level: what the level says, by :data:`KEYS`; ``params`` are the track's parameters of the same names, and
        those of the track alone: ``address_field``, ``shipper_groups`` and ``generator_groups``.
    :param batch: documents per bulk and ``workers`` where nothing is said of the shipper's own.
    :param who: the level's name, for sentences.
    :raises exceptions.InvalidSyntax: for a shipper that there is not, and for what this one cannot.
    """
    given = {name: value for name, value in {**params, **level}.items() if value is not None and name in KEYS}
    name = given.pop("shipper", OWN_CLIENTS)
    if name not in SHIPPERS:
        raise exceptions.InvalidSyntax(
            f"the shipper of the level '{who}' must be one of {', '.join(SHIPPERS)}, but is {name!r}."
        )
    if name == OWN_CLIENTS:
        if own := sorted(key for key in level if key in KEYS and key != "shipper" and level[key] is not None):
            raise exceptions.InvalidSyntax(
                f"the level '{who}' has {own[0]} and no shipper: name one of {', '.join(PROGRAMS)}, or leave it out."
            )
        return None
    program = PROGRAMS[name]
    for key, why in program.cannot.items():
        if key in given:
            raise exceptions.InvalidSyntax(f"the level '{who}' has {key}, but {name} {why}: leave it out.")
    queue = _one_of(given.get(_QUEUE, MEMORY), _QUEUE, program.queues, QUEUES, name, who)
    fed_by = _one_of(given.get(_INPUT, "tcp"), _INPUT, program.inputs, INPUTS, name, who)
    asked_workers = _whole(given.get(_WORKERS), _WORKERS, who)
    if queue in program.one_worker:
        if (asked_workers or 1) > 1:
            raise exceptions.InvalidSyntax(
                f"the level '{who}' has {asked_workers} workers, but a queue of {name} that is {queue} has one: set "
                f"{_WORKERS} to 1."
            )
        asked_workers = 1
    size = _whole(given.get(_QUEUE_SIZE), _QUEUE_SIZE, who) or DEFAULT_QUEUE_SIZE
    found = ShipperSettings(
        name=name,
        batch=None if _BATCH in program.cannot else _whole(given.get(_BATCH), _BATCH, who) or batch,
        workers=asked_workers or workers,
        queue=queue,
        queue_size=size,
        retries=FOR_EVER if _RETRIES not in given else _whole(given[_RETRIES], _RETRIES, who, 0) or 0,
        input="imtcp" if (name, fed_by) == ("rsyslog", "tcp") else fed_by,
        processors=processors(given.get("shipper_processors"), "shipper_processors", who),
        generator_processors=processors(given.get("generator_processors"), "generator_processors", who),
        main=_main_queue(given, who),
        parsing=_one_of(given.get(_PARSING, NONE), _PARSING, PARSINGS, PARSINGS, name, who),
        address_field=params.get("address_field"),
        limits=group_limits(given, "shipper", params.get("shipper_groups"), who),
        generator_limits=group_limits(given, "generator", params.get("generator_groups"), who),
    )
    for component, own, limits in (
        ("shipper", found.processors, found.limits),
        ("generator", found.generator_processors, found.generator_limits),
    ):
        if own and limits.quota and limits.quota > len(own):
            raise exceptions.InvalidSyntax(
                f"the level '{who}' has {component}_limit_cpu_quota {limits.quota:g}, and {component}_processors names "
                f"{len(own)} to use it on: make the one smaller, or name more with the other."
            )
    if found.parsing == PLACES and found.address_field is None:
        raise exceptions.InvalidSyntax(
            f"the level '{who}' looks places up by addresses, and the track's documents have no client's address that "
            f"it could: race web-events or apache, or set {_PARSING} to json."
        )
    if found.parsing == SYSLOG and found.input == "file":
        raise exceptions.InvalidSyntax(
            f"the level '{who}' reads lines of syslog from a file, of which {name} would not take the host: feed it by "
            f"TCP, or set {_PARSING} to something else."
        )
    key, first = (_QUEUE_SIZE, found.queue_size) if found.main is None else (_MAIN_SIZE, found.main.size)
    if first < program.least_queue:
        raise exceptions.InvalidSyntax(
            f"the level '{who}' has a queue of {first} events behind the input, but {name} puts up to 1,024 into it "
            f"before it begins to empty it, and stands still where they do not fit: make {key} "
            f"{program.least_queue} at least."
        )
    needed = program.batches_per_worker * found.workers * (found.batch or 0)
    if found.queue_size < needed:
        raise exceptions.InvalidSyntax(
            f"the level '{who}' has a queue of {found.queue_size} events, too small for {found.workers} workers of "
            f"{name} with batches of {found.batch} under way at once: make {_QUEUE_SIZE} {needed} at least, or "
            f"{_BATCH} or {_WORKERS} smaller."
        )
    return found


def check_limited(params: Mapping[str, Any], sent_by: Iterable[ShipperSettings | None]) -> None:
    """See that limits of the track's parameters are of a shipper that sends some level's laps.

    :raises exceptions.InvalidSyntax: else they would be left out in silence.
    """
    asked = [name for name in KEYS if "_limit_" in name and params.get(name) is not None]
    if asked and not any(sent_by):
        raise exceptions.InvalidSyntax(
            f"{asked[0]} is for laps that a shipper sends, and none does here: name one with shipper, or leave it out."
        )


def check_groups(settings: ShipperSettings, who: str) -> None:
    """See that there are groups which hold its limits, on this machine, before its first lap.

    :raises exceptions.InvalidSyntax: if there are none; with what those that were named hold.
    """
    for component, limits in (("shipper", settings.limits), ("generator", settings.generator_limits)):
        try:
            limits.folders()
        except ValueError as error:
            raise exceptions.InvalidSyntax(
                f"the limits of the {component} of the level '{who}' cannot be held: {error}. Correct "
                f"{component}_groups, or race it with ./inv, which makes its groups itself."
            ) from None


def _main_queue(given: Mapping[str, Any], who: str) -> MainQueue | None:
    told = {name: _whole(given.get(name), name, who) for name in (_MAIN_SIZE, _MAIN_BATCH, _MAIN_WORKERS)}
    asked = {name: value for name, value in told.items() if value is not None}
    if not asked:
        return None
    if _MAIN_SIZE not in asked:
        raise exceptions.InvalidSyntax(
            f"the level '{who}' has {next(iter(asked))} and no queue before that of the output: give "
            f"{_MAIN_SIZE}, too, or leave it out."
        )
    fields = {_MAIN_SIZE: "size", _MAIN_BATCH: "batch", _MAIN_WORKERS: "workers"}
    main = MainQueue(**{fields[name]: value for name, value in asked.items()})
    if main.size < main.workers * main.batch:
        raise exceptions.InvalidSyntax(
            f"the level '{who}' has a main queue of {main.size} events, which cannot hold a batch of {main.batch} for "
            f"each of {main.workers} workers: make {_MAIN_SIZE} larger, or {_MAIN_BATCH} smaller."
        )
    return main


def _one_of(value: Any, key: str, own: tuple[str, ...], every: tuple[str, ...], name: str, who: str) -> str:
    if value not in every:
        raise exceptions.InvalidSyntax(
            f"the {key} of the level '{who}' must be one of {', '.join(every)}, but is {value!r}."
        )
    if value not in own:
        raise exceptions.InvalidSyntax(
            f"the level '{who}' has {key} {value}, which {name} does not have: choose from {', '.join(own)}."
        )
    return str(value)


def _whole(value: Any, key: str, who: str, minimum: int = 1) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise exceptions.InvalidSyntax(
            f"the {key} of the level '{who}' must be a whole number from {minimum} on, but is {value!r}."
        )
    return value


def processors(value: Any, key: str, who: str) -> tuple[int, ...]:
    """The numbers of processors: understands 0, "0", "0,2" and "0-3".

    :raises exceptions.InvalidSyntax: for anything else, and for more of them than the largest machines have.
    """
    if value is None:
        return ()
    found: set[int] = set()
    try:
        for part in str(value).split(","):
            first, last = (int(number) for number in (part.split("-") if "-" in part else (part, part)))
            found |= set(range(first, min(last, _MOST_PROCESSORS) + 1))
    except ValueError:
        found = set()
    if not found or max(found) >= _MOST_PROCESSORS:
        raise exceptions.InvalidSyntax(
            f"the {key} of the level '{who}' must be numbers of processors such as 0, 0-1 or 0,2, but is {value!r}."
        )
    return tuple(sorted(found))
