"""What this machine can run, and what to change: one finding per thing looked at."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

from paddock import __version__, cars, paths
from paddock.console import styled
from paddock.engine import download, versions
from paddock.engine.versions import choose_java
from paddock.errors import PaddockError
from paddock.files import gibibytes
from paddock.rally import DEFAULT_HTTP_PORT, preflight, privileges

GOOD, CARE, BAD = "good", "care", "bad"


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
    looks = (_software, _java, _engine, _memory, _processors, _disk, _ports, _identity, _limits, _swap, _load)
    return [look() for look in looks]


def _software() -> Finding:
    try:
        preflight.check_platform()
    except PaddockError as error:
        return Finding("software", BAD, str(error))
    rally = metadata.version("esrally")
    return Finding(
        "software",
        GOOD,
        f"Paddock {__version__}, Rally {rally}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.release()}; Rally's home is {paths.rally_folder()}.",
    )


def _java() -> Finding:
    try:
        java, notes = choose_java(versions.release(versions.DEFAULT_VERSION).java, None)
    except PaddockError as error:
        return Finding("Java", BAD, str(error))
    text = f"Java {java.version} from {java.origin} would run the node."
    return Finding("Java", CARE if notes else GOOD, " ".join([text, *notes]))


def _engine() -> Finding:
    release = versions.release(versions.DEFAULT_VERSION)
    if download.is_present(release):
        return Finding("engine", GOOD, f"Elasticsearch {release.version} (embedded) is at hand; races need no network.")
    return Finding(
        "engine",
        CARE,
        f"Elasticsearch {release.version} (embedded, 100 MiB) is not here yet.",
        "The first race fetches it.",
    )


def _memory() -> Finding:
    machine = cars.this_machine()
    available = psutil.virtual_memory().available
    fitting = [
        car for car in cars.load_cars().values() if car.kind == "car" and car.heap_bytes <= cars.largest_heap(machine)
    ]
    largest = max(fitting, key=lambda car: car.heap_bytes, default=None)
    text = f"{gibibytes(machine.memory_bytes)}, {gibibytes(available)} of it free"
    if largest is None:
        return Finding("memory", BAD, f"{text}: too little for the smallest heap car.", "Take a larger machine.")
    return Finding("memory", GOOD, f"{text}; the largest heap car that fits is {largest.name}.")


def _processors() -> Finding:
    machine = cars.this_machine()
    if machine.processors < 2:
        return Finding(
            "processors",
            CARE,
            "1: node and load driver share it, so results say as much about Rally as about Elasticsearch.",
            "Race against another machine with --target-hosts, or take one with at least 2.",
        )
    return Finding("processors", GOOD, f"{machine.processors}; profiles that pin more than that are not faithful here.")


def _disk() -> Finding:
    folder = paths.benchmarks_folder()
    while not folder.exists():
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    text = f"{gibibytes(usage.free)} free for {paths.benchmarks_folder()}"
    # Our cars make indices read-only below 512 MB; the default corpora take 1 GiB with their indices.
    if usage.free < 2 * 2**30:
        return Finding("disk", BAD, f"{text}: too little for a race.", "Free some, or set RALLY_HOME to another disk.")
    return Finding("disk", GOOD, f"{text}.")


def _ports() -> Finding:
    taken = [
        f"{port} by {holder}"
        for port in (DEFAULT_HTTP_PORT, DEFAULT_HTTP_PORT + 100)
        if (holder := preflight.port_holder(port))
    ]
    others = [str(process.pid) for process in preflight.other_rally_processes()]
    if others:
        return Finding("ports", CARE, f"Rally is running now (process {', '.join(others)}).", "One race at a time.")
    if taken:
        return Finding("ports", CARE, f"Taken: {'; '.join(taken)}.", "End that, or choose another port with --port.")
    return Finding("ports", GOOD, f"{DEFAULT_HTTP_PORT} and {DEFAULT_HTTP_PORT + 100} are free.")


def _identity() -> Finding:
    if os.geteuid() != 0:
        return Finding("identity", GOOD, "Not root, as Elasticsearch wants it.")
    if privileges.namespaces_work():
        return Finding("identity", GOOD, "Root; the node runs in a user namespace, because Elasticsearch refuses root.")
    return Finding(
        "identity",
        CARE,
        f"Root, and user namespaces are forbidden here: races run as the user '{privileges.FALLBACK_USER}'.",
        "Call ./inv as an ordinary user, or name one in PADDOCK_USER.",
    )


def _limits() -> Finding:
    import resource

    open_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if open_files != resource.RLIM_INFINITY and open_files < 65535:
        return Finding(
            "limits", CARE, f"{open_files} open files; Elasticsearch wants 65,535.", "Raise it with 'ulimit -n 65535'."
        )
    return Finding("limits", GOOD, "Open files are enough.")


def _swap() -> Finding:
    swap = psutil.swap_memory()
    if swap.total:
        return Finding(
            "swap",
            CARE,
            f"{gibibytes(swap.total)} of swap: a heap that is swapped out stalls the node for seconds.",
            "Turn it off while racing ('swapoff -a'), or add the mixin memory-lock.",
        )
    return Finding("swap", GOOD, "None.")


def _load() -> Finding:
    load = os.getloadavg()[0]
    processors = cars.this_machine().processors
    if load > 0.5 * processors:
        return Finding(
            "load",
            CARE,
            f"{load:.1f} over the last minute on {processors} processors.",
            "Wait until the machine is idle.",
        )
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.exists() and (name := governor.read_text(encoding="ascii").strip()) != "performance":
        return Finding(
            "load",
            CARE,
            f"Idle, but the CPU governor is '{name}', which changes the clock during a race.",
            "Set it to 'performance'.",
        )
    return Finding("load", GOOD, f"{load:.1f} over the last minute.")


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
