"""Adopts and collects what Rally's processes leave behind.

Rally's actors and the node outlive the process that started them and become children of process 1. In many containers
that one never collects them: they stay as dead entries in the process table, and the next Rally, which goes by names
alone, takes them for a Rally that is running and refuses to start. So we adopt them ourselves.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_NAMES = ("esrally", "rally", "java")


def adopt() -> None:
    """Make this process the parent of its descendants' orphans from now on (Linux; elsewhere nothing happens)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def collect(main: int) -> None:
    """Collect adopted processes that have ended; the child ``main`` and children of other names are somebody else's."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid == main or _name(ended.si_pid) not in _NAMES:
            return
        os.waitpid(ended.si_pid, os.WNOHANG)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
