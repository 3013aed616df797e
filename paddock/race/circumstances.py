"""On which machine, as whom, with which Paddock and on which corpus something is measured, in words that all share."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from paddock import __version__, paths
from paddock.cars import this_machine
from paddock.corpora.record import FROM_RECIPE, CorpusRecord
from paddock.rally.privileges import runs_as

CPU, CORES, MEMORY, KERNEL, FILE_SYSTEM, USER = "CPU", "cores", "memory", "kernel", "file system", "user"
# All of them; what was recorded by an older version, or by plain Rally, lacks some.
CIRCUMSTANCES = (CPU, CORES, MEMORY, KERNEL, FILE_SYSTEM, USER)
CORPUS = "corpus"
# What cars with limits hold the node to.
LIMITS = "limits"
# The cars of nodes that Paddock starts, and what was changed of them: to Rally those are somebody's.
CARS, CAR_PARAMETERS = "cars", "car parameters"
_PROCESSORS = Path("/proc/cpuinfo")
_DIRTY = "-dirty"
_SHA256 = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


def circumstances(data: Path | None) -> dict[str, str]:
    """This machine, which runs Rally and, unless the cluster is there already, the node; name -> text.

    :param data: the folder (it need not exist yet) in which the node keeps its data; None if the node is elsewhere.
    """
    machine = this_machine()
    found = {
        CPU: _processor_model(),
        CORES: str(machine.processors),
        MEMORY: f"{machine.memory_bytes / 2**30:.0f} GiB",
        KERNEL: f"{platform.system()} {platform.release()}",
        FILE_SYSTEM: file_system(data) if data else "",
        USER: runs_as(provisions=data is not None),
    }
    return {name: text for name, text in found.items() if text}


def processor_model(text: str) -> str:
    """The first processor's model in the text of /proc/cpuinfo; empty where the kernel does not tell (ARM)."""
    for line in text.splitlines():
        name, _, model = line.partition(":")
        if name.strip() == "model name":
            return " ".join(model.split())
    return ""


def file_system(folder: Path) -> str:
    """The type of the file system that holds the folder, such as ext4; empty if it cannot be told."""
    partitions = {Path(one.mountpoint): one.fstype for one in psutil.disk_partitions(all=True)}
    place = folder.expanduser().resolve()
    return next((partitions[path] for path in (place, *place.parents) if path in partitions), "")


def paddock_version() -> str:
    """The version, with the commit where this is a checkout: "0.1.0 (commit 0123456789ab with changes)"."""
    commit = _commit()
    if not commit:
        return __version__
    changed = " with changes" if commit.endswith(_DIRTY) else ""
    return f"{__version__} (commit {commit.removesuffix(_DIRTY)}{changed})"


def corpus_text(corpus: CorpusRecord) -> str:
    """What decides what its documents are; without a comma or colon, for Rally's user tags."""
    seed = f" seed {corpus.seed}" if corpus.origin == FROM_RECIPE else ""
    return f"{corpus.origin} {corpus.name}{seed} with {corpus.documents} documents sha256 {corpus.sha256}"


def cars_of(race: Mapping[str, Any]) -> str:
    """The cars of a race's node, of what race.json says; "external" if nobody knows."""
    cars = race.get("car")
    told = (race.get("user-tags") or {}).get(CARS)
    return str(told or (", ".join(cars) if isinstance(cars, list) else cars or ""))


def with_short_checksums(text: str) -> str:
    """The same with each SHA-256 cut to its first twelve digits."""
    return _SHA256.sub(r"\1", text)


def _commit() -> str:
    """The commit of the checkout, "-dirty" behind it if a file differs; empty if this is none, or git is missing."""
    if not (paths.PROJECT / ".git").exists():
        return ""
    words = ["git", "-C", str(paths.PROJECT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    # To ask must not take the lock that somebody's commit needs.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        told = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    except OSError:
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


def _processor_model() -> str:
    told = processor_model(_PROCESSORS.read_text(encoding="utf-8", errors="replace")) if _PROCESSORS.exists() else ""
    return told or platform.processor() or platform.machine()
