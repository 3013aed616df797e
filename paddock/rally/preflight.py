"""What has to be true before a race starts; Rally's own messages for these come late and mislead."""

from __future__ import annotations

import contextlib
import platform
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from paddock import paths
from paddock.errors import MachineError, UsageError
from paddock.files import require_room

# The admin port of Rally's actor system: one for the whole machine, whatever RALLY_HOME says (actor.py).
ACTOR_PORT = 1900
# How long a Rally that has just finished may take to shut down its actors (rally.py: 3 s + 15 s).
SHUTDOWN_SECONDS = 30.0
# The node's installation, its logs and some air; the index comes on top.
INSTALLATION_BYTES = 500 * 2**20
# A race has a dozen processes.
_MOST_NAMED = 3


def check_platform() -> None:
    """Refuse anything but Linux, with a MachineError: the one place that asks."""
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


def check_ports(http_port: int) -> None:
    """Check that the node's HTTP and transport ports are free.

    :raises MachineError: if one is taken; Rally would only say "pid file not available" after a minute.
    """
    for port, purpose in ((http_port, "HTTP"), (http_port + 100, "transport")):
        if holder := port_holder(port):
            raise MachineError(
                f"Port {port}, which the node needs for {purpose}, is taken by {holder}: "
                f"end that, or choose another with --port (the node takes it and the one 100 above)."
            )


def port_holder(port: int) -> str | None:
    """Who listens on that port of the loopback interface, for a sentence; None if it is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return None
    with contextlib.suppress(psutil.Error, OSError, ValueError):
        for connection in psutil.net_connections("tcp"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return "another process"


def check_disk(corpus_bytes: int, data_path: Path | None) -> None:
    """Check the room for installation and index: while it merges, an index takes up to twice its documents.

    :param data_path: where the index goes; None: beside the installation.
    :raises MachineError: if there is less.
    """
    index = 2 * corpus_bytes
    if data_path is not None:
        require_room(data_path, index, "The index of this race")
        index = 0
    require_room(paths.races_folder(), INSTALLATION_BYTES + index, "This race")


def other_rally_processes() -> list[psutil.Process]:
    """Processes that Rally would take for another Rally and not start beside, found as it finds them."""
    from esrally.utils.process import find_all_other_rally_processes

    return list(find_all_other_rally_processes())


def wait_for_others(say: Callable[[str], None], patience: float = SHUTDOWN_SECONDS) -> None:
    """Wait until no other Rally is left here, a race takes up to 18 s to go; raises MachineError if one stays."""
    deadline = time.monotonic() + patience
    said = False
    while others := _others():
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


def _others() -> list[str]:
    found = []
    for process in other_rally_processes():
        with contextlib.suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                found.append(
                    f"process {process.pid}, which has ended but was not collected by its parent, process "
                    f"{process.ppid()}; a container needs an init for that, as 'docker run --init' gives it"
                )
            else:
                found.append(f"process {process.pid}: {' '.join(process.cmdline()[:3])}")
    if not found and (holder := port_holder(ACTOR_PORT)):
        found.append(f"{holder} on Rally's port {ACTOR_PORT}")
    return found
