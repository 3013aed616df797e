"""The kernel's cache of what it has read from disks, dropped before nodes start, where that is permitted."""

from __future__ import annotations

import os
from pathlib import Path

# Pages, and what is known of folders and files.
_EVERYTHING = "3"
# What becomes of it is a circumstance of a start, by this name.
PAGE_CACHE = "page cache"
SWITCH = Path("/proc/sys/vm/drop_caches")
DROPPED = "dropped before the start of the nodes"


def drop_caches(switch: Path = SWITCH) -> str:
    """Write what is unwritten to disks, and let the kernel forget what it has read from all of them.

    This is the whole machine's cache: others on it read their files from disk again, too.

    :returns: DROPPED, or that it was kept, and why.
    """
    os.sync()
    try:
        switch.write_text(_EVERYTHING, encoding="ascii")
    except OSError as error:
        return f"kept, because {switch} cannot be written ({error.strerror}): it takes root"
    return DROPPED
