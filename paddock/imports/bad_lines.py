"""Bad lines: counted by reason, set aside in a file, and the end of an import that has too many of them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from types import TracebackType

from paddock.errors import UsageError
from paddock.imports.text import encoded

_LONGEST_SHOWN = 64 << 10
# A percentage of a few lines says nothing, so until then an import goes on.
_LINES_FOR_A_PERCENTAGE = 10_000


class BadLineLimit:
    """How many bad lines an import may have: a number, or a percentage of its lines.

    :raises UsageError: if the text is neither.
    """

    def __init__(self, text: str):
        self.text = text
        number = text.strip().removesuffix("%").strip()
        self._percentage = text.strip().endswith("%")
        try:
            self._most = float(number) if self._percentage else int(number)
        except ValueError:
            raise self._wrong() from None
        if not 0 <= self._most < float("inf") or (self._percentage and self._most > 100):
            raise self._wrong()

    def exceeded(self, bad: int, lines: int, at_the_end: bool) -> bool:
        """Whether these are too many."""
        if not self._percentage:
            return bad > self._most
        if not at_the_end and lines < _LINES_FOR_A_PERCENTAGE:
            return False
        return bad * 100 > self._most * lines

    def _wrong(self) -> UsageError:
        return UsageError(
            f"--max-bad is a number of lines or a percentage of them, such as 100 or 5%, not '{self.text}'."
        )


class BadLines:
    """The file of bad lines: source, line number, reason and line, separated by tabs; made with the first of them.

    A context manager. Only its owner can read the file, because its lines are as they were, anonymised or not. Until
    the import has succeeded (``keep``) it has another name, so that those of an earlier import stay.

    :param file: the file's name in the end.
    """

    def __init__(self, file: Path):
        self._final = file
        self.file = file.with_name(file.name.replace(".bad.txt", ".failed.bad.txt"))
        self.count = 0
        self.reasons: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self._target: int | None = None
        self.file.unlink(missing_ok=True)

    def keep(self) -> Path | None:
        """Give the file its name: those of the import that this one replaces go. None if there are no bad lines."""
        if self.count:
            self.file = self.file.replace(self._final)
            return self.file
        self._final.unlink(missing_ok=True)
        return None

    def add(self, source: str, line: int, reason: str, text: str) -> None:
        """Set a line aside."""
        self.count += 1
        self.reasons[reason] += 1
        self.examples.setdefault(reason, f"{source}:{line}")
        if self._target is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._target = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        content = encoded(text)
        if len(content) > _LONGEST_SHOWN:
            content = content[:_LONGEST_SHOWN] + f" ... ({len(content):,} bytes)".encode("ascii")
        os.write(self._target, f"{source}\t{line}\t{reason}\t".encode() + content + b"\n")

    def __enter__(self) -> BadLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._target is not None:
            os.close(self._target)
            self._target = None
