"""An import from beginning to end: look at the files, choose the format, parse, write, finish."""

from __future__ import annotations

import datetime
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from paddock.corpora.record import (
    FROM_IMPORT,
    CorpusRecord,
    Provenance,
    companion_files,
    corpus_file,
    corpus_name,
    finish_corpus,
    unfinished,
)
from paddock.corpora.store import Progress, list_corpora
from paddock.corpora.writer import CorpusWriter, Written
from paddock.errors import UsageError
from paddock.files import require_room
from paddock.imports import ImportOptions
from paddock.imports.detect import choose_format, sample_block, try_out, unread_time
from paddock.imports.formats.base import NO_TIME_READ, TOO_LONG
from paddock.imports.formats.catalogue import FormatChoice
from paddock.imports.options import BadLineLimit, anonymisation_key, check_options, expanded, format_choice
from paddock.imports.parsing import BlockParser, ParsingPlan, parse_all
from paddock.imports.shape import TIME_FIELD, Shape, track_shape
from paddock.imports.sources import BLOCK_BYTES, Block, LongLine, Source, blocks, open_sources
from paddock.imports.summary import BadLines, ImportSummary, Totals
from paddock.imports.text import decoded
from paddock.imports.times import Clock, IsoTimes, YearRule, read_zone
from paddock.paths import data_folder

_A_DAY = 86_400
_MOST_LEFT_OUT = 9  # times as many values as are kept
_UNFOLDED = 5  # what a compressed log grows to at the least


def import_corpus(
    options: ImportOptions,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
    processes: int | None = None,
) -> ImportSummary:
    """Make a corpus of log files.

    :param say: is told what the user did not ask for and should know while it runs.
    :param processes: how many parse; None: one for each CPU that this process may use.
    :raises UsageError: options, files or lines are wrong: too many bad lines, another format, nothing to import.
    :raises MachineError: the disk is full or cannot be written to.
    """
    limit = check_options(options)
    key = anonymisation_key(options)
    sources = open_sources(expanded(options.files))
    choice = choose_format(format_choice(options), sources[0], say)
    track = options.track or choice.track
    shape = track_shape(track)
    earlier = _earlier_imports(track, options)
    ordered = _in_order(sources, choice, options.year)
    if [source for source, _ in ordered] != sources:
        say(f"In the order of their first time stamps: {', '.join(source.label for source, _ in ordered)}.")
    _check_first_lines(choice, shape, sources[0])
    folder = data_folder(corpus_name(track))
    # JSON is never shorter than the lines of a log.
    least = sum(source.size * (_UNFOLDED if source.compression else 1) for source in sources)
    require_room(folder, least * (2 if options.shift_to_now else 1), f"The corpus '{options.name}'")
    work = _Import(options, ParsingPlan(choice, shape, key), ordered, limit, folder)
    with unfinished(track) as temporary:
        earlier = _earlier_imports(track, options)  # another import may have ended while this one waited for the lock
        summary = work.run(temporary, track, progress, processes)
        for record in earlier:
            if record.file != summary.record.file:
                for file in (*companion_files(record.file), record.file):
                    file.unlink(missing_ok=True)
    return summary


@dataclass(frozen=True)
class _Import:
    """One import whose options have been checked and whose files have been looked at."""

    options: ImportOptions
    plan: ParsingPlan
    sources: list[tuple[Source, YearRule]]
    limit: BadLineLimit
    folder: Path
    totals: Totals = field(default_factory=Totals)

    def run(self, temporary: Path, track: str, progress: Progress | None, processes: int | None) -> ImportSummary:
        began = time.monotonic()
        options, totals = self.options, self.totals
        total = sum(source.size for source, _ in self.sources)
        shown = progress(f"Importing '{options.name}'", total) if progress else nullcontext()
        unshifted = temporary.with_suffix(".unshifted") if options.shift_to_now else temporary
        try:
            with shown as advance, closing(BadLines(self.folder, options.name)) as bad:
                written = self._parse_and_write(unshifted, bad, advance, processes)
            seconds = self._seconds_to_now()
            if seconds is not None:
                written = _write_shifted(unshifted, temporary, seconds)
        finally:
            if unshifted != temporary:
                unshifted.unlink(missing_ok=True)
        if options.audit:
            totals.audit.write(Path(options.audit).expanduser(), {name for name, _ in totals.kinds})
        details = totals.details(
            bad.reasons,
            sources=[
                {"name": source.label, "bytes": source.size, "lines": totals.lines_of[source.label]}
                for source, _ in self.sources
            ],
            format=self.plan.choice.name,
            zone=options.zone,
            year=options.year,
            time_field=options.time_field,
            time_format=options.time_format,
            anonymised=options.anonymise,
            shifted_seconds=seconds or 0,
        )
        file = corpus_file(track, options.name, written.documents)
        record = finish_corpus(temporary, written, file, Provenance(options.name, track, FROM_IMPORT, details=details))
        return ImportSummary(record, bad.keep(), time.monotonic() - began, totals.read_bytes, options.audit)

    def _parse_and_write(
        self, file: Path, bad: BadLines, advance: Callable[[int], None] | None, processes: int | None
    ) -> Written:
        totals = self.totals
        with CorpusWriter(file) as writer:
            for result in parse_all(self._blocks(advance), self.plan, processes):
                totals.add(result)
                if isinstance(result, LongLine):
                    text = f"{decoded(result.beginning)} ... ({result.size:,} bytes)"
                    bad.add(result.source, result.line, TOO_LONG, text)
                else:
                    for line, reason, text in result.bad:
                        bad.add(result.source, line, reason, text)
                    if result.documents:
                        writer.write(result.data, result.documents)
                self._check_limit(bad, at_the_end=False)
            self._check_limit(bad, at_the_end=True)
            _check_left_out(self.plan.shape, totals.fields, totals.left_out)
            if totals.documents == 0:
                reason, (place, _) = next(iter(bad.first.items()), ("all are blank", ("", "")))
                where = f", first at {place}; see {bad.file}" if place else ""
                raise UsageError(
                    f"None of the {totals.lines:,} lines is an event ({reason}{where}): there is nothing to import."
                )
            return writer.finish()

    def _blocks(self, advance: Callable[[int], None] | None) -> Iterator[Block | LongLine]:
        """The blocks of all sources, counting the bytes on the way."""
        start = self.plan.choice.build().start
        event_start = re.compile(start.pattern.encode("ascii")) if start else None
        for source, years in self.sources:
            for item in blocks(source.pieces(advance), source.label, years, event_start):
                self.totals.read_bytes += len(item.data) if isinstance(item, Block) else item.size + 1
                yield item

    def _check_limit(self, bad: BadLines, at_the_end: bool) -> None:
        if not self.limit.exceeded(bad.count, self.totals.lines, at_the_end):
            return
        reason, _ = bad.reasons.most_common(1)[0]
        place, line = bad.first[reason]
        value = f"{unread_time(self.plan.choice, line)}is the " if reason == NO_TIME_READ else ""
        raise UsageError(
            f"{bad.count:,} of the first {self.totals.lines:,} lines are bad, more than --max-bad {self.limit.text} "
            f"allows; most often: {reason} ({value}first, at {place}). They are in {bad.file}: mend the log, "
            f"{_remedy(reason)}, or raise --max-bad."
        )

    def _seconds_to_now(self) -> int | None:
        """How far all times have to be moved; None if that is not wanted.

        :raises UsageError: if the earliest one would be moved before the year 1.
        """
        earliest, latest = self.totals.times.earliest, self.totals.times.latest
        if not self.options.shift_to_now or earliest is None or latest is None:
            return None
        seconds, times = int(time.time()) - latest // 1000, IsoTimes()
        try:
            times.text(earliest + seconds * 1000)
        except OverflowError:
            raise UsageError(
                f"Times are from {times.text(earliest)} to {times.text(latest)}, too far apart for --shift-to-now: "
                f"leave it out, or take the lines with the wrong times out."
            ) from None
        return seconds


def _earlier_imports(track: str, options: ImportOptions) -> list[CorpusRecord]:
    """Corpora that were imported under this name.

    :raises UsageError: if there are some and they are not to be replaced.
    """
    found = [record for record in list_corpora(track) if record.origin == FROM_IMPORT and record.name == options.name]
    if found and not options.force:
        raise UsageError(
            f"There is an imported corpus '{options.name}' of the track {track} already ({found[0].file.name}): choose "
            f"another --name, or replace it with --force."
        )
    return found


def _in_order(sources: list[Source], choice: FormatChoice, year: int | None) -> list[tuple[Source, YearRule]]:
    """The sources by their first time stamp, each with the rule for its years; as given if one shows no time.

    A rotated set comes out in the order in which it was written, whatever its names.
    """
    found = []
    for source in sources:
        years = YearRule(source.modified)
        if year is not None:
            new_year = datetime.datetime(year, 1, 1, tzinfo=read_zone(choice.zone))
            # The rule has a day to spare, which would lead into December.
            years = YearRule(new_year.timestamp() + _A_DAY, before=False)
        first = try_out(choice, replace(sample_block(source), years=years)).times.first
        if year is not None and first is not None:
            years = YearRule(first / 1000, before=False)
        found.append((source, years, first))
    times = [first for _, _, first in found if first is not None]
    if len(times) == len(found):
        found.sort(key=lambda each: each[2] or 0)
    return [(source, years) for source, years, _ in found]


def _check_first_lines(choice: FormatChoice, shape: Shape, source: Source) -> None:
    """Refuse a track that has no place for what the log says, before anything is written.

    :raises UsageError: if nearly all fields would be left out.
    """
    plan = ParsingPlan(choice, shape)
    if not plan.in_bulk:
        parsed = BlockParser(plan).parse(sample_block(source))
        _check_left_out(shape, parsed.fields, parsed.left_out)


def _remedy(reason: str) -> str:
    if reason == NO_TIME_READ:
        return "say with --time-format how times are written"
    if "as the track" in reason:
        return "take another track's documents, such as --track logs, which takes any values"
    return "choose another --format"


def _check_left_out(shape: Shape, kept: int, left_out: Counter[str]) -> None:
    """Refuse documents of which hardly anything is left.

    :raises UsageError: if the track has no place for nearly all values.
    """
    lost = sum(left_out.values())
    if lost > kept * _MOST_LEFT_OUT:
        names = ", ".join(name for name, _ in left_out.most_common(5))
        raise UsageError(
            f"The track {shape.track} has no field for nearly all that these lines say ({names}): leave --track out, "
            f"or name one that has, such as --track logs, which takes any fields."
        )


_BEGIN = len(f'{{"{TIME_FIELD}":"')
_LENGTH = len("2026-01-05T10:00:00")


def _write_shifted(source: Path, target: Path, seconds: int) -> Written:
    """Write the documents of a file, lines that begin with their times, with these so many seconds later."""
    clock, times = Clock(), IsoTimes()
    with source.open("rb") as stream, CorpusWriter(target) as writer:
        pieces = iter(lambda: stream.read(BLOCK_BYTES), b"")
        for block in blocks(pieces, str(source), YearRule(0), longest=sys.maxsize):
            if isinstance(block, LongLine):
                raise RuntimeError("no line is too long")
            data = np.frombuffer(bytearray(block.data), np.uint8)
            begins = np.concatenate(([0], np.flatnonzero(data == ord("\n"))[:-1] + 1)) + _BEGIN
            places = begins[:, None] + np.arange(_LENGTH)
            seen = data[places]
            # Consecutive documents often have the same second.
            changes = np.concatenate(([True], np.any(seen[1:] != seen[:-1], axis=1)))
            moved = b"".join(
                times.text(clock.milliseconds(text.decode("ascii")) + seconds * 1000)[:_LENGTH].encode("ascii")
                for text in seen[changes].view(f"S{_LENGTH}")[:, 0].tolist()
            )
            data[places] = np.frombuffer(moved, np.uint8).reshape(-1, _LENGTH)[np.cumsum(changes) - 1]
            writer.write(data.tobytes(), block.lines)
        return writer.finish()
