"""Where the processes of a load driver meet: one leads, the others follow, and strangers are sent away.

They talk to each other alone, never through the cluster that is measured. What one sends is an object of JSON behind
its length. Who comes proves that it knows the race's secret, which is never sent, and so does who is met: a process
that another race has left over, or somebody else who finds the port, is not heard.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Seconds: until the others of the race have come; without a sign of life of one that works, which gives one every
# SIGN_OF_LIFE; until somebody who came has said who it is; of the leader, until its first lap may begin.
PATIENCE = 90.0
SILENCE = 60.0
SIGN_OF_LIFE = 5.0
INTRODUCTION = 10.0
LONGEST_WAIT = 3700.0
_BETWEEN_TRIES = 0.2
# Bytes: of a stranger, and of an answer with every bulk of a lap.
_LONGEST_INTRODUCTION, _LONGEST = 2048, 1 << 30
_ALIVE = {"alive": True}


class Lost(Exception):
    """Another process of the load driver is gone, silent or not there; the text is a sentence."""


@dataclass(frozen=True)
class Place:
    """Where the leader listens.

    :param host: with ``port`` on several machines; None for a socket of this machine that has no file.
    """

    host: str | None
    port: int
    name: str

    def __str__(self) -> str:
        return self.name if self.host is None else f"{self.host}:{self.port}"


def place(told: str | None, secret: str) -> Place:
    """The place that the track parameter driver_rendezvous names; without it a socket named after the secret.

    :raises ValueError: if it is no host and port.
    """
    name = "paddock-" + hashlib.sha256(f"place {secret}".encode()).hexdigest()[:24]
    if told is None:
        return Place(None, 0, name)
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\s]+)):([0-9]{1,5})", told)
    if not found or not 0 < int(found[3]) < 1 << 16:
        raise ValueError(f"driver_rendezvous must be host:port, such as 10.0.0.1:39190, but is '{told}'.")
    return Place(found[1] or found[2], int(found[3]), name)


class Peer:
    """The connection to another process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, who: str) -> None:
        self.who = who
        self._reader, self._writer = reader, writer
        self._one_at_a_time = asyncio.Lock()
        told = writer.get_extra_info("socket")
        if told is not None and told.family != socket.AF_UNIX:
            # A machine that is switched off says nothing: without this its silence would last for ever.
            told.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 4)):
                if hasattr(socket, option):
                    told.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
            told.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def send(self, message: Any) -> None:
        """Send an object of JSON.

        :raises Lost: if the other is gone.
        """
        body = json.dumps(message, separators=(",", ":")).encode()
        try:
            async with self._one_at_a_time:
                self._writer.write(struct.pack(">I", len(body)) + body)
                await self._writer.drain()
        except OSError:
            raise Lost(f"{self.who} is gone") from None

    async def receive(self, silence: float | None, longest: int = _LONGEST) -> Any:
        """The next object of the other one, signs of life passed over.

        :param silence: seconds after which one that says nothing is taken for lost; None to wait while it is there.
        :raises Lost: if it is gone, or silent for that long, or talks nonsense.
        """
        while True:
            try:
                message = await asyncio.wait_for(self._frame(longest), silence)
            except asyncio.TimeoutError:
                raise Lost(f"{self.who} gave no sign of life for {silence:.0f} s") from None
            except (OSError, EOFError):
                raise Lost(f"{self.who} is gone") from None
            except ValueError:
                raise Lost(f"{self.who} sent what nobody can read") from None
            if message != _ALIVE:
                return message

    async def _frame(self, longest: int) -> Any:
        (length,) = struct.unpack(">I", await self._reader.readexactly(4))
        if length > longest:
            raise ValueError(length)
        return json.loads(await self._reader.readexactly(length))

    async def live(self) -> None:
        """Give signs of life until cancelled, or the other is gone."""
        with contextlib.suppress(Lost):
            while True:
                await asyncio.sleep(SIGN_OF_LIFE)
                await self.send(_ALIVE)

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 1)


class Meeting:
    """The leader's side. It listens from the beginning, so that nobody who comes early is turned away.

    :param followers: how many others there are; they are numbered from 1.
    :raises OSError: if the place cannot be had.
    """

    def __init__(self, where: Place, secret: str, followers: int) -> None:
        self._secret, self._followers = secret, followers
        self._peers: dict[int, Peer] = {}
        self._processes: dict[int, str] = {}
        self._all = asyncio.Event()
        self._server: asyncio.Server | None = None
        if where.host is None:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.bind(f"\0{where.name}")
        else:
            family, kind, protocol, _, address = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)[0]
            self._socket = socket.socket(family, kind, protocol)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                self._socket.bind(address)
            except OSError:
                self._socket.close()
                raise
        self._socket.listen(64)
        self._socket.setblocking(False)

    async def gather(self, patience: float | None = None) -> tuple[list[Peer], list[str]]:
        """Wait until all have come; their connections in the order of their numbers, and which processes they are.

        :raises Lost: if they have not come after PATIENCE.
        """
        patience = PATIENCE if patience is None else patience
        start = asyncio.start_server if self._socket.family != socket.AF_UNIX else asyncio.start_unix_server
        self._server = await start(self._introduced, sock=self._socket)
        try:
            await asyncio.wait_for(self._all.wait(), patience)
        except asyncio.TimeoutError:
            for peer in self._peers.values():
                await peer.close()
            missing = [str(number) for number in range(1, self._followers + 1) if number not in self._peers]
            raise Lost(
                f"of the {self._followers + 1} processes of the load driver {len(missing)} did not come within "
                f"{patience:.0f} s (number {', '.join(missing)})"
            ) from None
        finally:
            self._server.close()
        order = sorted(self._peers)
        return [self._peers[number] for number in order], [self._processes[number] for number in order]

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()
        self._socket.close()

    async def _introduced(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer, "who came")
        try:
            challenge = secrets.token_hex(16)
            await peer.send({"challenge": challenge})
            told = await peer.receive(INTRODUCTION, _LONGEST_INTRODUCTION)
            number, process, theirs = int(told["number"]), str(told["process"]), str(told["challenge"])
            known = hmac.compare_digest(str(told["answer"]), _proof(self._secret, "follower", challenge, number))
            if not known or not 1 <= number <= self._followers or number in self._peers:
                raise Lost("a stranger")
            peer.who = f"process {number} of the load driver"
            self._peers[number], self._processes[number] = peer, process
            await peer.send({"answer": _proof(self._secret, "leader", theirs, number)})
        except (Lost, KeyError, TypeError, ValueError):
            await peer.close()
            return
        if len(self._peers) == self._followers:
            self._all.set()


async def join(where: Place, secret: str, number: int, patience: float | None = None) -> Peer:
    """A follower's way to the leader; it tries until the leader listens.

    :raises Lost: if nobody who leads this race is there after PATIENCE.
    """
    patience = PATIENCE if patience is None else patience
    deadline = time.monotonic() + patience
    while True:
        with contextlib.suppress(OSError, Lost, KeyError, TypeError, asyncio.TimeoutError):
            left = max(_BETWEEN_TRIES, deadline - time.monotonic())
            reader, writer = await asyncio.wait_for(_connected(where), left)
            peer = Peer(reader, writer, "the process that leads the load driver")
            if await _recognised(peer, secret, number):
                return peer
            await peer.close()
        if time.monotonic() >= deadline:
            raise Lost(f"nobody who leads this race was met at {where} within {patience:.0f} s")
        await asyncio.sleep(_BETWEEN_TRIES)


async def _connected(where: Place) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if where.host is None:
        return await asyncio.open_unix_connection(f"\0{where.name}")
    return await asyncio.open_connection(where.host, where.port)


async def _recognised(peer: Peer, secret: str, number: int) -> bool:
    try:
        # It listens before it has time to talk: its first lap may have to wait for nodes.
        challenge = str((await peer.receive(LONGEST_WAIT, _LONGEST_INTRODUCTION))["challenge"])
        mine = secrets.token_hex(16)
        answer = _proof(secret, "follower", challenge, number)
        await peer.send({"number": number, "process": this_process(), "challenge": mine, "answer": answer})
        told = str((await peer.receive(INTRODUCTION, _LONGEST_INTRODUCTION))["answer"])
        return hmac.compare_digest(told, _proof(secret, "leader", mine, number))
    except BaseException:
        await peer.close()
        raise


def _proof(secret: str, role: str, challenge: str, number: int) -> str:
    return hmac.new(secret.encode(), f"{role} {number} {challenge}".encode(), hashlib.sha256).hexdigest()


def this_machine() -> str:
    """A text that is another one on every machine that is up."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return socket.gethostname()


def this_process() -> str:
    """A text that is another one for every process, on whatever machine and in whatever container."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = socket.gethostname()
    return f"{this_machine()} {space} {os.getpid()}"
