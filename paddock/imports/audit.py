"""What an anonymised import left as it was: counted, sorted by kind, for a person to look through."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from paddock.errors import FileError

# So many different texts are counted; beyond them the rarest are forgotten, so that memory stays constant.
MOST_COUNTED = 1_000_000
_SHOWN = 6
_LONGEST_SHOWN = 40
_NUMBER = re.compile(r"[+-]?\d[\d.,:/_-]*[a-zA-Z%]{0,2}")
_HOST = re.compile(r"(?=.*[A-Za-z])[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w+=-]{8,}")
KINDS = ("words", "hosts", "numbers", "tokens")


class Audit:
    """Texts that stand in the output as they stood in the input.

    :ivar forgotten: how many different ones were too rare to be kept, at the least.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.forgotten = 0

    def add(self, kept: Counter[str]) -> None:
        """Count those of a block."""
        self._counts.update(kept)
        if len(self._counts) > MOST_COUNTED:
            found = self._counts.most_common(MOST_COUNTED // 2)
            self.forgotten += len(self._counts) - len(found)
            self._counts = Counter(dict(found))

    def most_frequent(self) -> dict[str, dict[str, int]]:
        """The most frequent of each kind (words, hosts or other names with dots, numbers, tokens), and their counts."""
        result: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
        for kind, text, count in self._sorted():
            if len(result[kind]) < _SHOWN and len(text) > 1:
                result[kind][text[:_LONGEST_SHOWN]] = count
            elif all(len(found) == _SHOWN for found in result.values()):
                break
        return result

    def write(self, file: Path) -> None:
        """All of them: kind, count and text, separated by tabs, the most frequent first.

        :raises FileError: if the file cannot be written.
        """
        try:
            with file.open("w", encoding="utf-8", errors="replace") as target:
                target.writelines(f"{kind}\t{count}\t{text}\n" for kind, text, count in self._sorted())
                if self.forgotten:
                    target.write(f"and at least {self.forgotten} further ones, which were too rare to be counted\n")
        except OSError as error:
            raise FileError(file, f"the audit cannot be written ({error.strerror}): name another file.") from None

    def _sorted(self) -> Iterator[tuple[str, str, int]]:
        for text, count in self._counts.most_common():
            yield _kind(text), text, count


def _kind(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return "numbers"
    if _HOST.fullmatch(text):
        return "hosts"
    return "tokens" if _TOKEN.fullmatch(text) else "words"
