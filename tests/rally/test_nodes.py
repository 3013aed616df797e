"""Nodes of a race's own clusters, where something stops them from starting: a sentence, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from paddock import paths
from paddock.errors import RaceError
from paddock.rally import leftovers, nodes
from paddock.rally.leftovers import MARK, RaceProcesses
from paddock.rally.nodes import Nodes
from paddock.rally.privileges import Identity
from paddock.rally.request import OPTIONS_VARIABLE
from tests.machine import PATIENCE, wait_until
from tests.rally.test_clusters import free_ports, installer, two_clusters

Installer = Callable[..., None]
__all__ = ["installer"]


def test_an_installation_that_takes_for_ever_is_told(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download that hangs, say."""
    installer(sleeps=30)
    monkeypatch.setattr(nodes, "INSTALL_PATIENCE", 0.3)
    with pytest.raises(RaceError, match=r"could not install the node default-0: it had not ended after 0\.3 s"):
        Nodes("race-1", two_clusters()).install(Identity())


def test_an_installer_is_found_with_its_race(installer: Installer) -> None:
    """One that outlives a watcher that was killed would install a node after the race was cleared up."""
    installer(sleeps=600)
    program = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[1])
        from tests.rally.test_clusters import two_clusters
        from paddock.rally.nodes import Nodes
        from paddock.rally.privileges import Identity
        Nodes("race-1", two_clusters()).install(Identity())
    """)
    watcher = subprocess.Popen([sys.executable, "-c", program, str(paths.PROJECT)])
    processes = RaceProcesses("race-1")
    try:
        wait_until(lambda: processes.drivers() != [])
        watcher.kill()
        watcher.wait()
        assert [one.environ()[MARK] for one in processes.drivers()] == [str(processes.folder)]
    finally:
        watcher.kill()
        watcher.wait()
        assert leftovers.end(processes.all()) == []


def test_an_installer_is_told_no_secrets(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Client options of some other cluster are nothing to it, and everybody of the same user could read them there."""
    monkeypatch.setenv(OPTIONS_VARIABLE, "basic_auth_password:hunter2")
    seen: list[dict[str, str]] = []

    class Remembered(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *words: Any, **how: Any) -> None:
            seen.append(how["env"])
            super().__init__(*words, **how)

    monkeypatch.setattr(subprocess, "Popen", Remembered)
    Nodes("race-1", two_clusters()).install(Identity())
    assert len(seen) == 3
    assert not any("hunter2" in value for one in seen for value in one.values())


def test_a_node_without_its_program_is_told(installer: Installer) -> None:
    """Somebody has removed it."""
    starting = Nodes("race-1", two_clusters(free_ports(3)))
    starting.install(Identity())
    with leftovers.written_down("race-1"):
        for program in (paths.races_folder() / "race-1").glob("b-0/*/install/*/bin/elasticsearch"):
            program.unlink()
        with pytest.raises(RaceError, match="The node b-0 did not start: No such file or directory"):
            starting.start()
        assert RaceProcesses("race-1").nodes() == []


def test_an_error_of_an_earlier_start_is_no_reason(installer: Installer) -> None:
    """The log of a node goes on from start to start."""
    starting = Nodes("race-1", two_clusters(free_ports(3)))
    starting.install(Identity())
    log = paths.races_folder() / "race-1" / "b-0" / "b-0" / "logs" / "server" / "node.log"
    log.parent.mkdir(parents=True)
    log.write_text("[ERROR] java.lang.IllegalStateException: long ago\n")
    with leftovers.written_down("race-1"):
        for program in (paths.races_folder() / "race-1").glob("b-0/*/install/*/bin/elasticsearch"):
            program.write_text(f"#!/bin/sh\necho '[ERROR] java.lang.Error: just now' >> {log}\nexit 1\n")
        with pytest.raises(RaceError, match="just now") as caught:
            starting.start()
    assert "long ago" not in str(caught.value)


def test_nodes_that_nobody_waits_for_any_more_are_given_up(installer: Installer) -> None:
    """At once, and none is left: whoever stops a race does not wait until its nodes are there."""
    installer(hangs=True)
    starting, processes = Nodes("race-1", two_clusters(free_ports(3))), RaceProcesses("race-1")
    starting.install(Identity())
    failures: list[RaceError] = []

    def start() -> None:
        try:
            starting.start()
        except RaceError as error:
            failures.append(error)

    thread = threading.Thread(target=start)
    with leftovers.written_down("race-1"):
        thread.start()
        wait_until(lambda: len(processes.nodes()) == 3)
        starting.give_up()
        thread.join(PATIENCE)
    assert [str(one) for one in failures] == ["The race ended before its nodes were there."]
    assert processes.nodes() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_nodes_start_leaves_none(installer: Installer, number: signal.Signals) -> None:
    """Rally, which would end them, does not run yet."""
    installer(hangs=True)
    program = textwrap.dedent("""
        import signal, sys
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever began the tests with nohup has it ignored
        sys.path.insert(0, sys.argv[1])
        from tests.machine import see_own_rallies_only
        see_own_rallies_only(setattr)
        from tests.rally.test_clusters import a_request, two_clusters
        from tests.rally.test_run import Recorder
        from paddock.rally.run import run_race
        try:
            run_race(a_request(two_clusters(int(sys.argv[2]))), Recorder(), print)
        except KeyboardInterrupt:
            sys.exit(130)
    """)
    words = [sys.executable, "-c", program, str(paths.PROJECT), str(free_ports(3))]
    watcher, processes = subprocess.Popen(words, env={**os.environ}), RaceProcesses("race-1")
    try:
        wait_until(lambda: len(processes.nodes()) == 3)
        time.sleep(1.0)  # on a busy machine the watcher may not know yet that the last launcher has begun
        watcher.send_signal(number)
        assert watcher.wait(PATIENCE) == 130
        assert processes.nodes() == []
        assert leftovers.running() == []
    finally:
        watcher.kill()
        watcher.wait()
        leftovers.end(processes.all())
