"""What an anonymised import left as it was, for a person to look through."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paddock.errors import FileError

if TYPE_CHECKING:
    from paddock.imports.cutting import Table

# So many different texts are counted; beyond them the rarest are forgotten, so that memory stays constant.
MOST_COUNTED = 1_000_000
_SHOWN = 6
_LONGEST_SHOWN = 40
_NUMBER = re.compile(r"[+-]?\d[\d.,:/_-]*[a-zA-Z%]{0,2}")
_HOST = re.compile(r"(?=.*[A-Za-z])[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w+=-]{8,}")
_LOOK_FOR = {
    "words": "names of people, customers, places and machines, and words that only your house uses",
    "names": "names of the fields of JSON, which stay: a user or a customer may be one",
    "hosts": "hosts and other names with dots: machines, domains and packages of your own",
    "tokens": "letters with digits: ids, keys, versions, license plates",
    "numbers": "numbers of customers, orders, phones and accounts; fields that are numbers to the track are left out",
}
_HEADER = """\
# What --anonymise left as it was: kind, how often, text. Look through it before you hand the corpus on. What nobody may
# see, take out of the log (for example with sed) and import it again.
"""


class Audit:
    """Texts that stand in the output as they stood in the input.

    :ivar forgotten: how many different ones were too rare to be kept, at the least.
    """

    def __init__(self) -> None:
        self._table: Table | None = None
        self._counts = np.zeros(0, np.int64)
        self._seed = secrets.randbits(62)
        self.forgotten = 0

    def add(self, texts: bytes, counts: np.ndarray) -> None:
        """Count those of a block, as ``Anonymiser.kept`` has them."""
        if not len(counts):
            return
        from paddock.imports import cutting  # and with it numba, which takes its time

        entries, used = self._table.used.tolist() if self._table else (1, 1)
        if self._table is None or len(self._counts) < entries + len(counts):
            self._table = cutting.table(2 * (entries + len(counts)), 2 * (used + len(texts)) + 2, self._table)
            self._counts = np.append(self._counts, np.zeros(len(self._table.entries) - len(self._counts), np.int64))
        elif len(self._table.bytes) < used + len(texts) + 2:
            self._table = cutting.table(len(self._table.entries), 2 * (used + len(texts)) + 2, self._table)
        cutting.count_texts(self._table, np.frombuffer(texts + b"\n", np.uint8), counts, self._counts, self._seed)
        if self._table.used[0] > MOST_COUNTED:
            found = list(self._most_common())
            self._table, self._counts = None, np.zeros(0, np.int64)
            self.forgotten += len(found) - MOST_COUNTED // 2
            found = found[: MOST_COUNTED // 2]
            most = np.array([count for _, count in found], np.int64)
            self.add("\n".join(text for text, _ in found).encode("utf-8"), most)

    def _most_common(self) -> Iterator[tuple[str, int]]:
        """All of them with their counts, the most frequent first."""
        if self._table is None:
            return
        last, end = self._table.used.tolist()
        texts = self._table.bytes[1 : end - 1].tobytes().decode("utf-8").split("\n")
        counts = self._counts[1:last]
        for number in np.argsort(-counts, kind="stable").tolist():
            yield texts[number], int(counts[number])

    def most_frequent(self) -> dict[str, dict[str, int]]:
        """The most frequent of each kind (words, hosts or other names with dots, tokens, numbers), and their counts."""
        result: dict[str, dict[str, int]] = {kind: {} for kind in _LOOK_FOR if kind != "names"}
        for text, count in self._most_common():
            found = result[_kind(text)]
            if len(found) < _SHOWN and len(text) > 1:
                found[text[:_LONGEST_SHOWN]] = count
            elif all(len(found) == _SHOWN for found in result.values()):
                break
        return result

    def write(self, file: Path, names: Iterable[str] = ()) -> None:
        """All of them: kind, count and text, separated by tabs; kind by kind, the most frequent first.

        :param names: of fields.
        :raises FileError: if the file cannot be written.
        """
        kinds: dict[str, list[tuple[str, int | str]]] = {kind: [] for kind in _LOOK_FOR}
        kinds["names"] = [(name, "") for name in sorted(names)]
        for text, count in self._most_common():
            kinds[_kind(text)].append((text, count))
        try:
            with file.open("w", encoding="utf-8", errors="replace") as target:
                target.write(_HEADER)
                for kind, found in kinds.items():
                    target.write(f"\n# {kind}, {len(found):,}: {_LOOK_FOR[kind]}\n" if found else "")
                    target.writelines(f"{kind}\t{count}\t{text}\n" for text, count in found)
                if self.forgotten:
                    target.write(f"\n# and at least {self.forgotten} further ones, which were too rare to be counted\n")
        except OSError as error:
            raise FileError(file, f"the audit cannot be written ({error.strerror}): name another file.") from None


def _kind(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return "numbers"
    if _HOST.fullmatch(text):
        return "hosts"
    return "tokens" if _TOKEN.fullmatch(text) else "words"
