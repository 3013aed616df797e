"""What has to be true before a race starts; Rally's own messages for these come late and mislead."""

from __future__ import annotations

import platform
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

from paddock import paths
from paddock.errors import MachineError, UsageError
from paddock.files import require_room
from paddock.rally.clusters import TRANSPORT_OFFSET, started
from paddock.rally.request import RaceRequest

# The admin port of Rally's actor system: one for the whole machine, whatever RALLY_HOME says (actor.py).
ACTOR_PORT = 1900
# How long a Rally that has just finished may take to shut down its actors (rally.py: 3 s + 15 s).
SHUTDOWN_SECONDS = 30.0
# How long the kernel keeps the port of a connection that has ended (TIME_WAIT, include/net/tcp.h: 60 s), and some air.
PORT_SECONDS = 75.0
# The node's installation, its logs and some air; the index comes on top.
INSTALLATION_BYTES = 500 * 2**20
_PURPOSES = ((0, "HTTP"), (TRANSPORT_OFFSET, "transport"))
# A race has a dozen processes.
_MOST_NAMED = 3


def check_platform() -> None:
    """Refuse anything but Linux: the one place that asks.

    :raises MachineError: elsewhere.
    """
    if sys.platform != "linux":
        raise MachineError(
            f"Races need Linux, and this is {platform.system() or sys.platform}: Rally's processes and the node are "
            f"watched through /proc. Use a Linux machine, a virtual one or a container."
        )


def check_words(words: list[str]) -> None:
    """Refuse a command line of ours that Rally would take for another Rally: it looks for its name in all of them."""
    for word in [sys.executable, *words]:
        if "esrally" in word:
            raise UsageError(
                f"Rally takes every Python process with its own name in its command line for another Rally and would "
                f"not start beside this one, because of '{word}': rename that folder or value, without 'esrally' in it."
            )


def check_ports(request: RaceRequest, say: Callable[[str], None], patience: float = PORT_SECONDS) -> None:
    """Check that the HTTP and transport ports of the nodes are free; wait for those on which nobody listens.

    The kernel takes the client's end of any connection from a range in which these ports are, and keeps it for a minute
    after the connection's end.

    :raises MachineError: if one is taken; Rally would only say "pid file not available" after a minute.
    """
    deadline = time.monotonic() + patience
    ports = [request.http_port] if request.provisions else [node.http_port for _, node in started(request.clusters)]
    for port, purpose in ((port + offset, what) for port in ports for offset, what in _PURPOSES):
        said = False
        while holder := port_holder(port):
            if holder.listens or time.monotonic() > deadline:
                raise MachineError(
                    f"Port {port}, which the node needs for {purpose}, is taken by {holder}: "
                    f"end that, or choose another with --port (every node takes one and the one 100 above)."
                )
            if not said:
                say(f"Waiting for port {port}, which is taken by {holder} ...")
                said = True
            time.sleep(0.3)


@dataclass(frozen=True)
class PortHolder:
    """Who has a port; as text, for a sentence.

    :param listens: whether it is there to stay; a connection that only happens to have the port ends sooner or later.
    """

    words: str
    listens: bool

    def __str__(self) -> str:
        return self.words


def port_holder(port: int) -> PortHolder | None:
    """Who has that port of the loopback interface; None if a node can have it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return None
        except OSError:
            pass
    try:
        holding = [one for one in psutil.net_connections("tcp") if one.laddr and one.laddr.port == port]
    except (psutil.Error, OSError, ValueError):
        return PortHolder("another process", listens=True)
    listening = [one for one in holding if one.status == psutil.CONN_LISTEN]
    if listening or not holding:
        return PortHolder(_process_of(listening), listens=bool(listening))
    if all(one.status == psutil.CONN_TIME_WAIT for one in holding):
        return PortHolder("a connection that has ended within the last minute", listens=False)
    return PortHolder(f"a connection of {_process_of(holding)}", listens=False)


def _process_of(connections: Sequence[Any]) -> str:
    """The first process that is told: those of other users are not."""
    for pid in (one.pid for one in connections if one.pid is not None):
        with suppress(psutil.Error):
            return f"{psutil.Process(pid).name()} (process {pid})"
    return "another process"


def check_disk(request: RaceRequest, corpus_bytes: int) -> None:
    """Check the room for installation and index: while it merges, an index takes up to twice its documents.

    :raises MachineError: if there is less.
    """
    if not request.starts_nodes:
        return
    index = 2 * corpus_bytes
    for folder in request.data_paths:
        require_room(folder, index, "The index of this race")
    inside = not request.data_paths or any(cluster.nodes and not cluster.data_path for cluster in request.clusters)
    installations = max(1, sum(1 for _ in started(request.clusters)))
    require_room(paths.races_folder(), installations * INSTALLATION_BYTES + (index if inside else 0), "This race")


def bytes_that_need_room(documents_bytes: int, documents: int, indexed: int) -> int:
    """What :func:`check_disk` is to be told of indices that take in so many documents, a corpus more often than once.

    Half of those documents' size has room for them, and twice what it is told is kept free: an index is smaller than
    what it is made of, and only a part of a large one is merged at once.

    :param documents_bytes: of the corpus, and ``documents`` in it.
    """
    return max(documents_bytes, round(documents_bytes / documents * indexed / 4))


def other_rally_processes() -> list[psutil.Process]:
    """Processes that Rally would take for another Rally and not start beside, found as it finds them."""
    from esrally.utils.process import find_all_other_rally_processes

    return list(find_all_other_rally_processes())


def wait_for_others(say: Callable[[str], None], patience: float = SHUTDOWN_SECONDS, daemon: bool = False) -> None:
    """Wait until no other Rally is left on this machine; a race that has just ended takes up to 18 s to go.

    :param daemon: whether Rally's own (esrallyd) is wanted: a race with load driver hosts needs it here, too.
    :raises MachineError: if one stays.
    """
    deadline = time.monotonic() + patience
    said = False
    while others := _others(daemon):
        if time.monotonic() > deadline:
            more = len(others) - _MOST_NAMED
            named = [*others[:_MOST_NAMED], *([f"and {more} more processes"] if more > 0 else [])]
            raise MachineError(
                f"Another Rally is running on this machine ({'; '.join(named)}), and only one can at a time: "
                f"wait for it, or end it."
            )
        if not said:
            say("Waiting for the previous Rally to be gone ...")
            said = True
        time.sleep(0.3)


def _others(daemon: bool) -> list[str]:
    found = []
    for process in other_rally_processes():
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                found.append(
                    f"process {process.pid}, which has ended but was not collected by its parent, process "
                    f"{process.ppid()}; a container needs an init for that, as 'docker run --init' gives it"
                )
            else:
                found.append(f"process {process.pid}: {' '.join(process.cmdline()[:3])}")
        except psutil.Error:
            continue
    if not found and not daemon and (holder := port_holder(ACTOR_PORT)):
        found.append(f"{holder} on Rally's port {ACTOR_PORT}")
    return found
