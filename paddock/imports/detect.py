"""Which format fits the beginning of a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paddock.errors import FileError
from paddock.imports.formats.base import NO_TIME_READ
from paddock.imports.formats.catalogue import AUTOMATIC, TRACK_OF_FORMAT, FormatChoice
from paddock.imports.parsing import BlockParser, Parsed, ParsingPlan
from paddock.imports.shape import Shape
from paddock.imports.sources import Block, Source
from paddock.imports.times import YearRule

SAMPLE_LINES = 1000
_ENOUGH = 0.5  # of the lines; whether the rest is too much is for the limit of bad lines to say
_ANY_SHAPE = Shape("", strict=False, properties={})


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
    if choice.name != AUTOMATIC:
        tried = try_out(choice, sample)
        asked = _fit(choice.short_name, tried)
        if asked.share >= _ENOUGH:
            return choice
        untimed = [line for line, reason, _ in tried.bad if reason == NO_TIME_READ]
        if len(untimed) >= _ENOUGH * asked.lines > 0:
            raise FileError(
                source.label,
                f"the format {asked.format} fits {len(untimed):,} of the first {asked.lines:,} lines, but their time "
                f"cannot be read: say how it is written with --time-format, for example '%d.%m.%Y %H:%M:%S', 'epoch' "
                f"or 'epoch-ms'.",
                untimed[0],
            )
        found = fits(choice, sample)
        if asked.fitting and found[0].share < _ENOUGH:
            return choice
        raise FileError(
            source.label,
            f"the format {asked.format} fits {asked.fitting:,} of the first {asked.lines:,} lines. "
            f"{fits_sentence(found)}.",
        )
    found = fits(choice, sample)
    if found[0].share < _ENOUGH:
        raise FileError(
            source.label,
            f"no format fits most of the first {found[0].lines:,} lines. {_json_sentence(choice, sample, found)}.",
        )
    say(f"{fits_sentence(found)}; taking {found[0].format}.")
    return replace(choice, name=found[0].format)


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
    if not best:
        return "No format that is known fits any of them; describe it with --format 'regex=...' or 'grok=...'"
    return "The best fit is " + ", then ".join(f"{fit.format} ({fit.fitting:,} of {fit.lines:,} lines)" for fit in best)


def _json_sentence(choice: FormatChoice, sample: Block, found: Sequence[Fit]) -> str:
    """As ``fits_sentence``; of objects of JSON, why most of them are no events."""
    tried = try_out(replace(choice, name="json-lines"), sample)
    reasons = Counter(reason for _, reason, line in tried.bad if line.lstrip().startswith("{"))
    if not reasons or sum(reasons.values()) < _ENOUGH * found[0].lines:
        return fits_sentence(found)
    return f"They are JSON, but most often: {reasons.most_common(1)[0][0]}; --time-field names the one with the time"


def _try(choice: FormatChoice, sample: Block) -> Fit:
    field = choice.time_field if choice.name == "json-lines" else None
    return _fit(choice.name, try_out(replace(choice, time_field=field), sample))


def _fit(name: str, parsed: Parsed) -> Fit:
    return Fit(name, parsed.documents + parsed.traces, parsed.lines - parsed.blank)
