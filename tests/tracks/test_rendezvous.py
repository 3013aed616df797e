"""Processes of a load driver find each other over real sockets, and nobody else is heard."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import rendezvous
from shared.rendezvous import Lost, Meeting, Peer, Place, join, place

from tests.machine import PATIENCE


def free_port() -> int:
    """A port of this machine that was free just now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def places(secret: str) -> list[Place]:
    """One of each kind."""
    return [place(None, secret), place(f"127.0.0.1:{free_port()}", secret)]


async def met(where: Place, secret: str, followers: int) -> tuple[list[Peer], list[Peer]]:
    """The leader's ends and the followers' ends of the connections, in the order of the followers' numbers."""
    meeting = Meeting(where, secret, followers)
    # The last one comes first.
    joining = [asyncio.create_task(join(where, secret, number)) for number in range(followers, 0, -1)]
    ends, processes = await meeting.gather(PATIENCE)
    assert len(processes) == followers
    others = [await one for one in joining]
    return ends, others[::-1]


@pytest.mark.parametrize("kind", [0, 1])
def test_leader_and_followers_talk(kind: int) -> None:
    """Whoever comes first, each end of the connection is the other's, signs of life are no answers."""

    async def talk() -> list[Any]:
        ends, others = await met(places("s")[kind], "s", 3)
        for number, other in enumerate(others, start=1):
            await other.send({"alive": True})
            await other.send({"number": number})
        heard = [await end.receive(PATIENCE) for end in ends]
        for end in ends:
            await end.send({"do": "end"})
        heard += [await other.receive(None) for other in others]
        for one in (*ends, *others):
            await one.close()
        return heard

    assert asyncio.run(talk()) == [{"number": 1}, {"number": 2}, {"number": 3}, *[{"do": "end"}] * 3]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=30)
@given(st.lists(JSON, max_size=5))
def test_whatever_is_sent_arrives(messages: list[Any]) -> None:
    """Any object of JSON, in order; nothing is taken apart or glued together."""

    async def talk() -> list[Any]:
        (end,), (other,) = await met(place(None, "property"), "property", 1)
        for message in messages:
            await other.send(message)
        heard = [await end.receive(PATIENCE) for message in messages if message != {"alive": True}]
        await asyncio.gather(end.close(), other.close())
        return heard

    assert asyncio.run(talk()) == [message for message in messages if message != {"alive": True}]


def test_an_answer_of_many_bulks_arrives_beside_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """Megabytes, while another task of the same process gives signs of life all the time."""
    monkeypatch.setattr(rendezvous, "SIGN_OF_LIFE", 0.0)

    async def talk() -> bool:
        (end,), (other,) = await met(place(None, "many"), "many", 1)
        living = asyncio.create_task(other.live())
        answer = [number / 7 for number in range(300_000)]
        sending = asyncio.create_task(other.send(answer))
        same = await end.receive(PATIENCE) == answer
        await sending
        living.cancel()
        await asyncio.gather(end.close(), other.close())
        return same

    assert asyncio.run(talk())


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack(">I", 1 << 31),
        struct.pack(">I", 2) + b"{}",
        struct.pack(">I", 4) + b"null",
        struct.pack(">I", 61) + b'{"number":1,"process":"p","challenge":"c","answer":"00112233"}'[:61],
    ],
)
def test_strangers_are_sent_away(said: bytes) -> None:
    """Silence, another protocol, endless words, nonsense, a wrong proof: none takes the place of a follower."""
    port = free_port()

    async def stranger() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        await writer.drain()
        writer.write_eof()
        heard = await reader.read()
        writer.close()
        return heard

    async def talk() -> tuple[bytes, Any]:
        where = place(f"127.0.0.1:{port}", "s")
        meeting = Meeting(where, "s", 1)
        gathering = asyncio.create_task(meeting.gather(PATIENCE))
        heard = await stranger()
        other = await join(where, "s", 1)
        (end,), _ = await gathering
        await other.send("mine")
        told = await end.receive(PATIENCE)
        await asyncio.gather(end.close(), other.close())
        return heard, told

    heard, told = asyncio.run(talk())
    assert told == "mine"
    assert heard.count(b"challenge") == 1
    assert b"answer" not in heard


def test_another_race_is_not_joined() -> None:
    """A follower that was left over with another secret is turned away, and does not follow a leader it is not of."""
    where = place(f"127.0.0.1:{free_port()}", "old")

    async def talk() -> list[str]:
        meeting = Meeting(where, "new", 1)
        results = await asyncio.gather(meeting.gather(1.0), join(where, "old", 1, 0.5), return_exceptions=True)
        return [str(one) for one in results]

    leader, follower = asyncio.run(talk())
    assert leader == "of the 2 processes of the load driver 1 did not come within 1 s (number 1)"
    assert follower == f"nobody who leads this race was met at {where} within 0 s"


def test_two_of_the_same_number() -> None:
    """The second is not heard."""
    where = place(None, "twice")

    async def talk() -> list[Any]:
        meeting = Meeting(where, "twice", 2)
        gathering = asyncio.create_task(meeting.gather(1.0))
        first = await join(where, "twice", 1)
        results = await asyncio.gather(gathering, join(where, "twice", 1, 0.3), return_exceptions=True)
        await first.close()
        return results

    assert [type(one) for one in asyncio.run(talk())] == [Lost, Lost]


def test_who_dies_and_who_hangs_is_noticed() -> None:
    """A closed connection at once, silence after the time that is given to it."""

    async def talk() -> list[str]:
        ends, others = await met(place(None, "dies"), "dies", 2)
        await others[0].close()
        told = []
        for end, silence in zip(ends, (None, 0.2), strict=True):
            with pytest.raises(Lost) as error:
                await end.receive(silence)
            told.append(str(error.value))
        await asyncio.gather(*(one.close() for one in (*ends, others[1])))
        return told

    began = time.monotonic()
    assert asyncio.run(talk()) == [
        "process 1 of the load driver is gone",
        "process 2 of the load driver gave no sign of life for 0 s",
    ]
    assert time.monotonic() - began < PATIENCE


def test_a_place_that_is_taken() -> None:
    """The leader says so before anything is run."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()

        async def open_it() -> None:
            with pytest.raises(OSError, match="in use"):
                Meeting(place(f"127.0.0.1:{one.getsockname()[1]}", "s"), "s", 1)

        asyncio.run(open_it())


@pytest.mark.parametrize("told", ["", "host", "host:", ":1", "host:0", "host:65536", "a b:1", "host:x", "::1:80"])
def test_places_that_are_none(told: str) -> None:
    """What is no host with a port is refused."""
    with pytest.raises(ValueError, match="driver_rendezvous must be host:port"):
        place(told, "s")


def test_places() -> None:
    """Names, addresses of both kinds; the socket's name does not tell the secret."""
    assert (place("driver-1:39190", "s").host, place("driver-1:39190", "s").port) == ("driver-1", 39190)
    assert place("[::1]:39190", "s").host == "::1"
    assert place(None, "geheim").name != place(None, "other").name
    assert "geheim" not in str(place(None, "geheim"))
