"""An inspection as text for a terminal."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from paddock.console import table
from paddock.inspection.model import Inspection, Terms, TimeRange
from paddock.inspection.terms import MOST_FIELDS

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
    parts.append(f"Sizes for a recipe (corpora/README.md):\n{recipe_sizes(found)}")
    return "\n\n".join(parts)


def recipe_sizes(found: Inspection) -> str:
    """The lengths of the lines as the section `size` of a recipe, whose sizes include the line's end; YAML."""
    sizes = [min(length + 1, _LARGEST_SIZE) for length in found.lengths.percentiles]
    if sizes[0] == sizes[-1]:
        return f"size: {{fixed: {sizes[0]}}}"
    rows = [
        ", ".join(str(size) for size in sizes[begin : begin + _SIZES_PER_ROW])
        for begin in range(0, len(sizes), _SIZES_PER_ROW)
    ]
    listed = ",\n    ".join(rows)
    return f"size:\n  quantiles: [\n    {listed}]"


def _overview(found: Inspection) -> Iterator[tuple[str, str]]:
    yield "file", found.source
    yield "kind", found.kind
    yield "lines", f"{found.lines:,}{'' if found.whole else ' (the file goes on; --lines 0 reads all)'}"
    if found.misfits:
        yield "lines of another kind", f"{found.misfits:,}"
    if found.empty_lines:
        yield "empty lines, left out", f"{found.empty_lines:,}"
    if found.undecodable_lines:
        yield "lines that are no UTF-8", f"{found.undecodable_lines:,}"
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
    if found.time:
        yield from _times(found.time)
    else:
        yield "time", "none found"


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


def _times(time: TimeRange) -> Iterator[tuple[str, str]]:
    form = "%Y-%m-%d %H:%M:%S" if time.has_year else "%d %b %H:%M:%S"
    first, last = (
        datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(form)
        for seconds in (time.first, time.last)
    )
    doubts = [text for text, known in (("no year", time.has_year), ("no zone", time.has_zone)) if not known]
    yield "time", f"{first} to {last} UTC{' (' + ', '.join(doubts) + ')' if doubts else ''}"
    yield "time stands in", f"{time.where}, {time.share:.1%} of the lines"
    if time.steps_back:
        order = f"{time.steps_back:,} lines go back, by {time.largest_step_back:,.3f} s at most"
    else:
        order = "never goes back"
    yield "order", order


def _number(value: int, exact: bool) -> str:
    return f"{value:,}" if exact else f"about {value:,}"
