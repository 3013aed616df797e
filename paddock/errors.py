"""The errors that Paddock raises on purpose, and names that were probably meant.

PaddockError                 anything below; its text is one sentence for the user
+-- UsageError               the command line or a file that the user wrote is wrong (exit code 2)
|   +-- FileError            ... and the mistake has a place: file and, where known, line
+-- MachineError             this machine cannot do it as it is: memory, disk, port, Java, network (exit code 3)
+-- CorpusError              the data of a corpus is missing, damaged or not what its record says (exit code 4)
+-- RaceError                Rally or Elasticsearch failed (exit code 5)
+-- Interrupted              the user stopped it with Ctrl-C (exit code 130)

Each text says what is wrong, where, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class PaddockError(Exception):
    """Base of all errors that end in one sentence and an exit code instead of a traceback."""

    exit_code = 1


class UsageError(PaddockError):
    """What the user asked for does not exist or contradicts itself."""

    exit_code = 2


class FileError(UsageError):
    """A file that a user wrote is wrong; says where.

    :param path: the file.
    :param problem: what is wrong and what to do, one sentence without the place.
    :param line: the line, counted from 1, or None if the mistake has none.
    """

    def __init__(self, path: Path | str, problem: str, line: int | None = None):
        self.path = Path(path)
        self.line = line
        self.problem = problem
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {problem}")


class MachineError(PaddockError):
    """This machine, as it is now, cannot do what was asked."""

    exit_code = 3


class CorpusError(PaddockError):
    """A corpus on disk is missing, damaged or not the one that its record describes."""

    exit_code = 4


class RaceError(PaddockError):
    """A race failed; the text names the cause and the log to look into."""

    exit_code = 5


class Interrupted(PaddockError):
    """The user pressed Ctrl-C; everything that was started is ended."""

    exit_code = 130


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Known names most like ``name``, the likeliest first; empty if none is near."""
    import difflib  # which only mistakes need

    return difflib.get_close_matches(name, sorted(known), n=most, cutoff=0.5)


def unknown(kind: str, name: str, known: Iterable[str], list_command: str) -> UsageError:
    """The error for a name that does not exist.

    :param kind: what the name should have named, for example "track".
    :param name: what the user wrote.
    :param known: all names that exist.
    :param list_command: the command that lists them, for example "./inv tracks".
    """
    near = nearest(name, known)
    guess = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return UsageError(f"There is no {kind} '{name}'.{guess} {list_command} lists them all.")
