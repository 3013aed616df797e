"""One lap, several processes: the leader runs the lap, the others send their shares of its load, in step with it.

The leader is the first client of Rally's task. It says which lap is due, waits until everybody has read the first bulks
of it, says go, and gets back what came of them. Clocks of several machines differ: a follower tells times since the go
reached it, and the leader takes them as times since it said so; the way of one message lies between.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from esrally import exceptions

from shared.lap_documents import Share, bulks
from shared.lap_load import Load, index_documents
from shared.own_clients import OwnClients
from shared.rendezvous import SILENCE, Lost, Meeting, Peer, Place, join, this_machine, this_process

if TYPE_CHECKING:
    from shared.lap_plan import Lap


@dataclass(frozen=True)
class Part:
    """What one process did for a lap.

    :param cpu_seconds: its processor time, for reading the bulks and for sending them.
    :param machine: on which it ran; as :func:`this_machine` tells it.
    """

    number: int
    host: str
    machine: str
    clients: int
    load: Load
    cpu_seconds: float

    def record(self) -> dict[str, Any]:
        """Its line in the lap's record."""
        seconds = self.load.seconds
        return {
            "process": self.number,
            "host": self.host,
            "clients": self.clients,
            "documents": self.load.documents_sent,
            "bulks": self.load.bulks,
            "seconds": None if seconds is None else round(seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
        }


class Crew:
    """The processes of a load driver, as their leader sees them.

    :raises exceptions.RallyAssertionError: if the place where they are to meet cannot be had.
    """

    def __init__(self, where: Place, secret: str, processes: int) -> None:
        self.processes = processes
        self._peers: list[Peer] = []
        self._gathered = False
        self._end: AsyncGenerator[None, None] | None = None
        try:
            self._meeting = Meeting(where, secret, processes - 1)
        except OSError as error:
            raise exceptions.RallyAssertionError(
                f"The processes of the load driver cannot meet at {where} ({error.strerror or error}): name a free "
                f"port of the first load driver host with the track parameter driver_rendezvous."
            ) from None

    async def meet(self) -> None:
        """Wait for the others, once.

        :raises exceptions.RallyAssertionError: if one does not come, or two are the same process.
        """
        if self._gathered:
            return
        # Rally closes what its event loop has begun of this kind, however the race ends.
        self._end = self._until_the_end()
        await anext(self._end)
        try:
            self._peers, processes = await self._meeting.gather()
        except Lost as lost:
            raise exceptions.RallyAssertionError(
                f"The race cannot begin: {lost}. Where load drivers are several machines, driver_rendezvous must name "
                f"a port of the first that the others reach."
            ) from None
        different = len({this_process(), *processes})
        if different < self.processes:
            raise exceptions.RallyAssertionError(
                f"driver_processes is {self.processes}, but Rally runs its clients in {different} "
                f"{'process' if different == 1 else 'processes'}, one for each core of a load driver: ask for "
                f"{different} at most."
            )
        self._gathered = True

    async def prepare(self, lap: Lap) -> None:
        """Have the others read the first bulks of the lap.

        :raises Lost: if one is gone.
        """
        for peer in self._peers:
            await peer.send({"do": "prepare", "lap": lap.number, "same": same(lap)})

    async def load(self, es: Any, lap: Lap) -> tuple[Load, list[Part]]:
        """The lap's load, by all of them; returns once nobody sends any more.

        :returns: the load of all together, by this process's clock, and what each did.
        :raises Lost: if one is gone.
        """
        origin, cpu = time.perf_counter(), _cpu_seconds()

        async def go() -> None:
            nonlocal origin
            await self._each(lap, "ready")
            es.on_request_start()  # for Rally's sample: somebody else's bulk may be the first
            origin = time.perf_counter()
            es.on_request_start()  # for Rally's sample: another process may be the first to send a bulk
            for peer in self._peers:
                await peer.send({"do": "go", "lap": lap.number})

        try:
            own = await _own_share(es, lap, Share(0, self.processes), go)
        except Lost:
            raise
        except Exception:
            # Nobody may send any more when the index is deleted: that would make it anew.
            await self._each(lap, "done")
            raise
        spent = _cpu_seconds() - cpu
        parts = [_part(0, lap, self.processes, own, spent)]
        for answer in await self._each(lap, "done"):
            told = Load(**answer["load"]).shifted(origin)
            parts.append(Part(**{**answer["part"], "load": told}))
        merged = Load()
        for part in parts:
            merged.add(part.load)
        return merged, parts

    async def _each(self, lap: Lap, what: str) -> list[Any]:
        """The answer of each follower; those that others still owe for a lap that came to nothing are passed over."""
        answers = await asyncio.gather(*(_answer(peer, lap, what) for peer in self._peers), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return list(answers)

    async def dismiss(self) -> None:
        """Tell the others that there is no lap any more."""
        self._meeting.close()
        for peer in self._peers:
            with suppress(Lost):
                await peer.send({"do": "end"})
            await peer.close()
        self._peers = []

    async def _until_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self.dismiss()


@dataclass(frozen=True)
class Follower:
    """A client of the lap task that follows: one call of the runner is its whole race.

    :param number: from 1.
    :param laps: of the plan, which every process makes alike; the leader may leave some out.
    """

    number: int
    processes: int
    where: Place
    secret: str
    laps: Sequence[Lap]

    async def run(self, clients: Mapping[str, Any], own: OwnClients) -> None:
        """Send its share of every lap that the leader names, until that says that it was the last.

        :raises exceptions.RallyAssertionError: if the leader is not there, or is gone before the end.
        """
        try:
            peer = await join(self.where, self.secret, self.number)
        except Lost as lost:
            raise exceptions.RallyAssertionError(
                f"Process {self.number} of the load driver cannot join the race: {lost}. Where load drivers are "
                f"several machines, driver_rendezvous must name a port of the first that the others reach."
            ) from None
        living = asyncio.create_task(peer.live())
        try:
            order = await peer.receive(None)
            while order["do"] != "end":
                order = await self._follow(clients, own, peer, order)
        except Lost as lost:
            raise exceptions.RallyAssertionError(f"Process {self.number} of the load driver ends: {lost}.") from None
        finally:
            living.cancel()
            await peer.close()

    async def _follow(self, clients: Mapping[str, Any], own: OwnClients, peer: Peer, order: Any) -> Any:
        """Do what was ordered; returns the next order."""
        if order["do"] != "prepare":
            return await peer.receive(None)  # of a lap for which the leader and this process had different ends
        # Whichever lap of the plan it is: laps of the same load are the same to who sends it.
        lap = next((one for one in self.laps if same(one) == order["same"]), None)
        number = order["lap"]
        if lap is None:
            reason = f"process {self.number} of the load driver has another plan: its track files differ"
            await peer.send({"lap": number, "failed": reason})
            return await peer.receive(None)
        origin, cpu, next_order = 0.0, _cpu_seconds(), None

        async def go() -> None:
            nonlocal origin, next_order
            await peer.send({"lap": number, "ready": True})
            next_order = await peer.receive(None)
            if next_order != {"do": "go", "lap": number}:
                raise _Otherwise
            origin = time.perf_counter()

        es = await own.of(lap.cluster, clients, lap.client_options)
        try:
            load = await _own_share(es, lap, Share(self.number, self.processes), go)
        except _Otherwise:
            return next_order
        except (OSError, exceptions.RallyError) as error:
            await peer.send({"lap": number, "failed": f"process {self.number} of the load driver failed: {error}"})
            return await peer.receive(None)
        part = asdict(_part(self.number, lap, self.processes, Load(), _cpu_seconds() - cpu))
        told = {"lap": number, "done": True, "part": part, "load": asdict(load.shifted(-origin))}
        await peer.send(told)
        return await peer.receive(None)


class _Otherwise(Exception):
    """The leader wants something else than the lap that was prepared."""


async def _own_share(es: Any, lap: Lap, share: Share, go: Callable[[], Awaitable[None]]) -> Load:
    mine = bulks(lap.documents_sent, lap.first_document, lap.count, lap.bulk_size, lap.index, share.of(lap.clients))
    return await index_documents(es, mine, share.clients(lap.clients), go, lap.seconds)


def _part(number: int, lap: Lap, processes: int, load: Load, cpu_seconds: float) -> Part:
    clients = Share(number, processes).clients(lap.clients)
    return Part(number, socket.gethostname(), this_machine(), clients, load, cpu_seconds)


async def _answer(peer: Peer, lap: Lap, what: str) -> Any:
    while True:
        answer = await peer.receive(SILENCE)
        if answer["lap"] == lap.number and "failed" in answer:
            raise Lost(answer["failed"])
        if answer["lap"] == lap.number and what in answer:
            return answer


def same(lap: Lap) -> str:
    """What must be the same in all processes, as a text."""
    load = (lap.first_document, lap.count, lap.seconds, lap.bulk_size, lap.clients)
    return str((lap.level, lap.cluster, lap.index, *load))


def others_cpu_seconds(parts: Sequence[Part]) -> float:
    """Processor time of those that are not this process, but on its machine."""
    return sum(part.cpu_seconds for part in parts[1:] if part.machine == this_machine())


def _cpu_seconds() -> float:
    spent = os.times()
    return spent.user + spent.system
