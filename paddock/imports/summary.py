"""What an import found, made and left as it was, for people and for the record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.corpora.record import CorpusRecord
from paddock.errors import FileError
from paddock.files import gibibytes
from paddock.imports.parsing import Parsed
from paddock.imports.shape import MOST_KINDS, TOO_LARGE
from paddock.imports.times import IsoTimes, TimeRange

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

    def write(self, file: Path, names: Iterable[str] = ()) -> None:
        """All of them: kind, count and text, separated by tabs, the most frequent first; then names of fields.

        :raises FileError: if the file cannot be written.
        """
        try:
            with file.open("w", encoding="utf-8", errors="replace") as target:
                target.writelines(f"{kind}\t{count}\t{text}\n" for kind, text, count in self._sorted())
                target.writelines(f"names\t\t{name}\n" for name in names)
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


_MOST_SENTENCES = 10
_MOST_FIELDS, _DEEPEST = 1000, 20  # index.mapping.total_fields.limit and index.mapping.depth.limit


@dataclass
class Totals:
    """The counts of all blocks so far; lines + further = documents + joined + blank + bad."""

    lines: int = 0
    documents: int = 0
    joined: int = 0
    blank: int = 0
    bad: int = 0
    read_bytes: int = 0
    times: TimeRange = field(default_factory=TimeRange)
    not_utf8: int = 0
    further: int = 0
    fields: int = 0
    assumed: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    kinds: set[tuple[str, str]] = field(default_factory=set)
    lines_of: Counter[str] = field(default_factory=Counter)
    audit: Audit = field(default_factory=Audit)

    def add(self, parsed: Parsed) -> None:
        """Count a block."""
        self.lines += parsed.lines
        self.lines_of[parsed.source] += parsed.lines
        self.documents += parsed.documents
        self.joined += parsed.joined
        self.blank += parsed.blank
        self.bad += len(parsed.bad)
        self.not_utf8 += parsed.not_utf8
        self.further += parsed.further
        self.fields += parsed.fields
        self.assumed |= parsed.assumed
        self.left_out += parsed.left_out
        if len(self.kinds) < MOST_KINDS:
            self.kinds |= parsed.kinds
        self.times.then(parsed.times)
        self.audit.add(parsed.kept)

    def add_long_line(self, source: str) -> None:
        """Count a line that was too long to be read."""
        self.lines += 1
        self.lines_of[source] += 1
        self.bad += 1


@dataclass(frozen=True)
class ImportSummary:
    """A finished import.

    :param bad_file: where the bad lines are; None if there were none.
    :param seconds: from the first byte read to the last one written.
    :param audit: the file in which all stands that stayed as it was; None if none was asked for.
    """

    record: CorpusRecord
    bad_file: Path | None
    seconds: float
    read_bytes: int
    audit: str | None = None

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "file": str(self.record.file),
            "name": self.record.name,
            "track": self.record.track,
            "documents": self.record.documents,
            "bytes": self.record.bytes,
            "sha256": self.record.sha256,
            "bad-file": str(self.bad_file) if self.bad_file else None,
            "seconds": round(self.seconds, 3),
            "megabytes-per-second": round(self._speed, 1),
            **{name.replace("_", "-"): value for name, value in self.record.details.items()},
        }

    def render(self) -> str:
        """For people."""
        return "\n".join(self._sentences())

    @property
    def _speed(self) -> float:
        return self.read_bytes / 1e6 / self.seconds if self.seconds > 0 else 0.0

    def _sentences(self) -> Iterator[str]:
        details = self.record.details
        yield (
            f"{self.record.file}: {self.record.documents:,} documents, {gibibytes(self.record.bytes)}, "
            f"for the track {self.record.track}."
        )
        yield (
            f"Read {details['lines']:,} lines ({gibibytes(self.read_bytes)}) of {len(details['sources'])} "
            f"source{'s' if len(details['sources']) != 1 else ''} as {details['format']} in {self.seconds:.1f} s, "
            f"{self._speed:.0f} MB/s: {self.record.documents:,} events, {details['joined']:,} lines joined to one, "
            f"{details['blank']:,} blank, {details['bad']:,} bad."
        )
        for reason, count in list(details["bad_reasons"].items())[:_MOST_SENTENCES]:
            yield f"  bad: {count:,} x {reason}"
        if self.bad_file:
            privacy = " They are not anonymised." if details["anonymised"] else ""
            yield f"The bad lines are in {self.bad_file}, with their places.{privacy}"
        yield f"Times from {details['first_time']} to {details['last_time']}."
        if "year" in details["assumed"]:
            whence = f"--year {details['year']}" if details["year"] else "the time when each file was last changed"
            yield (
                f"Lines have no year: it was concluded from {whence}, so check the times above; --year says otherwise."
            )
        if "zone" in details["assumed"]:
            yield f"Times have no zone: they were taken as {details['zone']}; --zone says otherwise."
        if details["further"]:
            yield f"{details['further']:,} records stood behind another one on its line; each is an event of its own."
        if details["shifted_seconds"]:
            yield f"All times were moved by {details['shifted_seconds']:,} s, so that the last one is now."
        if details["backwards"]:
            yield (
                f"Time goes backwards {details['backwards']:,} times; the order was kept, because neither Rally nor "
                f"Elasticsearch needs another."
            )
        if details["not_utf8"]:
            yield f"{details['not_utf8']:,} lines had bytes that are no UTF-8; they were read as Latin-1."
        yield from _first(
            f"The track {self.record.track} has no field '{name}': left out of {count:,} documents."
            for name, count in details["left_out"].items()
        )
        yield from _first(
            f"The field '{name}' has {' and '.join(kinds)}: Elasticsearch may refuse those that differ from the "
            f"first; mend the log if a race reports errors."
            for name, kinds in details["mixed_fields"].items()
        )
        yield from self._index_sentences()
        if details["anonymised"]:
            yield (
                "Anonymised: addresses, hosts, e-mail addresses, user names, secrets and query values were replaced, "
                "as far as their form or a name beside them tells. Names in sentences and ids without one are not: "
                f"look through what stayed ({self._audit()}) before you hand the corpus on."
            )
            for kind, found in details["kept"].items():
                if found:
                    yield f"  {kind} that stayed: {', '.join(f'{text} ({count:,})' for text, count in found.items())}"
        yield f"Race on it: ./inv race --track {self.record.track} --corpus {self.record.name}"

    def _audit(self) -> str:
        return f"all of it is in {self.audit}" if self.audit else "--audit FILE writes all of it"

    def _index_sentences(self) -> Iterator[str]:
        """What an index would refuse with its usual settings, though each document by itself is well."""
        details = self.record.details
        remedy = "so races on it will report errors: mend the log"
        if details["distinct_fields"] > _MOST_FIELDS:
            yield (
                f"Documents have {details['distinct_fields']:,} different fields or more, and an index takes "
                f"{_MOST_FIELDS:,}, {remedy}."
            )
        if details["depth"] > _DEEPEST:
            yield f"Objects are nested {details['depth']} deep, and an index takes {_DEEPEST} levels, {remedy}."
        yield from _first(
            f"The field '{name}' has numbers beyond 64 bits, which an index refuses, {remedy}."
            for name in details["too_large"]
        )


def _first(sentences: Iterable[str]) -> Iterator[str]:
    """Sentences of the same kind, and how many further ones there are."""
    found = list(sentences)
    yield from found[:_MOST_SENTENCES]
    if len(found) > _MOST_SENTENCES:
        yield f"The same goes for {len(found) - _MOST_SENTENCES:,} further fields: --json has them all."


def details(totals: Totals, reasons: Counter[str], **further: Any) -> dict[str, Any]:
    """What the record says of an import."""
    times = IsoTimes()
    shift = 1000 * further["shifted_seconds"]
    return {
        **further,
        "lines": totals.lines,
        "joined": totals.joined,
        "blank": totals.blank,
        "bad": totals.bad,
        "bad_reasons": dict(reasons.most_common()),
        "backwards": totals.times.backwards,
        "not_utf8": totals.not_utf8,
        "left_out": dict(totals.left_out.most_common()),
        "further": totals.further,
        "assumed": sorted(totals.assumed),
        **({"kept": totals.audit.most_frequent()} if further["anonymised"] else {}),
        "mixed_fields": _mixed(totals.kinds),
        "distinct_fields": len(names := {name for name, _ in totals.kinds}),
        "depth": max((name.count(".") + 1 for name in names), default=0),
        "too_large": sorted(name for name, kind in totals.kinds if kind == TOO_LARGE),
        "first_time": times.text((totals.times.earliest or 0) + shift),
        "last_time": times.text((totals.times.latest or 0) + shift),
    }


def _mixed(kinds: set[tuple[str, str]]) -> dict[str, list[str]]:
    """Fields that have values of more than one kind."""
    by_field: dict[str, set[str]] = {}
    for name, kind in sorted(kinds):
        if kind not in (TOO_LARGE, "lists"):
            by_field.setdefault(name, set()).add(kind)
        outer = name.rpartition(".")[0]
        while outer and "objects" not in by_field.setdefault(outer, set()):
            by_field[outer].add("objects")  # whether it is written so, or as a name with dots
            outer = outer.rpartition(".")[0]
    return {name: sorted(found) for name, found in by_field.items() if len(found) > 1}
