"""Which format fits the beginning of a log."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from paddock.errors import FileError
from paddock.imports.formats.base import NO_TIME_READ
from paddock.imports.formats.catalogue import AUTOMATIC, TRACK_OF_FORMAT, FormatChoice
from paddock.imports.formats.expressions import compile_grok
from paddock.imports.formats.json_lines import no_time_field
from paddock.imports.parsing import BlockParser, Parsed, ParsingPlan
from paddock.imports.shape import Shape
from paddock.imports.sources import Block, Source
from paddock.imports.text import decoded, encoded
from paddock.imports.times import YearRule

SAMPLE_LINES = 1000
_ENOUGH = 0.5  # of the lines; whether the rest is too much is for the limit of bad lines to say
_ANY_SHAPE = Shape("", strict=False, properties={})
_NO_LINES = re.compile(rb"\s*(?:\[\s*[{\]]|\{\s*\n)")  # how JSON begins that has no object per line
_OTHER_FIELD = ", or with --time-field which field has it"
_LONGEST_SHOWN, _MOST_NAMES = 60, 10
_DESCRIBED_LINES, _LINES_TO_DESCRIBE, _LONGEST_DESCRIBED = 100, 3, 2000
# Patterns of times that a log may have, with the forms that --time-format has to name (None: it is known).
_TIMES: dict[str, tuple[str | None, ...]] = {
    "%{TIMESTAMP_ISO8601:time}": (None,),
    "%{HTTPDATE:time}": (None,),
    "%{SYSLOGTIMESTAMP:time}": (None,),
    "%{DATESTAMP:time}": tuple(
        f"{day} %H:%M:%S{part}" for part in ("", ".%f", ",%f") for day in ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
    ),
    r"(?<time>1\d{9}(?:\d{3})?(?:\.\d+)?)": (None,),  # seconds or milliseconds since 1970
}


@dataclass(frozen=True)
class Fit:
    """How well a format fits: ``fitting`` of ``lines`` lines are events or belong to one's stack trace."""

    format: str
    fitting: int
    lines: int

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.fitting / self.lines if self.lines else 0.0


def choose_format(choice: FormatChoice, source: Source, say: Callable[[str], None]) -> FormatChoice:
    """The format to use: the one asked for if it fits at all, or the best fit where none was asked for.

    :raises FileError: if another one fits and this one does not, or none does; says which fits best.
    """
    sample = sample_block(source)
    found: list[Fit] | None = None
    asked = choice
    if choice.name == AUTOMATIC:
        found = fits(choice, sample)
        if found[0].share >= _ENOUGH:
            say(f"{fits_sentence(found)}; taking {found[0].format}.")
            return replace(choice, name=found[0].format)
        asked = replace(choice, name="json-lines")
    tried = try_out(asked, sample)
    fit = _fit(asked.short_name, tried)
    if choice.name != AUTOMATIC and fit.share >= _ENOUGH:
        return choice
    if _NO_LINES.match(sample.data):
        is_array = sample.data.lstrip().startswith(b"[")
        whole, remedy = ("array", ".[]") if is_array else ("object over several lines", ".")
        raise FileError(
            source.label,
            f"this is JSON, but one {whole}, and an import takes an object per line: make them with "
            f"\"jq -c '{remedy}' {source.label} | ./inv corpus.import - --name NAME\".",
        )
    lines = f"the first {fit.lines:,} lines"
    untimed = [bad for bad in tried.bad if bad[1] == NO_TIME_READ]
    if len(untimed) >= _ENOUGH * fit.lines > 0:
        raise FileError(
            source.label,
            f"the format {fit.format} fits {len(untimed):,} of {lines}, but their time "
            f"{unread_time(asked, untimed[0][2])}cannot be read: say how it is written with --time-format, for example "
            f"'%d.%m.%Y %H:%M:%S', 'epoch' or 'epoch-ms'{_OTHER_FIELD if asked.name == 'json-lines' else ''}.",
            untimed[0][0],
        )
    reason = no_time_field(asked.time_field)
    objects = [line for _, why, line in tried.bad if why == reason]
    if len(objects) >= _ENOUGH * fit.lines > 0:
        raise FileError(
            source.label,
            f"{len(objects):,} of {lines} are JSON, but have {reason} (the first one has {_names(objects[0])}): "
            f"--time-field names the one with the time; where there is none, give each line one, for example with "
            f"\"jq -c '.time = now + input_line_number' {source.label} | ./inv corpus.import - --name NAME\".",
        )
    if found is None:
        found = fits(choice, sample)
        if fit.fitting and found[0].share < _ENOUGH:
            return choice
        problem = f"the format {fit.format} fits {fit.fitting:,} of {lines}"
    else:
        problem = f"no format fits most of {lines}"
    advice = fits_sentence(found) if found[0].fitting else _described(choice, sample)
    raise FileError(source.label, f"{problem}. {advice}.")


def sample_block(source: Source) -> Block:
    """The first lines of a source."""
    data = source.beginning(SAMPLE_LINES)
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return Block(source.label, 1, lines, data, YearRule(source.modified))


def try_out(choice: FormatChoice, sample: Block) -> Parsed:
    """What a format makes of a sample."""
    return BlockParser(ParsingPlan(choice, _ANY_SHAPE)).parse(sample)


def fits(choice: FormatChoice, sample: Block) -> list[Fit]:
    """All formats that need no expression, the best fit first, with the zone and time format of ``choice``."""
    tried = [_try(replace(choice, name=name), sample) for name in TRACK_OF_FORMAT]
    return sorted(tried, key=lambda fit: -fit.fitting)


def fits_sentence(found: Sequence[Fit]) -> str:
    """The best fits in words."""
    best = [fit for fit in found[:2] if fit.fitting]
    return "The best fit is " + ", then ".join(f"{fit.format} ({fit.fitting:,} of {fit.lines:,} lines)" for fit in best)


def unread_time(choice: FormatChoice, line: str) -> str:
    """The time of a line that cannot be read, in quotes and with a space behind it; nothing if there is none."""
    unread = try_out(choice, Block("", 1, 1, encoded(line), YearRule(0))).unread
    return f"'{unread[:_LONGEST_SHOWN]}' " if unread else ""


def _names(line: str) -> str:
    """The fields of an object of JSON."""
    names = list(json.loads(line))
    return ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")


def _described(choice: FormatChoice, sample: Block) -> str:
    """How a log that no known format fits can be described: with an expression that reads most of these lines."""
    advice = "No format that is known fits any of them; describe it with --format 'regex=...' or 'grok=...'"
    data = b"".join(sample.data.splitlines(keepends=True)[:_DESCRIBED_LINES])
    lines = [line for line in decoded(data).splitlines() if line.strip() and len(line) < _LONGEST_DESCRIBED]
    best, most = choice, 0
    for candidate in (each for line in lines[:_LINES_TO_DESCRIBE] for each in _descriptions(choice, line)):
        fitting = try_out(candidate, replace(sample, data=data)).documents
        if fitting > most:
            best, most = candidate, fitting
    if most < _ENOUGH * len(lines) or not most:
        return f"{advice}, with a field for the time"
    form = f" --time-format {shlex.quote(best.time_format)}" if best.time_format else ""
    words = f"--format {shlex.quote(best.name)}{form}"
    return f"{advice}, for example {words}, which reads {most:,} of the first {len(lines):,} lines"


def _descriptions(choice: FormatChoice, line: str) -> Iterator[FormatChoice]:
    """Formats that may read lines like this one: its first time, perhaps a level, and a message."""
    for pattern, forms in _TIMES.items():
        found = re.search(compile_grok(pattern)[0], line)
        if not found:
            continue
        before, behind = line[: found.start()], line[found.end() :]
        sign = re.search(r"\W*$", before)
        begin = ("%{DATA:prefix}" if re.search(r"\w", before) else "") + _literal(sign[0] if sign else "")
        level = re.match(r"\W*(?=(\w+))", behind)
        for rest in (
            *([f"{_literal(level[0])}%{{LOGLEVEL:level}} *%{{GREEDYDATA:message}}"] if level else []),
            f"{_literal(level[0] if level else '')}%{{GREEDYDATA:message}}",
        ):
            for form in [choice.time_format] if choice.time_format else forms:
                yield replace(choice, name=f"grok={begin}{pattern}{rest}", time_field=None, time_format=form)


def _literal(text: str) -> str:
    return re.escape(text).replace("\\ ", " ")


def _try(choice: FormatChoice, sample: Block) -> Fit:
    field = choice.time_field if choice.name == "json-lines" else None
    return _fit(choice.name, try_out(replace(choice, time_field=field), sample))


def _fit(name: str, parsed: Parsed) -> Fit:
    return Fit(name, parsed.documents + parsed.traces, parsed.lines - parsed.blank)
