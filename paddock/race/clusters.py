"""The clusters of a race that has several, or one of several nodes: checked before anything is started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paddock import cars, paths
from paddock.console import progress
from paddock.engine import Engine, choose_engine
from paddock.errors import MachineError, UsageError
from paddock.files import gibibytes
from paddock.limits import Here, Plan, plan_limits, try_out
from paddock.plain_values import separated
from paddock.race import DEFAULT_CARS, LARGEST_PORT
from paddock.rally.clusters import MOST_NODES, TRANSPORT_OFFSET, Cluster, number_nodes
from paddock.rally.request import OPTIONS_FILE, RALLYS_OPTIONS, ClientOptions, read_client_options
from paddock.sampling import Endpoint, check_cluster

# By the cars' names for them, as their jvm.options turn them into flags.
COLLECTOR_FLAGS = {"g1": "-XX:+UseG1GC", "parallel": "-XX:+UseParallelGC", "z": "-XX:+UseZGC"}


@dataclass(frozen=True)
class ClusterOptions:
    """What a cluster of a race is to be; the options mean what those of ``./inv race`` do.

    :param name: Rally's name of it.
    :param nodes: how many are started for it.
    :param called: the contenders on it, by whose names client options may know it.
    """

    name: str
    car: tuple[str, ...] = DEFAULT_CARS
    car_params: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    engine: str | None = None
    java: str | None = None
    data_path: str | None = None
    nodes: int = 1
    target_hosts: str | None = None
    client_options: str | None = None
    called: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class PreparedClusters:
    """Clusters that can be raced.

    :param client_options: Rally's, for all of them.
    :param notes: sentences that the user should read.
    """

    clusters: tuple[Cluster, ...]
    client_options: ClientOptions
    notes: tuple[str, ...]


def prepare_clusters(asked: Sequence[ClusterOptions], race_id: str, port: int, fetch: bool) -> PreparedClusters:
    """Check what is asked for, and get the engines.

    :param port: the first HTTP port; the other nodes get those that follow.
    :param fetch: whether to download what is missing, and to look for clusters that are to be there.
    :raises UsageError: something was asked for that does not exist or contradicts itself.
    :raises MachineError: this machine cannot run them, or not all of them side by side.
    """
    notes: list[str] = []
    nodes = number_nodes({one.name: 0 if one.target_hosts else one.nodes for one in asked}, port)
    number = sum(map(len, nodes.values()))
    if number > MOST_NODES:
        raise UsageError(f"More than {MOST_NODES} nodes were asked for on one machine: ask for fewer.")
    if number and port + number - 1 > LARGEST_PORT:
        raise UsageError(
            f"{number} nodes take the ports from {port} to {port + number - 1}, and {LARGEST_PORT} is the last that a "
            f"node can have, because it takes the one {TRANSPORT_OFFSET} above, too: choose a smaller --port."
        )
    clusters, told = [], {}
    for one in asked:
        if one.target_hosts:
            cluster, told[one.name] = _existing(one, fetch)
        else:
            cluster = _started(one, race_id, fetch, notes)
        clusters.append(replace(cluster, nodes=nodes[one.name]))
        if cluster.limits and cluster.limits.cpus and one.nodes > 1:
            notes.append(
                f"All {one.nodes} nodes of the cluster are held to the same {cluster.limits.text.partition(' (')[0]}: "
                f"together they have no more than one of them would have."
            )
    check_memory(clusters)
    heaps = [cluster.heap_bytes for cluster in clusters for _ in cluster.nodes]
    if large := cars.large_heaps_together(heaps, cars.this_machine()):
        notes.append(large)
    # Rally gives its own defaults to all clusters only where it is told nothing of any.
    options = {one.name: {**RALLYS_OPTIONS, **told.get(one.name, {})} for one in asked} if any(told.values()) else {}
    first = told.get(asked[0].name) or {}
    if options:
        notes.append(
            f"A printed command names {OPTIONS_FILE} for the client options of all clusters: write such a file, with "
            f"those of each cluster by its name ({', '.join(options)}), before you repeat the race with it."
        )
    return PreparedClusters(tuple(clusters), ClientOptions(None, options, first), tuple(dict.fromkeys(notes)))


def check_memory(clusters: Sequence[Cluster]) -> None:
    """Check that the heaps of all nodes fit this machine together.

    :raises MachineError: if they do not; with what would.
    """
    heaps = {cluster.name: cluster.heap_bytes * len(cluster.nodes) for cluster in clusters if cluster.nodes}
    machine = cars.this_machine()
    largest = cars.largest_heap(machine)
    if sum(heaps.values()) > largest:
        listed = " and ".join(
            f"{len(cluster.nodes)} x {gibibytes(cluster.heap_bytes)}" for cluster in clusters if cluster.nodes
        )
        raise MachineError(
            f"The nodes of this race have heaps of {gibibytes(sum(heaps.values()))} together ({listed}), and this "
            f"machine has {gibibytes(machine.memory_bytes)} of memory, of which {gibibytes(largest)} can be heap: use "
            f"smaller heaps or fewer nodes; a tournament can do without its control (--no-control), and hold its "
            f"contenders one after the other (--apart)."
        )


def _started(asked: ClusterOptions, race_id: str, fetch: bool, notes: list[str]) -> Cluster:
    data_path = own_data_path(asked.data_path, race_id)
    car_params = {**asked.car_params, **({"data_paths": str(data_path)} if data_path else {})}
    combination = cars.combine(asked.car, cars.load_cars(), car_params)
    if combination.data_paths and data_path is None:
        # Nodes of another race may have folders of the same names in there, and nobody would clear up.
        raise UsageError(
            "The car variable data_paths is for a single node that Rally starts: say where the nodes of a cluster keep "
            "their data with --data-path, or with data_path in a tournament file."
        )
    notes += cars.check_machine(combination, cars.this_machine())
    limits = limits_on(combination, data_path or paths.races_folder(), fetch) if combination.limits else None
    engine = choose_engine(asked.version, asked.engine, asked.java, progress, fetch)
    notes += engine.notes
    if limits is not None:
        notes.append(
            f"'{combination.name}' is held to {limits.text}. Paddock does that; a printed command, which plain Rally "
            f"runs, holds its node to nothing."
        )
    check_java_options(engine, combination)
    return Cluster(
        asked.name,
        engine,
        cars=combination.names,
        car_params=car_params,
        heap_bytes=combination.heap_bytes,
        memory_lock=combination.memory_lock,
        data_path=data_path,
        limits=limits,
    )


def limits_on(combination: cars.Combination, data: Path, fetch: bool) -> Plan:
    """How the limits of those cars are held on this machine.

    :param data: where the node keeps its data.
    :param fetch: whether to try it out.
    :raises MachineError: if they cannot be held.
    """
    here = Here(memory_bytes=cars.this_machine().memory_bytes)
    plan = plan_limits(combination.limits, data, combination.name, here)
    if fetch:
        try_out(plan)
    return plan


def _existing(asked: ClusterOptions, fetch: bool) -> tuple[Cluster, dict[str, Any]]:
    """A cluster that is there, and Rally's client options for it."""
    hosts = asked.target_hosts or ""
    options = read_client_options(asked.client_options, hosts=hosts, cluster=asked.name, called=asked.called)
    endpoint = Endpoint.from_client_options(hosts, options.values)
    version = check_cluster(endpoint) if fetch else asked.version
    if asked.version and version != asked.version:
        raise UsageError(
            f"The cluster at {hosts} is of Elasticsearch {version}, and its contender says {asked.version}: correct "
            f"its version, or its target_hosts."
        )
    return Cluster(asked.name, None, hosts=tuple(separated(hosts))), dict(options.values)


def check_java_options(engine: Engine, combination: cars.Combination) -> None:
    """Try the heap and the garbage collector of the cars on the Java that will run the node.

    A JVM that refuses them says so to nobody: Rally throws the node's output away.

    :raises UsageError: if it refuses, in its own words.
    """
    if engine.java is None:
        return
    heap = f"{combination.heap_bytes >> 10}k"
    options = [COLLECTOR_FLAGS[combination.garbage_collector], f"-Xms{heap}", f"-Xmx{heap}"]
    tried = subprocess.run(
        [engine.java.home / "bin" / "java", *options, "-version"], capture_output=True, text=True, check=False
    )
    if tried.returncode != 0:
        said = " ".join((tried.stdout + tried.stderr).split())[:200]
        raise UsageError(
            f"Java {engine.java.version} refuses what the cars '{combination.name}' ask of it ({' '.join(options)}): "
            f"{said} Choose other cars or car parameters, or another Java with --java."
        )


def own_data_path(asked: str | None, race_id: str) -> Path | None:
    """The race's own folder in the one that the user asks for; None if they ask for none.

    :raises UsageError: if that cannot be written to.
    """
    if not asked:
        return None
    folder = Path(asked).expanduser().absolute()
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(f"--data-path wants a folder that can be written to, and {folder} is none: make it first.")
    # Rally deletes the data path after the race, so it gets a folder of its own inside.
    return folder / f"paddock-{race_id}"
