"""Installs a node through Rally's own provisioner and starts it, for the tests of the cars."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from esrally.mechanic import provisioner, team

from paddock import paths
from tests.machine import PATIENCE, free_http_port, wait_until


def rally_provisioner(
    root: Path,
    car_names: Sequence[str],
    parameters: dict[str, Any],
    port: int = 39200,
    address: str = "127.0.0.1",
    java_home: Path | None = None,
) -> provisioner.BareProvisioner:
    """Rally's provisioner for a single node below ``root``, as `esrally race` would set it up.

    :param parameters: what --car-params would say.
    :param java_home: the Java that Rally has found; None for the one inside the archive.
    """
    car = team.load_car(str(paths.PROJECT), list(car_names), parameters)
    installer = provisioner.ElasticsearchInstaller(
        car,
        str(java_home) if java_home else None,
        "rally-node-0",
        "rally-benchmark",
        str(root / "a-race" / "rally-node-0"),
        {address},
        ["rally-node-0"],
        address,
        port,
    )
    return provisioner.BareProvisioner(installer, [], distribution_version="8.8.2")


class Node:
    """A running node: its HTTP address and its folders."""

    def __init__(self, port: int, configuration: provisioner.NodeConfiguration):
        self.port = port
        self.home = Path(configuration.binary_path)
        self.data_paths = [Path(path) for path in configuration.data_paths]
        self.logs = Path(configuration.node_root_path) / "logs" / "server"

    def get(self, path: str) -> Any:
        """The JSON answer to a GET request."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE) as answer:
            return json.load(answer)

    def put(self, path: str, body: Any, method: str = "PUT") -> Any:
        """The JSON answer to a PUT request, or another one with a body."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
            return json.load(answer)

    def info(self) -> dict[str, Any]:
        """This node's entry of GET _nodes."""
        (entry,) = self.get("/_nodes")["nodes"].values()
        return entry


def _command(home: Path, before: Sequence[str]) -> list[str]:
    """How to start the node: root gets a user namespace, for Elasticsearch refuses to run as root."""
    elasticsearch = str(home / "bin" / "elasticsearch")
    if os.geteuid() == 0:
        return [*before, "unshare", "-U", "--map-user=1000", "--map-group=1000", elasticsearch]
    return [*before, elasticsearch]


@contextmanager
def running_node(
    archive: Path,
    java_home: Path,
    root: Path,
    car_names: Sequence[str],
    *,
    extra_settings: str = "",
    before: Sequence[str] = (),
    **parameters: Any,
) -> Iterator[Node]:
    """A node of these cars, stopped and wiped (as Rally wipes it) at the end.

    :param archive: the distribution, a tar.gz.
    :param before: words before the command, for example to lift a limit.
    :param extra_settings: lines added to elasticsearch.yml.
    :raises AssertionError: if the node ends, or does not answer; with its output.
    """
    port = free_http_port()
    prepared = rally_provisioner(root, car_names, parameters, port, java_home=java_home)
    configuration = prepared.prepare({"elasticsearch": str(archive)})
    node = Node(port, configuration)
    with (node.home / "config" / "elasticsearch.yml").open("a", encoding="utf-8") as settings:
        settings.write(extra_settings)
    output = root / "output.txt"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            _command(node.home, before),
            env={"PATH": os.environ["PATH"], "ES_JAVA_HOME": str(java_home)},
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_it_answers(process, node, output)
        yield node
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the launcher and its child, the node
            process.wait()
        provisioner.cleanup(preserve=False, install_dir=configuration.binary_path, data_paths=configuration.data_paths)
        shutil.rmtree(root, ignore_errors=True)


def _wait_until_it_answers(process: subprocess.Popen[bytes], node: Node, output: Path) -> None:
    def answers() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"the node ended with {process.returncode}:\n{output.read_text()[-6000:]}")
        try:
            node.get("/_cluster/health?wait_for_status=yellow&timeout=5s")
            return True
        except (urllib.error.URLError, OSError):
            return False

    wait_until(answers, lambda: f"the node did not answer:\n{output.read_text()[-6000:]}")
