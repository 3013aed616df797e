"""How many processes send the load of a lap: what is chosen, refused, and said."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.race import RaceOptions, drivers
from paddock.race.drivers import default_processes, idle_processes, lap_parameters
from paddock.race.options import prepare
from paddock.rally.request import arguments, load_driver_hosts


@pytest.mark.parametrize(
    ("cores", "clients", "processes"),
    [(1, 8, 1), (2, 8, 1), (3, 8, 1), (4, 8, 2), (5, 8, 2), (6, 8, 3), (8, 8, 4), (64, 8, 4), (8, 2, 2), (8, 1, 1)],
)
def test_what_nobody_asked_for(monkeypatch: pytest.MonkeyPatch, cores: int, clients: int, processes: int) -> None:
    """One process on few cores, half of many, each with a client of its own and four at most."""
    monkeypatch.setattr(drivers, "cores", lambda: cores)
    assert default_processes(clients) == processes
    wanted = {"driver_processes": processes} if processes > 1 else {}
    assert lap_parameters({}, (), clients) == wanted
    assert lap_parameters({"driver_processes": 1}, (), clients) == {}


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ((), ()),
        (("--quiet",), ()),
        (("--load-driver-hosts=10.0.0.1",), ("10.0.0.1",)),
        (("--quiet", "--load-driver-hosts", "a,b"), ("a", "b")),
        (("--load-dr=a, b",), ("a", "b")),
        (("--load-driver-hosts",), ()),
    ],
)
def test_load_driver_hosts(words: tuple[str, ...], hosts: tuple[str, ...]) -> None:
    """As Rally reads its option, abbreviations included."""
    assert load_driver_hosts(words) == hosts


def test_several_load_driver_hosts_meet_at_the_first() -> None:
    """One process each, unless more are asked for, which may be more than this machine has cores."""
    words = ("--load-driver-hosts=10.0.0.1,10.0.0.2",)
    assert lap_parameters({}, words, 8) == {"driver_processes": 2, "driver_rendezvous": "10.0.0.1:39190"}
    assert lap_parameters({"driver_processes": 128}, words, 8) == {"driver_rendezvous": "10.0.0.1:39190"}
    told = {"driver_processes": 4, "driver_rendezvous": "10.1.0.1:5"}
    assert lap_parameters(told, words, 8) == {}
    assert lap_parameters({"driver_processes": 1}, words, 8) == {}


def test_more_processes_than_cores_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rally would run two clients in one process, and they would share its core."""
    monkeypatch.setattr(drivers, "rallys_processes", lambda: 2)
    with pytest.raises(UsageError, match=r"driver_processes is 3, but Rally has one process for each core .* has 2"):
        lap_parameters({"driver_processes": 3}, (), 8)


def words_of(challenge: str, **options: Any) -> str:
    """The command line of a race."""
    return " ".join(arguments(prepare(RaceOptions(challenge=challenge, **options), fetch=False).request))


def test_only_laps_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other challenges' clients are Rally's own, which spreads them itself."""
    monkeypatch.setattr(drivers, "cores", lambda: 8)
    assert '"driver_processes": 4' in words_of("refresh-interval")
    assert '"driver_processes": 3' in words_of("refresh-interval", params={"bulk_indexing_clients": 3})
    assert "driver_processes" not in words_of("ingest")
    told = words_of("refresh-interval", rally_args="--load-driver-hosts=10.0.0.1,10.0.0.2")
    assert told.endswith("--load-driver-hosts=10.0.0.1,10.0.0.2")
    assert '"driver_rendezvous": "10.0.0.1:39190"' in told


def test_processes_without_a_client_are_named() -> None:
    """The contender with the fewest clients says how many idle."""
    assert idle_processes(2, {"a": 2, "b": 8}) is None
    told = idle_processes(4, {"a": 3, "b": 1, "c": 8})
    assert told is not None
    assert told.startswith("laps of 'b' have 1 client for 4 processes of the load driver")
    assert told.endswith("3 will have nothing.")
