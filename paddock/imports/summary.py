"""What an import found, made and left as it was, for people and for the record; the file of its bad lines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.corpora.record import CorpusRecord
from paddock.files import gibibytes
from paddock.imports import DEFAULT_ZONE
from paddock.imports.audit import Audit
from paddock.imports.parsing import Parsed
from paddock.imports.shape import MOST_KINDS, TOO_LARGE
from paddock.imports.sources import LongLine
from paddock.imports.text import encoded
from paddock.imports.times import IsoTimes, TimeRange
from paddock.numbers import plural

_LONGEST_SET_ASIDE = 64 << 10


class BadLines:
    """The file of bad lines: source, line number, reason and line, separated by tabs; made with the first of them.

    Only its owner can read the file, because its lines are as they were, anonymised or not. Until
    the import has succeeded (``keep``) it has another name, so that those of an earlier import stay.

    :param folder, name: where the corpus is, and what it is called.
    :ivar first: of each reason the place of the first line, and the line.
    """

    def __init__(self, folder: Path, name: str):
        self._final = folder / f"{name}.bad.txt"
        self.file = folder / f"{name}.bad.failed.txt"  # no other corpus's .bad.txt, whatever its name
        self.count = 0
        self.reasons: Counter[str] = Counter()
        self.first: dict[str, tuple[str, str]] = {}
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
        self.first.setdefault(reason, (f"{source}:{line}", text))
        if self._target is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._target = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        content = encoded(text)
        if len(content) > _LONGEST_SET_ASIDE:
            content = content[:_LONGEST_SET_ASIDE] + f" ... ({len(content):,} bytes)".encode("ascii")
        os.write(self._target, f"{source}\t{line}\t{reason}\t".encode() + content + b"\n")

    def close(self) -> None:
        """Write no more."""
        if self._target is not None:
            os.close(self._target)
            self._target = None


_SUMMED = ("lines", "documents", "joined", "blank", "not_utf8", "further", "fields")


@dataclass
class Totals:
    """The counts of all blocks so far, as Parsed has them; lines + further = documents + joined + blank + bad lines."""

    lines: int = 0
    documents: int = 0
    joined: int = 0
    blank: int = 0
    not_utf8: int = 0
    further: int = 0
    fields: int = 0
    read_bytes: int = 0
    times: TimeRange = field(default_factory=TimeRange)
    assumed: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    kinds: set[tuple[str, str]] = field(default_factory=set)
    lines_of: Counter[str] = field(default_factory=Counter)
    audit: Audit = field(default_factory=Audit)

    def add(self, parsed: Parsed | LongLine) -> None:
        """Count a block, or a line that was too long to be read."""
        self.lines_of[parsed.source] += 1 if isinstance(parsed, LongLine) else parsed.lines
        if isinstance(parsed, LongLine):
            self.lines += 1
            return
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(parsed, name))
        self.assumed |= parsed.assumed
        self.left_out += parsed.left_out
        if len(self.kinds) < MOST_KINDS:
            self.kinds |= parsed.kinds
        self.times.then(parsed.times)
        self.audit.add(*parsed.kept)

    def details(self, reasons: Counter[str], **further: Any) -> dict[str, Any]:
        """What the record says of an import: the counts, why lines were bad, and what the user asked for."""
        times, shift = IsoTimes(), 1000 * further["shifted_seconds"]
        names = {name for name, _ in self.kinds}
        return {
            **further,
            "lines": self.lines,
            "joined": self.joined,
            "blank": self.blank,
            "bad": reasons.total(),
            "bad_reasons": dict(reasons.most_common()),
            "backwards": self.times.backwards,
            "not_utf8": self.not_utf8,
            "left_out": dict(self.left_out.most_common()),
            "further": self.further,
            "assumed": sorted(self.assumed),
            **({"kept": self.audit.most_frequent()} if further["anonymised"] else {}),
            "mixed_fields": _mixed(self.kinds),
            "distinct_fields": len(names),
            "depth": max((name.count(".") + 1 for name in names), default=0),
            "too_large": sorted(name for name, kind in self.kinds if kind == TOO_LARGE),
            "first_time": times.text((self.times.earliest or 0) + shift),
            "last_time": times.text((self.times.latest or 0) + shift),
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


_MOST_SENTENCES = 10
_MOST_FIELDS, _DEEPEST = 1000, 20  # index.mapping.total_fields.limit and index.mapping.depth.limit
_FIRST_LOGS = "1990"
A_LAP = 200_000  # documents, in most shipped tournaments


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
        record, details = self.record, self.record.details
        yield f"{record.file}: {record.documents:,} documents, {gibibytes(record.bytes)}, for the track {record.track}."
        joined = f"{details['joined']:,} more that belong to an event before them, " if details["joined"] else ""
        speed = f", {self._speed:.0f} MB/s" if self._speed >= 1 else ""
        yield (
            f"Read {details['lines']:,} lines ({gibibytes(self.read_bytes)}) of {len(details['sources'])} "
            f"source{'s' if len(details['sources']) != 1 else ''} as {details['format']} in {self.seconds:.1f} s"
            f"{speed}: {record.documents:,} events, {joined}{details['blank']:,} blank lines, "
            f"{details['bad']:,} bad ones."
        )
        for reason, count in list(details["bad_reasons"].items())[:_MOST_SENTENCES]:
            yield f"  bad: {count:,} x {reason}"
        if self.bad_file:
            privacy = " They are not anonymised." if details["anonymised"] else ""
            yield f"The bad lines are in {self.bad_file}, with their places.{privacy}"
        yield from self._times()
        if details["further"]:
            more = plural(details["further"], "record")
            yield f"{more} stood behind another one on its line; each is an event of its own."
        if details["not_utf8"]:
            yield f"{details['not_utf8']:,} lines had bytes that are no UTF-8; they were read as Latin-1."
        yield from _first(
            f"The track {record.track} has no field '{name}': left out of {count:,} documents."
            for name, count in details["left_out"].items()
        )
        yield from self._index_sentences()
        if details["anonymised"]:
            stayed = f"all of it is in {self.audit}" if self.audit else "--audit FILE writes all of it"
            yield (
                "Anonymised: addresses, hosts, e-mail addresses, user names, secrets and query values were replaced, "
                "as far as their form or a name beside them tells. Names in sentences and ids without one are not: "
                f"look through what stayed ({stayed}) before you hand the corpus on."
            )
            for kind, found in details["kept"].items():
                if found:
                    yield f"  {kind} that stayed: {', '.join(f'{text} ({count:,})' for text, count in found.items())}"
        if record.documents < A_LAP:
            yield (
                f"{record.documents:,} documents are fewer than the {A_LAP:,} of a lap of most tournaments, whose laps "
                f"become shorter with it, and of a race nothing is measured that ends within its warm-up of 10 s "
                f"(--params warmup_time_period:0 leaves that out): import more files where you can."
            )
        yield f"Race on it: ./inv race --track {record.track} --corpus {record.name}"

    def _times(self) -> Iterator[str]:
        details = self.record.details
        yield f"Times from {details['first_time']} to {details['last_time']}."
        if details["first_time"] < _FIRST_LOGS and not details["shifted_seconds"]:
            yield (
                f"Times before {_FIRST_LOGS} are seldom meant: a field that counts from the start of a program is no "
                f"time of day. Name the right one with --time-field, or say how it is written with --time-format; "
                f"--shift-to-now moves all times."
            )
        if "year" in details["assumed"]:
            yield "Lines have no year: it was concluded from " + (
                f"--year {details['year']}, so check the times above."
                if details["year"]
                else "the time when each file was last changed, so check the times above; --year says otherwise."
            )
        elif details["year"]:
            yield f"--year {details['year']} was not used: all times have a year of their own."
        if "zone" in details["assumed"]:
            otherwise = "; --zone says otherwise" if details["zone"] == DEFAULT_ZONE else ""
            yield f"Times have no zone: they were taken as {details['zone']}{otherwise}."
        elif details["zone"] != DEFAULT_ZONE:
            yield f"--zone {details['zone']} was not used: all times have a zone of their own."
        if details["shifted_seconds"]:
            yield f"All times were moved by {details['shifted_seconds']:,} s, so that the last one is now."
        if details["backwards"]:
            yield (
                f"Time goes backwards {details['backwards']:,} times; the order was kept, because neither Rally nor "
                f"Elasticsearch needs another."
            )

    def _index_sentences(self) -> Iterator[str]:
        """What an index would refuse with its usual settings, though each document by itself is well."""
        details = self.record.details
        remedy = "so races on it will report errors: mend the log"
        yield from _first(
            f"The field '{name}' has {' and '.join(kinds)}: Elasticsearch may refuse those that differ from the "
            f"first; mend the log if a race reports errors."
            for name, kinds in details["mixed_fields"].items()
        )
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
