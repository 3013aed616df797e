"""What this machine can run, and what to change, and how a cluster is sized: one finding per thing looked at."""

from __future__ import annotations

import itertools
import os
import platform
import resource
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import psutil

from paddock import __version__, advice, cars, limits, numbers, paths
from paddock.command_line.lists import Listing
from paddock.console import say, styled
from paddock.corpora.store import list_corpora
from paddock.engine import download, versions
from paddock.engine.versions import choose_java
from paddock.errors import MachineError, PaddockError
from paddock.files import gibibytes
from paddock.race.headroom import Shape, ensure
from paddock.race.shippers import at_hand
from paddock.rally import DEFAULT_HTTP_PORT, preflight, privileges
from paddock.rally.leftovers import racing
from paddock.rally.request import read_client_options
from paddock.sampling import BadAnswer, ClusterSizes, Endpoint, NodeSize, Unreachable, check_cluster, cluster_sizes

GOOD, CARE, BAD = "good", "care", "bad"
# What the load driver is measured with.
_BULK_SIZES, _CLIENTS = (100, 1000, 5000), (1, 8)
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    :param state: "good"; "care": races run, but results suffer or an option is closed; "bad": no race runs.
    :param remedy: what to do, empty if nothing.
    """

    subject: str
    state: str
    text: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Look at everything; nothing is started, changed or downloaded."""
    looks = {
        "software": _software,
        "Java": _java,
        "engine": _engine,
        "memory": _memory,
        "processors": _processors,
        "disk": _disk,
        "ports": _ports,
        "identity": _identity,
        "limits": _limits,
        "hardware": _hardware,
        "shippers": _shippers,
        "swap": _swap,
        "load": _load,
    }
    return [Finding(subject, *look()) for subject, look in looks.items()]


# What each of them gives: state and text, and the remedy where there is one.
_Seen = tuple[str, str] | tuple[str, str, str]


def _software() -> _Seen:
    try:
        preflight.check_platform()
    except PaddockError as error:
        return BAD, str(error)
    ours = f"Paddock {__version__}, Rally {metadata.version('esrally')}, Python {platform.python_version()}"
    return GOOD, f"{ours}, {platform.system()} {platform.release()}; Rally's home is {paths.rally_folder()}."


def _java() -> _Seen:
    try:
        java, notes = choose_java(versions.release(versions.DEFAULT_VERSION).java, None)
    except PaddockError as error:
        return BAD, str(error)
    return CARE if notes else GOOD, " ".join([f"Java {java.version} from {java.origin} would run the node.", *notes])


def _engine() -> _Seen:
    release = versions.release(versions.DEFAULT_VERSION)
    name = f"Elasticsearch {release.version} (embedded"
    if download.is_present(release):
        return GOOD, f"{name}) is at hand; races need no network."
    return CARE, f"{name}, 100 MiB) is not here yet.", "The first race fetches it."


def _memory() -> _Seen:
    machine, available = cars.this_machine(), psutil.virtual_memory().available
    heaps = [car for car in cars.load_cars().values() if car.kind == "car"]
    fitting = [car for car in heaps if car.heap_bytes <= cars.largest_heap(machine)]
    text = f"{gibibytes(machine.memory_bytes)}, {gibibytes(available)} of it free"
    if not fitting:
        return BAD, f"{text}: too little for the smallest heap car.", "Take a larger machine."
    free = replace(machine, memory_bytes=min(machine.memory_bytes, available))
    if not (now := [car for car in fitting if car.heap_bytes <= cars.largest_heap(free)]):
        smallest = min(fitting, key=lambda car: car.heap_bytes).name
        return BAD, f"{text}: too little for the smallest heap car, {smallest}.", "End what else uses it."
    largest = max(now, key=lambda car: car.heap_bytes)
    most = max(fitting, key=lambda car: car.heap_bytes).name
    advised = [car for car in now if car.heap_bytes <= advice.HEAP_SHARE * machine.memory_bytes]
    half = max(advised, key=lambda car: car.heap_bytes).name if advised else "none"
    told = "" if half == largest.name else f", and of at most half of it, as Elastic advises, {half}"
    told = (f" now, {most} if all of it were free" if most != largest.name else "") + told
    return GOOD, f"{text}; the largest heap car that fits is {largest.name}{told}."


def _processors() -> _Seen:
    machine = cars.this_machine()
    if machine.processors >= 2:
        return GOOD, f"{machine.processors}; profiles that pin more than that are not faithful here."
    return (
        CARE,
        "1: node and load driver share it, so results say as much about Rally as about Elasticsearch.",
        "Race against another machine with --target-hosts, or take one with at least 2.",
    )


def _disk() -> _Seen:
    folder = paths.benchmarks_folder()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    text = f"{gibibytes(free)} free for {paths.benchmarks_folder()}"
    # Our cars make indices read-only below 512 MB; the default corpora take 1 GiB with their indices.
    if free < 2 * 2**30:
        return BAD, f"{text}: too little for a race.", "Free some, or set RALLY_HOME to another disk."
    return GOOD, f"{text}."


def _ports() -> _Seen:
    ports = DEFAULT_HTTP_PORT, DEFAULT_HTTP_PORT + 100
    if others := [str(process.pid) for process in preflight.other_rally_processes()]:
        return CARE, f"Rally is running now (process {', '.join(others)}).", "One race at a time."
    if taken := [f"{port} by {holder}" for port in ports if (holder := preflight.port_holder(port))]:
        return CARE, f"Taken: {'; '.join(taken)}.", "End that, or choose another port with --port."
    return GOOD, f"{ports[0]} and {ports[1]} are free."


def _identity() -> _Seen:
    if os.geteuid() != 0:
        return GOOD, "Not root, as Elasticsearch wants it."
    if privileges.namespaces_work():
        return GOOD, "Root; the node runs in a user namespace, because Elasticsearch refuses root."
    text = f"Root, and user namespaces are forbidden here: races run as the user '{privileges.FALLBACK_USER}'."
    return CARE, text, "Call ./inv as an ordinary user, or name one in PADDOCK_USER."


def _limits() -> _Seen:
    open_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if open_files == resource.RLIM_INFINITY or open_files >= 65535:
        return GOOD, "Open files are enough."
    return CARE, f"{open_files} open files; Elasticsearch wants 65,535.", "Raise it with 'ulimit -n 65535'."


def _hardware() -> _Seen:
    """What cars can limit of a node, such as hardware profiles do; tried, and undone."""
    hold, fail = limits.holding_here(paths.races_folder())
    by_means: dict[str, list[str]] = {}
    for kind, means in hold.items():
        by_means.setdefault(means, []).append(kind)
    told = [f"{', '.join(kinds)} by {means}" for means, kinds in by_means.items()]
    text = f"Cars can limit {'; '.join(told)}." if told else "Cars can limit nothing."
    if not fail:
        return GOOD, f"{text} Not a processor's speed."
    remedy = (
        "Call ./inv as root, with a writable /sys/fs/cgroup, for these." if os.geteuid() else next(iter(fail.values()))
    )
    return CARE, f"{text} Not: {', '.join(fail)}.", remedy


def _shippers() -> _Seen:
    """What can send a lap in the place of Rally's own clients; a race needs none of them."""
    there, missing = at_hand()
    text = f"{', '.join(f'{name} {version}' for name, version in there.items())}." if there else "None is installed."
    absent = f" Not here: {', '.join(missing)} (docs/shippers.md says how they are installed)." if missing else ""
    return GOOD, text + absent


def _swap() -> _Seen:
    swap = psutil.swap_memory()
    if not swap.total:
        return GOOD, "None."
    text = f"{gibibytes(swap.total)} of swap: a heap that is swapped out stalls the node for seconds."
    return CARE, text, "Turn it off while racing ('swapoff -a'), or add the mixin memory-lock."


def _load() -> _Seen:
    load, processors = os.getloadavg()[0], cars.this_machine().processors
    text = f"{load:.1f} over the last minute"
    if load > 0.5 * processors:
        return CARE, f"{text} on {processors} processors.", "Wait until the machine is idle."
    if _GOVERNOR.exists() and (name := _GOVERNOR.read_text(encoding="ascii").strip()) != "performance":
        idle = f"Idle, but the CPU governor is '{name}', which changes the clock during a race."
        return CARE, idle, "Set it to 'performance'."
    return GOOD, f"{text}."


def examine_cluster(hosts: str, client_options: str | None) -> list[Finding]:
    """Look at the heaps and the shards of a cluster that is there; nothing is changed.

    :param hosts: as --target-hosts has them; ``client_options`` is the file with those.
    :raises MachineError: if it does not answer, or not to us.
    """
    endpoint = Endpoint.from_client_options(hosts, read_client_options(client_options, hosts=hosts).values)
    check_cluster(endpoint)
    try:
        return findings_of(cluster_sizes(endpoint))
    except (Unreachable, BadAnswer) as error:
        raise MachineError(
            f"The cluster at {hosts} does not tell how large its heaps and shards are. {error} Give its user the right "
            f"to monitor the cluster."
        ) from None


def findings_of(sizes: ClusterSizes) -> list[Finding]:
    """What Elastic advises of a cluster's heaps and shards, beside what they are."""
    masters = sum(node.can_be_master for node in sizes.nodes)
    every = sum(node.shards for node in sizes.nodes)
    largest = max((size for index in sizes.indices for size in index.sizes), default=0)
    looks = {
        "heaps": (_heaps(sizes), f"{numbers.plural(len(sizes.nodes), 'node')}, at most half of the memory in heaps."),
        "shards": (_shards(sizes), f"{every:,} in all, at most {advice.SHARDS_PER_GIB} per GB of heap on each node."),
        "masters": (
            (
                advice.indices_per_heap(sizes.every, node.heap, f"The node {node.name}")
                for node in sizes.nodes
                if node.can_be_master
            ),
            f"{numbers.plural(masters, 'node')} can be master of {numbers.plural(sizes.every, 'index', 'indices')}.",
        ),
        "shard sizes": (
            advice.shard_sizes(sizes.indices),
            f"{numbers.plural(len(sizes.indices), 'index', 'indices')}, the largest shard has {gibibytes(largest)}."
            if sizes.indices
            else "There is no index yet.",
        ),
    }
    findings = []
    for subject, (sentences, otherwise) in looks.items():
        told = [Finding(subject, CARE, sentence) for sentence in sentences if sentence]
        findings += told or [Finding(subject, GOOD, otherwise)]
    return findings


def _heaps(sizes: ClusterSizes) -> Iterator[str | None]:
    """Of each node by itself, and of all those that share a machine's memory."""
    hosts: dict[str, list[NodeSize]] = {}
    for node in sizes.nodes:
        if node.memory:
            whose = f"{'the limit' if node.is_limited else 'the memory'} of the node {node.name}, "
            alone = f"A heap of {gibibytes(node.heap)}"
            yield advice.heap_over_half(node.heap, node.memory, alone, whose + gibibytes(node.memory))
            if not node.is_limited:
                hosts.setdefault(node.host, []).append(node)
    for host, nodes in hosts.items():
        if len(nodes) > 1:
            heap, memory = sum(node.heap for node in nodes), max(node.memory for node in nodes)
            heaps = f"{gibibytes(heap)} for the heaps of {len(nodes)} nodes"
            yield advice.heap_over_half(heap, memory, heaps, f"the memory of {host}, {gibibytes(memory)}")


def _shards(sizes: ClusterSizes) -> Iterator[str | None]:
    """Of the node with most shards per GB: what is said of others is the same."""
    holding = [node for node in sizes.nodes if node.heap]
    if holding:
        most = max(holding, key=lambda node: node.shards / node.heap)
        yield advice.shards_per_heap(most.shards, most.heap, f"The node {most.name}", sizes.version)


def driver_headroom() -> Listing:
    """What the load driver alone pushes of each corpus at hand, of the largest where a track has several.

    What is not remembered is measured: three bulk sizes and two numbers of clients, five seconds each.

    :raises MachineError: if a race is running, or it cannot be measured.
    """
    rows = []
    with racing() as cleared:
        for sentence in cleared:
            say(sentence)
        largest = {(one.track, one.name): one for one in sorted(list_corpora(), key=lambda one: one.documents)}
        for corpus in largest.values():
            for shape in itertools.starmap(Shape, itertools.product(_BULK_SIZES, _CLIENTS)):
                say(f"{corpus.name}, {shape} ...")
                found = ensure(corpus, shape)
                rows.append(
                    (
                        corpus.name,
                        shape.bulk_size,
                        shape.clients,
                        round(found.docs_per_second),
                        round(found.bytes_per_second / 1e6, 1),
                        round(1e3 * found.cpu_seconds_per_bulk, 2),
                        round(1e6 * found.cpu_seconds_per_document, 2),
                        numbers.share(found.others),
                    )
                )
    closing = (
        "This is what the load driver can push where the node costs nothing; a race near it measures the driver."
        if rows
        else "There is no corpus yet: './inv corpus.generate apache' makes one."
    )
    heads = ("corpus", "bulk size", "clients", "docs/s", "MB/s", "CPU ms/bulk", "CPU us/doc", "others had")
    return Listing([("The load driver alone, into a sink", heads, rows)], closing)


def render(findings: list[Finding], colours: bool) -> str:
    """The findings as text, a line or two each."""
    marks = {GOOD: ("ok  ", "green"), CARE: ("care", "yellow"), BAD: ("BAD ", "red")}
    lines = []
    for finding in findings:
        mark, colour = marks[finding.state]
        lines.append(f"{styled(mark, colour, colours)} {finding.subject:<11} {finding.text}")
        if finding.remedy:
            lines.append(f"{'':17}{finding.remedy}")
    return "\n".join(lines)
