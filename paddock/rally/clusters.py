"""Clusters that outlive Rally's own launch of nodes: what each is made of, and the esrally command lines of that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.engine import Engine
from paddock.limits import Plan
from paddock.rally import DEFAULT_HTTP_PORT

# What Rally calls the cluster of a race, unless it is told of several.
DEFAULT_CLUSTER = "default"
# Our elasticsearch.yml and Rally's provisioner agree on it: a node's transport port is its HTTP port and this.
TRANSPORT_OFFSET = 100
# HTTP ports of one race must not reach the transport ports.
MOST_NODES = TRANSPORT_OFFSET


@dataclass(frozen=True)
class Node:
    """One node of a cluster.

    :param name: unique in the race; the name of its installation below the race's folder, too.
    """

    name: str
    http_port: int

    @property
    def transport_port(self) -> int:
        """Where the nodes of its cluster talk to it."""
        return self.http_port + TRANSPORT_OFFSET


@dataclass(frozen=True)
class Cluster:
    """A cluster of a race: one that is started for it, or one that is there.

    :param name: Rally's name of it.
    :param engine: the Elasticsearch of its nodes; None for a cluster that is there.
    :param nodes: its nodes; empty for a cluster that is there.
    :param hosts: "host:port" of a cluster that is there.
    :param cars: names of the cars of each node, the one with the base configuration first.
    :param heap_bytes: of each node.
    :param data_path: the folder outside Rally's in which its nodes keep their data; or None.
    :param limits: how what each of its nodes may have at most is held; or None.
    """

    name: str
    engine: Engine | None
    nodes: tuple[Node, ...] = ()
    hosts: tuple[str, ...] = ()
    cars: tuple[str, ...] = ()
    car_params: Mapping[str, Any] = field(default_factory=dict)
    heap_bytes: int = 0
    memory_lock: bool = False
    data_path: Path | None = None
    limits: Plan | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where it answers, "host:port" each."""
        return self.hosts or tuple(f"127.0.0.1:{node.http_port}" for node in self.nodes)


def number_nodes(counts: Mapping[str, int], first_port: int = DEFAULT_HTTP_PORT) -> dict[str, tuple[Node, ...]]:
    """The nodes of each cluster, with ports one after the other.

    :param counts: cluster -> how many nodes are started for it.
    """
    ports = iter(range(first_port, first_port + sum(counts.values())))
    return {
        name: tuple(Node(f"{name}-{number}", next(ports)) for number in range(count)) for name, count in counts.items()
    }


def target_hosts(clusters: Sequence[Cluster]) -> str:
    """Rally's --target-hosts for those clusters: JSON if they are several or have another name than its default."""
    if [cluster.name for cluster in clusters] == [DEFAULT_CLUSTER]:
        return ",".join(clusters[0].addresses)
    return json.dumps({cluster.name: list(cluster.addresses) for cluster in clusters})


def installation_id(race_id: str, node: Node) -> str:
    """What Rally calls the installation of a node: a folder below the race's, so that it is found with the race."""
    return f"{race_id}/{node.name}"


def install_arguments(race_id: str, cluster: Cluster, node: Node) -> list[str]:
    """The arguments of esrally that install a node, the program itself left out.

    :raises ValueError: for a cluster that is there.
    """
    if cluster.engine is None:
        raise ValueError(f"The cluster {cluster.name} is there already: nothing is installed for it.")
    words = [
        "install",
        f"--installation-id={installation_id(race_id, node)}",
        f"--distribution-version={cluster.engine.version}",
        f"--team-path={paths.PROJECT}",
        f"--car={','.join(cluster.cars)}",
        f"--runtime-jdk={cluster.engine.runtime_jdk}",
        f"--node-name={node.name}",
        "--network-host=127.0.0.1",
        f"--http-port={node.http_port}",
    ]
    if len(cluster.nodes) > 1:
        words.append(f"--master-nodes={','.join(one.name for one in cluster.nodes)}")
        words.append(f"--seed-hosts={','.join(f'127.0.0.1:{one.transport_port}' for one in cluster.nodes)}")
    if car_params := {**cluster.car_params, **cluster.engine.car_params}:
        words.append(f"--car-params={json.dumps(car_params, sort_keys=True)}")
    if cluster.engine.offline:
        words.append("--offline")
    return words


def started(clusters: Sequence[Cluster]) -> Iterator[tuple[Cluster, Node]]:
    """Every node that is started for a race, with its cluster."""
    for cluster in clusters:
        for node in cluster.nodes:
            yield cluster, node
