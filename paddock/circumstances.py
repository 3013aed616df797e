"""On which machine and as whom something is measured, under the same names in races and in tournaments."""

from __future__ import annotations

import platform
from pathlib import Path

import psutil

from paddock.cars import this_machine
from paddock.rally.privileges import runs_as

CPU, CORES, MEMORY, KERNEL, FILE_SYSTEM, USER = "CPU", "cores", "memory", "kernel", "file system", "user"
# All of them; what was recorded by an older version, or by plain Rally, lacks some.
CIRCUMSTANCES = (CPU, CORES, MEMORY, KERNEL, FILE_SYSTEM, USER)
_PROCESSORS = Path("/proc/cpuinfo")


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


def _processor_model() -> str:
    told = processor_model(_PROCESSORS.read_text(encoding="utf-8", errors="replace")) if _PROCESSORS.exists() else ""
    return told or platform.processor() or platform.machine()
