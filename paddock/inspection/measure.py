"""Inspects a log file or corpus: one pass over its lines, in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import zstandard

from paddock.errors import FileError, UsageError
from paddock.inspection.lines import Clock, combined_line, field_text, kind_of, read_line, read_lines
from paddock.inspection.model import (
    Compression,
    Inspection,
    Lengths,
    Terms,
    frequency_slope,
    heaps_exponent,
    quantiles,
    terms_per_million,
)
from paddock.inspection.terms import FieldCounter, TermCounter

USUAL_LINES = 1_000_000
LEVEL = 3  # of zstd
_SAMPLE_LINES, _SAMPLE_BYTES = 10_000, 250_000
_BATCH_LINES, _BATCH_BYTES = 4096, 2 << 20  # so much waits to be counted
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
    view: View | None = combined_line if combined else None
    if field:
        view = lambda line: field_text(line, field)  # noqa: E731 - a named function would say no more
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
        self._source = source
        self._view = view
        self._kind = ""
        self.lines = 0  # those that count
        self._bytes = self._empty = self._undecodable = self._misfits = 0
        self._lengths: Counter[int] = Counter()  # n different lengths take n^2 / 2 bytes of file, so these are few
        self._first_lines: zstandard.ZstdCompressionObj | None = _compressor()
        self._all_lines = _compressor()
        self._first_lines_size = self._all_size = 0
        self._first_lines_bytes = 0
        self._first_bytes = bytearray()
        self._first_text = bytearray()
        self._batch: list[bytes] = []
        self._texts: list[str] = []
        self._batch_bytes = 0
        self._terms = TermCounter()
        self._growth: list[tuple[int, int]] = []
        self._checkpoints = _checkpoints()
        self._checkpoint = next(self._checkpoints)
        self._fields = FieldCounter()
        self._clock = Clock()
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
        self._clock.tick(content.time)
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
            self._end_first_lines()

    def _settle(self) -> None:
        """Count what has been waiting."""
        raw = b"".join(self._batch)
        text = "\n".join(self._texts).encode("utf-8", "replace") + b"\n"
        self._all_size += len(self._all_lines.compress(raw))
        if self._first_lines:
            self._first_lines_size += len(self._first_lines.compress(raw))
            self._first_lines_bytes += len(raw)
        self._first_bytes += raw[: _SAMPLE_BYTES - len(self._first_bytes)]
        self._first_text += text[: _SAMPLE_BYTES - len(self._first_text)]
        self._terms.add_words(text)
        self._fields.settle()
        self._batch.clear()
        self._texts.clear()
        self._batch_bytes = 0

    def _end_first_lines(self) -> None:
        if self._first_lines:
            self._first_lines_size += len(self._first_lines.flush())
            self._first_lines = None

    def result(self, whole: bool) -> Inspection:
        """What was found."""
        self._settle()
        self._all_size += len(self._all_lines.flush())
        if not self._growth or self._growth[-1][0] != self.lines:
            self._growth.append((self.lines, self._terms.unique))
        where = next((name for name, _ in self._time_fields.most_common() if name), "line")
        return Inspection(
            source=self._source,
            kind=self._kind,
            lines=self.lines,
            bytes=self._bytes,
            whole=whole,
            empty_lines=self._empty,
            undecodable_lines=self._undecodable,
            misfits=self._misfits,
            lengths=self._length_statistics(),
            compression=self._compression(),
            terms=self._term_statistics(),
            fields=self._fields.fields(),
            further_fields=self._fields.further(),
            time=self._clock.range(where),
        )

    def _length_statistics(self) -> Lengths:
        found = quantiles(self._lengths, [percent / 100 for percent in _QUANTILES])
        return Lengths(
            mean=sum(length * count for length, count in self._lengths.items()) / self.lines,
            least=min(self._lengths),
            most=max(self._lengths),
            quantiles={f"p{percent}": value for percent, value in zip(_QUANTILES, found, strict=True)},
            percentiles=tuple(quantiles(self._lengths, [percent / 100 for percent in range(101)])),
        )

    def _compression(self) -> Compression:
        first_bytes = None
        if len(self._first_bytes) == _SAMPLE_BYTES:
            compressed = zstandard.ZstdCompressor(level=LEVEL).compress(bytes(self._first_bytes))
            first_bytes = _SAMPLE_BYTES / len(compressed)
        return Compression(
            first_10000_lines=None if self._first_lines else self._first_lines_bytes / self._first_lines_size,
            first_250_kilobytes=first_bytes,
            everything=self._bytes / self._all_size,
        )

    def _term_statistics(self) -> Terms:
        exponent, ranks = frequency_slope(self._terms.frequencies(), self._terms.one_in)
        per_million, measured = terms_per_million(self._growth)
        sample = None
        if len(self._first_text) == _SAMPLE_BYTES:
            counter = TermCounter(1 << 18)  # 250 kB are not more than 125,000 terms
            counter.add_words(bytes(self._first_text))
            sample = counter.unique / max(counter.occurrences, 1)
        return Terms(
            tokens=self._terms.occurrences,
            unique=self._terms.unique,
            exact=self._terms.exact,
            per_token=self._terms.unique / max(self._terms.occurrences, 1),
            per_token_of_250_kilobytes=sample,
            growth=tuple(self._growth),
            heaps_exponent=heaps_exponent(self._growth),
            per_million_documents=per_million,
            per_million_measured=measured,
            frequency_slope=exponent,
            ranks_fitted=ranks,
        )


def _compressor() -> zstandard.ZstdCompressionObj:
    return zstandard.ZstdCompressor(level=LEVEL).compressobj()


def _checkpoints() -> Iterator[int]:
    """1,000, 2,000, 5,000, 10,000 and so on without end."""
    power = 1000
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10
