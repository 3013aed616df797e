"""Writing zeros with dd: what the disk can take."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from paddock.bench.workers import Answer
from paddock.errors import MachineError

BLOCK = 8 << 20
MODES = {"dd direct": ["oflag=direct", "conv=fsync"], "dd buffered": ["conv=fsync"]}


def run_dd(mode: str, size: int, file: Path) -> Answer:
    """Write about ``size`` bytes until they are on the disk.

    :param mode: a key of MODES.
    :raises MachineError: if dd is missing, or the file system refuses.
    """
    blocks = max(1, size // BLOCK)
    started = time.perf_counter()
    try:
        done = subprocess.run(
            ["dd", "if=/dev/zero", f"of={file}", f"bs={BLOCK}", f"count={blocks}", *MODES[mode]],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise MachineError("There is no dd on the PATH: install coreutils.") from None
    seconds = time.perf_counter() - started
    if done.returncode:
        raise MachineError(f"dd cannot write to {file.parent} ({(done.stderr.strip().splitlines() or ['?'])[-1]}).")
    return Answer(0, blocks * BLOCK, seconds)
