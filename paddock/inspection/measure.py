"""Inspects a log file or corpus, one pass over its lines in constant memory: what is found, and its text."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
import zstandard

from paddock.console import table
from paddock.errors import FileError, UsageError
from paddock.inspection.lines import LineTimes, combined_line, field_text, kind_of, read_line, read_lines
from paddock.inspection.terms import (
    MOST_FIELDS,
    SAMPLE_DOCUMENTS,
    Field,
    FieldCounter,
    Order,
    TermCounter,
    frequency_slope,
    heaps_exponent,
    rank_orders,
    terms_per_million,
)


@dataclass(frozen=True)
class Lengths:
    """The lengths of the lines, their ends not counted."""

    mean: float
    least: int
    most: int
    quantiles: dict[str, int]  # "p50" and the like
    percentiles: tuple[int, ...]  # 101 of them, from 0 % (the least) to 100 % (the most)


@dataclass(frozen=True)
class Compression:
    """How many times smaller zstd -3 makes it; None where there is not that much."""

    first_10000_lines: float | None
    first_250_kilobytes: float | None
    everything: float


@dataclass(frozen=True)
class Terms:
    """The terms of the text as a full-text index would see them; times are left out."""

    tokens: int
    unique: int
    exact: bool  # else `unique` is an estimate, within about half a per cent
    per_token: float
    per_token_of_250_kilobytes: float | None
    growth: tuple[tuple[int, int], ...]  # after so many documents, so many terms
    heaps_exponent: float | None  # None: too few documents to say
    per_million_documents: int | None
    per_million_measured: bool  # else reckoned from the end of the growth curve
    frequency_slope: float | None  # log frequency over log rank: -1 is Zipf's law
    ranks_fitted: int


@dataclass(frozen=True)
class Inspection:
    """Everything that is found in one file."""

    source: str
    kind: str  # "JSON documents", "access log" or "text"
    lines: int
    bytes: int  # of these lines, uncompressed, their ends included
    whole: bool  # False: the file goes on
    empty_lines: int
    undecodable_lines: int  # no UTF-8
    misfits: int  # lines that are not of this kind
    lengths: Lengths
    compression: Compression
    terms: Terms
    fields: tuple[Field, ...]
    further_fields: int  # beyond those listed
    orders: tuple[Order, ...]  # of documents, in which a sample becomes smaller; none for other lines
    time: LineTimes | None


USUAL_LINES = 1_000_000
LEVEL = 3  # of zstd
_SAMPLE_LINES, _SAMPLE_BYTES = 10_000, 250_000
_ORDERED_BYTES = 64 << 20  # no more of the documents are kept to be ordered
_BATCH_LINES, _BATCH_BYTES = 4096, 2 << 20  # so much waits to be counted
_ORDERS_SHOWN = 8
_QUANTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)

# Gives the line to inspect instead of the file's own, or None to leave it out.
View = Callable[[str], "str | None"]


def inspect(
    source: str,
    lines: int = USUAL_LINES,
    field: str = "",
    combined: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Inspection:
    """Measure the first ``lines`` lines of a file.

    :param source: a file, plain or compressed (gzip, bzip2, zstd); "-" is standard input.
    :param lines: how many at most; 0: all of them.
    :param field: inspect the text of this field of JSON documents instead of the whole lines.
    :param combined: inspect access-log documents as the combined log lines that they stand for.
    :param progress: is told how many further lines have been read, now and then.
    :raises FileError: if the file cannot be read, is no text, or has nothing of what is asked for.
    :raises UsageError: if the options contradict one another.
    """
    if field and combined:
        raise UsageError("--field and --combined both say what a line is: take one of them.")
    if lines < 0:
        raise UsageError(f"--lines {lines} is no number of lines: 0 means all.")
    view: View | None = combined_line if combined else partial(field_text, name=field) if field else None
    measuring = _Measuring(source, view)
    whole = True
    for number, line in enumerate(read_lines(source)):
        if number == lines != 0:
            whole = False
            break
        measuring.add(line)
        if progress and number % _BATCH_LINES == _BATCH_LINES - 1:
            progress(_BATCH_LINES)
    if not measuring.lines:
        what = "no document of an access log" if combined else f"no document with a field '{field}'"
        raise FileError(source, f"has {what if view else 'nothing but empty lines'}.")
    return measuring.result(whole)


class _Measuring:
    """What is known after some lines."""

    def __init__(self, source: str, view: View | None):
        self._source, self._view, self._kind = source, view, ""
        self.lines = 0  # those that count
        self._bytes = self._empty = self._undecodable = self._misfits = 0
        self._lengths: Counter[int] = Counter()  # n different lengths take n^2 / 2 bytes of file, so these are few
        self._first_lines, self._all_lines = _Zstd(), _Zstd()
        self._first_bytes, self._first_text = bytearray(), bytearray()
        self._first_documents: list[bytes] = []
        self._room = _ORDERED_BYTES
        self._batch: list[bytes] = []
        self._texts: list[str] = []
        self._batch_bytes = 0
        self._terms = TermCounter()
        self._growth: list[tuple[int, int]] = []
        # 1,000, 2,000, 5,000, 10,000 and so on without end.
        self._checkpoints = (times * 10**power for power in count(3) for times in (1, 2, 5))
        self._checkpoint = next(self._checkpoints)
        self._fields = FieldCounter()
        self._times = LineTimes()
        self._time_fields: Counter[str] = Counter()

    def add(self, raw: bytes) -> None:
        """Take in a line."""
        try:
            line = raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            self._undecodable += 1
        if not line.strip():
            self._empty += 1
            return
        if self._view:
            seen = self._view(line)
            if seen is None:
                self._misfits += 1
                return
            line = seen
            # A field's text may itself have several lines; surrogates come from JSON's escapes.
            raw = f"{line}\n".encode("utf-8", "replace")
        self._kind = self._kind or kind_of(line)
        content = read_line(line, self._kind)
        self.lines += 1
        self._misfits += not content.fits
        self._lengths[len(raw.rstrip(b"\r\n"))] += 1
        self._bytes += len(raw)
        if content.leaves:
            self._fields.add(content.leaves)
            if len(self._first_documents) < SAMPLE_DOCUMENTS and self._room > 0:
                self._first_documents.append(raw)
                self._room -= len(raw)
        self._times.tick(content.time)
        self._time_fields[content.time_field] += 1
        self._batch.append(raw)
        self._texts.append(content.text)
        self._batch_bytes += len(raw)
        if len(self._batch) == _BATCH_LINES or self._batch_bytes >= _BATCH_BYTES:
            self._settle()
        if self.lines == self._checkpoint:
            self._settle()
            self._growth.append((self.lines, self._terms.unique))
            self._checkpoint = next(self._checkpoints)
        if self.lines == _SAMPLE_LINES:
            self._settle()

    def _settle(self) -> None:
        """Count what has been waiting."""
        raw = b"".join(self._batch)
        text = "\n".join(self._texts).encode("utf-8", "replace") + b"\n"
        self._all_lines.add(raw)
        if self.lines <= _SAMPLE_LINES:
            self._first_lines.add(raw)
        self._first_bytes += raw[: _SAMPLE_BYTES - len(self._first_bytes)]
        self._first_text += text[: _SAMPLE_BYTES - len(self._first_text)]
        self._terms.add_words(text)
        self._fields.settle()
        self._batch.clear()
        self._texts.clear()
        self._batch_bytes = 0

    def result(self, whole: bool) -> Inspection:
        """What was found."""
        self._settle()
        if not self._growth or self._growth[-1][0] != self.lines:
            self._growth.append((self.lines, self._terms.unique))
        self._times.where = next((name for name, _ in self._time_fields.most_common() if name), "line")
        percentiles = quantiles(self._lengths, [percent / 100 for percent in range(101)])
        first_bytes = _Zstd()
        first_bytes.add(bytes(self._first_bytes))
        return Inspection(
            source=self._source,
            kind=self._kind,
            lines=self.lines,
            bytes=self._bytes,
            whole=whole,
            empty_lines=self._empty,
            undecodable_lines=self._undecodable,
            misfits=self._misfits,
            lengths=Lengths(
                mean=sum(length * times for length, times in self._lengths.items()) / self.lines,
                least=min(self._lengths),
                most=max(self._lengths),
                quantiles={f"p{percent}": percentiles[percent] for percent in _QUANTILES},
                percentiles=tuple(percentiles),
            ),
            compression=Compression(
                first_10000_lines=self._first_lines.ratio() if self.lines >= _SAMPLE_LINES else None,
                first_250_kilobytes=first_bytes.ratio() if len(self._first_bytes) == _SAMPLE_BYTES else None,
                everything=self._all_lines.ratio(),
            ),
            terms=self._term_statistics(),
            fields=self._fields.fields(),
            further_fields=self._fields.further(),
            orders=rank_orders(self._first_documents),
            time=self._times if self._times.share else None,
        )

    def _term_statistics(self) -> Terms:
        terms = self._terms
        exponent, ranks = frequency_slope(terms.frequencies(), terms.one_in)
        per_million, measured = terms_per_million(self._growth)
        sample = None
        if len(self._first_text) == _SAMPLE_BYTES:
            counter = TermCounter(1 << 18)  # 250 kB are not more than 125,000 terms
            counter.add_words(bytes(self._first_text))
            sample = counter.unique / max(counter.occurrences, 1)
        return Terms(
            tokens=terms.occurrences,
            unique=terms.unique,
            exact=terms.exact,
            per_token=terms.unique / max(terms.occurrences, 1),
            per_token_of_250_kilobytes=sample,
            growth=tuple(self._growth),
            heaps_exponent=heaps_exponent(self._growth),
            per_million_documents=per_million,
            per_million_measured=measured,
            frequency_slope=exponent,
            ranks_fitted=ranks,
        )


def quantiles(lengths: Counter[int], shares: Sequence[float]) -> list[int]:
    """The smallest lengths that at least such shares (0 to 1, rising) of all do not exceed."""
    values = np.array(sorted(lengths))
    reached = np.cumsum([lengths[int(value)] for value in values])
    # Rounded before it is rounded up: 0.07 * 100 is a little more than 7.
    wanted = np.maximum(1, np.ceil(np.round(np.asarray(shares) * reached[-1], 6)))
    return [int(value) for value in values[np.searchsorted(reached, wanted)]]


class _Zstd:
    """How far zstd -3 shrinks what is added."""

    def __init__(self) -> None:
        self._stream = zstandard.ZstdCompressor(level=LEVEL).compressobj()
        self._before = self._after = 0

    def add(self, raw: bytes) -> None:
        self._before += len(raw)
        self._after += len(self._stream.compress(raw))

    def ratio(self) -> float:
        return self._before / (self._after + len(self._stream.flush()))


_SIZES_PER_ROW = 12
_LARGEST_SIZE = 1_000_000  # that a recipe may ask for


def render(found: Inspection) -> str:
    """Several short tables, and the lengths as a recipe takes them."""
    parts = [
        table(["", ""], list(_overview(found))).lstrip("\n"),
        table(["documents", "unique terms"], [[f"{at:,}", f"{terms:,}"] for at, terms in found.terms.growth]),
    ]
    if found.fields:
        rows = [
            [field.name, ", ".join(field.types), f"{field.share:.1%}", _number(field.distinct, field.exact)]
            for field in found.fields
        ]
        parts.append(table(["field", "type", "present", "different values"], rows))
    if found.further_fields:
        parts.append(f"Fields beyond the first {MOST_FIELDS}, not listed: {found.further_fields:,}.")
    if found.orders:
        shown = found.orders[:_ORDERS_SHOWN]
        rows = [[order.field, f"{1 - order.share:.0%}"] for order in shown]
        parts.append(table(["sorted by", "a sample becomes smaller by"], rows))
        if addresses := " and ".join(order.field for order in shown if order.addresses):
            parts.append(
                f"No index is sorted by a field of the type ip: {addresses} ranks here as a keyword, and would have to "
                f"be mapped as one."
            )
    parts.append(f"Sizes for a recipe (corpora/README.md):\n{recipe_sizes(found)}")
    return "\n\n".join(parts)


def recipe_sizes(found: Inspection) -> str:
    """The lengths of the lines as the section `size` of a recipe, whose sizes include the line's end; YAML."""
    sizes = [min(length + 1, _LARGEST_SIZE) for length in found.lengths.percentiles]
    if sizes[0] == sizes[-1]:
        return f"size: {{fixed: {sizes[0]}}}"
    rows = (sizes[begin : begin + _SIZES_PER_ROW] for begin in range(0, len(sizes), _SIZES_PER_ROW))
    listed = ",\n    ".join(", ".join(map(str, row)) for row in rows)
    return f"size:\n  quantiles: [\n    {listed}]"


def _overview(found: Inspection) -> Iterator[tuple[str, str]]:
    yield "file", found.source
    yield "kind", found.kind
    yield "lines", f"{found.lines:,}{'' if found.whole else ' (the file goes on; --lines 0 reads all)'}"
    odd = {
        "lines of another kind": found.misfits,
        "empty lines, left out": found.empty_lines,
        "lines that are no UTF-8": found.undecodable_lines,
    }
    yield from ((what, f"{times:,}") for what, times in odd.items() if times)
    yield "bytes", f"{found.bytes:,}"
    lengths = found.lengths
    yield "line length: mean, range", f"{lengths.mean:,.1f}, {lengths.least:,} to {lengths.most:,} bytes"
    yield "line length: quantiles", "  ".join(f"{name} {value:,}" for name, value in lengths.quantiles.items())
    packed = found.compression
    if packed.first_10000_lines:
        yield "zstd -3, first 10,000 lines", f"{packed.first_10000_lines:.2f} times smaller"
    if packed.first_250_kilobytes:
        yield "zstd -3, first 250 kB", f"{packed.first_250_kilobytes:.2f} times smaller"
    yield "zstd -3, all these lines", f"{packed.everything:.2f} times smaller"
    yield from _terms(found.terms)
    yield from _times(found.time) if found.time else [("time", "none found")]


def _terms(terms: Terms) -> Iterator[tuple[str, str]]:
    yield "terms (times left out)", f"{terms.tokens:,}, {_number(terms.unique, terms.exact)} of them unique"
    share = f"{terms.per_token:.4f}"
    if terms.per_token_of_250_kilobytes is not None:
        share += f"; of the first 250 kB of text {terms.per_token_of_250_kilobytes:.3f}"
    yield "unique terms per term", share
    if terms.per_million_documents is not None:
        how = "" if terms.per_million_measured else " (if they go on as below; fewer if that slows down)"
        yield "unique terms per million", f"{terms.per_million_documents:,}{how}"
    if terms.heaps_exponent is not None:
        yield "growth (Heaps' exponent)", f"{terms.heaps_exponent:.2f}"
    if terms.frequency_slope is not None:
        yield "term frequency over rank", f"slope {terms.frequency_slope:.2f}, ranks 1 to {terms.ranks_fitted:,}"


def _times(time: LineTimes) -> Iterator[tuple[str, str]]:
    form = "%Y-%m-%d %H:%M:%S" if time.has_year else "%d %b %H:%M:%S"
    first, last = (
        datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(form)
        for seconds in (time.first, time.last)
    )
    doubts = [text for text, known in (("no year", time.has_year), ("no zone", time.has_zone)) if not known]
    yield "time", f"{first} to {last} UTC{' (' + ', '.join(doubts) + ')' if doubts else ''}"
    yield "time stands in", f"{time.where}, {time.share:.1%} of the lines"
    back = f"{time.steps_back:,} lines go back, by {time.largest_step_back:,.3f} s at most"
    yield "order", back if time.steps_back else "never goes back"


def _number(value: int, exact: bool) -> str:
    return f"{value:,}" if exact else f"about {value:,}"
