"""The nodes of a race's own clusters: installed by Rally, then started, stopped and started anew beside the race.

Rally's own `esrally start` cannot be used beside a race, because every esrally command wipes Rally's folder of
libraries (rally.py), and it starts one node after the other. So the nodes are started here as Rally's launcher does it:
the same program, arguments and environment, from the configuration that its installer has written.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import urllib3

from paddock import paths
from paddock.errors import MachineError, RaceError
from paddock.files import read_record, writing
from paddock.rally import request as command
from paddock.rally.clusters import Cluster, Node, install_arguments, installation_id, started
from paddock.rally.leftovers import MARK, RaceProcesses, end
from paddock.rally.limited import LimitedNodes
from paddock.rally.outcome import RaceFailed, node_problem, rally_error
from paddock.rally.privileges import Identity

# Seconds. On two busy cores four nodes took 40 s to start.
START_PATIENCE = 300.0
INSTALL_PATIENCE = 600.0
# As Rally's launcher sets it.
_JAVA_OPTIONS = "-XX:+ExitOnOutOfMemoryError"
# Of the small program that starts a node and is done then: it took 4.1 s of processor time, and so 2.4 (three starts of
# each), which is a tenth of what four nodes need until they are there.
_LAUNCHER_OPTIONS = "-XX:TieredStopAtLevel=1"


class Nodes:
    """The nodes that are started for one race."""

    def __init__(self, race_id: str, clusters: Sequence[Cluster]) -> None:
        self.race_id = race_id
        self._clusters = tuple(cluster for cluster in clusters if cluster.nodes)
        self._identity = Identity()
        self._processes = RaceProcesses(race_id)
        self._given_up = threading.Event()
        self._logged: dict[Path, int] = {}
        self.limited = LimitedNodes(race_id, self._clusters)

    def install(self, identity: Identity) -> None:
        """Let Rally install every node.

        :param identity: as whom, and as whom they are started later.
        :raises RaceError: if Rally fails; with what it says.
        """
        self._identity = identity
        for cluster, node in started(self._clusters):
            words = [*identity.prefix, str(command.program()), *install_arguments(self.race_id, cluster, node)]
            # Of a race that is killed meanwhile it would go on, and install a node that nobody clears up after.
            mark = {MARK: str(self._processes.folder)}
            inherited = {name: value for name, value in os.environ.items() if name != command.OPTIONS_VARIABLE}
            with subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env={**inherited, **_environment(cluster), **identity.environment, **mark},
                **identity.popen,
            ) as installer:
                printed = self._printed_by(installer, node)
            if installer.returncode != 0 or not self._configuration(node).get("binary-path"):
                said = rally_error(printed) or f"it ended with exit code {installer.returncode}"
                raise RaceFailed(f"Rally could not install the node {node.name}: {said}", paths.rally_log())

    def _printed_by(self, installer: subprocess.Popen[str], node: Node) -> str:
        """What it has printed when it has ended."""
        deadline = time.monotonic() + INSTALL_PATIENCE
        try:
            while True:
                self._check_wanted()
                try:
                    return installer.communicate(timeout=0.2)[0]
                except subprocess.TimeoutExpired:
                    if time.monotonic() > deadline:
                        said = f"it had not ended after {INSTALL_PATIENCE:g} s"
                        raise RaceFailed(
                            f"Rally could not install the node {node.name}: {said}", paths.rally_log()
                        ) from None
        finally:
            installer.kill()

    def bring_up(self, identity: Identity) -> None:
        """Install and start all nodes in a thread of its own, for a signal inside a launch would lose what it launched.

        :raises RaceError: as :meth:`install` and :meth:`start` do.
        :raises KeyboardInterrupt: the user does not want them any more; none is left.
        """
        if not self._clusters:
            return

        def work() -> None:
            self.install(identity)
            self.start()

        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(work)
            try:
                done.result()
            except KeyboardInterrupt:
                self.give_up()
                raise

    def start(self) -> None:
        """Start all nodes at once, with empty data, and wait until each cluster is whole.

        :raises RaceError: if a node does not start, or is another version than its contender says; if data of an
            earlier start cannot be removed.
        """
        for _, node in started(self._clusters):
            for folder in self._data_folders(node):
                shutil.rmtree(folder, ignore_errors=True)
                if folder.exists():
                    raise RaceError(f"{folder} has data of an earlier start that cannot be removed: remove it.")
        self._logged = {log: log.stat().st_size for _, node in started(self._clusters) for log in self._logs(node)}
        launchers: list[tuple[Node, subprocess.Popen[bytes]]] = []
        try:
            for cluster, node in started(self._clusters):
                self._check_wanted()
                launchers.append((node, self._launch(cluster, node)))
            deadline = time.monotonic() + START_PATIENCE
            for node, launcher in launchers:
                self._wait_for(node, launcher, deadline)
            for cluster in self._clusters:
                self._await(cluster, deadline)
            for _, node in started(self._clusters):
                self._began(node)
        except BaseException:
            for _, launcher in launchers:
                _kill(launcher)
            raise

    def give_up(self) -> None:
        """Start nothing any more, whichever thread does so: the race is over."""
        self._given_up.set()

    def _check_wanted(self) -> None:
        if self._given_up.is_set():
            raise RaceError("The race ended before its nodes were there.")

    def _wait_for(self, node: Node, launcher: subprocess.Popen[bytes], deadline: float) -> None:
        """Wait until the launcher has ended well."""
        while True:
            self._check_wanted()
            try:
                code = launcher.wait(0.2)
                break
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise self._failed(node, f"it had not started after {START_PATIENCE:.0f} s") from None
        if code != 0:
            raise self._failed(node, f"it ended with exit code {code}")

    def restart(self) -> None:
        """Stop all nodes and start them anew, with empty data.

        :raises RaceError: as in :meth:`start`.
        """
        self.stop()
        self.start()

    def stop(self) -> None:
        """End all nodes.

        :raises MachineError: if one cannot be ended.
        """
        self.limited.write_down()
        if left := end(self._processes.nodes()):
            raise MachineError(
                f"The node with the process id {left[0].pid} does not end, not even when it is killed: "
                f"find out what it waits for (a disk?), or restart the machine."
            )

    def gone(self) -> str | None:
        """Which node has ended by itself, a sentence; None if all are there.

        The others of its cluster would go on without it, and laps on them would be those of another cluster.
        """
        for _, node in started(self._clusters):
            if not self._is_there(node):
                return (
                    f"The node {node.name} ended while its race was running. Its log is in {self._output(node).parent}."
                )
        return None

    def _configuration(self, node: Node) -> dict[str, object]:
        return read_record(paths.races_folder() / installation_id(self.race_id, node) / "node-config.json")

    def _home(self, node: Node) -> Path:
        """Where the node is installed.

        :raises RaceError: if somebody has removed it.
        """
        if told := self._configuration(node).get("binary-path"):
            return Path(str(told))
        raise RaceError(f"The installation of the node {node.name} is gone while its race was running.")

    def _data_folders(self, node: Node) -> Iterator[Path]:
        """The folders with the data of one node; nothing else lies in them."""
        binary, own = self._home(node), self._configuration(node).get("data-paths")
        for path in map(Path, own if isinstance(own, list) else ()):
            # As our elasticsearch.yml has it: below a data path of the user's choice each node has a folder.
            yield path if path.is_relative_to(binary) else path / f"{binary.parents[2].name}-{node.name}"

    def _launch(self, cluster: Cluster, node: Node) -> subprocess.Popen[bytes]:
        home = self._home(node)
        environment = {"PATH": os.environ.get("PATH", os.defpath)}
        environment |= {"ES_JAVA_OPTS": _JAVA_OPTIONS, "CLI_JAVA_OPTS": _LAUNCHER_OPTIONS}
        if cluster.engine is not None and cluster.engine.java is not None:
            java = cluster.engine.java.home
            environment |= {"ES_JAVA_HOME": str(java), "JAVA_HOME": str(java)}
            environment["PATH"] = f"{java / 'bin'}{os.pathsep}{environment['PATH']}"
        words = [*self._identity.prefix, str(home / "bin" / "elasticsearch"), "-d", "-p", str(home / "pid")]
        try:
            with writing(self._output(node)), self._output(node).open("wb") as output:
                return self.limited.launch(
                    node,
                    words,
                    cwd=home,
                    env=environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    **self._identity.popen,
                )
        except OSError as error:
            raise self._failed(node, f"{error.strerror}: {error.filename}") from None

    def _began(self, node: Node) -> None:
        """The node is there: its limits are looked at."""
        with contextlib.suppress(OSError, ValueError):  # it has just ended, which Rally will say
            self.limited.began(node, int((self._home(node) / "pid").read_text(encoding="ascii")))

    def _is_there(self, node: Node) -> bool:
        """Whether the process that its launcher has written down is alive."""
        try:
            pid = int((self._home(node) / "pid").read_text(encoding="ascii"))
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except (OSError, ValueError, psutil.Error, RaceError):
            return False

    def _output(self, node: Node) -> Path:
        """What the node's launcher prints; Rally throws it away, and with it why a JVM refuses its options."""
        return paths.races_folder() / installation_id(self.race_id, node) / "output.txt"

    def _logs(self, node: Node) -> list[Path]:
        """What Elasticsearch itself writes down; each start adds to it."""
        return sorted((paths.races_folder() / installation_id(self.race_id, node)).glob("*/logs/server/*.log"))

    def _await(self, cluster: Cluster, deadline: float) -> None:
        """Wait until the cluster has all its nodes, and see that it is what it is said to be."""
        node = cluster.nodes[0]
        url = f"http://127.0.0.1:{node.http_port}"
        health = f"{url}/_cluster/health?wait_for_status=green&wait_for_nodes={len(cluster.nodes)}&timeout=5s"
        with urllib3.PoolManager(retries=False, timeout=10.0) as http:
            while True:
                self._check_wanted()
                try:
                    if http.request("GET", health).status == 200:
                        version = json.loads(http.request("GET", url).data)["version"]["number"]
                        break
                except (urllib3.exceptions.HTTPError, ValueError, KeyError):
                    pass  # not there yet
                time.sleep(0.2)
                for gone in (one for one in cluster.nodes if not self._is_there(one)):
                    raise self._failed(gone, "it has ended")
                if time.monotonic() > deadline:
                    raise self._failed(node, f"its cluster of {len(cluster.nodes)} was not whole in time")
        if cluster.engine is not None and version != cluster.engine.version:
            raise self._failed(node, f"it says that it is {version}, and should be {cluster.engine.version}")

    def _failed(self, node: Node, problem: str) -> RaceError:
        if ended := self.limited.ended_by_the_kernel(node.name):
            return RaceFailed(ended, self._output(node))
        for log in (*self._logs(node), self._output(node)):
            if not log.exists():
                continue
            text = log.read_bytes()
            # What went wrong in an earlier start is no reason for this one.
            new = text[self._logged.get(log, 0) :]
            if said := node_problem(new.decode("utf-8", "replace")):
                return RaceFailed(f"The node {node.name} did not start ({problem}). Elasticsearch says: {said}", log)
        return RaceFailed(f"The node {node.name} did not start: {problem}", self._output(node))


def _kill(launcher: subprocess.Popen[bytes]) -> None:
    """End a launcher with all that it has started by now: it has a process group of its own."""
    with contextlib.suppress(OSError):
        os.killpg(launcher.pid, signal.SIGKILL)
    launcher.wait()


def _environment(cluster: Cluster) -> dict[str, str]:
    """What esrally needs to install a node of this cluster."""
    java = cluster.engine.environment if cluster.engine else {}
    return {**java, "RALLY_HOME": str(paths.rally_folder().parent)}
