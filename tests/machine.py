"""What tests need of the machine that they run on: events to wait for, free ports, and no regard for other Rallies.

No test may depend on how fast the machine is. A test waits for what it needs to have happened; the time after which it
gives up is so long that it decides nothing but when a test that hangs is ended.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import time
from collections.abc import Callable
from typing import Any

import psutil

from paddock.rally import preflight
from paddock.rally.preflight import other_rally_processes

PATIENCE = 600.0  # seconds; below pytest's own limit, so that the failure says what was waited for


def wait_until(condition: Callable[[], object], hint: Callable[[], str] = lambda: "waited in vain") -> None:
    """Wait for the condition.

    :param hint: what to say if it does not come true within PATIENCE.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, hint()
        time.sleep(0.05)


def free_http_port() -> int:
    """A free port whose neighbour 100 higher, which Rally gives to the node's transport, is free as well.

    Below those that the kernel hands out by itself, and another one each time, so that nobody takes it meanwhile.
    """
    for port in random.sample(range(20_000, 32_000), 200):
        try:
            for number in (port, port + 100):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", number))
        except OSError:
            continue
        return port
    raise AssertionError("no free pair of ports between 20000 and 32100")


def own_rallies() -> list[psutil.Process]:
    """Every process of Rally's that was started with the RALLY_HOME of this test."""
    found = []
    for process in other_rally_processes():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("RALLY_HOME") == os.environ["RALLY_HOME"]:
                found.append(process)
    return found


def see_own_rallies_only(replace: Callable[[Any, str, Any], None]) -> None:
    """Let nothing but this process's descendants count as another Rally.

    Rally looks at the whole machine, and so do we; but a race, or another run of the tests, beside a test with the fake
    is none of its business.
    """

    def descendants() -> list[psutil.Process]:
        own = {process.pid for process in psutil.Process().children(recursive=True)}
        return [process for process in other_rally_processes() if process.pid in own]

    replace(preflight, "other_rally_processes", descendants)
    replace(preflight, "ACTOR_PORT", 0)
